# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training on batches whose extents change."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .hand import Hand, Step, loop, move


def prediction(table: Tensor, w: Tensor, tokens: Tensor) -> Tensor:
    """Return the loss of a model that predicts each token by the one before."""
    logits = (torch.tanh(table[tokens[:, :-1]]) @ w).reshape(-1, 20)
    return F.cross_entropy(logits, tokens[:, 1:].reshape(-1))


@loop
def lengths_in_turn(hand: Hand) -> Step:
    table, w = hand.parameter(20, 8), hand.parameter(8, 20, scale=0.3)
    optimizer = torch.optim.SGD([table, w], 0.05)
    lengths = [5, 7, 6, 9]

    def step(i: int) -> list[Any]:
        loss = prediction(table, w, hand.indices(20, 4, lengths[i % 4] + 1))
        seen = loss.item()
        move(optimizer, loss)
        return [seen]

    return step


@loop
def lengths_at_random(hand: Hand) -> Step:
    table, w = hand.parameter(20, 8), hand.parameter(8, 20, scale=0.3)
    optimizer = torch.optim.SGD([table, w], 0.05)

    def step(i: int) -> list[Any]:
        length = [5, 7, 6][int(hand.rng.integers(0, 3))]
        loss = prediction(table, w, hand.indices(20, 4, length + 1))
        move(optimizer, loss)
        return [loss.item()]

    return step


@loop
def curriculum(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.05)

    def step(i: int) -> list[Any]:
        rows = 4 + 4 * (i // 20 % 3)
        x, y = hand.array(rows, 8), hand.array(rows, 4)
        loss = ((x @ w - y) ** 2).mean()
        seen = loss.item()
        move(optimizer, loss)
        return [seen]

    return step
