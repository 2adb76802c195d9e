# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables that loops carry are in one place: no trip copies them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo
import numpy as np
import pytest

ROWS, WIDTH, TRIPS = 12, 16, 7

#: Of a trip's number and a table, the table of the next trip.
Trip = Callable[[Any, Any], Any]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def put(table: Any, place: Any, value: Any) -> Any:
    """Return the table with a row."""
    if isinstance(table, mo.Var):
        return table.at[place].set(value)
    table = table.copy()
    table[place] = value
    return table


def choose(condition: Any, first: Callable, other: Callable) -> Any:
    """Call one of two functions."""
    if isinstance(condition, mo.Var):
        return mo.cond(condition, first, other)
    return first() if condition else other()


def repeat(trips: int, trip: Trip, table: Any) -> Any:
    """Make so many trips."""
    if isinstance(table, mo.Var):
        return mo.fori_loop(0, trips, trip, table, unroll=False)
    for i in range(trips):
        table = trip(i, table)
    return table


def tanh(x: Any) -> Any:
    return mo.tanh(x) if isinstance(x, mo.Var) else np.tanh(x)


def insert_twice(i: Any, table: Any) -> Any:
    new = put(table, i % ROWS, tanh(table[(i + 3) % ROWS]))
    return put(new, (i + 5) % ROWS, new[i % ROWS] * 0.5)


def read_old_and_new(i: Any, table: Any) -> Any:
    """Read a row before it is written over, and what came in its place, in one kernel."""
    old = table[i % ROWS]
    new = put(table, i % ROWS, table[(i + 1) % ROWS] * 0.5)
    return put(new, (i + 2) % ROWS, new[i % ROWS] + old)


def overlap(i: Any, table: Any) -> Any:
    """Write over a row twice."""
    new = put(table, i % ROWS, table[(i + 3) % ROWS] + 1)
    return put(new, i % ROWS, tanh(new[i % ROWS]))


def insert_under_a_condition(i: Any, table: Any) -> Any:
    new = put(table, i % ROWS, table[(i + 3) % ROWS] * 0.5)
    new = choose(i % 2 == 0, lambda: put(new, (i + 1) % ROWS, new[0] + 1), lambda: new)
    return put(new, (i + 2) % ROWS, tanh(new[(i + 1) % ROWS]))


def insert_in_both_branches(i: Any, table: Any) -> Any:
    def twice() -> Any:
        return put(put(table, 0, table[i % ROWS] + 1), 1, table[(i + 1) % ROWS] * 0.5)

    return choose(i % 3 == 0, twice, lambda: put(table, i % ROWS, tanh(table[2])))


def compute_all(i: Any, table: Any) -> Any:
    """Insert, and compute all of it element by element."""
    return put(table, i % ROWS, table[(i + 3) % ROWS] + 1) * 0.75


def compute_under_a_condition(i: Any, table: Any) -> Any:
    return choose(i % 2 == 0, lambda: tanh(table), lambda: table)


def insert_in_an_inner_loop(i: Any, table: Any) -> Any:
    def inner(j: Any, own: Any) -> Any:
        return put(own, (i + j) % ROWS, tanh(own[j % ROWS]) + 0.1)

    return repeat(3, inner, table)


def insert_around_an_inner_loop(i: Any, table: Any) -> Any:
    def inner(j: Any, own: Any) -> Any:
        return choose(j % 2 == 0, lambda: put(own, j % ROWS, own[i % ROWS] + 1), lambda: own)

    first = put(table, i % ROWS, table[0] * 0.5)
    return put(repeat(3, inner, first), (i + 1) % ROWS, first[i % ROWS] + 1)


def read_behind_a_branch(i: Any, table: Any) -> Any:
    """Read what a branch may have written over, and what it has made."""
    new = choose(i % 2 == 0, lambda: put(table, i % ROWS, table[0] * 0.5), lambda: table)
    return put(new, (i + 1) % ROWS, new[(i + 2) % ROWS] * 0.5 + tanh(table[(i + 3) % ROWS]))


def insert_in_a_conditional_loop(i: Any, table: Any) -> Any:
    def inner(j: Any, own: Any) -> Any:
        return put(own, (i + j) % ROWS, tanh(own[j % ROWS]) + 0.1)

    return choose(i % 2 == 0, lambda: repeat(4, inner, table), lambda: table)


IN_ONE_PLACE = [
    insert_twice,
    read_old_and_new,
    overlap,
    insert_under_a_condition,
    insert_in_both_branches,
    compute_all,
    compute_under_a_condition,
    insert_in_an_inner_loop,
    insert_around_an_inner_loop,
    read_behind_a_branch,
    insert_in_a_conditional_loop,
]


def name(trip: Trip) -> str:
    return trip.__name__


def copies_of_tables() -> tuple[int, int]:
    """Return how many copies of a table the last program has, and how many in its loop."""
    kernels = mo.last_program().kernels
    first = [kernel.name for kernel in kernels].index("for")
    sizes = [(kernel.name, kernel.bytes_written) for kernel in kernels]
    table = ("copy", ROWS * WIDTH * 8)
    return sizes.count(table), sizes[first:].count(table)


@pytest.mark.parametrize("trips", [2, TRIPS])
@pytest.mark.parametrize("trip", IN_ONE_PLACE, ids=name)
def test_no_trip_copies_a_table(trip: Trip, trips: int) -> None:
    table = numbers(ROWS, WIDTH)
    last = repeat(trips, trip, mo.array(table)).sync()
    total, inside = copies_of_tables()
    assert inside == 0
    assert total <= 1
    np.testing.assert_allclose(last.numpy(), repeat(trips, trip, table))


@pytest.mark.parametrize("trip", IN_ONE_PLACE, ids=name)
def test_a_donated_table_is_copied_where_trips_check(trip: Trip) -> None:
    run = mo.jit(lambda t: repeat(TRIPS, trip, t), donate="t")
    expected = numbers(ROWS, WIDTH)
    mine = mo.array(expected).sync()
    for _ in range(3):
        mine, expected = run(mine).sync(), repeat(TRIPS, trip, expected)
        checks = "check" in [kernel.name for kernel in mo.last_program().kernels]
        assert copies_of_tables() == (int(checks and trip is not compute_all), 0)
        np.testing.assert_allclose(mine.numpy(), expected)


def test_a_donated_table_that_trips_number_is_not_copied() -> None:
    """A trip's number is in range where there are as many rows: nothing is checked."""
    run = mo.jit(lambda t: repeat(ROWS, lambda i, t: put(t, i, t[i] * 2 + t[0]), t), donate="t")
    expected = numbers(ROWS, WIDTH)
    mine = mo.array(expected).sync()
    for _ in range(3):
        mine = run(mine).sync()
        for i in range(ROWS):
            expected[i] = expected[i] * 2 + expected[0]
        assert copies_of_tables() == (0, 0)
        np.testing.assert_allclose(mine.numpy(), expected)
    with pytest.raises(IndexError, match=rf"trip {ROWS}\b"):
        repeat(ROWS + 1, lambda i, t: put(t, i, t[0]), mine).sync()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_index_out_of_range_overwrites_nothing(asynchronous: bool) -> None:
    """Not even the rows that the trips before wrote, if an update is what fails."""
    table = numbers(ROWS, WIDTH)
    held = mo.array(table).sync()

    @mo.jit
    def step(places: mo.Var) -> None:
        held.update(mo.scan(lambda t, i: (t.at[i].set(t[i] + 1), None), held, places)[0])

    with mo.flag_scope(asynchronous=asynchronous):
        for call in range(4):
            with pytest.raises(IndexError, match=r"trip 9\b"):
                step(mo.array([*range(9), ROWS]))
                held.sync()
            np.testing.assert_array_equal(held.numpy(), table)
            step(mo.array([call, call, call]))
            for _ in range(3):
                table[call] += 1
            np.testing.assert_array_equal(held.numpy(), table)


def test_a_condition_that_a_loop_computes() -> None:
    """It is read where it decides, which may be behind the next one."""
    xs = numbers(TRIPS, WIDTH)

    def body(carry: tuple, x: mo.Var) -> tuple:
        odd, total = carry
        return (~odd, mo.cond(odd, lambda: total * x, lambda: total + x)), None

    first = mo.array(xs).sum() > 1e9
    last, total = mo.scan(body, (first, mo.zeros(WIDTH, dtype="float64")), mo.array(xs))[0]
    expected = np.zeros(WIDTH)
    for t, x in enumerate(xs):
        expected = expected * x if t % 2 else expected + x
    np.testing.assert_allclose(total.numpy(), expected)
    assert last.item() == bool(TRIPS % 2)


def test_a_kernel_reads_what_a_branch_has_chosen() -> None:
    """It may be what the kernel would write over."""
    x, other = numbers(40, 40), numbers(40, 40, seed=1)

    @mo.jit
    def run(x: mo.Var, other: mo.Var, chooses: mo.Var) -> mo.Var:
        made, spare = mo.exp(x), mo.sin(other)
        chosen = mo.cond(chooses, lambda: made, lambda: spare)
        both = made * 2 + chosen.T
        return both.sum(axis=0) + both.max(axis=1)

    for chooses in (True, False):
        made, spare = np.exp(x), np.sin(other)
        both = made * 2 + (made if chooses else spare).T
        for _ in range(3):
            mine = run(mo.array(x), mo.array(other), mo.array(chooses))
            np.testing.assert_allclose(mine.numpy(), both.sum(axis=0) + both.max(axis=1))


def double(value: mo.Var, trips: mo.Var) -> mo.Var:
    return mo.while_loop(
        lambda carry: carry[1] < trips,
        lambda carry: (carry[0] * 2, carry[1] + 1),
        (value, mo.array(0)),
    )[0]


@pytest.mark.parametrize(
    "follow",
    [double, lambda value, trips: mo.cond(trips > 0, lambda: value * 2**trips, lambda: value)],
    ids=["a loop of no trips", "a branch"],
)
def test_a_branch_returns_a_value_and_what_may_be_it(follow: Callable) -> None:
    """One of the two is read when the memory of the other one would be free."""

    @mo.jit
    def run(x: mo.Var, trips: mo.Var, is_taken: mo.Var) -> mo.Var:
        def make() -> tuple[mo.Var, mo.Var]:
            first = x[::-1] + 7
            return first, follow(first, trips)

        first, last = mo.cond(is_taken, make, lambda: (x - 1, x + 1))
        return (first * 5).cumsum()[::-1] + last

    x = np.random.default_rng(0).integers(-99, 99, 40)
    for is_taken in (True, False):
        for trips in range(3):
            first, last = x - 1, x + 1
            if is_taken:
                first = x[::-1] + 7
                last = first * 2**trips
            mine = run(mo.array(x), mo.array(trips), mo.array(is_taken))
            np.testing.assert_array_equal(mine.numpy(), (first * 5).cumsum()[::-1] + last)
