# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of two tensors of one shape: functions, and modules that call them.

Each takes `reduction`: "mean" (the default) or "sum" over all elements, which
gives a 0-d tensor, or "none". Losses of classes are in `classification` and
`multi_margin`, of distributions in `likelihood`, of distances in `margin`.

A loss has the type to which its tensors are promoted, whichever comes first, and float32
if all hold integers. It is computed in float32 of halves and of integers of 8 bits, in
float64 of longer ones, and rounded once. Weights are cast to the type it is computed in.
"""

from __future__ import annotations

from typing import Any

from .._core import Var
from .._domains import NOT_NEGATIVE, POSITIVE
from .._errors import at_line
from .._typing import VarLike, as_var, shown, widened_together
from ..ops.elementwise import activations, elementwise, functions
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "HuberLoss",
    "L1Loss",
    "MSELoss",
    "SmoothL1Loss",
    "bce_loss",
    "bce_with_logits_loss",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]


def check_reduction(name: str, reduction: Any) -> None:
    """Raise ValueError unless `reduction` is the name of one."""
    if not isinstance(reduction, str) or reduction not in ("mean", "sum", "none"):
        raise at_line(
            ValueError(f"{name}: reduction is {shown(reduction)}, expected 'mean', 'sum' or 'none'")
        )


def reduced(loss: Var, reduction: str) -> Var:
    """Return the mean or the sum of the losses, or the losses themselves."""
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def operands(name: str, x: VarLike, target: VarLike, reduction: str) -> tuple[Var, Var, str]:
    """Return x and the target, of one shape, as floats that hold squares, and a result's dtype."""
    check_reduction(name, reduction)
    (x, target), dtype = widened_together(x, target)
    if target.shape != x.shape:
        # Broadcasting here hides mistakes: (N, 1) beside (N,) would be (N, N).
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape} and the target {target.shape},"
                " expected one shape"
            )
        )
    return x, target, dtype


def mse_loss(x: VarLike, target: VarLike, reduction: str = "mean") -> Var:
    """Return the squared difference of two tensors of one shape.

    Of the type to which the tensors are promoted; halves are computed in float32.
    """
    x, target, dtype = operands("mse_loss", x, target, reduction)
    difference = x - target
    return reduced(difference * difference, reduction).cast(dtype)


def l1_loss(x: VarLike, target: VarLike, reduction: str = "mean") -> Var:
    """Return the absolute difference of two tensors of one shape.

    Of the type to which the tensors are promoted; halves are computed in float32.
    """
    x, target, dtype = operands("l1_loss", x, target, reduction)
    return reduced(elementwise.abs(x - target), reduction).cast(dtype)


def huber_loss(x: VarLike, target: VarLike, reduction: str = "mean", delta: float = 1.0) -> Var:
    """Return half the squared difference, beyond `delta` its tangent (Huber, 1964).

    Of the type to which the tensors are promoted; halves are computed in float32.

    Raises
    ------
    ValueError
        If the shapes differ, or `delta` is not positive.
    """
    POSITIVE.check("huber_loss", delta=delta)
    x, target, dtype = operands("huber_loss", x, target, reduction)
    return reduced(_huber(x - target, delta), reduction).cast(dtype)


def _huber(difference: Var, delta: float) -> Var:
    distance = elementwise.abs(difference)
    is_near = distance <= delta
    # The square of a large difference would overflow.
    near = elementwise.where(is_near, difference, 0.0)
    far = delta * (distance - 0.5 * delta)
    return elementwise.where(is_near, 0.5 * near * near, far)


def smooth_l1_loss(
    x: VarLike, target: VarLike, reduction: str = "mean", *, beta: float = 1.0
) -> Var:
    """Return the absolute difference, with a parabola where it is less than `beta`.

    Of the type to which the tensors are promoted; halves are computed in float32.

    That is `huber_loss` divided by `beta`, and `l1_loss` if that is 0.

    Raises
    ------
    ValueError
        If the shapes differ, or `beta` is negative.
    """
    name = "smooth_l1_loss"
    NOT_NEGATIVE.check(name, beta=beta)
    x, target, dtype = operands(name, x, target, reduction)
    difference = x - target
    loss = _huber(difference, beta) / beta if beta else elementwise.abs(difference)
    return reduced(loss, reduction).cast(dtype)


def weighted(name: str, what: str, x: Var, weight: VarLike | None) -> Var:
    """Return x times a weight that broadcasts to x's shape."""
    if weight is None:
        return x
    weight = as_var(weight).cast(x.dtype)
    extents = zip(reversed(weight.shape), reversed(x.shape), strict=False)
    if weight.ndim > x.ndim or any(n not in (1, m) for n, m in extents):
        raise at_line(
            ValueError(
                f"{name}: {what} has shape {weight.shape}, expected one that broadcasts to"
                f" {x.shape}"
            )
        )
    return x * weight


#: The least value of ``x * (1 - x)`` by which the slope of `bce_loss` is divided.
_LEAST_SPREAD = 1e-12


def bce_loss(
    x: VarLike, target: VarLike, reduction: str = "mean", *, weight: VarLike | None = None
) -> Var:
    """Return the cross entropy of probabilities x with those of the target.

    Of the type to which the tensors are promoted; halves are computed in float32.

    A logarithm below -100 counts as -100, so that the loss of a wrong certainty
    is finite. The gradient is ``(x - target) / max(x * (1 - x), 1e-12)``: that of
    a wrong certainty is large, not zero.

    Parameters
    ----------
    x, target
        Of one shape.
    reduction
        "mean", "sum" or "none".
    weight
        Of each loss; it broadcasts to x's shape. The mean is over all losses,
        whatever their weights.
    """
    x, target, dtype = operands("bce_loss", x, target, reduction)

    def entropy(log_x: Var, log_not_x: Var) -> Var:
        return -(target * log_x + (1.0 - target) * log_not_x)

    is_inside = x * (1.0 - x) >= _LEAST_SPREAD
    inside = elementwise.where(is_inside, x, 0.5)
    # At the ends the value is that of the bounded logarithms, and the slope the
    # one that a parabola through this point has, whose own value is 0.
    point = x.detach()
    value = entropy(
        elementwise.clip(functions.log(point), -100.0),
        elementwise.clip(functions.log(1.0 - point), -100.0),
    )
    step = x - point
    parabola = (point - target + 0.5 * step) * (step / _LEAST_SPREAD)
    loss = elementwise.where(
        is_inside,
        entropy(functions.log(inside), functions.log(1.0 - inside)),
        value + parabola,
    )
    return reduced(weighted("bce_loss", "weight", loss, weight), reduction).cast(dtype)


def bce_with_logits_loss(
    x: VarLike,
    target: VarLike,
    reduction: str = "mean",
    *,
    weight: VarLike | None = None,
    pos_weight: VarLike | None = None,
) -> Var:
    """Return the cross entropy of ``sigmoid(x)`` with the target's probabilities.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x, target, reduction, weight
        As in `bce_loss`.
    pos_weight
        Of what the target says is true; it broadcasts to x's shape.
    """
    name = "bce_with_logits_loss"
    x, target, dtype = operands(name, x, target, reduction)
    # What is small is added last, and the softplus of x and of -x are no differences.
    positive, decay = activations.decay_of(x)
    rest = functions.log1p(decay)
    if pos_weight is None:
        loss = elementwise.where(positive, x - x * target, -x * target) + rest
    else:
        yes, no = weighted(name, "pos_weight", target, pos_weight), 1 - target
        size = elementwise.where(positive, no * x, -yes * x)
        loss = size + (no + yes) * rest
    return reduced(weighted(name, "weight", loss, weight), reduction).cast(dtype)


class Loss(Module):
    """What the losses share: the reduction."""

    def __init__(self, reduction: str = "mean") -> None:
        check_reduction(type(self).__name__, reduction)
        self.reduction = reduction

    def _keep(self, name: str, weight: VarLike | None) -> None:
        """Make a weight a buffer: state that is not trained."""
        if weight is None:
            setattr(self, name, None)
        else:
            self.register_buffer(name, as_var(weight))

    def extra_repr(self) -> str:
        """Return the reduction."""
        return f"reduction={self.reduction!r}"


class MSELoss(Loss):
    """The module of `mse_loss`."""

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return mse_loss(x, target, self.reduction)


class L1Loss(Loss):
    """The module of `l1_loss`."""

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return l1_loss(x, target, self.reduction)


class HuberLoss(Loss):
    """The module of `huber_loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        POSITIVE.check("HuberLoss", delta=delta)
        self.delta = delta

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return huber_loss(x, target, self.reduction, self.delta)


class SmoothL1Loss(Loss):
    """The module of `smooth_l1_loss`."""

    def __init__(self, reduction: str = "mean", *, beta: float = 1.0) -> None:
        super().__init__(reduction)
        NOT_NEGATIVE.check("SmoothL1Loss", beta=beta)
        self.beta = beta

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return smooth_l1_loss(x, target, self.reduction, beta=self.beta)


class BCELoss(Loss):
    """The module of `bce_loss`; the weight is a buffer."""

    weight: Var | None

    def __init__(self, reduction: str = "mean", *, weight: VarLike | None = None) -> None:
        super().__init__(reduction)
        self._keep("weight", weight)

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return bce_loss(x, target, self.reduction, weight=self.weight)


class BCEWithLogitsLoss(BCELoss):
    """The module of `bce_with_logits_loss`; the weights are buffers."""

    pos_weight: Var | None

    def __init__(
        self,
        reduction: str = "mean",
        *,
        weight: VarLike | None = None,
        pos_weight: VarLike | None = None,
    ) -> None:
        super().__init__(reduction, weight=weight)
        self._keep("pos_weight", pos_weight)

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return bce_with_logits_loss(
            x, target, self.reduction, weight=self.weight, pos_weight=self.pos_weight
        )
