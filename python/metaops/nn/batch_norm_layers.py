# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that normalise channels over a batch, and over an image."""

from __future__ import annotations

import math
from typing import ClassVar

from .._core import Var
from .._domains import DEVIATION, SHARE
from .._errors import at_line
from .._typing import VarLike, as_count, as_var
from ..ops.create import creation
from .batch_norm import check_counts, normalised
from .module import Module
from .window import layout

__all__ = [
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
]


class _Tracking(Module):
    """What batch and instance normalisation share: parameters and running moments."""

    running_mean: Var | None
    running_var: Var | None
    num_batches_tracked: Var | None

    def _set_up(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
    ) -> None:
        name = type(self).__name__
        num_features = as_count(f"{name}: num_features", num_features, 0)
        DEVIATION.check(name, eps=eps)
        if momentum is not None:
            SHARE.check(name, momentum=momentum)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = creation.ones((num_features,)) if affine else None
        self.bias = creation.zeros((num_features,)) if affine else None
        if track_running_stats:
            self.register_buffer("running_mean", creation.zeros((num_features,)))
            self.register_buffer("running_var", creation.ones((num_features,)))
            self.register_buffer("num_batches_tracked", creation.zeros((), "int64"))
        else:
            self.running_mean = self.running_var = self.num_batches_tracked = None

    def _normalised(self, x: Var, axes: tuple[int, ...], where: str) -> Var:
        """Return x normalised along axes; `where` is said of channels of one element."""
        name, momentum = type(self).__name__, self.momentum
        is_own = self.is_train or self.running_mean is None
        if is_own:
            check_counts(name, x, math.prod(x.shape[axis] for axis in axes), where)
        if self.is_train and self.num_batches_tracked is not None and x.size > 0:
            self.num_batches_tracked.update(self.num_batches_tracked + 1)
        weight_of_new: float | Var = 0.0 if momentum is None else momentum
        if momentum is None and self.num_batches_tracked is not None:
            weight_of_new = 1.0 / self.num_batches_tracked.cast("float32")
        return normalised(
            name,
            x,
            axes,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            is_own,
            weight_of_new,
            self.eps,
        )

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum},"
            f" affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(_Tracking):
    """Normalises each channel over the batch, see `batch_norm`.

    While trained, with the mean and the variance of the batch, and moves the
    running ones towards these; else with the running ones. Ioffe and Szegedy, "Batch
    Normalization", 2015.

    Parameters
    ----------
    num_features
        C of the input ``(N, C, ...)``.
    eps
        Added to the variance.
    momentum
        The weight of a new batch in the running mean and variance; with None they are
        the means over all batches so far.
    affine
        Whether the result is scaled by `weight` and moved by `bias`.
    track_running_stats
        Whether there are a running mean and variance; else those of the batch are always
        used.

    Attributes
    ----------
    weight, bias : Var or None
        ``(C,)``, first 1 and 0.
    running_mean, running_var : Var or None
        ``(C,)``, buffers, first 0 and 1. The variance is the unbiased estimate.
    num_batches_tracked : Var or None
        int64, a buffer: how many batches these have followed.
    """

    #: The ranks that an input may have; None is any from 2.
    _ranks: ClassVar[tuple[int, ...] | None] = None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        self._set_up(num_features, eps, momentum, affine, track_running_stats)

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x, of shape ``(N, C, ...)``.

        Raises
        ------
        ValueError
            If the rank or the number of channels is another one, or if a channel
            has one element only while the layer is trained: that would become 0.
        """
        x = as_var(x)
        wrong_rank = x.ndim < 2 if self._ranks is None else x.ndim not in self._ranks
        if wrong_rank or x.shape[1] != self.num_features:
            ranks = "" if self._ranks is None else " or ".join(map(str, self._ranks))
            raise at_line(
                ValueError(
                    f"{type(self).__name__}: input has shape {x.shape},"
                    f" expected (N, {self.num_features}, ...)"
                    + (f" with {ranks} dimensions" if ranks else "")
                )
            )
        return self._normalised(x, (0, *range(2, x.ndim)), "while the layer is trained")


class BatchNorm1d(BatchNorm):
    """Batch normalisation of ``(N, C)`` or ``(N, C, L)``."""

    _ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalisation of ``(N, C, H, W)``."""

    _ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalisation of ``(N, C, D, H, W)``."""

    _ranks = (5,)


class _InstanceNorm(_Tracking):
    _rank: ClassVar[int]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
    ) -> None:
        self._set_up(num_features, eps, momentum, affine, track_running_stats)

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x, a batch or one of its elements.

        Raises
        ------
        ValueError
            If x has another shape, or has one element only for each channel of an
            image by whose moments it is normalised: that would become 0.
        """
        x, C, rank = as_var(x), self.num_features, self._rank
        if x.ndim not in (rank + 1, rank + 2) or x.shape[-rank - 1] != C:
            raise at_line(
                ValueError(
                    f"{type(self).__name__}: input has shape {x.shape},"
                    f" expected {layout(str(C), rank)}"
                )
            )
        batched = x if x.ndim == rank + 2 else x.reshape(1, *x.shape)
        y = self._normalised(batched, tuple(range(2, rank + 2)), "of an image")
        return y if x.ndim == rank + 2 else y.reshape(x.shape)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of ``(N, C, L)`` or ``(C, L)``, as `InstanceNorm2d`."""

    _rank = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image by itself, see `instance_norm`.

    Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016.

    Parameters
    ----------
    num_features
        C of the input ``(N, C, H, W)`` or ``(C, H, W)``.
    eps
        Added to the variance.
    momentum
        As in `BatchNorm`.
    affine
        Whether the result is scaled by `weight` and moved by `bias`, both ``(C,)``.
    track_running_stats
        Whether there are a running mean and variance, by which images are normalised
        while the layer is not trained.
    """

    _rank = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of ``(N, C, D, H, W)`` or ``(C, D, H, W)``, as `InstanceNorm2d`."""

    _rank = 3
