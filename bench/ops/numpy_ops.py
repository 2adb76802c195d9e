# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workloads by NumPy, without derivatives, on one processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Call, Ops, listed

if TYPE_CHECKING:
    from workloads.base import Workload


class NumPy(Ops):
    """Each operator by itself."""

    title = "NumPy"
    differentiates = False

    exp, tanh, sqrt, maximum = map(staticmethod, (np.exp, np.tanh, np.sqrt, np.maximum))
    concat, arange, where = map(staticmethod, (np.concatenate, np.arange, np.where))

    def tensor(self, array: np.ndarray) -> Any:
        """Return it."""
        return array

    def numpy(self, tensor: Any) -> np.ndarray:
        """Return it."""
        return np.asarray(tensor)

    def prepare(self, workload: Workload, arrays: Sequence[np.ndarray]) -> Call:
        """See `Ops`."""
        state = workload.replaced(len(arrays))
        arrays = [a.copy() if k in state else a for k, a in enumerate(arrays)]

        def call() -> list[Any]:
            results = listed(workload.body(self, *arrays))
            for place, result in zip(state, results, strict=False):
                arrays[place] = result
            return results

        return call

    # Operators

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        """Return a copy in the new order."""
        return np.ascontiguousarray(x.transpose(axes))

    def contiguous(self, x: Any) -> Any:
        """Return a copy."""
        return np.array(x, order="C")

    def pad(self, x: Any, widths: Sequence[tuple[int, int]]) -> Any:
        """Return x within zeros."""
        return np.pad(x, widths)

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

    def relu(self, x: Any) -> Any:
        """Cut at 0."""
        return np.maximum(x, 0)

    def softmax(self, x: Any, axis: int) -> Any:
        """Return exponentials that add up to 1."""
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    def cross_entropy(self, x: Any, labels: Any) -> Any:
        """Return the mean negative log-likelihood."""
        x = x - x.max(-1, keepdims=True)
        logs = np.log(np.exp(x).sum(-1))
        return (logs - x[np.arange(len(x)), labels]).mean()

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        """Normalise rows."""
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred / np.sqrt(variance + 1e-5) * weight + bias

    def rms_norm(self, x: Any, weight: Any) -> Any:
        """Divide rows by the root of their mean square."""
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

    def take(self, table: Any, indices: Any) -> Any:
        """Return rows."""
        return table[indices]

    # The order of elements

    def cumsum(self, x: Any, axis: int) -> Any:
        """Add up what comes before."""
        return np.cumsum(x, axis)

    def sort(self, x: Any, axis: int) -> Any:
        """Return the elements in rising order."""
        return np.sort(x, axis)

    def argsort(self, x: Any, axis: int) -> Any:
        """Return where these are; no two are equal."""
        return np.argsort(x, axis)

    def topk(self, x: Any, k: int) -> Any:
        """Return the largest of each row, from the largest on."""
        part = np.partition(x, x.shape[-1] - k, -1)[..., -k:]
        return np.sort(part, -1)[..., ::-1]

    def median(self, x: Any) -> Any:
        """Return the mean of both in the middle."""
        return np.median(x)

    def unique(self, x: Any) -> Any:
        """Return the distinct elements in rising order."""
        return np.unique(x)

    def unique_inverse(self, x: Any) -> Any:
        """Return these, and the number of each element among them."""
        return list(np.unique(x, return_inverse=True))

    def nonzero(self, x: Any) -> Any:
        """Return where elements of a vector are not zero."""
        return np.flatnonzero(x)

    def compress(self, x: Any, mask: Any) -> Any:
        """Return the elements where a mask holds."""
        return x[mask]

    def searchsorted(self, ordered: Any, x: Any) -> Any:
        """Return how many of the ordered elements are below each of x."""
        return np.searchsorted(ordered, x)
