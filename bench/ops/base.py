# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a library has to offer to take part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from workloads.base import Workload

Call = Callable[[], list[Any]]


class MissingError(Exception):
    """A library has no such operator; the message says which."""


class Ops(ABC):
    """The operators of a library, and how it runs a workload.

    Formulas that libraries do not have a function for are written here, once.
    """

    #: The column's title.
    title = ""
    #: True if it takes derivatives.
    differentiates = True

    @abstractmethod
    def tensor(self, array: np.ndarray) -> Any:
        """Return a tensor of the library with the elements of an array."""

    @abstractmethod
    def numpy(self, tensor: Any) -> np.ndarray:
        """Return the elements of a tensor."""

    @abstractmethod
    def prepare(self, workload: Workload, arrays: Sequence[np.ndarray]) -> Call:
        """Return a function that runs the workload once and waits for its results."""

    def __getattr__(self, name: str) -> Any:
        """Refuse an operator that the library lacks."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingError(f"{type(self).title} has no {name}")

    # Formulas

    def instance_norm(self, x: Any) -> Any:
        """Normalise each image of each channel."""
        centred = x - self.mean(x, (2, 3), True)
        return centred / self.sqrt(self.mean(centred * centred, (2, 3), True) + 1e-5)

    def linear(self, x: Any, weight: Any, bias: Any) -> Any:
        """Return products with the rows of a weight, and a bias added."""
        return x @ weight.T + bias

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        """Mix the rows of v by the softmax of scaled products of those of q and k.

        A causal one is of the rows before each, itself included.
        """
        scores = (q @ self.transpose(k, (0, 2, 1))) * q.shape[-1] ** -0.5
        if is_causal:
            place = self.arange(q.shape[1])
            scores = self.where(place.reshape(-1, 1) >= place.reshape(1, -1), scores, -1e9)
        return self.softmax(scores, -1) @ v

    def adam(self, tensors: Sequence[Any]) -> list[Any]:
        """Return parameters, means and squares after the tenth step.

        `tensors` are gradients, parameters, means and squares, equally many.
        """
        count = len(tensors) // 4
        g, p, m, s = (tensors[k * count : (k + 1) * count] for k in range(4))
        m = [0.9 * a + 0.1 * d for a, d in zip(m, g, strict=True)]
        s = [0.999 * a + 0.001 * d * d for a, d in zip(s, g, strict=True)]
        rate, scale = 1e-3 / (1 - 0.9**10), 1 / (1 - 0.999**10) ** 0.5
        p = [w - rate * a / (self.sqrt(b) * scale + 1e-8) for w, a, b in zip(p, m, s, strict=True)]
        return [*p, *m, *s]


def listed(results: Any) -> list[Any]:
    """Return what a workload returned as a list."""
    return list(results) if isinstance(results, (list, tuple)) else [results]
