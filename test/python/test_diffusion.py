# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diffusion against its equations (Ho et al., 2020), and the network that it trains."""

from __future__ import annotations

import math

import metaops as mo
import numpy as np
import pytest
from metaops import models
from metaops.models.ddpm import time_embedding

pytestmark = pytest.mark.processor


def test_the_noise_of_steps_adds_up(rng):
    """Steps of equation 2, one after the other, are that of equation 4."""
    diffusion = models.GaussianDiffusion(6, 0.1, 0.3)
    np.testing.assert_allclose(diffusion.betas, np.linspace(0.1, 0.3, 6))
    x0 = rng.normal(size=(6, 2, 3))
    mean, variance = np.ones(6), np.zeros(6)
    for t in range(6):
        for later in range(t, 6):
            mean[later] *= math.sqrt(1 - diffusion.betas[t])
            variance[later] = variance[later] * (1 - diffusion.betas[t]) + diffusion.betas[t]
    zero, one = mo.zeros((6, 2, 3), "float64"), mo.ones((6, 2, 3), "float64")
    t = mo.arange(6)
    found = diffusion.q_sample(mo.array(x0), t, zero).numpy()
    np.testing.assert_allclose(found, mean[:, None, None] * x0, rtol=1e-6)
    found = diffusion.q_sample(zero, t, one).numpy()
    np.testing.assert_allclose(found[:, 0, 0] ** 2, variance, rtol=1e-6)


def known_noise(diffusion, x0):
    """Return a model that knows the only image that there is."""

    def model(x, t):
        left = mo.array(diffusion.alphas_cumprod)[t].reshape(-1, 1, 1)
        return ((x - mo.sqrt(left) * x0) / mo.sqrt(1 - left)).cast(x.dtype)

    return model


def test_a_step_back_is_algorithm_2(rng):
    diffusion = models.GaussianDiffusion(5, 0.05, 0.4)
    x, noise, made = (rng.normal(size=(5, 2, 3)) for _ in range(3))
    t = np.array([4, 0, 2, 1, 3])
    found = diffusion.p_sample(
        lambda x, t: mo.array(made), mo.array(x), mo.array(t), mo.array(noise)
    )
    beta, left = (v[t][:, None, None] for v in (diffusion.betas, diffusion.alphas_cumprod))
    expected = (x - beta / np.sqrt(1 - left) * made) / np.sqrt(1 - beta)
    expected += np.sqrt(beta) * noise * (t > 0)[:, None, None]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_who_knows_the_noise_gets_the_image_back(rng):
    mo.seed(0)
    diffusion = models.GaussianDiffusion(50, 1e-3, 0.2)
    x0 = mo.array(rng.normal(size=(4, 3)))
    model = known_noise(diffusion, x0)
    assert diffusion.loss(model, mo.broadcast(x0, (8, 4, 3))).item() < 1e-6
    made = mo.jit(lambda: diffusion.sample(model, (2, 4, 3)))()
    np.testing.assert_allclose(made.numpy(), [x0.numpy()] * 2, atol=1e-4)


def test_the_loss_is_that_of_the_noise(rng):
    diffusion = models.GaussianDiffusion(9)
    x0, noise = rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2, 2))
    seen = []

    def model(x, t):
        seen.append(t)
        return x * 0.5

    t = mo.array([0, 4, 8])
    found = diffusion.loss(model, mo.array(x0), t, mo.array(noise)).item()
    noisy = diffusion.q_sample(mo.array(x0), t, mo.array(noise)).numpy()
    np.testing.assert_allclose(found, ((0.5 * noisy - noise) ** 2).mean())
    mo.seed(0)
    diffusion.loss(model, mo.zeros((500, 1)))
    assert np.unique(seen[-1].numpy()).tolist() == list(range(9))


def test_embeddings_of_steps():
    found = time_embedding(mo.array([0, 3]), 8).numpy()
    rates = 10000.0 ** (-np.arange(4) / 3)
    angles = np.array([0.0, 3.0])[:, None] * rates
    expected = np.concatenate([np.sin(angles), np.cos(angles)], 1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_size_is_the_papers():
    """35.7 million parameters for CIFAR-10 (appendix B)."""
    assert round(sum(p.size for p in models.DDPMUNet().parameters()) / 1e6, 1) == 35.7


@pytest.mark.rest
def test_the_network_is_told_the_step(rng):
    mo.seed(0)
    model = models.DDPMUNet(1, 8, (1, 2), 1, dropout=0.0, groups=2).eval()
    x = mo.array(rng.normal(size=(2, 1, 8, 12)).astype("float32"))
    first = model(x, mo.array([3, 500]))
    # It begins with no noise at all.
    assert first.shape == x.shape and not first.numpy().any()
    for parameter in model.parameters():
        if not parameter.numpy().any():
            parameter.assign(mo.randn(*parameter.shape) * 0.1)
    one, other = model(x, mo.array([3, 500])).numpy(), model(x, mo.array([3, 3])).numpy()
    np.testing.assert_allclose(one[0], other[0], rtol=1e-4, atol=1e-5)
    assert np.abs(one[1] - other[1]).max() > 1e-3


@pytest.mark.rest
def test_training_learns_the_noise(rng):
    mo.seed(0)
    diffusion = models.GaussianDiffusion(100, 1e-3, 0.1)
    model = models.DDPMUNet(1, 8, (1, 2), 1, dropout=0.0, groups=2)
    optimizer = mo.optim.Adam(model.parameters(), 3e-3)
    images = np.ones((32, 1, 8, 8), "float32")

    @mo.jit
    def step(x0):
        loss = diffusion.loss(model, x0)
        optimizer.step(loss)
        return loss

    losses = [step(mo.array(images)).item() for _ in range(60)]
    assert np.mean(losses[-10:]) < 0.4 * losses[0]
    made = diffusion.sample(model.eval(), (4, 1, 8, 8)).numpy()
    assert made.shape == (4, 1, 8, 8) and np.isfinite(made).all()


def test_bad_input():
    model = models.DDPMUNet(1, 8, (1, 2), 1, groups=2)
    for make, text in [
        (lambda: models.GaussianDiffusion(0), "GaussianDiffusion: steps is 0"),
        (lambda: models.GaussianDiffusion(9, 0.0), r"first is 0\.0, expected one in \(0, 1\]"),
        (lambda: models.GaussianDiffusion(9, 0.5, 0.1), r"first is 0\.5, above last"),
        (lambda: models.DDPMUNet(width=100), "width is 100, expected a multiple of 32"),
        (lambda: models.DDPMUNet(multiples=()), "multiples is empty"),
        (lambda: models.DDPMUNet(dropout=2.0), "dropout is 2.0"),
        (lambda: model(mo.zeros((2, 1, 7, 8)), mo.array([1, 1])), r"shape \(2, 1, 7, 8\)"),
        (lambda: model(mo.zeros((2, 1, 8, 8)), mo.array([1])), r"t has shape \(1,\), expected"),
        (lambda: models.GaussianDiffusion(9).sample(model, ()), r"shape is \(\), expected"),
    ]:
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(TypeError, match=r"q_sample: noise is .*, expected a Var"):
        models.GaussianDiffusion(9).q_sample(mo.zeros((1, 2)), mo.array([1]), None)
