# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small language model writes a text, each token the likeliest: timed by the token.

Keys and values of former tokens are in a cache that each token is inserted into. The text is
one `while_loop`, which mo.jit has recorded, or recorded anew (eager); or a loop of Python
calls a step, recorded by mo.jit or anew, which hands the token to the next one; JAX has both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import Table, compare_steps

TOKENS, VOCABULARY, WIDTH, HEADS, BLOCKS = 64, 512, 128, 4, 4
DEPTH = WIDTH // HEADS
#: The token that stands before all others.
FIRST = 1
TASKS = ["greedy"]

#: Returns the tokens of a text.
Writer = Callable[[], Any]


def make_weights(parameters: list[tuple[str, tuple[int, ...]]]) -> list[np.ndarray]:
    """Return weights by which a text has many different tokens."""
    rng = np.random.default_rng(0)
    result = []
    for name, shape in parameters:
        weight = rng.normal(size=shape)
        if weight.ndim == 1:
            is_scale = "norm" in name and name.endswith("weight")
            weight = 0.1 * weight + (1.0 if is_scale else 0.0)
        elif name not in ("embedding", "place"):
            weight /= np.sqrt(shape[1])
        result.append(weight.astype("float32"))
    return result


def make_metaops() -> tuple[dict[str, Writer], list[np.ndarray]]:
    """Return ours, and the weights."""
    import metaops as mo
    import models

    model = models.Transformer(VOCABULARY, TOKENS, WIDTH, HEADS, BLOCKS)
    weights = make_weights([(name, p.shape) for name, p in model.named_parameters()])
    models.load(model, weights)
    layers: list[Any] = list(model.layers)

    def attend(layer: Any, x: Any, place: Any, cache: Any) -> Any:
        q, k, v = mo.unstack(layer.qkv(x).reshape(3, HEADS, DEPTH))
        keys, values = (old.at[:, place].set(new) for old, new in zip(cache, (k, v), strict=True))
        seen = mo.arange(TOKENS) <= place
        mixed = mo.nn.scaled_dot_product_attention(q.reshape(HEADS, 1, DEPTH), keys, values, seen)
        return layer.out(mixed.reshape(1, WIDTH)), (keys, values)

    def step(token: Any, place: Any, cache: Any) -> Any:
        x = (model.embedding[token] + model.place[place]).reshape(1, WIDTH)
        following = []
        for layer, own in zip(layers, cache, strict=True):
            mixed, own = attend(layer.attention, layer.norm1(x), place, own)
            x = x + mixed
            x = x + layer.down(mo.gelu(layer.up(layer.norm2(x))))
            following.append(own)
        return model.head(model.norm(x))[0].argmax(), following

    def make_cache() -> Any:
        shape = (HEADS, TOKENS, DEPTH)
        return [(mo.zeros(shape), mo.zeros(shape)) for _ in range(BLOCKS)]

    def write(first: Any) -> Any:
        def body(carry: Any) -> Any:
            place, token, cache, text = carry
            token, cache = step(token, place, cache)
            return place + 1, token, cache, text.at[place].set(token)

        start = (0, first, make_cache(), mo.zeros(TOKENS, "int64"))
        return mo.while_loop(lambda carry: carry[0] < TOKENS, body, start)[3]

    first = mo.array(FIRST).sync()

    def repeat(step: Any) -> Any:
        token, cache, text = first, make_cache(), []
        for place in range(TOKENS):
            token, cache = step(token, mo.array(place), cache)
            text.append(token.item())
        return text

    def without_gradients(call: Writer) -> Writer:
        def run() -> Any:
            with mo.no_grad():
                return np.asarray(call())

        return run

    recorded, recorded_step = mo.jit(write), mo.jit(step)
    writers = {
        "while_loop by mo.jit": lambda: recorded(first),
        "while_loop, eager": lambda: write(first),
        "Python, mo.jit step": lambda: repeat(recorded_step),
        "Python, eager step": lambda: repeat(step),
    }
    return {name: without_gradients(call) for name, call in writers.items()}, weights


def make_jax(weights: list[np.ndarray]) -> dict[str, Writer]:
    """Return JAX's."""
    import jax
    import jax.numpy as jnp
    from jax_models import Net

    arrays = [jnp.asarray(weight) for weight in weights]

    def attend(net: Any, x: Any, place: Any, cache: Any) -> Any:
        q, k, v = net.linear(x).reshape(3, HEADS, DEPTH)
        keys, values = (old.at[:, place].set(new) for old, new in zip(cache, (k, v), strict=True))
        scores = jnp.einsum("hd,htd->ht", q, keys) * DEPTH**-0.5
        shares = jax.nn.softmax(jnp.where(jnp.arange(TOKENS) <= place, scores, -jnp.inf))
        mixed = jnp.einsum("ht,htd->hd", shares, values)
        return net.linear(mixed.reshape(1, WIDTH)), (keys, values)

    def step(arrays: Any, token: Any, place: Any, cache: Any) -> Any:
        net = Net(arrays, None)
        table, places = net.take(), net.take()
        x = (table[token] + places[place]).reshape(1, WIDTH)
        following = []
        for own in cache:
            mixed, own = attend(net, net.layer_norm(x), place, own)
            x = x + mixed
            hidden = jax.nn.gelu(net.linear(net.layer_norm(x)), approximate=False)
            x = x + net.linear(hidden)
            following.append(own)
        return net.linear(net.layer_norm(x), bias=False)[0].argmax(), following

    def make_cache() -> Any:
        return [tuple(jnp.zeros((2, HEADS, TOKENS, DEPTH))) for _ in range(BLOCKS)]

    @jax.jit
    def write(arrays: Any, first: Any) -> Any:
        def body(carry: Any) -> Any:
            place, token, cache, text = carry
            token, cache = step(arrays, token, place, cache)
            return place + 1, token, cache, text.at[place].set(token)

        start = (0, first, make_cache(), jnp.zeros(TOKENS, first.dtype))
        return jax.lax.while_loop(lambda carry: carry[0] < TOKENS, body, start)[3]

    compiled, first = jax.jit(step, donate_argnums=3), jnp.argmax(jnp.arange(VOCABULARY) == FIRST)

    def repeat() -> Any:
        token, cache, text = first, make_cache(), []
        for place in range(TOKENS):
            token, cache = compiled(arrays, token, place, cache)
            text.append(int(token))
        return text

    return {
        "jax.lax.while_loop": lambda: np.asarray(write(arrays, first)),
        "Python, jax.jit step": repeat,
    }


def measure(task: str, quick: bool) -> dict[str, float]:
    """Return the seconds of a token, by contestant, after comparing all texts."""
    ours, weights = make_metaops()
    writers = {**ours, **make_jax(weights)}
    text = list(writers["Python, eager step"]())
    assert len(set(text)) > TOKENS // 4
    for name, write in writers.items():
        if list(write()) != text:
            raise SystemExit(f"{name} writes another text")

    def repeated(write: Writer) -> Callable[[int], None]:
        def steps(count: int) -> None:
            for _ in range(count):
                write()

        return steps

    steps = {name: repeated(write) for name, write in writers.items()}
    found = compare_steps(steps, *((3, 0.01) if quick else (7, 0.1)))
    return {name: value / TOKENS for name, value in found.items()}


def make_tables(measured: dict[int, dict[str, Any]]) -> list[Table]:
    """Return the table of tokens."""
    (first, *_) = (tasks[TASKS[0]] for tasks in measured.values())
    table = Table(
        f"A text of {TOKENS} tokens, microseconds a token",
        ["processors", *first],
        note=f"{BLOCKS} blocks of width {WIDTH}, {HEADS} heads, a vocabulary of {VOCABULARY}.",
    )
    for cores, tasks in measured.items():
        table.add(cores, *(1e6 * value for value in tasks[TASKS[0]].values()))
    return [table]
