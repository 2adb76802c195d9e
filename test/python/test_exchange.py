# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data to NumPy, which never sees it written."""

import threading

import metaops as mo
import numpy as np
import pytest
from exchanged import DTYPES, SHAPES, address, sample, settle, train
from metaops import nn
from util import floats, same

# To NumPy


@pytest.mark.host_memory
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_asarray_is_a_readonly_view(dtype, shape):
    expected = sample(dtype, shape)
    x = mo.array(expected)
    view = np.asarray(x)
    same(view, expected)
    assert not view.flags.writeable
    assert not view.flags.owndata
    again = x.numpy(copy=False)
    assert address(again) == address(view)
    with pytest.raises(ValueError):
        view[...] = 0


def test_array_is_a_copy():
    x = mo.array([1.0, 2.0])
    written = np.array(x)
    written[:] = 7
    assert address(written) != address(np.asarray(x))
    same(x, np.float32([1, 2]))


@pytest.mark.host_memory
def test_array_protocol_converts():
    x = mo.array([1.5, 2.5])
    view = x.__array__()
    assert address(x.__array__(None, None)) == address(view)
    assert address(x.__array__(copy=False)) == address(view)
    assert address(x.__array__(np.float32, copy=False)) == address(view)
    assert address(x.__array__(copy=True)) != address(view)
    assert x.__array__(copy=True).flags.writeable
    same(np.asarray(x, "float64"), np.float64([1.5, 2.5]))
    same(np.asarray(x, "int32"), np.int32([1, 2]))
    same(x.__array__(">f4").astype("float32"), np.float32([1.5, 2.5]))
    with pytest.raises(ValueError, match=r"copy=False.*float32.*float64"):
        x.__array__(np.float64, copy=False)
    with pytest.raises(TypeError, match="copy is a str, expected True, False or None"):
        x.__array__(copy="no")


def test_bfloat16_comes_as_a_float32_copy():
    x = mo.array([1.0, 1.00390625, -3.0], "bfloat16")
    expected = np.float32([1, 1, -3])
    same(np.asarray(x), expected)
    same(np.array(x), expected)
    same(x.numpy(), expected)
    for export in (lambda: x.numpy(copy=False), lambda: x.__array__(copy=False)):
        with pytest.raises(ValueError, match=r"copy=False.*bfloat16"):
            export()


def test_an_exported_value_is_computed_first():
    x = mo.array(np.arange(6, dtype="float32").reshape(2, 3))
    same(np.asarray(x.transpose() * 2), np.arange(6, dtype="float32").reshape(2, 3).T * 2)
    same(np.asarray(x[1]), np.float32([3, 4, 5]))
    same(np.asarray(mo.array(3)), np.int64(3))


def test_views_of_views_keep_the_memory():
    x = mo.array(np.arange(1000, dtype="float32"))
    part = np.asarray(x)[100:200:3]
    expected = part.copy()
    del x
    settle()
    for k in range(20):
        mo.full((1000,), k).sync()
    same(part, expected)


# Exported memory is never written


@pytest.mark.parametrize("export", [np.asarray, lambda v: v.numpy(copy=False), np.from_dlpack])
def test_training_never_writes_what_numpy_sees(export):
    rng = np.random.default_rng(1)
    layer = nn.Linear(8, 4)
    x = mo.array(floats(rng, (16, 8)))
    seen = []

    def loss():
        return (layer(x) ** 2).mean()

    for _ in range(4):
        train(layer.parameters(), 2, loss)
        arrays = [export(p) for p in layer.parameters()]
        seen.append([(a, a.copy()) for a in arrays])
    train(layer.parameters(), 3, loss)
    mo.sync_all()
    for pairs in seen:
        for array, expected in pairs:
            same(array, expected)
    assert any((a != b).any() for (a, _), (b, _) in zip(seen[0], seen[-1], strict=True))


def test_in_place_changes_do_not_reach_numpy():
    x = mo.array(np.arange(12, dtype="float32"))
    view = np.asarray(x)
    expected = view.copy()
    x += 1
    x[2:5] = 0
    x.sync()
    x.update(x * 3)
    mo.sync_all()
    x.assign(x - 1)
    x.sync()
    same(view, expected)
    shown = expected + 1
    shown[2:5] = 0
    same(x, shown * 3 - 1)


def test_a_view_of_a_parameter_is_never_written():
    p = mo.array(np.arange(12, dtype="float32"))
    view = np.asarray(p.reshape(3, 4))
    expected = view.copy()
    for _ in range(3):
        p.update(p + 1)
    mo.sync_all()
    same(view, expected)
    same(p, expected.reshape(-1) + 3)


def test_memory_is_reusable_when_nothing_is_exported():
    p = mo.array(np.zeros(1 << 16, "float32"))
    sizes = []
    for k in range(8):
        p.update(p + 1)
        mo.sync_all()
        if k % 3 == 0:
            np.asarray(p)
        sizes.append(mo.stats()["bytes_in_use"])
    assert max(sizes[2:]) <= sizes[0] + (1 << 19)
    same(p, np.full(1 << 16, 8, "float32"))


def test_exports_while_another_thread_updates():
    p = mo.array(np.zeros(5000, "float32"))
    failures = []
    stop = threading.Event()

    def watch():
        while not stop.is_set():
            view = np.asarray(p)
            first = view.copy()
            if not (first == first[0]).all():
                failures.append("torn")
            for _ in range(3):
                if not (view == first).all():
                    failures.append("written")

    thread = threading.Thread(target=watch)
    thread.start()
    for k in range(200):
        p.update(p + 1)
        if k % 5 == 0:
            mo.sync_all()
    mo.sync_all()
    stop.set()
    thread.join()
    assert not failures
    same(p, np.full(5000, 200, "float32"))


# The attribute `data`.


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "bfloat16"])
def test_data_is_a_copy_that_cannot_be_written(dtype):
    x = mo.array([[0, 1], [1, 0]]).cast(dtype)
    data = x.data
    same(x, data)
    for write in (
        lambda: data.__setitem__((0, 0), 5),
        lambda: x.data.fill(5),
        lambda: np.copyto(x.data, 5),
        lambda: np.add(x.data, 1, out=x.data),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    with pytest.raises(AttributeError):
        x.data = data
    # It is not the Var's memory, which may be written over; numpy() is the user's own.
    x.update((x.cast("float32") + 1).cast(dtype))
    same(data, np.array([[0, 1], [1, 0]]).astype(data.dtype))
    own = x.numpy()
    own[0, 0] = 5
    assert x.numpy()[0, 0] == 1
