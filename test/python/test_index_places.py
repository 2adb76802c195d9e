# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""0-d tensors of integers in keys stand for integers: the part alone is touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo
import numpy as np
import pytest

ARRAY = np.random.default_rng(0).normal(size=(4, 3, 2))
#: The places, and tensors of them.
FIRST, OTHER = -1, 1
P, Q = mo.array(FIRST), mo.array(OTHER, "uint8")
KEYS: list[Any] = [
    (P,),
    (P, slice(None), Q),
    (slice(None), P, None),
    (slice(1, 3), Q),
    (slice(1, 3), Q, slice(None, None, -1)),
    (slice(None, None, 2), Q),
    (slice(None, None, -1), P, Q),
    (..., Q),
    (2, Q),
    (P, Q, 0),
    (None, P),
]
UPDATES = {
    "set": lambda part, value: value,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def known(key: tuple) -> tuple:
    """Return the key with numbers in it."""
    return tuple(FIRST if item is P else OTHER if item is Q else item for item in key)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: str(known(key)))
def test_a_part_is_numpys(key: tuple) -> None:
    x = mo.array(ARRAY)
    part = ARRAY[known(key)]
    np.testing.assert_array_equal(x[key].numpy(), part)
    value = np.asarray(np.random.default_rng(1).normal(size=part.shape))
    y, expected = x.clone(), ARRAY.copy()
    y[key] = mo.array(value)
    expected[known(key)] = value
    np.testing.assert_array_equal(y.numpy(), expected)
    for name, update in UPDATES.items():
        expected = ARRAY.copy()
        expected[known(key)] = update(part, value)
        mine = getattr(x.at[key], name)(mo.array(value))
        np.testing.assert_array_equal(mine.numpy(), expected)
    (gradient,) = mo.grad((x[key] * mo.array(value)).sum(), [x])
    expected = np.zeros_like(ARRAY)
    expected[known(key)] = value
    np.testing.assert_array_equal(gradient.numpy(), expected)


def test_gradients_of_an_update() -> None:
    x, value = mo.array(ARRAY), mo.array([[3.0], [1.0], [2.0], [5.0]], "float64")
    by_x, by_value = mo.grad((x.at[:, Q].set(value) ** 2).sum(), [x, value])
    expected = 2 * ARRAY
    expected[:, OTHER] = 0
    np.testing.assert_array_equal(by_x.numpy(), expected)
    np.testing.assert_array_equal(by_value.numpy(), 4 * value.numpy())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, i: x[i + 5], IndexError, "index 4 is out of range for dimension 0 of extent 4"),
        (lambda x, i: x[:, i + 5], IndexError, "index 4 .* for dimension 1 of extent 3"),
        (lambda x, i: x.at[i - 4].set(1), IndexError, "index -5 is out of range"),
        (lambda x, i: x[:, :1].at[:, -i].add(1), IndexError, "index 1 .* of extent 1"),
        (lambda x, i: x[i * 1.0], TypeError, "float32, expected integers"),
        (lambda x, i: x[i, i, i, i], IndexError, "given 4 indices for a tensor of shape"),
        (lambda x, i: x.at[i].set(mo.ones(5)), ValueError, r"\(5,\) cannot be assigned to a part"),
    ],
)
def test_bad_places(call: Callable, error: type, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call(mo.array(ARRAY), P).numpy()
    assert "test_index_places.py:" in str(caught.value)


@pytest.mark.parametrize("call", [lambda x: x[P], lambda x: x.at[P].set(1)])
def test_nothing_has_no_place(call: Callable) -> None:
    with pytest.raises(IndexError, match="dimension 0 of extent 0"):
        call(mo.zeros((0, 3))).numpy()


@pytest.mark.processor
def test_loops_touch_the_part_alone(compiled: None) -> None:
    """An insert into a carry has one place, and writes a row a trip."""
    rows, width = 64, 32

    def trip(place: mo.Var, table: mo.Var) -> mo.Var:
        return table.at[place].set(table[place - 1] * 0.5 + place)

    start = mo.ones((rows, width)).sync()
    result = mo.fori_loop(0, rows, trip, start).sync()
    expected = np.ones((rows, width), "float32")
    for place in range(rows):
        expected[place] = expected[place - 1] * np.float32(0.5) + place
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)
    written = [kernel.bytes_written for kernel in mo.last_program().kernels]
    # It is copied once, since the start stays.
    whole = rows * width * 4
    assert sum(size >= whole for size in written) == 1
    assert all(size <= whole // 16 for size in written if size < whole)
