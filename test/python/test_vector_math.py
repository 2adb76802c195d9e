# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of float64: their errors (docs/Spec.md, Numerics), special numbers, and that an
element has one result wherever it stands."""

import math

import metaops as mo
import numpy as np
import pytest

#: The arguments at which a function is sampled.
REAL, POSITIVE, UNIT, SMALL, ABOVE_ONE, ANGLES = range(6)

#: By name, and where the functions of NumPy have another one.
FUNCTIONS = {
    "acos": (UNIT, "arccos"),
    "acosh": (ABOVE_ONE, "arccosh"),
    "asin": (UNIT, "arcsin"),
    "asinh": (REAL, "arcsinh"),
    "atan": (REAL, "arctan"),
    "atanh": (UNIT, "arctanh"),
    "cbrt": (REAL, "cbrt"),
    "cos": (ANGLES, "cos"),
    "cosh": (SMALL, "cosh"),
    "exp": (SMALL, "exp"),
    "exp2": (SMALL, "exp2"),
    "expm1": (SMALL, "expm1"),
    "log": (POSITIVE, "log"),
    "log10": (POSITIVE, "log10"),
    "log1p": (POSITIVE, "log1p"),
    "log2": (POSITIVE, "log2"),
    "sin": (ANGLES, "sin"),
    "sinh": (SMALL, "sinh"),
    "tan": (ANGLES, "tan"),
    "tanh": (SMALL, "tanh"),
}

_SPECIAL = """
    0 -0 1 -1 2 -2 0.5 -0.5 inf -inf nan 5e-324 -5e-324 1e-310 2.2250738585072014e-308
    1e-300 -1e-300 1e-17 1e300 -1e300 709.7 709.8 710.5 -745 -746 -708.5 1023.5 1024 -1074
    -1075 1e22 -1e22 3.141592653589793 1.5707963267948966 0.9999999999999999
    1.0000000000000002 27 -27
"""
SPECIAL = np.array(_SPECIAL.split(), dtype="float64")


def sample(kind: int, count: int = 3001) -> np.ndarray:
    rng = np.random.default_rng(kind)
    unit = rng.uniform(-1, 1, count)
    scale = np.exp2(rng.uniform(-60, 60, count))
    return {
        REAL: unit * scale,
        POSITIVE: np.abs(unit) * scale,
        UNIT: unit * np.exp2(rng.integers(-20, 1, count)),
        SMALL: unit * np.exp2(rng.integers(-20, 10, count)),
        ABOVE_ONE: 1 + np.abs(unit) * scale,
        ANGLES: unit * np.exp2(rng.integers(-20, 40, count)),
    }[kind]


def count_units(given: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the errors in units in the last place of the exact results."""
    places = np.spacing(np.abs(exact.astype(np.float64)))
    with np.errstate(invalid="ignore"):
        errors = np.abs(given.astype(np.longdouble) - exact) / places
    return np.where(given == exact.astype(np.float64), 0, errors)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="NumPy has no more digits here")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_a_few_units(name: str) -> None:
    kind, other = FUNCTIONS[name]
    x = sample(kind)
    with np.errstate(all="ignore"):
        exact = getattr(np, other)(x.astype(np.longdouble))
    units = count_units(getattr(mo, name)(mo.array(x)).numpy(), exact)
    assert units.max() <= 4, x[units.argmax()]


def test_errors_of_erf_and_erfc() -> None:
    x = sample(SMALL)[np.abs(sample(SMALL)) < 20]
    for name in ("erf", "erfc"):
        expected = np.array([getattr(math, name)(value) for value in x])
        given = getattr(mo, name)(mo.array(x)).numpy()
        assert count_units(given, expected.astype(np.longdouble)).max() <= 4, name


def test_errors_of_two_arguments() -> None:
    x, y = sample(POSITIVE), sample(ANGLES)
    y = np.clip(y, -5, 5)
    angles = mo.atan2(mo.array(y), mo.array(x)).numpy()
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    assert count_units(angles, exact).max() <= 4
    powers = (mo.array(x) ** mo.array(y)).numpy()
    exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    assert count_units(powers, exact).max() <= 4


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_numbers_are_the_c_librarys(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = getattr(np, FUNCTIONS[name][1])(SPECIAL)
    given = getattr(mo, name)(mo.array(SPECIAL)).numpy()
    np.testing.assert_array_equal(np.isnan(given), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_allclose(given[kept], expected[kept], rtol=1e-15, atol=0)
    np.testing.assert_array_equal(np.signbit(given[kept]), np.signbit(expected[kept]))


def test_special_powers_are_the_c_librarys() -> None:
    x, y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    for given, function in (
        (mo.array(x) ** mo.array(y), np.power),
        (mo.atan2(mo.array(x), mo.array(y)), np.arctan2),
    ):
        with np.errstate(all="ignore"):
            expected = function(x, y)
        np.testing.assert_array_equal(np.isnan(given.numpy()), np.isnan(expected))
        kept = ~np.isnan(expected)
        np.testing.assert_allclose(given.numpy()[kept], expected[kept], rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", ["exp", "tanh", "sin", "atan", "erf", "log1p"])
def test_an_element_has_one_result_in_all_places(name: str) -> None:
    function = getattr(mo, name)
    x = np.random.default_rng(5).uniform(0.1, 3, 37)
    whole = function(mo.array(x)).numpy()
    for count in (1, 2, 3, 5, 8, 9, 16, 33):
        np.testing.assert_array_equal(function(mo.array(x[:count])).numpy(), whole[:count])
        np.testing.assert_array_equal(function(mo.array(x[-count:])).numpy(), whole[-count:])
    np.testing.assert_array_equal(function(mo.array(x)[::-1]).numpy(), whole[::-1])
    np.testing.assert_array_equal(function(mo.array(x)[3::5]).numpy(), whole[3::5])
    columns = function(mo.array(x[:36].reshape(4, 9)).T).numpy()
    np.testing.assert_array_equal(columns, whole[:36].reshape(4, 9).T)
    assert function(mo.array(x[4])).item() == whole[4]
    # Beside float32, vectors have twice as many lanes.
    both = function(mo.array(x).cast("float32").cast("float64")).numpy()
    np.testing.assert_array_equal(
        both, function(mo.array(x.astype("float32").astype(float))).numpy()
    )


def test_an_exported_program_has_the_sessions_results(tmp_path) -> None:
    x = mo.array(np.random.default_rng(6).uniform(-2, 2, (5, 13)))
    mo.export(lambda x: mo.tanh(x) * mo.exp(mo.sin(x)), [x], tmp_path / "functions.metaops")
    program = mo.load_program(tmp_path / "functions.metaops")
    expected = (mo.tanh(x) * mo.exp(mo.sin(x))).numpy()
    np.testing.assert_allclose(program(x.numpy()), expected, rtol=4e-15)
