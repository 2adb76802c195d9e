# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import math
import warnings

import metaops as mo
import numpy as np
import pytest
from util import SHAPES, close, floats, same


def axes_of(rank):
    yield None
    for count in range(1, rank + 1):
        yield from itertools.combinations(range(rank), count)


FLOAT_OPS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean}


@pytest.mark.parametrize("op", FLOAT_OPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats(rng, op, shape):
    x = floats(rng, shape, low=0.5, high=1.5)
    for axes, keepdims in itertools.product(axes_of(len(shape)), [False, True]):
        y = getattr(mo, op)(x, axes, keepdims)
        if op in ("max", "min"):
            initial = -np.inf if op == "max" else np.inf
            expected = FLOAT_OPS[op](x, axis=axes, keepdims=keepdims, initial=initial)
            close(y, expected, rtol=0, atol=0)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = FLOAT_OPS[op](x.astype("float64"), axis=axes, keepdims=keepdims)
            close(y, expected, rtol=1e-5)


def test_spellings_of_the_dimensions(rng):
    x = floats(rng, (2, 3, 4))
    v = mo.array(x)
    for y in [
        v.sum(1),
        v.sum(-2),
        v.sum([1]),
        v.sum(dim=1),
        v.sum(dims=[1]),
        v.sum(axis=(1,)),
        mo.sum(v, 1),
        mo.sum(v, dims=[-2]),
        mo.sum(v, axis=1),
        mo.sum(x, dim=1),
    ]:
        close(y, x.sum(1))
    close(mo.mean(v, dims=[0, 2], keepdims=True), x.mean((0, 2), keepdims=True))
    same(v.sum(()), x)


def test_integers_and_booleans(rng):
    x = rng.integers(-9, 9, (4, 5)).astype("int32")
    v = mo.array(x)
    same(v.max(0), x.max(0))
    same(v.min(), x.min())
    same(v.sum(1), x.sum(1))
    same(v.prod(1), x.prod(1))
    close(v.mean(0), x.mean(0))
    b = rng.random((4, 5)) < 0.7
    same(mo.array(b).all(0), b.all(0))
    same(mo.array(b).any(1), b.any(1))
    same(mo.all(v), x.all())
    same(mo.any(v, 0), x.any(0))
    same(mo.array(b).sum(), b.sum())
    same(mo.all(np.zeros((0, 2), "bool"), 0), np.array([True, True]))
    same(mo.any(np.zeros((0, 2), "bool"), 0), np.array([False, False]))


def test_nan_and_infinity_stay(rng):
    x = floats(rng, (3, 40))
    x[0, 5], x[1, 7], x[2, 9] = np.nan, np.inf, -np.inf
    for op in ["sum", "max", "min", "mean"]:
        close(getattr(mo, op)(x, 1), getattr(np, op)(x, 1), rtol=1e-5)
    x[1, 8] = -np.inf
    assert np.isnan(mo.sum(x, 1).numpy()[1])


def test_long_sums_are_accurate(compiled):
    """A naive f32 sum of 2**25 ones stops at 2**24."""
    n = 1 << 25
    assert mo.ones((n,)).sum().item() == n
    assert mo.ones((463_000,)).mean().item() == 1.0
    tenth = mo.full((1 << 20,), 0.1).sum().item()
    assert abs(tenth / (np.float64(np.float32(0.1)) * (1 << 20)) - 1) < 1e-6


def test_half_precision_accumulates_in_single():
    assert mo.ones((4096,), "float16").sum().cast("float32").item() == 4096
    assert mo.ones((1000,), "bfloat16").sum().cast("float32").item() == 1000
    assert mo.ones((4, 3000), "float16").mean(1).cast("float32").numpy().tolist() == [1] * 4


def test_variance_and_deviation(rng):
    x = floats(rng, (3, 8, 5)) + 1000
    x64 = x.astype("float64")
    for axes in [None, 1, (0, 2)]:
        for correction in [0, 1]:
            expected = x64.var(axis=axes, ddof=correction)
            close(mo.var(x, axes, correction=correction), expected, rtol=1e-4)
            close(mo.array(x).std(axes, correction=correction), np.sqrt(expected), rtol=1e-4)
    close(mo.array(x).var(1, True), x64.var(1, keepdims=True), rtol=1e-4)


def test_norms(rng):
    x = floats(rng, (4, 6))
    for order in [1, 2, 3, math.inf, -math.inf]:
        close(mo.norm(x, order, 1), np.linalg.norm(x, order, axis=1), rtol=1e-5)
    close(mo.norm(x), np.linalg.norm(x), rtol=1e-5)
    close(mo.array(x).norm(dim=0, keepdims=True), np.linalg.norm(x, axis=0, keepdims=True), 1e-5)
    close(mo.norm(x, 2, np.int64(1)), np.linalg.norm(x, axis=1), rtol=1e-5)
    with pytest.raises(TypeError, match="a dimension is a float, expected an integer"):
        mo.norm(x, 2, 1.0)
    with pytest.raises(ValueError, match="order is -1"):
        mo.norm(x, -1)


def test_logsumexp(rng):
    x = floats(rng, (3, 5), low=-3, high=3)
    expected = np.log(np.exp(x.astype("float64")).sum(1))
    close(mo.logsumexp(x, 1), expected)
    close(mo.logsumexp(x + np.float32(1000), 1), expected + 1000)
    close(mo.logsumexp(x, 1, True), expected[:, None])
    close(mo.logsumexp(x), np.log(np.exp(x.astype("float64")).sum()))
    assert mo.logsumexp(np.full(3, -np.inf, "float32")).item() == -np.inf
    assert mo.logsumexp(np.array([0, np.inf], "float32")).item() == np.inf


@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((0, 4), (4, 5)),
        ((3, 0), (0, 5)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 5)),
        ((33, 70), (70, 49)),
    ],
    ids=str,
)
def test_matmul(rng, a, b):
    x, y = floats(rng, a), floats(rng, b)
    expected = np.matmul(x.astype("float64"), y.astype("float64"))
    close(mo.matmul(x, y), expected, rtol=1e-5, atol=1e-5)
    close(mo.array(x) @ mo.array(y), expected, rtol=1e-5, atol=1e-5)
    close(mo.array(x) @ y, expected, rtol=1e-5, atol=1e-5)


def test_matmul_of_integers(rng):
    x, y = rng.integers(-9, 9, (3, 4)).astype("int32"), rng.integers(-9, 9, (4, 2)).astype("int32")
    same(mo.matmul(x, y), x @ y)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, None])
def test_places_of_extremes(rng, name, dim):
    numpy = getattr(np, name)
    for dtype in ["float32", "float64", "float16", "int8", "uint16", "int64", "bool"]:
        # Few values, so that many are equal.
        x = rng.integers(0, 4, (5, 19, 7)).astype(dtype)
        same(getattr(mo, name)(x, dim), numpy(x, dim))
        same(getattr(mo.array(x), name)(dim, keepdims=True), numpy(x, dim, keepdims=True))
    x = floats(rng, (6, 9, 33))
    x[rng.random(x.shape) < 0.02] = np.nan
    x[rng.random(x.shape) < 0.05] = -np.inf
    x[0, 0, :] = np.inf if name == "argmin" else -np.inf
    same(getattr(mo, name)(x, dim), numpy(x, dim))


def test_places_of_extremes_of_odd_shapes():
    same(mo.argmax(np.float32(3)), np.int64(0))
    same(mo.argmax(np.zeros((0, 3), "float32"), 1), np.zeros(0, "int64"))
    with pytest.raises(ValueError, match="has no elements"):
        mo.argmax(np.zeros((0, 3), "float32"), 0)
    with pytest.raises(ValueError, match="dimension 2"):
        mo.argmin(np.zeros((2, 3), "float32"), 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_halves_along_different_axes(rng, dtype):
    """Neither accumulates in memory, where each step would be rounded to a half."""
    x = mo.array(rng.random((64, 300, 300), "float32"), dtype)
    exact = x.numpy().astype("float64")
    sums = [x.sum(1), x.sum(2), x.sum((0, 1))]
    mo.sync(sums)
    expected = [exact.sum(1), exact.sum(2), exact.sum((0, 1))]
    one_rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    for result, want in zip(sums, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), want, rtol=1.1 * one_rounding)
