# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A WGAN-GP step: the gradient of a gradient's norm."""

import metaops as mo
from util import check_gradient, floats


def critic(x, w0, w1, w2):
    """Return one score per image: a convolution and two linear layers."""
    hidden = mo.tanh(mo.nn.conv2d(x, w0, stride=1, padding=1))
    hidden = mo.leaky_relu(hidden.flatten(1) @ w1, 0.2)
    return hidden @ w2


def penalty(x, parameters):
    """Return how far the norms of the scores' gradients are from 1."""
    gradient = mo.grad(critic(x, *parameters).sum(), x)
    return ((gradient.flatten(1).norm(dim=1) - 1) ** 2).mean()


def parameters_of(rng):
    return [floats(rng, shape, "float64", -0.6, 0.6) for shape in [(2, 1, 2, 2), (32, 4), (4, 1)]]


def test_gradient_penalty(rng):
    real, fake = floats(rng, (2, 1, 3, 3), "float64"), floats(rng, (2, 1, 3, 3), "float64")
    mix = rng.random((2, 1, 1, 1))
    between = mo.array(mix * real + (1 - mix) * fake)

    def loss(*parameters):
        scores = critic(mo.array(fake), *parameters) - critic(mo.array(real), *parameters)
        return scores.mean() + 10.0 * penalty(between, parameters)

    check_gradient(loss, *parameters_of(rng), order=1)


def test_gradient_penalty_of_second_order(rng):
    x = floats(rng, (1, 1, 2, 2), "float64")
    shapes = [(1, 1, 2, 2), (9, 2), (2, 1)]
    parameters = [floats(rng, shape, "float64", 0.2, 0.8) for shape in shapes]
    check_gradient(lambda *p: penalty(mo.array(x), p), *parameters, order=2, rtol=1e-5, atol=1e-6)


def test_the_penalty_can_be_trained_away(rng):
    x = mo.array(floats(rng, (4, 1, 3, 3)))
    parameters = [mo.array(p.astype("float32")) for p in parameters_of(rng)]
    optimizer = mo.optim.Adam(parameters, lr=0.02)
    first = penalty(x, parameters).item()
    for _ in range(60):
        optimizer.step(penalty(x, parameters))
    assert penalty(x, parameters).item() < 0.1 * first
