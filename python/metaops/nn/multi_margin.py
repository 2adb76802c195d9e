# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that compare the scores of classes: functions, and modules that call them.

Scores have shape ``(N, C)``, or ``(C,)`` for one example.
"""

from __future__ import annotations

from .. import _core
from .._core import Var
from .._domains import FINITE
from .._errors import at_line
from .._typing import VarLike, as_var, shown, widened
from ..ops.elementwise import activations
from ..ops.elementwise.elementwise import where
from .loss import Loss, check_reduction, operands, reduced, weighted

__all__ = [
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
]

#: A label that nobody gives: none is ignored.
_NO_LABEL = -(2**63)


def _scores_and_labels(
    name: str, x: VarLike, target: VarLike, reduction: str, labels_per_example: bool
) -> tuple[Var, Var]:
    """Return scores of shape ``(N, C)`` and labels of shape ``(N,)`` or ``(N, C)``."""
    check_reduction(name, reduction)
    x, target = as_var(x), as_var(target)
    expected = x.shape[:-1] if labels_per_example else x.shape
    if x.ndim not in (1, 2) or target.shape != expected:
        one, several = ("()", "(N,)") if labels_per_example else ("(C,)", "(N, C)")
        raise at_line(
            ValueError(
                f"{name}: scores have shape {x.shape} and the target {target.shape},"
                f" expected (N, C) and {several}, or (C,) and {one}"
            )
        )
    if "float" not in x.dtype or not target.dtype.startswith(("int", "uint")):
        raise at_line(
            TypeError(
                f"{name}: scores are {x.dtype} and the target {target.dtype},"
                " expected floats and integers"
            )
        )
    return (x, target) if x.ndim == 2 else (x.unsqueeze(0), target.unsqueeze(0))


def _check_numbers(name: str, p: int, margin: float) -> None:
    """Raise ValueError unless p is a power of the loss, and the margin finite."""
    if p not in (1, 2):
        raise at_line(ValueError(f"{name}: p is {shown(p)}, expected 1 or 2"))
    FINITE.check(name, margin=margin)


def multi_margin_loss(
    x: VarLike,
    target: VarLike,
    p: int = 1,
    margin: float = 1.0,
    *,
    weight: VarLike | None = None,
    reduction: str = "mean",
) -> Var:
    """Return by how much other classes come too near to the target's score.

    Halves are computed in float32.

    The loss is ``sum(max(0, margin - x[target] + x[k])**p for k != target) / C``.

    Parameters
    ----------
    x
        Scores, ``(N, C)`` or ``(C,)``, float.
    target
        Labels in ``[0, C)``, ``(N,)`` or ``()``, integers.
    p
        1 or 2.
    margin
        By how much the target's score is to be higher.
    weight
        Of the loss of each class, ``(C,)``.
    reduction
        "mean", "sum" or "none".

    Raises
    ------
    IndexError
        When the loss is waited for, if a label is out of range.
    ValueError
        If shapes do not agree, `p` is another number or the reduction is unknown.
    TypeError
        If the scores are no floats or the labels no integers.
    """
    name = "multi_margin_loss"
    _check_numbers(name, p, margin)
    is_single = as_var(x).ndim == 1
    scores, target = _scores_and_labels(name, x, target, reduction, True)
    wide, dtype = widened(scores)
    classes = wide.shape[1]
    labels = _core.check_labels(target, classes, _NO_LABEL)
    is_target = labels.unsqueeze(1) == _core.iota(wide.shape, 1, "int64")
    own = where(is_target, wide, 0.0).sum(1, True)
    lacking = activations.relu(margin - own + wide)
    lacking = lacking if p == 1 else lacking * lacking
    if weight is not None:
        # By the class of the target, not by the one that comes too near.
        weight = as_var(weight).cast(wide.dtype)
        if weight.shape != (classes,):
            raise at_line(
                ValueError(f"{name}: weight has shape {weight.shape}, expected {(classes,)}")
            )
        lacking = lacking * where(is_target, weight, 0.0).sum(1, True)
    loss = where(is_target, 0.0, lacking).sum(1) / max(classes, 1)
    loss = loss.squeeze(0) if is_single else loss
    return reduced(loss, reduction).cast(dtype)


def multilabel_margin_loss(x: VarLike, target: VarLike, reduction: str = "mean") -> Var:
    """Return by how much other classes come too near to the targets' scores.

    Halves are computed in float32.

    The loss is the sum of ``max(0, 1 - x[t] + x[k]) / C`` over all targets t and
    all classes k that are none.

    Parameters
    ----------
    x
        Scores, ``(N, C)`` or ``(C,)``, float.
    target
        Labels in ``[0, C)``, of x's shape, integers. The labels of an example end
        at the first -1.
    reduction
        "mean", "sum" or "none".

    Raises
    ------
    IndexError
        When the loss is waited for, if a label is out of range.
    ValueError
        If shapes differ or the reduction is unknown.
    TypeError
        If the scores are no floats or the labels no integers.
    """
    name = "multilabel_margin_loss"
    is_single = as_var(x).ndim == 1
    scores, target = _scores_and_labels(name, x, target, reduction, False)
    wide, dtype = widened(scores)
    n, classes = wide.shape
    target = target.cast("int64")
    # Of the labels up to each one, how many are below 0.
    cube = (n, classes, classes)
    place, other = _core.iota(cube, 1, "int32"), _core.iota(cube, 2, "int32")
    is_end = ((target == -1).unsqueeze(1) & (other <= place)).any(2)
    labels = _core.check_labels(where(is_end, -1, target), classes, -1)
    is_given = ~is_end
    is_class = (labels.unsqueeze(2) == _core.iota(cube, 2, "int64")) & is_given.unsqueeze(2)
    is_target = is_class.any(1)
    own = where(is_class, wide.unsqueeze(1), 0.0).sum(2)
    lacking = activations.relu(1.0 - own.unsqueeze(2) + wide.unsqueeze(1))
    counts = is_given.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = where(counts, lacking, 0.0).sum((1, 2)) / max(classes, 1)
    loss = loss.squeeze(0) if is_single else loss
    return reduced(loss, reduction).cast(dtype)


def multilabel_soft_margin_loss(
    x: VarLike,
    target: VarLike,
    reduction: str = "mean",
    *,
    weight: VarLike | None = None,
) -> Var:
    """Return the mean over the classes of the cross entropies of ``sigmoid(x)``.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x
        Scores, ``(..., C)``.
    target
        0 or 1, of the same shape.
    reduction
        "mean", "sum" or "none", which gives the losses without the last dimension.
    weight
        Of each class; it broadcasts to x's shape.

    Raises
    ------
    ValueError
        If shapes do not agree or the reduction is unknown.
    """
    name = "multilabel_soft_margin_loss"
    x, target, dtype = operands(name, x, target, reduction)
    if x.ndim == 0:
        raise at_line(ValueError(f"{name}: scores have shape (), expected (N, C) or (C,)"))
    loss = weighted(name, "weight", activations.softplus(x) - x * target, weight)
    return reduced(loss.mean(-1), reduction).cast(dtype)


class MultiMarginLoss(Loss):
    """The module of `multi_margin_loss`; the weight is a buffer."""

    weight: Var | None

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        *,
        weight: VarLike | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        _check_numbers("MultiMarginLoss", p, margin)
        self.p = p
        self.margin = margin
        self._keep("weight", weight)

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return multi_margin_loss(
            x, target, self.p, self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(Loss):
    """The module of `multilabel_margin_loss`."""

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(Loss):
    """The module of `multilabel_soft_margin_loss`; the weight is a buffer."""

    weight: Var | None

    def __init__(self, reduction: str = "mean", *, weight: VarLike | None = None) -> None:
        super().__init__(reduction)
        self._keep("weight", weight)

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return multilabel_soft_margin_loss(x, target, self.reduction, weight=self.weight)
