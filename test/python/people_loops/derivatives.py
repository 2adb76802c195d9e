# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that differentiate within a step: to second order, by moved parameters, by states."""

from __future__ import annotations

from typing import Any

import metaops as mo

from .hand import Hand, Step, loop


@loop(programs=1)
def sharpness_aware(hand: Hand) -> Step:
    w = hand.array(6, 3, scale=0.4)
    optimizer = mo.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        loss = (mo.tanh(n.x @ w) ** 2).mean()
        g = mo.grad(loss, w)
        moved = w + 0.05 * g / (g * g).sum().sqrt()
        second = (mo.tanh(n.x @ moved) ** 2).mean()
        hand.drop()
        optimizer.apply([mo.grad(second, moved)])
        return [second.item()]

    return step


@loop(programs=1)
def inner_steps(hand: Hand) -> Step:
    w = hand.array(6, 3, scale=0.4)
    optimizer = mo.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(12, 6), hand.array(12, 3)
        fast = w
        for _ in range(2):
            inner = ((n.x @ fast - n.y) ** 2).mean()
            fast = fast - 0.1 * mo.grad(inner, fast)
        outer = ((n.x @ fast - n.y) ** 2).mean()
        hand.drop()
        optimizer.step(outer)
        return [outer.item()]

    return step


@loop(programs=1)
def gradient_penalty(hand: Hand) -> Step:
    w = hand.array(6, 1, scale=0.4)
    optimizer = mo.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.out = mo.tanh(n.x @ w).sum()
        slope = mo.grad(n.out, n.x)
        loss = n.out * 0.1 + ((slope * slope).sum(1).sqrt() - 1.0).pow(2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item()]

    return step


@loop(programs=4)
def hamiltonian(hand: Hand) -> Step:
    state = {"x": hand.array(8)}

    def energy(x: Any) -> Any:
        return (x * x * 0.5 + mo.cos(x)).sum()

    def step(i: int) -> list[Any]:
        hand.begin()
        x, p = state["x"].detach(), hand.array(8)
        for _ in range(3):
            p = p - 0.05 * mo.grad(energy(x), x)
            x = x + 0.1 * p
            p = p - 0.05 * mo.grad(energy(x), x)
        state["x"] = x.detach()
        hand.drop()
        return [state["x"].sum().item()]

    return step


# The local x keeps the step from being carried: it is computed twice, element by element.
@loop(programs=2, repeated=40)
def newton(hand: Hand) -> Step:
    state = {"x": hand.array(6)}

    def step(i: int) -> list[Any]:
        hand.begin()
        x = state["x"].detach() + 0.01
        g = mo.grad((x**4 * 0.25 + mo.exp(-x)).sum(), x)
        h = mo.grad(g.sum(), x)
        state["x"] = (x - 0.5 * g / (h + 1.0)).detach()
        hand.drop()
        return [state["x"].sum().item()]

    return step
