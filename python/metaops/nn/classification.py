# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of scores of classes: functions, and modules that call them.

Scores have shape ``(N, C, ...)``, or ``(C,)`` for one example. The target holds
labels in ``[0, C)``, of shape ``(N, ...)`` or ``()``. A label that is out of
range fails the program that computes the loss, as an index does.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var
from .._domains import SHARE
from .._errors import at_line
from .._typing import VarLike, as_var, widened, widened_together
from ..ops.elementwise import activations, elementwise
from ..ops.elementwise.floats import share_of
from .loss import Loss, check_reduction

__all__ = ["CrossEntropyLoss", "NLLLoss", "cross_entropy_loss", "nll_loss"]


def _is_integral(x: Var) -> bool:
    return x.dtype.startswith(("int", "uint"))


def _along_classes(weight: Var, rank: int) -> Var:
    """Return weights of classes under a shape that broadcasts with scores."""
    return weight.reshape((1, -1) + (1,) * (rank - 2))


class _Labels(NamedTuple):
    """What a loss of labels needs of them."""

    #: In ``[0, C)`` where they are not ignored.
    labels: Var
    #: Where a label is not.
    is_counted: Var
    #: The weight of each label, 0 where it is ignored.
    share: Var

    @staticmethod
    def of(x: Var, target: Var, weight: Var | None, ignore_index: int) -> _Labels:
        labels = _core.check_labels(target, x.shape[1], ignore_index)
        is_counted = target.cast("int64") != ignore_index
        if weight is None:
            return _Labels(labels, is_counted, is_counted.cast(x.dtype))
        place = ", ".join(f"i{axis}" for axis in range(labels.ndim))
        own = weight.reindex(labels.shape, (f"@e0({place})",), extras=[labels])
        return _Labels(labels, is_counted, elementwise.where(is_counted, own, 0))

    def loss_of(self, log_p: Var, weight: Var | None, smoothing: float) -> Var:
        """Return the loss of each label."""
        # Narrow numbers: more of them fit a vector.
        labels = self.labels.cast("int32" if log_p.shape[1] < 2**31 else "int64")
        classes = _core.iota(log_p.shape, 1, labels.dtype)
        chosen = elementwise.where(labels.unsqueeze(1) == classes, log_p, 0).sum(1)
        loss = -chosen if weight is None else -chosen * self.share
        if smoothing:
            weighted = log_p if weight is None else log_p * _along_classes(weight, log_p.ndim)
            of_all = -weighted.sum(1) * (smoothing / log_p.shape[1])
            loss = loss * (1.0 - smoothing) + of_all
        return elementwise.where(self.is_counted, loss, 0)


class _Given(NamedTuple):
    """Scores and target, checked and of shapes ``(N, C, ...)`` and ``(N, ...)``."""

    scores: Var
    target: Var
    is_probabilities: bool
    #: They were of one example, without N.
    is_single: bool

    @staticmethod
    def of(name: str, x: VarLike, target: VarLike, takes_probabilities: bool) -> _Given:
        x, target = as_var(x), as_var(target)
        if "float" not in x.dtype:
            raise at_line(TypeError(f"{name}: scores are {x.dtype}, expected floats"))
        if x.ndim == 0:
            raise at_line(ValueError(f"{name}: scores have shape (), expected (N, C, ...) or (C,)"))
        is_single = x.ndim == 1
        expected = () if is_single else (x.shape[0], *x.shape[2:])
        is_probabilities = takes_probabilities and "float" in target.dtype
        if not (is_probabilities or _is_integral(target)) or target.shape != (
            x.shape if is_probabilities else expected
        ):
            kind = TypeError if not _is_integral(target) else ValueError
            raise at_line(
                kind(
                    f"{name}: scores have shape {x.shape} and the target is {target.dtype} of shape"
                    f" {target.shape}, expected integers of shape {expected}"
                    + (f" or floats of shape {x.shape}" if takes_probabilities else "")
                )
            )
        if is_single:
            x, target = x.unsqueeze(0), target.unsqueeze(0)
        return _Given(x, target, is_probabilities, is_single)


def _checked_weight(name: str, x: Var, weight: VarLike | None) -> Var | None:
    if weight is None:
        return None
    weight = as_var(weight)
    if weight.shape != (x.shape[1],):
        raise at_line(
            ValueError(
                f"{name}: weight has shape {weight.shape}, expected {(x.shape[1],)}, one for each"
                " class"
            )
        )
    return weight.cast(x.dtype)


def _loss_of_labels(
    x: Var,
    target: Var,
    weight: Var | None,
    ignore_index: int,
    smoothing: float,
    reduction: str,
) -> Var:
    """Return the loss for logarithms of probabilities, each checked already."""
    labels = _Labels.of(x, target, weight, ignore_index)
    loss = labels.loss_of(x, weight, smoothing)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    if loss.size == 0:
        return loss.mean()
    # Divided first, by what depends on the labels only, the mean keeps nothing
    # waiting: its gradient by the scores is computed with the loss.
    return (loss / labels.share.sum()).sum()


def _loss_of_probabilities(
    x: Var, target: Var, weight: Var | None, smoothing: float, reduction: str
) -> Var:
    """Return the cross entropy with probabilities of the classes."""
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / x.shape[1]
    products = share_of(target, x)
    if weight is not None:
        products = products * _along_classes(weight, x.ndim)
    loss = -products.sum(1)
    if reduction == "none":
        return loss
    # Not weighted: the probabilities are.
    return loss.sum() if reduction == "sum" else loss.mean()


def _result(loss: Var, given: _Given, reduction: str) -> Var:
    return loss.squeeze(0) if given.is_single and reduction == "none" else loss


def nll_loss(
    log_probabilities: VarLike,
    target: VarLike,
    reduction: str = "mean",
    *,
    weight: VarLike | None = None,
    ignore_index: int = -100,
) -> Var:
    """Return minus the log-probability of the target class.

    Halves are computed in float32.

    Parameters
    ----------
    log_probabilities
        ``(N, C, ...)``, or ``(C,)`` for one example, float.
    target
        Labels in ``[0, C)``, ``(N, ...)`` or ``()``, integers.
    reduction
        "mean", "sum" or "none" (then the shape is that of `target`). The mean is
        over the labels that are not ignored, each as often as its weight says;
        it is NaN if there are none.
    weight
        Of each class, ``(C,)``; by default 1.
    ignore_index
        A label that has no loss and does not count. It need not be in ``[0, C)``.

    Raises
    ------
    IndexError
        When the loss is waited for, if a label is out of range.
    ValueError
        If shapes do not agree or the reduction is unknown.
    TypeError
        If the target is not of integers.
    """
    name = "nll_loss"
    check_reduction(name, reduction)
    given = _Given.of(name, log_probabilities, target, takes_probabilities=False)
    x, dtype = widened(given.scores)
    weight = _checked_weight(name, x, weight)
    loss = _loss_of_labels(x, given.target, weight, ignore_index, 0.0, reduction)
    return _result(loss.cast(dtype), given, reduction)


def cross_entropy_loss(
    x: VarLike,
    target: VarLike,
    reduction: str = "mean",
    *,
    weight: VarLike | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Var:
    """Return the negative log-likelihood of the softmax of scores.

    Halves are computed in float32. Scores and probabilities are promoted to one type.

    Parameters
    ----------
    x
        Scores, ``(N, C, ...)``, or ``(C,)`` for one example, float; softmax is
        taken over the classes.
    target
        Labels as in `nll_loss`, or probabilities of the classes, floats of x's
        shape.
    reduction, weight, ignore_index
        As in `nll_loss`. The mean of the losses of probabilities is over N, and
        `ignore_index` means nothing for these.
    label_smoothing
        How much of each target is spread evenly over all classes, in [0, 1].

    Raises
    ------
    IndexError
        When the loss is waited for, if a label is out of range.
    ValueError
        If shapes do not agree, the reduction is unknown, or `label_smoothing` is
        out of range.
    TypeError
        If the target is of other types.
    """
    name = "cross_entropy_loss"
    check_reduction(name, reduction)
    SHARE.check(name, label_smoothing=label_smoothing)
    given = _Given.of(name, x, target, takes_probabilities=True)
    scores, target = given.scores, given.target
    if given.is_probabilities:
        (scores, target), dtype = widened_together(scores, target)
    else:
        scores, dtype = widened(scores)
    weight = _checked_weight(name, scores, weight)
    log_p = activations.log_softmax(scores, 1)
    if given.is_probabilities:
        loss = _loss_of_probabilities(log_p, target, weight, label_smoothing, reduction)
    else:
        loss = _loss_of_labels(log_p, target, weight, ignore_index, label_smoothing, reduction)
    return _result(loss.cast(dtype), given, reduction)


class NLLLoss(Loss):
    """The module of `nll_loss`; the weight is a buffer."""

    weight: Var | None

    def __init__(
        self,
        reduction: str = "mean",
        *,
        weight: VarLike | None = None,
        ignore_index: int = -100,
    ) -> None:
        super().__init__(reduction)
        self.ignore_index = ignore_index
        self._keep("weight", weight)

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return nll_loss(
            x, target, self.reduction, weight=self.weight, ignore_index=self.ignore_index
        )


class CrossEntropyLoss(NLLLoss):
    """The module of `cross_entropy_loss`; the weight is a buffer."""

    def __init__(
        self,
        reduction: str = "mean",
        *,
        weight: VarLike | None = None,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction, weight=weight, ignore_index=ignore_index)
        SHARE.check("CrossEntropyLoss", label_smoothing=label_smoothing)
        self.label_smoothing = label_smoothing

    def execute(self, x: VarLike, target: VarLike) -> Var:
        """Return the loss."""
        return cross_entropy_loss(
            x,
            target,
            self.reduction,
            weight=self.weight,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )
