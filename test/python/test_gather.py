# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that are tensors."""

import math

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same, same_bits


def integers(rng, shape, extent, dtype="int64"):
    """Return indices, negative ones among them."""
    return rng.integers(-extent, extent, shape).astype(dtype)


@pytest.fixture
def x(rng):
    return floats(rng, (5, 7, 6))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, None])
@pytest.mark.parametrize("shape", [(), (1,), (9,), (3, 4), (2, 0)])
def test_take(rng, x, shape, dim, dtype):
    extent = x.size // 2 if dim is None else x.shape[dim]
    index = integers(rng, shape, min(extent, 100), dtype)
    same(mo.take(x, index, dim), np.take(x, index, dim))


def test_take_of_other_types(rng):
    index = integers(rng, (4, 3), 8)
    for dtype in ["bool", "uint8", "int64", "float16", "float64"]:
        x = rng.integers(0, 2, (8, 3)).astype(dtype)
        same(mo.take(x, index, 0), np.take(x, index, 0))
    places = (index % 8).astype("uint8")
    same(mo.take(np.arange(8), places), places.astype("int64"))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather(rng, x, dim):
    shape = list(x.shape)
    shape[dim] = 4
    index = integers(rng, shape, x.shape[dim])
    same(mo.gather(x, dim, index), np.take_along_axis(x, index, dim))


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatter_add(rng, x, dim):
    shape = list(x.shape)
    shape[dim] = 11
    index, src = integers(rng, shape, x.shape[dim]), floats(rng, shape)
    expected = x.astype("float64")
    places = list(np.indices(shape))
    places[dim] = index
    np.add.at(expected, tuple(places), src)
    close(mo.scatter_add(x, dim, index, src), expected)


ROWS, PLACES = np.array([[0, -1, 3], [2, 2, 1]]), np.array([4, -5, 0])
MASK = np.arange(35).reshape(5, 7) % 3 == 0
KEYS = {
    "first": np.s_[ROWS],
    "last": np.s_[..., PLACES],
    "middle": np.s_[:, PLACES],
    "two": np.s_[ROWS, PLACES],
    "apart": np.s_[ROWS, :, PLACES],
    "apart with a slice": np.s_[PLACES, 1:3, ROWS],
    "beside an integer": np.s_[1, ROWS],
    "apart from an integer": np.s_[1, :, ROWS],
    "slices around": np.s_[1:4, PLACES, ::-2],
    "new axis before": np.s_[None, ROWS],
    "new axis between": np.s_[ROWS, None, PLACES],
    "three": np.s_[ROWS, PLACES, PLACES],
    "list": np.s_[[3, 1, 1]],
    "empty": np.s_[np.zeros((0, 2), "int64")],
    "mask of all": np.s_[np.arange(210).reshape(5, 7, 6) % 4 == 1],
    "mask of two": np.s_[MASK],
    "mask of one": np.s_[:, [True, False, True, True, False, False, True]],
    "mask and integers": np.s_[MASK, 2],
    "no element": np.s_[np.zeros((5, 7), bool)],
}


@pytest.mark.parametrize("name", KEYS)
def test_index(x, name):
    key = KEYS[name]
    same(mo.array(x)[key], x[key])
    parts = key if isinstance(key, tuple) else (key,)
    same(mo.array(x)[tuple(mo.array(p) if isinstance(p, np.ndarray) else p for p in parts)], x[key])


def test_extras(rng):
    x, index = floats(rng, (7, 6)), rng.integers(-2, 9, (5, 4)).astype("int32")
    y = mo.array(x).reindex((5, 4), ("@e0(i0, i1)", "i1 + 1"), 3.0, extras=[mo.array(index)])
    expected = np.full((5, 4), 3, "float32")
    for i, j in np.ndindex(5, 4):
        if 0 <= index[i, j] < 7:
            expected[i, j] = x[index[i, j], j + 1]
    same(y, expected)
    # C's division of what may be negative, an extra at another place, twice.
    place = np.array([-3, 5, 2, 13])
    y = mo.array(x).reindex(
        (4, 6), ("@e0(3 - i0) / 2 + @e0(i0) % 2", "i1"), extras=[mo.array(place)]
    )
    expected = np.zeros((4, 6), "float32")
    for i in range(4):
        row = int(place[3 - i] / 2) + int(np.fmod(place[i], 2))
        if 0 <= row < 7:
            expected[i] = x[row]
    same(y, expected)


def test_extras_in_conditions(rng):
    x, index = floats(rng, (7, 6)), np.array([4, 0, 6, 2, -1])
    y = mo.array(x).reindex(
        (5, 6), ("@e0(i0)", "i1"), 9, ["@e0(i0) > 4", "i1 == @e0(i0)"], extras=[mo.array(index)]
    )
    expected = np.full((5, 6), 9, "float32")
    for i, j in np.ndindex(5, 6):
        if 0 <= index[i] <= 4 and j != index[i]:
            expected[i, j] = x[index[i], j]
    same(y, expected)


def test_extra_out_of_its_own_range(rng):
    x, index = floats(rng, (7,)), np.array([4, 0, 6])
    y = mo.array(x).reindex((5,), ("@e0(i0 - 1)",), 9, extras=[mo.array(index)])
    same(y, np.concatenate([[9], x[index], [9]]).astype("float32"))


@pytest.mark.parametrize("kind", ["add", "max", "min"])
def test_reindex_reduce(rng, kind):
    x, index = floats(rng, (40, 9)), rng.integers(-1, 7, 40)
    y = mo.array(x).reindex_reduce(kind, (6, 9), ("@e0(i0)", "i1"), extras=[mo.array(index)])
    start = {"add": 0.0, "max": -np.inf, "min": np.inf}[kind]
    expected = np.full((6, 9), start)
    ufunc = {"add": np.add, "max": np.maximum, "min": np.minimum}[kind]
    inside = (index >= 0) & (index < 6)
    ufunc.at(expected, index[inside], x[inside])
    close(y, expected)


def test_counts_and_bits(rng):
    index = rng.integers(0, 5, 1000)
    ones = mo.ones((1000,), "int64")
    count = ones.reindex_reduce("add", (5,), ("@e0(i0)",), extras=[mo.array(index)])
    same(count, np.bincount(index, minlength=5))
    seen = (ones > 0).reindex_reduce("or", (8,), ("@e0(i0)",), extras=[mo.array(index)])
    same(seen, np.arange(8) < 5)


def test_half_floats_add_up_in_single_precision():
    ones = mo.ones((5000,), "float16")
    index = mo.zeros((5000,), "int64")
    same(
        ones.reindex_reduce("add", (2,), ("@e0(i0)",), extras=[index]),
        np.array([5000, 0], "float16"),
    )


def test_gradients(rng):
    x = floats(rng, (4, 3), "float64")
    index = integers(rng, (6,), 4)
    along = integers(rng, (4, 5), 3)
    src = floats(rng, (4, 5), "float64")
    check_gradient(lambda x: mo.sin(mo.take(x, index, 0)), x)
    check_gradient(lambda x: mo.exp(mo.gather(x, 1, along)), x)
    check_gradient(lambda x, s: mo.sin(mo.scatter_add(x, 1, along, s)), x, src)
    check_gradient(lambda x: mo.square(x[index, None, along[0, :1]] * x[1]), x)


@pytest.mark.parametrize("kind", ["max", "min"])
def test_gradients_of_extremes(rng, kind):
    x = rng.permutation(12).astype("float64").reshape(6, 2) / 4
    index = mo.array(np.array([0, 2, 0, 1, 3, 2]))
    check_gradient(
        lambda x: mo.square(
            x.reindex_reduce(kind, (3, 2), ("@e0(i0)", "i1"), extras=[index]).clip(-9, 9)
        ),
        x,
    )
    # Evenly among equal ones.
    ties = mo.array(np.array([1.0, 1.0, 0.0] if kind == "max" else [1.0, 1.0, 2.0]))
    y = ties.reindex_reduce(kind, (1,), ("@e0(i0)",), extras=[mo.zeros((3,), "int64")])
    same(mo.grad(y.sum(), ties), np.array([0.5, 0.5, 0.0]))


def test_gradient_of_integers_and_indices_is_none(rng):
    index = mo.array(integers(rng, (6,), 4))
    x = mo.array(floats(rng, (4, 3)))
    g = mo.grad(x[index].sum(), x)
    same(g, np.bincount(index.numpy() % 4, minlength=4).astype("float32")[:, None].repeat(3, 1))


def test_embedding(rng):
    layer = mo.nn.Embedding(50, 12)
    tokens = rng.integers(0, 50, (4, 9))
    y = layer(mo.array(tokens))
    table = layer.weight.numpy()
    same(y, table[tokens])
    weight = floats(rng, (4, 9, 12))
    expected = np.zeros((50, 12))
    np.add.at(expected, tokens, weight)
    close(mo.grad((layer(mo.array(tokens)) * weight).sum(), layer.weight), expected)
    assert "50, 12" in repr(layer)


def test_training_moves_only_what_was_read(rng):
    layer = mo.nn.Embedding(20, 3)
    optimizer = mo.optim.SGD(layer.parameters(), 0.1)
    before = layer.weight.numpy()
    tokens = np.array([3, 3, 7])
    for _ in range(3):
        optimizer.step((layer(mo.array(tokens)) ** 2).sum())
    moved = (layer.weight.numpy() != before).any(1)
    same(moved, np.isin(np.arange(20), tokens))


def test_gathers_have_the_same_bits_for_any_number_of_threads(rng, compiled):
    x, index = floats(rng, (30000, 67)), rng.integers(0, 30000, 30000)
    v, at = mo.array(x), mo.array(index)
    same(same_bits(lambda: mo.take(v, at, 0)), x[index])


@pytest.mark.processor
def test_scatters_are_not_shared_among_threads(rng, compiled):
    """Any element may meet any other's place, so nothing else keeps the order."""
    x, index = floats(rng, (30000, 67)), rng.integers(0, 100, 30000)
    total = mo.array(x).reindex_reduce(
        "add", (100, 67), ("@e0(i0)", "i1"), extras=[mo.array(index)]
    )
    assert {kernel.threads for kernel in mo.explain(total).kernels} == {1}
    expected = np.zeros((100, 67))
    np.add.at(expected, index, x)
    close(total, expected, rtol=1e-5, atol=1e-4)


def test_index_errors():
    x = mo.array(np.arange(10.0))
    for bad in [10, -11, 2**40]:
        y = mo.take(x, mo.array(np.array([0, bad, 3])))
        message = f"index {bad} is out of range for dimension 0 of extent 10, .*test_gather"
        with pytest.raises(IndexError, match=message):
            y.numpy()
    # The session goes on.
    same(mo.take(x, mo.array(np.array([-10, 9]))), np.array([0.0, 9.0]))
    with pytest.raises(IndexError, match="dimension 1 of extent 3"):
        mo.zeros((2, 3))[None, :, [1, 3]].numpy()
    with pytest.raises(IndexError, match="extent 0"):
        mo.take(mo.zeros((0,)), mo.array(np.array([0]))).numpy()
    # A layer counts nothing from the end.
    for bad in [5, -1]:
        with pytest.raises(IndexError, match=f"index {bad} is out of range for dimension 0"):
            mo.nn.Embedding(5, 2)(mo.array(np.array(bad))).numpy()


@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("optimiser", [mo.optim.SGD, mo.optim.Adam])
def test_parameters_outlive_an_index_out_of_range(rng, optimiser, is_held, asynchronous):
    with mo.flag_scope(asynchronous=asynchronous):
        table, weight = mo.array(floats(rng, (10, 8))), mo.array(floats(rng, (8, 3)))
        parameters = [table, weight]
        descent = optimiser(parameters, lr=0.1)

        def step(*rows):
            hidden = mo.tanh(mo.take(table, mo.array(np.array(rows)), 0) @ weight)
            loss = (hidden * hidden).sum()
            descent.step(loss)
            return loss

        for _ in range(2):
            step(1, 2, 3).sync()
        for bad in [12, -11]:
            views = [np.from_dlpack(parameter) for parameter in parameters]
            before = [view.copy() for view in views]
            if not is_held:
                views.clear()
            with pytest.raises(IndexError, match=f"index {bad} is out of range"):
                loss = step(1, bad, 3)
                mo.sync_all()
            with pytest.raises(IndexError, match=f"index {bad} is out of range"):
                loss.numpy()
            for parameter, expected in zip(parameters, before, strict=True):
                same(parameter, expected)
            step(4, 5, 6).sync()
            mo.sync_all()
            assert not np.array_equal(table.numpy(), before[0])


def test_a_check_that_failed_stops_what_is_computed_later(rng):
    x, parameter = mo.array(floats(rng, (10,))), mo.array(floats(rng, (3,)))
    before = parameter.numpy().copy()
    y = mo.take(x, mo.array(np.array([0, 10, 3])))
    with pytest.raises(IndexError, match="index 10"):
        y.numpy()
    with pytest.raises(IndexError, match="index 10"):
        (mo.take(x, mo.array(np.array([0, 10, 3]))) * 2).numpy()
    parameter.update(parameter - y * 2)
    with pytest.raises(IndexError, match="index 10"):
        mo.sync_all()
    same(parameter, before)


def test_an_update_without_such_indices_is_made(rng):
    x, parameter = mo.array(floats(rng, (10,))), mo.array(floats(rng, (3,)))
    expected = parameter.numpy() * np.float32(2)
    y = mo.take(x, mo.array(np.array([0, 10, 3])))
    parameter.update(parameter * 2)
    same(parameter, expected)
    with pytest.raises(IndexError, match="index 10"):
        y.numpy()


def test_indices_of_indices_are_checked_before_an_update(rng):
    parameter = mo.array(floats(rng, (10,)))
    before = parameter.numpy().copy()
    for bad in [[0, 99, 2], [0, 1, 3]]:
        first = mo.take(mo.array(np.array([3, 4, 5, 10])), mo.array(np.array(bad)))
        picked = mo.take(parameter, first)
        parameter.update(parameter - picked.sum())
        with pytest.raises(IndexError, match=f"index {bad[1] if bad[1] > 9 else 10}"):
            mo.sync_all()
        same(parameter, before)
    first = mo.take(mo.array(np.array([3, 4, 5, 10])), mo.array(np.array([0, 1, 2])))
    parameter.update(parameter - mo.take(parameter, first).sum())
    close(parameter, before - before[3:6].sum())


def test_errors():
    x, i = mo.zeros((3, 4)), mo.zeros((3,), "int64")
    with pytest.raises(TypeError, match="float32"):
        mo.take(x, mo.zeros((3,)))
    with pytest.raises(TypeError, match="float32"):
        x[mo.zeros((3,))]
    with pytest.raises(TypeError, match="float32"):
        x.reindex((3,), ("@e0(i0)", "0"), extras=[mo.zeros((3,))])
    with pytest.raises(IndexError, match="given 3 indices"):
        x[i, i, i]
    with pytest.raises(IndexError, match="mask of shape"):
        x[np.ones((2, 4), bool)]
    # Dimensions are those of the tensor, behind a mask of two as well.
    with pytest.raises(IndexError, match="index 4 is out of range for dimension 2 of extent 4"):
        mo.zeros((2, 3, 4))[np.ones((2, 3), bool), 4]
    with pytest.raises(IndexError, match="index 4 is out of range for dimension 2 of extent 4"):
        mo.zeros((2, 3, 4))[np.ones((2, 3), bool), mo.array([4])].numpy()
    with pytest.raises(TypeError, match=r"Embedding: input is float32.*test_gather"):
        mo.nn.Embedding(3, 2)(mo.zeros((3,)))
    with pytest.raises(IndexError, match=r"\(2,\), \(3,\) do not broadcast together .*test_gather"):
        x[[0, 1], [0, 1, 2]]
    with pytest.raises(ValueError, match="gather: indices have shape"):
        mo.gather(x, 0, i)
    with pytest.raises(ValueError, match="scatter_add: src has shape"):
        mo.scatter_add(x, 0, mo.zeros((2, 4), "int64"), x)
    with pytest.raises(ValueError, match="there is no extra 1"):
        x.reindex((3,), ("@e1(i0)", "0"), extras=[i])
    with pytest.raises(ValueError, match="extra 0 is read at 2 indices"):
        x.reindex((3,), ("@e0(i0, 0)", "0"), extras=[i])
    with pytest.raises(ValueError, match="there is no extra 7"):
        x.reindex((3,), ("@e0(@e7(i0))", "0"), extras=[i])
    with pytest.raises(ValueError, match="the ranges of the indices do not decide this"):
        x.reindex((3,), ("@e0(min(i0, @e0(0)))", "0"), extras=[i])


class Places(list):
    """A list in which nothing is counted from the end."""

    def __getitem__(self, place):
        if place < 0:
            raise IndexError(place)
        return super().__getitem__(place)


#: Index strings with extras a and b of 12 integers, and what they compute at i.
COMPUTED = {
    "@e0(@e1(i0))": lambda a, b, i: a[b[i]],
    "@e0(@e1(11 - i0) % 5 + i0 / 2)": lambda a, b, i: a[b[11 - i] % 5 + i // 2],
    "@e0(0 * @e1(@e1(i0)) + 3) - @e1(2)": lambda a, b, i: a[3] - b[2],
    "@e0(i0 / @e1(5))": lambda a, b, i: a[i // b[5]],
    "@e1(i0) * @e0(i0) / 8": lambda a, b, i: math.trunc(b[i] * a[i] / 8),
    "(i0 - 6) / (@e0(i0) - 5)": lambda a, b, i: math.trunc((i - 6) / (a[i] - 5)),
    "(i0 - 6) % (@e0(i0) - 5)": lambda a, b, i: int(math.fmod(i - 6, a[i] - 5)),
    "7 / (0 * i0 + @e0(i0))": lambda a, b, i: math.trunc(7 / a[i]),
    "i0 * i0 % @e1(1)": lambda a, b, i: i * i % b[1],
    # What is nowhere stays there: 5 is divided by zero once.
    "@e0(i0) / @e1(i0) * 16": lambda a, b, i: math.trunc(a[i] / b[i]) * 16,
    "(@e0(i0) / @e1(i0)) * (@e0(i0) % @e1(i0))": lambda a, b, i: a[i] // b[i] * (a[i] % b[i]),
}


@pytest.mark.parametrize("text", COMPUTED)
def test_indices_that_extras_compute(rng, text):
    """Extras inside of extras, and operations that no affine expression has, are those of C."""
    a, b = rng.permutation(12), rng.permutation(12)
    x = rng.standard_normal(12).astype("float32")
    extras = [mo.array(a.astype("int32")), mo.array(b)]

    def find(i):
        try:
            return int(COMPUTED[text](Places(a.tolist()), Places(b.tolist()), i))
        except (ZeroDivisionError, ValueError, IndexError):  # ValueError of `fmod`
            return -1

    places = [find(i) for i in range(12)]
    expected = [x[k] if 0 <= k < 12 else 7.0 for k in places]
    with_fill = mo.array(x).reindex((12,), (text,), 7.0, extras=extras)
    same(with_fill, np.array(expected, "float32"))
    with mo.flag_scope(backend="interpreter"):
        same(mo.array(x).reindex((12,), (text,), 7.0, extras=extras), with_fill.numpy())
    sums = np.zeros(12)
    for i, k in enumerate(places):
        if 0 <= k < 12:
            sums[k] += x[i]
    close(mo.array(x).reindex_reduce("add", (12,), (text,), extras=extras), sums)
    # The same as a condition.
    kept = [x[i] if k > 4 else 7.0 for i, k in enumerate(places)]
    masked = mo.array(x).reindex((12,), ("i0",), 7.0, [f"{text} <= 4"], extras=extras)
    same(masked, np.array(kept, "float32"))


@pytest.mark.parametrize("factor", [1, 3, 16, 4096, 32767])
def test_multiples_of_an_index_that_is_nowhere_are(factor):
    text = f"@e0(i0 - 1) * {factor}"
    read = mo.ones(4).reindex((3,), (text,), 7.0, extras=[mo.array([0, 0])])
    same(read, np.array([7.0, 1.0, 1.0], "float32"))
    # Of a constant that no range gives as one.
    text = "@e0(i0) * (min(i0, 3) - i0)"
    read = mo.ones(4).reindex((2,), (text,), 7.0, extras=[mo.array([5, 6])])
    same(read, np.ones(2, "float32"))


def test_gradients_through_indices_that_extras_compute(rng):
    a, b = mo.array(rng.permutation(12)), mo.array(rng.integers(1, 4, 12))
    text = "@e0(i0 / @e1(i0))"
    check_gradient(lambda x: x.reindex((12,), (text,), extras=[a, b]) ** 2, floats(rng, 12))


SET_KEYS = {
    "rows": np.s_[[3, 0, -1]],
    "rows twice": np.s_[[3, 0, 3, 3]],
    "elements": np.s_[[0, 1, 1], [2, 3, 3], [5, 0, 0]],
    "columns": np.s_[:, :, [5, 1, 5]],
    "between slices": np.s_[1:, [[0, 6], [2, 2]], ::2],
    "backwards": np.s_[::-1, [1, 4], 3:0:-1],
    "beside integers": np.s_[[1, 2], 3, :],
    "apart": np.s_[[1, 2], :, [3, 3]],
    "new axes": np.s_[None, :, [1, 6], None],
    "mask": np.s_[np.arange(5) % 2 == 0],
    "mask of two": np.s_[:, np.arange(42).reshape(7, 6) % 5 == 0],
    "nothing": np.s_[np.array([], int)],
    "masks of nothing": np.s_[np.zeros(5, bool)],
}


@pytest.mark.parametrize("name", SET_KEYS)
def test_set(rng, x, name):
    key = SET_KEYS[name]
    for value in [
        floats(rng, x[key].shape),
        np.float32(2.5),
        floats(rng, (1, 1, *x.shape))[..., :1],
    ]:
        if value.ndim > 0 and value.shape != x[key].shape:
            value = value[:, :, :1, :1, 0]
        expected, actual = x.copy(), mo.array(x)
        before = actual + 0
        expected[key] = value
        actual[key] = value
        same(actual, expected)
        same(before, x)
    expected, actual = x.copy(), mo.array(x)
    expected[key] *= 2
    actual[key] *= 2
    same(actual, expected)


def test_set_by_vars_and_of_other_types(rng):
    x, rows = mo.array(np.zeros((6, 4), "int32")), mo.array(np.array([5, 1], "uint8"))
    x[rows] = np.array([[1.5], [2.5]])
    x[rows - rows, [1, 2]] = 7
    expected = np.zeros((6, 4), "int32")
    expected[[5, 1]] = [[1], [2]]
    expected[0, [1, 2]] = 7
    same(x, expected)
    flags = mo.array(np.zeros(5, bool))
    flags[[1, 3]] = True
    same(flags, np.array([False, True, False, True, False]))


def test_gradients_of_set(rng):
    x, y = mo.array(floats(rng, (5, 3))), mo.array(floats(rng, (4, 3)))
    weight = floats(rng, (5, 3))
    z = x * 1
    z[[1, 3, 1, 0]] = y * 2
    gx, gy = mo.grad((z * weight).sum(), [x, y])
    expected = weight.copy()
    expected[[0, 1, 3]] = 0
    close(gx, expected)
    # The first value for row 1 was written over.
    expected = 2 * weight[[1, 3, 1, 0]]
    expected[0] = 0
    close(gy, expected)


def test_errors_of_set():
    x = mo.zeros((5, 3))
    with pytest.raises(
        ValueError, match=r"shape \(4,\) cannot be assigned to a part of shape \(2, 3\)"
    ):
        x[[0, 1]] = np.zeros(4, "float32")
    with pytest.raises(TypeError, match="float32"):
        x[mo.zeros((3,))] = 1
    # What is known is told at once, what is computed where it is waited for.
    with pytest.raises(IndexError, match=r"index 5 is out of range .*test_gather"):
        x[[0, 5]] = 1
    same(x, np.zeros((5, 3), "float32"))
    x[mo.array([0, 5])] = 1
    with pytest.raises(IndexError, match="index 5 is out of range"):
        x.numpy()


def test_rows_that_are_transposed(rng):
    table, index = floats(rng, (40, 70)), integers(rng, (50,), 40)
    same(mo.take(table, index, 0).transpose(1, 0) + 1, table[index].T + np.float32(1))
    places = integers(rng, (70, 50), 40)
    expected = np.take_along_axis(table.T, places, 1)
    same(mo.gather(mo.array(table).transpose(1, 0), 1, places) * 2, expected * np.float32(2))
    other = floats(rng, (70, 50))
    same(mo.array(other).transpose(1, 0) + mo.take(table, index, 0), other.T + table[index])


def test_rows_that_are_normalised(rng):
    table, index = floats(rng, (40, 70)), integers(rng, (6, 50), 40)
    y = mo.nn.LayerNorm(70)(mo.take(table, index, 0))
    rows = table[index].astype("float64")
    close(y, (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5))


def test_elements_of_rows_that_the_same_kernel_computes(rng):
    x, index = floats(rng, (64, 90)), integers(rng, (64, 20), 90)
    y = mo.gather(mo.softmax(x, 1), 1, index)
    e = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    close(y, np.take_along_axis(e / e.sum(1, keepdims=True), index, 1))
    # Rows of others are not there yet.
    rows = integers(rng, (64,), 64)
    close(mo.take(mo.softmax(x, 1), rows, 0), (e / e.sum(1, keepdims=True))[rows])


def test_explanation_says_where_indices_are_from(rng, compiled):
    table, index = mo.array(floats(rng, (40, 70))), mo.array(np.arange(16) % 9)
    y = table.reindex((16, 70), ("@e0(i0)", "i1"), extras=[index])
    (stage,) = mo.explain(y).kernels[0].stages
    read = next(a for a in stage.accesses if a.tensor == "tensor<40x70xf32>")
    assert read.kind == "unit stride"
    assert read.indices == ["s0 = tensor<16xi64> at (d0, d1) -> (d0)"]
    places = mo.array(integers(rng, (16, 70), 40)) % 40
    y = mo.array(floats(rng, (40,))).reindex((16, 70), ("@e0(i0, i1)",), extras=[places])
    (stage,) = mo.explain(y).kernels[0].stages
    read = next(a for a in stage.accesses if a.tensor == "tensor<40xf32>")
    assert (read.kind, read.indices) == ("gathered", ["s0 = a mod of this stage"])
    assert "s0 = a mod of this stage" in str(mo.explain(y))
