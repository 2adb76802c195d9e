# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses: functions, and modules that call them.

Each takes `reduction`: "mean" (the default) or "sum" over all elements, which
gives a 0-d tensor, or "none".
"""

from __future__ import annotations

from .. import _core, activations, elementwise
from .._core import Var
from .._typing import VarLike, as_var
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "L1Loss",
    "MSELoss",
    "bce_loss",
    "bce_with_logits_loss",
    "cross_entropy_loss",
    "l1_loss",
    "mse_loss",
    "nll_loss",
]


def _reduced(name: str, loss: Var, reduction: str) -> Var:
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{name}: reduction is {reduction!r}, expected 'mean', 'sum' or 'none'")


def _checked_target(name: str, x: Var, target: VarLike) -> Var:
    """Return the target as a Var of x's shape and dtype."""
    target = as_var(target)
    if target.shape != x.shape:
        # Broadcasting here hides mistakes: (N, 1) beside (N,) would be (N, N).
        raise ValueError(f"{name}: target has shape {target.shape}, expected {x.shape}")
    return target.cast(x.dtype)


def nll_loss(log_probabilities: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return minus the log-probability of the target class.

    Parameters
    ----------
    log_probabilities
        ``(N, C, ...)``, float.
    target
        Classes in ``[0, C)``, ``(N, ...)``, integers. Another number has loss 0.
    reduction
        "mean", "sum" or "none" (then the shape is that of `target`).

    Raises
    ------
    ValueError
        If shapes do not agree or the reduction is unknown.
    TypeError
        If the target is not of integers.
    """
    x, target = log_probabilities, as_var(target)
    if x.ndim < 2 or target.shape != (x.shape[0], *x.shape[2:]):
        raise ValueError(
            f"nll_loss: scores have shape {x.shape} and the target {target.shape},"
            " expected (N, C, ...) and (N, ...)"
        )
    if not target.dtype.startswith(("int", "uint")):
        raise TypeError(f"nll_loss: the target is {target.dtype}, expected integers")
    classes = _core.iota(x.shape, 1, target.dtype)
    chosen = elementwise.where(target.unsqueeze(1) == classes, x, 0)
    return _reduced("nll_loss", -chosen.sum(1), reduction)


def cross_entropy_loss(x: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return the negative log-likelihood of the softmax of scores.

    Parameters
    ----------
    x
        Scores, ``(N, C, ...)``, float; softmax is taken over dimension 1.
    target, reduction
        As in `nll_loss`.

    Raises
    ------
    ValueError, TypeError
        As in `nll_loss`.
    """
    if x.ndim < 2:
        raise ValueError(f"cross_entropy_loss: scores have shape {x.shape}, expected (N, C, ...)")
    return nll_loss(activations.log_softmax(x, 1), target, reduction)


def mse_loss(x: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return the squared difference of two tensors of one shape."""
    difference = x - _checked_target("mse_loss", x, target)
    return _reduced("mse_loss", difference * difference, reduction)


def l1_loss(x: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return the absolute difference of two tensors of one shape."""
    difference = x - _checked_target("l1_loss", x, target)
    return _reduced("l1_loss", elementwise.abs(difference), reduction)


def bce_loss(x: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return the cross entropy of probabilities x with those of the target.

    Probabilities below 1e-20 count as that, so the loss of a wrong 0 is finite.
    """
    target = _checked_target("bce_loss", x, target)
    log_x = elementwise.log(elementwise.maximum(x, 1e-20))
    log_not_x = elementwise.log(elementwise.maximum(1.0 - x, 1e-20))
    return _reduced("bce_loss", -(target * log_x + (1.0 - target) * log_not_x), reduction)


def bce_with_logits_loss(x: Var, target: VarLike, reduction: str = "mean") -> Var:
    """Return the cross entropy of ``sigmoid(x)`` with the target's probabilities."""
    target = _checked_target("bce_with_logits_loss", x, target)
    return _reduced("bce_with_logits_loss", activations.softplus(x) - x * target, reduction)


class _Loss(Module):
    """What the losses share: the reduction."""

    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction

    def extra_repr(self) -> str:
        """Return the reduction."""
        return f"reduction={self.reduction!r}"


class CrossEntropyLoss(_Loss):
    """The module of `cross_entropy_loss`."""

    def execute(self, x: Var, target: VarLike) -> Var:
        """Return the loss."""
        return cross_entropy_loss(x, target, self.reduction)


class MSELoss(_Loss):
    """The module of `mse_loss`."""

    def execute(self, x: Var, target: VarLike) -> Var:
        """Return the loss."""
        return mse_loss(x, target, self.reduction)


class L1Loss(_Loss):
    """The module of `l1_loss`."""

    def execute(self, x: Var, target: VarLike) -> Var:
        """Return the loss."""
        return l1_loss(x, target, self.reduction)


class BCELoss(_Loss):
    """The module of `bce_loss`."""

    def execute(self, x: Var, target: VarLike) -> Var:
        """Return the loss."""
        return bce_loss(x, target, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The module of `bce_with_logits_loss`."""

    def execute(self, x: Var, target: VarLike) -> Var:
        """Return the loss."""
        return bce_with_logits_loss(x, target, self.reduction)
