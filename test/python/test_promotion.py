# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Promotion follows the array API standard; mixed kinds give the float's dtype."""

import metaops as mo
import numpy as np
import pytest

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def result(a, b):
    return (mo.full((2,), 1, a) + mo.full((2,), 1, b)).dtype


@pytest.mark.parametrize("kind", [SIGNED, UNSIGNED])
def test_within_a_kind_the_wider_wins(kind):
    for i, a in enumerate(kind):
        for j, b in enumerate(kind):
            assert result(a, b) == kind[max(i, j)]


def test_signed_and_unsigned_give_a_signed_that_holds_both():
    for i, a in enumerate(SIGNED):
        for j, b in enumerate(UNSIGNED[:3]):
            expected = SIGNED[max(i, j + 1)]
            assert result(a, b) == result(b, a) == expected
    with pytest.raises(TypeError, match="uint64"):
        result("int64", "uint64")


def test_floats():
    assert result("float32", "float64") == "float64"
    assert result("float16", "float32") == "float32"
    assert result("bfloat16", "float32") == "float32"
    assert result("bfloat16", "float16") == "float32"


def test_an_integer_beside_a_float_tensor_gives_that_float():
    for integer in [*SIGNED, *UNSIGNED, "bool"]:
        for floating in FLOATS:
            assert result(integer, floating) == result(floating, integer) == floating


def test_bool_beside_an_integer_gives_the_integer():
    for integer in SIGNED + UNSIGNED:
        assert result("bool", integer) == integer


@pytest.mark.parametrize("dtype", FLOATS)
def test_python_numbers_adopt_a_float(dtype):
    x = mo.full((2,), 1, dtype)
    assert (x + 1).dtype == (x * 2.5).dtype == (1.5 - x).dtype == (x**2).dtype == dtype
    assert mo.maximum(x, 0.0).dtype == mo.where(x > 0, x, 0).dtype == dtype


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_python_numbers_beside_an_integer(dtype):
    x = mo.full((2,), 1, dtype)
    assert (x + 1).dtype == (3 * x).dtype == dtype
    assert (x * 2.5).dtype == "float32"
    assert (x / 2).dtype == (x / x).dtype == "float32"


def test_comparisons_promote():
    a, b = mo.array(np.array([-1], "int8")), mo.array(np.array([255], "uint8"))
    assert (a < b).dtype == "bool"
    assert (a < b).numpy().all()
    assert (mo.array(np.array([2], "int32")) > 1.5).numpy().all()


def test_dtypes_of_new_tensors():
    assert mo.array(1.5).dtype == "float32"
    assert mo.array([1.0, 2.0]).dtype == "float32"
    assert mo.array(1).dtype == "int64"
    assert mo.array([True]).dtype == "bool"
    assert mo.array(np.zeros(2)).dtype == "float64"
    assert mo.array(np.zeros(2, "uint16")).dtype == "uint16"
    assert mo.array(np.zeros(2), float).dtype == "float32"
    assert mo.array([1, 2], "float64").dtype == "float64"
    assert mo.array([1, 2], np.dtype("int16")).dtype == "int16"
    assert mo.zeros((2,)).dtype == mo.random((2,)).dtype == "float32"
    assert mo.arange(3).dtype == "int64"
    assert mo.arange(0, 1, 0.25).dtype == "float32"


def test_reductions_and_means():
    for dtype in FLOATS:
        x = mo.full((2, 3), 1, dtype)
        assert x.sum().dtype == x.mean().dtype == x.max(0).dtype == dtype
    assert mo.full((2,), 1, "int32").mean().dtype == "float32"
    assert mo.full((2,), 1, "int32").max().dtype == "int32"
    assert mo.full((2,), 1, "float32").all().dtype == "bool"
