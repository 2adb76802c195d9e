# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workloads by MetaOps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import metaops as mo
import numpy as np
from metaops import nn

from .base import Call, Ops, listed

if TYPE_CHECKING:
    from workloads.base import Workload


class MetaOps(Ops):
    """Lazy, compiled. A call records the workload, runs it and waits."""

    title = "MetaOps"

    exp, tanh, erf, sqrt = map(staticmethod, (mo.exp, mo.tanh, mo.erf, mo.sqrt))
    maximum, relu, gelu = map(staticmethod, (mo.maximum, mo.relu, mo.gelu))
    transpose, pad, concat = map(staticmethod, (mo.transpose, mo.pad, mo.concat))
    arange, where = map(staticmethod, (mo.arange, mo.where))
    sum, mean, max, var = map(staticmethod, (mo.sum, mo.mean, mo.max, mo.var))
    cumsum, sort, argsort, median = map(staticmethod, (mo.cumsum, mo.sort, mo.argsort, mo.median))
    unique, searchsorted, nonzero = map(staticmethod, (mo.unique, mo.searchsorted, mo.flatnonzero))
    softmax, cross_entropy = map(staticmethod, (mo.softmax, nn.cross_entropy_loss))

    def tensor(self, array: np.ndarray) -> Any:
        """Share the array's memory."""
        return mo.asarray(array)

    def numpy(self, tensor: Any) -> np.ndarray:
        """Return a copy."""
        return tensor.numpy()

    def prepare(self, workload: Workload, arrays: Sequence[np.ndarray]) -> Call:
        """See `Ops`."""
        state = workload.replaced(len(arrays))
        tensors = [mo.array(a) if k in state else mo.asarray(a) for k, a in enumerate(arrays)]
        record = self.recorder(workload, tensors)

        def call() -> list[Any]:
            results = record()
            mo.sync(results)
            return results

        return call

    def recorder(self, workload: Workload, tensors: Sequence[Any]) -> Call:
        """Return a function that records the workload once, and runs nothing."""
        state = workload.replaced(len(tensors))
        xs, cotangents = workload.divide(tensors)
        by = [xs[k] for k in workload.gradients]
        if workload.mode == "backward":
            # The forward pass keeps what gradients need, as the peers' does.
            forward = listed(workload.body(self, *xs))
            mo.sync(forward)
            return lambda: mo.vjp(forward, by, cotangents)

        def record() -> list[Any]:
            results = listed(workload.body(self, *xs))
            if state:
                for place, result in zip(state, results, strict=True):
                    tensors[place].update(result)
                results = [tensors[place] for place in state]
            if workload.gradients:
                results = results + mo.vjp(results, by, cotangents)
            return results

        return record

    # Operators

    def argmax(self, x: Any, axis: int) -> Any:
        """Return the first place of the largest element."""
        return mo.argmax(x, axis)

    def take(self, table: Any, indices: Any) -> Any:
        """Return rows of a table."""
        return mo.take(table, indices, 0)

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        """Normalise rows."""
        layer = nn.LayerNorm(x.shape[-1])
        layer.weight, layer.bias = weight, bias
        return layer(x)

    def contiguous(self, x: Any) -> Any:
        """Return it; results are in row-major order."""
        return x

    def rms_norm(self, x: Any, weight: Any) -> Any:
        """Divide rows by the root of their mean square."""
        return x / mo.sqrt((x * x).mean(-1, True) + 1e-5) * weight

    def batch_norm(self, x: Any, w: Any, b: Any, mean: Any, var: Any) -> list[Any]:
        """Normalise channels; return these and the new running moments."""
        layer = nn.BatchNorm2d(x.shape[1])
        layer.weight, layer.bias = w, b
        layer.running_mean, layer.running_var = mean.detach(), var.detach()
        y = layer(x)
        return [y, layer.running_mean, layer.running_var]

    def instance_norm(self, x: Any) -> Any:
        """Normalise each image of each channel."""
        return nn.InstanceNorm2d(x.shape[1], affine=False)(x)

    def max_pool(self, x: Any) -> Any:
        """Return the largest of windows of 3 x 3 at every other place."""
        return nn.max_pool2d(x, 3, 2, 1)

    def avg_pool(self, x: Any) -> Any:
        """Return the means of windows of 2 x 2."""
        return nn.avg_pool2d(x, 2)

    def dropout(self, x: Any, p: float) -> Any:
        """Zero elements at random."""
        return nn.dropout(x, p)

    def convolution(self, x: Any, weight: Any, stride: int) -> Any:
        """Convolve images within zeros."""
        return nn.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def depthwise(self, x: Any, weight: Any, stride: int = 1) -> Any:
        """Convolve each channel with 3 x 3 numbers of its own."""
        return nn.conv2d(x, weight, stride=stride, padding=1, groups=x.shape[1])

    def topk(self, x: Any, k: int) -> Any:
        """Return the largest of each row, from the largest on."""
        return mo.topk(x, k).values

    def compress(self, x: Any, mask: Any) -> Any:
        """Return the elements where a mask holds."""
        return x[mask]

    def unique_inverse(self, x: Any) -> Any:
        """Return the distinct elements, and the number of each element among them."""
        return list(mo.unique(x, return_inverse=True))

    def interpolate(self, x: Any, factor: int) -> Any:
        """Return images so many times as high and wide, by two linear functions."""
        return nn.interpolate(x, scale_factor=factor, mode="bilinear")
