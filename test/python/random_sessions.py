# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random sessions: values are held, named, rebound, updated, asked for and differentiated.

A session is a list of actions, which is drawn once and then run as often as one likes, with
whatever flags: what it asks for has to be the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import metaops as mo
import numpy as np

ROWS, COLUMNS, NAMES = 5, 3, 6
Action = tuple[str, Any]

#: Chances of the actions.
WEIGHTS = {
    "combine": 10,
    "layer": 3,
    "product": 4,
    "mean": 2,
    "forget": 3,
    "ask": 4,
    "look": 3,
    "loss": 5,
    "grad": 4,
    "ask gradient": 3,
    "step": 3,
    "step by two": 1,
    "move": 1,
    "average": 2,
    "evaluate": 1,
}


def draw(seed: int, length: int) -> list[Action]:
    """Draw the actions of a session."""
    rng = random.Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    return [
        (kind, [rng.random() for _ in range(4)]) for kind in rng.choices(kinds, weights, k=length)
    ]


@dataclass
class Answers:
    """What a session was told, in the order in which it asked: arrays, or errors."""

    values: list[Any] = field(default_factory=list)

    def ask(self, label: str, get: Callable[[], Any]) -> Any:
        """Note an answer, and return it; None for an error."""
        try:
            value = get()
        except (RuntimeError, ValueError) as error:
            self.values.append((label, error))
            return None
        self.values.append((label, None if value is None else np.array(value)))
        return value


class Run:
    """A run of a session."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)

        def normal(*shape: int) -> Any:
            return mo.array((rng.standard_normal(shape) * 0.5).astype("float32"))

        self.rng = rng
        self.normal = normal
        self.answers = Answers()
        self.names: list[Any] = [normal(ROWS, COLUMNS) for _ in range(NAMES)]
        self.layer = mo.nn.BatchNorm1d(COLUMNS)
        self.w, self.b = normal(COLUMNS, COLUMNS), normal(COLUMNS)
        self.parameters = [self.w, self.b, self.layer.weight, self.layer.bias]
        make = [
            lambda p: mo.optim.SGD(p, 0.05, momentum=0.9),
            lambda p: mo.optim.Adam(p, 0.02),
            lambda p: mo.optim.AdamW(p, 0.02, weight_decay=0.1),
        ][seed % 3]
        self.optimizer = make(self.parameters)
        self.losses: list[Any] = [None, None]
        #: The number of the last action that stepped by each.
        self.stepped = [0, 0]
        self.gradients: list[Any] = []
        self.average = mo.array(0.0)
        #: A step could not be taken, so what comes after it is of other parameters.
        self.is_over = False

    def run(self, actions: list[Action]) -> Answers:
        for number, (kind, numbers) in enumerate(actions):
            getattr(self, "do_" + kind.replace(" ", "_"))(number, numbers)
            if self.is_over:
                return self.answers
        for k, value in enumerate((*self.names, *self.parameters, self.average)):
            self.answers.ask(f"end {k}", value.numpy)
        return self.answers

    def name(self, number: float) -> int:
        return int(number * NAMES)

    def do_combine(self, number: int, n: list[float]) -> None:
        a, b = self.names[self.name(n[0])], self.names[self.name(n[1])]
        made = [a + b, a * b, mo.tanh(a - b), mo.maximum(a, b) * 0.5][int(n[2] * 4)]
        self.names[self.name(n[3])] = mo.tanh(made)

    def do_layer(self, number: int, n: list[float]) -> None:
        self.names[self.name(n[1])] = mo.tanh(self.layer(self.names[self.name(n[0])]))

    def do_product(self, number: int, n: list[float]) -> None:
        self.names[self.name(n[1])] = mo.tanh(self.names[self.name(n[0])] @ self.w + self.b)

    def do_mean(self, number: int, n: list[float]) -> None:
        x = self.names[self.name(n[0])]
        self.names[self.name(n[1])] = x - x.mean(0, keepdims=True)

    def do_forget(self, number: int, n: list[float]) -> None:
        self.names[self.name(n[0])] = self.normal(ROWS, COLUMNS)

    def do_ask(self, number: int, n: list[float]) -> None:
        x = self.names[self.name(n[0])]
        metric = [lambda: x, x.sum, x.max, lambda: x.mean(0)][int(n[1] * 4)]
        self.answers.ask(f"{number} ask", lambda: metric().numpy())

    def do_look(self, number: int, n: list[float]) -> None:
        what = int(n[0] * 5)
        if what == 0:
            mo.sync_all()
        elif what == 1:
            self.answers.ask(f"{number} mean", self.layer.running_mean.numpy)
        elif what == 2:
            self.answers.ask(f"{number} w", self.w.numpy)
        elif what == 3:
            state = self.optimizer.state_dict()
            for name, value in state.items():
                if isinstance(value, mo.Var):
                    self.answers.ask(f"{number} {name}", value.numpy)
        elif self.losses[0] is not None:
            self.answers.ask(f"{number} loss", self.losses[0].numpy)

    def do_loss(self, number: int, n: list[float]) -> None:
        x = self.names[self.name(n[0])]
        self.losses = [((x @ self.w + self.b) ** 2).mean() + (x * x).mean(), self.losses[0]]
        self.stepped = [0, self.stepped[0]]

    def do_grad(self, number: int, n: list[float]) -> None:
        loss = self.losses[int(n[0] * 2)]
        if loss is None:
            return
        targets = [*self.parameters, self.names[self.name(n[1])]]
        targets = [t for k, t in enumerate(targets) if k == 0 or (n[2] * 16) % 2 ** (k + 1) >= 2**k]
        label = f"{number} grad"
        found = []
        self.answers.ask(label, lambda: found.append(mo.grad(loss, targets)))
        if found:
            self.gradients = [*self.gradients[-3:], (label, found[0])]

    def do_ask_gradient(self, number: int, n: list[float]) -> None:
        if self.gradients:
            label, gradients = self.gradients[int(n[0] * len(self.gradients))]
            for k, gradient in enumerate(gradients):
                self.answers.ask(f"{number}, of {label} {k}", gradient.numpy)

    def do_step(self, number: int, n: list[float]) -> None:
        which = int(n[0] * 2)
        loss = self.losses[which]
        if loss is not None and not self.stepped[which]:
            self.stepped[which] = number + 1
            self.take(f"{number} step", loss)

    def do_step_by_two(self, number: int, n: list[float]) -> None:
        if self.losses[1] is not None and not any(self.stepped):
            self.stepped = [number + 1] * 2
            self.take(f"{number} two", self.losses)

    def take(self, label: str, loss: Any) -> None:
        self.answers.ask(label, lambda: self.optimizer.step(loss))
        self.is_over = isinstance(self.answers.values[-1][1], Exception)

    def do_move(self, number: int, n: list[float]) -> None:
        if n[0] < 0.3:
            self.w += 0.01
        elif n[0] < 0.6:
            self.b.update(self.b * 0.9)
        else:
            self.w[int(n[1] * COLUMNS)] = 0.1

    def do_average(self, number: int, n: list[float]) -> None:
        if self.losses[0] is not None:
            self.average = 0.9 * self.average + 0.1 * self.losses[0].detach()

    def do_evaluate(self, number: int, n: list[float]) -> None:
        self.layer.eval()
        with mo.no_grad():
            y = self.layer(self.names[self.name(n[0])])
        self.layer.train()
        if n[1] < 0.5:
            self.answers.ask(f"{number} evaluated", y.numpy)
