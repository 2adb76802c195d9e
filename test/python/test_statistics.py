# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of reductions, statistics, differences and filters against NumPy's."""

import math
import warnings

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

AXES = [None, 1, (0, 2), -1]


def quiet(f, *args, **kwargs):
    """Call NumPy, which warns of means over nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args, **kwargs)


@pytest.fixture
def data(rng):
    """Numbers, and a mask that leaves some rows empty."""
    x = floats(rng, (4, 3, 5), "float64", 0.5, 2)
    mask = rng.random((4, 3, 5)) < 0.6
    mask[1] = False
    return x, mask


# Options of reductions.


@pytest.mark.parametrize("dim", [None, 1, (0, 2)], ids=str)
def test_where(data, dim):
    x, mask = data
    for where, keepdims in [(mask, False), (mask[:, :1], True), (mask[0, 0], False)]:
        options = {"axis": dim, "keepdims": keepdims, "where": where}
        for name in ["sum", "prod", "mean", "all", "any", "var", "std"]:
            expected = quiet(getattr(np, name), x, **options)
            close(getattr(mo, name)(x, dim, keepdims, where=where), expected, rtol=1e-12)
        expected = np.max(x, initial=-np.inf, **options)
        close(mo.max(x, dim, keepdims, where=where), expected)
        expected = np.min(x, initial=np.inf, **options)
        close(mo.min(x, dim, keepdims, where=where), expected)
    close(mo.sum(x, dim, where=True), x.sum(dim), rtol=1e-12)
    expected = quiet(np.var, x, axis=dim, where=mask, ddof=1)
    actual = mo.var(x, dim, where=mask, correction=1).numpy()
    np.testing.assert_allclose(actual[np.isfinite(expected)], expected[np.isfinite(expected)])


def test_initial(data):
    x, _ = data
    for name in ["sum", "prod", "max", "min"]:
        for initial in [-3.0, 1.25, 10.0]:
            expected = getattr(np, name)(x, axis=1, initial=initial)
            close(getattr(mo, name)(x, 1, initial=initial), expected, rtol=1e-12)
    close(mo.max(np.zeros((0, 2)), 0, initial=3), [3, 3])
    n = np.array([[2**53 + 1, 5], [1, -7]])
    same(mo.sum(n, 0, initial=1), n.sum(0) + 1)
    same(mo.max(n, 1, initial=6), n.max(1, initial=6))


def test_dtype(rng):
    n = rng.integers(0, 100, (3, 50)).astype("int8")
    for dtype in ["int8", "uint8", "int32", "int64", "float32", "float64"]:
        same(mo.sum(n, 1, dtype=dtype), n.sum(1, dtype=dtype))
        same(mo.prod(n[:, :3], 1, dtype=dtype), n[:, :3].prod(1, dtype=dtype))
    half = np.full(4096, 0.1, "float16")
    assert mo.sum(half, dtype="float32").item() == pytest.approx(half.sum(dtype="float64"), 1e-6)
    assert mo.mean(n, dtype="float64").item() == n.mean()
    assert mo.mean(half, dtype="float64").dtype == "float64"


def test_masks_of_integers_and_booleans(rng):
    n = rng.integers(-100, 100, (4, 6))
    mask = rng.random((4, 6)) < 0.5
    for dtype in ["int8", "int64"]:
        x = n.astype(dtype)
        limits = np.iinfo(dtype)
        same(mo.max(x, 0, where=mask), x.max(0, where=mask, initial=limits.min))
        same(mo.min(x, 0, where=mask), x.min(0, where=mask, initial=limits.max))
        same(mo.sum(x, 0, where=mask), x.sum(0, where=mask))
    u = n.astype("uint64")
    same(mo.min(u, 0, where=mask), u.min(0, where=mask, initial=2**64 - 1))
    half = n.astype("float16")
    expected = quiet(np.mean, n, axis=1, where=mask).astype("float16")
    same(mo.mean(half, 1, where=mask), expected)
    with pytest.raises(TypeError, match="where is of int64, expected bool"):
        mo.sum(n, where=n)
    with pytest.raises(ValueError, match=r"where has shape \(5,\), which does not broadcast"):
        mo.sum(n, where=np.ones(5, bool))
    with pytest.raises(ValueError, match="which does not broadcast"):
        mo.sum(n, where=np.ones((2, 4, 6), bool))


def test_gradients_of_masked_reductions(rng):
    x, mask = floats(rng, (3, 4), "float64"), rng.random((3, 4)) < 0.7
    mask[:, 0] = True
    for f in [mo.sum, mo.mean, mo.var, mo.std, mo.prod, mo.max]:
        check_gradient(lambda x, f=f: f(x, 1, where=mo.array(mask)) ** 2, x, rtol=1e-4, atol=1e-5)


# Elements that are not NaN


@pytest.mark.parametrize("dim, keepdims", [(None, True), (1, False), ((0, 2), True)], ids=str)
def test_without_nan(data, dim, keepdims):
    x, mask = data
    x = np.where(mask, x, np.nan)
    for name in ["nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd"]:
        expected = quiet(getattr(np, name), x, axis=dim, keepdims=keepdims)
        close(getattr(mo, name)(x, dim, keepdims), expected, rtol=1e-12)
    n = np.arange(24).reshape(2, 3, 4)
    for name in ["nansum", "nanprod", "nanmax", "nanmin"]:
        same(getattr(mo, name)(n, dim), getattr(np, name)(n, axis=dim))
    close(mo.nanmean(n, dim), n.mean(dim))
    half = mo.nanvar(x.astype("float16"), dim)
    assert half.dtype == "float16"


def test_gradients_without_nan(rng):
    x = floats(rng, (3, 4), "float64")
    nan = np.zeros((3, 4))
    nan[[0, 1, 2], [1, 3, 0]] = np.nan
    for f in [mo.nansum, mo.nanmean, mo.nanvar, mo.nanstd, mo.nanmax]:
        check_gradient(lambda x, f=f: f(x + mo.array(nan), 1) ** 2, x, rtol=1e-4, atol=1e-5)


def test_counts_and_ranges(rng):
    n = rng.integers(-2, 3, (4, 5, 6))
    for dim in AXES:
        same(mo.count_nonzero(n, dim), np.asarray(np.count_nonzero(n, axis=dim)))
        same(mo.ptp(n, dim), np.ptp(n, axis=dim))
    same(mo.count_nonzero(n > 0, 1, True), np.count_nonzero(n > 0, axis=1, keepdims=True))


# Weights.


@pytest.mark.parametrize("dim", AXES, ids=str)
def test_average(data, dim, rng):
    x, _ = data
    weights = floats(rng, x.shape, "float64", 0.1, 1)
    for keepdims in [False, True]:
        options = {"axis": dim, "keepdims": keepdims, "returned": True}
        for given in [None, weights]:
            actual = mo.average(x, dim, given, True, keepdims)
            expected = np.average(x, weights=given, **options)
            for a, e in zip(actual, expected, strict=True):
                close(a, e, rtol=1e-12)
    if isinstance(dim, int):
        row = floats(rng, (x.shape[dim],), "float64", 0.1, 1)
        close(mo.average(x, dim, row), np.average(x, dim, row), rtol=1e-12)


def test_average_of_other_forms(rng):
    n = rng.integers(0, 9, (3, 4))
    close(mo.average(n, weights=n + 1), np.average(n, weights=n + 1))
    assert math.isnan(mo.average(np.ones(2), weights=np.zeros(2)).item())
    weights = floats(rng, (3, 4), "float64", 0.1, 1)
    x = floats(rng, (3, 4, 2), "float64")
    expected = (x * weights[..., None]).sum((0, 1)) / weights.sum()
    close(mo.average(x, (0, 1), weights), expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"weights have shape \(2,\), expected \(3, 4\)"):
        mo.average(n, 0, np.ones(2))


@pytest.mark.parametrize("rowvar", [True, False])
def test_covariances(rng, rowvar):
    x, y = floats(rng, (3, 3), "float64"), floats(rng, (3, 3), "float64")
    repeats, weights = np.array([1, 3, 2]), np.array([0.3, 0.5, 0.9])
    for other in [None, y]:
        close(mo.corrcoef(x, other, rowvar), np.corrcoef(x, other, rowvar), rtol=1e-10)
        for options in [
            {},
            {"bias": True},
            {"ddof": 0},
            {"fweights": repeats},
            {"aweights": weights},
            {"fweights": repeats, "aweights": weights, "ddof": 2},
            {"aweights": weights, "bias": True},
        ]:
            actual = mo.cov(x, other, rowvar, **options)
            close(actual, np.cov(x, other, rowvar, **options), rtol=1e-10)


def test_covariances_of_one_variable(rng):
    x = floats(rng, (7,), "float64")
    close(mo.cov(x), np.cov(x), rtol=1e-12)
    close(mo.corrcoef(x), np.corrcoef(x), rtol=1e-12)
    close(mo.cov(x, x[::-1]), np.cov(x, x[::-1]), rtol=1e-12)
    wide = floats(rng, (2, 50)) + np.float32(1000)
    close(mo.cov(wide), np.cov(wide.astype("float64")), rtol=1e-4)
    check_gradient(lambda x: mo.cov(x) ** 2, floats(rng, (2, 4), "float64"), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="expected at most 2 dimensions"):
        mo.cov(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match=r"fweights has shape \(2,\), expected \(7,\)"):
        mo.cov(x, fweights=[1, 2])


# Logarithms of sums.


def test_logarithms_of_sums(rng):
    x, weights = floats(rng, (3, 5), "float64"), floats(rng, (3, 5), "float64", 0, 1)
    expected = np.log((weights * np.exp(x)).sum(1))
    close(mo.logsumexp(x, 1, weights=weights), expected, rtol=1e-12)
    close(mo.logsumexp(x + 1000, 1, weights=weights), expected + 1000, rtol=1e-12)
    large = np.array([1.0, 5000.0])
    close(mo.logsumexp(large, weights=[2, 0]), 1 + math.log(2), rtol=1e-7)
    y = floats(rng, (3, 5), "float64") * 10
    close(mo.logaddexp(x, y), np.logaddexp(x, y), rtol=1e-12, atol=1e-12)
    edges = np.array([-np.inf, np.inf, np.nan, 1000.0, -1000.0])
    close(mo.logaddexp(edges, edges[::-1]), quiet(np.logaddexp, edges, edges[::-1]))
    close(mo.logaddexp(edges, edges), quiet(np.logaddexp, edges, edges))
    close(mo.logaddexp(x, 0.1), np.logaddexp(x, 0.1), rtol=1e-12, atol=1e-12)
    check_gradient(mo.logaddexp, x, y, rtol=1e-5, atol=1e-6)
    check_gradient(lambda x, w: mo.logsumexp(x, 1, weights=w), x, weights, rtol=1e-5, atol=1e-6)


# Comparisons.


def test_closeness():
    x = np.array([1.0, 1 + 1e-6, np.nan, np.inf, np.inf, 0.0, 1e-9])
    y = np.array([1.0, 1.0, np.nan, np.inf, -np.inf, 1e-9, 1.0])
    for options in [{}, {"rtol": 1e-7}, {"atol": 1.0}, {"equal_nan": True}]:
        same(mo.isclose(x, y, **options), np.isclose(x, y, **options))
        same(mo.isclose(y, x, **options), np.isclose(y, x, **options))
        same(mo.allclose(x, y, **options), np.bool_(np.allclose(x, y, **options)))
        same(mo.allclose(x[:2], y[:2], **options), np.bool_(np.allclose(x[:2], y[:2], **options)))
    same(mo.isclose(np.array([0.1, 0.2]), 0.1, rtol=1e-12), np.array([True, False]))
    large = np.array([2**60, 2**60 + 1])
    swapped = large[::-1].copy()
    same(mo.isclose(large, swapped, rtol=0, atol=0.5), np.isclose(large, swapped, 0, 0.5))
    half = np.array([1000, 1001], "float16")
    same(mo.isclose(half, half[::-1].copy()), np.array([False, False]))
    for a, b in [(x, x), (x[:2], x[:2]), (x, x[:2]), (large, large), (large, large + 1)]:
        for equal_nan in [False, True]:
            same(mo.array_equal(a, b, equal_nan), np.bool_(np.array_equal(a, b, equal_nan)))
    assert mo.allclose(np.zeros(0), np.zeros(0)).item()


# Differences.


def test_diff(rng):
    x = rng.integers(-9, 9, (4, 5))
    for values in [x, x.astype("float64"), x.astype("uint8"), x > 0]:
        for n in [0, 1, 2, 5]:
            for dim in [0, 1, -1]:
                same(mo.diff(values, n, dim), np.diff(values, n, dim))
    f = x.astype("float64")
    same(mo.diff(f, prepend=0.1), np.diff(f, prepend=0.1))
    same(mo.diff(x, dim=0, append=x[:2]), np.diff(x, axis=0, append=x[:2]))
    same(mo.diff(x, 2, prepend=1, append=2), np.diff(x, 2, prepend=1, append=2))
    same(mo.ediff1d(x), np.ediff1d(x))
    same(mo.ediff1d(f, [1.0, 2.0], 0.1), np.ediff1d(f, [1.0, 2.0], 0.1))
    with pytest.raises(ValueError, match="diff: n is -1, expected 0 or more"):
        mo.diff(x, -1)
    y = mo.array(f)
    z = mo.diff(y, 0)
    z += 1
    same(y, f)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(rng, edge_order):
    x = floats(rng, (4, 5), "float64")
    places = [np.cumsum(rng.random(n) + 0.1) for n in x.shape]
    for spacing in [(), (0.1,), (0.1, 2), (places[0], 0.3), tuple(places)]:
        actual = mo.gradient(x, *spacing, edge_order=edge_order)
        expected = np.gradient(x, *spacing, edge_order=edge_order)
        assert len(actual) == 2
        for a, e in zip(actual, expected, strict=True):
            close(a, e, rtol=1e-10)
    actual = mo.gradient(x, places[1], dim=1, edge_order=edge_order)
    close(actual, np.gradient(x, places[1], axis=1, edge_order=edge_order), rtol=1e-10)
    close(mo.gradient(x[0], edge_order=edge_order), np.gradient(x[0], edge_order=edge_order))
    close(mo.gradient(x[:3, :3], dim=(1, 0))[0], np.gradient(x[:3, :3], axis=1), rtol=1e-12)
    with pytest.raises(ValueError, match="too few samples"):
        mo.gradient(x[:edge_order], edge_order=edge_order)
    with pytest.raises(ValueError, match="given 3 spacings for 2 dimensions"):
        mo.gradient(x, 1, 2, 3)
    with pytest.raises(ValueError, match="edge_order is 3, expected 1 or 2"):
        mo.gradient(x, edge_order=3)
    with pytest.raises(ValueError, match=r"a spacing has shape \(3,\), expected a number or the 4"):
        mo.gradient(x, np.ones(3), 1)


def test_trapezoid(rng):
    y, x = floats(rng, (4, 5), "float64"), np.cumsum(rng.random((4, 5)) + 0.1, 1)
    trapezoid = getattr(np, "trapezoid", None) or np.trapz
    for dim in [0, 1]:
        close(mo.trapezoid(y, dim=dim, dx=0.1), trapezoid(y, axis=dim, dx=0.1), rtol=1e-12)
        close(mo.trapezoid(y, x, dim=dim), trapezoid(y, x, axis=dim), rtol=1e-12)
    close(mo.trapezoid(y, x[0]), trapezoid(y, x[0]), rtol=1e-12)
    with pytest.raises(ValueError, match="does not fit y's"):
        mo.trapezoid(y, x[0, :3])


def test_interp(rng):
    points, values = np.sort(rng.random(9)) * 4, floats(rng, (9,), "float64")
    x = np.concatenate([rng.random(50) * 6 - 1, points, [np.nan, np.inf, -np.inf]]).reshape(2, 31)
    close(mo.interp(x, points, values), np.interp(x, points, values), rtol=1e-12)
    expected = np.interp(x, points, values, -5.1, 7.3)
    close(mo.interp(x, points, values, -5.1, 7.3), expected, rtol=1e-12)
    close(mo.interp(0.1, points[:1], values[:1]), np.interp(0.1, points[:1], values[:1]))
    assert mo.interp(0.1, [0.0, 1.0], np.array([0.0, 1.0])).item() == 0.1
    close(
        mo.interp(x[0, :5].astype("float32"), [0, 2, 4], [1, 0, 8]),
        np.interp(x[0, :5].astype("float32"), [0, 2, 4], [1, 0, 8]),
    )
    check_gradient(
        lambda x, values: mo.interp(x, mo.array(points), values) ** 2,
        rng.random(5) * 6 - 1,
        values,
        rtol=1e-5,
        atol=1e-6,
    )
    with pytest.raises(ValueError, match=r"xp and fp have shapes \(9,\) and \(3,\)"):
        mo.interp(x, points, values[:3])
    with pytest.raises(ValueError, match="extents above 0"):
        mo.interp(x, [], [])


# Filters.


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("extents", [(7, 3), (3, 7), (6, 4), (4, 6), (1, 4)])
def test_filters(rng, mode, extents):
    x, y = (floats(rng, (n,), "float64") for n in extents)
    close(mo.convolve(x, y, mode), np.convolve(x, y, mode), rtol=1e-12, atol=1e-12)
    close(mo.correlate(x, y, mode), np.correlate(x, y, mode), rtol=1e-12, atol=1e-12)
    n, m = (rng.integers(-9, 9, extent) for extent in extents)
    same(mo.convolve(n, m, mode), np.convolve(n, m, mode))
    same(mo.correlate(n, m, mode), np.correlate(n, m, mode))
    same(mo.convolve(n > 0, m > 0, mode), np.convolve(n > 0, m > 0, mode))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_nothing_beside_an_infinity(name, mode):
    """Beyond a sequence there is nothing, and no 0 that makes NaN of an infinity."""
    ours, theirs = getattr(mo, name), getattr(np, name)
    whole = np.array([1.0, -2.0, 3.0, 0.5])
    for special in (np.inf, -np.inf, np.nan):
        for place in range(3):
            other = np.array([0.5, 2.0, -1.0])
            other[place] = special
            for x, y in ((whole, other), (other, whole), (other, other), (whole[:3], other)):
                with np.errstate(invalid="ignore"):
                    expected = theirs(x, y, mode)
                close(ours(x, y, mode), expected)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_gradients_of_sequences(rng, mode):
    for shapes in (((6,), (3,)), ((3,), (5,)), ((4,), (4,)), ((5,), (1,))):
        x, y = (floats(rng, shape, "float64") for shape in shapes)
        check_gradient(lambda x, y: mo.convolve(x, y, mode) ** 2, x, y)
        check_gradient(lambda x, y: mo.correlate(x, y, mode) ** 2, x, y)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_gradients_have_no_windows_in_memory(rng, mode):
    x, y = mo.array(floats(rng, (4000,))), mo.array(floats(rng, (50,)))
    mo.grad(mo.convolve(x, y, mode).sum(), x).sync()
    assert sum(kernel.bytes_written for kernel in mo.last_program().kernels) < 200_000


def test_filters_are_one_kernel(rng, compiled):
    x, y = mo.array(floats(rng, (1000,))), mo.array(floats(rng, (31,)))
    mo.sync([x, y])
    mo.convolve(x, y).sync()
    assert len(mo.last_program().kernels) == 1
    check_gradient(mo.convolve, floats(rng, (5,), "float64"), floats(rng, (3,), "float64"))
    with pytest.raises(ValueError, match="mode is 'most', expected 'full', 'same' or 'valid'"):
        mo.convolve(x, y, "most")
    with pytest.raises(ValueError, match="expected one dimension and elements"):
        mo.correlate(np.ones((2, 2)), y)
