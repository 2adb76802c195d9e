# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States that are made of the last ones: fields, chains, iterations of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo

from .hand import Hand, Step, loop


def states(kind: str, looked: bool) -> Callable[[Hand], Step]:
    def make(hand: Hand) -> Step:
        w = hand.array(6, 6, scale=0.3)
        state = {"x": hand.array(4, 6)}
        seen: list[Any] = []

        def step(i: int) -> list[Any]:
            x = state["x"]
            state["x"] = mo.tanh(x @ w) if kind == "products" else x * 0.9 + 0.1
            seen.append(state["x"])
            if len(seen) > 20:
                del seen[0]
            return [state["x"].max().item()] if looked else [(w * 1.0).sum().item()]

        return step

    make.__name__ = f"list_of_states_{kind}_{'looked_at' if looked else 'not_looked_at'}"
    return make


loop(programs=1, repeated=1)(states("products", True))


loop(programs=1, repeated=4)(states("elementwise", True))


@loop(programs=1, block=3)
def values_that_wait(hand: Hand) -> Step:
    """A list of values of held data, beside which something else is asked for."""
    data, w = hand.array(4, 6), hand.array(6, 6, scale=0.3)
    waiting: list[Any] = []

    def step(i: int) -> list[Any]:
        waiting.append(data * (i + 0.5))
        return [(w * (i + 1.0)).sum().item()]

    return step


@loop(programs=1)
def heat(hand: Hand) -> Step:
    state = {"u": hand.array(12, 12)}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        u = state["u"]
        n.around = mo.roll(u, 1, 0) + mo.roll(u, -1, 0) + mo.roll(u, 1, 1) + mo.roll(u, -1, 1)
        state["u"] = u + 0.1 * (n.around - 4 * u)
        hand.drop()
        del u
        return [state["u"].sum().item()]

    return step


@loop(programs=1)
def metropolis(hand: Hand) -> Step:
    state = {"x": hand.array(16)}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        x = state["x"]
        n.proposal = x + hand.array(16, scale=0.5)
        accept = mo.array(hand.rng.random(16).astype("float32")) < mo.exp(
            0.5 * (x * x - n.proposal * n.proposal)
        )
        state["x"] = mo.where(accept, n.proposal, x)
        hand.drop()
        del x
        return [state["x"].mean().item()]

    return step


@loop(programs=1, repeated=3)
def power_iteration(hand: Hand) -> Step:
    a = hand.array(8, 8)
    state = {"x": hand.array(8)}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.y = a @ state["x"]
        state["x"] = n.y / (n.y * n.y).sum().sqrt()
        hand.drop()
        return [(state["x"] * (a @ state["x"])).sum().item()]

    return step


@loop(programs=1)
def conjugate_gradients(hand: Hand) -> Step:
    m = hand.array(8, 8, scale=0.3)
    a = (m @ m.T + mo.eye(8)).sync()
    state: dict[str, Any] = {}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        if i % 8 == 0:
            state["x"], state["r"] = mo.zeros(8), hand.array(8)
            state["p"] = state["r"] * 1.0
        n.ap = a @ state["p"]
        rr = (state["r"] ** 2).sum()
        alpha = rr / (state["p"] * n.ap).sum()
        state["x"] = state["x"] + alpha * state["p"]
        state["r"] = state["r"] - alpha * n.ap
        new = (state["r"] ** 2).sum()
        state["p"] = state["r"] + new / rr * state["p"]
        hand.drop()
        return [new.item()]

    return step
