# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts and what is made of them, beside NumPy's."""

import inspect
import math

import metaops as mo
import numpy as np
import pytest
from metaops.ops.sort.quantiles import METHODS
from util import check_gradient, close, floats, same

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64", "bool"]
SHAPES = [(0,), (1,), (100,), (129,), (5000,), (3, 200), (300, 4), (2, 150, 3), (2, 0)]


def values(rng, shape, dtype):
    """Return numbers of which some are equal, with what is special of the type."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        few = rng.integers(0, 50, shape).astype(dtype)
        return np.where(rng.random(shape) < 0.5, x, few)
    x = np.round(rng.normal(0, 3, shape), 1).astype(dtype)
    for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
        x = np.where(rng.random(shape) < 0.05, np.array(special, dtype), x)
    return x


def descending(x, axis):
    """Return where elements in falling order are, the first of equal ones first."""
    back = np.flip(x, axis)
    order = x.shape[axis] - 1 - np.argsort(back, axis, kind="stable")
    return np.flip(order, axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sort(rng, dtype, shape):
    x = values(rng, shape, dtype)
    for axis in range(len(shape)):
        same(mo.argsort(x, axis), np.argsort(x, axis, kind="stable"))
        same(mo.sort(x, axis), np.sort(x, axis))
        same(mo.argsort(x, axis, descending=True), descending(x, axis))
        expected = np.take_along_axis(x, descending(x, axis), axis)
        same(mo.sort(x, axis, descending=True), expected)


def test_bfloat16(rng):
    x = mo.array(values(rng, (500,), "float32")).cast("bfloat16")
    wide = x.cast("float32").numpy()
    same(mo.sort(x).cast("float32"), np.sort(wide))
    same(mo.argsort(x), np.argsort(wide, kind="stable"))


def test_zeros_keep_their_signs():
    x = np.array([0.0, -0.0, 1.0, -0.0, -1.0], "float32")
    signs = np.signbit(mo.sort(x).numpy()[1:4])
    assert sorted(signs) == [False, True, True]


def test_sort_is_differentiable(rng):
    x = rng.permutation(np.arange(12.0)).reshape(3, 4)
    for f in (mo.sort, lambda x: mo.sort(x, 0, True), lambda x: mo.topk(x, 2)[0]):
        check_gradient(lambda x, f=f: f(x) ** 2, x)
    check_gradient(lambda x: mo.median(x, 1) ** 2, x)
    check_gradient(lambda x: mo.quantile(x, [0.2, 0.7], 0) ** 2, x)


def test_topk_and_kthvalue(rng):
    x = values(rng, (3, 200, 2), "float32")
    for k in (0, 1, 7, 200):
        top, places = mo.topk(x, k, 1)
        same(places, descending(x, 1)[:, :k])
        same(top, np.take_along_axis(x, descending(x, 1)[:, :k], 1))
        low = mo.topk(x, k, 1, largest=False)
        same(low.indices, np.argsort(x, 1, kind="stable")[:, :k])
    value, place = mo.kthvalue(x, 5, 1)
    same(place, np.argsort(x, 1, kind="stable")[:, 4])
    same(value, np.sort(x, 1)[:, 4])
    assert mo.kthvalue(x, 5, 1, keepdims=True)[0].shape == (3, 1, 2)
    with pytest.raises(ValueError, match="k is 201, expected at most 200"):
        mo.topk(x, 201, 1)
    with pytest.raises(ValueError, match="k is 0, expected 1 to 200"):
        mo.kthvalue(x, 0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_quantile(rng, method):
    x = floats(rng, (3, 21, 4), "float64")
    shares = np.array([[0.0, 0.13, 0.5], [0.9, 0.95, 1.0]])
    for axis in (None, 1, -1, (0, 2), (0, 1, 2)):
        for keepdims in (False, True):
            expected = np.quantile(x, shares, axis, method=method, keepdims=keepdims)
            close(mo.quantile(x, shares, axis, keepdims, method), expected, 1e-12, 1e-12)
    expected = np.quantile(x, 0.3, 1, method=method)
    close(mo.quantile(x, 0.3, 1, method=method), expected, 1e-12, 1e-12)


#: Methods whose results are elements.
DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 10])
def test_quantile_at_and_between_elements(method, count):
    """Places are rounded as NumPy's; those before the first and behind the last are these."""
    rtol = 0 if method in DISCRETE else 1e-14
    x = np.arange(count, 0, -1.0) ** 2
    shares = np.concatenate([np.linspace(0, 1, 4 * count + 1), np.linspace(0, 1, 21)])
    expected = np.quantile(x, shares, method=method)
    close(mo.quantile(x, shares, method=method), expected, rtol, 0)
    close(mo.quantile(x, mo.array(shares), method=method), expected, rtol, 0)
    with_nan = np.concatenate([x, [np.nan, np.nan]])
    expected = np.nanquantile(with_nan, shares, method=method)
    close(mo.nanquantile(with_nan, shares, method=method), expected, rtol, 0)
    for share in shares[::3]:
        expected = np.quantile(x, share, method=method)
        close(mo.quantile(x, float(share), method=method), expected, rtol, 0)
        expected = np.percentile(x, share * 100, method=method)
        close(mo.percentile(x, share * 100, method=method), expected, rtol, 0)


def test_there_are_numpys_methods():
    names = inspect.getdoc(np.quantile)
    assert len(METHODS) == 13
    for method in METHODS:
        assert method in names
        for share in (0.0, 1.0):
            of_equal = mo.quantile(np.array([-np.inf, np.inf, np.inf]), share, method=method)
            assert of_equal.item() == (np.inf if share else -np.inf)
            assert np.isnan(mo.quantile([np.nan, 1.0, 2.0], share, method=method).item())


@pytest.mark.parametrize("method", METHODS)
def test_gradients_of_quantiles(rng, method):
    x = rng.permutation(np.arange(16.0)).reshape(2, 8)
    check_gradient(lambda x: mo.quantile(x, 0.3, 1, method=method) ** 2, x)
    check_gradient(lambda x: mo.nanquantile(x, [0.2, 0.7], 1, method=method) ** 2, x)


def test_median_and_percentile(rng):
    for shape in [(7,), (8,), (3, 6), ()]:
        x = floats(rng, shape, "float64")
        close(mo.median(x), np.median(x), 1e-12)
        close(mo.percentile(x, [10, 80]), np.percentile(x, [10, 80]), 1e-12)
    x[...] = np.nan
    assert np.isnan(mo.median(x).item())
    rows = np.array([[1.0, np.nan, 2.0], [1.0, np.inf, np.inf]])
    close(mo.median(rows, 1), np.median(rows, 1))
    assert mo.median(np.arange(4)).dtype == "float32"
    assert np.isnan(mo.median(mo.ones((0,))).item())
    with pytest.raises(ValueError, match="method is 'best'"):
        mo.quantile(x, 0.5, method="best")
    with pytest.raises(ValueError, match="nanquantile: method is 'best'"):
        mo.nanquantile(x, 0.5, method="best")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_searchsorted(rng, dtype):
    for extent in (0, 1, 2, 3, 5, 6, 7, 64, 1000):
        ordered = np.sort(values(rng, (extent,), dtype))
        searched = np.concatenate([values(rng, (50,), dtype), ordered])
        same(mo.searchsorted(ordered, searched), np.searchsorted(ordered, searched))
        right = np.searchsorted(ordered, searched, "right")
        same(mo.searchsorted(ordered, searched, side="right"), right)
        if dtype.startswith("float") and extent > 2:
            # NaN comes last.
            ordered[extent // 2 :], searched[::3] = np.nan, np.nan
            for side in ("left", "right"):
                expected = np.searchsorted(ordered, searched, side)
                same(mo.searchsorted(ordered, searched, side=side), expected)
    assert mo.searchsorted(np.arange(5), 2.5).item() == 3
    with pytest.raises(ValueError, match="expected a vector"):
        mo.searchsorted(mo.ones((2, 2)), 1.0)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
def test_unique(rng, dtype):
    for shape in [(0,), (1,), (300,), (20, 30), ()]:
        x = values(rng, shape, dtype)
        if x.size:
            everything = np.unique(x, True, True, True)
        else:
            none = np.zeros(0, "int64")
            everything = x.ravel(), none, none, none
        given = mo.unique(x, True, True, True)
        same(given[0], everything[0])
        same(given[1], everything[1].astype("int64"))
        same(given[2], everything[2].reshape(x.shape).astype("int64"))
        same(given[3], everything[3].astype("int64"))
        same(mo.unique_values(x), np.unique(x, equal_nan=False))


def test_unique_of_a_given_size():
    x = mo.array([3, 1, 3, 2])
    result = mo.unique_all(x, size=5)
    assert result.values.tolist() == [1, 2, 3, 1, 1]
    assert result.counts.tolist() == [1, 1, 2, 0, 0]
    assert result.inverse_indices.tolist() == [2, 0, 2, 1]
    assert mo.unique(x, size=2).tolist() == [1, 2]


def test_nonzero(rng):
    for shape in [(0,), (7,), (3, 5), (2, 3, 4)]:
        x = rng.integers(0, 2, shape)
        for ours, theirs in zip(mo.nonzero(x), np.nonzero(x), strict=True):
            same(ours, theirs)
        same(mo.argwhere(x), np.argwhere(x))
        same(mo.flatnonzero(x > 0), np.flatnonzero(x))
    padded = mo.nonzero(np.array([[0, 1], [1, 0]]), size=3, fill_value=7)
    assert [index.tolist() for index in padded] == [[0, 1, 7], [1, 0, 7]]
    with pytest.raises(ValueError, match="x is 0-d"):
        mo.nonzero(mo.array(1.0))


def test_isin(rng):
    x, test = rng.integers(0, 50, (20, 5)), rng.integers(0, 50, 30)
    same(mo.isin(x, test), np.isin(x, test))
    same(mo.isin(x, test, invert=True), np.isin(x, test, invert=True))
    same(mo.isin(x, np.zeros(0, "int64")), np.zeros(x.shape, bool))
    numbers = np.array([1.0, np.nan, 2.0])
    same(mo.isin(numbers, np.array([np.nan, 2.0])), np.array([False, False, True]))


def test_the_shape_of_a_size_is_known(rng):
    """What has a given size computes nothing before it is asked for."""
    x = mo.array(rng.integers(0, 9, 100))
    runs = mo.stats()["programs_run"]
    mo.unique_all(x, size=4)
    mo.nonzero(x, size=4)
    assert mo.stats()["programs_run"] == runs
    assert math.isfinite(runs)
