# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout, of elements and of whole channels (Srivastava et al., 2014)."""

from __future__ import annotations

from collections.abc import Sequence

from .._core import Var, full
from .._errors import at_line
from .._typing import Shape, VarLike, as_var, widened
from ..ops.elementwise.elementwise import where
from ..random.sampling import bernoulli
from .checks import check_probability
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

#: The limit of SELU for large negative numbers (Klambauer et al., 2017).
_SELU_LIMIT = -1.7580993408473766


def _all_dropped(x: Var) -> Var:
    """Return zeros, also in place of NaN and infinities, through which x has a gradient of 0."""
    return where(full((), False, "bool"), x, 0)


def dropped(x: Var, p: float, shape: Shape) -> Var:
    """Drop with one decision for each element of a shape that broadcasts to x's."""
    if p == 0.0:
        return +x
    if p == 1.0:
        return _all_dropped(x)
    x, dtype = widened(x)
    return where(bernoulli(1.0 - p, shape), x / (1.0 - p), 0).cast(dtype)


def dropout(x: VarLike, p: float = 0.5, is_train: bool = True) -> Var:
    """Return x with elements zeroed at random and the others scaled up.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Floats of any shape.
    p
        The probability of being zeroed. The rest is divided by ``1 - p``, which
        keeps the mean.
    is_train
        If false, nothing is dropped.

    Raises
    ------
    ValueError
        If `p` is not in [0, 1].
    """
    check_probability("dropout", p)
    x = as_var(x)
    return dropped(x, p if is_train else 0.0, x.shape)


def _channels(name: str, x: Var, ranks: Sequence[int]) -> tuple[int, ...]:
    """Return x's shape but for the extents of images, which are 1.

    Of the ranks, where there are two, the lower one is that without a batch.

    Raises
    ------
    ValueError
        If x has another rank.
    """
    if x.ndim not in ranks:
        told = " or ".join(map(str, ranks))
        raise at_line(ValueError(f"{name}: input has shape {x.shape}, expected {told} dimensions"))
    first = 1 if x.ndim != max(ranks) else 2
    return (*x.shape[:first], *(1,) * (x.ndim - first))


def dropout1d(x: VarLike, p: float = 0.5, is_train: bool = True) -> Var:
    """Return x with whole channels of ``(N, C, L)`` or ``(C, L)`` zeroed at random.

    Parameters and errors are those of `dropout`; another rank is a ValueError.
    """
    check_probability("dropout1d", p)
    x = as_var(x)
    return dropped(x, p if is_train else 0.0, _channels("dropout1d", x, (2, 3)))


def dropout2d(x: VarLike, p: float = 0.5, is_train: bool = True) -> Var:
    """Return x with whole channels of ``(N, C, H, W)`` zeroed at random.

    Three dimensions might be ``(C, H, W)`` or ``(N, C, L)`` and are a ValueError.
    Parameters and other errors are those of `dropout`.
    """
    check_probability("dropout2d", p)
    x = as_var(x)
    return dropped(x, p if is_train else 0.0, _channels("dropout2d", x, (4,)))


def dropout3d(x: VarLike, p: float = 0.5, is_train: bool = True) -> Var:
    """Return x with whole channels of ``(N, C, D, H, W)`` or without N zeroed at random.

    Parameters and errors are those of `dropout`; another rank is a ValueError.
    """
    check_probability("dropout3d", p)
    x = as_var(x)
    return dropped(x, p if is_train else 0.0, _channels("dropout3d", x, (4, 5)))


def _alpha_dropped(x: Var, p: float, shape: Shape) -> Var:
    """Set to SELU's limit at random, and keep a mean of 0 and a variance of 1."""
    if p == 0.0:
        return +x
    if p == 1.0:
        return _all_dropped(x)
    scale = ((1.0 - p) * (1.0 + p * _SELU_LIMIT**2)) ** -0.5
    shift = -scale * p * _SELU_LIMIT
    x, dtype = widened(x)
    return (where(bernoulli(1.0 - p, shape), x, _SELU_LIMIT) * scale + shift).cast(dtype)


def alpha_dropout(x: VarLike, p: float = 0.5, is_train: bool = False) -> Var:
    """Return x with elements set to the limit of SELU at random.

    Halves are computed in float32; integers give float32.

    The result is scaled and moved, so that a mean of 0 and a variance of 1 stay
    (Klambauer et al., 2017). With a probability of 1 it is 0.

    Parameters
    ----------
    x
        Floats of any shape.
    p
        The probability of being set.
    is_train
        If false, as by default, nothing is done.

    Raises
    ------
    ValueError
        If `p` is not in [0, 1].
    """
    check_probability("alpha_dropout", p)
    x = as_var(x)
    return _alpha_dropped(x, p if is_train else 0.0, x.shape)


def feature_alpha_dropout(x: VarLike, p: float = 0.5, is_train: bool = False) -> Var:
    """Do as `alpha_dropout` to whole channels of ``(N, C, ...)``.

    Parameters and errors are those of `alpha_dropout`; fewer than two dimensions are a
    ValueError.
    """
    check_probability("feature_alpha_dropout", p)
    x = as_var(x)
    if x.ndim < 2:
        raise at_line(
            ValueError(f"feature_alpha_dropout: input has shape {x.shape}, expected (N, C, ...)")
        )
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
    return _alpha_dropped(x, p if is_train else 0.0, shape)


class _Dropout(Module):
    """What the layers have in common: their probability."""

    def __init__(self, p: float = 0.5) -> None:
        check_probability(type(self).__name__, p)
        self.p = p

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}"


class Dropout(_Dropout):
    """The layer of `dropout`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with elements dropped."""
        return dropout(x, self.p, self.is_train)


class Dropout1d(_Dropout):
    """The layer of `dropout1d`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with channels dropped."""
        return dropout1d(x, self.p, self.is_train)


class Dropout2d(_Dropout):
    """The layer of `dropout2d`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with channels dropped."""
        return dropout2d(x, self.p, self.is_train)


class Dropout3d(_Dropout):
    """The layer of `dropout3d`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with channels dropped."""
        return dropout3d(x, self.p, self.is_train)


class AlphaDropout(_Dropout):
    """The layer of `alpha_dropout`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with elements set to SELU's limit."""
        return alpha_dropout(x, self.p, self.is_train)


class FeatureAlphaDropout(_Dropout):
    """The layer of `feature_alpha_dropout`: does nothing unless it is being trained."""

    def execute(self, x: VarLike) -> Var:
        """Return x with channels set to SELU's limit."""
        return feature_alpha_dropout(x, self.p, self.is_train)
