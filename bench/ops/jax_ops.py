# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workloads by JAX, each compiled as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .base import Call, Ops, listed

if TYPE_CHECKING:
    from workloads.base import Workload


class Jax(Ops):
    """JAX, under `jax.jit`."""

    title = "jax.jit"

    exp, tanh, sqrt, erf = map(staticmethod, (jnp.exp, jnp.tanh, jnp.sqrt, lax.erf))
    maximum, relu, concat = map(staticmethod, (jnp.maximum, jax.nn.relu, jnp.concatenate))
    transpose, pad = map(staticmethod, (jnp.transpose, jnp.pad))
    arange, where = map(staticmethod, (jnp.arange, jnp.where))

    def __init__(self) -> None:
        self._key: Any = None

    def tensor(self, array: np.ndarray) -> Any:
        """Return a copy."""
        return jnp.asarray(array)

    def numpy(self, tensor: Any) -> np.ndarray:
        """Share the tensor's memory."""
        return np.asarray(tensor)

    def prepare(self, workload: Workload, arrays: Sequence[np.ndarray]) -> Call:
        """See `Ops`.

        The backward pass alone is that of a forward pass that was run once.
        """
        tensors = [jnp.array(array) for array in arrays]
        xs, cotangents = workload.divide(tensors)
        places = workload.gradients

        def run(key: Any, *xs: Any) -> list[Any]:
            self._key = key
            return listed(workload.body(self, *xs))

        def pull(key: Any, xs: Any) -> Any:
            def function(*by: Any) -> list[Any]:
                given = dict(zip(places, by, strict=True))
                return run(key, *(given.get(k, x) for k, x in enumerate(xs)))

            return jax.vjp(function, *(xs[k] for k in places))

        key = jax.random.key(0)
        state = workload.replaced(len(arrays))
        if state:
            return self._prepare_update(state, run, key, xs)
        if not places:
            forward = jax.jit(run)
            return lambda: jax.block_until_ready(forward(key, *xs))
        if workload.mode == "backward":
            _, back = jax.jit(pull)(key, xs)
            backward = jax.jit(lambda back, cotangents: list(back(cotangents)))
            return lambda: jax.block_until_ready(backward(back, cotangents))

        def both(key: Any, xs: Any, cotangents: Any) -> list[Any]:
            results, back = pull(key, xs)
            return [*results, *back(cotangents)]

        compiled = jax.jit(both)
        return lambda: jax.block_until_ready(compiled(key, xs, cotangents))

    def _prepare_update(self, state: tuple[int, ...], run: Any, key: Any, xs: list[Any]) -> Call:
        places = [1 + place for place in state]
        step = jax.jit(run, donate_argnums=places)

        def call() -> list[Any]:
            results = jax.block_until_ready(step(key, *xs))
            for place, result in zip(state, results, strict=True):
                xs[place] = result
            return results

        return call

    # Operators

    def contiguous(self, x: Any) -> Any:
        """Return it; results are in row-major order."""
        return x

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Add."""
        return x.sum(axis, keepdims=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Average."""
        return x.mean(axis, keepdims=keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the largest."""
        return x.max(axis, keepdims=keepdims)

    def var(self, x: Any, axis: Any = None) -> Any:
        """Return the mean square of the centred."""
        return x.var(axis)

    def argmax(self, x: Any, axis: int) -> Any:
        """Return the first place of the largest."""
        return x.argmax(axis)

    def gelu(self, x: Any) -> Any:
        """Return the exact function, not that of tanh."""
        return jax.nn.gelu(x, approximate=False)

    def softmax(self, x: Any, axis: int) -> Any:
        """Return exponentials that add up to 1."""
        return jax.nn.softmax(x, axis)

    def cross_entropy(self, x: Any, labels: Any) -> Any:
        """Return the mean negative log-likelihood."""
        logs = jax.nn.log_softmax(x)
        return -jnp.take_along_axis(logs, labels[:, None], 1).mean()

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        """Normalise rows."""
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * weight + bias

    def rms_norm(self, x: Any, weight: Any) -> Any:
        """Divide rows by the root of their mean square."""
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

    def batch_norm(self, x: Any, w: Any, b: Any, mean: Any, var: Any) -> list[Any]:
        """Normalise channels; return these and the new running moments."""
        m, v, along = x.mean((0, 2, 3)), x.var((0, 2, 3)), (1, -1, 1, 1)
        y = (x - m.reshape(along)) * lax.rsqrt(v.reshape(along) + 1e-5)
        count = x.size // x.shape[1]
        y = y * w.reshape(along) + b.reshape(along)
        return [y, 0.9 * mean + 0.1 * m, 0.9 * var + 0.1 * v * (count / (count - 1))]

    def max_pool(self, x: Any) -> Any:
        """Return the largest of windows of 3 x 3 at every other place."""
        padding = ((0, 0), (0, 0), (1, 1), (1, 1))
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), padding)

    def avg_pool(self, x: Any) -> Any:
        """Return the means of windows of 2 x 2."""
        window = (1, 1, 2, 2)
        return lax.reduce_window(x, 0.0, lax.add, window, window, "VALID") / 4

    def dropout(self, x: Any, p: float) -> Any:
        """Zero elements at random."""
        kept = jax.random.bernoulli(self._key, 1 - p, x.shape)
        return jnp.where(kept, x / (1 - p), 0)

    def convolution(self, x: Any, weight: Any, stride: int, groups: int = 1) -> Any:
        """Convolve images within zeros."""
        border = (weight.shape[-1] // 2,) * 2
        return lax.conv_general_dilated(
            x,
            weight,
            (stride, stride),
            (border, border),
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
            feature_group_count=groups,
        )

    def depthwise(self, x: Any, weight: Any, stride: int = 1) -> Any:
        """Convolve each channel with 3 x 3 numbers of its own."""
        return self.convolution(x, weight, stride, x.shape[1])

    def take(self, table: Any, indices: Any) -> Any:
        """Return rows."""
        return jnp.take(table, indices, 0)

    def adam(self, tensors: Sequence[Any]) -> list[Any]:
        """See `Ops`."""
        return Ops.adam(self, tensors)

    # The order of elements. Shapes that depend on elements are none of a program's.

    def cumsum(self, x: Any, axis: int) -> Any:
        """Add up what comes before."""
        return jnp.cumsum(x, axis)

    def sort(self, x: Any, axis: int) -> Any:
        """Return the elements in rising order."""
        return jnp.sort(x, axis)

    def argsort(self, x: Any, axis: int) -> Any:
        """Return where these are."""
        return jnp.argsort(x, axis)

    def topk(self, x: Any, k: int) -> Any:
        """Return the largest of each row, from the largest on."""
        return lax.top_k(x, k)[0]

    def median(self, x: Any) -> Any:
        """Return the mean of both in the middle."""
        return jnp.median(x)

    def searchsorted(self, ordered: Any, x: Any) -> Any:
        """Return how many of the ordered elements are below each of x."""
        return jnp.searchsorted(ordered, x)

    def interpolate(self, x: Any, factor: int) -> Any:
        """Return images so many times as high and wide, by two linear functions."""
        shape = (*x.shape[:2], *(factor * extent for extent in x.shape[2:]))
        return jax.image.resize(x, shape, "bilinear")
