# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eigenvalues and eigenvectors of any square matrices: values, derivatives, bad input."""

import pathlib

import metaops as mo
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from util import check_gradient, close

HERE = pathlib.Path(__file__).name
la = mo.linalg


def ordered(values):
    return np.sort_complex(np.round(values, 6))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (5, 5), (2, 3, 4, 4), (40, 40), (0, 3, 3), (0, 0)]
)
def test_vectors_are_those_of_values(rng, shape, dtype):
    a = rng.normal(size=shape).astype(dtype)
    values, vectors = la.eig(mo.array(a))
    expected = "complex64" if dtype == "float32" else "complex128"
    assert str(values.dtype) == str(vectors.dtype) == expected
    assert values.shape == shape[:-1] and vectors.shape == shape
    L, V = values.numpy(), vectors.numpy()
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(a @ V, V * L[..., None, :], atol=tolerance)
    np.testing.assert_allclose((np.abs(V) ** 2).sum(-2), np.ones(shape[:-1]), atol=tolerance)
    alone = la.eigvals(mo.array(a)).numpy()
    for index in np.ndindex(*shape[:-2]):
        reference = ordered(np.linalg.eigvals(a[index].astype("float64")))
        np.testing.assert_allclose(ordered(L[index]), reference, atol=10 * tolerance)
        np.testing.assert_allclose(ordered(alone[index]), reference, atol=10 * tolerance)


def test_conjugate_pairs():
    values, vectors = la.eig(mo.array([[0.0, 2.0], [-2.0, 0.0]]))
    close(values, np.array([2j, -2j], "complex64"))
    close(vectors[:, 0], vectors[:, 1].conj().numpy())
    symmetric = la.eigvals(mo.array([[2.0, 1.0], [1.0, 2.0]]))
    close(mo.sort(symmetric.real), [1, 3])
    close(symmetric.imag, [0, 0])


def test_integers_and_halves_are_floats():
    assert str(la.eigvals(mo.array([[1, 2], [3, 4]])).dtype) == "complex64"
    assert (
        str(la.eig(mo.array([[1.0, 2.0], [3.0, 4.0]], "float16")).eigenvectors.dtype) == "complex64"
    )


#: Functions of a matrix, which no phase of a vector changes.
LOSSES = {
    "values": lambda a: (la.eigvals(a) ** 3).imag.sum() + mo.abs(la.eigvals(a)).sum(),
    "values beside vectors": lambda a: (la.eig(a).eigenvalues.real ** 2).sum(),
    "vectors": lambda a: _weighted(*la.eig(a)),
    "exponential": lambda a: _exponential(*la.eig(a)),
}


def _weighted(values, vectors):
    weights = mo.array(np.arange(1.0, vectors.size + 1).reshape(vectors.shape))
    # The order of values is no function of the matrix, but does not change nearby.
    return (mo.abs(vectors) ** 4 * weights).sum() + (values.real * 0.5).sum()


def _exponential(values, vectors):
    size = values.shape[-1]
    # V exp(L) V^H, which is no function of values alone.
    made = (vectors * mo.exp(values)[..., None, :]) @ vectors.conj().mT
    return (made.real * mo.array(np.arange(size * size).reshape(size, size))).sum()


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(rng, name):
    check_gradient(LOSSES[name], rng.normal(size=(3, 3)))


@pytest.mark.parametrize("name", LOSSES)
def test_tangents_are_those_of_gradients(rng, name):
    a, moved = mo.array(rng.normal(size=(4, 4))), mo.array(rng.normal(size=(4, 4)))
    (tangent,) = mo.jvp([LOSSES[name](a)], [a], [moved])
    close(tangent, (mo.grad(LOSSES[name](a), a) * moved).sum(), rtol=1e-8)


def test_vmap_and_jit(rng):
    a = rng.normal(size=(5, 3, 3))
    loss = LOSSES["vectors"]
    each = [mo.grad(loss(x), x).numpy() for x in map(mo.array, a)]
    gradients = mo.vmap(lambda x: mo.grad(loss(x), x))(mo.array(a))
    close(gradients, np.stack(each), rtol=1e-8)
    close(mo.jit(loss)(mo.array(a[0])), loss(mo.array(a[0])).numpy(), rtol=1e-12)


def test_equal_values():
    a = mo.array(np.diag([1.0, 1.0, 2.0]))
    # By values alone: no gap is divided by.
    close(mo.grad(la.eigvals(a).real.sum(), a), np.eye(3))
    close(mo.grad((la.eig(a).eigenvalues.real ** 2).sum(), a), np.diag([2.0, 2.0, 4.0]))
    gradient = mo.grad(la.eig(a).eigenvectors.real[0, 1], a).numpy()
    assert np.isnan(gradient).any()


def test_what_is_not_finite():
    a = np.tile(np.eye(3), (4, 1, 1))
    a[2, 0, 1] = np.inf
    for function in (la.eig, la.eigvals):
        with pytest.raises(LinAlgError, match=rf"matrix 2 of 4 has .* not finite.*{HERE}"):
            mo.sync(function(mo.array(a)))
    values = la.eigvals(mo.array(a), check=False).numpy()
    assert np.isnan(values[2]).all() and np.isfinite(np.delete(values, 2, 0)).all()


def test_bad_arguments():
    with pytest.raises(ValueError, match=rf"eig: .*expected square matrices.*{HERE}"):
        la.eig(mo.zeros(2, 3))
    with pytest.raises(TypeError, match=rf"eigvals: .*expected real ones.*{HERE}"):
        la.eigvals(mo.array([[1j]]))
