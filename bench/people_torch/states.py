# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States that are made of the last ones: fields, chains, iterations of linear algebra."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .hand import Hand, Make, Step, loop

#: Next value of a state.
NEXT = {
    "products": lambda x, w: torch.tanh(x @ w),
    "elementwise": lambda x, w: x * 0.9 + 0.1,
}


def states(kind: str) -> Make:
    """Return a loop of a state, whose last values are kept in a list."""

    def make(hand: Hand) -> Step:
        w = hand.array(6, 6, scale=0.3)
        x = hand.array(4, 6)
        seen: list[Tensor] = []

        def step(i: int) -> list[Any]:
            nonlocal x
            x = NEXT[kind](x, w)
            seen.append(x)
            if len(seen) > 20:
                del seen[0]
            return [x.max().item()]

        return step

    make.__name__ = f"list_of_states_{kind}_looked_at"
    return make


for _kind in NEXT:
    loop(states(_kind))


@loop
def heat(hand: Hand) -> Step:
    u = hand.array(12, 12)

    def step(i: int) -> list[Any]:
        nonlocal u
        around = torch.roll(u, 1, 0) + torch.roll(u, -1, 0)
        around = around + torch.roll(u, 1, 1) + torch.roll(u, -1, 1)
        u = u + 0.1 * (around - 4 * u)
        return [u.sum().item()]

    return step


@loop
def metropolis(hand: Hand) -> Step:
    x = hand.array(16)

    def step(i: int) -> list[Any]:
        nonlocal x
        proposal = x + hand.array(16, scale=0.5)
        chance = torch.from_numpy(hand.rng.random(16).astype("float32"))
        accept = chance < torch.exp(0.5 * (x * x - proposal * proposal))
        x = torch.where(accept, proposal, x)
        return [x.mean().item()]

    return step


@loop
def power_iteration(hand: Hand) -> Step:
    a = hand.array(8, 8)
    x = hand.array(8)

    def step(i: int) -> list[Any]:
        nonlocal x
        y = a @ x
        x = y / (y * y).sum().sqrt()
        return [(x * (a @ x)).sum().item()]

    return step


@loop
def conjugate_gradients(hand: Hand) -> Step:
    m = hand.array(8, 8, scale=0.3)
    a = m @ m.T + torch.eye(8)
    x = r = p = torch.zeros(8)

    def step(i: int) -> list[Any]:
        nonlocal x, r, p
        if i % 8 == 0:
            x, r = torch.zeros(8), hand.array(8)
            p = r.clone()
        ap = a @ p
        rr = (r**2).sum()
        alpha = rr / (p * ap).sum()
        x = x + alpha * p
        r = r - alpha * ap
        new = (r**2).sum()
        p = r + new / rr * p
        return [new.item()]

    return step
