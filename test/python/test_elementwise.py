# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import metaops as mo
import numpy as np
import pytest
from util import SHAPES, close, floats, same

erf = np.vectorize(math.erf, otypes=["float64"])

# Name, NumPy's function, interval of the arguments.
REAL = [
    ("exp", np.exp, (-8, 8)),
    ("log", np.log, (1e-3, 50)),
    ("sqrt", np.sqrt, (0, 50)),
    ("sin", np.sin, (-10, 10)),
    ("cos", np.cos, (-10, 10)),
    ("tanh", np.tanh, (-10, 10)),
    ("erf", erf, (-4, 4)),
    ("floor", np.floor, (-9, 9)),
    ("ceil", np.ceil, (-9, 9)),
    ("round", np.round, (-9, 9)),
    ("abs", np.abs, (-9, 9)),
    ("sign", np.sign, (-9, 9)),
    ("negative", np.negative, (-9, 9)),
    ("square", np.square, (-9, 9)),
]


@pytest.mark.parametrize("name, reference, interval", REAL, ids=[row[0] for row in REAL])
def test_unary(rng, name, reference, interval):
    for dtype, rtol in [("float32", 3e-6), ("float64", 1e-12)]:
        for shape in SHAPES:
            x = floats(rng, shape, dtype, *interval)
            y = getattr(mo, name)(x)
            assert y.dtype == dtype
            close(y, reference(x.astype("float64")), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype, bits", [("float16", 11), ("bfloat16", 8)])
def test_small_floats_round_once_per_op(rng, dtype, bits):
    x = mo.array(floats(rng, (33,), low=0.5, high=2.0)).cast(dtype)
    y = (x.exp() * x).cast("float32").numpy()
    exact = x.cast("float32").numpy()
    exact = np.exp(exact) * exact
    assert np.abs(y / exact - 1).max() < 2.0 ** (1 - bits)


def test_special_values():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], "float32")
    with np.errstate(all="ignore"):
        for name in ["exp", "log", "sqrt", "abs", "sign", "floor", "tanh", "negative"]:
            actual, expected = getattr(mo, name)(x).numpy(), getattr(np, name)(x)
            np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected), err_msg=name)
            np.testing.assert_array_equal(np.isinf(actual), np.isinf(expected), err_msg=name)
            close(actual, expected)
        for value in x:
            same(mo.maximum(x, value), np.maximum(x, value))
            same(mo.minimum(x, value), np.minimum(x, value))
            same(mo.array(x) == value, x == value)
            same(mo.array(x) != value, x != value)
            same(mo.array(x) < value, x < value)
            same(mo.array(x) / value, x / value)
    same(np.signbit(mo.negative(np.float32(0.0)).numpy()), np.bool_(True))


BINARY = [
    ("add", np.add),
    ("subtract", np.subtract),
    ("multiply", np.multiply),
    ("divide", np.divide),
    ("floor_divide", np.floor_divide),
    ("mod", np.mod),
    ("maximum", np.maximum),
    ("minimum", np.minimum),
]


@pytest.mark.parametrize("name, reference", BINARY, ids=[row[0] for row in BINARY])
def test_binary_broadcasts(rng, name, reference):
    pairs = [
        ((), ()),
        ((5,), ()),
        ((2, 3, 4), (3, 1)),
        ((1, 4), (3, 1)),
        ((0, 3), (1, 3)),
        ((2, 1), (2, 0)),
    ]
    for a, b in pairs:
        x, y = floats(rng, a), floats(rng, b)
        y = np.where(np.abs(y) < 0.1, 1, y).astype("float32")
        close(getattr(mo, name)(x, y), reference(x, y), rtol=1e-5, atol=1e-5)


def test_powers_of_float64_that_are_rounded(rng):
    """Of special numbers as NumPy has them, with the signs of zeros, and to half a unit."""
    ends = [0.0, 1, 0.5, 2, 3, math.inf, 1e-310, 5e-324, 1e300, 2.0**53, 2.0**53 - 1, 1.5, 1 / 3]
    special = np.array([*ends, *(-end for end in ends), math.nan, 1 - 2.0**-53, 1 + 2.0**-52])
    x, y = (v.ravel() for v in np.meshgrid(special, special))
    actual = mo.pow(mo.array(x), mo.array(y)).cast("float32").numpy()
    with np.errstate(all="ignore"):
        expected = np.power(x, y).astype("float32")
    close(actual, expected, rtol=2e-7, atol=0)
    is_number = ~np.isnan(expected)
    same(np.signbit(actual)[is_number], np.signbit(expected)[is_number])
    for base, exponent in (
        (rng.uniform(0, 10, 1001), rng.uniform(-10, 10, 1001)),
        (np.exp(rng.uniform(-600, 600, 1001)), 1 / rng.choice([1.5, 3, 6.5], 1001) / 7),
        (rng.uniform(-100, 100, 1001), np.full(1001, 3.0)),
    ):
        actual = mo.pow(mo.array(base), mo.array(exponent)).cast("float32").numpy()
        close(actual, np.power(base, exponent).astype("float32"), rtol=1.2e-7, atol=0)


def test_power(rng):
    x = floats(rng, (4, 5), low=0.1, high=3.0)
    y = floats(rng, (5,), low=-2.0, high=2.0)
    close(mo.array(x) ** y, x**y, rtol=1e-5)
    close(mo.array(-x) ** 3, (-x) ** 3, rtol=1e-5)
    close(mo.pow(x, 0.5), np.sqrt(x), rtol=1e-5)
    close(2.0 ** mo.array(y), 2.0**y, rtol=1e-5)
    assert mo.array(0.0) ** 0 == 1


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(rng, dtype):
    low = 0 if dtype.startswith("u") else -100
    x = rng.integers(low, 100, (6, 5)).astype(dtype)
    y = rng.integers(1, 100, (6, 5)).astype(dtype)
    y = np.where(rng.random(y.shape) < 0.5, y, -y).astype(dtype) if low else y
    vx, vy = mo.array(x), mo.array(y)
    same(vx + vy, x + y)
    same(vx - vy, x - y)
    same(vx * vy, x * y)
    same(vx // vy, x // y)
    same(vx % vy, x % y)
    same(vx & vy, x & y)
    same(vx | vy, x | y)
    same(vx ^ vy, x ^ y)
    same(~vx, ~x)
    same(mo.maximum(vx, vy), np.maximum(x, y))
    same(vx < vy, x < y)
    same(vx >= vy, x >= y)
    same(abs(vx), np.abs(x))
    same(mo.sign(vx), np.sign(x))
    assert (vx / vy).dtype == "float32"
    close(vx / vy, x.astype("float64") / y)


def test_integer_division_by_zero_gives_zero():
    x = mo.array([-7, 0, 7], "int32")
    same(x // 0, np.zeros(3, "int32"))
    same(x % 0, np.zeros(3, "int32"))
    lowest = mo.array([-(2**31)], "int32")
    # The quotient does not fit and wraps.
    same(lowest // -1, np.array([-(2**31)], "int32"))
    same(lowest % -1, np.array([0], "int32"))


def test_float_floor_division_and_modulo():
    x = np.array([7.5, -7.5, 7.5, -7.5, 0.0], "float32")
    y = np.array([2.0, 2.0, -2.0, -2.0, 3.0], "float32")
    same(mo.array(x) // y, x // y)
    same(mo.array(x) % y, x % y)


def test_logic():
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    same(mo.logical_and(a, b), a & b)
    same(mo.logical_or(a, b), a | b)
    same(mo.logical_xor(a, b), a ^ b)
    same(mo.logical_not(a), ~a)
    same(mo.logical_and([0, 2, 3], np.array([1, 1, 0])), np.array([False, True, False]))
    same(~mo.array(a), ~a)


def test_comparisons(rng):
    x, y = rng.integers(0, 4, (5, 1)), rng.integers(0, 4, (1, 6))
    for name in ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]:
        same(getattr(mo, name)(x, y), getattr(np, name)(x, y))


def test_where_broadcasts(rng):
    c = rng.random((4, 1)) < 0.5
    x, y = floats(rng, (3,)), floats(rng, (2, 4, 3))
    same(mo.where(c, x, y), np.where(c, x, y))
    same(mo.where(c, x, 0), np.where(c, x, np.float32(0)))
    same(mo.where(c, 1.0, mo.array(y)), np.where(c, np.float32(1), y))


def test_clip(rng):
    x = floats(rng, (3, 7))
    same(mo.clip(x, -1, 1), np.clip(x, -1, 1))
    same(mo.array(x).clip(high=0.5), np.minimum(x, np.float32(0.5)))
    same(mo.array(x).clip(), x)


def test_casts(rng):
    x = np.array([1.9, -1.9, 300.0, -300.0, 1e30, -1e30, np.nan, 0.0], "float32")
    same(mo.cast(x, "int8"), np.array([1, -1, 127, -128, 127, -128, 0, 0], "int8"))
    same(mo.cast(x, "uint8"), np.array([1, 0, 255, 0, 255, 0, 0, 0], "uint8"))
    same(mo.cast(x, "bool"), np.array([1, 1, 1, 1, 1, 1, 1, 0], "bool"))
    n = np.array([-1, 0, 255, 256, 70000], "int64")
    for dtype in INTEGERS:
        same(mo.cast(n, dtype), n.astype(dtype))
    same(mo.cast(np.array([True, False]), "float32"), np.array([1, 0], "float32"))
    halves = np.array([1.0, 1 + 2**-11, 65504.0, 1e-8], "float32")
    same(mo.cast(halves, "float16"), halves.astype("float16"))
    same(mo.array(n).astype("float64"), n.astype("float64"))
    same(mo.array(n).float32(), n.astype("float32"))


def test_rounding_ties_go_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5], "float32")
    same(mo.round(x), np.round(x))


def test_operators_with_python_numbers_on_either_side(rng):
    x = floats(rng, (4,), low=0.5, high=2)
    v = mo.array(x)
    for actual, expected in [
        (2 + v, 2 + x),
        (v + 2, x + 2),
        (2 - v, 2 - x),
        (2 * v, 2 * x),
        (2 / v, 2 / x),
        (2 // v, 2 // x),
        (2 % v, 2 % x),
        (-v, -x),
        (+v, x),
        (x + v, x + x),
        (x * v, x * x),
    ]:
        assert actual.dtype == "float32"
        close(actual, expected)


def test_in_place_operators_rebind(rng):
    x = floats(rng, (4,))
    v = mo.array(x)
    before, name = v * 1, v
    v += 1
    v *= 2
    v -= 3
    v /= 4
    assert v is name
    close(v, ((x + 1) * 2 - 3) / 4)
    same(before, x)
