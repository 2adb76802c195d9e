# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates may be written over what they read; the numbers must not show it."""

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same


def repeated(rng, update, reference, shape=(12, 12), times=4):
    """Apply an update often enough for its program to be donated buffers."""
    value = floats(rng, shape)
    p = mo.array(value)
    expected = value.astype("float64")
    for _ in range(times):
        p.update(update(p))
        mo.sync([p])
        expected = reference(expected)
    close(p, expected, rtol=1e-4, atol=1e-5)


CASES = {
    "transpose": (lambda p: p.transpose() * 0.5 + p, lambda p: p.T * 0.5 + p),
    "plain": (lambda p: p * 0.5 + 1, lambda p: p * 0.5 + 1),
    "reverse": (lambda p: p[::-1] - p * 0.5, lambda p: p[::-1] - p * 0.5),
    "both reversed": (lambda p: p[::-1, ::-1] - p * 0.5, lambda p: p[::-1, ::-1] - p * 0.5),
    "shift": (
        lambda p: p + p.reindex(p.shape, ("i0-1", "i1")),
        lambda p: p + np.concatenate([np.zeros((1, 12)), p[:-1]]),
    ),
    "softmax": (
        lambda p: mo.softmax(p, 1) + mo.softmax(p, 0),
        lambda p: (
            np.exp(p) / np.exp(p).sum(1, keepdims=True)
            + np.exp(p) / np.exp(p).sum(0, keepdims=True)
        ),
    ),
    "sums along both": (
        lambda p: p - p.mean(0, True) * 0.5 + p.mean(1, True),
        lambda p: p - p.mean(0, keepdims=True) * 0.5 + p.mean(1, keepdims=True),
    ),
    "matmul": (lambda p: p @ p * 0.1, lambda p: p @ p * 0.1),
    "first row": (lambda p: p * 0.5 + p[0], lambda p: p * 0.5 + p[0]),
    "last element": (lambda p: p * 0.5 - p[-1, -1], lambda p: p * 0.5 - p[-1, -1]),
    "the whole reduced": (lambda p: p - p.sum() * 0.01, lambda p: p - p.sum() * 0.01),
    "through a view": (
        lambda p: p.reshape(-1)[::-1].reshape(p.shape) + p,
        lambda p: p.reshape(-1)[::-1].reshape(p.shape) + p,
    ),
    "itself": (lambda p: p, lambda p: p),
}


@pytest.mark.parametrize("name", CASES)
def test_updates(rng, name):
    repeated(rng, *CASES[name])


def test_swap(rng):
    a0, b0 = floats(rng, (5, 6)), floats(rng, (5, 6))
    a, b = mo.array(a0), mo.array(b0)
    for turn in range(1, 6):
        old_a, old_b = a * 1, b * 1
        a.update(old_b)
        b.update(old_a)
        mo.sync([a, b])
        same(a, b0 if turn % 2 else a0)
        same(b, a0 if turn % 2 else b0)


def test_swap_without_copies(rng):
    a0, b0 = floats(rng, (5, 6)), floats(rng, (5, 6))
    a, b = mo.array(a0), mo.array(b0)
    keep = mo.zeros((1,))
    keep.assign(a)
    a.update(b)
    b.update(keep)
    same(a, b0)
    same(b, a0)


def test_chains_of_updates(rng):
    value = floats(rng, (7,))
    p = mo.array(value)
    for k in range(1, 6):
        p.update(p * k)
    close(p, value * 120, rtol=1e-5)


def test_updates_that_read_each_other(rng):
    a0, b0 = floats(rng, (9,)).astype("float64"), floats(rng, (9,)).astype("float64")
    a, b = mo.array(a0), mo.array(b0)
    for _ in range(5):
        new_a, new_b = a * 0.5 + b[::-1], b - a * 0.25
        a.update(new_a)
        b.update(new_b)
        a0, b0 = a0 * 0.5 + b0[::-1], b0 - a0 * 0.25
    close(a, a0, rtol=1e-9)
    close(b, b0, rtol=1e-9)


def test_an_old_value_that_is_held_stays(rng):
    value = floats(rng, (33,))
    p = mo.array(value)
    for _ in range(4):
        old = p + 0
        old.sync()
        expected = old.numpy()
        p.update(p * 2)
        mo.sync([p])
        same(old, expected)
    view = p.reshape(3, 11)
    expected = p.numpy().reshape(3, 11)
    p.update(p * 3)
    mo.sync([p])
    same(view, expected)


def test_exported_memory_is_never_written(rng):
    p = mo.array(floats(rng, (1000,))).sync()
    seen = p.numpy()
    copy = seen.copy()
    for _ in range(3):
        p.update(p * 2)
        mo.sync([p])
    same(seen, copy)


def test_update_checks_its_value():
    p = mo.zeros((2, 3))
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        p.update(mo.zeros((3, 2)))
    with pytest.raises(TypeError, match="float64"):
        p.update(mo.zeros((2, 3), "float64"))
    same(p, np.zeros((2, 3), "float32"))


def test_assign_keeps_the_history(rng):
    x = mo.array(floats(rng, (3,)))
    y = x * 1
    y.assign(y * y)
    close(mo.grad(y.sum(), x), 2 * x.numpy())
    y.update(y * 3)
    close(mo.grad(y.sum(), x, allow_unused=True), np.zeros(3))
