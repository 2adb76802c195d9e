# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of one model by one loss: steps, sums, averages and lists beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo

from .hand import Hand, Step, classifier, loop, seeded


def training(asks: str, every: int = 1, optimizer_name: str = "SGD") -> Callable[[Hand], Step]:
    def make(hand: Hand) -> Step:
        net = seeded(hand, classifier(hand))
        optimizer = getattr(mo.optim, optimizer_name)(net.parameters(), 0.02)

        def step(i: int) -> list[Any]:
            n = hand.begin()
            n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
            n.h = net(n.x)
            loss = mo.nn.cross_entropy_loss(n.h, n.y)
            hand.drop()
            seen = []
            if asks == "before" and i % every == 0:
                seen.append(loss.item())
            optimizer.step(loss)
            if asks == "after" and i % every == 0:
                seen.append(loss.item())
            if asks == "statistics":
                seen.append(net[1].running_mean.numpy())
            if asks == "all":
                mo.sync_all()
            return seen

        return step

    make.__name__ = f"training_asks_{asks}_every_{every}_{optimizer_name}"
    return make


loop()(training("nothing"))


loop(programs=2, repeated=2)(training("before"))


loop()(training("after"))


loop()(training("after", optimizer_name="AdamW"))


loop(programs=1.2, repeated=3)(training("before", every=10))


loop(programs=1.2)(training("after", every=10))


loop()(training("statistics"))


loop(programs=2)(training("all"))


@loop()
def by_hand(hand: Hand) -> Step:
    w, b = hand.array(8, 4, scale=0.3), hand.array(4)
    x, y = hand.array(16, 8), hand.array(16, 4)

    def step(i: int) -> list[Any]:
        nonlocal w, b
        n = hand.begin()
        n.h = mo.tanh(x @ w + b)
        loss = ((n.h - y) ** 2).mean()
        hand.drop()
        gw, gb = mo.grad(loss, [w, b])
        w -= gw * 0.1
        b -= gb * 0.1
        return [loss.item()]

    return step


@loop()
def momentum_by_hand(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    state = {"v": mo.zeros((8, 4))}
    x, y = hand.array(16, 8), hand.array(16, 4)

    def step(i: int) -> list[Any]:
        nonlocal w
        n = hand.begin()
        n.h = x @ w
        loss = ((n.h - y) ** 2).mean()
        hand.drop()
        state["v"] = 0.9 * state["v"] + mo.grad(loss, w)
        w = w - 0.05 * state["v"]
        return [loss.item()]

    return step


@loop(programs=0.5)
def accumulation(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.05)
    state: dict[str, Any] = {"total": None}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.array(16, 4)
        loss = ((mo.tanh(n.x @ w) - n.y) ** 2).mean()
        hand.drop()
        gradient = mo.grad(loss, w)
        state["total"] = gradient if state["total"] is None else state["total"] + gradient
        if i % 4 == 3:
            optimizer.apply([state["total"]])
            state["total"] = None
            return [loss.item()]
        return []

    return step


@loop(programs=1)
def tied_weights(hand: Hand) -> Step:
    w = hand.array(6, 6, scale=0.4)
    optimizer = mo.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.code = mo.tanh(n.x @ w)
        loss = ((n.code @ w.T - n.x) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item()]

    return step


@loop(programs=1)
def moving_average_of_weights(hand: Hand) -> Step:
    w = hand.array(6, 3, scale=0.4)
    optimizer = mo.optim.SGD([w], 0.02)
    state = {"average": hand.array(6, 3)}

    def step(i: int) -> list[Any]:
        hand.begin()
        loss = ((hand.array(12, 6) @ w) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        with mo.no_grad():
            state["average"] = 0.9 * state["average"] + 0.1 * w
        return [loss.item()]

    return step


@loop(programs=1)
def bad_batches(hand: Hand) -> Step:
    table, w = hand.array(10, 8), hand.array(8, 3, scale=0.3)
    optimizer = mo.optim.Adam([table, w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.tokens = mo.array([1, 2, 30 if i % 5 == 3 else 3])
        try:
            n.h = table[n.tokens] @ w
            loss = mo.nn.cross_entropy_loss(n.h, mo.array([0, 1, 2]))
            hand.drop()
            optimizer.step(loss)
            return [loss.item(), float(optimizer.steps)]
        except IndexError:
            return [-1.0, float(optimizer.steps)]

    return step


@loop(programs=2)
def early_stopping(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.05)
    held_out, target = hand.array(10, 8), hand.array(10, 4)
    state = {"best": mo.array(1e9), "weights": w.clone()}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.array(16, 4)
        optimizer.step(((n.x @ w - n.y) ** 2).mean())
        hand.drop()
        with mo.no_grad():
            value = ((held_out @ w - target) ** 2).mean()
        seen = value.item()
        if seen < state["best"].item():
            state["best"], state["weights"] = value, w.clone()
        return [seen]

    return step


@loop(programs=1, block=3)
def list_of_losses(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.05)
    losses = []

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.array(16, 4)
        loss = ((mo.tanh(n.x @ w) - n.y) ** 2).mean()
        hand.drop()
        losses.append(loss)
        optimizer.step(loss)
        return []

    return step


def running(kind: str) -> Callable[[Hand], Step]:
    """Averages and their kin beside a list of losses."""

    def make(hand: Hand) -> Step:
        w = hand.array(8, 4, scale=0.3)
        optimizer = mo.optim.SGD([w], 0.05)
        state = {"value": mo.array(0.0)}
        losses = []

        def step(i: int) -> list[Any]:
            n = hand.begin()
            n.x, n.y = hand.array(16, 8), hand.array(16, 4)
            loss = ((mo.tanh(n.x @ w) - n.y) ** 2).mean()
            hand.drop()
            losses.append(loss)
            if len(losses) > 8:
                del losses[0]
            optimizer.step(loss)
            kept = loss.detach()
            if kind == "average":
                state["value"] = 0.9 * state["value"] + 0.1 * kept
            elif kind == "total":
                state["value"] = state["value"] + kept
            else:
                state["value"] = mo.minimum(state["value"], kept)
            return [loss.item()] if i % 10 == 9 else []

        return step

    make.__name__ = f"running_{kind}"
    return make


for _kind in ("average", "total", "minimum"):
    loop(programs=1.3)(running(_kind))


@loop(programs=1)
def replay(hand: Hand) -> Step:
    memory, w = hand.array(32, 6), hand.array(6, 1, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        memory[i % 32] = hand.array(6)
        n.batch = memory[hand.indices(32, 8)]
        loss = ((n.batch @ w - 1.0) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item()]

    return step


@loop(programs=1)
def list_of_gradients(hand: Hand) -> Step:
    w = hand.array(8, 4, scale=0.3)
    optimizer = mo.optim.SGD([w], 0.05)
    gradients: list[Any] = []

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(16, 8)
        loss = (mo.tanh(n.x @ w) ** 2).mean()
        hand.drop()
        gradient = mo.grad(loss, w)
        gradients.append(gradient)
        if len(gradients) > 6:
            del gradients[0]
        optimizer.apply([gradient])
        return [loss.item()]

    return step


@loop(programs=1)
def frozen_weights(hand: Hand) -> Step:
    body, head = hand.array(8, 8, scale=0.3), hand.array(8, 3, scale=0.3)
    optimizer = mo.optim.Adam([head], 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        with mo.no_grad():
            n.h = mo.tanh(hand.array(12, 8) @ body)
        loss = ((n.h @ head) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item()]

    return step
