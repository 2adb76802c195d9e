# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In which type each function computes: docs/Types.md, with integers at their ends, and halves."""

from __future__ import annotations

import pathlib
import re

import metaops as mo
import numpy as np
import pytest
import typed_calls
import typed_nn_calls
from metaops import nn

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "Types.md"
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = [*SIGNED, *UNSIGNED]
HALVES = ["float16", "bfloat16"]

MOVING = {**typed_calls.MOVING, **typed_nn_calls.MOVING}
ARITHMETIC = {**typed_calls.ARITHMETIC, **typed_nn_calls.ARITHMETIC}
STEPWISE, BITS, SINGLE = typed_calls.STEPWISE, typed_calls.BITS, typed_calls.SINGLE
REAL = {**typed_calls.REAL, **typed_nn_calls.REAL}
DRAWN, FLOATS_ALONE = typed_nn_calls.DRAWN, typed_nn_calls.FLOATS_ALONE
WITHIN, EXACT, FLOAT64 = typed_calls.WITHIN, typed_calls.EXACT, typed_calls.FLOAT64
#: The calls of the functions that the page has under each heading.
SECTIONS = {
    "Elements stay": MOVING,
    "The elements' own type": ARITHMETIC,
    "The elements' own type, step by step": STEPWISE,
    "Integers alone": BITS,
    "One operation": SINGLE,
    "Several operations": REAL | DRAWN,
    "Several operations in float64": WITHIN,
    "Floats alone": FLOATS_ALONE,
    "Float64 of integers": EXACT,
    "Float64 of all": FLOAT64,
}
CALLS = {name: call for own in SECTIONS.values() for name, call in own.items()}


def listed():
    """Return the functions of the page's tables, by heading."""
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        heading, text = section.split("\n", 1)
        rows = re.findall(r"^\| .*? \| (`.*`) \|$", text, re.MULTILINE)
        found[heading] = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    return found


def test_the_page_has_every_function_once():
    public = [
        name
        for module in (mo, nn)
        for name in module.__all__
        if callable(value := getattr(module, name)) and not isinstance(value, type)
    ]
    assert sorted(name for names in listed().values() for name in names) == sorted(public)


def test_the_page_has_the_calls_of_these_tests():
    found = listed()
    assert {heading: sorted(found[heading]) for heading in SECTIONS} == {
        heading: sorted(calls) for heading, calls in SECTIONS.items()
    }


def numbers(rng, dtype, kind, shape):
    """Return numbers of a type: of integers the ends of their range and small ones."""
    count = int(np.prod(shape))
    if "float" in dtype:
        if kind == "p":
            return rng.uniform(0, 1, shape)
        x = rng.standard_normal(count) * 3
        x[:3] = [300, -1000, 0][:count]
        return (abs(x) if kind == "+" else x).reshape(shape)
    if dtype == "bool" or kind == "p":
        given = [0, 1]
    else:
        ends = np.iinfo(dtype)
        given = [ends.min, ends.max, ends.min + 1, ends.max - 1, 0, 1, 2, 3, 5, 7, -1, -3]
        given = [n for n in given if n >= (0 if kind == "+" else ends.min)]
    chosen = rng.permutation(max(count, len(given)))[:count]
    return np.array([given[k % len(given)] for k in chosen], dtype).reshape(shape)


def operands(rng, call, dtype):
    tensors, _ = call
    return [numbers(rng, dtype, own[1:], typed_calls.SHAPES[own[0]]) for own in tensors.split()]


def leaves(result):
    if isinstance(result, mo.Var):
        return [result]
    return [leaf for part in result for leaf in leaves(part)]


def computed(call, arrays, dtype=None, backend="compiled"):
    """Return what a call gives: types, and values as arrays."""
    mo.seed(0)
    with mo.flag_scope(backend=backend):
        given = [mo.array(x) if dtype is None else mo.array(x).cast(dtype) for x in arrays]
        results = leaves(call[1](*given))
        mo.sync(results)
        return [x.dtype for x in results], [x.numpy() for x in results]


def interpreted(call, arrays, dtype):
    """Return the values of a call with tensors of a type, by the reference interpreter."""
    return computed(call, arrays, dtype, "interpreter")[1]


def largest(arrays):
    return max(np.abs(x[np.isfinite(x)].astype("float64")).max(initial=0) for x in arrays)


def assert_close(actual, expected, arrays):
    """Compare with the reference, whose sums are in another order."""
    for x, y in zip(actual, expected, strict=True):
        atol = 2e-5 + 1e-13 * largest([*arrays, y])
        with np.errstate(over="ignore"):
            y = y.astype(x.dtype)
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=atol)


# Integers


@pytest.mark.parametrize("name", [*MOVING, *ARITHMETIC, *STEPWISE, *BITS])
def test_integers_of_their_own_type(rng, name):
    """The results are those of 64 bits, of which the own type has the lower ones."""
    call = CALLS[name]
    for dtype in INTEGERS:
        arrays = operands(rng, call, dtype)
        types, actual = computed(call, arrays)
        assert {*types} <= {dtype, "bool", "int64", "uint64" if dtype in UNSIGNED else "int64"}
        expected = interpreted(call, arrays, "uint64" if dtype == "uint64" else "int64")
        for x, y in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(x, y.astype(x.dtype), err_msg=dtype)


@pytest.mark.parametrize("name", SINGLE)
def test_integers_become_float32(rng, name):
    for dtype in [*INTEGERS, "bool"]:
        arrays = operands(rng, SINGLE[name], dtype)
        types, actual = computed(SINGLE[name], arrays)
        assert {*types} <= {"float32", "int32", "bool"}, dtype
        assert_close(actual, interpreted(SINGLE[name], arrays, "float32"), [])


@pytest.mark.parametrize("name", [*REAL, *WITHIN])
def test_integers_are_floats_from_the_beginning(rng, name):
    has_numbers = False
    for dtype in [*INTEGERS, "bool"]:
        arrays = operands(rng, CALLS[name], dtype)
        types, actual = computed(CALLS[name], arrays)
        assert {*types} == {"float32"}, dtype
        assert_close(actual, interpreted(CALLS[name], arrays, "float64"), arrays)
        has_numbers |= not all(np.isnan(x).all() for x in actual)
    assert has_numbers


@pytest.mark.parametrize("name", DRAWN)
def test_integers_beside_random_numbers(rng, name):
    for dtype in [*INTEGERS, "bool"]:
        arrays = operands(rng, DRAWN[name], dtype)
        types, actual = computed(DRAWN[name], arrays)
        assert {*types} == {"float32"}, dtype
        wide = "float32" if dtype in ("bool", "int8", "uint8") else "float64"
        assert_close(actual, interpreted(DRAWN[name], arrays, wide), arrays)


@pytest.mark.parametrize("name", FLOATS_ALONE)
def test_integers_are_refused(rng, name):
    for dtype in [*INTEGERS, "bool"]:
        with pytest.raises(TypeError, match="expected floats"):
            computed(FLOATS_ALONE[name], operands(rng, FLOATS_ALONE[name], dtype))


@pytest.mark.parametrize("name", [*EXACT, *FLOAT64])
def test_integers_are_float64(rng, name):
    call = CALLS[name]
    for dtype in [*INTEGERS, "bool"]:
        arrays = operands(rng, call, dtype)
        types, actual = computed(call, arrays)
        assert {*types} <= {"float64", "int64", "bool"}, dtype
        for x, y in zip(actual, interpreted(call, arrays, "float64"), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-15, err_msg=dtype)


@pytest.mark.parametrize("name", WITHIN)
def test_float32_is_computed_in_float64(rng, name):
    arrays = operands(rng, WITHIN[name], "float64")
    types, actual = computed(WITHIN[name], arrays, "float32")
    assert types == ["float32"]
    exact = interpreted(WITHIN[name], [x.astype("f4").astype("f8") for x in arrays], "float64")
    np.testing.assert_allclose(actual, [x.astype("f4") for x in exact], rtol=1.3e-7, atol=0)


# Halves


def assert_rounded_once(actual, exact, dtype, what):
    """Check halves against what they are rounded from, which may be next to a tie."""
    exact = exact.astype("float64")
    with np.errstate(invalid="ignore", over="ignore"):
        margin = np.where(np.isfinite(exact), np.abs(exact) * 4e-7 + 1e-9, 0)
        ends = [mo.array((exact + d).astype("float32")).cast(dtype) for d in (-margin, margin)]
    low, high = (end.cast("float32").numpy() for end in ends)
    given = actual.astype("float32")
    is_right = ((low <= given) & (given <= high)) | (np.isnan(exact) & np.isnan(given))
    assert is_right.all(), f"{what} of {dtype}: {given[~is_right]} of {exact[~is_right]}"


def check_halves(rng, name, call):
    for dtype in HALVES:
        arrays = [
            mo.array(x).cast(dtype).cast("float32").numpy() for x in operands(rng, call, "float64")
        ]
        types, actual = computed(call, arrays, dtype)
        wide_types, wide = computed(call, arrays)
        for own, x, other, y in zip(types, actual, wide_types, wide, strict=True):
            if own == other:
                np.testing.assert_array_equal(x, y)
            else:
                assert (own, other) == (dtype, "float32")
                assert_rounded_once(x, y, dtype, name)


@pytest.mark.parametrize(
    "name",
    [*MOVING, *ARITHMETIC, *SINGLE, *REAL, *WITHIN, *DRAWN, *FLOATS_ALONE, *EXACT, *FLOAT64],
)
def test_halves_are_rounded_once(rng, name):
    check_halves(rng, name, CALLS[name])
