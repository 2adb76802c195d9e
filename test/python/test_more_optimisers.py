# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers by averages, by signs and by matrices, against their formulas in NumPy."""

import math

import metaops as mo
import numpy as np
import pytest
from util import close

STEPS = 5
SHAPES = [(4, 3), (3, 5)]


def averaged(w, gradients, lr=0.05, lambd=0.01, alpha=0.5, t0=1, weight_decay=0.1):
    for t, gradient in enumerate(gradients):
        rate = lr / (1 + lambd * lr * t) ** alpha
        w = w * (1 - lambd * rate) - rate * (gradient + weight_decay * w)
        yield w


def by_signs(w, gradients, lr=0.05, etas=(0.4, 1.3), step_sizes=(0.02, 0.07)):
    before, size = 0 * w, np.full_like(w, lr)
    for gradient in gradients:
        turns = np.sign(gradient * before)
        size = size * np.where(turns > 0, etas[1], np.where(turns < 0, etas[0], 1))
        size = np.clip(size, *step_sizes)
        before = np.where(turns < 0, 0, gradient)
        w = w - np.sign(before) * size
        yield w


def factored(w, gradients, lr=0.05, beta2_decay=-0.7, eps=(None, 1e-2), d=1.5, weight_decay=0.1):
    row, column, tiny = 0, 0, np.finfo(w.dtype).eps
    for t, gradient in enumerate(gradients, 1):
        share = t**beta2_decay
        rate = max(eps[1], math.sqrt((w**2).mean())) * min(lr, 1 / math.sqrt(t))
        row = (1 - share) * row + share * (gradient**2).mean(1, keepdims=True)
        column = (1 - share) * column + share * (gradient**2).mean(0, keepdims=True)
        square = row * column / max(row.mean(), tiny)
        step = gradient / np.sqrt(np.maximum(square, tiny**2))
        step = step / max(1, math.sqrt((step**2).mean()) / d)
        w = w * (1 - lr * weight_decay) - rate * step
        yield w


def orthogonal(w, gradients, lr=0.05, weight_decay=0.2, momentum=0.9, nesterov=True, ns_steps=4):
    mean = 0
    for gradient in gradients:
        mean = momentum * mean + (1 - momentum) * gradient
        x = momentum * mean + (1 - momentum) * gradient if nesterov else mean
        x = x.T if w.shape[0] > w.shape[1] else x
        x = x / np.linalg.norm(x)
        for _ in range(ns_steps):
            gram = x @ x.T
            x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
        x = x.T if w.shape[0] > w.shape[1] else x
        w = w * (1 - lr * weight_decay) - lr * math.sqrt(max(1, w.shape[0] / w.shape[1])) * x
        yield w


def layerwise(w, gradients, lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.2):
    mean, square = 0, 0
    for t, gradient in enumerate(gradients, 1):
        mean = betas[0] * mean + (1 - betas[0]) * gradient
        square = betas[1] * square + (1 - betas[1]) * gradient**2
        direction = mean / (1 - betas[0] ** t)
        direction = direction / (np.sqrt(square / (1 - betas[1] ** t)) + eps) + weight_decay * w
        w = w - lr * np.linalg.norm(w) / np.linalg.norm(direction) * direction
        yield w


def by_sign_of_momentum(w, gradients, lr=0.05, betas=(0.8, 0.9), weight_decay=0.2):
    mean = 0
    for gradient in gradients:
        direction = np.sign(betas[0] * mean + (1 - betas[0]) * gradient)
        mean = betas[1] * mean + (1 - betas[1]) * gradient
        w = w * (1 - lr * weight_decay) - lr * direction
        yield w


CASES = {
    "LAMB": (layerwise, {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.2}),
    "Lion": (by_sign_of_momentum, {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.2}),
    "ASGD": (averaged, {"lr": 0.05, "lambd": 0.01, "alpha": 0.5, "t0": 1, "weight_decay": 0.1}),
    "Rprop": (by_signs, {"lr": 0.05, "etas": (0.4, 1.3), "step_sizes": (0.02, 0.07)}),
    "Adafactor": (
        factored,
        {"lr": 0.05, "beta2_decay": -0.7, "eps": (None, 1e-2), "d": 1.5, "weight_decay": 0.1},
    ),
    "Muon": (orthogonal, {"lr": 0.05, "weight_decay": 0.2, "momentum": 0.9, "ns_steps": 4}),
}


def loss_of(parameters, scales):
    """Return a sum of squares, of which a gradient changes its signs."""
    return sum(
        ((p - 0.05) ** 2 * mo.array(s)).sum() for p, s in zip(parameters, scales, strict=True)
    )


@pytest.mark.parametrize("name", CASES)
def test_steps_are_the_formulas(rng, name):
    formula, options = CASES[name]
    starts = [rng.uniform(-0.2, 0.2, shape) for shape in SHAPES]
    scales = [rng.uniform(0.1, 3, (STEPS, *shape)) for shape in SHAPES]
    parameters = [mo.array(start) for start in starts]
    optimizer = getattr(mo.optim, name)(parameters, **options)
    seen = [[] for _ in SHAPES]
    for t in range(STEPS):
        for values, p in zip(seen, parameters, strict=True):
            values.append(p.numpy())
        optimizer.step(loss_of(parameters, [scale[t] for scale in scales]))
        if t == 2:  # What is kept is all that there is.
            kept = optimizer.state_dict()
            optimizer = getattr(mo.optim, name)(parameters, **options)
            optimizer.load_state_dict(kept)
    for start, scale, values, p in zip(starts, scales, seen, parameters, strict=True):
        gradients = [2 * (w - 0.05) * s for w, s in zip(values, scale, strict=True)]
        expected = list(formula(start, gradients, **options))
        close(np.array([*values[1:], p.numpy()]), np.array(expected), rtol=1e-9, atol=1e-9)


def test_the_averages_of_descent(rng):
    w = mo.array(rng.standard_normal(4))
    optimizer = mo.optim.ASGD([w], lr=0.1, lambd=0.0, t0=1)
    seen = []
    for _ in range(6):
        optimizer.step((w * w).sum())
        seen.append(w.numpy())
    average = seen[0]
    for t, value in enumerate(seen):
        average = average + (value - average) / max(1, t - 1)
    (kept,) = (v for k, v in flat(optimizer.state_dict()) if "average" in k)
    close(kept, average, rtol=1e-9)


def flat(value, name=""):
    """Return the tensors of nested containers, with their names."""
    if isinstance(value, dict):
        return [pair for key, v in value.items() for pair in flat(v, f"{name}.{key}")]
    if isinstance(value, list | tuple):
        return [pair for k, v in enumerate(value) for pair in flat(v, f"{name}.{k}")]
    return [(name, value)] if isinstance(value, mo.Var | np.ndarray) else []


def test_muon_brings_singular_values_near_one(rng):
    w = mo.zeros((6, 4))
    mo.optim.Muon([w], lr=1.0, weight_decay=0.0).step((w * mo.array(rng.random((6, 4)))).sum())
    values = np.linalg.svd(w.numpy() / math.sqrt(1.5), compute_uv=False)
    assert values.min() > 0.6 and values.max() < 1.3


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Rprop", {"etas": (1.1, 1.2)}, "expected one in"),
        ("Adafactor", {"beta2_decay": 0.5}, "expected 0 or less"),
        ("Adafactor", {"d": 0.5}, "expected 1 or more"),
        ("Muon", {}, "expected matrices"),
        ("Muon", {"adjust_lr_fn": "other"}, "expected"),
        ("ASGD", {"lr": -1.0}, "lr"),
    ],
)
def test_errors(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(mo.optim, name)([mo.zeros(3)], **options)
