# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twice the trips take at most twice the instructions: nothing is copied in each trip.

Of loops whose tables grow with the trips, a copy of one in each trip is quadratic. Programs
are compiled, and counted where they are run, so that the machine's load has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import count_calls
import count_instructions
import metaops as mo
import numpy as np
import pytest

pytestmark = [pytest.mark.processor, pytest.mark.rest]

TRIPS, WIDTH = 256, 64
#: Twice, and what does not depend on the trips is counted as well. A copy of a table in each
#: trip is a factor of more than 3.
GROWTH = 2.05

#: Of rows and a weight, a value.
Loop = Callable[[mo.Var, mo.Var], mo.Var]


def stack(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Make rows."""
    return mo.scan(lambda c, x: (mo.tanh(c * w + x),) * 2, w, xs)[1]


def insert(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Insert rows into a carry."""

    def trip(carry: tuple, x: mo.Var) -> tuple:
        place, table = carry
        return (place + 1, table.at[place].set(mo.sin(x) * w)), None

    return mo.scan(trip, (0, mo.zeros(xs.shape)), xs)[0][1]


def read_and_insert(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Read rows at the counter, and insert others."""
    table = mo.zeros(xs.shape)
    return mo.fori_loop(0, xs.shape[0], lambda i, c: c.at[i].set(mo.sin(xs[i]) * w), table)


def accumulate(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Add to rows of a carry."""
    table = mo.zeros(xs.shape)
    return mo.fori_loop(0, xs.shape[0], lambda i, c: c.at[i].add(mo.sin(xs[i]) * w), table)


def recur(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Make each row of a carry of the one before."""

    def trip(i: mo.Var, table: mo.Var) -> mo.Var:
        return table.at[i].set(mo.tanh(table[i - 1] * w + xs[i]))

    return mo.fori_loop(0, xs.shape[0], trip, mo.zeros(xs.shape))


def insert_twice(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Insert a row, and another one that is made of it."""

    def trip(i: mo.Var, table: mo.Var) -> mo.Var:
        table = table.at[i].set(mo.sin(xs[i]) * w)
        return table.at[i - 1].set(table[i] * table[i - 2])

    return mo.fori_loop(0, xs.shape[0], trip, mo.zeros(xs.shape))


def insert_if(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Insert rows, one of them in every other trip alone."""

    def trip(i: mo.Var, table: mo.Var) -> mo.Var:
        table = table.at[i].set(mo.sin(xs[i]) * w)
        table = mo.cond(i % 2 == 0, lambda: table.at[i - 1].add(table[i] * w), lambda: table)
        return table.at[i - 2].add(w)

    return mo.fori_loop(0, xs.shape[0], trip, mo.zeros(xs.shape))


def insert_if_and_read(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Insert rows in every other trip, and read a row of what a branch has left."""

    def trip(i: mo.Var, carry: tuple) -> tuple:
        table, h = carry
        h = mo.tanh(h * w)
        table = mo.cond(i % 2 == 0, lambda: table.at[i].set(h), lambda: table)
        return table, h * mo.sin(table[i - 1])

    table, h = mo.fori_loop(0, xs.shape[0], trip, (xs * 2, w))
    return table.sum() + h


def insert_inside(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Have a loop inside insert rows, and insert one."""

    def trip(i: mo.Var, table: mo.Var) -> mo.Var:
        def inside(j: mo.Var, own: mo.Var) -> mo.Var:
            return own.at[i - j].set(mo.tanh(own[i - j - 1] * w + xs[i]))

        return mo.fori_loop(0, 3, inside, table, unroll=False).at[i].add(w)

    return mo.fori_loop(0, xs.shape[0], trip, mo.zeros(xs.shape))


def read(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Read rows of a table at the counter."""
    return mo.fori_loop(0, xs.shape[0], lambda i, c: mo.tanh(c * xs[i] + w), w)


def pass_through(xs: mo.Var, w: mo.Var) -> mo.Var:
    """Have both branches leave a carry as it is."""

    def trip(carry: tuple, x: mo.Var) -> tuple:
        count, table, h = carry
        table, h = mo.cond(count % 2 == 0, lambda: (table, mo.sin(h + x)), lambda: (table, h * w))
        return (count + 1, table, h), None

    _, table, h = mo.scan(trip, (0, xs * 2, w), xs)[0]
    return table.sum() + h


DERIVED = ("value", "gradient", "tangent")
LOOPS = [stack, insert, read_and_insert, accumulate, recur, insert_twice, read, pass_through]
LOOPS += [insert_if_and_read]
CASES = [(loop, what) for loop in LOOPS for what in DERIVED]
# Their gradients save tables: what is read of them is read in a branch, or in a loop.
CASES += [(insert_if, "value"), (insert_if, "tangent"), (insert_inside, "value")]


def derive(loop: Loop, what: str) -> Callable:
    """Return a function of rows and a weight, that is exported."""

    def run(xs: mo.Var, w: mo.Var) -> mo.Var | list[mo.Var]:
        value = loop(xs, w)
        if what == "value":
            return value
        if what == "gradient":
            return mo.grad((value * value).sum(), [xs, w])
        return mo.jvp([value], [xs, w], [xs * 0.5, w + 1])

    return run


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[float]]:
    if not count_instructions.is_there():
        pytest.skip("Valgrind is not there")
    folder: Path = tmp_path_factory.mktemp("counts")
    names, paths = [], []
    for loop, what in CASES:
        names.append((loop.__name__, what))
        for trips in (TRIPS, 2 * TRIPS):
            paths.append(folder / f"{loop.__name__}-{what}-{trips}.metaops")
            example = [np.zeros((trips, WIDTH), "float32"), np.zeros(WIDTH, "float32")]
            mo.export(derive(loop, what), example, paths[-1], targets=["x86-64-v3"])
    counts = count_calls.count(paths, folder)
    return {name: counts[2 * k : 2 * k + 2] for k, name in enumerate(names)}


@pytest.mark.parametrize(("loop", "what"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_instructions_double_with_trips(counted: dict, loop: Loop, what: str) -> None:
    once, twice = counted[loop.__name__, what]
    assert twice <= once * GROWTH
