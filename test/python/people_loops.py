# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops as a physicist, a student of language models and a statistician write them.

Each is a function that is given a `Hand` and returns its step: that takes the number of
the iteration, and returns what the loop asks for, as numbers. Names of a step are kept in
`hand.names`, so that a test can drop them before the loop asks, or keep them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import metaops as mo
import numpy as np

Step = Callable[[int], list[Any]]


class Hand:
    """What a loop is given: numbers, and its names.

    Attributes
    ----------
    rng : numpy.random.Generator
        Of a fixed seed.
    keeps : bool
        Whether names of a step stay until the next one.
    """

    def __init__(self, seed: int, keeps: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.keeps = keeps
        self.names = SimpleNamespace()

    def array(self, *shape: int, scale: float = 1.0) -> Any:
        """Return a Var of normal numbers."""
        return mo.array((self.rng.standard_normal(shape) * scale).astype("float32")).sync()

    def indices(self, most: int, *shape: int) -> Any:
        """Return a Var of integers below `most`."""
        return mo.array(self.rng.integers(0, most, shape))

    def begin(self) -> SimpleNamespace:
        """Begin a step: the names of the last one go."""
        self.names.__dict__.clear()
        return self.names

    def drop(self) -> None:
        """Forget the names of the step, unless they are to be kept."""
        if not self.keeps:
            self.names.__dict__.clear()


@dataclass(frozen=True)
class Loop:
    """A loop, and what each of its steps may cost when it has gone on for a while.

    Attributes
    ----------
    programs : float
        Programs that a step runs, at most, in the mean.
    repeated : float
        Operators that are computed again for values that were live.
    block : float
        Operators by which the block grows in a step: those of lists of pending values.
    exact : bool
        Whether numbers are those of running op by op to the bit.
    """

    make: Callable[[Hand], Step]
    programs: float = 1
    repeated: float = 0
    block: float = 0
    exact: bool = False

    @property
    def name(self) -> str:
        return self.make.__name__


LOOPS: dict[str, Loop] = {}


def loop(**bounds: Any) -> Callable[[Callable[[Hand], Step]], Callable[[Hand], Step]]:
    """Add a loop to the list."""

    def add(make: Callable[[Hand], Step]) -> Callable[[Hand], Step]:
        LOOPS[make.__name__] = Loop(make, **bounds)
        return make

    return add


def classifier(hand: Hand) -> Any:
    return mo.nn.Sequential(
        mo.nn.Linear(8, 16), mo.nn.BatchNorm1d(16), mo.nn.ReLU(), mo.nn.Linear(16, 4)
    )


def seeded(hand: Hand, module: Any) -> Any:
    """Give a module's parameters the hand's numbers."""
    for parameter in module.parameters():
        parameter.assign(hand.array(*parameter.shape, scale=0.3))
    return module


# --- Evaluation ----------------------------------------------------------------


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


# --- Training ------------------------------------------------------------------


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


@loop(programs=3, repeated=2)
def actor_and_critic(hand: Hand) -> Step:
    body, actor, critic = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 1)
    optimizer = mo.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.h = mo.tanh(n.x @ body)
        policy = mo.softmax(n.h @ actor, dim=1)
        value = n.h @ critic
        hand.drop()
        actor_loss = (policy * policy.log()).sum(1).mean()
        critic_loss = ((value - 1.0) ** 2).mean()
        optimizer.step(actor_loss)
        optimizer.step(critic_loss)
        return [actor_loss.item(), critic_loss.item()]

    return step


@loop()
def actor_and_critic_at_once(hand: Hand) -> Step:
    body, actor, critic = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 1)
    optimizer = mo.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.h = mo.tanh(n.x @ body)
        actor_loss = ((n.h @ actor) ** 2).mean()
        critic_loss = ((n.h @ critic - 1.0) ** 2).mean()
        hand.drop()
        optimizer.step([actor_loss, critic_loss])
        return [actor_loss.item()]

    return step


def gan(critics: int) -> Callable[[Hand], Step]:
    def make(hand: Hand) -> Step:
        generator = seeded(
            hand, mo.nn.Sequential(mo.nn.Linear(3, 8), mo.nn.Tanh(), mo.nn.Linear(8, 2))
        )
        critic = seeded(
            hand, mo.nn.Sequential(mo.nn.Linear(2, 8), mo.nn.Tanh(), mo.nn.Linear(8, 1))
        )
        of_generator = mo.optim.Adam(generator.parameters(), 0.01)
        of_critic = mo.optim.Adam(critic.parameters(), 0.01)

        def step(i: int) -> list[Any]:
            n = hand.begin()
            for _ in range(critics):
                n.real, n.noise = hand.array(12, 2), hand.array(12, 3)
                n.fake = generator(n.noise)
                loss = critic(n.fake.detach()).mean() - critic(n.real).mean()
                of_critic.step(loss)
            loss = -critic(n.fake).mean()
            hand.drop()
            of_generator.step(loss)
            return [loss.item()]

        return step

    make.__name__ = f"gan_of_{critics}_critics"
    return make


loop(programs=3, repeated=2)(gan(1))
loop(programs=5)(gan(3))


@loop(programs=2)
def serving_between_steps(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        loss = mo.nn.cross_entropy_loss(net(n.x), n.y)
        hand.drop()
        optimizer.step(loss)
        net.eval()
        with mo.no_grad():
            answer = net(hand.array(1, 8)).numpy()
        net.train()
        return [answer]

    return step


@loop(programs=1)
def two_heads_in_turn(hand: Hand) -> Step:
    body, one, two = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 3)
    optimizer = mo.optim.Adam([body, one, two], 0.01, weight_decay=0.1)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.h = mo.tanh(hand.array(12, 6) @ body)
        loss = ((n.h @ (one if i % 2 else two)) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item(), float(optimizer.steps)]

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


@loop(programs=3)
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


# --- Text ----------------------------------------------------------------------


def decoding(cache: str, named: bool) -> Callable[[Hand], Step]:
    """A token after another: attention over all keys so far, and a greedy choice."""

    def make(hand: Hand) -> Step:
        most = 64
        table, q, k, v = (hand.array(*s, scale=0.5) for s in [(20, 8), (8, 8), (8, 8), (8, 8)])
        state: dict[str, Any] = {"token": mo.array([3])}
        if cache == "insert":
            state["keys"], state["values"] = mo.zeros((most, 8)), mo.zeros((most, 8))
        else:
            state["keys"] = state["values"] = None

        def extend(name: str, row: Any, i: int) -> Any:
            if cache == "insert":
                state[name][i : i + 1] = row
            elif state[name] is None:
                state[name] = row
            elif cache == "list":
                state[name] = mo.concat([state[name], row], 0)
            else:
                state[name] = mo.concat([state[name], row])
            return state[name]

        def step(i: int) -> list[Any]:
            i %= 24
            if i == 0 and cache != "insert":
                state["keys"] = state["values"] = None
            n = hand.begin()
            with mo.no_grad():
                x = table[state["token"]]
                keys, values = extend("keys", x @ k, i), extend("values", x @ v, i)
                scores = (x @ q) @ keys.T
                if cache == "insert":
                    scores = mo.where(mo.arange(most) <= i, scores, -1e9)
                weights = mo.softmax(scores, dim=1)
                if named:
                    n.weights = weights
                logits = (x + weights @ values) @ table.T
                del weights, scores
                hand.drop()
                state["token"] = logits.argmax(1)
                return [state["token"].item()]

        return step

    make.__name__ = f"decoding_with_{cache}_{'named' if named else 'unnamed'}"
    return make


for _named in (False, True):
    loop(programs=1)(decoding("concat", _named))
    loop(programs=1)(decoding("insert", _named))


@loop(programs=1)
def beams(hand: Hand) -> Step:
    table = hand.array(12, 6, scale=0.7)
    state = {"cache": hand.array(3, 4, 6), "scores": mo.zeros(3)}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        with mo.no_grad():
            n.logits = mo.tanh(state["cache"].sum(1)) @ table.T
            total = (state["scores"].reshape(3, 1) + n.logits).reshape(-1)
            best, place = mo.topk(total, 3)
            hand.drop()
            row = place // 12
            state["cache"] = state["cache"][row] * 0.9
            state["scores"] = best - best.max()
            return [state["scores"].sum().item()]

    return step


# --- States --------------------------------------------------------------------


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
def ten_models_in_turn(hand: Hand) -> Step:
    models = [hand.array(6, 3, scale=0.3) for _ in range(10)]
    optimizers = [mo.optim.SGD([w], 0.02) for w in models]

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        loss = ((n.x @ models[i % 10]) ** 2).mean()
        hand.drop()
        optimizers[i % 10].step(loss)
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


@loop(programs=2)
def statistics_between_loss_and_gradient(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        loss = mo.nn.cross_entropy_loss(net(n.x), n.y)
        hand.drop()
        seen = [loss.item(), net[1].running_var.numpy()]
        optimizer.step(loss)
        return seen

    return step


@loop(programs=3, repeated=2)
def siamese(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.a = net(hand.array(16, 8))
        first = n.a.sum().item()
        n.b = net(hand.array(16, 8))
        loss = ((n.a - n.b) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [first, loss.item()]

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
