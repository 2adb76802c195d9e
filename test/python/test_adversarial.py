# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of adversarial networks, beside what their papers say in NumPy."""

import metaops as mo
import numpy as np
import pytest
from metaops import models, nn

pytestmark = pytest.mark.processor


def test_losses_of_scores():
    scores = np.random.default_rng(0).normal(size=9)
    x = mo.array(scores)
    for is_real in (True, False):
        expected = np.log1p(np.exp(-scores if is_real else scores)).mean()
        found = models.adversarial_loss(x, is_real).item()
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        expected = 0.5 * ((scores - is_real) ** 2).mean()
        np.testing.assert_allclose(models.least_squares_loss(x, is_real).item(), expected)
    np.testing.assert_allclose(models.wasserstein_loss(x).item(), -scores.mean())


def test_the_penalty_of_a_slope():
    rng = np.random.default_rng(0)
    real, fake = (mo.array(rng.normal(size=(5, 3))) for _ in range(2))
    weight = mo.array(np.array([2.0, 3.0, 6.0]))  # of norm 7
    penalty = models.gradient_penalty(lambda x: x @ weight, real, fake)
    np.testing.assert_allclose(penalty.item(), 36.0)
    # Of a sum of squares it is the distance from 0, twice.
    share = rng.random(5)
    between = real.numpy() + share[:, None] * (fake.numpy() - real.numpy())
    expected = ((2 * np.linalg.norm(between, axis=1) - 1) ** 2).mean()
    found = models.gradient_penalty(lambda x: (x**2).sum(1), real, fake, mo.array(share))
    np.testing.assert_allclose(found.item(), expected)


def penalty_in_numpy(w0, w1, w2, between):
    """Return the penalty of a critic of a convolution of stride 2, a square and a linear layer."""
    N = len(between)
    patches = between.reshape(N, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4).reshape(N, 4, 4)
    hidden = patches @ w0.reshape(-1, 4).T  # (N, places, channels)
    outer = 2 * hidden * (w1 @ w2).reshape(-1, 4).T
    return ((np.sqrt(((outer @ w0.reshape(-1, 4)) ** 2).sum((1, 2))) - 1) ** 2).mean()


def test_the_penalty_of_a_strided_convolution():
    """Its gradients beside finite differences."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in ((3, 1, 2, 2), (12, 5), (5,))]
    real, fake, share = rng.normal(size=(4, 1, 4, 4)), rng.normal(size=(4, 1, 4, 4)), rng.random(4)
    weights = [mo.array(array) for array in arrays]

    def critic(x):
        return (nn.conv2d(x, weights[0], stride=2) ** 2).flatten(1) @ weights[1] @ weights[2]

    @mo.jit
    def compute():
        penalty = models.gradient_penalty(critic, *map(mo.array, (real, fake, share)))
        return penalty, mo.grad(penalty, weights)

    penalty, found = compute()
    between = real + share[:, None, None, None] * (fake - real)
    np.testing.assert_allclose(penalty.item(), penalty_in_numpy(*arrays, between), rtol=1e-12)
    for number, gradient in enumerate(found):
        direction = rng.normal(size=gradient.shape)
        ends = [
            penalty_in_numpy(
                *(a + h * direction if k == number else a for k, a in enumerate(arrays)), between
            )
            for h in (-1e-5, 1e-5)
        ]
        expected = (ends[1] - ends[0]) / 2e-5
        np.testing.assert_allclose((gradient.numpy() * direction).sum(), expected, rtol=1e-6)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_slope_of_zero_has_a_gradient(recorded):
    """As behind dead activations: it does not move, and others do."""
    images = np.array([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])
    weight = mo.array(np.array([1.0, 2.0, 2.0]))

    def compute():
        x = mo.array(images)
        penalty = models.gradient_penalty(lambda x: mo.relu(x @ weight), x, x)
        return penalty, mo.grad(penalty, weight)

    penalty, gradient = (mo.jit(compute) if recorded else compute)()
    # Slopes are the weight, of norm 3, and 0.
    np.testing.assert_allclose(penalty.item(), (4 + 1) / 2)
    np.testing.assert_allclose(gradient.numpy(), 2 * np.array([1.0, 2.0, 2.0]) / 3)


def test_images_of_other_shapes_are_told():
    real, share = mo.ones((4, 3)), mo.ones((4,))
    for fake, given, message in (
        (mo.ones((1, 3)), share, r"real has shape \(4, 3\) and fake \(1, 3\)"),
        (mo.ones((4, 1)), share, r"fake \(4, 1\), expected one shape"),
        (real, mo.ones((1,)), r"share has shape \(1,\), expected \(4,\)"),
        (real, mo.ones((4, 1)), r"share has shape \(4, 1\)"),
    ):
        with pytest.raises(ValueError, match=message + r".*test_adversarial.py:\d+\)$"):
            models.gradient_penalty(lambda x: x.sum(1), real, fake, given)
    with pytest.raises(ValueError, match=r"expected one shape \(N, ...\)"):
        models.gradient_penalty(lambda x: x, share, share)
