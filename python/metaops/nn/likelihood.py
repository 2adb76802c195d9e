# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of distributions: functions, and modules that call them."""

from __future__ import annotations

import math

from .._core import Var
from .._domains import NOT_NEGATIVE, POSITIVE
from .._errors import at_line
from .._typing import VarLike, widened_together
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.floats import share_of
from ..ops.elementwise.functions import exp, log
from .loss import Loss, check_reduction, operands, reduced

__all__ = [
    "GaussianNLLLoss",
    "KLDivLoss",
    "PoissonNLLLoss",
    "gaussian_nll_loss",
    "kl_div",
    "poisson_nll_loss",
]


def _check_reduction_of_kl(name: str, reduction: str) -> None:
    if reduction != "batchmean":
        check_reduction(name, reduction)


def kl_div(
    x: VarLike, target: VarLike, reduction: str = "mean", *, log_target: bool = False
) -> Var:
    """Return ``target * (log(target) - x)``, the Kullback-Leibler divergence's summands.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x
        Logarithms of probabilities, of any shape.
    target
        Probabilities, of the same shape. Where one is 0, so is the loss, whatever x is.
    reduction
        "mean", "sum", "none", or "batchmean": the sum divided by the first
        extent, which is the divergence.
    log_target
        Whether the target, too, holds logarithms.

    Raises
    ------
    ValueError
        If the shapes differ, or the reduction is unknown or impossible.
    """
    name = "kl_div"
    _check_reduction_of_kl(name, reduction)
    is_by_batch = reduction == "batchmean"
    x, target, dtype = operands(name, x, target, "sum" if is_by_batch else reduction)
    if is_by_batch and x.ndim == 0:
        raise at_line(ValueError(f"{name}: input has shape (), which has no batch for 'batchmean'"))
    if log_target:
        share, logarithm = exp(target), where(target == -math.inf, 0.0, target)
    else:
        share, logarithm = target, log(where(target == 0, 1.0, target))
    loss = share_of(share, logarithm - x)
    if is_by_batch:
        return (loss.sum() / x.shape[0] if x.shape[0] else loss.mean()).cast(dtype)
    return reduced(loss, reduction).cast(dtype)


def poisson_nll_loss(
    x: VarLike,
    target: VarLike,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Var:
    """Return the negative log-likelihood of counts of a Poisson distribution.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x
        Logarithms of the expected counts; the counts without `log_input`.
    target
        Counts, of the same shape.
    log_input
        What x holds. The loss is ``exp(x) - target * x``, or without
        ``x - target * log(x + eps)``.
    full
        Whether Stirling's approximation of ``log(target!)`` is added for counts
        above 1.
    eps
        Keeps the logarithm of 0 finite.
    reduction
        "mean", "sum" or "none".
    """
    NOT_NEGATIVE.check("poisson_nll_loss", eps=eps)
    x, target, dtype = operands("poisson_nll_loss", x, target, reduction)
    loss = exp(x) - share_of(target, x) if log_input else x - target * log(x + eps)
    if full:
        is_many = target > 1
        count = where(is_many, target, 1.0)
        stirling = count * log(count) - count + 0.5 * log(2.0 * math.pi * count)
        loss = loss + where(is_many, stirling, 0.0)
    return reduced(loss, reduction).cast(dtype)


def gaussian_nll_loss(
    x: VarLike,
    target: VarLike,
    var: VarLike,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Var:
    """Return the negative log-likelihood of normally distributed numbers.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x
        The expected numbers, of any shape.
    target
        Of the same shape.
    var
        The variances: of the same shape, without its last dimension or with 1
        for its extent, or one number. One below `eps` counts as `eps`, with the
        gradient that it has there.
    full
        Whether the constant ``log(2 * pi) / 2`` is added.
    eps
        The least variance.
    reduction
        "mean", "sum" or "none".

    Raises
    ------
    ValueError
        If shapes do not agree, or `eps` is not positive.
    """
    name = "gaussian_nll_loss"
    POSITIVE.check(name, eps=eps)
    (x, target, var), dtype = widened_together(x, target, var)
    x, target, _ = operands(name, x, target, reduction)
    row = x.shape[:-1]
    if x.ndim and var.shape == row:
        var = var.unsqueeze(-1)
    elif var.shape not in ((), x.shape, (*row, 1)):
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape} and var {var.shape},"
                f" expected {x.shape}, {(*row, 1)}, {row} or ()"
            )
        )
    var = where(var < eps, eps + (var - var.detach()), var)
    difference = x - target
    loss = 0.5 * (log(var) + difference * difference / var)
    if full:
        loss = loss + 0.5 * math.log(2.0 * math.pi)
    return reduced(loss, reduction).cast(dtype)


class KLDivLoss(Loss):
    """The module of `kl_div`."""

    def __init__(self, reduction: str = "mean", *, log_target: bool = False) -> None:
        _check_reduction_of_kl("KLDivLoss", reduction)
        super().__init__()
        self.reduction = reduction
        self.log_target = log_target

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return kl_div(x, target, self.reduction, log_target=self.log_target)


class PoissonNLLLoss(Loss):
    """The module of `poisson_nll_loss`."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        NOT_NEGATIVE.check("PoissonNLLLoss", eps=eps)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return poisson_nll_loss(
            x, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(Loss):
    """The module of `gaussian_nll_loss`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        POSITIVE.check("GaussianNLLLoss", eps=eps)
        self.full = full
        self.eps = eps

    def execute(self, x: VarLike, target: VarLike, var: VarLike) -> Var:
        """Return the loss."""
        return gaussian_nll_loss(x, target, var, self.full, self.eps, self.reduction)
