# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of scattered floats on GPUs: in fixed point, or as they come."""

import math

import metaops as mo
import numpy as np
import pytest

GPU = "emulator:sm_90a"
ROWS = 24


@pytest.fixture(autouse=True)
def on_gpu():
    """Everything here is about one device."""
    with mo.device(GPU):
        yield
    assert not mo.flags.float_atomics


def scattered(values, places):
    """Add values at places to zeros, as NumPy and as the device."""
    exact = np.zeros(ROWS, dtype="float64")
    np.add.at(exact, places, values.astype("float64"))
    return exact, mo.zeros(ROWS).at[mo.array(places)].add(mo.array(values)).numpy()


@pytest.mark.parametrize("atomics", [False, True])
def test_both_add_what_is_there(rng, atomics):
    values = rng.standard_normal(5000).astype("float32")
    places = rng.integers(0, ROWS, 5000)
    with mo.flag_scope(float_atomics=atomics):
        exact, found = scattered(values, places)
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)


def test_fixed_point_is_the_exact_sum_and_floats_round():
    # Beside 2^26 a float has no room for 1; all of a word's bits have.
    values = np.ones((ROWS, 100), dtype="float32")
    values[:, 0], values[:, -1] = 2.0**26, -(2.0**26)
    places = np.repeat(np.arange(ROWS), 100)
    exact, found = scattered(values.reshape(-1), places)
    np.testing.assert_array_equal(found, exact)
    with mo.flag_scope(float_atomics=True):
        _, rounded = scattered(values.reshape(-1), places)
    assert np.any(rounded != exact)
    assert np.all(np.abs(rounded - exact) <= 100 * 8)


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-49), ("float64", 2.0**-99)])
def test_an_element_loses_nothing_beside_others(rng, dtype, unit):
    """Magnitudes of rows differ by all that the type has; 4096 addends have 12 bits."""
    places = rng.integers(0, ROWS, 4096)
    least, most = (-120, 120) if dtype == "float32" else (-1000, 1000)
    exponents = np.linspace(least, most, ROWS)[places]
    values = np.ldexp(rng.standard_normal(4096), exponents.astype("int32")).astype(dtype)
    found = mo.zeros(ROWS, dtype).at[mo.array(places)].add(mo.array(values)).numpy()
    for row in range(ROWS):
        addends = values[places == row].astype("float64")
        exact = math.fsum(addends)
        bound = len(addends) * np.abs(addends).max() * unit
        assert abs(float(found[row]) - exact) <= bound + np.spacing(abs(found[row]))


def test_infinities_stay_in_their_elements():
    places = mo.array([0, 1, 1, 2, 2, 3, 3])
    inf, nan = np.inf, np.nan
    values = mo.array(np.array([1e-30, 2.0, inf, inf, -inf, nan, 1.0], "float32"))
    found = mo.zeros(5).at[places].add(values).numpy()
    np.testing.assert_array_equal(found, np.array([1e-30, inf, nan, nan, 0], "float32"))


def is_marked(folder, atomics, make):
    """Return whether a program for a value has a kernel that may add in any order."""
    with mo.flag_scope(float_atomics=atomics, dump_dir=str(folder)):
        make().numpy()
    texts = [file.read_text() for file in folder.rglob("*") if file.is_file()]
    assert texts
    return any("attributes {float_atomics}" in text for text in texts)


def test_programs_are_told_apart_by_the_flag(rng, tmp_path):
    values = rng.standard_normal(300).astype("float32")
    places = rng.integers(0, ROWS, 300)

    def add():
        return mo.zeros(ROWS).at[mo.array(places)].add(mo.array(values))

    assert not is_marked(tmp_path / "without", False, add)
    assert is_marked(tmp_path / "with", True, add)


def test_kernels_that_scatter_no_floats_are_not_marked(rng, tmp_path):
    x = rng.standard_normal((64, 64)).astype("float32")
    places = rng.integers(0, ROWS, 300)

    def make():
        counts = mo.zeros(ROWS, dtype="int32").at[mo.array(places)].add(1)
        return mo.sum(mo.exp(mo.array(x)), axis=1)[:ROWS] + counts

    assert not is_marked(tmp_path, True, make)
