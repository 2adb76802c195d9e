# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data to and from NumPy and, by DLPack, other libraries."""

import copy as copying
import ctypes
import gc
import importlib
import mmap
import os
import sys
import threading
import weakref

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import bytes_in_use, close, floats, same

DTYPES = [
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
]
SHAPES = [(), (1,), (5,), (0, 3), (2, 3, 4), (3, 1, 2)]

# From then on NumPy knows DLPack 1.0.
KNOWS_FLAGS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
numpy2 = pytest.mark.skipif(not KNOWS_FLAGS, reason="needs NumPy 2.1")


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return np.asarray(
        rng.integers(0, 100, shape) if "int" in dtype else rng.normal(size=shape)
    ).astype(dtype)


def address(array):
    return array.__array_interface__["data"][0]


def settle():
    """Have dead Vars dropped, and what they held released."""
    gc.collect()
    mo.sync_all()
    # The interpreter empties the list of releases between two instructions.
    for _ in range(100):
        pass


def watched(array):
    """Return an array that owns its memory, and a reference that sees it die."""
    array = array.copy()
    return array, weakref.ref(array)


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


def train(parameters, steps, loss):
    optimizer = mo.optim.SGD(parameters, 0.1)
    for _ in range(steps):
        optimizer.step(loss())


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


# From NumPy


@pytest.mark.host_memory
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_asarray_shares(dtype, shape):
    source = sample(dtype, shape)
    x = mo.asarray(source)
    assert x.dtype == dtype
    same(x, source)
    assert address(np.asarray(x)) == address(source)
    if source.size:
        changed = sample(dtype, shape, seed=5)
        source[...] = changed
        same(x, changed)
        same(mo.where(x == x, x, x), changed)


def test_array_copies():
    source = np.arange(5, dtype="float32")
    for x in (mo.array(source), mo.array(source, copy=True), mo.asarray(source, copy=True)):
        source[0] = 9
        same(x, np.float32([0, 1, 2, 3, 4]))
        source[0] = 0


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda a: a.T, "row-major order"),
        (lambda a: a[::2], "row-major order"),
        (lambda a: a[:, ::-1], "row-major order"),
        (lambda a: np.broadcast_to(a[0], (3, 6)), "row-major order"),
        (lambda a: a.astype(">f4"), "byte order"),
        (lambda a: np.frombuffer(b"x" + a.tobytes(), "u1")[1:].view("float32"), "not aligned"),
        (lambda a: a.tolist(), "a list has no memory"),
        (lambda a: 3.0, "a float has no memory"),
    ],
)
def test_what_cannot_be_shared_is_copied_or_refused(make, reason):
    source = make(np.arange(24, dtype="float32").reshape(4, 6))
    with pytest.raises(ValueError, match=f"copy=False, but .*{reason}"):
        mo.array(source, copy=False)
    with pytest.raises(ValueError, match=reason):
        mo.asarray(source, copy=False)
    same(mo.asarray(source), np.array(source, "float32"))
    same(mo.asarray(source) * 2, np.array(source, "float32") * 2)


def test_conversion_needs_a_copy():
    source = np.arange(3)
    same(mo.asarray(source, "float32"), np.float32([0, 1, 2]))
    with pytest.raises(ValueError, match="its elements are int64, not float32"):
        mo.array(source, "float32", copy=False)
    x = mo.array(source)
    same(mo.array(x, copy=False), source)
    with pytest.raises(ValueError, match="the Var is int64, not float32"):
        mo.array(x, "float32", copy=False)
    with pytest.raises(TypeError, match="copy is a int, expected True, False or None"):
        mo.array(source, copy=1)


def test_layouts_that_are_in_order_are_shared():
    base = np.arange(24, dtype="float32").reshape(4, 6)
    for part in (base[1:3], base[2], base[1, 3:], base[3:, None], base[:0], base[:1, :4][:, None]):
        same(mo.array(part, copy=False), part)
    readonly = base[1:]
    readonly.flags.writeable = False
    same(mo.array(readonly, copy=False), readonly)


def test_shared_memory_is_never_written():
    rng = np.random.default_rng(3)
    source = floats(rng, (64, 3))
    expected = source.copy()
    p = mo.asarray(source)
    train([p], 3, lambda: (p * p).sum())
    p.update(p + 1)
    p[0] = 5
    p += 1
    mo.sync_all()
    same(source, expected)


@pytest.mark.host_memory
def test_shared_memory_lives_as_long_as_a_var_needs_it():
    source, alive = watched(np.arange(1000, dtype="float32"))
    expected = np.asarray(source).copy()
    x = mo.asarray(source)
    del source
    settle()
    assert alive() is not None
    y = x * 2
    view = np.asarray(x)
    del x
    settle()
    same(y, expected * 2)
    same(view, expected)
    assert alive() is not None
    del view, y
    settle()
    assert alive() is None


def test_shared_memory_is_released_from_threads():
    alive = []

    def work(seed):
        for k in range(50):
            source, reference = watched(sample("float32", (100,), seed * 100 + k))
            alive.append(reference)
            expected = np.asarray(source).sum()
            close(mo.asarray(source).sum(), expected, rtol=1e-4, atol=1e-4)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle()
    assert not any(reference() is not None for reference in alive)


def guarded(bytes_needed):
    """Return memory at whose end the processor faults."""
    page = mmap.PAGESIZE
    size = -(-max(bytes_needed, 1) // page) * page
    memory = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    protect = libc.mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(start + size, page, 0) == 0
    return np.frombuffer(memory, "u1", count=bytes_needed, offset=size - bytes_needed)


@pytest.mark.host_memory
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects memory with mprotect")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (3,), (17,), (33,), (5, 7), (13, 19), (3, 5, 11)])
def test_nothing_is_read_beyond_shared_memory(dtype, shape):
    """Kernels promise themselves neither alignment of vectors nor padding."""
    value = sample(dtype, shape)
    memory = guarded(value.nbytes).view(dtype).reshape(shape)
    memory[...] = value
    x = mo.array(memory, copy=False)
    assert address(np.asarray(x)) == address(memory)
    same(mo.where(x == x, x, x), value)
    same(x.transpose().max(0), value.T.max(0))
    total = value.astype("float64").sum()
    close(x.cast("float64").sum(), total, rtol=1e-9, atol=1e-9)
    flat = x.cast("float32").reshape(-1)
    scale = np.abs(value.astype("float64")).sum()
    close(flat.broadcast((4, value.size), (0,)).sum(1), [total] * 4, 1e-6, 1e-6 * scale)
    if len(shape) == 2 and dtype.startswith("float"):
        product = value.astype("float64").T @ value.astype("float64")
        close(x.cast("float32").T @ x.cast("float32"), product, 1e-6, 1e-6 * product.max())


@pytest.mark.host_memory
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects memory with mprotect")
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("extent", [1, 31, 32, 33, 64, 257])
def test_short_steps_read_nothing_beyond_shared_memory(dtype, extent):
    """Vectors that cover several lanes end with the last of them."""
    value = sample(dtype, (extent,))
    memory = guarded(value.nbytes).view(dtype)
    memory[...] = value
    x = mo.array(memory, copy=False)
    assert address(np.asarray(x)) == address(memory)
    for step in (1, 2, 3, 4, -1, -2, -3, -4):
        same(x[::step], value[::step])
        same(x[step % extent :: step], value[step % extent :: step])
    padded = np.pad(value, (0, 9))
    windows = x.reindex(((extent + 8) // 2,), ("2 * i0",), overflow_value=0)
    same(windows, padded[: (extent + 8) // 2 * 2 : 2])


def test_a_list_of_strings_is_refused_by_name():
    with pytest.raises(TypeError, match="array: given strings, expected numbers"):
        mo.array(["a"])
    with pytest.raises(TypeError, match="array: given Python objects, expected numbers"):
        mo.array([None])
    with pytest.raises(TypeError, match="elements of dtype complex64, expected numbers"):
        mo.array(np.zeros(2, "complex64"))


# DLPack to others


class Unversioned:
    """A tensor, as a library from before DLPack 1.0 gives it."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


class Elsewhere(Unversioned):
    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, **arguments):
        if arguments.get("dl_device") == (1, 0):
            return self.x.__dlpack__(max_version=(1, 0))
        raise AssertionError("must not be asked")


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
    with pytest.raises(BufferError, match=r"copy=False, but emulator:.*test_exchange\.py"):
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
    with pytest.raises(BufferError, match=r"test_exchange\.py:\d+"):
        mo.from_dlpack(capsule)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def struct_of(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return DLVersioned.from_address(pointer(capsule, b"dltensor_versioned"))


@pytest.mark.host_memory
def test_the_struct_that_leaves():
    x = mo.array(np.arange(6, dtype="uint16").reshape(1, 2, 3))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    tensor = struct.tensor
    assert (struct.major, struct.minor, struct.flags) == (1, 0, 1)
    assert (tensor.device_type, tensor.device_id, tensor.ndim) == (1, 0, 3)
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (1, 16, 1, 0)
    assert tensor.shape[:3] == [1, 2, 3]
    assert tensor.strides[:3] == [6, 3, 1]
    assert tensor.data == address(np.asarray(x))
    assert struct_of(x.__dlpack__(max_version=(1, 0), copy=True)).flags == 2
    codes = {"bool": (6, 8), "bfloat16": (4, 16), "float64": (2, 64), "int32": (0, 32)}
    for dtype, expected in codes.items():
        tensor = struct_of(capsule := mo.zeros((1,), dtype).__dlpack__(max_version=(1, 0))).tensor
        assert (tensor.code, tensor.bits) == expected, (dtype, capsule)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: setattr(s, "major", 2), r"DLPack 2\.0, expected 1\.x"),
        (lambda s: setattr(s.tensor, "device_type", 2), r"device \(2, 0\)"),
        (lambda s: setattr(s.tensor, "code", 5), "type code 5 with 32 bits"),
        (lambda s: setattr(s.tensor, "lanes", 4), "4 lanes"),
        (lambda s: setattr(s.tensor, "bits", 128), "128 bits"),
        (lambda s: setattr(s.tensor, "ndim", -1), "without a shape"),
        (lambda s: s.tensor.shape.__setitem__(0, -4), r"shape \(-4, 3\)"),
        (lambda s: s.tensor.shape.__setitem__(0, 1 << 62), "which no memory holds"),
        (lambda s: setattr(s.tensor, "data", None), "without memory"),
    ],
)
def test_damaged_structs_are_refused_and_freed(change, message):
    x = mo.array(np.ones((2, 3), "float32"))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    saved = copying.copy(bytes(struct))
    extent = struct.tensor.shape[0]
    change(struct)
    with pytest.raises(BufferError, match=message):
        mo.from_dlpack(capsule)
    ctypes.memmove(ctypes.addressof(struct), saved, len(saved))
    struct.tensor.shape[0] = extent
    same(mo.from_dlpack(capsule), np.ones((2, 3), "float32"))


def test_a_struct_with_an_offset_and_without_strides():
    x = mo.array(np.arange(12, dtype="float32").reshape(4, 3))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    struct.tensor.byte_offset = 12
    struct.tensor.shape[0] = 2
    struct.tensor.strides = ctypes.POINTER(ctypes.c_int64)()
    same(mo.from_dlpack(capsule), np.arange(3, 9, dtype="float32").reshape(2, 3))
    # One that is off by a byte is copied.
    capsule = x.__dlpack__(max_version=(1, 0))
    struct_of(capsule).tensor.byte_offset = 1
    struct_of(capsule).tensor.shape[0] = 3
    raw = np.arange(12, dtype="float32").tobytes()[1:37]
    with pytest.raises(BufferError, match="not aligned to elements of 4 bytes"):
        mo.from_dlpack(capsule, copy=False)
    taken = mo.from_dlpack(capsule).numpy()
    assert taken.tobytes() == raw


# Other libraries, where they are installed: script/test interop has them


def peer(name):
    """Import a library that tensors are exchanged with; skip the test without it."""
    if os.environ.get("METAOPS_TEST_PEERS"):
        return importlib.import_module(name)
    return pytest.importorskip(name)


TORCH_DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", [*TORCH_DTYPES, "float32", "float64"])
def test_torch_both_ways(dtype):
    torch = peer("torch")
    value = sample("float32" if dtype == "bfloat16" else dtype, (3, 5))
    tensor = torch.from_numpy(value).to(getattr(torch, dtype))
    x = mo.from_dlpack(tensor)
    assert x.dtype == dtype
    expected = tensor.float().numpy() if dtype == "bfloat16" else value
    same(x, expected)
    tensor[0, 0] = 0
    expected = tensor.float().numpy() if dtype == "bfloat16" else tensor.numpy()
    same(x, expected)
    same(mo.from_dlpack(tensor.T), expected.T)
    with pytest.raises(BufferError, match="row-major"):
        mo.from_dlpack(tensor.T, copy=False)

    y = mo.from_dlpack(tensor, copy=True)
    back = torch.from_dlpack(y)
    assert torch.equal(back, tensor)
    del y
    settle()
    assert torch.equal(back, tensor)
    assert torch.equal(torch.from_dlpack(x == x), torch.ones(3, 5, dtype=torch.bool))


def test_torch_memory_lives_and_is_released():
    torch = peer("torch")
    x = mo.from_dlpack(torch.arange(1000.0))
    gc.collect()
    torch.zeros(1000)
    same(x, np.arange(1000, dtype="float32"))
    with pytest.raises(BufferError):
        mo.from_dlpack(torch.ones(2, requires_grad=True))
    same(mo.asarray(torch.arange(3)), np.arange(3))


def test_jax_both_ways():
    jnp = peer("jax.numpy")
    value = np.arange(6, dtype="float32").reshape(2, 3)
    same(mo.from_dlpack(jnp.asarray(value)), value)
    back = jnp.from_dlpack(mo.array(value))
    same(np.asarray(back), value)


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
