# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gamma function's logarithm, its derivatives, and products through indices."""

import math
from decimal import Decimal, getcontext

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, same

getcontext().prec = 40

BERNOULLI = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
BERNOULLI += [(43867, 798), (-174611, 330)]


def reference(order, x):
    """Return the derivative of digamma of some order, in 40 digits, for positive x.

    By the recurrence up to 40, and Euler's and Maclaurin's formula from there.
    """
    x, total = Decimal(float(x)), Decimal(0)
    sign = -1 if order % 2 == 0 else 1
    while x < 40:
        total += sign * math.factorial(order) / x ** (order + 1)
        x += 1
    if order == 0:
        total += x.ln() - 1 / (2 * x)
        for k, (p, q) in enumerate(BERNOULLI, 1):
            total -= Decimal(p) / q / (2 * k * x ** (2 * k))
        return float(total)
    rest = Decimal(math.factorial(order - 1)) / x**order
    rest += Decimal(math.factorial(order)) / (2 * x ** (order + 1))
    for k, (p, q) in enumerate(BERNOULLI, 1):
        factor = Decimal(math.factorial(2 * k + order - 1)) / math.factorial(2 * k)
        rest += Decimal(p) / q * factor / x ** (2 * k + order)
    return float(total + sign * rest)


def ulps(given, exact):
    """Return the largest error in units in the last place."""
    rounded = exact.astype(given.dtype)
    unit = np.spacing(np.abs(rounded)).astype("float64")
    return float((np.abs(given.astype("float64") - exact) / unit).max())


def arguments(dtype, count=600):
    rng = np.random.default_rng(5)
    near = rng.uniform(1e-3, 12, count)
    far = 10.0 ** rng.uniform(-6, 8, count)
    zeros = np.array([1.0, 2.0, 1.4616321449683623]) + rng.uniform(-1e-3, 1e-3, (50, 3))
    return np.concatenate([near, far, zeros.ravel()]).astype(dtype)


def test_lgamma_of_floats():
    x = arguments("float32")
    x = np.concatenate([x, -x[x < 30]])
    x = x[x != np.round(x)]
    exact = np.array([math.lgamma(v) for v in x.astype("float64")])
    assert ulps(mo.lgamma(x).numpy(), exact) <= 2
    wide = arguments("float64")
    close(mo.lgamma(wide), [math.lgamma(v) for v in wide], rtol=1e-13, atol=1e-14)
    same(mo.gammaln(x), mo.lgamma(x).numpy())


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_digamma_and_its_derivatives(order):
    def ours(x):
        return mo.digamma(x) if order == 0 else mo.polygamma(order, x)

    x = arguments("float32", 150)
    x = x[x > 1e-3]
    exact = np.array([reference(order, v) for v in x])
    assert ulps(ours(x).numpy(), exact) <= 2
    wide = arguments("float64", 80)
    wide = wide[wide > 1e-3]
    close(ours(wide), [reference(order, v) for v in wide], rtol=2e-13, atol=1e-13)


def test_negative_numbers_are_reflected():
    x = -np.random.default_rng(1).uniform(0.05, 6, 80)
    x = x[abs(x - np.round(x)) > 0.02]
    cot = 1 / np.tan(np.pi * x)
    close(mo.digamma(x), [reference(0, 1 - v) for v in x] - np.pi * cot, rtol=1e-10)
    squared = (np.pi / np.sin(np.pi * x)) ** 2
    close(mo.polygamma(1, x), squared - [reference(1, 1 - v) for v in x], rtol=1e-10)


def test_special_values():
    inf, nan = np.inf, np.nan
    x = np.array([0.0, -0.0, -1.0, -7.0, inf, -inf, nan, 1.0, 2.0])
    close(mo.lgamma(x), [inf, inf, inf, inf, inf, inf, nan, 0.0, 0.0])
    euler = 0.5772156649015329
    close(mo.digamma(x), [-inf, inf, nan, nan, inf, nan, nan, -euler, 1 - euler], rtol=1e-13)
    close(mo.polygamma(0.5, x[4:]), np.full(5, nan))
    for dtype in ("float16", "bfloat16"):
        values = mo.array([0.5, 3.25, 9.0], "float32").cast(dtype)
        exact = [math.lgamma(v) for v in (0.5, 3.25, 9.0)]
        same(
            mo.lgamma(values).cast("float32"),
            mo.array(exact, "float32").cast(dtype).cast("float32").numpy(),
        )


@pytest.mark.parametrize("f", [mo.lgamma, mo.digamma, lambda x: mo.polygamma(2, x)])
def test_gradients(f):
    check_gradient(f, np.array([0.7, 1.5, 3.0, 9.5, -0.6, -2.3]), rtol=1e-5, atol=1e-5)


def test_multigammaln():
    x = np.array([2.5, 3.0, 7.25])
    exact = sum(np.vectorize(math.lgamma)(x - j / 2) for j in range(3)) + 1.5 * np.log(np.pi)
    close(mo.multigammaln(x, 3), exact, rtol=1e-12)
    assert np.isnan(mo.multigammaln(np.array([1.0]), 3).numpy()[0])
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="multigammaln"):
            mo.multigammaln(x, wrong)


# Products of the elements that are scattered to one place


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint16"])
def test_products_through_indices(rng, dtype):
    x = rng.integers(1, 4, (5, 3)).astype(dtype)
    index = np.array([3, 0, 3, 3, 1, -2])
    factors = rng.integers(0, 3, (6, 3)).astype(dtype)
    expected = x.copy()
    np.multiply.at(expected, index, factors)
    same(mo.array(x).at[index].multiply(factors), expected)
    same(mo.array(x).at[1:3].multiply(2), np.concatenate([x[:1], x[1:3] * 2, x[3:]]).astype(dtype))
    ids = np.array([2, 0, 2, 2, 0, 4])
    expected = np.ones((6, 3), dtype)
    np.multiply.at(expected, ids, factors)
    same(mo.segment_prod(factors, ids, 6), expected)


def test_gradients_of_products_through_indices(rng):
    index = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3])
    x = rng.uniform(0.5, 2, 9)
    check_gradient(lambda v: mo.segment_prod(v, index, 5), x, rtol=1e-5)
    check_gradient(lambda v, w: v.at[index].multiply(w), rng.uniform(0.5, 2, 4), x, rtol=1e-5)
    # With one zero in a group only its own derivative is not 0; with two all are.
    x[[3, 7, 8]] = 0
    gradient = mo.grad(mo.segment_prod(v := mo.array(x), index, 5).sum(), v)
    expected = [1, x[2], x[1], x[4] * x[5], 0, 0, 0, 0, 0]
    close(gradient, expected, rtol=1e-12)
