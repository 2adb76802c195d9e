# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triangular factors of any matrices."""

import contextlib

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close

la = mo.linalg

SHAPES = [(1, 1), (4, 4), (5, 3), (3, 5), (0, 0), (0, 3), (3, 0), (2, 3, 4, 3), (0, 2, 2)]


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [*SHAPES, (80, 70), (40, 8, 8)])
def test_factors_make_the_matrix_again(rng, shape, dtype, interpreted):
    if interpreted and shape[-1] > 10:
        pytest.skip("large ones take the interpreter long")
    a = rng.normal(size=shape).astype(dtype)
    with mo.device("interpreter") if interpreted else contextlib.nullcontext():
        p, lower, upper = (x.numpy() for x in la.lu(mo.array(a)))
    assert p.dtype == lower.dtype == upper.dtype == dtype
    k = min(shape[-2:])
    assert lower.shape == (*shape[:-1], k)
    np.testing.assert_array_equal(upper, np.triu(upper))
    np.testing.assert_array_equal(lower, np.tril(lower, -1) + np.eye(shape[-2], k))
    np.testing.assert_array_equal(p.sum(-1), np.ones(shape[:-1]))
    np.testing.assert_array_equal(p.sum(-2), np.ones(shape[:-1]))
    least = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(p @ lower @ upper, a, atol=least * max(1, k))
    # The largest element of each column is where the pivot is.
    assert np.abs(lower).max(initial=0) <= 1 + least


def test_values_that_are_known():
    p, lower, upper = la.lu(mo.array([[1, 2], [2, 5], [4, 0]]))
    close(p, np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], "float32"))
    close(lower, np.array([[1, 0], [0.5, 1], [0.25, 0.4]], "float32"))
    close(upper, np.array([[4, 0], [0, 5]], "float32"))
    # A singular matrix has factors.
    close(la.lu(mo.zeros((2, 2))).L, np.eye(2, dtype="float32"))
    half = mo.array([[1.0, 2.0]]).astype("float16")
    assert {str(x.dtype) for x in la.lu(half)} == {"float16"}
    with pytest.raises(ValueError, match=r"lu: .* shape \(3,\), expected two dimensions"):
        la.lu(mo.zeros(3))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 2, 3), (1, 1)])
def test_gradients(rng, shape):
    a = rng.normal(size=shape)
    check_gradient(lambda a: mo.concat([x.reshape(-1) for x in la.lu(a)[1:]]), a)
    check_gradient(lambda a: la.lu(a).U, a)
    check_gradient(lambda a: la.lu(a).L, a)


def test_gradients_of_examples_and_of_recorded_functions(rng):
    x = mo.array(rng.normal(size=(5, 4, 3)))

    def gradient(a):
        _, lower, upper = la.lu(a)
        return mo.grad((lower**3).sum() + (upper**2).sum(), a)

    singles = np.stack([gradient(mo.array(a)).numpy() for a in x.numpy()])
    close(mo.vmap(gradient)(x), singles, rtol=1e-9, atol=1e-10)
    close(mo.jit(gradient)(x), singles, rtol=1e-9, atol=1e-10)


def test_singular_matrices_have_no_finite_derivatives_and_empty_ones_zeros():
    x = mo.zeros((2, 2), "float64")
    assert not np.isfinite(mo.grad(la.lu(x).L.sum(), x).numpy()).all()
    for shape in ((0, 0), (0, 3), (3, 0)):
        x = mo.zeros(shape, "float64")
        _, lower, upper = la.lu(x)
        close(mo.grad(lower.sum() + upper.sum(), x), np.zeros(shape))
