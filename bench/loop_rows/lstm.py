# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LSTMs over 64 steps: nn.LSTM beside PyTorch's and jax.lax.scan, and cells in loops.

A call of inference returns the outputs; one of training the loss, the mean of their squares,
and its gradients by the four parameters. Ours is recorded anew in each call, and recorded
once by mo.jit. A cell is `nn.LSTMCell` with the same weights, in `mo.scan` and in a loop of
Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import Table, compare_steps, repeated

STEPS = 64
#: The extents of batch, and of input and state.
SIZES = {"B32 H128": (32, 128), "B1 H128": (1, 128), "B64 H256": (64, 256), "B32 H512": (32, 512)}
#: The cells' size.
OF_CELLS = "B32 H128"
TASKS = [*SIZES, "cells"]

#: A call, which returns arrays.
Call = Callable[[], list[Any]]
Contestants = dict[str, dict[str, Call]]


def make_arrays(size: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return an input, and weights in PyTorch's order: of input, of state, two biases."""
    batch, hidden = SIZES[size]
    rng = np.random.default_rng(0)
    bound = hidden**-0.5
    shapes = [(4 * hidden, hidden)] * 2 + [(4 * hidden,)] * 2
    x = rng.normal(size=(STEPS, batch, hidden)).astype("float32")
    return x, [rng.uniform(-bound, bound, shape).astype("float32") for shape in shapes]


def make_ours(forward: Callable[[Any], Any], x: np.ndarray, weights: list[Any]) -> dict[str, Call]:
    """Return calls of a function of the input, by its weights."""
    import metaops as mo

    given = mo.array(x).sync()

    def infer() -> list[Any]:
        with mo.no_grad():
            return [forward(given).sync()]

    def derive(x: Any) -> list[Any]:
        loss = (forward(x) ** 2).mean()
        return [loss, *mo.grad(loss, weights)]

    def train() -> list[Any]:
        results = derive(given)
        mo.sync(results)
        return results

    recorded, derived = mo.jit(forward), mo.jit(derive)

    def infer_by_jit() -> list[Any]:
        with mo.no_grad():
            return [recorded(given).sync()]

    def train_by_jit() -> list[Any]:
        results = derived(given)
        mo.sync(results)
        return results

    return {
        "infer": infer,
        "train": train,
        "infer by mo.jit": infer_by_jit,
        "train by mo.jit": train_by_jit,
    }


def make_metaops(x: np.ndarray, arrays: list[np.ndarray]) -> dict[str, Call]:
    """Return calls of nn.LSTM."""
    import metaops as mo
    import models

    model = mo.nn.LSTM(x.shape[2], arrays[0].shape[0] // 4)
    models.load(model, arrays)
    return make_ours(lambda x: model(x)[0], x, model.parameters())


def make_cells(x: np.ndarray, arrays: list[np.ndarray]) -> Contestants:
    """Return calls of an LSTMCell, in a scan and in a loop of Python."""
    import metaops as mo
    import models

    cell = mo.nn.LSTMCell(x.shape[2], arrays[0].shape[0] // 4)
    models.load(cell, arrays)
    zeros = np.zeros((x.shape[1], arrays[0].shape[0] // 4), "float32")

    def scan(x: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            h, c = cell(row, state)
            return (h, c), h

        return mo.scan(step, (mo.array(zeros), mo.array(zeros)), x)[1]

    def unroll(x: Any) -> Any:
        state, outputs = (mo.array(zeros), mo.array(zeros)), []
        for k in range(x.shape[0]):
            state = cell(x[k], state)
            outputs.append(state[0])
        return mo.stack(outputs)

    weights = cell.parameters()
    return {
        "cell in mo.scan": make_ours(scan, x, weights),
        "cell in Python's loop": make_ours(unroll, x, weights),
    }


def make_torch(x: np.ndarray, arrays: list[np.ndarray]) -> dict[str, Call]:
    """Return calls of torch.nn.LSTM."""
    import torch

    model = torch.nn.LSTM(x.shape[2], arrays[0].shape[0] // 4)
    with torch.no_grad():
        for parameter, array in zip(model.parameters(), arrays, strict=True):
            parameter.copy_(torch.from_numpy(array))
    given = torch.from_numpy(x)

    def infer() -> list[Any]:
        with torch.inference_mode():
            return [model(given)[0]]

    def train() -> list[Any]:
        model.zero_grad()
        loss = (model(given)[0] ** 2).mean()
        loss.backward()
        return [loss.detach(), *(parameter.grad for parameter in model.parameters())]

    return {"infer": infer, "train": train}


def run_jax(weights: Any, x: Any) -> Any:
    """Return the outputs: the input's products before the scan, the state's in it."""
    import jax
    import jax.numpy as jnp

    of_input, of_state, *biases = weights
    shares = x @ of_input.T + (biases[0] + biases[1])

    def step(state: Any, share: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(share + h @ of_state.T, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], of_state.shape[1]))
    return jax.lax.scan(step, (zeros, zeros), shares)[1]


def make_jax(x: np.ndarray, arrays: list[np.ndarray]) -> dict[str, Call]:
    """Return calls of an LSTM by jax.lax.scan, compiled."""
    import jax

    weights, given = [jax.numpy.asarray(array) for array in arrays], jax.numpy.asarray(x)
    forward = jax.jit(run_jax)
    derive = jax.jit(jax.value_and_grad(lambda weights, x: (run_jax(weights, x) ** 2).mean()))

    def train() -> list[Any]:
        loss, gradients = jax.block_until_ready(derive(weights, given))
        return [loss, *gradients]

    return {"infer": lambda: [forward(weights, given).block_until_ready()], "train": train}


def make_contestants(task: str) -> Contestants:
    """Return everyone's calls."""
    if task == "cells":
        arrays = make_arrays(OF_CELLS)
        return {"nn.LSTM": make_metaops(*arrays), **make_cells(*arrays)}
    arrays = make_arrays(task)
    return {
        "MetaOps": make_metaops(*arrays),
        "PyTorch": make_torch(*arrays),
        "jax.lax.scan": make_jax(*arrays),
    }


def measure(task: str, quick: bool) -> dict[str, dict[str, float]]:
    """Return the seconds of a call, by what it does and by contestant."""
    contestants = make_contestants(task)
    result = {}
    for mode in ("infer", "train"):
        calls = {name: calls[mode] for name, calls in contestants.items()}
        first = next(iter(contestants))
        calls[f"{first} by mo.jit"] = contestants[first][f"{mode} by mo.jit"]
        check(calls)
        steps = {name: repeated(call) for name, call in calls.items()}
        result[mode] = compare_steps(steps, *((3, 0.01) if quick else (7, 0.1)))
    return result


def check(calls: dict[str, Call]) -> None:
    """Compare what everyone returns."""
    name, *others = calls
    expected = [np.asarray(value) for value in calls[name]()]
    for other in others:
        for mine, value in zip(calls[other](), expected, strict=True):
            scale = np.abs(value).max()
            np.testing.assert_allclose(
                np.asarray(mine) / scale, value / scale, atol=2e-3, err_msg=other
            )


def make_tables(measured: dict[int, dict[str, Any]]) -> list[Table]:
    """Return the tables of LSTMs beside peers, and of cells beside the LSTM."""
    peers = Table(
        f"LSTM of {STEPS} steps",
        ["row", "processors", "ms", "by mo.jit", "PyTorch", "jax.lax.scan", "/ PyTorch", "/ jax"],
        note="Milliseconds of a call, recording included, and ours over the peer's: above 1 we"
        " are slower.",
    )
    cells = Table(
        f"LSTMCell in loops, {OF_CELLS}, {STEPS} steps",
        ["row", "processors", "nn.LSTM ms", "in mo.scan", "in Python's loop", "scan / nn.LSTM"],
        note="Milliseconds of a call, recording included.",
    )
    for cores, tasks in measured.items():
        for task, modes in tasks.items():
            for mode, seconds in modes.items():
                own, *others = (1e3 * value for value in seconds.values())
                if task == "cells":
                    scan, unrolled, _ = others
                    cells.add(mode, cores, own, scan, unrolled, scan / own)
                else:
                    torch, jax, jitted = others
                    row = [own, jitted, torch, jax, own / torch, own / jax]
                    peers.add(f"{task} {mode}", cores, *row)
    return [table for table in (peers, cells) if table.rows]
