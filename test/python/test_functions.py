# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of real numbers and of integers, beside NumPy's."""

import math

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

INF, NAN = math.inf, math.nan

#: Our name, NumPy's function, an interval in which it has a derivative.
REAL = {
    "acos": (np.arccos, (-0.9, 0.9)),
    "acosh": (np.arccosh, (1.2, 9)),
    "asin": (np.arcsin, (-0.9, 0.9)),
    "asinh": (np.arcsinh, (-9, 9)),
    "atan": (np.arctan, (-9, 9)),
    "atanh": (np.arctanh, (-0.9, 0.9)),
    "cbrt": (np.cbrt, (0.3, 9)),
    "cosh": (np.cosh, (-4, 4)),
    "erfc": (np.vectorize(math.erfc, otypes=["float64"]), (-2, 2)),
    "exp2": (np.exp2, (-4, 4)),
    "expm1": (np.expm1, (-3, 3)),
    "log10": (np.log10, (0.2, 30)),
    "log1p": (np.log1p, (-0.8, 5)),
    "log2": (np.log2, (0.2, 30)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.2, 9)),
    "sinh": (np.sinh, (-4, 4)),
    "tan": (np.tan, (-1.3, 1.3)),
    "trunc": (np.trunc, (-9, 9)),
    "deg2rad": (np.deg2rad, (-360, 360)),
    "rad2deg": (np.rad2deg, (-7, 7)),
    "reciprocal": (np.reciprocal, (0.3, 3)),
}
SPECIAL = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 1e-42, 1e30, -1e30])


@pytest.mark.parametrize("name", REAL)
def test_real_functions(rng, name):
    reference, interval = REAL[name]
    f = getattr(mo, name)
    for dtype, rtol in [("float64", 4e-15), ("float32", 4e-7), ("float16", 1e-3)]:
        for shape in [(), (0,), (3, 37)]:
            x = floats(rng, shape, dtype, *interval)
            y = f(x)
            assert y.dtype == dtype
            close(y, reference(x.astype("float64")), rtol=rtol, atol=0)
    with np.errstate(all="ignore"):
        for dtype in ("float32", "float64"):
            x = SPECIAL.astype(dtype)
            exact = reference(x.astype("float64")).astype(dtype)
            actual = f(x).numpy()
            close(actual, exact, rtol=1e-6, atol=0)
            number = ~np.isnan(exact)
            same(np.signbit(actual[number]), np.signbit(exact[number]))
    # Integers become float32.
    integers = np.arange(1, 4) if name != "atanh" else np.zeros(3, "int64")
    assert f(integers).dtype == ("int64" if name == "trunc" else "float32")


@pytest.mark.parametrize("name", sorted(REAL.keys() - {"trunc"}))
def test_gradients_of_real_functions(rng, name):
    check_gradient(getattr(mo, name), floats(rng, (5,), "float64", *REAL[name][1]), rtol=1e-5)


def test_inverse_error_function():
    rest = 10.0 ** -np.arange(1, 16)
    x = np.concatenate([np.linspace(-0.99, 0.99, 99), 1 - rest, rest])
    y = mo.erfinv(mo.array(x)).numpy()
    erf = np.vectorize(math.erf)
    # An error of y is one of x, times the slope.
    slope = 2 / math.sqrt(math.pi) * np.exp(-y * y)
    assert (np.abs(erf(y) - x) <= 4e-16 * (np.abs(y) * slope + np.abs(x))).all()
    single = x.astype("float32")
    close(mo.erfinv(single), mo.erfinv(single.astype("float64")).numpy(), rtol=2e-7, atol=0)
    same(mo.erfinv(np.array([-1.0, 1, 2, NAN])), np.array([-INF, INF, NAN, NAN]))
    check_gradient(mo.erfinv, np.linspace(-0.8, 0.8, 5), rtol=1e-5)


BINARY = {
    "atan2": (np.arctan2, (0.5, 2)),
    "copysign": (np.copysign, (0.5, 2)),
    "fmax": (np.fmax, (0.5, 2)),
    "fmin": (np.fmin, (0.5, 2)),
    "fmod": (np.fmod, (0.5, 2)),
    "hypot": (np.hypot, (0.5, 2)),
    "logaddexp": (np.logaddexp, (-2, 2)),
    "logaddexp2": (np.logaddexp2, (-2, 2)),
    "nextafter": (np.nextafter, (0.5, 2)),
    "heaviside": (np.heaviside, (0.5, 2)),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions(rng, name):
    reference, interval = BINARY[name]
    f = getattr(mo, name)
    for dtype, rtol in [("float64", 1e-15), ("float32", 3e-7)]:
        x, y = floats(rng, (3, 37), dtype, -5, 5), floats(rng, (37,), dtype, -5, 5)
        close(f(x, y), reference(x, y), rtol=rtol * 4, atol=rtol if "log" in name else 0)
        with np.errstate(all="ignore"):
            x = SPECIAL.astype(dtype)[:, None]
            exact = reference(x, x.T)
            close(f(x, x.T), exact, rtol=1e-6)
            if name not in ("logaddexp", "logaddexp2", "fmax", "fmin"):
                number = ~np.isnan(exact)
                same(np.signbit(f(x, x.T).numpy()[number]), np.signbit(exact[number]))
    if name not in ("nextafter", "heaviside"):
        arrays = [floats(rng, (5,), "float64", *interval) for _ in range(2)]
        check_gradient(f, *arrays, rtol=1e-5)


def test_hypot_at_zero_and_far_out():
    x = mo.zeros(2, "float64")
    length = mo.hypot(x, x)
    first = mo.grad(length, x)
    same(first, np.zeros(2))
    same(mo.grad(first.sum(), x) * 0, np.zeros(2))
    big = np.array([3e200, 3e-200, 5e-324])
    close(mo.hypot(big, big), np.hypot(big, big), rtol=1e-15, atol=0)


def test_fma_rounds_once(rng):
    x, y = 1 + 2.0**-30, 1 - 2.0**-30
    assert mo.fma(mo.array(x, "float64"), y, -1.0).item() == -(2.0**-60)
    assert mo.fma(2, mo.ones(3), 1.5).tolist() == [3.5] * 3
    arrays = [floats(rng, (4,), "float64") for _ in range(3)]
    check_gradient(mo.fma, *arrays)
    with pytest.raises(ValueError, match="do not broadcast"):
        mo.fma(mo.ones(2), mo.ones(3), 1.0)


def test_numbers_that_are_none():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = mo.array(SPECIAL).cast(dtype)
        numbers = x.cast("float64").numpy()
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit"):
            same(getattr(mo, name)(x), getattr(np, name)(numbers))
    integers = np.array([-1, 0, 1])
    for name in ("isnan", "isinf", "isfinite", "signbit"):
        same(getattr(mo, name)(integers), getattr(np, name)(integers))
    same(mo.nan_to_num(SPECIAL), np.nan_to_num(SPECIAL))
    same(mo.nan_to_num(SPECIAL, 1, 2, 3), np.nan_to_num(SPECIAL, nan=1, posinf=2, neginf=3))
    same(mo.nan_to_num(integers), integers)


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def whole(rng, dtype, size=64):
    """Return random integers of a type, its ends among them."""
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
    x[:5] = limits.min, limits.max, 0, 1, limits.max // 2
    return x


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(rng, dtype):
    x, y = whole(rng, dtype), rng.permutation(whole(rng, dtype))
    bits = 8 * np.dtype(dtype).itemsize
    places = rng.integers(0, bits, 64).astype(dtype)
    with np.errstate(all="ignore"):
        same(mo.bitwise_left_shift(x, places), np.left_shift(x, places))
        same(mo.bitwise_right_shift(x, places), np.right_shift(x, places))
        same(mo.bitwise_invert(x), np.invert(x))
        same(mo.gcd(x, y), np.gcd(x, y))
        small = [(v % 11).astype(dtype) for v in (x, y)]
        same(mo.lcm(*small), np.lcm(*small))
        same(mo.fmod(x, y), np.where(y == 0, 0, np.fmod(x, np.where(y == 0, 1, y))).astype(dtype))
        exponents = (y % 9).astype(dtype)
        same(mo.pow(x, exponents), np.power(x, exponents))
    ones = [bin(abs(int(v))).count("1") for v in x]
    same(mo.bitwise_count(x), np.array(ones, dtype))
    # Shifts that NumPy leaves undefined.
    beyond = np.full(64, bits, dtype)
    same(mo.bitwise_left_shift(x, beyond), np.zeros(64, dtype))
    same(mo.bitwise_right_shift(x, beyond), np.where(x < 0, -1, 0).astype(dtype))


def test_negative_powers_of_integers():
    x = np.array([-2, -1, 0, 1, 2])
    same(mo.pow(x, np.full(5, -3)), np.array([0, -1, 0, 1, 0]))
    with pytest.raises(ValueError, match="-3 is no integer"):
        mo.pow(x, -3)
    same(mo.array(x) ** 70, x**70)


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_bitcasts_keep_signalling_nans(backend):
    numbers = {
        ("int32", "float32"): [0x7F800001, 0x7FC00000, -1, 0x7F812345],
        ("uint16", "float16"): [0x7C01, 0xFD00, 0x7E00, 0xFFFF],
        ("uint16", "bfloat16"): [0x7F81, 0xFFA0, 0x7FC0, 0xFFFF],
        ("int64", "float64"): [0x7FF0000000000001, 0x7FF8000000000000, -1],
    }
    with mo.flag_scope(backend=backend):
        for (integer, real), bits in numbers.items():
            x = np.array(bits, integer)
            y = mo.bitcast(x, real)
            mo.sync([y])
            same(mo.bitcast(y, integer), x)


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_the_lowest_integer(dtype, backend):
    lowest = np.iinfo(dtype).min
    x, y = np.array([[lowest, lowest, -12, 0, -1], [lowest, 0, lowest, lowest, lowest]], dtype)
    with mo.flag_scope(backend=backend):
        same(mo.gcd(x, y), np.array([lowest, lowest, 4, lowest, 1], dtype))
        same(mo.pow(x, y), np.array([0, 1, 0, 0, 1], dtype))


def test_bitcast(rng):
    x = floats(rng, (3, 5))
    same(mo.bitcast(x, "int32"), x.view("int32"))
    same(mo.bitcast(mo.bitcast(x, "uint32"), "float32"), x)
    half = x.astype("float16")
    same(mo.bitcast(half, "uint16"), half.view("uint16"))
    with pytest.raises(TypeError, match="float32 and int64, expected numbers of one width"):
        mo.bitcast(x, "int64")


def test_limits():
    for dtype in ("float16", "float32", "float64"):
        ours, theirs = mo.finfo(dtype), np.finfo(dtype)
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert ours.dtype == dtype
    assert mo.finfo(mo.ones(2)).max == np.finfo("float32").max
    assert mo.finfo("bfloat16").eps == 2.0**-7
    for dtype in INTEGERS:
        ours, theirs = mo.iinfo(dtype), np.iinfo(dtype)
        assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
    with pytest.raises(TypeError, match="int8 is no type of floats"):
        mo.finfo("int8")
    with pytest.raises(TypeError, match="float32 is no type of integers"):
        mo.iinfo("float32")


def test_one_kernel(compiled):
    """Functions that are made of others are one kernel."""
    x, y = mo.rand(64, 65), mo.rand(64, 65)
    for f in (
        lambda: mo.logaddexp(x, y),
        lambda: mo.nan_to_num(x),
        lambda: mo.lerp(x, y, 0.3),
        lambda: mo.heaviside(x, y),
        lambda: mo.fmax(x, y),
        lambda: mo.lcm(x.cast("int32"), y.cast("int32")),
    ):
        assert len(mo.explain(f()).kernels) == 1
