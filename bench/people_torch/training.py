# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of one model by one loss: steps, sums, averages and lists beside them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .hand import Hand, Make, Step, apply, classifier, loop, move, seeded


def training(asks: str, every: int = 1, optimizer_name: str = "SGD") -> Make:
    """Return a loop that trains, and asks for something at some place."""

    def make(hand: Hand) -> Step:
        net = seeded(hand, classifier())
        optimizer = getattr(torch.optim, optimizer_name)(net.parameters(), 0.02)

        def step(i: int) -> list[Any]:
            x, y = hand.array(16, 8), hand.indices(4, 16)
            loss = F.cross_entropy(net(x), y)
            seen: list[Any] = []
            if asks == "before" and i % every == 0:
                seen.append(loss.item())
            move(optimizer, loss)
            if asks == "after" and i % every == 0:
                seen.append(loss.item())
            if asks == "statistics":
                seen.append(net[1].running_mean.numpy())
            return seen

        return step

    make.__name__ = f"training_asks_{asks}_every_{every}_{optimizer_name}"
    return make


loop(training("nothing"))
loop(training("before"))
loop(training("after"))
loop(training("after", optimizer_name="AdamW"))
loop(training("before", every=10))
loop(training("after", every=10))
loop(training("statistics"))


@loop
def by_hand(hand: Hand) -> Step:
    w, b = hand.parameter(8, 4, scale=0.3), hand.parameter(4)
    x, y = hand.array(16, 8), hand.array(16, 4)

    def step(i: int) -> list[Any]:
        nonlocal w, b
        loss = ((torch.tanh(x @ w + b) - y) ** 2).mean()
        gw, gb = torch.autograd.grad(loss, [w, b])
        with torch.no_grad():
            w -= gw * 0.1
            b -= gb * 0.1
        return [loss.item()]

    return step


@loop
def momentum_by_hand(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    v = torch.zeros(8, 4)
    x, y = hand.array(16, 8), hand.array(16, 4)

    def step(i: int) -> list[Any]:
        nonlocal w, v
        loss = ((x @ w - y) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, w)
        v = 0.9 * v + gradient
        with torch.no_grad():
            w -= 0.05 * v
        return [loss.item()]

    return step


@loop
def accumulation(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.05)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.array(16, 4)
        loss = ((torch.tanh(x @ w) - y) ** 2).mean()
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
            return [loss.item()]
        return []

    return step


@loop
def tied_weights(hand: Hand) -> Step:
    w = hand.parameter(6, 6, scale=0.4)
    optimizer = torch.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        x = hand.array(12, 6)
        code = torch.tanh(x @ w)
        loss = ((code @ w.T - x) ** 2).mean()
        move(optimizer, loss)
        return [loss.item()]

    return step


@loop
def moving_average_of_weights(hand: Hand) -> Step:
    w = hand.parameter(6, 3, scale=0.4)
    optimizer = torch.optim.SGD([w], 0.02)
    average = hand.array(6, 3)

    def step(i: int) -> list[Any]:
        loss = ((hand.array(12, 6) @ w) ** 2).mean()
        move(optimizer, loss)
        with torch.no_grad():
            average.mul_(0.9).add_(w, alpha=0.1)
        return [loss.item()]

    return step


@loop
def bad_batches(hand: Hand) -> Step:
    table, w = hand.parameter(10, 8), hand.parameter(8, 3, scale=0.3)
    optimizer = torch.optim.Adam([table, w], 0.02)
    steps = 0

    def step(i: int) -> list[Any]:
        nonlocal steps
        tokens = torch.tensor([1, 2, 30 if i % 5 == 3 else 3])
        try:
            loss = F.cross_entropy(table[tokens] @ w, torch.tensor([0, 1, 2]))
            move(optimizer, loss)
            steps += 1
            return [loss.item(), float(steps)]
        except IndexError:
            return [-1.0, float(steps)]

    return step


@loop
def early_stopping(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.05)
    held_out, target = hand.array(10, 8), hand.array(10, 4)
    state = {"best": torch.tensor(1e9), "weights": w.detach().clone()}

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.array(16, 4)
        move(optimizer, ((x @ w - y) ** 2).mean())
        with torch.no_grad():
            value = ((held_out @ w - target) ** 2).mean()
        seen = value.item()
        if seen < state["best"].item():
            state["best"], state["weights"] = value, w.detach().clone()
        return [seen]

    return step


@loop
def list_of_losses(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.05)
    losses: list[Tensor] = []

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.array(16, 4)
        loss = ((torch.tanh(x @ w) - y) ** 2).mean()
        losses.append(loss.detach())
        move(optimizer, loss)
        return []

    return step


#: A running value with a new loss.
RUNNING = {
    "average": lambda value, kept: 0.9 * value + 0.1 * kept,
    "total": lambda value, kept: value + kept,
    "minimum": torch.minimum,
}


def running(kind: str) -> Make:
    """Return a loop with an average, or one of its kin, beside a list of losses."""

    def make(hand: Hand) -> Step:
        w = hand.parameter(8, 4, scale=0.3)
        optimizer = torch.optim.SGD([w], 0.05)
        value = torch.tensor(0.0)
        losses: list[Tensor] = []

        def step(i: int) -> list[Any]:
            nonlocal value
            x, y = hand.array(16, 8), hand.array(16, 4)
            loss = ((torch.tanh(x @ w) - y) ** 2).mean()
            kept = loss.detach()
            losses.append(kept)
            if len(losses) > 8:
                del losses[0]
            move(optimizer, loss)
            value = RUNNING[kind](value, kept)
            return [loss.item()] if i % 10 == 9 else []

        return step

    make.__name__ = f"running_{kind}"
    return make


for _kind in RUNNING:
    loop(running(_kind))


@loop
def replay(hand: Hand) -> Step:
    memory, w = hand.array(32, 6), hand.parameter(6, 1, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        memory[i % 32] = hand.array(6)
        batch = memory[hand.indices(32, 8)]
        loss = ((batch @ w - 1.0) ** 2).mean()
        move(optimizer, loss)
        return [loss.item()]

    return step


@loop
def list_of_gradients(hand: Hand) -> Step:
    w = hand.parameter(8, 4, scale=0.3)
    optimizer = torch.optim.SGD([w], 0.05)
    gradients: list[Tensor] = []

    def step(i: int) -> list[Any]:
        loss = (torch.tanh(hand.array(16, 8) @ w) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, w)
        gradients.append(gradient)
        if len(gradients) > 6:
            del gradients[0]
        apply(optimizer, w, gradient)
        return [loss.item()]

    return step


@loop
def frozen_weights(hand: Hand) -> Step:
    body, head = hand.array(8, 8, scale=0.3), hand.parameter(8, 3, scale=0.3)
    optimizer = torch.optim.Adam([head], 0.02)

    def step(i: int) -> list[Any]:
        with torch.no_grad():
            h = torch.tanh(hand.array(12, 8) @ body)
        loss = ((h @ head) ** 2).mean()
        move(optimizer, loss)
        return [loss.item()]

    return step
