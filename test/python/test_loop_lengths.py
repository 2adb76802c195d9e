# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches of many lengths: operators of one signature, and programs of their own."""

from __future__ import annotations

import random
from collections.abc import Callable

import metaops as mo
import numpy as np
import pytest
from metaops import nn

WIDTH = 3


def signatures_of(record: Callable[[int], object], lengths: range) -> int:
    """Return how many operators are new when more lengths are recorded than the first two."""
    for length in lengths[:2]:
        record(length)
    before = mo.stats()["signatures"]
    for length in lengths[2:]:
        record(length)
    return mo.stats()["signatures"] - before


def rows(length: int, seed: int = 0) -> mo.Var:
    values = np.random.default_rng(seed).normal(size=(length, 2, WIDTH))
    return mo.array(values.astype("float32"))


def running_sums(xs: mo.Var) -> tuple[mo.Var, mo.Var]:
    """Scan rows, with a branch by what is carried."""

    def step(total: mo.Var, x: mo.Var) -> tuple[mo.Var, mo.Var]:
        total = mo.cond(total.sum() > 1, lambda: total - x, lambda: mo.tanh(total) + x)
        return total, total.sum(axis=0)[1:] * x[:, 1:]

    return mo.scan(step, mo.zeros((2, WIDTH)), xs)


def doubled(xs: mo.Var) -> mo.Var:
    """Loop over tensors of all rows, as often as a tensor says."""
    return mo.fori_loop(
        0, mo.array(5), lambda i, c: c * 0.5 + xs.sum(axis=0) * xs, mo.zeros_like(xs)
    )


def halved(xs: mo.Var) -> mo.Var:
    return mo.while_loop(
        lambda c: (c * c).sum() > 1, lambda c: c * 0.5 - c.mean(axis=1)[:, None, :1], xs
    )


def nested(xs: mo.Var) -> mo.Var:
    """Scan all rows in each trip of a scan."""

    def outer(total: mo.Var, x: mo.Var) -> tuple[mo.Var, mo.Var]:
        inner, _ = mo.scan(lambda c, y: (c + mo.sin(y) * x, None), total, xs)
        return inner, inner[0]

    return mo.scan(outer, mo.zeros((2, WIDTH)), xs)[1]


PLACES = np.array([1, -1])


def looked_up(xs: mo.Var) -> mo.Var:
    """Read and write rows by indices, which are checked against the extent."""

    def step(total: mo.Var, place: mo.Var) -> tuple[mo.Var, mo.Var]:
        rows = xs[place + mo.array(PLACES)]
        return total.at[place].add(rows[0]), rows.sum(axis=0)

    return mo.scan(step, mo.zeros_like(xs), mo.arange(20) % 3 - 1)


def noisy(xs: mo.Var) -> mo.Var:
    """Draw more numbers in a trip, the longer rows are."""

    def step(total: mo.Var, _: None) -> tuple[mo.Var, None]:
        return total * mo.random.normal(shape=xs.shape) + mo.random.uniform(shape=xs.shape), None

    return mo.scan(step, xs, length=20)[0]


def test_an_lstm_of_many_lengths_has_one_signature() -> None:
    for layer in (nn.LSTM(WIDTH, 4), nn.GRU(WIDTH, 4, bidirectional=True), nn.RNN(WIDTH, 4)):
        assert signatures_of(lambda length, layer=layer: layer(rows(length)), range(20, 70)) == 0


@pytest.mark.parametrize("function", [running_sums, doubled, halved, nested, looked_up, noisy])
def test_loops_of_many_lengths_have_one_signature(function: Callable) -> None:
    assert signatures_of(lambda length: function(rows(length)), range(20, 70)) == 0


def test_gradients_of_many_lengths_have_few_signatures() -> None:
    layer = nn.LSTM(WIDTH, 4)

    def record(length: int) -> list[mo.Var]:
        return mo.grad(layer(rows(length))[0].sum(), list(layer.parameters()))

    assert signatures_of(record, range(20, 70)) <= 2


@pytest.mark.parametrize("function", [running_sums, doubled, halved, nested, looked_up, noisy])
def test_each_length_has_its_own_values(function: Callable) -> None:
    """Each length is asked for among others, and compared with what it is by itself."""
    order = random.Random(3)
    lengths = [order.choice([3, 4, 5, 17, 18, 40]) for _ in range(12)]
    for seed, length in enumerate(lengths):
        mo.seed(seed)
        found = mo.tree_map(mo.Var.numpy, function(rows(length, seed)))
        mo.seed(seed)
        expected = mo.jit(function)(rows(length, seed))
        mo.tree_map(
            lambda a, b: np.testing.assert_allclose(a, b.numpy(), rtol=1e-5, atol=1e-6),
            found,
            expected,
        )


def test_extents_inside_make_another_program() -> None:
    """Bodies of the same results that compute on tensors of other lengths."""

    def middle(width: int) -> mo.Var:
        def step(total: mo.Var, x: mo.Var) -> tuple[mo.Var, None]:
            wide = x.reshape(-1, 1) * (1 + mo.arange(width))
            return total + wide.sum(), None

        return mo.scan(step, mo.array(0.0), rows(30))[0]

    total = rows(30).sum().item()
    for width in (4, 7, 4, 1, 9, 7):
        np.testing.assert_allclose(middle(width).item(), total * width * (width + 1) / 2, rtol=1e-4)
    compared = mo.jit(lambda: middle(order.pop(0)))
    order = [4, 4, 5, 5, 5, 5]
    np.testing.assert_allclose(compared().item(), total * 10, rtol=1e-4)
