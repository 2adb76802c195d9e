# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random scans and branches within each other, and the same as loops of Python.

Some carry tables, which their trips read and write rows of.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import metaops as mo

#: The deepest nesting of loops and branches.
DEPTH = 2
#: The most trips of a loop whose trips are read from memory.
MOST = 6


def run_scan(body: Callable, init: Any, rows: Any, trips: int, reverse: bool, unroll: Any) -> tuple:
    """Run a scan as one operation."""
    return mo.scan(body, init, rows, length=trips, reverse=reverse, unroll=unroll)


def run_unrolled(
    body: Callable, init: Any, rows: Any, trips: int, reverse: bool, unroll: Any
) -> tuple:
    """Run a scan by a loop of Python."""
    made: list[Any] = [None] * trips
    for t in range(trips)[:: -1 if reverse else 1]:
        init, made[t] = body(init, mo.tree_map(lambda x, t=t: x[t], rows))
    return init, mo.tree_map(lambda *ys: mo.stack(ys), *made)


def repeat(body: Callable, init: list, trips: mo.Var, counts: bool) -> list:
    """Run a body so often as one operation that counts, or that asks."""
    if counts:
        return mo.fori_loop(0, trips, lambda _, carry: body(carry), init, max_trips=MOST)
    last, _ = mo.while_loop(
        lambda carry: carry[1] < trips,
        lambda carry: (body(carry[0]), carry[1] + 1),
        (init, 0),
        max_trips=MOST,
    )
    return last


def repeat_unrolled(body: Callable, init: list, trips: mo.Var, counts: bool) -> list:
    """Run a body so often by a loop of Python."""
    for _ in range(trips.item()):
        init = body(init)
    return init


#: Operations of programs that a function is made of.
PROGRAMS = (run_scan, mo.cond, repeat)


def choose(condition: mo.Var, first: Callable, other: Callable) -> Any:
    """Choose a branch when it is recorded."""
    return first() if condition.item() else other()


class RandomLoops:
    """A function of tensors that is made of loops and branches.

    All values are of one shape; each call makes the same choices.

    Parameters
    ----------
    seed : int
        Of all choices.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = random.Random(seed)
        self.shape = rng.choice([(3,), (2, 3), (1, 4)])
        self.draws = rng.random() < 0.3

    def inputs(self) -> list[mo.Var]:
        """Return what it is a function of."""
        mo.seed(self.seed + 1000)
        values = [0.5 * mo.random.normal(shape=self.shape, dtype="float64") for _ in range(3)]
        size = self.shape[-1]
        values.append(0.5 * mo.random.normal(shape=(size, size), dtype="float64"))
        return [x.sync() for x in values]

    def run(self, inputs: list[mo.Var], scan: Callable, cond: Callable, repeat: Callable) -> mo.Var:
        """Return a number, by loops and branches of a kind."""
        self.rng = random.Random(self.seed)
        self.scan, self.cond, self.repeat, self.weights = scan, cond, repeat, inputs[-1]
        values = self.block(list(inputs[:-1]), DEPTH, may_draw=True)
        del self.weights
        return sum((x * x * (k + 1)).sum() for k, x in enumerate(values[-3:]))

    def pick(self, scope: list[mo.Var]) -> mo.Var:
        return self.rng.choice(scope[-4:])

    def block(self, scope: list[mo.Var], depth: int, may_draw: bool) -> list[mo.Var]:
        """Return the values of a scope, and some that are made of them."""
        scope = list(scope)
        for _ in range(self.rng.randrange(2, 5)):
            kinds = ["plain"] * 4 + (["scan", "scan", "cond", "repeat"] if depth else [])
            kind = self.rng.choice(kinds)
            if kind == "plain":
                scope.append(self.plain(scope, may_draw))
            elif kind == "scan":
                scope += self.loop(scope, depth, may_draw)
            elif kind == "repeat":
                scope += self.repetition(scope, depth)
            else:
                scope.append(self.branch(scope, depth))
        return scope

    def plain(self, scope: list[mo.Var], may_draw: bool) -> mo.Var:
        x, y = self.pick(scope), self.pick(scope)
        kind = self.rng.randrange(8)
        if kind == 0:
            return mo.sin(x) + y
        if kind == 1:
            return mo.tanh(x * y)
        if kind == 2:
            return 0.5 * (x @ self.weights)
        if kind == 3:
            return x - y.mean()
        if kind == 4:
            return mo.where(x > y, x, 0.5 * y)
        if kind == 5:
            return mo.tanh(x.cumsum(axis=-1))
        if kind == 6 and may_draw and self.draws:
            return x * mo.random.uniform(shape=self.shape, dtype="float64")
        return mo.concat([x[..., 1:], y[..., :1]], -1)

    def loop(self, scope: list[mo.Var], depth: int, may_draw: bool) -> list[mo.Var]:
        trips = self.rng.choice([1, 2, 3, 6])
        reverse = self.rng.random() < 0.4
        unroll = self.rng.choice([False, False, None, True, 2, 3])
        carries = [self.pick(scope) for _ in range(self.rng.randrange(1, 3))]
        rows = [
            mo.stack([self.pick(scope) for _ in range(trips)])
            for _ in range(self.rng.randrange(0, 3))
        ]
        counts = self.rng.random() < 0.4
        keeps = counts and self.rng.random() < 0.6
        state = self.rng.getstate()

        def body(carry: list, row: list) -> tuple:
            # A body of Python is run for each trip.
            self.rng.setstate(state)
            own, others = carry[: len(carries)], carry[len(carries) :]
            kept = [self.read(*others)] if keeps else []
            values = self.block(scope + kept + own + row, depth - 1, may_draw)
            following = [self.pick(values) for _ in own]
            if keeps:
                others[1] = self.write(*others, values)
            if counts:
                others[0] = others[0] + 1
            made = [self.pick(values)]
            if self.rng.random() < 0.3:
                made.append(own[0])
            return following + others, made

        init = [*carries, *([mo.array(0)] if counts else [])]
        if keeps:
            init.append(mo.stack([self.pick(scope) for _ in range(trips)]))
        last, made = self.scan(body, init, rows, trips, reverse, unroll)
        values = [*last[: len(carries)], *(y.mean(axis=0) for y in made)]
        if counts:
            values[0] = values[0] * last[len(carries)].cast("float64")
        if keeps:
            values.append(last[-1].mean(axis=0))
        return values

    def repetition(self, scope: list[mo.Var], depth: int) -> list[mo.Var]:
        """Return what is carried behind trips that are read from memory."""
        carries = [self.pick(scope) for _ in range(self.rng.randrange(1, 3))]
        trips = (self.pick(scope).sum().abs() * 7.3).cast("int64") % (MOST + 1)
        counts = self.rng.random() < 0.5
        state = self.rng.getstate()

        def body(own: list) -> list:
            self.rng.setstate(state)
            # Random numbers are not those of the loop unrolled.
            values = self.block(scope + own, depth - 1, may_draw=False)
            return [self.pick(values) for _ in own]

        # A body of no trip is not run by Python.
        others = random.Random(self.rng.random())
        last: list[mo.Var] = self.repeat(body, carries, trips, counts)
        self.rng = others
        return last

    def read(self, count: mo.Var, table: mo.Var) -> mo.Var:
        """Return a row of a table, at the trip's number or at the one before."""
        return table[count - self.rng.randrange(2)]

    def write(self, count: mo.Var, table: mo.Var, values: list[mo.Var]) -> mo.Var:
        """Return the table with values in rows, with reads between, which join the values."""
        for _ in range(self.rng.randrange(1, 4)):
            kind = self.rng.choice(["row", "row", "branch", "loop"])
            write, value = self.write_row(), self.pick(values)
            if kind == "row":
                table = write(count, table, value)
            elif kind == "branch":
                table = self.cond(
                    self.pick(values).sum() > 0,
                    lambda count=count, table=table, write=write, value=value: write(
                        count, table, value
                    ),
                    lambda table=table: table,
                )
            else:
                table = self.write_in_loop(count, table, value)
            if self.rng.random() < 0.4:
                values.append(self.read(count, table))
        return table

    def write_row(self) -> Callable[[mo.Var, mo.Var, mo.Var], mo.Var]:
        """Return what puts a value into a row of a table, or adds it."""
        offset, adds = self.rng.randrange(2), self.rng.random() < 0.5

        def write(count: mo.Var, table: mo.Var, value: mo.Var) -> mo.Var:
            rows = table.at[count - offset]
            return rows.add(value) if adds else rows.set(value)

        return write

    def write_in_loop(self, count: mo.Var, table: mo.Var, value: mo.Var) -> mo.Var:
        """Return a table that a loop inside writes rows of, each made of another one."""
        write, distance, extent = self.write_row(), self.rng.randrange(1, 4), table.shape[0]

        def body(carry: list, row: list) -> tuple:
            place, own = carry
            read = mo.tanh(own[(place + distance) % extent] + value)
            return [(place + 1) % extent, write(place, own, read)], []

        trips = self.rng.choice([1, 2, 3])
        return self.scan(body, [count % extent, table], [], trips, False, False)[0][1]

    def branch(self, scope: list[mo.Var], depth: int) -> mo.Var:
        condition = self.pick(scope).sum() > 0
        state, others = self.rng.getstate(), random.Random(self.rng.random())

        def first() -> mo.Var:
            self.rng.setstate(state)
            return self.pick(self.block(scope, depth - 1, may_draw=False))

        def other() -> mo.Var:
            self.rng = random.Random(self.seed + 1)
            return self.pick(self.block(scope, depth - 1, may_draw=False))

        chosen = self.cond(condition, first, other)
        # The rest does not depend on the branch that was recorded.
        self.rng = others
        return chosen
