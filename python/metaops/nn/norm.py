# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisation layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import creation
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, widened
from .module import Module

__all__ = ["BatchNorm", "BatchNorm1d", "BatchNorm2d", "InstanceNorm2d", "LayerNorm"]


def _moments(x: Var, axes: Sequence[int]) -> tuple[Var, Var, Var]:
    """Return x less its mean, the mean and the variance; reduced extents are 1.

    The variance is that of the centred values. The mean of squares less the
    squared mean would need one pass, but loses all digits where the mean is
    large beside the deviation.
    """
    mean = x.mean(axes, True)
    centred = x - mean
    return centred, mean, (centred * centred).mean(axes, True)


def _scaled(
    centred: Var,
    variance: Var,
    weight: Var | None,
    bias: Var | None,
    shape: Sequence[int],
    dtype: str,
) -> Var:
    """Return the centred x divided by its deviation, scaled and moved.

    `shape` is that under which weight and bias broadcast with x. There is one
    division for each variance, not for each element.
    """
    result = centred * (1.0 / variance.sqrt())
    if weight is not None:
        result = result * weight.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(shape)
    return result.cast(dtype)


class BatchNorm(Module):
    """Normalises each channel over the batch.

    While trained, with the mean and the variance of the batch, and moves the
    running ones towards these; else with the running ones.

    Parameters
    ----------
    num_features
        C of the input ``(N, C, ...)``.
    eps
        Added to the variance.
    momentum
        The weight of a new batch in the running mean and variance.
    affine
        Whether the result is scaled by `weight` and moved by `bias`.

    Attributes
    ----------
    weight, bias : Var or None
        ``(C,)``, first 1 and 0.
    running_mean, running_var : Var
        ``(C,)``, buffers, first 0 and 1. The variance is the unbiased estimate.
    """

    #: The ranks that an input may have; None is any from 2.
    _ranks: tuple[int, ...] | None = None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.weight = creation.ones((num_features,)) if affine else None
        self.bias = creation.zeros((num_features,)) if affine else None
        self.running_mean: Var
        self.running_var: Var
        self.register_buffer("running_mean", creation.zeros((num_features,)))
        self.register_buffer("running_var", creation.ones((num_features,)))

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x, of shape ``(N, C, ...)``.

        Raises
        ------
        ValueError
            If the rank or the number of channels is another one, or if a channel
            has one element only while the layer is trained: that would become 0.
        """
        x, dtype = widened(as_var(x))
        self._check(x)
        C = self.num_features
        shape = (1, C) + (1,) * (x.ndim - 2)
        if self.is_train and x.size > 0:
            count = x.size // C
            if count == 1:
                raise at_line(
                    ValueError(
                        f"{type(self).__name__}: input has shape {x.shape}, expected more than one"
                        " element for each channel while the layer is trained"
                    )
                )
            axes = (0, *range(2, x.ndim))
            centred, mean, variance = _moments(x, axes)
            self._follow(mean.reshape(C), variance.reshape(C), count)
        else:
            centred = x - self.running_mean.reshape(shape)
            variance = self.running_var.reshape(shape)
        return _scaled(centred, variance + self.eps, self.weight, self.bias, shape, dtype)

    def _follow(self, mean: Var, variance: Var, count: int) -> None:
        """Move the running mean and variance towards those of a batch."""
        new, old = self.momentum, 1.0 - self.momentum
        unbiased = variance * (count / (count - 1))
        for running, batch in ((self.running_mean, mean), (self.running_var, unbiased)):
            running.update(running * old + batch.cast(running.dtype) * new)

    def _check(self, x: Var) -> None:
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

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(BatchNorm):
    """Batch normalisation of ``(N, C)`` or ``(N, C, L)``."""

    _ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalisation of ``(N, C, H, W)``."""

    _ranks = (4,)


class InstanceNorm2d(Module):
    """Normalises each channel of each image by itself.

    Parameters
    ----------
    num_features
        C of the input ``(N, C, H, W)``.
    eps
        Added to the variance.
    affine
        Whether the result is scaled by `weight` and moved by `bias`, both ``(C,)``.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True) -> None:
        self.num_features = num_features
        self.eps = eps
        self.weight = creation.ones((num_features,)) if affine else None
        self.bias = creation.zeros((num_features,)) if affine else None

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x.

        Raises
        ------
        ValueError
            If x has not the shape ``(N, C, H, W)``, or has one element only for
            each channel of an image: that would become 0.
        """
        (x, dtype), C = widened(as_var(x)), self.num_features
        if x.ndim != 4 or x.shape[1] != C:
            raise at_line(
                ValueError(f"InstanceNorm2d: input has shape {x.shape}, expected (N, {C}, H, W)")
            )
        if x.shape[2] * x.shape[3] == 1:
            raise at_line(
                ValueError(
                    f"InstanceNorm2d: input has shape {x.shape}, expected more than one element"
                    " for each channel of an image"
                )
            )
        centred, _, variance = _moments(x, (2, 3))
        return _scaled(centred, variance + self.eps, self.weight, self.bias, (1, C, 1, 1), dtype)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"{self.num_features}, eps={self.eps}"


class LayerNorm(Module):
    """Normalises over the last dimensions.

    Parameters
    ----------
    normalized_shape
        The extents of these dimensions, a number if it is one.
    eps
        Added to the variance.
    affine
        Whether the result is scaled by `weight` and moved by `bias`, both of
        these extents.
    bias
        Whether there is a bias beside the weight.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        affine: bool = True,
        bias: bool = True,
    ) -> None:
        extents = (
            normalized_shape if isinstance(normalized_shape, Iterable) else (normalized_shape,)
        )
        self.normalized_shape = tuple(int(extent) for extent in extents)
        self.eps = eps
        self.weight = creation.ones(self.normalized_shape) if affine else None
        self.bias = creation.zeros(self.normalized_shape) if affine and bias else None

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x.

        Raises
        ------
        ValueError
            If x does not end with the extents of the layer.
        """
        x, dtype = widened(as_var(x))
        count = len(self.normalized_shape)
        if x.ndim < count or x.shape[x.ndim - count :] != self.normalized_shape:
            extents = ", ".join(map(str, self.normalized_shape))
            raise at_line(
                ValueError(f"LayerNorm: input has shape {x.shape}, expected (..., {extents})")
            )
        centred, _, variance = _moments(x, tuple(range(x.ndim - count, x.ndim)))
        shape = self.normalized_shape
        return _scaled(centred, variance + self.eps, self.weight, self.bias, shape, dtype)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"{self.normalized_shape}, eps={self.eps}"
