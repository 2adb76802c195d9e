# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials of matrices."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close

la = mo.linalg


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-3, 0.3, 3.0, 30.0])
def test_exponentials(rng, scale, dtype):
    # Each matrix of a batch is halved as often as it needs.
    w = rng.normal(size=(3, 4)) * np.array([scale, 1.0, 0.1])[:, None]
    v = np.linalg.qr(rng.normal(size=(3, 4, 4))).Q
    a, expected = ((v * x[:, None, :]) @ v.swapaxes(1, 2) for x in (w, np.exp(w)))
    x = la.expm(mo.array(a.astype(dtype)))
    assert str(x.dtype) == dtype
    least = 1e-4 if dtype == "float32" else 1e-12
    sizes = np.abs(expected).max((1, 2), keepdims=True)
    np.testing.assert_allclose(x.numpy() / sizes, expected / sizes, atol=least)


def test_exponentials_of_other_matrices(rng):
    angle = 30.0
    turn = la.expm(mo.array([[0.0, -angle], [angle, 0.0]]).astype("float64"))
    cosine, sine = np.cos(angle), np.sin(angle)
    close(turn, np.array([[cosine, -sine], [sine, cosine]]), atol=1e-12)
    close(la.expm([[0.0, 5.0], [0.0, 0.0]]), np.array([[1, 5], [0, 1]], "float32"))
    for shape in ((0, 0), (0, 3, 3)):
        close(la.expm(mo.zeros(shape)), np.zeros(shape, "float32"))
    close(la.expm([[-1e9]]), np.zeros((1, 1), "float32"))
    assert np.isnan(la.expm([[np.nan]]).item())
    large = mo.array([[-1e30]])
    assert np.isnan(la.expm(large).item())
    assert np.isnan(mo.grad(la.expm(large).sum(), large).item())
    for scale in (0.1, 4.0):
        check_gradient(la.expm, scale * rng.normal(size=(2, 2, 2)))


def test_exponentials_of_examples_that_are_halved_differently(rng):
    x = mo.array(rng.normal(size=(3, 4, 4)) * np.array([0.1, 1, 10])[:, None, None])
    close(mo.vmap(la.expm)(x), la.expm(x), rtol=1e-12)

    def gradient(a):
        return mo.grad(la.expm(a).sum(), a)

    singles = np.stack([gradient(mo.array(a)).numpy() for a in x.numpy()])
    close(mo.vmap(gradient)(x), singles, rtol=1e-11)
    close(mo.jit(gradient)(mo.array(x.numpy()[2])), singles[2], rtol=1e-11)
