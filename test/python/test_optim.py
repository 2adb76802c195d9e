# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers against their formulas in NumPy."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops.optim import lr_scheduler
from util import close, floats, same


def problem(rng):
    """Return a parameter's first value and a loss with its gradient."""
    matrix, start = floats(rng, (6, 4), "float64"), floats(rng, (4, 3), "float64")

    def loss(p):
        return ((mo.array(matrix) @ p) ** 2).sum() * 0.5

    return start, loss, lambda p: matrix.T @ (matrix @ p)


def run(optimizer, parameter, loss, rates):
    for rate in rates:
        optimizer.lr = rate
        optimizer.step(loss(parameter))
    return parameter


RATES = [0.05, 0.04, 0.03, 0.02, 0.01]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(rng, momentum, decay, nesterov):
    if nesterov and not momentum:
        with pytest.raises(ValueError, match="momentum"):
            mo.optim.SGD([mo.zeros((1,))], 0.1, nesterov=True)
        return
    start, loss, gradient = problem(rng)
    p = mo.array(start)
    run(mo.optim.SGD([p], 1.0, momentum, 0.0, decay, nesterov), p, loss, RATES)
    expected, velocity = start.copy(), np.zeros_like(start)
    for rate in RATES:
        g = gradient(expected) + decay * expected
        velocity = momentum * velocity + g
        expected = expected - rate * (g + momentum * velocity if nesterov else velocity)
    close(p, expected, rtol=1e-9)


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam(rng, decoupled, decay):
    start, loss, gradient = problem(rng)
    p = mo.array(start)
    kind = mo.optim.AdamW if decoupled else mo.optim.Adam
    optimizer = kind([p], betas=(0.8, 0.95), eps=1e-6, weight_decay=decay)
    run(optimizer, p, loss, RATES)
    expected = start.copy()
    m, v = np.zeros_like(start), np.zeros_like(start)
    for t, rate in enumerate(RATES, 1):
        g = gradient(expected)
        if decoupled:
            expected = expected * (1 - rate * decay)
        else:
            g = g + decay * expected
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
        corrected = v / (1 - 0.95**t)
        expected = expected - rate * (m / (1 - 0.8**t)) / (np.sqrt(corrected) + 1e-6)
    close(p, expected, rtol=1e-9)
    assert optimizer.steps == 5


def test_a_parameter_that_the_loss_does_not_use(rng):
    used, unused = mo.array(floats(rng, (3,))), mo.array(floats(rng, (2,)))
    before = unused.numpy()
    optimizer = mo.optim.Adam([used, unused], 0.1)
    for _ in range(3):
        optimizer.step((used * used).sum())
    same(unused, before)


def test_gradients_computed_elsewhere():
    p = mo.array([1.0, 2.0])
    optimizer = mo.optim.SGD([p], 0.5)
    g = mo.grad((p * p).sum(), [p])
    optimizer.apply([g[0] * 0.5])
    close(p, [0.5, 1.0])
    with pytest.raises(ValueError, match="2 gradients"):
        optimizer.apply([g[0], g[0]])
    with pytest.raises(ValueError, match=r"\(1,\)"):
        optimizer.apply([mo.zeros((1,))])


def test_state(rng):
    """Training goes on from a saved state as if it had not been interrupted."""
    start, loss, _ = problem(rng)
    whole = mo.array(start)
    run(mo.optim.Adam([whole], 0.01), whole, loss, [0.05] * 6)
    first = mo.array(start)
    optimizer = mo.optim.Adam([first], 0.01)
    run(optimizer, first, loss, [0.05] * 3)
    state = optimizer.state_dict()
    assert set(state) == {"steps", "param_groups", "mean.0", "square.0"}
    second = mo.array(first.numpy())
    resumed = mo.optim.Adam([second], 1.0)
    resumed.load_state_dict(state)
    assert resumed.lr == 0.05 and resumed.steps == 3
    run(resumed, second, loss, [0.05] * 3)
    same(second, whole.numpy())


def test_schedules():
    def rates(kind, *arguments):
        optimizer = mo.optim.SGD([mo.zeros((1,))], 0.8)
        schedule = kind(optimizer, *arguments)
        seen = [optimizer.lr]
        for _ in range(4):
            schedule.step()
            seen.append(optimizer.lr)
        return seen

    np.testing.assert_allclose(rates(lr_scheduler.StepLR, 2, 0.5), [0.8, 0.8, 0.4, 0.4, 0.2])
    np.testing.assert_allclose(rates(lr_scheduler.ExponentialLR, 0.5), [0.8, 0.4, 0.2, 0.1, 0.05])
    cosine = [0.1 + 0.7 * (1 + math.cos(math.pi * k / 4)) / 2 for k in range(5)]
    np.testing.assert_allclose(rates(lr_scheduler.CosineAnnealingLR, 4, 0.1), cosine)
    with pytest.raises(ValueError, match="step_size"):
        rates(lr_scheduler.StepLR, 0)
    with pytest.raises(ValueError, match="t_max"):
        rates(lr_scheduler.CosineAnnealingLR, 0)
