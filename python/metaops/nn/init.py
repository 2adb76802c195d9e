# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial values of parameters."""

from __future__ import annotations

import math

from .. import sampling
from .._core import Var, full
from .._errors import at_line
from .._typing import DType, Shape

__all__ = [
    "constant",
    "fans",
    "kaiming_normal",
    "kaiming_uniform",
    "normal",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
]


def fans(shape: Shape) -> tuple[int, int]:
    """Return how many inputs an output has and how many outputs an input has.

    Parameters
    ----------
    shape
        ``(outputs, inputs, *kernel)``.

    Raises
    ------
    ValueError
        If it has fewer than two dimensions.
    """
    if len(shape) < 2:
        raise at_line(
            ValueError(f"fans: shape is {tuple(shape)}, expected at least two dimensions")
        )
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def constant(shape: Shape, value: float = 0.0, dtype: DType = "float32") -> Var:
    """Return `value` everywhere."""
    return full(shape, value, dtype)


def uniform(shape: Shape, low: float = 0.0, high: float = 1.0, dtype: DType = "float32") -> Var:
    """Return uniform numbers in [low, high)."""
    return sampling.uniform(shape, low, high, dtype)


def normal(shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: DType = "float32") -> Var:
    """Return normally distributed numbers."""
    return sampling.normal(shape, mean, std, dtype)


def xavier_uniform(shape: Shape, gain: float = 1.0, dtype: DType = "float32") -> Var:
    """Return uniform numbers of variance ``gain**2 * 2 / (inputs + outputs)``."""
    bound = gain * math.sqrt(6.0 / max(sum(fans(shape)), 1))
    return uniform(shape, -bound, bound, dtype)


def xavier_normal(shape: Shape, gain: float = 1.0, dtype: DType = "float32") -> Var:
    """Return normal numbers of variance ``gain**2 * 2 / (inputs + outputs)``."""
    return normal(shape, 0.0, gain * math.sqrt(2.0 / max(sum(fans(shape)), 1)), dtype)


def kaiming_uniform(shape: Shape, gain: float = math.sqrt(2.0), dtype: DType = "float32") -> Var:
    """Return uniform numbers of variance ``gain**2 / inputs``; the gain is ReLU's."""
    bound = gain * math.sqrt(3.0 / max(fans(shape)[0], 1))
    return uniform(shape, -bound, bound, dtype)


def kaiming_normal(shape: Shape, gain: float = math.sqrt(2.0), dtype: DType = "float32") -> Var:
    """Return normal numbers of variance ``gain**2 / inputs``; the gain is ReLU's."""
    return normal(shape, 0.0, gain / math.sqrt(max(fans(shape)[0], 1)), dtype)
