# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions, stable for large magnitudes in value and gradient."""

from __future__ import annotations

import math

from ._core import Var
from ._typing import VarLike, as_var, normalised_axes
from .elementwise import where
from .functions import erf, exp, log, tanh
from .reduction import logsumexp

__all__ = [
    "elu",
    "gelu",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "relu",
    "relu6",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
]


def relu(x: VarLike) -> Var:
    """Return x where it is positive, else 0. NaN stays; the gradient at 0 is 0."""
    return where(as_var(x) <= 0, 0, x)


def relu6(x: VarLike) -> Var:
    """Return x moved into [0, 6]."""
    return where(as_var(x) >= 6, 6, relu(x))


def leaky_relu(x: VarLike, slope: float = 0.01) -> Var:
    """Return x where it is positive, else ``slope * x``."""
    x = as_var(x)
    return where(x <= 0, x * slope, x)


def elu(x: VarLike, alpha: float = 1.0) -> Var:
    """Return x where it is positive, else ``alpha * (exp(x) - 1)``."""
    x = as_var(x)
    negative = x <= 0
    # The exponential of a large x would overflow, and its gradient be 0 * inf.
    return where(negative, alpha * (exp(where(negative, x, 0)) - 1.0), x)


def _decay(x: Var) -> tuple[Var, Var]:
    """Return where x is not negative, and ``exp(-|x|)`` with a derivative at 0."""
    positive = x >= 0
    return positive, exp(where(positive, -x, x))


def sigmoid(x: VarLike) -> Var:
    """Return ``1 / (1 + exp(-x))``."""
    x = as_var(x)
    positive, decay = _decay(x)
    return where(positive, 1, decay) / (1 + decay)


def log_sigmoid(x: VarLike) -> Var:
    """Return the logarithm of ``sigmoid(x)``."""
    return -softplus(-as_var(x))


def softplus(x: VarLike) -> Var:
    """Return ``log(1 + exp(x))``."""
    x = as_var(x)
    positive, decay = _decay(x)
    return where(positive, x, 0) + log(1 + decay)


def silu(x: VarLike) -> Var:
    """Return ``x * sigmoid(x)``."""
    x = as_var(x)
    return x * sigmoid(x)


def gelu(x: VarLike, approximate: bool = False) -> Var:
    """Return x times the normal distribution's cumulative function.

    With `approximate`, by the usual formula with tanh instead of erf.
    """
    x = as_var(x)
    if approximate:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1.0 + tanh(inner))
    return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))


def softmax(x: VarLike, dim: int = -1) -> Var:
    """Return ``exp(x) / sum(exp(x))`` along a dimension, computed without overflow."""
    x = as_var(x)
    axes = normalised_axes(dim, x.ndim)
    # The result does not depend on the shift, so its gradient may be cut.
    numerator = exp(x - x.max(axes, True).detach())
    # One division for each sum, where a quotient would take one for each element.
    return numerator * (1.0 / numerator.sum(axes, True))


def log_softmax(x: VarLike, dim: int = -1) -> Var:
    """Return the logarithm of ``softmax(x, dim)``."""
    x = as_var(x)
    return x - logsumexp(x, dim, True)
