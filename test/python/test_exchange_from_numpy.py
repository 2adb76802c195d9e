# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data from NumPy, whose memory is shared where that can be."""

import ctypes
import mmap
import sys
import threading

import metaops as mo
import numpy as np
import pytest
from exchanged import DTYPES, SHAPES, address, sample, settle, train, watched
from util import close, floats, same


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
    with pytest.raises(
        TypeError, match="elements of dtype complex256, expected complex64 or complex128"
    ):
        mo.array(np.zeros(2, "complex256"))
