# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisation of channels over a batch, and over an image.

Layers are in `batch_norm_layers`. Halves are computed in float32 and rounded once, at the
end.
"""

from __future__ import annotations

import math

from .._core import Var
from .._domains import DEVIATION, SHARE
from .._errors import at_line
from .._typing import VarLike, shown, widened
from ..ops.reduce._moments import moments
from .normalizing import (
    divided_by_deviation,
    inverse_deviation,
    of_shape,
    root_of_factor,
    scaled,
    with_channels,
)

__all__ = ["batch_norm", "instance_norm"]


def _running(name: str, what: str, value: Var | None, channels: int) -> Var | None:
    """Return a tensor that is updated."""
    if value is not None and not isinstance(value, Var):
        raise at_line(TypeError(f"{name}: {what} is {shown(value)}, expected a Var"))
    return of_shape(name, what, value, (channels,))


def _follow(running: Var, batch: Var, momentum: float | Var) -> None:
    """Move what is running towards the same of a batch."""
    wide, dtype = widened(running)
    running.update((wide * (1.0 - momentum) + batch.cast(wide.dtype) * momentum).cast(dtype))


def check_counts(name: str, x: Var, count: int, where: str) -> None:
    """Raise ValueError if a mean is one of a single element: that would become 0."""
    if x.size > 0 and count == 1:
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape}, expected more than one element for each"
                f" channel {where}"
            )
        )


def batch_norm(
    x: VarLike,
    running_mean: Var | None,
    running_var: Var | None,
    weight: VarLike | None = None,
    bias: VarLike | None = None,
    is_train: bool = False,
    momentum: float | Var = 0.1,
    eps: float = 1e-5,
) -> Var:
    """Return x with each channel normalised over the batch.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        ``(N, C, ...)``.
    running_mean, running_var
        ``(C,)``, by which x is normalised if `is_train` is not set; else the batch's own
        mean and variance are used, and these are moved towards them: the variance towards
        the unbiased estimate.
    weight, bias
        ``(C,)``, by which the result is scaled and moved.
    is_train
        Whether x is a batch that is trained with.
    momentum
        The weight of a new batch in the running mean and variance.
    eps
        Added to the variance.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    TypeError
        If what is running is no Var.
    ValueError
        If shapes do not agree, if a channel has one element only and `is_train` is set, or
        if there is nothing running and it is not.
    """
    name = "batch_norm"
    x = with_channels(name, x, 2)
    axes = (0, *range(2, x.ndim))
    if is_train:
        check_counts(name, x, x.size // max(x.shape[1], 1), "in training")
    return normalised(
        name, x, axes, running_mean, running_var, weight, bias, is_train, momentum, eps
    )


def instance_norm(
    x: VarLike,
    running_mean: Var | None = None,
    running_var: Var | None = None,
    weight: VarLike | None = None,
    bias: VarLike | None = None,
    use_input_stats: bool = True,
    momentum: float | Var = 0.1,
    eps: float = 1e-5,
) -> Var:
    """Return x with each channel of each image normalised by itself.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        ``(N, C, L, ...)``.
    running_mean, running_var, weight, bias, momentum, eps
        As in `batch_norm`; what is running follows the means over the images.
    use_input_stats
        Whether x is normalised by its own mean and variance, or by what is running.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    TypeError, ValueError
        As `batch_norm`.
    """
    name = "instance_norm"
    x = with_channels(name, x, 3)
    axes = tuple(range(2, x.ndim))
    if use_input_stats:
        check_counts(name, x, math.prod(x.shape[2:]), "of an image")
    return normalised(
        name, x, axes, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def normalised(
    name: str,
    x: Var,
    axes: tuple[int, ...],
    running_mean: Var | None,
    running_var: Var | None,
    weight: VarLike | None,
    bias: VarLike | None,
    is_own: bool,
    momentum: float | Var,
    eps: float,
) -> Var:
    """Return x normalised by its own moments along axes, or by those that are running."""
    DEVIATION.check(name, eps=eps)
    SHARE.check(name, momentum=momentum)
    (x, dtype), C = widened(x), x.shape[1]
    running_mean = _running(name, "running_mean", running_mean, C)
    running_var = _running(name, "running_var", running_var, C)
    weight, bias = of_shape(name, "weight", weight, (C,)), of_shape(name, "bias", bias, (C,))
    shape = (1, C) + (1,) * (x.ndim - 2)
    if is_own and (x.size > 0 or running_mean is None):
        root = root_of_factor(x, eps)
        found = moments(x, axes, root)
        count = math.prod(x.shape[axis] for axis in axes)
        inverse = inverse_deviation(found.squares, root * root, count, eps)
        result = divided_by_deviation(found, inverse)
        if running_mean is not None and x.size > 0:
            _follow(running_mean, _of_batch(found.mean), momentum)
        if running_var is not None and x.size > 0:
            unbiased = 1.0 / (root * root) / (count - 1)
            _follow(running_var, _of_batch(found.squares) * unbiased, momentum)
    elif running_mean is None or running_var is None:
        raise at_line(ValueError(f"{name}: no running mean and variance are given, expected both"))
    else:
        inverse = inverse_deviation(running_var.reshape(shape), 1.0, 1, eps)
        result = (x - running_mean.reshape(shape)) * inverse
    return scaled(result, weight, bias, shape, dtype)


def _of_batch(moment: Var) -> Var:
    """Return the mean over images of ``(N, C, 1, ...)``."""
    N, C = moment.shape[:2]
    return moment.reshape(C) if N == 1 else moment.reshape(N, C).mean(0)
