# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors of functions that docs/Spec.md states: of f32 on a fixed sample, of f16 and
bf16 for all arguments.

`bench/ulp.py` measures those of f32 over all arguments.
"""

import importlib.util
import sys
from pathlib import Path

import metaops as mo
import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "bench" / "ulp.py"


def load_ulp():
    spec = importlib.util.spec_from_file_location("ulp", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ulp"] = module
    spec.loader.exec_module(module)
    return module


ulp = load_ulp()

#: The largest errors in units in the last place: of normal numbers.
BOUNDS = {
    "exp": 1.0,
    "exp2": 1.0,
    "expm1": 2.0,
    "log": 1.0,
    "log2": 2.0,
    "log10": 0.6,
    "log1p": 2.0,
    "tanh": 2.0,
    "erf": 2.0,
    "sin": 0.6,
    "cos": 0.6,
    "tan": 0.6,
    "asin": 0.6,
    "acos": 0.6,
    "atan": 0.6,
    "sinh": 0.6,
    "cosh": 0.6,
    "asinh": 0.6,
    "acosh": 0.6,
    "atanh": 0.6,
    "cbrt": 0.6,
    "rsqrt": 1.5,
    "erfc": 0.6,
    "erfinv": 0.6,
    "sqrt": 0.501,
    "1 / x": 0.501,
    "1 / sqrt(x)": 1.5,
    "sigmoid": 2.5,
}

#: Regions where the polynomials change, end, or have their largest errors.
REGIONS = {
    "exp": [(-104.1, -87.0), (87.0, 88.8), (-0.36, 0.36), (-5.86, -5.84)],
    "exp2": [(-150.1, -125.5), (127.5, 128.1), (-0.51, 0.55)],
    "expm1": [(-18.1, -16.0), (87.9, 88.8), (-0.36, 0.41), (16.9, 17.1)],
    "log": [(0.49, 2.01), (0.7, 0.71), (1.0, 1.42)],
    "log2": [(0.49, 2.01), (0.7, 0.71), (1.0, 1.42)],
    "log1p": [(-0.51, 1.01), (-1e-7, 1e-7), (-0.999, -0.9)],
    "tanh": [(-0.63, -0.001), (0.17, 0.53), (0.6, 0.65), (8.9, 9.1)],
    "erf": [(-0.36, -0.001), (0.17, 0.26), (3.8, 4.0)],
}


@pytest.mark.parametrize("name", BOUNDS)
def test_error_is_within_the_bound(name, compiled):
    if name.startswith("erf"):
        pytest.importorskip("scipy.special")
    error = ulp.measure(name, every=2039)
    assert error.ulps <= BOUNDS[name]
    assert error.wrong == 0


@pytest.mark.parametrize("name", REGIONS)
def test_error_is_within_the_bound_where_it_is_largest(name, compiled):
    if name.startswith("erf"):
        pytest.importorskip("scipy.special")
    function, reference = ulp.FUNCTIONS[name]
    error = ulp.Error()
    for low, high in REGIONS[name]:
        x = np.linspace(low, high, 1 << 18).astype(np.float32)
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
        error.add(x, function(mo.array(x)).numpy(), exact)
    assert error.ulps <= BOUNDS[name]
    assert error.tiny_ulps <= 1.0
    assert error.wrong == 0


@pytest.mark.parametrize("name", REGIONS)
def test_special_values_are_those_of_numpy(name, compiled):
    if name.startswith("erf"):
        pytest.importorskip("scipy.special")
    function, reference = ulp.FUNCTIONS[name]
    tiny, least, most = 2.0**-126, 2.0**-149, float(np.finfo(np.float32).max)
    magnitudes = [0.0, least, 3 * least, tiny - least, tiny, 1.0, most, np.inf, np.nan]
    x = np.array([*magnitudes, *(-m for m in magnitudes)], np.float32)
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64)).astype(np.float32)
    given = function(mo.array(x)).numpy()
    special = ~np.isfinite(expected) | (expected == 0) | (np.abs(expected) == 1)
    np.testing.assert_array_equal(given[special], expected[special])
    np.testing.assert_array_equal(
        np.signbit(given[expected == 0]), np.signbit(expected[expected == 0])
    )
    np.testing.assert_array_max_ulp(given[~special], expected[~special], maxulp=1)


@pytest.mark.parametrize("name", REGIONS)
def test_bits_do_not_depend_on_the_lane(name, compiled):
    function, _ = ulp.FUNCTIONS[name]
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 1 << 32, 509, dtype=np.uint32)
    x = np.concatenate([bits.view(np.float32), rng.uniform(-9, 9, 508).astype(np.float32)])
    whole = function(mo.array(x)).numpy().view(np.uint32)
    for count in (1, 3, 16, 17, 33):
        for start in (0, 500, 1000 - count):
            part = x[start : start + count]
            given = function(mo.array(part)).numpy().view(np.uint32)
            np.testing.assert_array_equal(given, whole[start : start + count])
    # Every third element, and the transpose of a matrix.
    strided = function(mo.array(x)[::3]).numpy().view(np.uint32)
    np.testing.assert_array_equal(strided, whole[::3])
    matrix = x[:1015].reshape(35, 29)
    turned = function(mo.array(matrix).transpose()).numpy().view(np.uint32)
    np.testing.assert_array_equal(turned, whole[:1015].reshape(35, 29).T)


#: Functions that GPUs have shorter ways for where results are rounded to halves.
HALF_FUNCTIONS = ["exp", "exp2", "log", "log2", "tanh", "erf", "sqrt", "rsqrt", "1 / x"]
#: The largest error in units in the last place of the half.
HALF_BOUND = 0.55
#: Digits, the smallest normal number, and the smallest of all.
HALVES = {"float16": (11, 2.0**-14, 2.0**-24), "bfloat16": (8, 2.0**-126, 2.0**-133)}


def every_half(dtype: str) -> np.ndarray:
    """Return all numbers of a type, as float32."""
    bits = np.arange(1 << 16, dtype=np.uint32)
    if dtype == "bfloat16":
        return (bits << 16).view(np.float32)
    return bits.astype(np.uint16).view(np.float16).astype(np.float32)


def round_to_half(x: np.ndarray, dtype: str) -> np.ndarray:
    """Return doubles rounded to a half, to nearest even, as doubles."""
    digits, normal, _ = HALVES[dtype]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.maximum(np.abs(x), normal))
        unit = np.ldexp(1.0, exponent - digits)
        rounded = np.rint(x / unit) * unit
        largest = 65504.0 if dtype == "float16" else float(np.float32(2.0**128 - 2.0**120))
        return np.where(np.abs(rounded) > largest, np.copysign(np.inf, x), rounded)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", HALF_FUNCTIONS)
def test_every_half_is_within_the_bound(name, dtype, compiled):
    if name == "erf":
        pytest.importorskip("scipy.special")
    function, reference = ulp.FUNCTIONS[name]
    digits, normal, least = HALVES[dtype]
    x = every_half(dtype)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    given = function(mo.array(x).cast(dtype)).cast("float32").numpy().astype(np.float64)
    expected = round_to_half(exact, dtype)
    finite = np.isfinite(expected) & np.isfinite(given)
    np.testing.assert_array_equal(given[~finite], expected[~finite])
    assert finite.sum() > 20000
    given, exact, expected = given[finite], exact[finite], expected[finite]
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(given[zero]), np.signbit(expected[zero]))
    _, exponent = np.frexp(np.maximum(np.abs(expected), normal))
    unit = np.maximum(np.ldexp(1.0, exponent - digits), least)
    error = np.abs(given - exact) / unit
    assert error.max() <= HALF_BOUND, x[finite][error.argmax()]


@pytest.mark.parametrize("dtype", HALVES)
def test_quotients_of_halves_are_within_the_bound(dtype, compiled, rng):
    digits, normal, least = HALVES[dtype]
    finite = every_half(dtype)
    finite = finite[np.isfinite(finite) & (finite != 0)]
    x, y = rng.choice(finite, 1 << 16), rng.choice(finite, 1 << 16)
    given = (mo.array(x).cast(dtype) / mo.array(y).cast(dtype)).cast("float32").numpy()
    exact = x.astype(np.float64) / y.astype(np.float64)
    expected = round_to_half(exact, dtype)
    infinite = np.isinf(expected)
    np.testing.assert_array_equal(given[infinite], expected[infinite])
    ends = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan], np.float32)
    a, b = (axis.ravel() for axis in np.meshgrid(ends, ends))
    quotients = (mo.array(a).cast(dtype) / mo.array(b).cast(dtype)).cast("float32").numpy()
    with np.errstate(all="ignore"):
        special = ~np.isfinite(a / b) | (a / b == 0)
        np.testing.assert_array_equal(quotients[special], (a / b)[special])
        signs = ~np.isnan(a / b)
        np.testing.assert_array_equal(np.signbit(quotients)[signs], np.signbit(a / b)[signs])
    _, exponent = np.frexp(np.maximum(np.abs(expected), normal))
    unit = np.maximum(np.ldexp(1.0, exponent - digits), least)
    error = np.where(infinite, 0.0, np.abs(given - exact) / unit)
    assert error.max() <= HALF_BOUND, (x[error.argmax()], y[error.argmax()])
