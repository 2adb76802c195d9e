# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts and bins against NumPy's."""

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same


def check(name, *arrays, **options):
    """Compare edges with NumPy's, and the counts by those with NumPy's."""
    counts, *edges = (part.numpy() for part in getattr(mo, name)(*arrays, **options))
    expected = getattr(np, name)(*arrays, **options)[1:]
    for own, other in zip(edges, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-6)
    # The last digits of edges may differ; counts have to agree with our own.
    options.pop("range", None)
    bins = edges[0] if len(edges) == 1 else edges
    inputs = arrays[: len(edges)]
    expected = getattr(np, name)(*inputs, bins, **options)[0]
    if expected.dtype == "int64":
        same(counts, expected)
    else:
        np.testing.assert_allclose(counts, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_bincount(rng, dtype):
    n = rng.integers(0, 20, 300).astype(dtype)
    same(mo.bincount(n), np.bincount(n))
    same(mo.bincount(n, minlength=30), np.bincount(n, minlength=30))
    weights = floats(rng, (300,), "float64")
    close(mo.bincount(n, weights), np.bincount(n, weights), rtol=1e-12)
    same(mo.bincount(n, n.astype("int64") * 2**50), np.bincount(n) * np.arange(20) * 2**50)
    same(mo.bincount(n, length=7), np.bincount(n)[:7])
    same(mo.bincount(np.zeros(0, dtype)), np.zeros(0, "int64"))
    same(mo.bincount(np.zeros(0, dtype), minlength=2), np.zeros(2, "int64"))


def test_bincount_computes_nothing_with_a_length(rng):
    x = mo.array(rng.integers(0, 9, 50)) + 0
    before = mo.stats()["programs_run"]
    y = mo.bincount(x, length=9)
    assert mo.stats()["programs_run"] == before
    assert y.numpy().sum() == 50


def test_bincount_refuses():
    with pytest.raises(TypeError, match="bincount: x is of float32, expected integers"):
        mo.bincount([0.5])
    with pytest.raises(ValueError, match="a number is -1, expected 0 or more"):
        mo.bincount([1, -1])
    with pytest.raises(ValueError, match="expected one dimension"):
        mo.bincount([[1]])
    with pytest.raises(ValueError, match=r"weights have shape \(1,\), expected \(2,\)"):
        mo.bincount([1, 2], [1.0])
    with pytest.raises(ValueError, match="minlength is -1"):
        mo.bincount([1], minlength=-1)


@pytest.mark.parametrize("count", [1, 2, 7, 8])
def test_digitize(rng, count):
    edges = np.sort(floats(rng, (count,), "float64"))
    x = np.concatenate([floats(rng, (50,), "float64") * 1.5, edges, [np.nan, np.inf, -np.inf]])
    for right in [False, True]:
        same(mo.digitize(x, edges, right), np.digitize(x, edges, right))
        same(mo.digitize(x, edges[::-1], right), np.digitize(x, edges[::-1], right))
    n = rng.integers(-9, 9, (4, 5))
    places = np.sort(rng.integers(-9, 9, count))
    for right in [False, True]:
        same(mo.digitize(n, places, right), np.digitize(n, places, right))
    same(mo.digitize(0.1, edges), np.asarray(np.digitize(np.float32(0.1), edges)))


def test_digitize_is_one_kernel(rng, compiled):
    x, edges = mo.array(floats(rng, (1000,))), mo.array(np.sort(floats(rng, (64,))))
    mo.sync([x, edges])
    mo.digitize(x, edges).sync()
    assert len(mo.last_program().kernels) <= 2, str(mo.last_program())
    same(mo.digitize(np.zeros(0), edges), np.zeros(0, "int64"))
    same(mo.digitize(np.ones(2), np.zeros(0)), np.zeros(2, "int64"))
    with pytest.raises(ValueError, match="expected one dimension"):
        mo.digitize(x, 3.0)


EDGES = [10, 1, np.array([-1.0, -0.5, 0.7, 0.9, 1.5]), np.linspace(-2, 2, 6).astype("float32")]


@pytest.mark.parametrize("bins", EDGES, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_histogram(rng, bins, dtype):
    x = floats(rng, (20, 30), dtype)
    weights = floats(rng, (20, 30), "float64")
    for options in [
        {},
        {"range": (-1, 0.5)},
        {"density": True},
        {"weights": weights},
        {"weights": weights + 3, "density": True, "range": (-3, 3)},
    ]:
        check("histogram", x, bins, **options)
    close(mo.histogram_bin_edges(x, bins), np.histogram_bin_edges(x, bins), rtol=1e-6)


def test_histogram_at_its_edges(rng):
    """Numbers that lie on edges, which rounding could move to a neighbour."""
    for count in [3, 7, 10, 49]:
        edges = np.linspace(0.1, 0.7, count + 1)
        x = np.concatenate([np.nextafter(edges, -1), edges, np.nextafter(edges, 1)])
        own, given = mo.histogram(x, count, (0.1, 0.7))
        same(own, np.histogram(x, given.numpy())[0])
    n = rng.integers(-10, 11, 500)
    for bins in [5, 20, np.arange(-10, 11, 4)]:
        check("histogram", n, bins)
        assert mo.histogram(n, bins)[0].numpy().sum() == np.histogram(n, bins)[0].sum()


def test_histogram_of_odd_data():
    x = np.array([1.0, np.nan, 2.0, 3.0])
    counts, _ = mo.histogram(x, 2, (1, 3))
    same(counts, np.array([1, 2]))
    check("histogram", np.full(3, 2.0), 4)
    check("histogram", np.zeros(0), 3)
    check("histogram", [1, 2, 2], 3, weights=[1, 1, 5])
    assert mo.histogram(np.ones(2, "float16"), 2)[1].dtype == "float32"


@pytest.mark.parametrize("bins", [4, (3, 5), (np.array([-2.0, 0.1, 2]), 4)], ids=str)
def test_histogram2d(rng, bins):
    x, y = floats(rng, (200,), "float64"), floats(rng, (200,), "float64")
    weights = rng.random(200)
    for options in [{}, {"density": True}, {"weights": weights}, {"range": [(-1, 1), (-2, 1)]}]:
        if "range" in options and not isinstance(bins, int):
            continue
        check("histogram2d", x, y, bins, **options)


x = np.ones(3, "float32")
WRONG = {
    "no bins": (lambda: mo.histogram(x, 0), "bins is 0, expected 1 or more"),
    "negative bins": (lambda: mo.histogram(x, -3), "bins is -3, expected 0 or more"),
    "rule": (lambda: mo.histogram(x, "auto"), "bins is 'auto', expected a number of bins or"),
    "rank": (lambda: mo.histogram(x, np.ones((2, 2))), r"bins has shape \(2, 2\)"),
    "range": (lambda: mo.histogram(x, 3, (2, 1)), r"range is \(2, 1\), expected finite rising"),
    "infinite": (lambda: mo.histogram(x, 3, (0, np.inf)), "expected finite rising numbers"),
    "one bound": (lambda: mo.histogram(x, 3, (1,)), "range is"),
    "weights": (lambda: mo.histogram(x, 3, weights=x[:2]), "expected (3,)"[:8]),
    "shapes": (lambda: mo.histogram2d(x, x[:2]), "expected one dimension and equal extents"),
    "three sides": (lambda: mo.histogram2d(x, x, (1, 2, 3)), "given 3 bins and 2 ranges"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_histogram\.py:"):
        call()


def test_gradients_of_weights(rng):
    weights = mo.array(floats(rng, (4,), "float64"))
    counts, _ = mo.histogram(np.array([0.1, 0.9, 0.2, 0.6]), 2, (0, 1), weights=weights)
    same(mo.grad((counts * mo.array(np.array([1.0, 5.0]))).sum(), weights), [1.0, 5, 1, 5])
