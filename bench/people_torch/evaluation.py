# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluation: metrics of one output, before, beside and after a step."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .hand import Hand, Make, Step, classifier, loop, move, seeded

METRICS = [
    lambda h: h.sum(),
    lambda h: h.mean(),
    lambda h: h.max(),
    lambda h: h.min(),
    lambda h: (h * h).sum(),
    lambda h: (h > 0).float().mean(),
]


def evaluation(count: int, recorded_first: bool) -> Make:
    """Return a loop that asks for so many metrics, each at once or all at the end."""

    def make(hand: Hand) -> Step:
        ws = [hand.array(8, 8, scale=0.4) for _ in range(6)]
        x = hand.array(16, 8)
        metrics = METRICS[:count]

        def step(i: int) -> list[Any]:
            with torch.no_grad():
                h = x + 0.01 * i
                for w in ws:
                    h = torch.tanh(h @ w)
                if recorded_first:
                    values = [metric(h) for metric in metrics]
                    return [value.item() for value in values]
                return [metric(h).item() for metric in metrics]

        return step

    make.__name__ = f"evaluation_{count}_{'recorded_first' if recorded_first else 'one_by_one'}"
    return make


for _count in (1, 2, 3, 4, 6):
    for _first in (False, True):
        loop(evaluation(_count, _first))


def accuracy(logits: Tensor, y: Tensor) -> Tensor:
    """Return the part of the rows whose largest score is the right one's."""
    return (logits.argmax(1) == y).float().mean()


@loop
def accuracy_before_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.SGD(net.parameters(), 0.05)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.indices(4, 16)
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        seen = accuracy(logits, y).item()
        move(optimizer, loss)
        return [seen]

    return step


@loop
def accuracy_after_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.Adam(net.parameters(), 0.01)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.indices(4, 16)
        logits = net(x)
        move(optimizer, F.cross_entropy(logits, y))
        return [accuracy(logits, y).item()]

    return step


@loop
def accuracy_and_loss_after_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.Adam(net.parameters(), 0.01)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.indices(4, 16)
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        move(optimizer, loss)
        seen = loss.item()
        return [seen, (logits.argmax(1) == logits.argmax(1)).sum().item()]

    return step
