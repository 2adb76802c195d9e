# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of complex numbers: NumPy's values, also on cuts and at infinities; derivatives."""

import metaops as mo
import numpy as np
import pytest

#: Halves of the arguments at which a formula alone is wrong.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]
FUNCTIONS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "arcsin",
    "arccos",
    "arctan",
    "arcsinh",
    "arccosh",
    "arctanh",
    "sign",
    "reciprocal",
    "square",
    "negative",
    "conj",
]
TO_REAL = ["abs", "angle", "isnan", "isinf", "isfinite", "real", "imag"]
TYPES = ["complex64", "complex128"]


def of_numpy(name, z):
    """Return what NumPy's function of a name makes of an array."""
    with np.errstate(all="ignore"):
        return 1 / np.sqrt(z) if name == "rsqrt" else getattr(np, name)(z)


def halves(values):
    """Return real numbers that an array consists of, without rounding."""
    return values if values.dtype.kind != "c" else np.stack([values.real, values.imag])


def disagreeing(actual, expected, tolerance):
    """Return places where numbers differ, or the signs of zeros and infinities do."""
    actual, expected = halves(actual), halves(expected)
    if expected.dtype == bool:
        return actual != expected
    with np.errstate(invalid="ignore"):
        size = np.abs(expected[np.isfinite(expected)]).max(initial=1)
        is_near = np.abs(actual - expected) <= tolerance * np.minimum(
            np.maximum(np.abs(expected), 1), size
        )
    is_near |= (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    is_signed = (expected == 0) & (actual == 0) | np.isinf(expected)
    return ~is_near | (is_signed & (np.signbit(actual) != np.signbit(expected)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, *TO_REAL])
def test_special_points(name, dtype):
    """Signed zeros, infinities and NaN in all pairs, by Annex G of C99, which NumPy has."""
    points = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL]).astype(dtype)
    actual = getattr(mo, name)(mo.array(points)).numpy()
    expected = of_numpy(name, points)
    assert actual.dtype == expected.dtype
    tolerance = 4 * np.finfo(dtype).eps
    wrong = disagreeing(actual, expected, tolerance)
    wrong = wrong.any(0) if wrong.ndim > 1 else wrong
    assert not wrong.any(), list(zip(points[wrong], actual[wrong], expected[wrong], strict=True))


def points_near(kind, rng, count):
    """Return complex numbers of a kind."""
    a, b = rng.standard_normal((2, count))
    if kind == "unit":
        return a + 1j * b
    if kind == "small":
        return (a + 1j * b) * 1e-6
    if kind == "wide":
        first, second = rng.standard_normal((2, count))
        return np.sign(a) * 10 ** (2 * first) + 1j * np.sign(b) * 10 ** (2 * second)
    if kind == "beside 1":
        return np.exp(1j * rng.uniform(0, 2 * np.pi, count)) * (1 + 1e-4 * a)
    if kind == "axes":
        return np.where(a > 0, 3 * b + 0j, 3j * b)
    power = rng.uniform(20, 37, (2, count)) * (1 if kind == "huge" else -1)
    return np.sign(a) * 10.0 ** power[0] + 1j * np.sign(b) * 10.0 ** power[1]


KINDS = ["unit", "small", "wide", "beside 1", "axes", "huge", "tiny"]
#: Bounds where NumPy's own formulas lose digits: log1p adds 1 first, exp2 multiplies by log(2).
INEXACT = {"log1p": 1e-11, "exp2": 1e-9}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, "rsqrt", "abs", "angle"])
def test_random_points(name, dtype):
    """Errors are a few units in the last place of the absolute value."""
    eps = np.finfo(dtype).eps
    for kind in KINDS:
        points = points_near(kind, np.random.default_rng(1), 500).astype(dtype)
        actual = getattr(mo, name)(mo.array(points)).numpy()
        expected = of_numpy(name, points.astype("complex128"))
        limits = np.finfo(dtype)
        size = np.abs(expected)
        is_normal = (size < limits.max / 2) & (size > limits.tiny)
        error = np.abs(actual - expected)[is_normal] / size[is_normal]
        bound = max(10 * eps, INEXACT.get(name, 0) if dtype == "complex128" else 0)
        if name == "exp2":
            bound *= 1 + np.abs(points[is_normal])
        if name == "log1p" and kind in ("small", "tiny", "wide"):
            continue  # NumPy's is inexact there; see below
        assert (error <= bound).all(), (kind, error.max())


def test_log1p_of_small_numbers():
    """It has all digits where 1 + z has few."""
    z = np.array([1e-12 + 2e-12j, 3e-20 - 1e-25j, -1e-9 + 1e-9j])
    series = z - z * z / 2 + z**3 / 3
    actual = mo.log1p(mo.array(z)).numpy()
    np.testing.assert_allclose(actual.real, series.real, rtol=1e-15)
    np.testing.assert_allclose(actual.imag, series.imag, rtol=1e-15)


@pytest.mark.parametrize(("dtype", "large"), [("complex64", 88.0), ("complex128", 709.5)])
def test_factors_come_before_an_overflow(dtype, large):
    """exp(a) overflows, and exp(a) * cos(b) does not."""
    z = np.array([complex(large + 0.5, 1.0), complex(large + 3, 1.57)]).astype(dtype)
    for name in ("exp", "sinh", "cosh"):
        with np.errstate(over="ignore"):
            expected = getattr(np, name)(z)
        assert np.isfinite(expected.real).all()
        result = getattr(mo, name)(mo.array(z)).numpy()
        # Of a number with an infinite part, the other one would have to be the same.
        np.testing.assert_allclose(result.real, expected.real, rtol=1e-4)
        np.testing.assert_allclose(result.imag, expected.imag, rtol=1e-4)


# Derivatives

DIFFERENTIATED = [
    *(name for name in FUNCTIONS if name not in ("exp2", "negative", "conj")),
    *("rsqrt", "exp2", "abs", "angle", "conj"),
]


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(name):
    """The gradient is that by the real parts, and 1j times that by the imaginary ones."""
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-2, 2, (2, 40))
    points = a + 1j * np.where(np.abs(b) < 0.1, 0.5, b)
    weights = rng.standard_normal(40) + 1j * rng.standard_normal(40)

    def loss(z):
        return (of_numpy(name, z) * weights.conj()).real

    z = mo.array(points)
    value = getattr(mo, name)(z)
    weighted = (
        value.real * weights.real + value.imag * weights.imag
        if isinstance(value, mo.Complex)
        else value * weights.real
    )
    actual = mo.grad(weighted.sum(), z).numpy()
    step = 1e-6
    by_real = (loss(points + step) - loss(points - step)) / (2 * step)
    by_imag = (loss(points + 1j * step) - loss(points - 1j * step)) / (2 * step)
    np.testing.assert_allclose(actual, by_real + 1j * by_imag, rtol=1e-5, atol=1e-6)


#: On cuts: the function, the point, and the side from which numbers are near.
CUTS = [
    *((name, -2.0, side) for name in ("sqrt", "log", "log10", "arccosh") for side in (1j, -1j)),
    *((name, 2.0, side) for name in ("arcsin", "arccos", "arctanh") for side in (1j, -1j)),
    *((name, 2j, side) for name in ("arcsinh", "arctan") for side in (1, -1)),
    ("arccosh", 0.5, 1j),
    ("arccosh", 0.5, -1j),
]


@pytest.mark.parametrize(("name", "point", "side"), CUTS)
def test_gradients_on_cuts(name, point, side):
    """They are those of the side that the sign of zero says."""
    point = np.complex128(point)
    # A zero of the sign of the side.
    real, imag = point.real, point.imag
    if isinstance(side, complex):
        imag = np.copysign(0.0, side.imag)
    else:
        real = np.copysign(0.0, side)
    point = complex(real, imag)
    function = getattr(np, name)
    z = mo.array(np.array([point]))
    value = getattr(mo, name)(z)
    np.testing.assert_allclose(value.numpy()[0], function(point), rtol=1e-15)
    actual = mo.grad(value.real.sum() + 2 * value.imag.sum(), z).numpy()[0]
    step = 1e-7 * side
    slope = (function(point + 2 * step) - function(point + step)) / step
    np.testing.assert_allclose(actual, np.conj(slope) * (1 + 2j), rtol=1e-5)


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_of_abs_and_angle_at_0(dtype):
    z = mo.array(np.array([0j, complex(-0.0, 0.0), complex(0.0, -0.0)]).astype(dtype))
    for function in (mo.abs, mo.angle):
        assert (mo.grad(function(z).sum(), z).numpy() == 0).all()


@pytest.mark.parametrize(
    ("dtype", "sizes"), [("complex64", [1e-30, 1e30]), ("complex128", [1e-300, 1e300])]
)
def test_gradients_of_abs_and_angle_near_0_and_far(dtype, sizes):
    """Squares would be 0, or infinite."""
    for size in sizes:
        z = mo.array(np.array([3 + 4j]).astype(dtype) * np.dtype(dtype).type(size))
        by_abs = mo.grad(mo.abs(z).sum(), z).numpy()
        np.testing.assert_allclose(by_abs, [0.6 + 0.8j], rtol=1e-6)
        by_angle = mo.grad(mo.angle(z).sum(), z).numpy()
        np.testing.assert_allclose(by_angle * size, [(-4 + 3j) / 25], rtol=1e-6)


def test_second_derivatives():
    """Of a holomorphic function: the gradient of |exp(z)|**2, twice."""
    z = mo.array(np.array([0.3 - 0.2j]))
    loss = mo.square(mo.abs(mo.exp(z))).sum()
    first = mo.grad(loss, z)
    second = mo.grad(first.real.sum(), z)
    size = np.exp(2 * 0.3)
    np.testing.assert_allclose(first.numpy(), [2 * size], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second.numpy(), [4 * size], rtol=1e-12, atol=1e-12)
