# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that ask for a margin: functions, and modules that call them.

Targets are 1 or -1. A loss is 0 where the margin is kept; at its edge the
gradient is that of the other side.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .._core import Var
from .._domains import FINITE
from .._errors import at_line
from .._typing import VarLike, as_var, widened_together
from ..ops.elementwise import activations
from ..ops.elementwise.elementwise import clip, minimum, where
from ..ops.reduce.norms import check_order, norm
from .loss import Loss, check_reduction, operands, reduced
from .normalizing import small_squares

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

#: A function of two Vars, such as a distance of rows.
Distance = Callable[[Var, Var], Var]


def _lacking(x: Var) -> Var:
    """Return how much is lacking: x where it is not negative, else 0."""
    return clip(x, 0.0)


def soft_margin_loss(x: VarLike, target: VarLike, reduction: str = "mean") -> Var:
    """Return ``log(1 + exp(-target * x))`` for targets of 1 and -1.

    Of the type to which the tensors are promoted; halves are computed in float32.
    """
    x, target, dtype = operands("soft_margin_loss", x, target, reduction)
    return reduced(activations.softplus(-target * x), reduction).cast(dtype)


def hinge_embedding_loss(
    x: VarLike, target: VarLike, margin: float = 1.0, *, reduction: str = "mean"
) -> Var:
    """Return x where the target is 1, and ``max(0, margin - x)`` where it is -1.

    Of the type to which the tensors are promoted; halves are computed in float32.
    """
    FINITE.check("hinge_embedding_loss", margin=margin)
    x, target, dtype = operands("hinge_embedding_loss", x, target, reduction)
    near = where(target != -1, x, 0.0)
    far = where(target != 1, _lacking(margin - x), 0.0)
    return reduced(near + far, reduction).cast(dtype)


def _broadcast(name: str, x: VarLike, y: VarLike, target: VarLike) -> tuple[Var, Var, Var, str]:
    """Return three tensors of one shape as wide floats, and the dtype of a result."""
    (x, y, target), dtype = widened_together(x, y, target)
    if not x.shape == y.shape == target.shape:
        raise at_line(
            ValueError(
                f"{name}: inputs have shapes {x.shape} and {y.shape} and the target"
                f" {target.shape}, expected one shape"
            )
        )
    return x, y, target, dtype


def margin_ranking_loss(
    x: VarLike, y: VarLike, target: VarLike, margin: float = 0.0, *, reduction: str = "mean"
) -> Var:
    """Return ``max(0, margin - target * (x - y))``.

    Of the type to which the tensors are promoted; halves are computed in float32.

    A target of 1 says that x is to be the larger one, -1 that y is.

    Raises
    ------
    ValueError
        If the three shapes differ, or the reduction is unknown.
    """
    name = "margin_ranking_loss"
    check_reduction(name, reduction)
    FINITE.check(name, margin=margin)
    x, y, target, dtype = _broadcast(name, x, y, target)
    return reduced(_lacking(margin - target * (x - y)), reduction).cast(dtype)


#: Added to squares, it keeps the cosine of a vector of zeros finite.
_LEAST_SQUARE = 1e-12


def cosine_embedding_loss(
    x: VarLike, y: VarLike, target: VarLike, margin: float = 0.0, *, reduction: str = "mean"
) -> Var:
    """Return ``1 - cos(x, y)`` for a target of 1, ``max(0, cos(x, y) - margin)`` for -1.

    Of the type to which the tensors are promoted; halves are computed in float32.

    Parameters
    ----------
    x, y
        ``(N, D)``, or ``(D,)`` for one pair.
    target
        ``(N,)``, or ``()``.
    margin
        The cosine up to which a pair counts as apart.
    reduction
        "mean", "sum" or "none".

    Raises
    ------
    ValueError
        If shapes do not agree, or the reduction is unknown.
    """
    name = "cosine_embedding_loss"
    check_reduction(name, reduction)
    FINITE.check(name, margin=margin)
    ((x, y), dtype), target = widened_together(x, y), as_var(target)
    if x.ndim not in (1, 2) or x.shape != y.shape or target.shape != x.shape[:-1]:
        raise at_line(
            ValueError(
                f"{name}: inputs have shapes {x.shape} and {y.shape} and the target"
                f" {target.shape}, expected (N, D), (N, D) and (N,), or (D,), (D,) and ()"
            )
        )
    (first, factor), (second, _) = (
        small_squares(vector, (x.ndim - 1,), _LEAST_SQUARE, False) for vector in (x, y)
    )
    lengths = [(squares + _LEAST_SQUARE * factor).sqrt() for squares in (first, second)]
    scale = math.sqrt(factor)
    near = ((x * scale) * (y * scale)).sum(-1) / (lengths[0] * lengths[1])
    apart = where(target == -1, _lacking(near - margin), 0.0)
    return reduced(where(target == 1, 1.0 - near, apart), reduction).cast(dtype)


def _check_triplet(name: str, anchor: Var, positive: Var, negative: Var) -> None:
    if not anchor.shape == positive.shape == negative.shape or anchor.ndim == 0:
        raise at_line(
            ValueError(
                f"{name}: anchor, positive and negative have shapes {anchor.shape},"
                f" {positive.shape} and {negative.shape}, expected one shape, (N, D) or (D,)"
            )
        )


def _triplet(triplet: tuple[Var, Var, Var], distance: Distance, margin: float, swap: bool) -> Var:
    anchor, positive, negative = triplet
    apart = distance(anchor, negative)
    if swap:
        apart = minimum(apart, distance(positive, negative))
    return _lacking(margin + distance(anchor, positive) - apart)


def triplet_margin_loss(
    anchor: VarLike,
    positive: VarLike,
    negative: VarLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: str = "mean",
) -> Var:
    """Return how much nearer the positive should be (Balntas et al., 2016).

    Of the type to which the tensors are promoted; halves are computed in float32.

    The loss is ``max(0, margin + d(anchor, positive) - d(anchor, negative))`` with
    d the norm of the difference of two rows.

    Parameters
    ----------
    anchor, positive, negative
        Of one shape, ``(N, D)`` or ``(D,)``.
    margin
        By how much the negative is to be farther.
    p
        The order of the norm.
    eps
        Added to each difference, which keeps the gradient of equal rows finite.
    swap
        Whether the negative's distance is that from the positive, if this is less.
    reduction
        "mean", "sum" or "none", which gives ``(N,)``.

    Raises
    ------
    ValueError
        If the shapes differ, or the reduction is unknown.
    """
    name = "triplet_margin_loss"
    check_reduction(name, reduction)
    FINITE.check(name, margin=margin, eps=eps)
    (a, b, c), dtype = widened_together(anchor, positive, negative)
    _check_triplet(name, a, b, c)
    loss = _triplet((a, b, c), lambda x, y: norm(x - y + eps, p, -1), margin, swap)
    return reduced(loss, reduction).cast(dtype)


def triplet_margin_with_distance_loss(
    anchor: VarLike,
    positive: VarLike,
    negative: VarLike,
    *,
    distance_function: Distance | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Var:
    """Return `triplet_margin_loss` for any distance.

    Parameters
    ----------
    anchor, positive, negative, margin, swap, reduction
        As in `triplet_margin_loss`.
    distance_function
        A function of two Vars, of the type in which the loss is computed; by default the
        norm of their difference.
    """
    name = "triplet_margin_with_distance_loss"
    if distance_function is None:
        return triplet_margin_loss(
            anchor, positive, negative, margin, swap=swap, reduction=reduction
        )
    check_reduction(name, reduction)
    FINITE.check(name, margin=margin)
    (a, b, c), dtype = widened_together(anchor, positive, negative)
    _check_triplet(name, a, b, c)
    loss = _triplet((a, b, c), distance_function, margin, swap)
    return reduced(loss, reduction).cast(dtype)


class SoftMarginLoss(Loss):
    """The module of `soft_margin_loss`."""

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return soft_margin_loss(x, target, self.reduction)


class HingeEmbeddingLoss(Loss):
    """The module of `hinge_embedding_loss`."""

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        FINITE.check(type(self).__name__, margin=margin)
        self.margin = margin

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return hinge_embedding_loss(x, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(Loss):
    """The module of `margin_ranking_loss`."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        FINITE.check(type(self).__name__, margin=margin)
        self.margin = margin

    def execute(self, x: VarLike, y: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return margin_ranking_loss(x, y, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(Loss):
    """The module of `cosine_embedding_loss`."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        FINITE.check(type(self).__name__, margin=margin)
        self.margin = margin

    def execute(self, x: VarLike, y: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return cosine_embedding_loss(x, y, target, self.margin, reduction=self.reduction)


class TripletMarginLoss(Loss):
    """The module of `triplet_margin_loss`."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        check_order("TripletMarginLoss", p)
        FINITE.check("TripletMarginLoss", margin=margin, eps=eps)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def execute(self, anchor: VarLike, positive: VarLike, negative: VarLike) -> Var:
        """Return the loss."""
        options = self.margin, self.p, self.eps, self.swap
        return triplet_margin_loss(anchor, positive, negative, *options, reduction=self.reduction)


class TripletMarginWithDistanceLoss(Loss):
    """The module of `triplet_margin_with_distance_loss`."""

    def __init__(
        self,
        *,
        distance_function: Distance | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        FINITE.check("TripletMarginWithDistanceLoss", margin=margin)
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def execute(self, anchor: VarLike, positive: VarLike, negative: VarLike) -> Var:
        """Return the loss."""
        return triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
