# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions in two steps: the same bits for any number of threads."""

import metaops as mo
import numpy as np
import pytest
from metaops.threads import most_threads
from util import same_bits

pytestmark = pytest.mark.processor


CASES = [
    ((262147,), None),
    ((1000003,), None),
    ((2**20,), None),
    ((100003, 3), None),
    ((100003, 3), 0),
    ((3, 100003), 1),
    ((131101, 10), 0),
    ((1009, 1009), 0),
    ((7, 211, 307), (1, 2)),
    ((7, 211, 307), (0, 1)),
    ((5, 30011, 3), 1),
]


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_against_numpy(shape: tuple[int, ...], axis: int | tuple[int, ...] | None) -> None:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x = mo.array(values)
    dims = tuple(range(len(shape))) if axis is None else axis
    exact = values.astype(np.float64)
    count = exact.size / exact.sum(dims).size
    atol = 1e-6 * count**0.5
    np.testing.assert_allclose(same_bits(lambda: x.sum(dims)), exact.sum(dims), 1e-6, atol)
    squares = same_bits(lambda: (x * x).sum(dims))
    np.testing.assert_allclose(squares, (exact**2).sum(dims), 2e-6)
    np.testing.assert_array_equal(same_bits(lambda: x.max(dims)), values.max(dims))
    np.testing.assert_array_equal(same_bits(lambda: x.min(dims)), values.min(dims))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8", "int64"])
def test_types(dtype: str) -> None:
    values = np.random.default_rng(1).integers(0, 3, 3000007).astype(dtype)
    x = mo.array(values)
    assert same_bits(lambda: x.max()) == values.max()
    result = same_bits(lambda: x.sum())
    if dtype == "float16":
        assert np.isinf(result)  # as the exact sum does not fit
        half = mo.array(values - 1)
        assert same_bits(lambda: half.sum()) == np.float16((values - 1.0).sum(dtype=float))
    else:
        assert result == values.sum(dtype=result.dtype)


def test_nan_is_kept() -> None:
    values = np.zeros(300007, np.float32)
    values[-1] = np.nan
    x = mo.array(values)
    assert np.isnan(same_bits(lambda: x.max()))
    assert np.isnan(same_bits(lambda: x.sum()))


def test_broadcast_operands() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((601, 503)).astype(np.float32)
    x, row = mo.array(values), mo.array(values[0])
    exact = values.astype(np.float64)
    result = same_bits(lambda: (x * row).sum())
    np.testing.assert_allclose(result, (exact * exact[0]).sum(), 1e-5)
    result = same_bits(lambda: ((x - x.mean()) * (x - x.mean())).mean())
    np.testing.assert_allclose(result, exact.var(), 1e-5)


def test_product_of_long_matrices() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((20, 100003)).astype(np.float32)
    b = rng.standard_normal((100003, 12)).astype(np.float32)
    x, y = mo.array(a), mo.array(b)
    result = same_bits(lambda: mo.matmul(x, y))
    np.testing.assert_allclose(result, a.astype(float) @ b.astype(float), 1e-4, 1e-3)


def test_ones_are_counted() -> None:
    assert mo.full((10**8,), 1.0, "float32").sum().numpy() == 10**8
    assert mo.array(np.ones(10**8, np.float32)).sum().numpy() == 10**8


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_generated_values(shape: tuple[int, ...], axis: int | tuple[int, ...] | None) -> None:
    """Random numbers and counters are those of the whole tensor."""
    dims = tuple(range(len(shape))) if axis is None else axis

    def generate() -> list[mo.Var]:
        mo.seed(5)
        numbers = mo.random(shape)
        counters = [mo.iota(shape, dim, "float32") for dim in range(len(shape))]
        return [numbers, *(numbers * counter for counter in counters)]

    for index in range(len(shape) + 1):
        exact = generate()[index].numpy().astype(np.float64)
        total = same_bits(lambda index=index: generate()[index].sum(dims))
        np.testing.assert_allclose(total, exact.sum(dims), 2e-6)


def test_sums_of_random_numbers_are_split() -> None:
    mo.random((2**20,)).sum().sync()
    assert len(mo.last_program().kernels) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4", 4), (" 3 ", 3), ("4,2", 4), ("0", None), ("-2", None), ("many", None), ("", None)],
)
def test_variable(text: str, expected: int | None) -> None:
    assert most_threads({"OMP_NUM_THREADS": text}) == expected
    assert most_threads({}) is None


@pytest.mark.parametrize("shape", [(4096, 512), (2050, 600), (2**18,), (128, 64, 33)])
def test_element_wise_results_beside_sums(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(len(shape)).standard_normal(shape, "float32")

    v = mo.array(x)

    def compute() -> list[mo.Var]:
        y = v * 3.0
        return [y, y.sum(0, True), y.max(0), y.sum(), mo.exp(v).sum(tuple(range(len(shape))))]

    y = x * np.float32(3)
    wide = y.astype("float64")
    expected = [y, wide.sum(0, keepdims=True), y.max(0), wide.sum(), np.exp(x.astype("f8")).sum()]
    for result, want in zip(same_bits(compute), expected, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=2e-3)


@pytest.mark.parametrize("rows", [41, 43, 130])
@pytest.mark.parametrize("columns", [2048, 12288, 16400])
def test_sums_of_rows_longer_than_a_page(rows: int, columns: int) -> None:
    """Several rows are added at a time, and what is left over one by one."""
    x = np.random.default_rng(rows).standard_normal((4, rows, columns), "float32")
    v, w = mo.array(x), mo.array(x[:, :, 0])
    same_bits(lambda: v.sum(1))
    exact = x.astype("float64")
    np.testing.assert_allclose(v.sum(1).numpy(), exact.sum(1), 1e-5, 1e-4)
    np.testing.assert_array_equal(v.max(1).numpy(), x.max(1))
    product = mo.matmul(w.reshape(4, 1, rows), v)
    expected = exact[:, None, :, 0] @ exact
    np.testing.assert_allclose(product.numpy(), expected, 1e-5, 1e-4)
