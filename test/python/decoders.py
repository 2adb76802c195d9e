# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small language model that writes texts, as a loop and token by token."""

from __future__ import annotations

from typing import Any

import metaops as mo
from metaops import nn

TOKENS, LENGTH, WIDTH, HEADS, LAYERS = 13, 9, 16, 2, 2

#: Keys and values of each layer, ``(HEADS, LENGTH, WIDTH / HEADS)``.
Cache = list[tuple[mo.Var, mo.Var]]


class Layer(mo.Module):
    """Attention and two linear layers, each after a norm and beside a short cut."""

    def __init__(self) -> None:
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def split(self, x: mo.Var) -> list[mo.Var]:
        """Return queries, keys and values, ``(HEADS, places, depth)``."""
        parts = self.qkv(self.norm1(x)).reshape(-1, 3, HEADS, WIDTH // HEADS)
        return [parts[:, k].transpose(1, 0, 2) for k in range(3)]

    def finish(self, x: mo.Var, mixed: mo.Var) -> mo.Var:
        """Return the layer's values, of what heads make of the places."""
        x = x + self.out(mixed.transpose(1, 0, 2).reshape(x.shape))
        return x + self.down(mo.gelu(self.up(self.norm2(x))))


class Decoder(mo.Module):
    """A language model."""

    def __init__(self) -> None:
        self.embedding = mo.random.normal(shape=(TOKENS, WIDTH))
        self.places = mo.random.normal(shape=(LENGTH, WIDTH))
        self.layers = mo.Sequential(*(Layer() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, TOKENS)

    def read(self, tokens: list[int]) -> int:
        """Return the likeliest token after others, all of which are looked at."""
        x = self.embedding[tokens] + self.places[: len(tokens)]
        for layer in self.layers:
            q, k, v = layer.split(x)
            x = layer.finish(x, nn.scaled_dot_product_attention(q, k, v, is_causal=True))
        return int(self.head(x[-1]).argmax())

    def step(self, token: Any, place: Any, cache: Cache) -> tuple[mo.Var, Cache]:
        """Return the token after one, and the keys and values up to its place."""
        x = (self.embedding[token] + self.places[place]).reshape(1, WIDTH)
        following = []
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            q, k, v = layer.split(x)
            keys, values = keys.at[:, place].set(k[:, 0]), values.at[:, place].set(v[:, 0])
            seen = mo.arange(LENGTH) <= place
            x = layer.finish(x, nn.scaled_dot_product_attention(q, keys, values, seen))
            following.append((keys, values))
        return self.head(x[0]).argmax(), following

    def decode(self, first: mo.Var) -> mo.Var:
        """Return a text that ends where there is no more room, or at the token 0."""

        def body(carry: tuple) -> tuple:
            place, token, cache, text = carry
            token, cache = self.step(token, place, cache)
            return place + 1, token, cache, text.at[place].set(token)

        cache = empty_cache()
        start = (0, first, cache, mo.zeros(LENGTH, "int64"))
        return mo.while_loop(lambda c: (c[0] < LENGTH) & (c[1] != 0), body, start)[3]


def empty_cache() -> Cache:
    shape = (HEADS, LENGTH, WIDTH // HEADS)
    return [(mo.zeros(shape), mo.zeros(shape)) for _ in range(LAYERS)]


def make_decoder() -> Decoder:
    """Return a model whose weights are random, and the same each time."""
    mo.seed(3)
    model = Decoder()
    mo.sync(model.parameters())
    return model


def read_text(model: Decoder, first: int) -> list[int]:
    """Return the text that the model writes if it looks at all of it for each token."""
    tokens = [first]
    while len(tokens) <= LENGTH and tokens[-1] != 0:
        tokens.append(model.read(tokens))
    return tokens[1:] + [0] * (LENGTH + 1 - len(tokens))
