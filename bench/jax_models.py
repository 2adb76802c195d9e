# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that are measured, in JAX: functions of lists of arrays.

Parameters come in the order of models.py. A model's state (the running moments
of batch norms) is a list beside them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

Arrays = list[Array]


def mlp(p: Arrays, state: Arrays, x: Array) -> tuple[Array, Arrays]:
    """Return scores: two linear layers."""
    hidden = jax.nn.relu(x @ p[0].T + p[1])
    return hidden @ p[2].T + p[3], state


def mlp_state() -> Arrays:
    """Return no arrays."""
    return []


def digits(p: Arrays, state: Arrays, x: Array) -> tuple[Array, Arrays]:
    """Return scores: the model of examples/digits.py."""
    new: Arrays = []
    for k in range(2):
        w, b, scale, shift = p[4 * k : 4 * k + 4]
        x = lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
        ) + b.reshape(1, -1, 1, 1)
        x, moments = batch_norm(x, scale, shift, state[2 * k : 2 * k + 2])
        new += moments
        window = (1, 1, 2, 2)
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, window, window, "VALID")
    return x.reshape(x.shape[0], -1) @ p[8].T + p[9], new


def digits_state() -> Arrays:
    """Return the first means and variances."""
    return [f((n,), jnp.float32) for n in (16, 32) for f in (jnp.zeros, jnp.ones)]


def batch_norm(x: Array, scale: Array, shift: Array, state: Arrays) -> tuple[Array, Arrays]:
    """Normalise the channels of images; return these and the new running moments."""
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    count = x.size // x.shape[1]
    moments = [mean, variance * (count / (count - 1))]
    new = [0.9 * old + 0.1 * moment for old, moment in zip(state, moments, strict=True)]
    along = (1, -1, 1, 1)
    y = (x - mean.reshape(along)) * lax.rsqrt(variance.reshape(along) + 1e-5)
    return y * scale.reshape(along) + shift.reshape(along), new


def cross_entropy(scores: Array, labels: Array) -> Array:
    """Return the mean negative log-likelihood of labels."""
    logs = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(logs, labels[:, None], 1).mean()


def adam(p: Arrays, g: Arrays, state: Any, lr: float) -> tuple[Arrays, Any]:
    """Return parameters and state after a step of Adam."""
    count, means, squares = state
    count = count + 1
    means = [0.9 * m + 0.1 * d for m, d in zip(means, g, strict=True)]
    squares = [0.999 * s + 0.001 * d * d for s, d in zip(squares, g, strict=True)]
    rate = lr / (1 - 0.9**count)
    scale = 1 / jnp.sqrt(1 - 0.999**count)
    moved = [
        w - rate * m / (jnp.sqrt(s) * scale + 1e-8)
        for w, m, s in zip(p, means, squares, strict=True)
    ]
    return moved, (count, means, squares)


def adam_state(p: Arrays) -> Any:
    """Return the state before the first step."""
    return jnp.float32(0), [jnp.zeros_like(w) for w in p], [jnp.zeros_like(w) for w in p]
