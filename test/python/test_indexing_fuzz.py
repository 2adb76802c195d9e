# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random keys, for reading and writing, compared with NumPy; and x.at[key]."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, floats, same

SHAPES = [(), (4,), (1,), (0,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (3, 0, 2), (2, 2, 2, 2, 2)]


@pytest.fixture(autouse=True)
def interpreter():
    """Compile nothing: every key would be a program of its own."""
    with mo.flag_scope(backend="interpreter"):
        yield


def draw_slice(rng, extent):
    """Return a slice, whose ends may be beyond the tensor."""
    ends = [None if rng.random() < 0.3 else int(rng.integers(-extent - 2, extent + 3))] * 2
    if rng.random() < 0.7:
        ends[1] = None if rng.random() < 0.3 else int(rng.integers(-extent - 2, extent + 3))
    step = rng.choice([None, 1, 2, 3, -1, -2])
    return slice(*ends, step)


def draw_integers(rng, shape, extent):
    """Return indices, a few of them out of range, and none into nothing."""
    if extent == 0:
        shape = (0, *shape[1:]) if shape else (0,)
    beyond = 1 if rng.random() < 0.04 else 0
    numbers = rng.integers(-extent - beyond, max(extent, 1) + beyond, shape)
    kind = rng.choice(["int64", "int32", "int8"])
    return numbers.astype(kind)


def draw_key(rng, shape):
    """Return a random key, wrong ones among them."""
    items = []
    axis = 0
    index_shape = [(), (1,), (2,), (3, 1), (3, 2), (0,), (2,), (2,)][rng.integers(8)]
    tensors = rng.random() < 0.85
    while axis < len(shape):
        kind = rng.random()
        if kind < 0.12:
            items.append(None)
            continue
        if kind < 0.18 and not any(item is Ellipsis for item in items):
            items.append(Ellipsis)
            axis += int(rng.integers(0, len(shape) - axis + 1))
            continue
        if kind < 0.4:
            items.append(draw_slice(rng, shape[axis]))
        elif kind < 0.55 or not tensors:
            beyond = rng.random() < 0.04
            low, high = -shape[axis] - beyond, max(shape[axis], 1) + beyond
            items.append(int(rng.integers(low, high)))
        elif kind < 0.8:
            cut = int(rng.integers(0, len(index_shape) + 1))
            own = tuple(1 if rng.random() < 0.15 else n for n in index_shape[cut:])
            items.append(draw_integers(rng, own, shape[axis]))
        elif kind < 0.85:
            items.append(np.array(rng.random() < 0.7))
            continue
        else:
            rank = int(rng.integers(1, min(3, len(shape) - axis) + 1))
            extents = list(shape[axis : axis + rank])
            if rng.random() < 0.03 and 0 not in shape:
                extents[0] += 1
            mask = rng.random(extents) < rng.choice([0.0, 0.3, 0.6, 1.0])
            items.append(mask)
            axis += rank - 1
        axis += 1
        if rng.random() < 0.15:
            break
    if rng.random() < 0.03:
        items.append(0)
    return items[0] if len(items) == 1 and rng.random() < 0.5 else tuple(items)


def as_given(rng, key):
    """Return the key with arrays as Vars, as lists, or as they are."""
    items = key if isinstance(key, tuple) else (key,)
    several = sum(isinstance(item, np.ndarray) and item.ndim > 0 for item in items) > 0

    def convert(item):
        choice = rng.random()
        if not isinstance(item, np.ndarray) or choice < 0.3:
            return item
        if several and choice < 0.7 and item.dtype == bool and item.ndim == 0:
            return bool(item)
        if choice < 0.5 and item.ndim > 0 and item.size > 0:
            return item.tolist()
        return mo.array(item)

    return tuple(map(convert, key)) if isinstance(key, tuple) else convert(key)


def outcome(action):
    """Return what an action returns, or the error that it raises."""
    try:
        return action()
    except (IndexError, ValueError, TypeError) as error:
        return error


def assert_alike(actual, expected, is_nothing, told):
    """Compare what came out with what should have.

    What is wrong where no element is indexed need not be told: NumPy tells it of some
    keys, and here what is computed for nothing is not computed.
    """
    if isinstance(actual, IndexError) != isinstance(expected, IndexError):
        result, error = (expected, actual) if isinstance(actual, IndexError) else (actual, expected)
        assert "index" in str(error) and is_nothing(result), (told, actual, expected)
    elif isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (told, actual, expected)
        if isinstance(expected, IndexError):
            assert "test_indexing_fuzz.py:" in str(actual), (told, actual)
    else:
        assert not isinstance(actual, Exception), (told, actual)
        same(actual, expected)


@pytest.mark.parametrize("seed", range(8))
def test_reading(seed):
    rng = np.random.default_rng(seed)
    failed = 0
    for _ in range(120):
        shape = SHAPES[rng.integers(len(SHAPES))]
        x = rng.permutation(int(np.prod(shape))).reshape(shape).astype("float32")
        key = draw_key(rng, shape)
        given = as_given(rng, key)
        expected = outcome(lambda x=x, key=key: x[key])
        actual = outcome(lambda x=x, given=given: mo.array(x)[given].numpy())
        assert_alike(actual, expected, lambda part: part.size == 0, (shape, key, given))
        failed += isinstance(expected, Exception)
    assert 0 < failed < 60


@pytest.mark.parametrize("seed", range(2))
def test_compiled(seed, compiled):
    """The same for keys fewer by far, since each is a program."""
    rng = np.random.default_rng(200 + seed)
    x = rng.permutation(72).reshape(2, 3, 4, 3).astype("float32")
    done = 0
    with mo.flag_scope(backend="compiled"):
        while done < 20:
            key = draw_key(rng, x.shape)
            part = outcome(lambda key=key: x[key])
            if isinstance(part, Exception) or part.size == 0:
                continue
            given = as_given(rng, key)
            value = rng.integers(-99, 99, np.shape(part)).astype("float32")
            expected, actual = x.copy(), mo.array(x)
            same(actual[given] + 1, part + np.float32(1))
            expected[key] = value
            actual[given] = value
            same(actual, expected)
            done += 1


ROWS, COLUMNS = np.array([[0, -1], [1, 1]]), np.array([2, 0])
DIFFERENTIATED = {
    "slices around": np.s_[1:, COLUMNS, ::-2],
    "beside an integer": np.s_[1, ROWS],
    "apart": np.s_[ROWS, 1:, COLUMNS],
    "mask": np.s_[:, np.arange(12).reshape(3, 4) % 5 == 1],
    "mask and slice": np.s_[::-1, [True, False, True], 2:0:-1],
    "new axes": np.s_[None, ROWS, ..., None],
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(rng, name):
    key = DIFFERENTIATED[name]
    x = floats(rng, (2, 3, 4), "float64")
    value = floats(rng, x[key].shape, "float64")

    def write(x, value):
        y = x * 2
        y[key] = value * x[key]
        return mo.sin(y)

    check_gradient(lambda x: mo.sin(x[key]), x)
    check_gradient(write, x, value)


def test_other_sequences():
    x = np.arange(24.0).reshape(2, 3, 4)
    v = mo.array(x)
    same(v[[0, 1], (2, 0)], x[[0, 1], [2, 0]])
    same(v[[1], :, range(2)], x[[1], :, [0, 1]])
    same(v[..., [[True, False, True, False]] * 3], x[..., [[True, False, True, False]] * 3])
    same(v[np.int32(1), mo.array(-1)], x[1, -1])
    same(v[[]], x[[]])
    same(v[[True, 0]], x[[1, 0]])  # integers
    for wrong in [[1.5], ["a"], [None], [[0], [0, 1]], [[True], [True, False]], [object()]]:
        with pytest.raises(TypeError, match=r"test_indexing_fuzz.py:\d+\)$") as raised:
            v[[0], wrong]
        assert "\n" not in str(raised.value)


KEYS_OF_NO_TENSOR = [True, np.True_, False, (..., True), (None, False, 1), ((0, 1),), range(2)]
KEYS_OF_NO_TENSOR += [(slice(None), (2, 0)), ((True, False),), (True, slice(1), range(3))]


@pytest.mark.parametrize("key", KEYS_OF_NO_TENSOR, ids=repr)
def test_booleans_and_sequences_alone(key):
    x = np.arange(24.0).reshape(2, 3, 4)
    v = mo.array(x)
    same(v[key], x[key])
    expected = x.copy()
    expected[key] = 7
    v[key] = 7
    same(v, expected)


def draw_value(rng, part):
    """Return what broadcasts to a part, or seldom what does not."""
    # NumPy takes no array for what is no array.
    if rng.random() < 0.2 or isinstance(part, Exception | np.generic):
        return float(rng.integers(-9, 9))
    shape = part.shape
    own = [1 if rng.random() < 0.25 else n for n in shape]
    own = own[int(rng.integers(0, len(own) + 1)) :] if rng.random() < 0.4 else own
    if part.ndim > 1 and rng.random() < 0.1:  # NumPy refuses it of x[mask]
        own = [1, *own]
    if own and rng.random() < 0.05:
        own[rng.integers(len(own))] += 1
    return rng.integers(-99, 99, own).astype("float32")


@pytest.mark.parametrize("seed", range(8))
def test_writing(seed):
    rng = np.random.default_rng(100 + seed)
    failed = 0
    for _ in range(120):
        shape = SHAPES[rng.integers(len(SHAPES))]
        x = rng.permutation(int(np.prod(shape))).reshape(shape).astype("float32")
        key = draw_key(rng, shape)
        given = as_given(rng, key)
        part = outcome(lambda x=x, key=key: x[key])
        value = draw_value(rng, part)

        def write(x, key, value=value):
            x[key] = value
            return x if isinstance(x, np.ndarray) else x.numpy()

        expected = outcome(lambda x=x, key=key: write(x.copy(), key))
        actual = outcome(lambda x=x, given=given: write(mo.array(x), given))
        told = (shape, key, given, np.shape(value))
        assert_alike(actual, expected, lambda all, x=x: np.array_equal(all, x), told)
        failed += isinstance(expected, Exception)
    assert 0 < failed < 60
