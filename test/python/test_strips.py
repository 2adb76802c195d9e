# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of long rows into one row, by strips of columns in memory."""

import metaops as mo
import numpy as np
import pytest
from util import same_bits

pytestmark = pytest.mark.processor

# Rows and columns around the sizes where columns are cut, and where not.
SHAPES = [
    ((200, 4096), 0),
    ((37, 32768), 0),
    ((9, 70000), 0),
    ((33, 32771), 0),
    ((5, 61, 3072), 1),
    ((3, 50, 64, 128), 1),
    ((4099, 300), 0),
]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
def test_sum_and_max(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    rng = np.random.default_rng(sum(shape))
    x = (rng.random(shape) * 8 - 2).astype(dtype)
    v = mo.array(x)
    total, largest = v.sum(axis), v.max(axis)
    mo.sync([total, largest])
    kind = "f8" if x.dtype.kind == "f" else "i8"
    # Half floats add up in f32 and are rounded once; errors are those of the largest sums.
    rtol = 1.1 * 2.0**-11 if dtype == "float16" else 0
    part = {"float16": 1e-6, "float32": 1e-6, "float64": 5e-15, "int32": 0}[dtype]
    want = x.sum(axis, dtype=kind)
    atol = part * np.abs(x, dtype="float64").sum(axis).max()
    np.testing.assert_allclose(total.numpy(), want, rtol=rtol, atol=atol)
    np.testing.assert_array_equal(largest.numpy(), x.max(axis))


def test_weighted_sums_and_nan() -> None:
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((70, 8192), "float32"), rng.standard_normal((70, 1), "float32")
    x[17, 4097] = np.nan
    v, u = mo.array(x), mo.array(w)
    mean = v.mean(0)
    results = [(v * u).sum(0), ((v - mean) * (v - mean)).sum(0), v.min(0)]
    mo.sync(results)
    wide = x.astype("float64")
    centred = wide - wide.mean(0)
    for result, want in zip(
        results, [(wide * w).sum(0), (centred * centred).sum(0), wide.min(0)], strict=True
    ):
        np.testing.assert_allclose(result.numpy(), want, rtol=1e-4, atol=1e-4)


def test_element_wise_results_go_along() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((60, 3, 16384), "float32")
    y = rng.standard_normal((3, 16384), "float32")
    v, u = mo.array(x), mo.array(y)
    products = v * u
    results = [products, products.sum(0), products.max(0)]
    mo.sync(results)
    wide = x.astype("float64") * y
    np.testing.assert_allclose(results[0].numpy(), wide, rtol=1e-6)
    np.testing.assert_allclose(results[1].numpy(), wide.sum(0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(results[2].numpy(), wide.max(0), rtol=1e-6)


def test_same_bits_for_any_number_of_threads() -> None:
    data = np.random.default_rng(5).standard_normal((100, 16384), "float32")
    x = mo.array(data)
    total = same_bits(lambda: x.sum(0))
    np.testing.assert_allclose(total, data.sum(0, dtype="float64"), rtol=1e-5, atol=1e-4)
