# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training on batches whose extents change."""

from __future__ import annotations

from typing import Any

import metaops as mo

from .hand import Hand, Step, loop


@loop(programs=2, repeated=7)
def lengths_in_turn(hand: Hand) -> Step:
    table, w = hand.array(20, 8), hand.array(8, 20, scale=0.3)
    optimizer = mo.optim.SGD([table, w], 0.05)
    lengths = [5, 7, 6, 9]

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.tokens = hand.indices(20, 4, lengths[i % 4] + 1)
        n.h = mo.tanh(table[n.tokens[:, :-1]])
        logits = (n.h @ w).reshape(-1, 20)
        loss = mo.nn.cross_entropy_loss(logits, n.tokens[:, 1:].reshape(-1))
        hand.drop()
        seen = loss.item()
        optimizer.step(loss)
        return [seen]

    return step


@loop(programs=1)
def lengths_at_random(hand: Hand) -> Step:
    table, w = hand.array(20, 8), hand.array(8, 20, scale=0.3)
    optimizer = mo.optim.SGD([table, w], 0.05)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        length = [5, 7, 6][int(hand.rng.integers(0, 3))]
        n.tokens = hand.indices(20, 4, length + 1)
        logits = (mo.tanh(table[n.tokens[:, :-1]]) @ w).reshape(-1, 20)
        loss = mo.nn.cross_entropy_loss(logits, n.tokens[:, 1:].reshape(-1))
        hand.drop()
        optimizer.step(loss)
        return [loss.item()]

    return step


@loop(programs=2)
def curriculum(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.05)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        rows = 4 + 4 * (i // 20 % 3)
        n.x, n.y = hand.array(rows, 8), hand.array(rows, 4)
        loss = ((n.x @ w - n.y) ** 2).mean()
        hand.drop()
        seen = loss.item()
        optimizer.step(loss)
        return [seen]

    return step
