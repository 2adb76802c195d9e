# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives at the ends: where formulas overflow, cancel or have a limit alone."""

import math
from fractions import Fraction

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same

INF, NAN = math.inf, math.nan
FLOATS = ["float16", "float32", "float64"]


def slopes(f, *arrays):
    """Return the derivatives of `f` by each of its operands, element by element.

    Forward mode gives the same.
    """
    inputs = [mo.array(array) for array in arrays]
    result = f(*inputs)
    by_each = mo.grad(result.sum(), inputs)
    for number, gradient in enumerate(by_each):
        x = inputs[number]
        same(mo.jvp([result], [x], [mo.ones_like(x)])[0], gradient.numpy())
    return [gradient.numpy() for gradient in by_each]


def divided(rng, dtype, size=500):
    """Return pairs of numbers, of which many quotients are next to an integer."""
    y = floats(rng, size, dtype, 0.05, 3) * rng.choice([-1, 1], size).astype(dtype)
    x = (y * rng.integers(-200, 200, size)).astype(dtype)
    x[::3] = np.nextafter(x[::3], dtype(INF))
    x[1::3] = np.nextafter(x[1::3], dtype(-INF))
    x[0], y[0] = 1, 0.1
    return x, y


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_by_the_divisor(rng, dtype):
    """The derivative is the quotient of which the remainder is left."""
    x, y = divided(rng, getattr(np, dtype))
    quotients = [Fraction(float(a)) / Fraction(float(b)) for a, b in zip(x, y, strict=True)]
    for f, integer in [(mo.mod, math.floor), (mo.fmod, math.trunc)]:
        by_x, by_y = slopes(f, x, y)
        same(by_x, np.ones_like(x))
        same(by_y, np.array([-integer(q) for q in quotients], dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_floor_division_is_that_of_remainders(rng, backend, dtype):
    with mo.flag_scope(backend=backend):
        check_floor_division(rng, dtype)


def check_floor_division(rng, dtype):
    """Compare with NumPy's, to the signs of zeros."""
    x, y = divided(rng, getattr(np, dtype))
    same(mo.floor_divide(x, y), np.floor_divide(x, y))
    ends = np.array([0, -0.0, 1, -1, INF, -INF, NAN, 1e-7, -1e-7, 6e4, -6e4], dtype)
    x, y = (np.ravel(axis) for axis in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        expected = np.floor_divide(x, y)
    actual = mo.floor_divide(x, y).numpy()
    same(actual, expected)
    number = ~np.isnan(expected)
    same(np.signbit(actual[number]), np.signbit(expected[number]))


def test_expm1_keeps_digits():
    x = np.linspace(-15, 2, 100, dtype="float32")
    (slope,) = slopes(mo.expm1, x)
    close(slope, np.exp(x.astype("float64")), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype, rtol, exponent", [("float16", 2e-3, 3), ("float32", 1e-6, 18)])
def test_atan_does_not_overflow(dtype, rtol, exponent):
    x = np.array([0, 1, -3, 300, -(10.0**exponent)], dtype)
    (slope,) = slopes(mo.atan, x)
    numbers = x.astype("float64")
    # Half of the smallest number is lost beside float16's few digits.
    atol = np.finfo(dtype).smallest_subnormal
    close(slope, (1 / (1 + numbers**2)), rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_lengths_and_angles_do_not_overflow(dtype):
    """Squares would; the lengths do not."""
    largest = 4e4 if dtype == "float16" else 1e308 if dtype == "float64" else 2e38
    ends = np.array([largest, -largest, largest / 3, 3.0, -2.0, 1e-3, 0.0])
    x, y = (np.ravel(axis) for axis in np.meshgrid(ends, ends))
    x, y = x[:-1], y[:-1]  # without the origin
    x, y = (mo.array(axis, "float64").cast(dtype) for axis in (x, y))
    p, q = (axis.cast("float64").numpy() for axis in (x, y))
    # Scaled by the larger one, the numbers of float64 do not overflow either.
    m = np.maximum(abs(p), abs(q))
    a, b = p / m, q / m
    rtol = {"float16": 3e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-14}[dtype]
    atol = 2 * {"float16": 2**-24, "bfloat16": 2**-133, "float32": 2**-149}.get(dtype, 2**-1074)
    by_x, by_y = mo.grad(mo.hypot(x, y).sum(), [x, y])
    close(by_x.cast("float64"), a / np.hypot(a, b), rtol=rtol, atol=atol)
    close(by_y.cast("float64"), b / np.hypot(a, b), rtol=rtol, atol=atol)
    by_y, by_x = mo.grad(mo.atan2(y, x).sum(), [y, x])
    close(by_y.cast("float64"), a / (a * a + b * b) / m, rtol=rtol, atol=atol)
    close(by_x.cast("float64"), -b / (a * a + b * b) / m, rtol=rtol, atol=atol)


def test_powers_by_the_exponent_at_the_ends():
    x = np.array([0, 0, 0, 0, INF, INF, 2, 1, NAN, 0])
    y = np.array([-1, -0.5, 0, 2, -1, 2, 3, 9, 2, NAN])
    _, by_y = slopes(mo.pow, x, y)
    same(by_y, np.array([-INF, -INF, 0, 0, 0, INF, 8 * np.log(2), 0, NAN, NAN]))


@pytest.mark.parametrize("f", [mo.maximum, mo.minimum])
def test_of_two_numbers_a_nan_takes_the_gradient(f):
    x = np.array([NAN, 1, NAN, 1, 1, 2])
    y = np.array([1, NAN, NAN, 1, 2, 1])
    by_x, by_y = slopes(f, x, y)
    is_max = f is mo.maximum
    same(by_x, np.array([1, 0, 0.5, 0.5, not is_max, is_max], "float64"))
    same(by_y, 1 - by_x)
