# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are NumPy's of the same name, on the same numbers; and their kin."""

import itertools

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats

RNG = np.random.default_rng(7)
A = floats(RNG, (4, 6), "float64")
B = floats(RNG, (4, 6), "float64")
V = floats(RNG, 7, "float64")
W = floats(RNG, 4, "float64")
I = RNG.integers(-5, 6, (4, 6))  # noqa: E741
J = RNG.integers(-5, 6, 9)
N = np.where(RNG.random((4, 6)) < 0.3, np.nan, A)
N[1] = np.nan
MASK = RNG.random((4, 6)) < 0.5
BYTES = RNG.integers(0, 256, (3, 5)).astype("uint8")
EMPTY = np.zeros((0, 3))


def call(name, *args, **options):
    """Return a case: the name, and how to call either library's function."""
    return name, args, options


#: Of functions of the same name and parameters.
CASES = [
    call("array_equiv", A, A), call("array_equiv", A, A[:1]), call("array_equiv", A, V),
    call("block", [[A, B], [B, A[:, :2], A[:, 2:]]]), call("block", [V, W]),
    call("choose", I % 3, [A, B, 2.5]), call("choose", I, [A, B], mode="wrap"),
    call("choose", I, [A, B], mode="clip"),
    call("compress", [True, False, True], A), call("compress", [1, 0, 1, 1], A, axis=0),
    call("extract", MASK, A), call("extract", I, I),
    call("select", [A > 1, B > 0], [A, B * 2], 7.0), call("select", [MASK, MASK], [I, -I]),
    call("frexp", A), call("frexp", np.array([0.0, -0.0, np.inf, np.nan, 5e-324, 1e308])),
    call("i0", V * 20), call("i0", np.array([0.0, 8.0, -8.0, 700.0])),
    call("ldexp", A, I * 100), call("ldexp", A[:1], np.arange(6)),
    call("modf", A * 10), call("sinc", V), call("sinc", np.array([0.0, 1.0, -2.0])),
    call("histogram2d", V, V * V, 3), call("histogram2d", V, V, (2, 4), [[-1, 1], [0, 2]]),
    call("lexsort", (I, I // 2)), call("lexsort", [J, -J % 3]),
    call("nanargmax", N[[0, 2, 3]], axis=1), call("nanargmin", N),
    call("nancumprod", N, axis=0), call("nancumsum", N),
    call("nanmedian", N), call("nanmedian", N[[0, 2, 3]], axis=1),
    call("nanpercentile", N, [10, 90]), call("nanquantile", N[2:], 0.3, axis=1, keepdims=True),
    call("packbits", MASK), call("packbits", MASK, axis=0), call("packbits", I, bitorder="little"),
    call("unpackbits", BYTES), call("unpackbits", BYTES, axis=1, count=37),
    call("unpackbits", BYTES, axis=0, bitorder="little"), call("unpackbits", BYTES, count=-3),
    call("polyval", W, A), call("polyadd", V, W), call("polysub", W, V), call("polymul", V, W),
    call("polyder", V), call("polyder", V, 3), call("polyint", V), call("polyint", W, 2, [1, 2]),
    call("piecewise", A, [A > 1, A < -1], [lambda x: x * 2, -3.0, 0.5]),
    call("piecewise", A, [A > 0], [lambda x, k: x + k], 4.0),
    call("ix_", J % 4, [2, 0]), call("ix_", MASK[0], J % 4),
    call("ravel_multi_index", (I % 4, I % 6), (4, 6)),
    call("ravel_multi_index", (I, I), (4, 6), mode="clip"),
    call("ravel_multi_index", (I, I), (4, 6), mode="wrap"),
    call("unravel_index", I % 24, (4, 6)), call("unravel_index", 17, (2, 3, 4)),
    call("diag_indices", 5, 3), call("diag_indices_from", A[:, :4]),
    call("tril_indices_from", A, 1), call("triu_indices_from", A, -1),
    call("resize", A, (3, 11)), call("resize", A, (2, 2)), call("resize", EMPTY, (2, 2)),
    call("trim_zeros", np.array([0, 0, 3, 0, 4, 0])), call("trim_zeros", J * 0),
    call("trim_zeros", np.array([0, 0, 3, 0]), "b"),
    call("unwrap", V * 9), call("unwrap", A * 9, axis=0), call("unwrap", A * 9, 4.0),
    call("unwrap", I, period=4),
    call("union1d", J, I), call("intersect1d", J, I), call("setdiff1d", J, I[0]),
    call("setxor1d", J, I), call("intersect1d", J, I[0], return_indices=True),
    call("bartlett", 9), call("blackman", 8), call("hamming", 1), call("hanning", 7),
    call("kaiser", 8, 3.5), call("bartlett", 0),
    call("matvec", A, V[:6]), call("vecmat", W, A),
]  # fmt: skip


def label(case):
    """Return the name of a case for pytest."""
    return case[0]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_is_numpys(case):
    name, args, options = case
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*args, **options)
    actual = getattr(mo, name)(*args, **options)
    if not isinstance(expected, list | tuple):
        expected, actual = [expected], [actual]
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        theirs = np.asarray(theirs)
        rtol = 1e-6 if ours.dtype == "float32" else 1e-12
        if name != "histogram2d":  # whose counts are integers, as those of histogram
            assert np.dtype(ours.dtype.name).kind == theirs.dtype.kind
        close(ours, theirs, rtol=rtol, atol=rtol)


def test_histogramdd():
    points = floats(RNG, (50, 3), "float64")
    counts, edges = mo.histogramdd(points, (2, 3, 4), weights=points[:, 0])
    expected, bounds = np.histogramdd(points, (2, 3, 4), weights=points[:, 0])
    close(counts, expected)
    for ours, theirs in zip(edges, bounds, strict=True):
        close(ours, theirs)


@pytest.mark.parametrize("kth", [0, 3, -1, [1, 4]])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_partitions(kth, dtype):
    x = (A * 9).astype(dtype)
    for dim in (0, 1, None):
        parted = mo.partition(x, [k % 4 for k in np.atleast_1d(kth)], dim).numpy()
        places = mo.argpartition(x, [k % 4 for k in np.atleast_1d(kth)], dim)
        axis = 0 if dim is None else dim
        flat = x.reshape(-1) if dim is None else x
        np.testing.assert_array_equal(np.sort(parted, axis), np.sort(flat, axis))
        np.testing.assert_array_equal(np.take_along_axis(flat, places.numpy(), axis), parted)
        for k in np.atleast_1d(kth) % 4:
            found = np.take(parted, k, axis)
            np.testing.assert_array_equal(found, np.take(np.sort(flat, axis), k, axis))
            assert np.all(np.take(parted, range(k), axis) <= np.expand_dims(found, axis))


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(4, 6), (9, 3), (3, 3, 3)])
def test_fill_diagonal(shape, wrap):
    x = floats(RNG, shape, "float64")
    for values in (5.0, [1.0, 2.0]):
        expected = x.copy()
        np.fill_diagonal(expected, values, wrap)
        close(mo.fill_diagonal(x, values, wrap), expected)


# Names that NumPy has no function for


def test_products_of_sets():
    parts = [J[:3], J[3:5], J[5:]]
    close(mo.cartesian_prod(*parts), np.array(list(itertools.product(*parts))))
    close(mo.cartesian_prod(J), J)
    for r, repeats in [(2, False), (3, False), (2, True)]:
        make = itertools.combinations_with_replacement if repeats else itertools.combinations
        expected = np.array(list(make(V, r))).reshape(-1, r)
        close(mo.combinations(V, r, repeats), expected)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, np.inf, 0.0])
def test_distances(order):
    x, y = floats(RNG, (2, 3, 5), "float64"), floats(RNG, (4, 5), "float64")
    expected = np.linalg.norm(x[:, :, None] - y, order, -1) if order else None
    if expected is None:
        expected = np.count_nonzero(x[:, :, None] - y, -1)
    close(mo.cdist(x, y, order), expected)
    rows = [np.linalg.norm(y[i] - y[j], order) for i, j in itertools.combinations(range(4), 2)]
    close(mo.pdist(y, order), np.array(rows))


def test_renorm():
    lengths = np.linalg.norm(A, 3, 1, keepdims=True)
    close(mo.renorm(A, 3, 0, 2.5), A * np.minimum(1, 2.5 / lengths))
    close(mo.renorm(np.zeros((2, 2)), 2, 0, 0), np.zeros((2, 2)))


@pytest.mark.parametrize("dim", [0, 1])
def test_mode(dim):
    x = RNG.integers(0, 4, (9, 8))
    found = mo.mode(x, dim)
    counts = np.stack([np.count_nonzero(x == k, dim) for k in range(4)])
    close(found.values, counts.argmax(0))
    taken = np.take_along_axis(x, np.expand_dims(found.indices.numpy(), dim), dim)
    np.testing.assert_array_equal(taken.squeeze(dim), found.values.numpy())
    assert mo.mode(x, dim, keepdims=True).values.shape == taken.shape


def test_shapes():
    for offset, dims in [(0, (-2, -1)), (2, (0, 1)), (-1, (2, 0))]:
        out = mo.diag_embed(A, offset, *dims)
        close(mo.diagonal(out, offset, *dims), A)
        assert np.count_nonzero(out.numpy()) == A.size
    close(mo.unflatten(A, 1, (2, 3)), A.reshape(4, 2, 3))
    close(mo.unflatten(A, 0, (2, -1)), A.reshape(2, 2, 6))
    expected = np.zeros((7, 8))
    expected[:4, :6], expected[4:6, 6:7] = A, A[:2, :1]
    close(mo.block_diag(A, A[:2, :1], 0.0), expected)


def test_runs():
    x = np.repeat(RNG.integers(0, 3, 20), RNG.integers(1, 4, 20))
    values, inverse, counts = mo.unique_consecutive(x)
    runs = [(k, len(list(g))) for k, g in itertools.groupby(x)]
    close(values, np.array([k for k, _ in runs]))
    close(counts, np.array([n for _, n in runs]))
    np.testing.assert_array_equal(values.numpy()[inverse.numpy()], x)


def test_areas():
    x = np.cumsum(RNG.random(6))
    steps = (A[:, 1:] + A[:, :-1]) / 2
    close(mo.cumulative_trapezoid(A, dx=0.5), np.cumsum(steps * 0.5, 1))
    close(mo.cumulative_trapezoid(A, x), np.cumsum(steps * np.diff(x), 1))
    close(mo.cumulative_trapezoid(A, dim=0), np.cumsum((A[1:] + A[:-1]) / 2, 0))


def test_logarithms():
    p = RNG.random(20)
    close(mo.logit(p), np.log(p / (1 - p)), rtol=1e-12)
    clipped = np.clip(p, 0.2, 0.8)
    close(mo.logit(p, 0.2), np.log(clipped / (1 - clipped)), rtol=1e-12)
    x = np.array([0.0, 0.0, 2.0, 0.0])
    close(mo.xlogy(x, np.array([0.0, np.inf, 3.0, np.nan])), [0, 0, 2 * np.log(3), np.nan])


DIFFERENTIATED = {
    "block": lambda x: mo.block([[x], [x * x]]),
    "choose": lambda x: mo.choose(I % 2, [x, x * x]),
    "select": lambda x: mo.select([A > 1, A > 0], [x, x * x], 1.0),
    "piecewise": lambda x: mo.piecewise(x, [A > 0], [mo.sin, mo.exp]),
    "i0": mo.i0,
    "sinc": mo.sinc,
    "logit": lambda x: mo.logit(x * 0.2 + 0.5),
    "xlogy": lambda x: mo.xlogy(x, x * x + 1),
    "nancumsum": lambda x: mo.nancumsum(x * x, 1),
    "nanmedian": lambda x: mo.nanmedian(x * x, 1),
    "polyval": lambda x: mo.polyval(x[0], x),
    "polymul": lambda x: mo.polymul(x[0], x[1]),
    "partition": lambda x: mo.partition(x, 2, 1) ** 2,
    "mode": lambda x: mo.mode(x, 1).values ** 2,
    "cdist": lambda x: mo.cdist(x, x[:2] * 0.5 + 3),
    "pdist": mo.pdist,
    "renorm": lambda x: mo.renorm(x, 2, 0, 1.0),
    "fill_diagonal": lambda x: mo.fill_diagonal(x * x, x[0, :1]),
    "diag_embed": lambda x: mo.diag_embed(x * x),
    "combinations": lambda x: mo.combinations(x[0]) ** 2,
    "cumulative_trapezoid": lambda x: mo.cumulative_trapezoid(x * x),
    "unwrap": lambda x: mo.unwrap(x * x),
    "matvec": lambda x: mo.matvec(x, x[0]),
    "vecmat": lambda x: mo.vecmat(x[:, 0], x),
    "resize": lambda x: mo.resize(x * x, (5, 7)),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(name):
    check_gradient(DIFFERENTIATED[name], A, rtol=2e-5, atol=1e-5)


WRONG = [
    (lambda: mo.block([[A], B]), ValueError, "lists of one depth"),
    (lambda: mo.block_diag(np.zeros((2, 2, 2))), ValueError, "expected matrices"),
    (lambda: mo.cartesian_prod(A), ValueError, "cartesian_prod"),
    (lambda: mo.combinations(A), ValueError, "expected a vector"),
    (lambda: mo.diag_embed(A, 0, 1, 1), ValueError, "both 1"),
    (lambda: mo.unflatten(A, 1, (4, 2)), ValueError, "expected a product of 6"),
    (lambda: mo.trim_zeros(V, "x"), ValueError, "expected 'f', 'b' or 'fb'"),
    (lambda: mo.select([A], [A]), TypeError, "expected booleans"),
    (lambda: mo.select([MASK], [A, B]), ValueError, "given 1 conditions"),
    (lambda: mo.choose(I % 2, []), ValueError, "no choices"),
    (lambda: mo.choose(I % 2, [A, B], "loop"), ValueError, "'raise', 'wrap' or 'clip'"),
    (lambda: mo.choose(I, [A, B]).numpy(), IndexError, "choose|range"),
    (lambda: mo.compress([True] * 5, A, 0), ValueError, "compress"),
    (lambda: mo.cdist(A, V), ValueError, "cdist of shapes"),
    (lambda: mo.renorm(A, 2, 0, -1), ValueError, "expected a number of 0 or more"),
    (lambda: mo.partition(V, 7), ValueError, "expected a place among 7"),
    (lambda: mo.lexsort([V, W]), ValueError, "expected one shape"),
    (lambda: mo.packbits(A), TypeError, "expected integers or booleans"),
    (lambda: mo.unpackbits(I), TypeError, "expected uint8"),
    (lambda: mo.unpackbits(BYTES, count=-999), ValueError, "there are 120 bits"),
    (lambda: mo.ravel_multi_index((I, I), (4, 6, 2)), ValueError, "given 2 indices"),
    (lambda: mo.ix_(A), ValueError, "expected vectors"),
    (lambda: mo.fill_diagonal(V, 1), ValueError, "fill_diagonal"),
    (lambda: mo.polyval(A, 1.0), ValueError, "expected a vector"),
    (lambda: mo.polyint(V, 2, [1, 2, 3]), ValueError, "expected 1 or 2"),
    (lambda: mo.histogramdd(V), ValueError, "histogramdd"),
    (lambda: mo.cumulative_trapezoid(A, V), ValueError, "does not fit y's"),
    (lambda: mo.unwrap(V, period=0), ValueError, "expected a positive number"),
    (lambda: mo.matvec(A, W), ValueError, "matvec of shapes"),
    (lambda: mo.bartlett(-1), ValueError, "bartlett"),
]


@pytest.mark.parametrize("make, kind, message", WRONG)
def test_errors(make, kind, message):
    with pytest.raises(kind, match=f"{message}.*test_numpy_names.py:"):
        make()
