# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans whose carries pass the budget: each k-th is kept, and trips are made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo
import numpy as np
import pytest

WIDTH = 4


def numbers(*shape: int, seed: int = 0) -> mo.Var:
    return mo.array(np.random.default_rng(seed).normal(size=shape))


W = 0.5 * numbers(WIDTH, WIDTH, seed=10)
FIRST, OTHER = numbers(2, WIDTH, seed=1), numbers(2, WIDTH, seed=2)


def lstm(carry: tuple, x: mo.Var) -> tuple:
    """Return a trip with two carries, one of which is a row, too."""
    h, c = carry
    gates = x @ W + h @ W
    c = mo.sigmoid(gates) * c + mo.tanh(gates * 0.5)
    h = mo.tanh(c) * mo.sigmoid(gates + h)
    return (h, c), (h, (c * x).sum())


def random_trip(carry: tuple, x: mo.Var) -> tuple:
    """Return a trip that draws."""
    h, c = carry
    h = mo.tanh(h @ W + x * mo.random.uniform(shape=(2, WIDTH), dtype="float64"))
    return (h, 0.9 * c * h), (h, (c + mo.random.uniform(shape=(), dtype="float64")).sum())


def nested(carry: tuple, x: mo.Var) -> tuple:
    """Return a trip with a loop and a branch."""
    h, c = carry
    inner, made = mo.scan(lambda a, w: (mo.sin(a * w + x), a.sum()), h, W, unroll=False)
    c = mo.cond(c.sum() > 0, lambda: c * inner, lambda: mo.sin(c) - h)
    return (0.5 * inner, c), (c, made.sum())


def typed(carry: tuple, x: mo.Var) -> tuple:
    """Return a trip whose carries are a table, a number of the trip, and a sum."""
    (h, count), (table, total) = carry
    h = mo.tanh(h * x + table[count])
    following = ((h, count + 1), (table.at[count].set(h * x), total + h))
    return following, (h, (h * x).sum())


BODIES = [lstm, random_trip, nested]


def start(body: Callable, trips: int) -> Any:
    if body is typed:
        return ((FIRST, 0), (numbers(trips, 2, WIDTH, seed=4), OTHER))
    return (FIRST, OTHER)


def derive(body: Callable, trips: int, reverse: bool, budget: int, looks: bool = False) -> list:
    """Return a loss and its gradients, of two orders, within a budget."""
    rows = 0.5 * numbers(trips, 2, WIDTH, seed=3)
    with mo.flag_scope(saved_values_budget=budget):
        mo.seed(7)
        last, made = mo.scan(body, start(body, trips), rows, reverse=reverse, unroll=False)
        leaves = [*mo.tree_leaves(last), *mo.tree_leaves(made)]
        floats = [leaf for leaf in leaves if leaf.dtype == mo.float64]
        loss = sum((leaf * leaf * (k + 1)).sum() for k, leaf in enumerate(floats))
        if looks:
            loss.item()
        first = mo.grad(loss, [FIRST, rows, W], allow_unused=True)
        second = mo.grad(sum((g * g).sum() for g in first), [FIRST, rows, W], allow_unused=True)
        return [value.numpy() for value in (loss, *leaves, *first, *second)]


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("trips", [16, 17, 36])
@pytest.mark.parametrize("body", [*BODIES, typed])
def test_values_and_gradients_are_those_of_all_carries(
    body: Callable, trips: int, reverse: bool, looks: bool
) -> None:
    budget = trips * WIDTH * 2 * 8
    expected = derive(body, trips, reverse, 1 << 30)
    found = derive(body, trips, reverse, budget, looks)
    for mine, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-11, atol=1e-11 * np.abs(value).max())


@pytest.mark.parametrize("trips", [64, 67])
def test_what_no_sum_over_trips_is_in_is_the_same_to_the_bit(trips: int) -> None:
    expected = derive(lstm, trips, False, 1 << 30)
    found = derive(lstm, trips, False, trips * 8)
    # The loss, the last carries, rows, and the gradients by the first carry and rows.
    for mine, value in zip(found[:7], expected[:7], strict=True):
        np.testing.assert_array_equal(mine, value)


@pytest.mark.parametrize("body", BODIES)
def test_gradients_are_those_of_differences(body: Callable) -> None:
    trips = 18
    rows = 0.5 * numbers(trips, 2, WIDTH, seed=3)

    def loss(h: mo.Var, x: mo.Var) -> mo.Var:
        mo.seed(3)
        (h, c), (ys, sums) = mo.scan(body, (h, OTHER), x, unroll=False)
        return (h * c).sum() + (ys * ys).sum() + sums.sum()

    with mo.flag_scope(saved_values_budget=0):
        gradients = [g.numpy() for g in mo.grad(loss(FIRST, rows), [FIRST, rows])]
        for k, (value, gradient) in enumerate(zip([FIRST, rows], gradients, strict=True)):
            direction = numbers(*value.shape, seed=20 + k)
            moved = []
            for step in (1e-6, -1e-6):
                given = [FIRST, rows]
                given[k] = value + step * direction
                moved.append(loss(*given).item())
            expected = (moved[0] - moved[1]) / 2e-6
            np.testing.assert_allclose(
                (gradient * direction.numpy()).sum(), expected, rtol=1e-6, atol=1e-6
            )


def measure_scratch(trips: int, budget: int) -> int:
    """Return the bytes that a program takes beside what it is given and gives."""
    rows = mo.zeros((trips, 8)).sync()
    first = mo.ones((64, 8)).sync()

    def f(h: mo.Var, x: mo.Var) -> tuple:
        return mo.tanh(mo.sin(h) * x + h), None

    with mo.flag_scope(saved_values_budget=budget):
        last, _ = mo.scan(f, first, rows, unroll=False)
        # Rows for a gradient of the gradient are no scratch memory.
        mo.grad(last.sum(), first).detach().sync()
        return int(mo.last_program().arena_bytes)


def test_memory_is_that_of_the_square_root_of_trips() -> None:
    start_bytes = 64 * 8 * 4
    for trips in (64, 256, 1024):
        root = int(trips**0.5)
        assert measure_scratch(trips, 1 << 30) >= trips * start_bytes
        tight = measure_scratch(trips, trips * start_bytes // 10)
        # Of blocks, of a block's trips, and what a trip is made of.
        assert tight <= (2 * root + 16) * start_bytes


def test_blocks_are_as_long_as_what_their_trips_save_allows() -> None:
    # Products of a trip are more bytes than its carry: blocks are shorter for them.
    wide = numbers(WIDTH, 64)

    def f(h: mo.Var, x: mo.Var) -> tuple:
        return mo.tanh(mo.sin(h @ wide).reshape(2, 16, WIDTH).sum(1) + x), None

    with mo.flag_scope(saved_values_budget=1024):
        last, _ = mo.scan(f, FIRST, numbers(64, 2, WIDTH), unroll=False)
        mo.grad(last.sum(), FIRST).sync()
        text = mo.last_program().ir("graph")
    assert "metaop.scan 32 unroll 1 carries" in text
    assert "metaop.scan 2 unroll 1 carries" in text


@pytest.mark.parametrize("looks", [False, True])
def test_no_trip_is_made_a_third_time(looks: bool) -> None:
    rows = numbers(64, 2, WIDTH)

    def f(h: mo.Var, x: mo.Var) -> tuple:
        h = mo.erf(h + x)
        return h, h * 2

    text = ""
    with mo.flag_scope(saved_values_budget=1024):
        last, ys = mo.scan(f, FIRST, rows, unroll=False)
        loss = last.sum() + ys.sum()
        if looks:
            loss.sync()
            text = mo.last_program().ir("graph")
        mo.grad(loss, FIRST).sync()
        text += mo.last_program().ir("graph")
    # One in the forward blocks, one where the gradient makes them again.
    assert text.count("metaop.erf") == 2


@pytest.mark.parametrize("budget", [0, 1 << 30])
@pytest.mark.parametrize("wrong", [0, 9, 11, 16])
def test_checks_name_the_trip_of_the_loop(budget: int, wrong: int) -> None:
    table = numbers(5, WIDTH)
    places = np.arange(17) % 5
    places[wrong] = 5

    def f(h: mo.Var, place: mo.Var) -> tuple:
        return mo.tanh(h + table[place]), None

    with mo.flag_scope(saved_values_budget=budget):
        last, _ = mo.scan(f, FIRST[0], mo.array(places), unroll=False)
        gradient = mo.grad(last.sum(), table)
        with pytest.raises(IndexError, match=rf"extent 5, in trip {wrong}, recorded at"):
            gradient.sync()
        (outer, _) = mo.scan(
            lambda a, _: (mo.scan(f, a, mo.array(places), unroll=False)[0], None),
            FIRST[0],
            length=20,
            unroll=False,
        )
        with pytest.raises(IndexError, match=rf"extent 5, in trips 0, {wrong}, recorded at"):
            mo.grad(outer.sum(), table).sync()


def test_checks_name_the_trip_in_programs_of_files(tmp_path: Any) -> None:
    table = numbers(5, WIDTH)

    def run(places: mo.Var) -> mo.Var:
        last, _ = mo.scan(
            lambda h, place: (mo.tanh(h + table[place]), None), FIRST[0], places, unroll=False
        )
        return mo.grad(last.sum(), table)

    places = np.arange(17) % 5
    with mo.flag_scope(saved_values_budget=0):
        mo.export(run, [places], tmp_path / "run.mop")
    program = mo.load_program(tmp_path / "run.mop")
    np.testing.assert_allclose(program(places), run(mo.array(places)).numpy(), rtol=1e-12)
    places[13] = -6
    with pytest.raises(RuntimeError, match=r", in trip 13$"):
        program(places)


def halve(value: tuple) -> tuple:
    x, c = value
    return mo.tanh(x @ W) * 0.9 + 0.1 * x, c + (x * x).sum()


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("trips", [0, 1, 5, 12, 23])
def test_bounded_loops(trips: int, counts: bool) -> None:
    def run(budget: int) -> list[np.ndarray]:
        count = mo.array(trips)
        with mo.flag_scope(saved_values_budget=budget):
            if counts:
                x, c = mo.fori_loop(
                    0, count, lambda _, v: halve(v), (FIRST, OTHER.sum()), max_trips=23
                )
            else:
                (x, c), _ = mo.while_loop(
                    lambda v: v[1] < count,
                    lambda v: (halve(v[0]), v[1] + 1),
                    ((FIRST, OTHER.sum()), 0),
                    max_trips=23,
                )
            first = mo.grad((x * x).sum() + c, [FIRST, W])
            second = mo.grad(sum((g * g).sum() for g in first), [FIRST, W])
            return [value.numpy() for value in (x, c, *first, *second)]

    for mine, value in zip(run(100), run(1 << 30), strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-11, atol=1e-11)


def test_tables_that_trips_read_a_row_of_are_not_kept() -> None:
    # Starts of blocks would be whole tables, and starts of trips are rows.
    def f(carry: tuple, _: None) -> tuple:
        count, table = carry
        return (count + 1, table.at[count + 1].set(mo.sin(table[count]))), None

    with mo.flag_scope(saved_values_budget=64):
        table = numbers(33, WIDTH)
        last, _ = mo.scan(f, (0, table), length=32, unroll=False)
        assert "metaop.blocks" not in mo.explain(mo.grad(last[1].sum(), table)).ir("graph")


def test_loops_without_gradients_have_no_blocks() -> None:
    with mo.flag_scope(saved_values_budget=0), mo.no_grad():
        last, _ = mo.scan(lambda h, x: (mo.tanh(h + x), None), FIRST, numbers(64, 2, WIDTH))
        assert "metaop.blocks" not in mo.explain(last).ir("graph")


@pytest.mark.parametrize("unroll", [2, 3, True])
def test_loops_that_are_unrolled(unroll: int | bool) -> None:
    def run(budget: int) -> list[np.ndarray]:
        with mo.flag_scope(saved_values_budget=budget):
            (h, c), (ys, sums) = mo.scan(lstm, (FIRST, OTHER), numbers(25, 2, WIDTH), unroll=unroll)
            loss = (h * c).sum() + (ys * ys).sum() + sums.sum()
            return [g.numpy() for g in mo.grad(loss, [FIRST, W])]

    for mine, value in zip(run(0), run(1 << 30), strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-11, atol=1e-11)


def test_tangents() -> None:
    def run(budget: int) -> list[np.ndarray]:
        with mo.flag_scope(saved_values_budget=budget):
            (h, c), _ = mo.scan(lstm, (FIRST, OTHER), numbers(20, 2, WIDTH), unroll=False)
            (moved,) = mo.jvp([(h * c).sum()], [FIRST], [OTHER])
            return [moved.numpy(), mo.grad(moved, W).numpy()]

    for mine, value in zip(run(0), run(1 << 30), strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-11, atol=1e-11)


def test_a_next_carry_that_is_dear_is_saved() -> None:
    def f(h: mo.Var, x: mo.Var) -> tuple:
        following = h @ W + x
        product = mo.sin(h) @ W
        return product, mo.tanh(product) + following

    last, ys = mo.scan(f, FIRST, numbers(30, 2, WIDTH), unroll=False)
    mo.grad((last * last).sum() + ys.sum(), FIRST).sync()
    (text,) = mo.last_program().explain().ir("graph")
    # Two forwards, and those of their gradients; none is made again.
    assert text.count("metaop.reindex_reduce add") + text.count("metaop.reduce add") <= 6


def leap(carry: tuple, _x: Any) -> tuple:
    """Return a trip whose first carry is what the second one was."""
    before, now = carry
    return (now, 2.0 * now - before - 0.05 * mo.sin(now)), None


def swap(carry: tuple, _x: Any) -> tuple:
    """Return a trip whose carries change places."""
    a, b = carry
    return (b, a + 0.1 * mo.sin(b)), None


def row_of_start(carry: tuple, _x: Any) -> tuple:
    """Return a trip that reads nothing of a carry, which is a row."""
    a, b = carry
    return (a + 0.1 * b, 0.9 * b), a


def inner_loop(body: Callable, unroll: bool) -> Callable:
    """Return a trip that makes five of another loop, whose rows it reads."""

    def trip(carry: tuple, _x: Any) -> tuple:
        last, rows = mo.scan(body, carry, length=5, unroll=unroll)
        return last, None if rows is None else mo.sin(rows).sum()

    return trip


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("body", [leap, swap, row_of_start])
def test_carries_that_become_others(body: Callable, is_nested: bool) -> None:
    """Budgets lie below the starts, between these and the inner loop's, and above all."""

    def differentiate(trip: Callable, budget: int, unroll: bool) -> list:
        with mo.flag_scope(saved_values_budget=budget):
            last, rows = mo.scan(trip, (FIRST, OTHER), length=16, unroll=unroll)
            loss = sum((leaf**2).sum() for leaf in mo.tree_leaves((last, rows)))
            return [gradient.numpy() for gradient in mo.grad(loss, [FIRST, OTHER])]

    expected = differentiate(inner_loop(body, True) if is_nested else body, 1 << 30, True)
    for budget in (0, 64, 400, 800, 1200, 1 << 30):
        trip = inner_loop(body, False) if is_nested else body
        for actual, exact in zip(differentiate(trip, budget, False), expected, strict=True):
            np.testing.assert_allclose(actual, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("trips", [1, 2, 3, 4, 10**15])
def test_loops_of_few_or_very_many_trips_are_recorded(trips: int) -> None:
    def trip(h: mo.Var, _x: Any) -> tuple:
        return mo.sin(h) * h, None

    with mo.flag_scope(saved_values_budget=0):
        last, _ = mo.scan(trip, FIRST, length=trips, unroll=False)
        if trips < 10:
            (gradient,) = mo.grad(last.sum(), [FIRST])
            value = FIRST
            for _ in range(trips):
                value = mo.sin(value) * value
            (expected,) = mo.grad(value.sum(), [FIRST])
            np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("trips", [17, 19, 23])
def test_tangents_name_the_trip_behind_blocks(trips: int) -> None:
    places = np.zeros(trips, "int32")
    places[trips - 1] = 9

    def trip(h: mo.Var, place: mo.Var) -> tuple:
        return mo.sin(h) + h.at[place, 0].set(0.5), None

    with mo.flag_scope(saved_values_budget=0):
        last, _ = mo.scan(trip, FIRST, mo.array(places), unroll=False)
        (tangent,) = mo.jvp([last.sum()], [FIRST], [OTHER])
        with pytest.raises(IndexError, match=f"in trip {trips - 1}"):
            tangent.numpy()
