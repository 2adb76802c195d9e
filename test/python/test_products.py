# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of vectors and matrices against NumPy's."""

import itertools
import math

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

TENSORDOT = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3, 4), (4, 5), 1),
    ((2, 3), (4, 5), 0),
    ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
    ((2, 3, 4), (3, 5), (1, 0)),
    ((2, 3, 4), (5, 2), ([-3], (-1,))),
    ((0, 3), (3, 2), 1),
    ((2, 0), (0, 3), 1),
    ((4,), (4,), 1),
]


@pytest.mark.parametrize("a, b, axes", TENSORDOT, ids=str)
def test_tensordot(rng, a, b, axes):
    x, y = floats(rng, a, "float64"), floats(rng, b, "float64")
    close(mo.tensordot(x, y, axes), np.tensordot(x, y, axes), rtol=1e-12)


SHAPES = [((), ()), ((3,), (3,)), ((), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (4, 3))]
SHAPES += [((2, 3, 4), (4,)), ((2, 1, 4), (5, 3, 4)), ((0, 3), (2, 3)), ((2, 0), (3, 0))]


@pytest.mark.parametrize("a, b", SHAPES, ids=str)
def test_products_of_many_shapes(rng, a, b):
    """What NumPy takes has its values, and what it refuses is refused."""
    x, y = floats(rng, a, "float64"), floats(rng, b, "float64")
    for name in ["inner", "dot", "vdot", "outer", "kron", "vecdot", "matmul"]:
        for p, q in [(x, y), (y, x), (x, y.T)]:
            try:
                expected = NUMPY[name](p, q)
            except ValueError:
                with pytest.raises(ValueError, match=r"test_products\.py:"):
                    getattr(mo, name)(p, q)
            else:
                close(getattr(mo, name)(p, q), expected, rtol=1e-12, atol=1e-12)


def vecdot(x, y):
    """Return NumPy's, and PyTorch's of numbers without dimensions."""
    if x.shape[-1:] != y.shape[-1:]:
        raise ValueError
    return (x * y).sum(-1) if x.ndim else x * y


NUMPY = {name: getattr(np, name) for name in ["inner", "dot", "vdot", "outer", "kron", "matmul"]}
NUMPY["vecdot"] = vecdot


def test_types(rng):
    x, y = (rng.integers(-9, 9, (3, 3)).astype("int16") for _ in range(2))
    for name in ["inner", "dot", "vdot", "outer", "kron", "cross", "tensordot"]:
        same(getattr(mo, name)(x, y), getattr(np, name)(x, y))
        same(getattr(mo, name)(x, y.astype("int64")), getattr(np, name)(x, y.astype("int64")))
    same(mo.vecdot(x, y), (x * y).sum(-1, dtype="int16"))
    p, q = x > 0, y > 0
    same(mo.dot(p, q), p @ q)
    same(mo.array(x).dot(y), x.dot(y))
    large = np.array([2**53 + 1, 1])
    same(mo.dot(large, np.array([1, 2])), np.int64(2**53 + 3))
    half = mo.dot(mo.ones(4096, "float16"), mo.ones(4096, "float16"))
    assert half.dtype == "float16" and half.item() == 4096


def test_vecdot_along_a_dimension(rng):
    x = floats(rng, (2, 3, 4), "float64")
    for dim in [0, 1, -1, -2]:
        y = floats(rng, (2, 1, 4) if dim == 0 else (1, 3, 4), "float64")
        close(mo.vecdot(x, y, dim), (x * y).sum(dim), rtol=1e-12)


def test_cross(rng, compiled):
    x, y = floats(rng, (5, 1, 3), "float64"), floats(rng, (4, 3), "float64")
    close(mo.cross(x, y), np.cross(x, y), rtol=1e-12)
    x, y = floats(rng, (3, 5), "float64"), floats(rng, (3, 1), "float64")
    close(mo.cross(x, y, dim=0), np.cross(x, y, axis=0), rtol=1e-12)
    assert len(mo.last_program().kernels) == 1
    assert mo.cross(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("extents", [(3, 4, 5), (3, 40, 5, 60, 2), (2, 9, 3, 8, 4, 7, 5)])
def test_multi_dot(rng, extents):
    chain = [floats(rng, pair, "float64") for pair in itertools.pairwise(extents)]
    expected = np.linalg.multi_dot(chain)
    close(mo.multi_dot(chain), expected, rtol=1e-10)
    first, last = chain[0][0], chain[-1][:, 0]
    close(mo.multi_dot([first, *chain[1:]]), expected[0], rtol=1e-10)
    close(mo.multi_dot([first, *chain[1:-1], last]), expected[0, 0], rtol=1e-10)


def test_multi_dot_takes_the_cheapest_order(compiled):
    chain = [mo.ones(pair) for pair in [(2, 300), (300, 2), (2, 300)]]
    mo.sync(chain)
    mo.multi_dot(chain).sync()
    # The other order has a matrix of 300 x 300 in between.
    assert mo.last_program().arena_bytes < 300 * 300 * 4


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 8])
def test_matrix_power(rng, exponent):
    x = floats(rng, (2, 3, 3), "float64")
    close(mo.matrix_power(x, exponent), np.linalg.matrix_power(x, exponent), rtol=1e-10)
    n = rng.integers(-3, 4, (3, 3))
    same(mo.matrix_power(n, exponent), np.linalg.matrix_power(n, exponent))


def test_matrix_power_is_fresh():
    x = mo.ones((2, 2))
    y = mo.matrix_power(x, 1)
    y += 1
    same(x, np.ones((2, 2), "float32"))


def test_matrix_transpose(rng):
    x = floats(rng, (2, 3, 4))
    same(mo.matrix_transpose(x), x.swapaxes(1, 2))


@pytest.mark.parametrize("order", ["fro", 1, -1, math.inf, -math.inf])
def test_matrix_norm(rng, order):
    x = floats(rng, (2, 4, 3), "float64")
    for keepdims in [False, True]:
        expected = np.linalg.norm(x, order, (1, 2), keepdims)
        close(mo.matrix_norm(x, order, keepdims), expected, rtol=1e-12)
    check_gradient(lambda x: mo.matrix_norm(x, order), x[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["inner", "dot", "vdot", "outer", "kron", "cross", "vecdot"])
def test_gradients(rng, name):
    x, y = floats(rng, (3,), "float64"), floats(rng, (3,), "float64")
    check_gradient(lambda x, y: getattr(mo, name)(x, y) ** 2, x, y, rtol=1e-5, atol=1e-6)


x = np.ones((2, 3), "float32")
WRONG = {
    "tensordot": (lambda: mo.tensordot(x, x, 1), "has not"),
    "too many axes": (lambda: mo.tensordot(x, x, 3), "axes is 3, expected at most 2"),
    "negative axes": (lambda: mo.tensordot(x, x, -1), "axes is -1, expected 0 or more"),
    "lists": (lambda: mo.tensordot(x, x, ([0, 1], [0])), "two lists of one length"),
    "repeated": (lambda: mo.tensordot(x, x, ([0, 0], [0, 0])), "without repetition"),
    "three lists": (lambda: mo.tensordot(x, x, (0, 1, 1)), "expected two lists"),
    "cross": (lambda: mo.cross(x[:, :2], x[:, :2]), "expected the extent 3 of dimension -1"),
    "multi_dot": (lambda: mo.multi_dot([x]), "given 1 matrices, expected two or more"),
    "chain": (lambda: mo.multi_dot([x, x]), r"shapes \(2, 3\), \(2, 3\) do not fit"),
    "matrix_power": (lambda: mo.matrix_power(x, 2), r"shape \(2, 3\), expected square"),
    "transpose": (lambda: mo.matrix_transpose(x[0]), "expected two dimensions or more"),
    "norm": (lambda: mo.matrix_norm(x[0]), "expected two dimensions or more"),
    "order": (
        lambda: mo.matrix_norm(x, 3),
        "order is 3, expected one of 'fro', 'nuc', 1, -1, 2, -2",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_products\.py:"):
        call()


def test_errors_of_types():
    with pytest.raises(TypeError, match=r"exponent is 0\.5, expected an integer"):
        mo.matrix_power(x @ x.T, 0.5)
    with pytest.raises(TypeError, match="axes is 'a', expected an integer"):
        mo.tensordot(x, x, "a")
