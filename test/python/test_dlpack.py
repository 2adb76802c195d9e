# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors to and from other libraries by DLPack."""

import weakref

import metaops as mo
import numpy as np
import pytest
from exchanged import (
    DTYPES,
    KNOWS_FLAGS,
    SHAPES,
    Elsewhere,
    Unversioned,
    address,
    numpy2,
    sample,
    settle,
    watched,
)
from util import bytes_in_use, close, same

# DLPack to others


@pytest.mark.host_memory
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_takes_dlpack(dtype, shape):
    value = sample(dtype, shape)
    x = mo.array(value)
    assert x.__dlpack_device__() == (1, 0)
    taken = np.from_dlpack(x)
    same(taken, value)
    if KNOWS_FLAGS and value.size:
        assert address(taken) == address(np.asarray(x))
    old = np.from_dlpack(Unversioned(x))
    same(old, value)
    assert address(old) != address(np.asarray(x))


@pytest.mark.host_memory
@numpy2
def test_numpy_is_told_that_it_may_not_write():
    x = mo.array([1.0, 2.0])
    shared = np.from_dlpack(x)
    assert not shared.flags.writeable
    copied = np.from_dlpack(x, copy=True)
    copied[:] = 0
    same(x, np.float32([1, 2]))
    assert address(copied) != address(shared)
    assert address(np.from_dlpack(x, copy=False)) == address(shared)


def test_capsules_have_the_version_that_is_asked_for():
    x = mo.array([1.0])
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    for version in [(1, 0), (1, 3), (2, 0)]:
        assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=version))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"stream": 1}, BufferError, "given a stream, expected None"),
        ({"dl_device": (2, 0)}, BufferError, r"dl_device=\(2, 0\), expected \(1, 0\)"),
        ({"copy": False}, BufferError, "only DLPack 1.0"),
        ({"copy": 3}, TypeError, "copy is a int"),
        ({"max_version": (1,)}, ValueError, "expected a pair"),
        ({"max_version": "1.0"}, TypeError, "expected integers"),
    ],
)
def test_what_dlpack_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        mo.array([1.0]).__dlpack__(**arguments)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsules_that_nobody_takes(version):
    settle()
    before = bytes_in_use()
    for _ in range(10):
        x = mo.array(np.zeros(1 << 16, "float32"))
        capsule = x.__dlpack__(max_version=version)
        del x
        del capsule
    settle()
    assert mo.stats()["bytes_in_use"] <= before


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("first", ["var", "capsule", "taker"])
def test_memory_lives_in_all_orders_of_deletion(version, first):
    value = sample("float32", (1000,))
    held = {"var": mo.array(value)}
    held["capsule"] = held["var"].__dlpack__(max_version=version)
    held["taker"] = mo.from_dlpack(held["capsule"])
    settle()
    before = bytes_in_use()
    del held[first]
    settle()
    for k in range(10):
        mo.full((1000,), k).sync()
    for name, holder in held.items():
        if name != "capsule":
            same(holder, value)
    if "capsule" in held:
        with pytest.raises(BufferError, match="that nobody has taken"):
            mo.from_dlpack(held["capsule"])
    held.clear()
    settle()
    assert mo.stats()["bytes_in_use"] <= before


def test_cycles_with_capsules_are_collected():
    class Holder:
        pass

    for _ in range(5):
        holder = Holder()
        holder.x = mo.array(np.zeros(1 << 16, "float32"))
        holder.capsule = holder.x.__dlpack__(max_version=(1, 0))
        holder.array = np.from_dlpack(holder.x)
        holder.self = holder
        alive = weakref.ref(holder)
        del holder
    settle()
    assert alive() is None


# DLPack from others


@pytest.mark.host_memory
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_gives_dlpack(dtype, shape):
    source = sample(dtype, shape)
    x = mo.from_dlpack(source)
    assert x.dtype == dtype
    same(x, source)
    copied = mo.from_dlpack(source, copy=True)
    if source.size:
        assert address(np.asarray(x)) == address(source)
        expected = source.copy()
        source[...] = sample(dtype, shape, seed=9)
        same(x, source)
        same(copied, expected)
        same(mo.from_dlpack(Unversioned(source)), source)


@pytest.mark.parametrize("device", ["cpu", "cpu:0", "cpu:1", "interpreter:0"])
def test_devices_of_tensors_from_others(device):
    source = sample("float32", (3, 4))
    x = mo.from_dlpack(source, device=device)
    assert x.device == device
    same(x, source)
    for shared in (x, mo.from_dlpack(source, device=mo.device(device), copy=False)):
        assert address(shared.numpy(copy=False)) == address(source)
    copied = mo.from_dlpack(source, device=device, copy=True)
    assert address(copied.numpy(copy=False)) != address(source)
    # A Var stays where it is, or goes where it is asked to be.
    assert mo.from_dlpack(x).device == device
    assert mo.from_dlpack(x, device="cpu:2").device == "cpu:2"
    same(mo.from_dlpack(x, device="cpu:2") + 0, source)
    # Another library copies what is elsewhere.
    same(mo.from_dlpack(Elsewhere(mo.array([1.0])), device=device), np.float32([1]))


def test_devices_with_memory_of_their_own():
    source = sample("float32", (3, 4))
    x = mo.from_dlpack(source, device="emulator:sm_90a")
    assert x.device == "emulator:sm_90a"
    same(x.to("cpu:0"), source)
    with pytest.raises(BufferError, match=r"copy=False, but emulator:.*test_dlpack\.py"):
        mo.from_dlpack(source, device="emulator:sm_90a", copy=False)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a.T,
        lambda a: a[::2],
        lambda a: a[:, ::-1],
        lambda a: a[1:3, 2:5],
        lambda a: np.broadcast_to(a[0], (3, 6)),
        lambda a: np.asfortranarray(a),
    ],
)
def test_strided_tensors_are_copied(make):
    base = np.arange(24, dtype="int16").reshape(4, 6)
    source = make(base)
    if not source.flags.writeable and not KNOWS_FLAGS:
        pytest.skip("this NumPy exports no read-only arrays")
    expected = source.copy()
    x = mo.from_dlpack(source)
    base[...] = 0
    same(x, expected)
    with pytest.raises(BufferError, match=r"copy=False, but .*row-major order"):
        mo.from_dlpack(source, copy=False)


@pytest.mark.host_memory
def test_taken_memory_is_released():
    source, alive = watched(np.arange(100, dtype="float32"))
    x = mo.from_dlpack(source)
    y = x + 1
    del source
    settle()
    assert alive() is not None
    same(y, np.arange(1, 101, dtype="float32"))
    del x, y
    settle()
    assert alive() is None


def test_taken_memory_is_never_written():
    source = np.ones(100, "float32")
    p = mo.from_dlpack(source)
    for _ in range(3):
        p.update(p * 2)
    mo.sync_all()
    assert (source == 1).all()
    same(p, np.full(100, 8, "float32"))


@pytest.mark.host_memory
def test_a_var_through_dlpack_is_the_same_memory():
    x = mo.array([1.0, 2.0, 3.0])
    y = mo.from_dlpack(x)
    assert address(np.asarray(y)) == address(np.asarray(x))
    close(mo.grad((x * y).sum(), x), [1, 2, 3])
    half = mo.array([1.5, -2.5], "bfloat16")
    again = mo.from_dlpack(half)
    assert again.dtype == "bfloat16"
    same(again, half.numpy())
    same(mo.from_dlpack(half, copy=True), half.numpy())


def test_from_dlpack_tells_what_is_wrong():
    x = mo.array([1.0])
    with pytest.raises(BufferError, match=r"device \(2, 1\), expected one on the CPU"):
        mo.from_dlpack(Elsewhere(x))
    same(mo.from_dlpack(Elsewhere(x), device="cpu"), np.float32([1]))
    with pytest.raises(TypeError, match="given a list, expected a tensor with __dlpack__"):
        mo.from_dlpack([1.0])
    with pytest.raises(BufferError, match=r"complex|type code 5"):
        mo.from_dlpack(np.zeros(2, "complex64"))
    with pytest.raises(ValueError, match="no device 'gpu'"):
        mo.from_dlpack(x, device="gpu")
    capsule = x.__dlpack__(max_version=(1, 0))
    mo.from_dlpack(capsule)
    with pytest.raises(BufferError, match="that nobody has taken"):
        mo.from_dlpack(capsule)
    with pytest.raises(BufferError, match=r"test_dlpack\.py:\d+"):
        mo.from_dlpack(capsule)
