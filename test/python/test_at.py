# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""x.at[key], and masks that are written to without being counted."""

import metaops as mo
import numpy as np
import pytest
from test_indexing_fuzz import SHAPES, as_given, draw_key, outcome
from util import check_gradient, close, floats, on_processor, same

UFUNCS = {"add": np.add, "max": np.maximum, "min": np.minimum}
MASK = np.array([True, False, True, True, False])


def updated(x, key, value, kind):
    """Return what NumPy makes of an update, element by element."""
    x = x.copy()
    if kind == "set":
        x[key] = value
    else:
        UFUNCS[kind].at(x, key, value)
    return x


@pytest.mark.parametrize("kind", ["set", "add", "max", "min"])
def test_random_keys(kind):
    rng = np.random.default_rng(7)
    done = 0
    with mo.flag_scope(backend="interpreter"):
        for _ in range(150):
            shape = SHAPES[rng.integers(len(SHAPES))]
            x = rng.integers(-50, 50, shape).astype("float32")
            key = draw_key(rng, shape)
            part = outcome(lambda x=x, key=key: x[key])
            if isinstance(part, Exception):
                continue
            value = rng.integers(-99, 99, np.shape(part)).astype("float32")
            if value.ndim and rng.random() < 0.3:
                value = value[..., :1]
            expected = updated(x, key, value, kind)
            v = mo.array(x)
            same(getattr(v.at[as_given(rng, key)], kind)(value), expected)
            same(v, x)
            done += 1
    assert done > 80


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint8", "int8"])
def test_types(rng, dtype):
    rows = np.array([3, 0, 3, 1])
    x, y = (rng.integers(0, 40, shape).astype(dtype) for shape in [(5, 2), (4, 2)])
    for kind in ["set", *UFUNCS]:
        same(getattr(mo.array(x).at[rows], kind)(y), updated(x, rows, y, kind))
        same(getattr(mo.array(x).at[rows], kind)(7), updated(x, rows, np.array(7, dtype), kind))


def test_integers_stay_exact():
    x = mo.array(np.array([2**60 + 1, 5]))
    same(x.at[[0, 0]].add([1, 2]), np.array([2**60 + 4, 5]))
    same(x.at[[1]].max(2**53 + 1), np.array([2**60 + 1, 2**53 + 1]))
    same(mo.array(np.zeros(2)).at[[1]].set(0.1), np.array([0, 0.1]))


def test_values_that_meet():
    x = mo.array(np.zeros(3, "float32"))
    same(x.at[[0, 2, 2]].add(1), np.float32([1, 0, 2]))
    same(x.at[[0, 2, 2]].set([1, 2, 3]), np.float32([1, 0, 3]))
    same(x.at[mo.array([0, -1, 2])].min([1, -2, -3]), np.float32([0, 0, -3]))
    same(x.at[1:].add([5, 6]).at[0].set(4).at[None, ..., -1].max(7), np.float32([4, 5, 7]))
    # In place, what is read is read once.
    x[[0, 2, 2]] += 1
    same(x, np.float32([1, 0, 1]))


@pytest.mark.parametrize("kind", ["set", "add", "max", "min"])
def test_gradients(rng, kind):
    rows, columns = np.array([3, 0, 3]), np.array([[1], [0]])
    x, y, z = (floats(rng, shape, "float64") for shape in [(4, 3), (3, 2), (2, 3)])
    x[1] = 0.5
    check_gradient(
        lambda x, y, z: mo.sin(
            getattr(x.at[rows, 1:], kind)(y * 2).at[1].add(y[0, 0]).at[columns, [0, 2, 2]].set(z)
        ),
        x,
        y,
        z,
    )
    # By a value for all, and of a mask.
    check_gradient(
        lambda x, y: mo.sin(getattr(x.at[MASK[:4]], kind)(y[0, 0]).at[..., 2].set(y[1, 1])), x, y
    )


# Keys of a tensor of shape (5, 3, 2), and shapes of values for any number of elements.
MASKED = {
    "rows": (np.s_[MASK], (1, 3, 2), (3, 1), (2,)),
    "all": (np.s_[np.arange(30).reshape(5, 3, 2) % 4 == 1], (1,)),
    "columns": (np.s_[:, [True, False, True]], (5, 1, 2), (1, 2), (1, 1)),
    "backwards": (np.s_[MASK, ::-1], (3, 2), (3, 1)),
    "beside an integer": (np.s_[MASK, 1], (1, 2), (2,)),
    "apart from an integer": (np.s_[MASK, :, 1], (1, 3), (3,)),
    "behind an integer": (np.s_[2, :, [False, True]], (1, 3), (3,)),
    "new axes": (np.s_[None, MASK, None, 1:], (1, 1, 1, 2, 2), (2, 1)),
    "of no dimension": (np.s_[np.array(True)], (1, 5, 3, 2), (3, 2)),
    "false": (np.s_[..., np.array(False), 1], (5, 3, 1), (3, 1)),
}


@pytest.mark.parametrize("name", MASKED)
def test_masks_need_not_be_counted(rng, name):
    key, *shapes = MASKED[name]
    x = floats(rng, (5, 3, 2))
    given = tuple(
        mo.array(item) ^ False if isinstance(item, np.ndarray | list) else item
        for item in (key if isinstance(key, tuple) else (key,))
    )
    for value in [2.5, *(floats(rng, shape) for shape in shapes)]:
        before = mo.stats()["programs_run"]
        written, added = mo.array(x), mo.array(x).at[given].add(value)
        written[given] = value
        assert mo.stats()["programs_run"] == before
        same(written, updated(x, key, value, "set"))
        same(added, updated(x, key, value, "add"))


def test_a_mask_is_counted_where_it_has_to_be(rng):
    x, values = floats(rng, (5, 2)), floats(rng, (3, 2))
    y, mask = mo.array(x), mo.array(MASK) ^ False
    y[mask] = values
    expected = x.copy()
    expected[MASK] = values
    same(y, expected)
    y[mask] += values
    expected[MASK] += values
    same(y, expected)
    with pytest.raises(ValueError, match=r"shape \(2, 2\) cannot be assigned to a part of shape"):
        y[mask] = values[:2]
    same(y, expected)


def test_few_kernels(rng, compiled):
    x, rows = mo.array(floats(rng, (60, 50))), mo.array(np.array([3, 1, 3]))
    x[x > 0] = 0
    (x + 1).sync()
    assert len(mo.last_program().kernels) == 1
    y = mo.array(floats(rng, (60, 50)))
    y[rows] = floats(rng, (3, 50))
    y.sync()
    # Where the host does not see indices, what checks them is told of, too.
    checks = 0 if on_processor(y) else 1
    assert len(mo.last_program().kernels) <= 2 + checks
    # A slice beside a tensor is not copied.
    (mo.array(floats(rng, (60, 50)))[10:40, rows] * 2).sync()
    assert len(mo.last_program().kernels) == 1 + 2 * checks


def test_a_moving_slice_beside_a_tensor_compiles_once(compiled):
    x, columns = mo.array(np.arange(60.0).reshape(20, 3)), mo.array(np.array([2, 0]))
    expected = x.numpy()
    for start in range(1, 12):
        same(x[start : start + 4, columns], expected[start : start + 4, [2, 0]])
        same(x[start, columns], expected[start, [2, 0]])
        if start == 3:
            before = mo.stats()["programs_compiled"]
    assert mo.stats()["programs_compiled"] == before


def test_errors():
    x = mo.zeros((3, 4), "int32")
    with pytest.raises(TypeError, match=r"a value is float32, expected integers for .*test_at"):
        x.at[0].add(mo.array(0.5))
    with pytest.raises(ValueError, match=r"shape \(3,\) cannot be assigned .* shape \(2, 4\)"):
        x.at[[0, 1]].add([1, 2, 3])
    with pytest.raises(IndexError, match=r"index 3 is out of range .*test_at"):
        x.at[[3]].add(1)
    with pytest.raises(IndexError, match=r"index 3 is out of range .*test_at"):
        x.at[mo.array([3])].add(1).numpy()
    with pytest.raises(TypeError, match="an index is a str"):
        x.at["a"].set(1)
    with pytest.raises(OverflowError):
        x.at[0, [1]].set(2**40)
    same(x, np.zeros((3, 4), "int32"))


@pytest.mark.parametrize("index", [0, [0], [[0, 0]]])
def test_no_index_is_in_range_where_there_is_nothing(index):
    """Nothing is computed that would tell."""
    for given in (index, np.array(index), mo.array(index)):
        for shape, key in (((0,), given), ((2, 0), (slice(None), given)), ((0, 3), (given, 1))):
            x = mo.zeros(shape)
            with pytest.raises(IndexError, match=r"out of range for dimension . of extent 0"):
                x.at[key].set(1)
            with pytest.raises(IndexError, match=r"out of range for dimension . of extent 0"):
                x.at[key].add(1)
            with pytest.raises(IndexError, match=r"out of range for dimension . of extent 0"):
                x[key] = 1
    same(mo.zeros((0, 3)).at[mo.array([0, 1])[:0]].set(1), np.zeros((0, 3), "float32"))


def test_close_halves(rng):
    """Sums of half floats are rounded at the end."""
    x, values = floats(rng, (3,), "float16"), np.full(3000, 0.01, "float16")
    actual = mo.array(x).at[np.arange(3000) % 3].add(values)
    expected = x.astype("float64") + values.astype("float64").reshape(-1, 3).sum(0)
    close(actual.cast("float64"), expected, rtol=2e-3)
