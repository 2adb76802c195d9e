# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of shapes, compared with NumPy's of the same names."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same


@pytest.fixture
def interpreter():
    """Compile nothing: there are many shapes, and each would be a program."""
    with mo.flag_scope(backend="interpreter"):
        yield


# Each takes a module, this one or NumPy, and a tensor of at least so many dimensions.
CASES = {
    "reshape": (0, lambda m, x: m.reshape(x, (-1,))),
    "ravel": (0, lambda m, x: m.ravel(x)),
    "squeeze": (0, lambda m, x: m.squeeze(x)),
    "expand_dims": (0, lambda m, x: m.expand_dims(x, -1)),
    "expand_dims by several": (1, lambda m, x: m.expand_dims(x, axis=(0, -1, 2))),
    "transpose": (0, lambda m, x: m.transpose(x)),
    "swapaxes": (2, lambda m, x: m.swapaxes(x, 0, -1)),
    "moveaxis": (2, lambda m, x: m.moveaxis(x, 0, -1)),
    "moveaxis of several": (3, lambda m, x: m.moveaxis(x, (0, 2), (-1, 0))),
    "flip": (0, lambda m, x: m.flip(x)),
    "flip along one": (1, lambda m, x: m.flip(x, -1)),
    "flip along two": (2, lambda m, x: m.flip(x, (0, 1))),
    "fliplr": (2, lambda m, x: m.fliplr(x)),
    "flipud": (1, lambda m, x: m.flipud(x)),
    "rot90": (2, lambda m, x: m.rot90(x)),
    "rot90 twice": (2, lambda m, x: m.rot90(x, 2)),
    "rot90 back": (2, lambda m, x: m.rot90(x, -1, (1, 0))),
    "rot90 of others": (3, lambda m, x: m.rot90(x, 5, axes=(2, 0))),
    "atleast_1d": (0, lambda m, x: m.atleast_1d(x)),
    "atleast_2d": (0, lambda m, x: m.atleast_2d(x)),
    "atleast_3d": (0, lambda m, x: m.atleast_3d(x)),
    "broadcast_to": (0, lambda m, x: m.broadcast_to(x, (2, *x.shape))),
    "broadcast_arrays": (1, lambda m, x: list(m.broadcast_arrays(x, x[:1], x[0]))),
    "roll": (0, lambda m, x: m.roll(x, 3)),
    "roll back": (1, lambda m, x: m.roll(x, -2, axis=-1)),
    "roll far": (1, lambda m, x: m.roll(x, 1007, 0)),
    "roll two": (2, lambda m, x: m.roll(x, (1, -2), axis=(0, 1))),
    "roll two by one": (2, lambda m, x: m.roll(x, 1, (1, 0))),
    "roll one twice": (1, lambda m, x: m.roll(x, (1, 2), (0, 0))),
    "tile": (0, lambda m, x: m.tile(x, 3)),
    "tile by more": (0, lambda m, x: m.tile(x, (2, 1, 2, 2))),
    "tile by fewer": (2, lambda m, x: m.tile(x, [2])),
    "tile to nothing": (1, lambda m, x: m.tile(x, (0,))),
    "repeat": (0, lambda m, x: m.repeat(x, 2)),
    "repeat along one": (1, lambda m, x: m.repeat(x, 3, axis=-1)),
    "repeat never": (1, lambda m, x: m.repeat(x, 0, 0)),
    "repeat by counts": (1, lambda m, x: m.repeat(x, np.arange(x.shape[0]) % 3, axis=0)),
    "repeat by one count": (1, lambda m, x: m.repeat(x, [2], axis=0)),
    "concatenate flat": (0, lambda m, x: m.concatenate([x, x], axis=None)),
    "stack": (0, lambda m, x: m.stack([x, x], axis=-1)),
    "vstack": (0, lambda m, x: m.vstack([x, x])),
    "hstack": (0, lambda m, x: m.hstack([x, x])),
    "dstack": (0, lambda m, x: m.dstack([x, x])),
    "column_stack": (0, lambda m, x: m.column_stack([x, x])),
    "append": (0, lambda m, x: m.append(x, x)),
    "append along one": (1, lambda m, x: m.append(x, x, axis=-1)),
    "split": (1, lambda m, x: m.split(x, x.shape[0] or 1)),
    "split at": (1, lambda m, x: m.split(x, [1, 1, 3, -1, 100], axis=-1)),
    "array_split": (1, lambda m, x: m.array_split(x, 3, axis=-1)),
    "array_split into many": (1, lambda m, x: m.array_split(x, 9)),
    "hsplit": (1, lambda m, x: m.hsplit(x, [1, 2])),
    "vsplit": (2, lambda m, x: m.vsplit(x, [1])),
    "dsplit": (3, lambda m, x: m.dsplit(x, 1)),
    "delete": (1, lambda m, x: m.delete(x, slice(1, None, 2), axis=-1)),
    "delete several": (1, lambda m, x: m.delete(x, [0, -1, 0][: 3 * (x.shape[0] > 0)], 0)),
    "delete by a mask": (1, lambda m, x: m.delete(x, np.arange(x.shape[0]) % 2 == 0, 0)),
    "delete flat": (0, lambda m, x: m.delete(x, range(0, x.size, 3))),
    "insert": (1, lambda m, x: m.insert(x, 0, 7, axis=-1)),
    "insert the end": (0, lambda m, x: m.insert(x, x.size, [7, 8, 9])),
    "insert several": (1, lambda m, x: m.insert(x, [0, x.shape[0], 0], 7, axis=0)),
    "insert by a slice": (1, lambda m, x: m.insert(x, slice(0, None, 2), 5, axis=0)),
    "insert rows": (2, lambda m, x: m.insert(x, 0, x[:, 0] if x.shape[1] else 1, axis=1)),
    "insert a part": (2, lambda m, x: m.insert(x, [0], x, axis=1)),
    "diagonal": (2, lambda m, x: m.diagonal(x)),
    "diagonal above": (2, lambda m, x: m.diagonal(x, 1)),
    "diagonal below": (2, lambda m, x: m.diagonal(x, offset=-1, axis1=-1, axis2=0)),
    "diagonal outside": (2, lambda m, x: m.diagonal(x, 1000)),
    "diagflat": (0, lambda m, x: m.diagflat(x, -1)),
    "tril": (2, lambda m, x: m.tril(x)),
    "tril below": (2, lambda m, x: m.tril(x, k=-1)),
    "tril above": (2, lambda m, x: m.tril(x, 1)),
    "triu": (2, lambda m, x: m.triu(x)),
    "triu below": (2, lambda m, x: m.triu(x, k=-1)),
    "triu far": (2, lambda m, x: m.triu(x, 10**6)),
    "take": (0, lambda m, x: m.take(x, [] if x.size == 0 else [-1, 0])),
    "take wrapped": (1, lambda m, x: m.take(x, [-7, 9][: 2 * x.shape[0]], 0, mode="wrap")),
    "take clipped": (1, lambda m, x: m.take(x, [-7, 9][: 2 * x.shape[0]], 0, mode="clip")),
}
SHAPES = [(), (5,), (1,), (0,), (3, 4), (1, 3), (0, 2), (2, 0), (2, 3, 2), (2, 1, 0), (2, 1, 3, 2)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("interpreter")
def test_is_numpys(rng, name):
    least, f = CASES[name]
    checked = 0
    for shape in SHAPES:
        if len(shape) < least:
            continue
        for dtype in ["float32", "int64", "bool", "float16"][: 4 if len(shape) == 2 else 1]:
            x = rng.integers(-50, 50, shape).astype(dtype)
            try:
                expected = f(np, x)
            except (ValueError, IndexError) as error:
                with pytest.raises(type(error)):
                    f(mo, mo.array(x))
                continue
            actual = f(mo, mo.array(x))
            assert isinstance(actual, list) == isinstance(expected, list)
            if not isinstance(expected, list):
                actual, expected = [actual], [expected]
            for own, theirs in zip(actual, expected, strict=True):
                same(own, theirs)
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("interpreter")
def test_gradients(rng, name):
    least, f = CASES[name]
    x = floats(rng, (2, 3, 2)[: max(least, 2)], "float64")

    def g(x):
        y = f(mo, x)
        parts = [p.reshape(-1) for p in (y if isinstance(y, list) else [y])]
        return mo.sin(mo.concat(parts)) * 2

    check_gradient(g, x, order=2)


@pytest.mark.processor
def test_compiled(rng):
    """A few of them together, in programs of their own."""
    x = floats(rng, (6, 8))
    v = mo.array(x)
    same(mo.roll(v, (2, -3), (0, 1)) * 2, np.roll(x, (2, -3), (0, 1)) * np.float32(2))
    same(mo.tile(v, (2, 3)) + 1, np.tile(x, (2, 3)) + np.float32(1))
    same(v.repeat(2, 1) - v.repeat(2).reshape(6, 16), np.zeros((6, 16), "float32"))
    same(mo.tril(v, -1) + mo.triu(v), x)
    same(mo.diag(v[0], 1)[:8, 1:] + mo.eye(8), np.diag(x[0]) + np.eye(8, dtype="float32"))
    same(mo.rot90(v).trace(1), np.trace(np.rot90(x), 1, dtype="float32"))
    same(mo.insert(v, [1, 3], x[:2], 0), np.insert(x, [1, 3], x[:2], 0))


def test_offsets_and_shifts_make_no_new_programs(compiled):
    x = mo.array(np.arange(48.0).reshape(6, 8))
    for offset in range(-3, 5):
        if offset == -1:
            before = mo.stats()["programs_compiled"]
        (mo.tril(x, offset) + mo.tri(6, 8, offset) * mo.eye(6, 8, offset)).sync()
    assert mo.stats()["programs_compiled"] == before


def test_methods(rng):
    x = floats(rng, (2, 3, 4))
    v = mo.array(x)
    index = rng.integers(0, 4, (2, 3, 1))
    pairs = [
        (v.ravel(), x.ravel()),
        (v.repeat(2, axis=1), x.repeat(2, axis=1)),
        (v.take([1, 0], axis=2), x.take([1, 0], axis=2)),
        (v.diagonal(1, 0, 2), x.diagonal(1, 0, 2)),
        (v.moveaxis(0, 2), np.moveaxis(x, 0, 2)),
        (v.flip(1), np.flip(x, 1)),
        (v.tile((2, 1)), np.tile(x, (2, 1))),
        (v.roll(1, 0), np.roll(x, 1, 0)),
        (v.tril(), np.tril(x)),
        (v.triu(1), np.triu(x, 1)),
        (v.gather(2, index), np.take_along_axis(x, index, 2)),
        (v.scatter_add(2, index, x[..., :1] * 0), x),
        (v.broadcast_to((5, 2, 3, 4)), np.broadcast_to(x, (5, 2, 3, 4))),
        *zip(v.split(2, axis=2), np.split(x, 2, axis=2), strict=True),
        *zip(mo.unstack(v, 1), x.swapaxes(0, 1), strict=True),
    ]
    for actual, expected in pairs:
        same(actual, expected)
    close(v.trace(), x.trace())


def test_what_pytorch_means_is_written_otherwise(rng):
    """The table of docs/Names.md: NumPy's meaning, and PyTorch's by its name here."""
    x = floats(rng, (2, 7, 3))
    v = mo.array(x)
    assert v.size == x.size and v.shape == (2, 7, 3)
    same(v.transpose(1, 2, 0), x.transpose(1, 2, 0))
    same(v.swapaxes(0, 1), x.swapaxes(0, 1))
    same(v.repeat(2, 1), np.repeat(x, 2, 1))
    same(v.tile((2, 1, 1)), np.concatenate([x, x]))
    assert [part.shape[1] for part in v.split(7, 1)] == [1] * 7
    assert [part.shape[1] for part in v.split(range(3, 7, 3), 1)] == [3, 3, 1]
    assert [part.shape[1] for part in v.split([2, 5], 1)] == [2, 3, 2]
    same(v.max(0), x.max(0))
    same(v.argmax(0), x.argmax(0))
    close(v.var(correction=1), x.var(ddof=1))
    same(v[:1].squeeze(), x[0])
    with pytest.raises(ValueError, match="has not the extent 1"):
        v.squeeze(0)
    index = rng.integers(0, 3, (1, 7, 3))
    same(mo.gather(v[:1], 2, index), np.take_along_axis(x[:1], index, 2))
    assert mo.meshgrid(x[0, 0], x[0, :, 0])[0].shape == (7, 3)
    assert mo.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")[0].shape == (3, 7)


# Along one dimension


@pytest.mark.parametrize("dim", [0, 1, -1, None])
@pytest.mark.usefixtures("interpreter")
def test_along_axis(rng, dim):
    x = floats(rng, (3, 4, 5))
    for own in [(3, 4, 5), (1, 4, 1), (3, 1, 5), (1, 1, 1)]:
        extents = list(own) if dim is not None else [2]
        if dim is not None:
            extents[dim] = 2
        index = np.stack([rng.permutation(x.shape[dim or 0])[: extents[dim or 0]] for _ in "abc"])
        index = np.broadcast_to(index[0].reshape([-1 if n == 2 else 1 for n in extents]), extents)
        index = index - x.shape[dim or 0] * (rng.random(extents) < 0.4)
        same(mo.take_along_axis(x, index, dim), np.take_along_axis(x, index, dim))
        for values in [2.5, floats(rng, extents), floats(rng, extents[-1:])]:
            expected = x.copy()
            if dim is None or own == (3, 4, 5):
                np.put_along_axis(expected, index, values, dim)
                v = mo.array(x)
                same(mo.put_along_axis(v, index, values, dim), expected)
                same(v, x)


def test_put_along_axis_keeps_the_last(rng):
    x, values = np.zeros((2, 3), "float32"), floats(rng, (2, 4))
    index = np.array([[0, 2, 0, -1], [1, 1, 1, 1]])
    expected = x.copy()
    expected[0, [0, 2]], expected[1, 1] = values[0, [2, 3]], values[1, 3]
    same(mo.put_along_axis(x, mo.array(index), values, 1), expected)
    check_gradient(
        lambda x, v: mo.sin(mo.put_along_axis(x, index, v, 1)),
        floats(rng, (2, 3), "float64"),
        floats(rng, (2, 4), "float64"),
    )
    check_gradient(
        lambda x: mo.sin(mo.take_along_axis(x, index[:1], 1)), floats(rng, (2, 3), "float64")
    )
    largest = mo.argmax(values, 1, keepdims=True)
    same(mo.take_along_axis(values, largest, 1), values.max(1, keepdims=True))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_take_modes_of_types(rng, dtype):
    x = floats(rng, (200,))
    index = rng.integers(0, 120, (6,)).astype(dtype)
    index[0] = np.iinfo(dtype).max
    if dtype[0] == "i":
        index[1] = np.iinfo(dtype).min
    exact = np.array([int(i) for i in index], object)
    for v in [index, mo.array(index)]:
        same(mo.take(x, v, mode="wrap"), x[(exact % 200).astype(int)])
        same(mo.take(x, v, mode="clip"), x[np.clip(exact, 0, 199).astype(int)])


# Made of numbers


def test_matrices():
    with mo.flag_scope(backend="interpreter"):
        for n, m, k in [(3, None, 0), (3, 5, 1), (4, 2, -2), (0, 3, 0), (2, 0, 1), (3, 3, 10**20)]:
            far = min(k, 100)
            same(mo.eye(n, m, k), np.eye(n, m, far, dtype="float32"))
            same(mo.tri(n, m, k, "int32"), np.tri(n, m, far, dtype="int32"))
            for own, theirs in [
                (mo.tril_indices, np.tril_indices),
                (mo.triu_indices, np.triu_indices),
            ]:
                pairs = zip(own(n, k, m), theirs(n, far, m), strict=True)
                assert all(np.array_equal(a.numpy(), b) for a, b in pairs)
        same(mo.identity(2, dtype="bool"), np.identity(2, bool))
        for x in [np.arange(4.0), np.arange(6).reshape(2, 3), np.zeros(0)]:
            for k in (0, 2, -1):
                same(mo.diag(x, k), np.diag(x, k))
        x = np.arange(12.0).reshape(3, 4)
        same(mo.array(x)[tuple(mo.tril_indices(3, 0, 4))], x[np.tril_indices(3, 0, 4)])


def test_ranges(rng):
    for endpoint in (True, False):
        for num in (0, 1, 2, 7):
            given = {"num": num, "endpoint": endpoint}
            close(mo.linspace(-1, 2, **given), np.linspace(-1, 2, **given))
            close(mo.logspace(-1, 2, **given), np.logspace(-1, 2, **given), rtol=1e-6)
            close(
                mo.logspace(0, 3, base=2.0, dtype="float64", **given),
                np.logspace(0, 3, base=2.0, **given),
                rtol=1e-14,
            )
            for start, stop in [(1, 1000), (-8, -0.5), (3, 3)]:
                close(
                    mo.geomspace(start, stop, dtype="float64", **given),
                    np.geomspace(start, stop, **given),
                    rtol=1e-13,
                )
    ends = mo.geomspace(0.1, 0.7, 9, "float64").numpy()[[0, -1]]
    same(ends, np.array([0.1, 0.7]))
    x = rng.integers(-4, 5, (5,))
    for n in (None, 0, 1, 4):
        same(mo.vander(x, n), np.vander(x, n))
        same(mo.vander(x, N=n, increasing=True), np.vander(x, n, increasing=True))
    same(mo.vander(np.array([3.5, 0])), np.vander([3.5, 0]))
    check_gradient(lambda x: mo.sin(mo.vander(x, 4)), np.array([0.0, 1.5, -2]))


def test_grids(rng):
    a, b, c = np.arange(3), floats(rng, (4,)), np.array(2.0)
    for given in [(), (a,), (a, b), (a, b, c), (b[:0], a)]:
        for indexing in ("xy", "ij"):
            expected = np.meshgrid(*given, indexing=indexing)
            for own, theirs in zip(mo.meshgrid(*given, indexing=indexing), expected, strict=True):
                same(own, theirs)
    for shape in [(2, 3), (4,), (0, 2), (2, 1, 3)]:
        same(mo.indices(shape), np.indices(shape))
    same(mo.indices((2, 2), "float32"), np.indices((2, 2), "float32"))
    assert mo.broadcast_shapes((2, 1), (3,), ()) == (2, 3)


# Errors

X = mo.array(np.arange(6.0).reshape(2, 3))
WRONG = {
    "split into unequal parts": (lambda: mo.split(X, 2, 1), ValueError, "array_split makes"),
    "split into none": (lambda: mo.split(X, 0), ValueError, "sections is 0"),
    "split into too many": (lambda: mo.array_split(X, 2**40), ValueError, "sections is 1099511"),
    "split of PyTorch": (lambda: mo.split(X, split_size=1), TypeError, "no parameter 'split_size'"),
    "split by a float": (lambda: mo.split(X, 1.5), TypeError, "sections is 1.5"),
    "split a number": (lambda: mo.split(1.0, 1), ValueError, "out of range"),
    "vsplit a vector": (lambda: mo.vsplit(X[0], 1), ValueError, "expected 2 dimensions"),
    "dsplit a matrix": (lambda: mo.dsplit(X, 1), ValueError, "expected 3 dimensions"),
    "repeat of PyTorch": (lambda: X.repeat(2, 3), ValueError, r"tile\(x, \(2, 3\)\) repeats"),
    "repeat of three": (lambda: X.repeat(2, 3, 4), ValueError, r"tile\(x, \(2, 3, 4\)\) repeats"),
    "repeat by a pair": (lambda: X.repeat((2, 3)), ValueError, "1 number or 6; tile"),
    "repeat less than never": (lambda: X.repeat(-1), ValueError, "repeats has -1"),
    "repeat by a float": (lambda: X.repeat(1.5), TypeError, "repeats is 1.5"),
    "tile": (lambda: mo.tile(X, -1), ValueError, "reps is -1"),
    "tile by a float": (lambda: mo.tile(X, [1.5]), TypeError, "expected one or several integers"),
    "transpose of PyTorch": (lambda: mo.transpose(X, 0, 1), TypeError, r"swapaxes\(x, 0, 1\)"),
    "transpose one": (lambda: mo.transpose(X, 0), TypeError, r"swapaxes\(x, 0, 1\)"),
    "roll": (lambda: mo.roll(X, (1, 2), (0, 1, 0)), ValueError, "2 shifts given, expected 1 or 3"),
    "roll by a float": (lambda: mo.roll(X, 1.5), TypeError, "shift is 1.5"),
    "moveaxis": (lambda: mo.moveaxis(X, (0, 1), 0), ValueError, "2 dimensions to 1 places"),
    "moveaxis twice": (lambda: mo.moveaxis(X, (0, 0), (0, 1)), ValueError, "given twice"),
    "rot90 by a float": (lambda: mo.rot90(X, 1.5), TypeError, "k is 1.5, expected an integer"),
    "indices": (lambda: mo.indices((2, 1.5)), TypeError, "dimensions is"),
    "vander by a float": (lambda: mo.vander(X[0], 2.5), TypeError, "n is 2.5"),
    "linspace by a float": (lambda: mo.linspace(0, 1, 2.5), TypeError, "num is 2.5"),
    "rot90": (lambda: mo.rot90(X, axes=(0,)), ValueError, "expected two dimensions"),
    "tril": (lambda: mo.tril(X[0]), ValueError, r"shape \(3,\), expected 2 dimensions"),
    "diag": (lambda: mo.diag(X[None]), ValueError, "expected 1 or 2 dimensions"),
    "diagonal": (lambda: mo.diagonal(X, 0, 1, 1), ValueError, "given twice"),
    "offset": (lambda: mo.eye(3, 3, 0.5), TypeError, "offset is 0.5"),
    "eye": (lambda: mo.eye(-1), ValueError, "extent is -1"),
    "stack": (lambda: mo.hstack([]), ValueError, "at least one"),
    "vstack": (lambda: mo.vstack([X, X[:, 1:]]), ValueError, "2"),
    "delete": (lambda: mo.delete(X, 7, 0), IndexError, "delete: .*7 is out of bounds"),
    "delete by a float": (lambda: mo.delete(X, 0.5, 0), TypeError, "expected a slice, integers"),
    "insert": (lambda: mo.insert(X, 7, 0, 0), IndexError, "insert: .*7.* is out of bounds"),
    "insert too much": (lambda: mo.insert(X, [0, 1], X[:, :2], 0), ValueError, "broadcast"),
    "take": (lambda: mo.take(X, [0, 6]), IndexError, "index 6 is out of range"),
    "take of nothing": (lambda: mo.take(X[:0], [0], 0, "clip"), IndexError, "no elements"),
    "take by a mode": (lambda: mo.take(X, [0], mode="fold"), ValueError, "mode is 'fold'"),
    "take_along_axis": (lambda: mo.take_along_axis(X, [0]), ValueError, "expected 2 dimensions"),
    "put_along_axis": (
        lambda: mo.put_along_axis(X[:1], [[0], [1]], 1.0, 1),
        ValueError,
        r"do not broadcast to \(1, 3\)",
    ),
    "meshgrid": (lambda: mo.meshgrid(X), ValueError, "expected vectors"),
    "meshgrid indexing": (lambda: mo.meshgrid(X[0], indexing="yx"), ValueError, "'xy' or 'ij'"),
    "geomspace of a word": (
        lambda: mo.geomspace("a", 1),
        TypeError,
        "start is 'a', expected a num",
    ),
    "linspace of a vector": (lambda: mo.linspace(0, X, 3), TypeError, "stop is a Var of shape"),
    "logspace of a word": (lambda: mo.logspace(0, 1, 3, "a"), TypeError, "base is 'a'"),
    "arange of nothing": (lambda: mo.arange(None), TypeError, "stop is None"),
    "arange of nan": (lambda: mo.arange(float("nan")), ValueError, "expected finite numbers"),
    "stack a number": (lambda: mo.vstack(1), TypeError, "expected a sequence of tensors"),
    "concat a number": (lambda: mo.concat(1.5), TypeError, "expected a sequence of tensors"),
    "geomspace": (lambda: mo.geomspace(-1, 1), ValueError, "of one sign"),
    "logspace": (lambda: mo.logspace(0, 1, -1), ValueError, "num is -1"),
    "vander": (lambda: mo.vander(X), ValueError, "expected a vector"),
    "broadcast_arrays": (lambda: mo.broadcast_arrays(X, X.T), ValueError, r"\(2, 3\), \(3, 2\)"),
    "broadcast_to": (lambda: mo.broadcast_to(X, (3, 2)), ValueError, "does not broadcast"),
    "expand_dims": (lambda: mo.expand_dims(X, (0, 0)), ValueError, "given twice"),
    "chunk": (lambda: X.chunk(2), AttributeError, "array_split"),
    "index_add": (lambda: X.index_add(0, [0], X), AttributeError, r"x\.at\[index\]\.add"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    action, kind, message = WRONG[name]
    with pytest.raises(kind, match=message) as raised:
        action()
    assert "\n" not in str(raised.value)
    if kind is not AttributeError and "no parameter" not in message:
        assert "test_shaping.py:" in str(raised.value)
