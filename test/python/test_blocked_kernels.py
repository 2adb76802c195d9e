# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions in blocks, with what packs for them and what follows them, beside NumPy."""

from __future__ import annotations

import platform

import metaops as mo
import numpy as np
import pytest

pytestmark = pytest.mark.processor


def make(seed, shape, dtype="f4"):
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return values, mo.array(values)


def stages(y):
    """Return the numbers of stages of the kernels of a value that is not computed yet."""
    return [str(kernel).count("  stage ") for kernel in mo.explain(y).kernels]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(100, 1024, 1100), (75, 2048, 1024), (600, 200, 333)])
def test_products(shape, dtype):
    rows, inner, columns = shape
    left, a = make(1, (rows, inner), dtype)
    right, b = make(2, (inner, columns), dtype)
    tolerance = 1e-3 if dtype == "f4" else 1e-10
    np.testing.assert_allclose((a @ b).numpy(), left @ right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("inner", [200, 1200])
def test_epilogues_are_stages_of_the_product(inner):
    left, a = make(3, (515, inner))
    right, b = make(4, (inner, 1030))
    row, bias = make(5, (1030,))
    other, residual = make(6, (515, 1030))
    expected = np.maximum(left @ right + row, 0) + other
    y = mo.relu(a @ b + bias) + residual
    assert max(stages(y)) >= 2
    assert len(stages(y)) == 1
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("indices", [["0", "i0"], ["i0", "0"], ["7", "i0"]])
def test_one_row_of_a_product_is_no_epilogue(indices):
    left, a = make(20, (512, 200))
    right, b = make(21, (200, 1024))
    place = tuple(slice(None) if index == "i0" else int(index) for index in indices)
    expected = (left @ right)[place]
    y = mo.reindex(a @ b, list(expected.shape), indices)
    np.testing.assert_allclose(mo.tanh(y).numpy(), np.tanh(expected), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size, channels", [(4, 128), (7, 96), (5, 80)])
def test_filters_are_updated_in_the_kernel_of_their_gradient(size, channels):
    data, x = make(22, (4, channels, size, size))
    slope, g = make(23, (4, 128, size, size))
    weight, w = make(24, (128, channels, 3, 3))
    gradient = mo.grad((mo.nn.conv2d(x, w, padding=1) * g).sum(), [w])[0]
    y = w - gradient * 0.01
    assert 2 in stages(y)
    padded = np.pad(data, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = weight - 0.01 * np.einsum("nkij,ncijrs->kcrs", slope, windows)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("inner", [200, 1200])
def test_an_update_keeps_what_it_reads(inner):
    # The memory of the weight is the update's, but not before the sums are complete.
    data, x = make(7, (inner, 384))
    slope, g = make(8, (inner, 512))
    expected, w = make(9, (384, 512))
    for _ in range(3):
        w.update(w - (x.T @ g) * 0.01)
        mo.sync_all()
        expected = expected - (data.T @ slope) * np.float32(0.01)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-3, atol=1e-3)


def softmax(x):
    """Return a softmax along the last axis, in float64."""
    powers = np.exp(x.astype("f8") - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_are_reduced_in_the_kernel_of_the_product(dtype):
    left, a = make(20, (515, 96), dtype)
    right, b = make(21, (96, 330), dtype)
    sums = left.astype("f8") @ right
    tolerance = 1e-4 if dtype == "f4" else 1e-10
    y = mo.softmax(a @ b, -1)
    assert len(stages(y)) == 1
    np.testing.assert_allclose(y.numpy(), softmax(sums), rtol=tolerance, atol=tolerance)
    x = a @ b
    centred = x - x.mean(-1, keepdims=True)
    y = centred / mo.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    assert len(stages(y)) == 1
    expected = sums - sums.mean(-1, keepdims=True)
    expected /= np.sqrt((expected**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_keeps_no_scores(causal):
    query, q = make(22, (6, 131, 24))
    key, k = make(23, (6, 140, 24))
    value, v = make(24, (6, 140, 40))
    scores = query @ key.transpose(0, 2, 1) / np.float32(5)
    scaled = q @ k.transpose(0, 2, 1) / 5.0
    if causal:
        hidden = np.arange(131)[:, None] < np.arange(140)[None]
        scores = np.where(hidden, np.float32(-1e30), scores)
        scaled = mo.where(mo.array(hidden), -1e30, scaled)
    y = mo.softmax(scaled, -1) @ v
    # Keys are transposed; scores and softmax; values are packed or not; the product.
    assert 4 in stages(y)
    assert len(stages(y)) <= 4
    np.testing.assert_allclose(y.numpy(), softmax(scores) @ value, rtol=1e-4, atol=1e-4)


def test_gradients_through_rows_of_a_product():
    left, a = make(25, (300, 64), "f8")
    right, b = make(26, (64, 128), "f8")
    weights, w = make(27, (300, 128), "f8")
    by_b = mo.grad((mo.softmax(a @ b, -1) * w).sum(), [b])[0].numpy()
    y = softmax(left @ right)
    by_sums = y * (weights - (weights * y).sum(-1, keepdims=True))
    np.testing.assert_allclose(by_b, left.T @ by_sums, rtol=1e-9, atol=1e-11)


def test_the_gradient_of_a_bias_leaves_that_of_the_sums_to_the_product():
    left, a = make(30, (512, 200))
    right, b = make(31, (336, 200))
    hidden, h = make(32, (512, 336))
    slope = mo.where(h > 0, a @ b.T, 0.0)
    by_bias = slope.sum(0)
    expected = np.where(hidden > 0, left @ right.T, 0)
    numbers = [str(kernel).count("  stage ") for kernel in mo.explain([slope, by_bias]).kernels]
    assert 2 in numbers
    np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(by_bias.numpy(), expected.sum(0), rtol=1e-3, atol=1e-2)


def test_rows_of_halves():
    left, a = make(28, (515, 96), "f2")
    right, b = make(29, (96, 330), "f2")
    expected = softmax(left.astype("f8") @ right.astype("f8"))
    np.testing.assert_allclose(mo.softmax(a @ b, -1).numpy(), expected, rtol=0.05, atol=1e-3)


def convolve(x, w, stride, padding):
    """Return a convolution, and its gradients by x and w for ones, in float64."""
    x, w = x.astype("f8"), w.astype("f8")
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    size = (padded.shape[2] - w.shape[2]) // stride + 1
    y, by_padded, by_w = 0, np.zeros_like(padded), np.zeros_like(w)
    for r in range(w.shape[2]):
        for s in range(w.shape[3]):
            part = np.s_[:, :, r : r + stride * size : stride, s : s + stride * size : stride]
            part = part[:2] + tuple(
                slice(p.start, min(p.stop, padded.shape[2]), p.step) for p in part[2:]
            )
            y = y + np.einsum("ncij,kc->nkij", padded[part], w[:, :, r, s])
            by_padded[part] += w[:, :, r, s].sum(0)[None, :, None, None]
            by_w[:, :, r, s] = padded[part].sum((0, 2, 3))[None]
    end = by_padded.shape[2] - padding
    return y, by_padded[:, :, padding:end, padding:end], by_w


@pytest.mark.parametrize("kernel, padding", [(3, 1), (1, 0)])
@pytest.mark.parametrize("size", [28, 15])
def test_convolutions_of_stride_2(size, kernel, padding):
    images, x = make(10, (3, 40, size, size))
    weights, w = make(11, (48, 40, kernel, kernel))
    conv = mo.nn.Conv2d(40, 48, kernel, stride=2, padding=padding, bias=False)
    conv.weight.assign(w)
    y = conv(x)
    by_x, by_w = mo.grad(y.sum(), [x, conv.weight])
    results = zip((y, by_x, by_w), convolve(images, weights, 2, padding), strict=True)
    for result, expected in results:
        np.testing.assert_allclose(result.numpy(), expected, rtol=2e-3, atol=2e-3)


def test_denormals_count_as_zero_where_products_are_summed():
    """Only there: other kernels, and the thread that has run this one, keep them."""
    tiny, a = np.full((200, 192), 1e-40, "f4"), mo.array(np.full((200, 192), 1e-40, "f4"))
    _, b = make(12, (192, 256))
    sums = (a @ b).numpy()
    exact = tiny.astype("f8") @ b.numpy().astype("f8")
    if platform.machine() == "x86_64":
        np.testing.assert_array_equal(sums, 0)
    assert np.abs(sums - exact).max() < 192 * 2**-126
    np.testing.assert_array_equal((a * 1.5).numpy(), tiny * np.float32(1.5))
    assert tiny[0, 0] * np.float32(1.5) > 0
