# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workloads by PyTorch, eager and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from .base import Call, Ops, listed

if TYPE_CHECKING:
    from workloads.base import Workload


class Torch(Ops):
    """PyTorch, eager."""

    title = "PyTorch"

    exp, tanh, erf, sqrt = map(staticmethod, (torch.exp, torch.tanh, torch.erf, torch.sqrt))
    relu, gelu, concat = map(staticmethod, (torch.relu, F.gelu, torch.cat))

    def tensor(self, array: np.ndarray) -> Any:
        """Share the array's memory."""
        return torch.from_numpy(array)

    def numpy(self, tensor: Any) -> np.ndarray:
        """Share the tensor's memory."""
        return tensor.detach().cpu().numpy()

    def compiled(self, function: Callable) -> Callable:
        """Return the function as it is run."""
        return function

    def prepare(self, workload: Workload, arrays: Sequence[np.ndarray]) -> Call:
        """See `Ops`.

        The backward pass alone is that of a forward pass that was run once.
        """
        state = workload.replaced(len(arrays))
        tensors = [self.tensor(a.copy() if k in state else a) for k, a in enumerate(arrays)]
        xs, cotangents = workload.divide(tensors)
        for place in workload.gradients:
            xs[place].requires_grad_()
        if state:
            return self._prepare_update(workload, state, xs)
        forward = self.compiled(lambda *xs: listed(workload.body(self, *xs)))
        if not workload.gradients:

            def call() -> list[Any]:
                with torch.no_grad():
                    return forward(*xs)

            return call
        by = [xs[k] for k in workload.gradients]
        retained: list[Any] = []

        def gradients(results: list[Any], **how: Any) -> list[Any]:
            # Some are views of the cotangents; everybody else returns a tensor.
            return [g.contiguous() for g in torch.autograd.grad(results, by, cotangents, **how)]

        def backward() -> list[Any]:
            if not retained:
                retained.extend(forward(*xs))
            return gradients(retained, retain_graph=True)

        def both() -> list[Any]:
            results = forward(*xs)
            return results + gradients(results)

        return backward if workload.mode == "backward" else both

    def _prepare_update(self, workload: Workload, state: tuple[int, ...], xs: list[Any]) -> Call:
        def update(*xs: Any) -> None:
            for place, result in zip(state, workload.body(self, *xs), strict=True):
                if result is not xs[place]:
                    xs[place].copy_(result)

        step = self.compiled(update)

        def call() -> list[Any]:
            with torch.no_grad():
                step(*xs)
            return [xs[place] for place in state]

        return call

    # Operators

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        """Return a copy in the new order."""
        return x.permute(*axes).contiguous()

    def contiguous(self, x: Any) -> Any:
        """Return a copy."""
        return x.clone(memory_format=torch.contiguous_format)

    def maximum(self, x: Any, y: Any) -> Any:
        """Return the larger of each two."""
        return x.clamp_min(y) if isinstance(y, (int, float)) else torch.maximum(x, y)

    def pad(self, x: Any, widths: Sequence[tuple[int, int]]) -> Any:
        """Return x within zeros."""
        return F.pad(x, [w for pair in reversed(widths) for w in pair])

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Add."""
        return torch.sum(x, axis, keepdim=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Average."""
        return torch.mean(x, axis, keepdim=keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the largest."""
        axes = tuple(range(x.ndim)) if axis is None else axis
        return torch.amax(x, axes, keepdim=keepdims)

    def var(self, x: Any, axis: Any = None) -> Any:
        """Return the mean square of the centred."""
        return torch.var(x, axis, correction=0)

    def argmax(self, x: Any, axis: int) -> Any:
        """Return the place of the largest."""
        return torch.argmax(x, axis)

    def softmax(self, x: Any, axis: int) -> Any:
        """Return exponentials that add up to 1."""
        return torch.softmax(x, axis)

    def cross_entropy(self, x: Any, labels: Any) -> Any:
        """Return the mean negative log-likelihood."""
        return F.cross_entropy(x, labels.long())

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        """Normalise rows."""
        return F.layer_norm(x, x.shape[-1:], weight, bias)

    def rms_norm(self, x: Any, weight: Any) -> Any:
        """Divide rows by the root of their mean square."""
        return F.rms_norm(x, x.shape[-1:], weight, 1e-5)

    def batch_norm(self, x: Any, w: Any, b: Any, mean: Any, var: Any) -> list[Any]:
        """Normalise channels; return these and the new running moments."""
        mean, var = mean.clone(), var.clone()
        return [F.batch_norm(x, mean, var, w, b, training=True), mean, var]

    def instance_norm(self, x: Any) -> Any:
        """Normalise each image of each channel."""
        return F.instance_norm(x)

    def max_pool(self, x: Any) -> Any:
        """Return the largest of windows of 3 x 3 at every other place."""
        return F.max_pool2d(x, 3, 2, 1)

    def avg_pool(self, x: Any) -> Any:
        """Return the means of windows of 2 x 2."""
        return F.avg_pool2d(x, 2)

    def dropout(self, x: Any, p: float) -> Any:
        """Zero elements at random."""
        return F.dropout(x, p, training=True)

    def convolution(self, x: Any, weight: Any, stride: int) -> Any:
        """Convolve images within zeros."""
        return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def depthwise(self, x: Any, weight: Any, stride: int = 1) -> Any:
        """Convolve each channel with 3 x 3 numbers of its own."""
        return F.conv2d(x, weight, stride=stride, padding=1, groups=x.shape[1])

    def linear(self, x: Any, weight: Any, bias: Any) -> Any:
        """See `Ops`."""
        return F.linear(x, weight, bias)

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        """See `Ops`; the fused operator, which never has all scores."""
        # It takes batches of heads.
        q, k, v = (x[None] for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)[0]

    def take(self, table: Any, indices: Any) -> Any:
        """Return rows."""
        return F.embedding(indices, table)

    def adam(self, tensors: Sequence[Any]) -> list[Any]:
        """Step by the fused operator, in place."""
        count = len(tensors) // 4
        g, p, m, s = (list(tensors[k * count : (k + 1) * count]) for k in range(4))
        # The operator counts the step itself before it corrects.
        steps = [torch.tensor(10.0) for _ in p]
        torch._fused_adam_(
            p,
            g,
            m,
            s,
            [],
            steps,
            lr=1e-3,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )
        return [*p, *m, *s]

    # The order of elements

    def cumsum(self, x: Any, axis: int) -> Any:
        """Add up what comes before."""
        return torch.cumsum(x, axis)

    def sort(self, x: Any, axis: int) -> Any:
        """Return the elements in rising order."""
        return torch.sort(x, axis).values

    def argsort(self, x: Any, axis: int) -> Any:
        """Return where these are."""
        return torch.argsort(x, axis)

    def topk(self, x: Any, k: int) -> Any:
        """Return the largest of each row, from the largest on."""
        return torch.topk(x, k).values

    def median(self, x: Any) -> Any:
        """Return the mean of both in the middle, as NumPy."""
        if x.numel() % 2:
            return x.median()
        return (
            torch.kthvalue(x, x.numel() // 2).values + x.kthvalue(x.numel() // 2 + 1).values
        ) / 2

    def unique(self, x: Any) -> Any:
        """Return the distinct elements in rising order."""
        return torch.unique(x)

    def unique_inverse(self, x: Any) -> Any:
        """Return these, and the number of each element among them."""
        return list(torch.unique(x, return_inverse=True))

    def nonzero(self, x: Any) -> Any:
        """Return where elements of a vector are not zero."""
        return torch.nonzero(x)[:, 0]

    def compress(self, x: Any, mask: Any) -> Any:
        """Return the elements where a mask holds."""
        return x[mask]

    def searchsorted(self, ordered: Any, x: Any) -> Any:
        """Return how many of the ordered elements are below each of x."""
        return torch.searchsorted(ordered, x)

    def interpolate(self, x: Any, factor: int) -> Any:
        """Return images so many times as high and wide, by two linear functions."""
        return F.interpolate(x, scale_factor=factor, mode="bilinear")


class TorchCompile(Torch):
    """PyTorch, compiled for these shapes; forward and backward pass each."""

    title = "torch.compile"

    adam = Ops.adam

    def compiled(self, function: Callable) -> Callable:
        """Return the compiled function."""
        return torch.compile(function, dynamic=False)
