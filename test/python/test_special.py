# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions: values and derivatives in 60 digits, identities, and ends of domains."""

import itertools
import math
import pathlib

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, same

INF, NAN = math.inf, math.nan
TABLE = pathlib.Path(__file__).parent / "data" / "special_values.txt"
COUNTS = {"betainc": 3, "gammainc": 2, "gammaincc": 2, "xlog1py": 2, "zeta": 2}
NAMES = [
    *("betainc", "entr", "gammainc", "gammaincc", "i0", "i0e", "i1", "i1e", "log_ndtr", "ndtr"),
    *("ndtri", "xlog1py", "zeta"),
]
#: Of values, first and second derivatives: the largest relative errors, and in float32 of
#: functions that are computed in it.
DOUBLE = (3e-13, 4e-13, 2e-11)
SINGLE = (4e-7, 6e-6, 3e-5)
#: Of those that are computed in float64: rounded once, and of the rule that float32 has.
ROUNDED = (1.2e-7, 1.2e-7, 3e-6)
IN_FLOAT64 = {"betainc", "gammainc", "gammaincc", "log_ndtr", "ndtr", "ndtri", "zeta"}


def table(name):
    """Return arguments, a column each, and values and derivatives of a function."""
    lines = [line.split() for line in TABLE.read_text().splitlines()]
    rows = np.array([line[1:] for line in lines if line[0] == name], "f8")
    count = COUNTS.get(name, 1)
    return rows[:, :count].T.astype("f4"), rows[:, count:].T


def derivatives(name, arguments):
    """Return the value, and by each argument in turn the first and second derivative."""
    value = getattr(mo, name)(*arguments)
    found = [value]
    for x in arguments:
        first = mo.grad(value.sum(), x)
        found += [first, mo.grad(first.sum(), x, allow_unused=True)]
    return [x.numpy() for x in found]


def assert_near(actual, expected, rtol, what):
    """Compare numbers, but for those that are none or denormal in the type."""
    ends = np.finfo(actual.dtype)
    size = np.abs(expected)
    told = (size == 0) | ((size > 30 * ends.tiny) & (size < ends.max))
    np.testing.assert_allclose(actual[told], expected[told], rtol=rtol, atol=0, err_msg=what)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives(name, dtype):
    arguments, expected = table(name)
    assert expected.shape[1] >= 24
    found = derivatives(name, [mo.array(x, dtype) for x in arguments])
    assert len(found) == len(expected) == 1 + 2 * len(arguments)
    bounds = DOUBLE if dtype == "float64" else ROUNDED if name in IN_FLOAT64 else SINGLE
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        assert x.dtype == dtype
        order = (k + 1) % 2 + 1 if k else 0
        assert_near(x, y, bounds[order], f"{name}, column {k}")


def test_the_table_has_every_function():
    assert sorted({line.split()[0] for line in TABLE.read_text().splitlines()[1:]}) == NAMES


# Identities


def spread(rng, low, high, count=4000):
    """Return powers of 10 with uniform exponents."""
    return 10.0 ** rng.uniform(low, high, count)


@pytest.mark.parametrize("low, high", [(-12, 0), (-2, 3), (3, 9)])
def test_both_gamma_shares_are_all(rng, low, high):
    a = spread(rng, low, high)
    x = np.abs(a + np.sqrt(a) * rng.normal(0, 3, a.size))
    x[::3] = spread(rng, -9, 3, x[::3].size)
    below, above = mo.gammainc(a, x).numpy(), mo.gammaincc(a, x).numpy()
    close(below + above, np.ones(a.size), rtol=1e-15)
    # A step of the parameter is a term of the power series.
    term = np.exp(a * np.log(x) - x - np.vectorize(math.lgamma)(a + 1))
    error = 3e-16 * (a * np.abs(np.log(x)) + a * np.abs(np.log(a)) + x + 10)
    near = error < 1e-11
    assert near.sum() > 1000 or low == 3
    step = below - mo.gammainc(a + 1.0, x).numpy()
    np.testing.assert_array_less(np.abs(step - term)[near], (1e-14 + term * error)[near])


def test_gamma_shares_of_integers_are_those_of_poisson_numbers(rng):
    a = rng.integers(1, 12, 500)
    x = rng.uniform(0.01, 30, 500)
    terms = [np.where(k < a, np.exp(-x) * x**k / math.factorial(k), 0) for k in range(12)]
    close(mo.gammaincc(a.astype("f8"), x), sum(terms), rtol=3e-14)


def test_beta_shares_of_integers_are_those_of_binomial_numbers(rng):
    a, n = rng.integers(1, 9, 500), 12
    x = rng.uniform(0.001, 0.999, 500)
    terms = [math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(n + 1)]
    expected = sum(np.where(k >= a, term, 0) for k, term in enumerate(terms))
    close(mo.betainc(a.astype("f8"), n - a + 1.0, x), expected, rtol=3e-14)


@pytest.mark.parametrize("low, high", [(-12, 0), (-2, 3), (3, 9)])
def test_beta_shares_of_both_sides_are_all(rng, low, high):
    a, b = spread(rng, low, high), spread(rng, low, high)
    # Numbers of which 1 less is exact.
    x = np.round((a / (a + b)) * 2.0**40 + rng.normal(0, 2.0**36, a.size)) / 2.0**40
    x = np.clip(x, 2.0**-40, 1 - 2.0**-40)
    first, second = mo.betainc(a, b, x).numpy(), mo.betainc(b, a, 1 - x).numpy()
    close(first + second, np.ones(a.size), rtol=1e-15)
    assert ((first >= 0) & (first <= 1)).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shares_rise(rng, dtype):
    """Nothing falls at the seams of pieces."""
    slack = 2e-13 if dtype == "float64" else 1.2e-7
    x = np.sort(np.concatenate([spread(rng, -6, 3, 1500), rng.uniform(0.2, 12, 1500)])).astype(
        dtype
    )
    for a in np.array([0.02, 0.3, 0.7, 2.5, 4, 9.9, 10, 40], dtype):
        below = mo.gammainc(np.full_like(x, a), x).numpy()
        assert (np.diff(below) >= -slack * below[1:]).all(), a
    x = np.concatenate([spread(rng, -6, -0.4, 900), rng.uniform(0, 1, 900)])
    x = np.sort(x).astype(dtype)
    for a, b in itertools.product(np.array([0.02, 0.4, 3, 11, 90], dtype), repeat=2):
        below = mo.betainc(np.full_like(x, a), np.full_like(x, b), x).numpy()
        assert (np.diff(below) >= -slack * below[1:]).all(), (a, b)


def test_large_parameters_are_normal():
    """Of 1e12 and more the next term of the expansion is small (DLMF 8.11.12)."""
    z = np.linspace(-5, 5, 101)
    for a in (1e12, 1e16):
        x = a + np.sqrt(a) * z
        z = (x - a) / np.sqrt(a)
        expected = mo.ndtr(z) - (z * z - 1) / 3 * np.exp(-z * z / 2) / np.sqrt(2 * np.pi * a)
        close(mo.gammainc(np.full_like(x, a), x), expected, rtol=1e-9 if a < 1e15 else 1e-7)
    huge = np.array([1e30, 1e300])
    close(mo.gammainc(huge, huge), [0.5, 0.5], rtol=1e-12)
    close(mo.gammainc(huge, huge * (1 + 1e-12)), [1 - 0.5 * math.erfc(1e3), 1.0])
    close(mo.gammaincc(huge[1:], huge[1:] * (1 + 1e-12)), [0.0], atol=0)
    close(mo.betainc(huge, huge, np.array([0.5, 0.5])), [0.5, 0.5], rtol=1e-5)
    close(mo.betainc(huge, np.ones(2), np.array([0.5, 1 - 1e-16])), [0.0, 0.0], atol=0)


def test_quantiles_are_the_inverse(rng):
    for x in (rng.uniform(-5, 5, 3000), -spread(rng, -300, 1.5)):
        close(mo.ndtri(mo.ndtr(x)), x, rtol=2e-10, atol=1e-15)
    p = np.concatenate([rng.uniform(0, 1, 3000), spread(rng, -300, 0)])
    close(mo.ndtr(mo.ndtri(p)), p, rtol=3e-13)


def test_logarithms_of_shares(rng):
    x = rng.uniform(-30, 5, 3000)
    close(mo.exp(mo.log_ndtr(x)), mo.ndtr(x).numpy(), rtol=5e-13, atol=0)
    # The complement of a share.
    close(mo.log_ndtr(-x[x < -2]), -mo.ndtr(x[x < -2]).numpy(), rtol=2.5e-2)


def test_bessel_functions_are_derivatives(rng):
    x = mo.array(rng.uniform(-700, 700, 2000))
    close(mo.grad(mo.i0(x).sum(), x) / mo.i1(x).numpy(), np.ones(2000), rtol=5e-13)
    bound = mo.exp(-mo.abs(x))
    close(mo.i0(x) * bound, mo.i0e(x).numpy(), rtol=3e-13, atol=0)
    close(mo.i1(x) * bound, mo.i1e(x).numpy(), rtol=3e-13, atol=0)


def test_steps_of_zeta(rng):
    x, q = 1 + spread(rng, -3, 1), spread(rng, -2, 4)
    close(mo.zeta(x, q), mo.zeta(x, q + 1) + q**-x, rtol=1e-14, atol=0)
    even = np.array([2.0, 4.0, 6.0])
    close(mo.zeta(even), np.pi**even / np.array([6, 90, 945]), rtol=1e-15)
    close(mo.zeta(even + 1, 3.25), abs(polygammas(even, 3.25)), rtol=1e-13)


def polygammas(orders, x):
    """Return derivatives of digamma over factorials."""
    return np.array(
        [mo.polygamma(int(n), np.array(x)).item() / math.factorial(int(n)) for n in orders]
    )


# Ends of domains


def nothing(name, *points):
    """Check that values and derivatives are NaN where functions have none."""
    arguments = [mo.array(np.array(column, "f8")) for column in zip(*points, strict=True)]
    value = getattr(mo, name)(*arguments)
    for x in (value, *mo.grad(value.sum(), arguments)):
        same(x, np.full(len(points), NAN))


def test_nothing_out_of_domains():
    nothing("gammainc", (-1, 2), (2, -1), (NAN, 1), (1, NAN), (0, 0), (INF, INF), (0, -1))
    nothing("gammaincc", (-1, 2), (2, -1), (NAN, 1), (1, NAN), (0, 0), (INF, INF))
    nothing("zeta", (0.5, 1), (2, -0.5), (NAN, 1), (2, NAN), (1, NAN), (-2, 3), (3, -INF))
    wrong = [(-1, 2, 0.5), (2, -1, 0.5), (2, 2, -0.1), (2, 2, 1.1), (0, 0, 0.5)]
    nothing("betainc", *wrong, (INF, INF, 0.5), (NAN, 2, 0.5), (2, NAN, 0.5), (2, 2, NAN))
    for name in ("i0", "i1", "i0e", "i1e", "ndtr", "log_ndtr", "ndtri", "entr", "expit"):
        assert np.isnan(getattr(mo, name)(np.array([NAN])).numpy()).all()
    assert np.isnan(mo.ndtri(np.array([-0.1, 1.1, INF, -INF])).numpy()).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_is_on_one_side(dtype):
    a = np.array([2, INF, 2, 0, 0, INF], dtype)
    x = np.array([0, 3, INF, 3, INF, 0], dtype)
    same(mo.gammainc(a, x), np.array([0, 0, 1, 1, 1, 0], dtype))
    same(mo.gammaincc(a, x), np.array([1, 1, 0, 0, 0, 1], dtype))
    ends = np.array([0, 0.5, 1], dtype)
    for a, b, expected in (
        (2, 3, [0, None, 1]),
        (0, 2, [0, 1, 1]),
        (2, 0, [0, 0, 1]),
        (INF, 2, [0, 0, 1]),
        (2, INF, [0, 1, 1]),
        (0, INF, [0, 1, 1]),
        (INF, 0, [0, 0, 1]),
    ):
        first, second = (np.full(3, number, dtype) for number in (a, b))
        given = mo.betainc(first, second, ends).numpy()
        assert given.dtype == dtype
        assert [y for y, told in zip(given, expected, strict=True) if told is not None] == [
            y for y in expected if y is not None
        ]


def test_a_parameter_of_0_has_no_derivative():
    a, x = mo.array(np.zeros(2)), mo.array(np.array([0.5, 0.25]))
    for f in (mo.gammainc, mo.gammaincc, lambda a, x: mo.betainc(a, x, 0.5)):
        y = f(a, x)
        by_a, by_x = mo.grad(y.sum(), [a, x])
        same(by_a, np.full(2, NAN))
        same(by_x, np.zeros(2))


def test_slopes_at_0_and_1():
    a = np.array([0.5, 1, 1, 2, 3])
    x, b = mo.array(np.zeros(5)), np.array([2, 1, 3, 2, 2.0])
    for name, sign in (("gammainc", 1), ("gammaincc", -1)):
        first = mo.grad(getattr(mo, name)(a, x).sum(), x)
        close(first, sign * np.array([INF, 1, 1, 0, 0]), rtol=1e-14)
        close(mo.grad(first.sum(), x)[1:], sign * np.array([-1, -1, 1, 0.0]))
    first = mo.grad(mo.betainc(a, b, x).sum(), x)
    close(first, [INF, 1, 3, 0, 0], rtol=1e-14)
    close(mo.grad(first.sum(), x)[1:], [0, -6, 6, 0], rtol=1e-14)
    x = mo.array(np.ones(5))
    first = mo.grad(mo.betainc(b, a, x).sum(), x)
    close(first, [INF, 1, 3, 0, 0], rtol=1e-14)
    close(mo.grad(first.sum(), x)[1:], [0, 6, -6, 0], rtol=1e-14)


def test_six_derivatives(rng):
    """Of a share that is a polynomial, and of one times an exponential, at 0 and at 1, too."""
    x = mo.array(np.concatenate([[0, 1], rng.uniform(0.1, 0.9, 9)]))
    beta, gamma = mo.betainc(2, 3, x), mo.gammaincc(3, x)
    share, factor = np.poly1d([3, -8, 6, 0, 0]), np.poly1d([0.5, 1, 1])
    for _ in range(7):
        close(beta, share(x.numpy()), rtol=1e-9, atol=1e-9)
        close(gamma, factor(x.numpy()) * np.exp(-x.numpy()), rtol=1e-9, atol=1e-9)
        share, factor = share.deriv(), factor.deriv() - factor
        beta, gamma = mo.grad(beta.sum(), x), mo.grad(gamma.sum(), x)


def test_poles_of_zeta():
    x = mo.array(np.array([1, 2, 2, 1, INF, INF, INF]))
    q = np.array([3, 0, -2, 0, 0.5, 1, 2])
    value = mo.zeta(x, q)
    same(value, np.array([INF, INF, INF, INF, INF, 1, 0]))
    same(mo.grad(value.sum(), x)[:1], np.array([-INF]))
    by_q = mo.array(np.array([0.0, -2]))
    same(mo.grad(mo.zeta(2.0, by_q).sum(), by_q), np.full(2, -INF))


# Forms


def test_arguments_broadcast_and_promote(rng):
    a, b, x = rng.uniform(1, 3, (3, 1)), rng.uniform(1, 3, 4), rng.uniform(0, 1, (2, 1, 1))
    wide = np.broadcast_arrays(a, b, x)
    close(mo.betainc(a, b, x), mo.betainc(*wide).numpy(), rtol=1e-15, atol=0)
    close(mo.gammainc(a, b), mo.gammainc(*wide[:2]).numpy()[0], rtol=1e-15, atol=0)
    assert mo.betainc(2, 3, mo.array([0.5], "float16")).dtype == "float16"
    assert mo.zeta(mo.array([3], "int64"), mo.array([0.5], "bfloat16")).dtype == "bfloat16"
    assert mo.gammainc(mo.array([1.0]), np.array([2.0])).dtype == "float64"
    for y in (mo.zeta(2), mo.gammainc(1, 2), mo.betainc(1, 2, True)):
        assert y.dtype == "float32"
    close(mo.gammainc(1, 2), np.float32(1 - math.exp(-2)))
    for shape in ((), (0,), (2, 0, 3)):
        given = np.full(shape, 0.5)
        for name in NAMES:
            y = getattr(mo, name)(*[given] * COUNTS.get(name, 1))
            assert y.shape == shape and y.numpy().shape == shape


def test_gradients_through_a_program(rng):
    """Sums over elements that are broadcast; the derivatives by themselves are in the table."""
    x, y = rng.uniform(0.3, 3, (2, 1)), rng.uniform(0.3, 3, 2)
    check_gradient(lambda a, b: mo.gammainc(a, b) * mo.xlog1py(a, mo.ndtr(b)), x, y, order=1)
    check_gradient(lambda a, b: mo.betainc(a, b, mo.sigmoid(a - b)), x, y, order=1)
    check_gradient(lambda a, b: mo.zeta(1 + a, b) * mo.log_ndtr(-a), x, y)
    check_gradient(lambda a: mo.entr(mo.i0e(a)) + mo.i1e(a) * mo.ndtri(mo.expit(a)), x)


def test_expit_is_sigmoid(rng):
    x = rng.normal(0, 9, 100)
    same(mo.expit(x), mo.sigmoid(x).numpy())
