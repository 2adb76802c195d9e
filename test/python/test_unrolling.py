# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that are unrolled: they have the values of the loops that they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import metaops as mo
import numpy as np
import pytest

#: Values of `unroll` for 7 trips: no loop, groups that fit and others, and all in one.
UNROLLS = [None, True, 1, 2, 3, 7, 100]


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> mo.Var:
    return mo.array(np.random.default_rng(seed).normal(size=shape).astype(dtype))


W = 0.5 * numbers(3, 3, seed=10)
XS = numbers(7, 2, 3, seed=1)


def cell(h: mo.Var, x: mo.Var) -> tuple:
    """Return elements that are computed by themselves, so to the bit."""
    h = mo.tanh(x * h + W[0])
    return h, h * x


def run(unroll: Any, reverse: bool = False) -> list[mo.Var]:
    """Return values of a loop, and gradients of two orders."""
    h = numbers(2, 3, seed=2)
    last, ys = mo.scan(cell, h, XS, reverse=reverse, unroll=unroll)
    first = mo.grad((last * last).sum() + ys.sum(), [h, XS, W])
    second = mo.grad(sum((g * g).sum() for g in first), [h, XS, W])
    return [last, ys, *first, *second]


def has_loop() -> bool:
    """Return whether the last program has one."""
    return any(line.startswith("for ") for line in str(mo.last_program()).splitlines())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", UNROLLS)
def test_values_and_gradients_are_the_loops(unroll: Any, reverse: bool) -> None:
    expected = [x.numpy() for x in run(False, reverse)]
    mine = run(unroll, reverse)
    for place, (a, b) in enumerate(zip(mine, expected, strict=True)):
        if place < 2:
            np.testing.assert_array_equal(a.numpy(), b)
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-10)
    jitted = mo.jit(lambda: run(unroll, reverse))
    for _ in range(3):
        for a, b in zip(jitted(), expected, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-10)


@pytest.mark.parametrize("unroll", UNROLLS)
def test_random_numbers_are_the_loops_to_the_bit(unroll: Any) -> None:
    def draw(last: mo.Var, _: None) -> tuple:
        return mo.random.normal(shape=(2, 3)), (mo.random.uniform(shape=(2, 3)), last)

    drawn = []
    for given in (False, unroll):
        mo.seed(5)
        made = mo.scan(draw, mo.zeros((2, 3)), length=7, unroll=given)
        made = mo.tree_leaves([made, mo.random.uniform(shape=(4,))])
        drawn.append([x.numpy() for x in made])
    for a, b in zip(*drawn, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("unroll", UNROLLS)
def test_counting_loops_are_unrolled(unroll: Any) -> None:
    def step(i: mo.Var, c: mo.Var) -> mo.Var:
        return c * W[0, 0] + i

    mine = mo.fori_loop(3, 10, step, mo.ones(2, "float64"), unroll=unroll)
    value = np.ones(2)
    for i in range(3, 10):
        value = value * W[0, 0].item() + i
    np.testing.assert_allclose(mine.numpy(), value, rtol=1e-12)


@pytest.mark.parametrize("unroll", [None, True, 2, 3])
def test_exported_loops_are_unrolled(unroll: Any, tmp_path: Path) -> None:
    def f(xs: mo.Var) -> tuple:
        return mo.scan(cell, mo.ones((2, 3), "float64"), xs, unroll=unroll)

    path = str(tmp_path / "loop.metaops")
    mo.export(f, [XS], path)
    last, ys = mo.load_program(path)(XS.numpy())
    expected = mo.scan(cell, mo.ones((2, 3), "float64"), XS, unroll=False)
    np.testing.assert_array_equal(np.asarray(last), expected[0].numpy())
    np.testing.assert_array_equal(np.asarray(ys), expected[1].numpy())


def repeat(trips: int, unroll: Any = None) -> bool:
    """Run a loop of four operators a trip; True if there was one."""

    def body(h: mo.Var, _: None) -> tuple:
        return mo.tanh(mo.sin(h * h) + h), None

    h, _ = mo.scan(body, numbers(5), length=trips, unroll=unroll)
    h.sync()
    return has_loop()


def test_short_loops_are_none() -> None:
    assert not repeat(2)
    assert not repeat(16)
    assert repeat(17)
    assert repeat(2, unroll=False)
    assert repeat(2, unroll=1)
    assert not repeat(17, unroll=True)
    assert repeat(17, unroll=8)
    assert not repeat(17, unroll=17)


def test_gradients_of_short_loops_have_no_loop() -> None:
    """As many as 16 trips: the gradient alone has more operators than are unrolled."""
    for trips, expected in [(16, False), (17, True)]:
        h = numbers(5)
        last, _ = mo.scan(lambda h, _: (mo.tanh(mo.sin(h * h) + h), None), h, length=trips)
        mo.grad((last * last).sum(), [h])[0].sync()
        assert has_loop() == expected


def test_an_index_out_of_range_names_its_trip() -> None:
    table = numbers(4)

    def look_up(c: mo.Var, i: mo.Var) -> tuple:
        return c + table.take(i.reshape(1), axis=0).sum(), None

    total, _ = mo.scan(look_up, 0.0, mo.array([0, 1, 4]))
    with pytest.raises(IndexError, match=r"test_unrolling\.py") as caught:
        total.item()
    assert "trip 2" in str(caught.value)
    total, _ = mo.scan(look_up, 0.0, mo.array([0, 1, 4]), unroll=True)
    with pytest.raises(IndexError, match=r"test_unrolling\.py"):
        total.item()


def test_errors_say_what_was_given() -> None:
    with pytest.raises(ValueError, match=r"fori_loop: unroll is 2 where a bound is a tensor"):
        mo.fori_loop(0, mo.array(3), lambda i, c: c + i, 0, unroll=2)
    with pytest.raises(ValueError, match=r"scan: unroll is 0, expected an integer of at least 1"):
        mo.scan(cell, mo.zeros((2, 3), "float64"), XS, unroll=0)
    with pytest.raises(ValueError, match=r"fori_loop: unroll is 1.5, expected an integer"):
        mo.fori_loop(0, 3, lambda i, c: c + i, 0, unroll=1.5)
