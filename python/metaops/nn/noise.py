# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions that draw random numbers."""

from __future__ import annotations

from .. import _core
from .._core import Var
from .._domains import FINITE, POSITIVE_FINITE, check_rising
from .._typing import VarLike, as_line, as_var, widened
from ..ops.elementwise.activations import leaky_relu, softmax
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.functions import log
from ..ops.reduce.reduction import argmax
from ..random.sampling import uniform

__all__ = ["gumbel_softmax", "rrelu"]


def check_slopes(name: str, lower: float, upper: float) -> None:
    """Raise ValueError unless both are finite and `lower` is at most `upper`."""
    FINITE.check(name, lower=lower, upper=upper)
    check_rising(name, lower=lower, upper=upper)


def rrelu(
    x: VarLike, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, is_train: bool = False
) -> Var:
    """Return x where it is positive, else a random slope times x (Xu et al., 2015).

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Floats of any shape.
    lower, upper
        Between which the slope of each element is drawn.
    is_train
        If false, all slopes are the mean of the two.

    Raises
    ------
    ValueError
        If `lower` is above `upper`.
    """
    check_slopes("rrelu", lower, upper)
    if not is_train:
        return leaky_relu(x, (lower + upper) / 2.0)
    x, dtype = widened(x)
    return where(x <= 0, uniform(x.shape, lower, upper, x.dtype) * x, x).cast(dtype)


def gumbel_softmax(logits: VarLike, tau: float = 1.0, hard: bool = False, *, dim: int = -1) -> Var:
    """Return a sample of the Gumbel-softmax distribution (Jang et al., 2017).

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    logits
        Logarithms of probabilities, up to a summand.
    tau
        The temperature. The sample is nearer to one class the lower it is.
    hard
        Whether the value is one-hot. The gradient is that of the soft sample.
    dim
        The dimension of the classes.

    Raises
    ------
    ValueError
        If `tau` is not positive.
    """
    POSITIVE_FINITE.check("gumbel_softmax", tau=tau)
    shape = as_var(logits).shape
    logits, dim = as_line(logits, dim)
    wide, dtype = widened(logits)
    # 1 - u is in (0, 1]; where it is 1 the logarithm would be 0, and its own -inf.
    drawn = 1.0 - _core.random(wide.shape, wide.dtype)
    exponential = where(drawn < 1.0, -log(drawn), 2.0**-60)
    sample = softmax((wide - log(exponential)) / tau, dim)
    if hard:
        classes = _core.iota(wide.shape, dim, "int64")
        one_hot = (classes == argmax(sample, dim, True)).cast(wide.dtype)
        # Of the value of the first, with the gradient of the second.
        sample = one_hot + (sample - sample.detach())
    return sample.cast(dtype).reshape(shape)
