# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""float16 and bfloat16: products and their sums, gradients, every number through an op."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import conv2d_reference, floats, on_processor, same

HALVES = ["float16", "bfloat16"]


def integers(rng, shape, dtype):
    """Return small integers, whose products and sums of these are exact in float32."""
    x = rng.integers(-3, 4, shape).astype("float32")
    return x, mo.array(x).cast(dtype)


def rounded(x, dtype):
    """Return numbers of float64, which are exact in float32, as the half float next to each."""
    return mo.array(x.astype("float32")).cast(dtype).numpy()


SHAPES = [
    ((5, 7), (7, 3)),
    ((64, 64), (64, 64)),
    # Panels are packed, and their sums are in blocks.
    ((130, 700), (700, 97)),
    ((3, 40, 50), (3, 50, 70)),
    ((200, 300), (300,)),
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("a, b", SHAPES, ids=str)
def test_products_round_their_sums_once(rng, a, b, dtype):
    (x, xs), (y, ys) = integers(rng, a, dtype), integers(rng, b, dtype)
    z = mo.matmul(xs, ys)
    assert z.dtype == dtype
    same(z, rounded(x.astype(float) @ y.astype(float), dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("is_first_transposed", [False, True])
def test_transposed_products(rng, is_first_transposed, dtype):
    (x, xs), (y, ys) = integers(rng, (96, 80), dtype), integers(rng, (96, 80), dtype)
    if is_first_transposed:
        same(xs.T @ ys, rounded(x.T.astype(float) @ y, dtype))
    else:
        same(xs @ ys.T, rounded(x.astype(float) @ y.T, dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape", [(13, 21), (3, 40, 13), (2, 13, 7, 31)])
def test_transposes(rng, shape, dtype):
    x = mo.array(floats(rng, shape)).cast(dtype)
    expected = x.cast("float32").numpy()
    for order in {(*range(len(shape)),)[::-1], (0, *range(2, len(shape)), 1)[: len(shape)]}:
        y = (mo.permute(x, order) * 2).cast("float32").numpy()
        np.testing.assert_array_equal(y, expected.transpose(order) * 2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("stride, padding", [(1, 0), (1, 1), (2, 1)])
def test_convolutions_and_gradients(rng, stride, padding, dtype):
    (x, xs), (w, ws) = integers(rng, (2, 9, 14, 13), dtype), integers(rng, (17, 9, 3, 3), dtype)
    y = nn.conv2d(xs, ws, stride=stride, padding=padding)
    pairs = (stride, stride), (padding, padding)
    same(y, rounded(conv2d_reference(x, w, None, *pairs), dtype))

    g, gs = integers(rng, y.shape, dtype)
    by_x, by_w = mo.vjp([y], [xs, ws], [gs])
    assert by_x.dtype == by_w.dtype == dtype
    # The same in float64, in which all is exact.
    xs, ws = mo.array(x.astype(float)), mo.array(w.astype(float))
    y = nn.conv2d(xs, ws, stride=stride, padding=padding)
    expected = mo.vjp([y], [xs, ws], [mo.array(g.astype(float))])
    same(by_x, rounded(expected[0].numpy(), dtype))
    same(by_w, rounded(expected[1].numpy(), dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_of_a_layer(rng, dtype):
    (x, xs), (w, ws) = integers(rng, (70, 130), dtype), integers(rng, (90, 130), dtype)
    g, gs = integers(rng, (70, 90), dtype)
    by_x, by_w = mo.vjp([xs @ ws.T], [xs, ws], [gs])
    same(by_x, rounded(g.astype(float) @ w, dtype))
    same(by_w, rounded(g.T.astype(float) @ x, dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_of_a_layer_beside_float32(rng, dtype):
    """Products by numbers of float32 are cast to the weights' type in the gradient by these."""
    x, w = floats(rng, (70, 130)), integers(rng, (90, 130), dtype)[1]
    g = floats(rng, (70, 90))
    (by_w,) = mo.vjp([mo.array(x) @ w.T], [w], [mo.array(g)])
    exact = g.T.astype(float) @ x
    error = np.abs(by_w.cast("float64").numpy() - exact)
    assert by_w.dtype == dtype
    bits = 11 if dtype == "float16" else 8
    assert (error <= 2.0**-bits * np.abs(exact) + 1e-4).all()


@pytest.mark.parametrize("dtype, bits", [("float16", 11), ("bfloat16", 8)])
def test_errors_are_those_of_one_rounding(rng, dtype, bits):
    a, b = (mo.array(rng.standard_normal((150, 150))).cast(dtype) for _ in range(2))
    exact = a.cast("float64").numpy() @ b.cast("float64").numpy()
    terms = np.abs(a.cast("float64").numpy()) @ np.abs(b.cast("float64").numpy())
    error = np.abs((a @ b).cast("float64").numpy() - exact)
    assert (error <= 2.0**-bits * np.abs(exact) + 1e-6 * terms).all()


# The rule as a user sees it


def cancelling(dtype):
    """Return factors of two products whose sum is zero if the first one is rounded, and the sum."""
    bits = 10 if dtype == "float16" else 7
    one = 1 + 2.0**-bits
    x, w = mo.array([one, -1.0]).cast(dtype), mo.array([one, 1 + 2.0 ** (1 - bits)]).cast(dtype)
    return x, w, 2.0 ** (-2 * bits)


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
@pytest.mark.parametrize("dtype", HALVES)
def test_products_that_only_sums_read_are_not_rounded(dtype, backend):
    with mo.flag_scope(backend=backend):
        x, w, difference = cancelling(dtype)
        assert (x * w).sum().item() == difference
        # So is what takes part in several sums, whoever holds it.
        products = x * w
        both = [products.sum(), products.reindex_reduce("add", (1,), ("i0 / 2",))]
        mo.sync(both)
        assert [value.item() for value in both] == [difference, difference]


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
@pytest.mark.parametrize("dtype", HALVES)
def test_products_that_something_else_reads_are_rounded(dtype, backend):
    with mo.flag_scope(backend=backend):
        x, w, _ = cancelling(dtype)
        # An operator of the same program.
        products = x * w
        total, most = products.sum(), products.max()
        mo.sync([total, most])
        assert total.item() == 0
        # A result of it, and what has been computed before.
        products = x * w
        total = products.sum()
        mo.sync([total, products])
        assert total.item() == 0
        assert products.sum().item() == 0
        with mo.flag_scope(lazy_execution=False):
            assert (x * w).sum().item() == 0


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
@pytest.mark.parametrize("dtype", HALVES)
def test_casts_that_only_sums_read_are_not_rounded(dtype, backend):
    with mo.flag_scope(backend=backend):
        y = mo.array([1.0 + 2.0**-13, -1.0])
        assert y.cast(dtype).sum().item() == 2.0**-13
        # Sums are rounded, whether or not they are kept for gradients.
        x = mo.array([[1.0, 2.0**-13], [-1.0, 0.0]])
        assert x.cast(dtype).sum(1).sum().item() == 0
        with mo.no_grad():
            assert x.cast(dtype).sum(1).sum().item() == 0


def test_products_do_not_overflow_before_they_are_summed():
    x, w = mo.array([512.0, -512.0, 3.0]), mo.array([512.0, 512.0, 5.0])
    x, w = x.cast("float16"), w.cast("float16")
    same((x * w).sum(), np.float16(15))


# Rounding to bfloat16, which is done by integers


def every_bfloat16():
    """Return all numbers of bfloat16, as float32."""
    return (np.arange(1 << 16, dtype="uint32") << 16).view("float32")


def nearest(x):
    """Return numbers of float32 rounded to bfloat16, to nearest even, by way of float64."""
    with np.errstate(all="ignore"):
        x = x.astype(float)
        unit = 2.0 ** (np.clip(np.frexp(x)[1], -125, None) - 8)
        value = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(value) >= 2.0**128, np.copysign(np.inf, value), value).astype(
            "float32"
        )


def test_every_bfloat16_through_exact_operators():
    x = every_bfloat16()
    halves = mo.array(x).cast("bfloat16")
    mo.sync([halves])
    with np.errstate(all="ignore"):
        for name in ["negative", "abs", "floor", "ceil"]:
            same(getattr(mo, name)(halves), getattr(np, name)(x))
        same(mo.maximum(halves, 1.5), np.maximum(x, np.float32(1.5)))
        same(mo.relu(halves), np.where(np.isnan(x), x, np.maximum(x, np.float32(0))))


@pytest.mark.parametrize("other", [1.0, 1.0078125, -0.33203125, 3e38, 1e-38, float("inf")])
def test_every_bfloat16_through_rounding_operators(other):
    x = every_bfloat16()
    halves, y = mo.array(x).cast("bfloat16"), mo.array(np.float32(other)).cast("bfloat16")
    mo.sync([halves, y])
    number = y.numpy()
    with np.errstate(all="ignore"):
        same(halves * y, nearest(x * number))
        same(halves + y, nearest(x + number))
        same(halves - y, nearest(x - number))
        same(
            (halves * y).exp() * 0 + 1, np.exp(nearest(x * number)) * np.float32(0) + np.float32(1)
        )


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "erf"])
def test_nan_stays_nan_in_bfloat16(name):
    x = every_bfloat16()
    halves = mo.array(x).cast("bfloat16")
    mo.sync([halves])
    wide = getattr(mo, name)(mo.array(x)).numpy()
    given = getattr(mo, name)(halves)
    if on_processor(given):
        same(given, nearest(wide))
    else:
        # GPUs compute few digits: next to a tie, another half may come of it.
        given = given.numpy()
        np.testing.assert_allclose(given, nearest(wide), rtol=2.0**-7, atol=2.0**-133)
        assert np.mean(given != nearest(wide), where=~np.isnan(wide)) < 0.01


def test_casts_of_any_float32(rng):
    bits = rng.integers(0, 1 << 32, 200_000, dtype="uint64").astype("uint32")
    # Numbers around ties, and NaNs whose bits are all over.
    bits = np.concatenate([bits, bits | 0x7F800000, (bits & 0xFFFF0000) | 0x8000, bits | 0xFFFF])
    x = bits.view("float32")
    same(mo.array(x).cast("bfloat16"), nearest(x))
