# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients where there is no derivative, as docs/Spec.md tells."""

import math

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

INF, NAN = math.inf, math.nan


def gradient(f, *points):
    """Return the gradients of a function of one number, at several of them."""
    x = mo.array(np.array(points))
    return mo.grad(f(x), x)


#: A function, points, the gradients there.
EDGES = {
    "abs": (mo.abs, [0.0, -0.0], [0, 0]),
    "sign": (mo.sign, [0.0, 2.0], [0, 0]),
    "relu": (mo.relu, [0.0, -0.0], [0, 0]),
    "relu6": (mo.relu6, [0.0, 3.0, 6.0, 7.0], [0, 1, 0, 0]),
    "leaky_relu": (mo.leaky_relu, [0.0], [0.01]),
    "elu": (mo.elu, [0.0], [1]),
    "sqrt": (mo.sqrt, [0.0, 4.0], [INF, 0.25]),
    "clip": (lambda x: mo.clip(x, -1, 2), [-2, -1, 0, 2, 3], [0, 1, 1, 1, 0]),
    "clip from below": (lambda x: x.clip(1), [0, 1, 2], [0, 1, 1]),
    "clip from above": (lambda x: x.clip(None, 1), [0, 1, 2], [1, 1, 0]),
    "maximum": (lambda x: mo.maximum(x, 1.0), [0, 1, 2], [0, 0.5, 1]),
    "minimum": (lambda x: mo.minimum(x, 1.0), [0, 1, 2], [1, 0.5, 0]),
    "x**0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "x**1": (lambda x: x**1, [0.0, 2.0], [1, 1]),
    "x**2": (lambda x: x**2, [0.0, 3.0], [0, 6]),
    "x**0.0": (lambda x: x**0.0, [0.0, 2.0], [0, 0]),
    "x**1.5": (lambda x: x**1.5, [0.0, 4.0], [0, 3]),
    "x**0.5": (lambda x: x**0.5, [0.0, 4.0], [INF, 0.25]),
    "0**x": (lambda x: mo.pow(0.0, x), [0.0, 1.0, 2.0], [0, 0, 0]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    f, points, expected = EDGES[name]
    same(gradient(f, *map(float, points)), np.array(expected, "float64"))


ORDERS = [0, 0.5, 1, 1.5, 2, 2.5, 3, INF, -INF]


@pytest.mark.parametrize("order", ORDERS)
def test_norm_at_zero(order):
    """The gradient is that by PyTorch: 0 where the norm is, and by an element that is."""
    zeros = mo.array(np.zeros((2, 3)))
    for dim in [None, 0, 1, (0, 1)]:
        y = mo.norm(zeros, order, dim)
        same(y, np.zeros(y.shape))
        first = mo.grad(y, zeros, allow_unused=True)
        same(first, np.zeros((2, 3)))
        second = mo.grad((first * first).sum() + first.sum(), zeros, allow_unused=True)
        assert np.isfinite(second.numpy()).all()
    # Beside a row that is not 0.
    rows = mo.array(np.array([[0.0, 0, 0], [0, 3, -4]]))
    first = mo.grad(mo.norm(rows, order, 1), rows, allow_unused=True).numpy()
    assert np.isfinite(first).all()
    same(first[0], np.zeros(3))
    assert first[1, 0] == 0
    first_order = mo.grad(mo.norm(rows, order, 1), rows, allow_unused=True)
    second = mo.grad((first_order**2).sum(), rows, allow_unused=True)
    assert np.isfinite(second.numpy()).all()


@pytest.mark.parametrize("order", ORDERS)
def test_norm_elsewhere(rng, order):
    x = floats(rng, (2, 4), "float64")
    close(mo.norm(x, order, 1), np.linalg.norm(x, order, 1), rtol=1e-12)
    check_gradient(lambda x: mo.norm(x, order, 1), x, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_norm_of_nothing(order):
    expected = INF if order == -INF else 0.0
    close(mo.norm(np.zeros(0), order), expected)
    close(mo.norm(np.zeros((2, 0)), order, 1), np.full(2, expected))
    close(mo.norm(np.zeros((0, 2)), order, 1), np.zeros(0))


def test_norm_of_other_types():
    close(mo.norm(np.array([100, 100], "int8")), np.float32(math.hypot(100, 100)))
    assert mo.norm(np.array([3, 4])).dtype == "float32"
    # The squares are beyond what half floats hold.
    half = mo.norm(np.array([300, 400], "float16"))
    same(half, np.float16(500))
    cube = mo.norm(np.array([300, 400], "float16"), 3)
    close(cube, np.float16((300.0**3 + 400.0**3) ** (1 / 3)), rtol=1e-3)
    with pytest.raises(ValueError, match=r"order is -1, expected 0, a positive.*test_conventions"):
        mo.norm([1.0], -1)


@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("f", [mo.std, mo.var])
def test_deviation_at_zero(f, correction):
    x = mo.array(np.array([[2.0, 2, 2], [1, 2, 3]]))
    first = mo.grad(f(x, 1, correction=correction), x)
    same(first.numpy()[0], np.zeros(3))
    assert np.isfinite(mo.grad((first * first).sum(), x).numpy()).all()
    deviation = math.sqrt(2 / (3 - correction))
    divisor = (3 - correction) * (deviation if f is mo.std else 0.5)
    close(first.numpy()[1], np.array([-1, 0, 1]) / divisor)


def test_deviation_of_other_types():
    """Squares, and the variance itself, are beyond what a half float holds."""
    half = np.array([-300, 300], "float16")
    same(mo.std(half), np.float16(300))
    same(mo.var(half), np.float16(np.inf))
    same(mo.var(half / 4), np.float16(75**2))
    same(mo.std(np.array([-100, 100], "int8")), np.float32(100))


def test_clip_by_tensors(rng):
    low, high = mo.array([0.0, 0.0, 2.0]), mo.array([1.0, 1.0, 1.0])
    x = mo.array([0.0, 3.0, 1.5])
    y = mo.clip(x, low, high)
    close(y, [0, 1, 1])
    gx, gl, gh = mo.grad(y, [x, low, high])
    same(gx, np.float32([1, 0, 0]))
    same(gl, np.float32([0, 0, 0]))
    same(gh, np.float32([0, 1, 1]))
    check_gradient(
        lambda x, low, high: mo.clip(x, low - 1, high) ** 2,
        floats(rng, (9,), "float64", -3, 3),
        floats(rng, (9,), "float64", -1, 0),
        floats(rng, (9,), "float64", 0.5, 1),
    )


def test_clip_to_higher_order():
    """At a bound, and past it, derivatives of all orders are those of one side."""
    x = mo.array(np.array([-1.0, 0.5, 2.0, 2.5]))
    y = (mo.clip(x, -1, 2) ** 3).sum()
    for expected in [[3, 0.75, 12, 0], [-6, 3, 12, 0], [6, 6, 6, 0]]:
        y = mo.grad(y, x)
        close(y, np.array(expected, "float64"))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_clip_is_numpys(rng, dtype):
    x = (floats(rng, (50,)) * 40 + 60).astype(dtype)
    for low, high in [(20, 90), (90, 20), (None, 50), (50, None)]:
        same(mo.clip(x, low, high), np.clip(x, low, high).astype(dtype))
    bound = (floats(rng, (50,)) * 40 + 60).astype(dtype)
    same(mo.clip(x, bound, None), np.clip(x, bound, None))


def test_clip_of_nan():
    x = np.array([NAN, 0.5, 2.0])
    for low, high in [(0, 1), (NAN, 1), (0, NAN), (np.array([0, NAN, 0]), 1.0)]:
        close(mo.clip(x, low, high), np.clip(x, low, high))
