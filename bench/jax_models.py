# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that are measured, in JAX: functions of parameters and of arrays.

Parameters come in the order of models.py. A model's state (the running moments
of batch norms) is a list beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

Arrays = list[Array]


class Net:
    """Parameters and running moments in the order of their layers.

    `moments` has the new ones after the model was run.
    """

    def __init__(self, parameters: Arrays, moments: Arrays | None) -> None:
        self._parameters = iter(parameters)
        self._old = None if moments is None else iter(moments)
        self.moments: Arrays = []

    def take(self) -> Array:
        """Return the next parameter."""
        return next(self._parameters)

    def linear(self, x: Array, bias: bool = True) -> Array:
        """Return products with the rows of a weight."""
        y = x @ self.take().T
        return y + self.take() if bias else y

    def convolution(self, x: Array, stride: int = 1, bias: bool = False) -> Array:
        """Convolve images within zeros."""
        weight = self.take()
        border = (weight.shape[-1] // 2,) * 2
        y = lax.conv_general_dilated(
            x,
            weight,
            (stride, stride),
            (border, border),
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
        )
        return y + self.take().reshape(1, -1, 1, 1) if bias else y

    def batch_norm(self, x: Array) -> Array:
        """Normalise the channels of images."""
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        count = x.size // x.shape[1]
        for new in (mean, variance * (count / (count - 1))):
            old = jnp.zeros_like(new) if self._old is None else next(self._old)
            self.moments.append(0.9 * old + 0.1 * new)
        along = (1, -1, 1, 1)
        y = (x - mean.reshape(along)) * lax.rsqrt(variance.reshape(along) + 1e-5)
        return y * self.take().reshape(along) + self.take().reshape(along)

    def layer_norm(self, x: Array) -> Array:
        """Normalise rows."""
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * self.take() + self.take()


Model = Callable[..., Array]


def first_moments(model: Model, parameters: Arrays, x: Array, arguments: Sequence[Any]) -> Arrays:
    """Return the means, zeros, and variances, ones, that a model starts with."""

    def moments(parameters: Arrays, x: Array) -> Arrays:
        net = Net(parameters, None)
        model(net, x, *arguments)
        return net.moments

    shapes = jax.eval_shape(moments, parameters, x)
    return [jnp.full(moment.shape, float(k % 2)) for k, moment in enumerate(shapes)]


def max_pool(x: Array, window: int, stride: int, border: int = 0) -> Array:
    """Return the largest of windows."""
    sides = (border, border)
    return lax.reduce_window(
        x,
        -jnp.inf,
        lax.max,
        (1, 1, window, window),
        (1, 1, stride, stride),
        ((0, 0), (0, 0), sides, sides),
    )


# Models


def mlp(net: Net, x: Array) -> Array:
    """Return scores: two linear layers."""
    return net.linear(jax.nn.relu(net.linear(x)))


def digits(net: Net, x: Array) -> Array:
    """Return scores: the model of examples/digits.py."""
    for _ in range(2):
        x = max_pool(jax.nn.relu(net.batch_norm(net.convolution(x, bias=True))), 2, 2)
    return net.linear(x.reshape(x.shape[0], -1))


def block(net: Net, x: Array, stride: int, is_bottleneck: bool, has_short: bool) -> Array:
    """Return the image of two or three convolutions beside a short cut."""
    if is_bottleneck:
        y = jax.nn.relu(net.batch_norm(net.convolution(x)))
        y = jax.nn.relu(net.batch_norm(net.convolution(y, stride)))
    else:
        y = jax.nn.relu(net.batch_norm(net.convolution(x, stride)))
    y = net.batch_norm(net.convolution(y))
    return jax.nn.relu(y + (net.batch_norm(net.convolution(x, stride)) if has_short else x))


def resnet(net: Net, x: Array, counts: Sequence[int], is_bottleneck: bool, small: bool) -> Array:
    """Return scores: stages of blocks, so many each (He et al., 2016)."""
    x = jax.nn.relu(net.batch_norm(net.convolution(x, 1 if small else 2)))
    x = x if small else max_pool(x, 3, 2, 1)
    for stage, count in enumerate(counts):
        for place in range(count):
            has_short = place == 0 and (stage > 0 or is_bottleneck)
            stride = 2 if stage > 0 and place == 0 else 1
            x = block(net, x, stride, is_bottleneck, has_short)
    return net.linear(x.mean((2, 3)))


def resnet18(net: Net, x: Array, classes: int, small: bool) -> Array:
    """Return scores."""
    return resnet(net, x, (2, 2, 2, 2), False, small)


def resnet50(net: Net, x: Array, classes: int, small: bool) -> Array:
    """Return scores."""
    return resnet(net, x, (3, 4, 6, 3), True, small)


def attention(net: Net, x: Array, heads: int) -> Array:
    """Return mixed positions, each with all before it."""
    N, L, W = x.shape
    q, k, v = (
        part.reshape(N, L, heads, W // heads).transpose(0, 2, 1, 3)
        for part in jnp.split(net.linear(x), 3, axis=2)
    )
    scores = (q @ k.transpose(0, 1, 3, 2)) * (W // heads) ** -0.5
    weights = jax.nn.softmax(jnp.where(jnp.tri(L, dtype=bool), scores, -1e9), -1)
    return net.linear((weights @ v).transpose(0, 2, 1, 3).reshape(N, L, W))


def Transformer(
    net: Net, x: Array, tokens: int, length: int, width: int, heads: int, layers: int
) -> Array:
    """Return the scores of the tokens after x, integers."""
    table, place = net.take(), net.take()
    x = jnp.take(table, x, 0) + place
    for _ in range(layers):
        x = x + attention(net, net.layer_norm(x), heads)
        hidden = jax.nn.gelu(net.linear(net.layer_norm(x)), approximate=False)
        x = x + net.linear(hidden)
    return net.linear(net.layer_norm(x), bias=False)


def cross_entropy(scores: Array, labels: Array) -> Array:
    """Return the mean negative log-likelihood of labels."""
    logs = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(logs, labels[:, None], 1).mean()


# Optimisers: functions of parameters, gradients, state and rate; and their first states


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


def sgd(p: Arrays, g: Arrays, state: Arrays, lr: float) -> tuple[Arrays, Arrays]:
    """Return parameters and state after a step of gradient descent with momentum."""
    state = [0.9 * m + d for m, d in zip(state, g, strict=True)]
    return [w - lr * m for w, m in zip(p, state, strict=True)], state


def sgd_state(p: Arrays) -> Arrays:
    """Return the state before the first step."""
    return [jnp.zeros_like(w) for w in p]


OPTIMIZERS: dict[str, tuple[Any, Any]] = {"Adam": (adam, adam_state), "SGD": (sgd, sgd_state)}
