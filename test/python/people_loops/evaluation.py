# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluation: metrics of one output, before, beside and after a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo

from .hand import Hand, Step, classifier, loop, seeded


def evaluation(count: int, recorded_first: bool) -> Callable[[Hand], Step]:
    def make(hand: Hand) -> Step:
        ws = [hand.array(8, 8, scale=0.4) for _ in range(6)]
        x = hand.array(16, 8)
        metrics = [
            lambda h: h.sum(),
            lambda h: h.mean(),
            lambda h: h.max(),
            lambda h: h.min(),
            lambda h: (h * h).sum(),
            lambda h: (h > 0).cast("float32").mean(),
        ][:count]

        def step(i: int) -> list[Any]:
            n = hand.begin()
            with mo.no_grad():
                h = x + 0.01 * i
                for w in ws:
                    h = mo.tanh(h @ w)
                if recorded_first:
                    values = [metric(h) for metric in metrics]
                    n.h = h
                    del h
                    hand.drop()
                    return [value.item() for value in values]
                return [metric(h).item() for metric in metrics]

        return step

    make.__name__ = f"evaluation_{count}_{'recorded_first' if recorded_first else 'one_by_one'}"
    return make


for _count in (1, 2, 3, 4, 6):
    for _first in (False, True):
        # What is asked for first computes h, which the others find.
        loop(programs=_count)(evaluation(_count, _first))


@loop(programs=2)
def accuracy_before_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.05)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        n.logits = net(n.x)
        loss = mo.nn.cross_entropy_loss(n.logits, n.y)
        accuracy = (n.logits.argmax(1) == n.y).cast("float32").mean()
        hand.drop()
        seen = accuracy.item()
        optimizer.step(loss)
        return [seen]

    return step


@loop()
def accuracy_after_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.Adam(net.parameters(), 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        n.logits = net(n.x)
        loss = mo.nn.cross_entropy_loss(n.logits, n.y)
        optimizer.step(loss)
        accuracy = (n.logits.argmax(1) == n.y).cast("float32").mean()
        hand.drop()
        return [accuracy.item()]

    return step


@loop(programs=2)
def accuracy_and_loss_after_the_step(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.Adam(net.parameters(), 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        logits = net(n.x)
        loss = mo.nn.cross_entropy_loss(logits, n.y)
        optimizer.step(loss)
        hand.drop()
        seen = loss.item()
        return [seen, (logits.argmax(1) == logits.argmax(1)).sum().item()]

    return step
