# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisation over the last dimensions, over groups of channels and around channels.

Layers are in `norm_layers`. Halves are computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .._core import Var
from .._domains import DEVIATION, FINITE
from .._errors import at_line
from .._typing import VarLike, as_count, as_var, widened
from ..ops.reduce._moments import moments, moments_of_rows
from .normalizing import (
    brought_near_one,
    divided_by_deviation,
    inverse_deviation,
    of_shape,
    root_of_factor,
    scaled,
    small_squares,
    with_channels,
)

__all__ = ["group_norm", "layer_norm", "local_response_norm", "rms_norm"]

#: The distance between 1 and the next larger number.
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def as_normalized_shape(name: str, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return the extents over which is normalised.

    Raises
    ------
    ValueError
        If there are none.
    """
    given = normalized_shape if isinstance(normalized_shape, Iterable) else (normalized_shape,)
    extents = tuple(as_count(f"{name}: an extent", extent, 0) for extent in given)
    if not extents:
        raise at_line(ValueError(f"{name}: normalized_shape is (), expected at least one extent"))
    return extents


def _last_axes(name: str, x: Var, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the last axes of x, which have these extents."""
    first = x.ndim - len(extents)
    if first < 0 or x.shape[first:] != extents:
        wanted = ", ".join(map(str, extents))
        raise at_line(ValueError(f"{name}: input has shape {x.shape}, expected (..., {wanted})"))
    return tuple(range(first, x.ndim))


def layer_norm(
    x: VarLike,
    normalized_shape: int | Sequence[int],
    weight: VarLike | None = None,
    bias: VarLike | None = None,
    eps: float = 1e-5,
) -> Var:
    """Return x normalised over its last dimensions.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        ``(..., *normalized_shape)``.
    normalized_shape
        The extents of these dimensions, a number if it is one.
    weight, bias
        Of these extents, by which the result is scaled and moved.
    eps
        Added to the variance.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    ValueError
        If shapes do not agree.
    """
    return layer_normalised(
        "layer_norm", x, as_normalized_shape("layer_norm", normalized_shape), weight, bias, eps
    )


def layer_normalised(
    name: str,
    x: VarLike,
    extents: tuple[int, ...],
    weight: VarLike | None,
    bias: VarLike | None,
    eps: float,
) -> Var:
    """Return x normalised over its last dimensions; messages begin with `name`."""
    DEVIATION.check(name, eps=eps)
    x, dtype = widened(as_var(x))
    axes = _last_axes(name, x, extents)
    weight = of_shape(name, "weight", weight, extents)
    bias = of_shape(name, "bias", bias, extents)
    root = root_of_factor(x, eps)
    found = moments_of_rows(brought_near_one(x, axes, eps), axes, root)
    inverse = inverse_deviation(found.squares, root * root, math.prod(extents), eps)
    result = divided_by_deviation(found, inverse)
    return scaled(result, weight, bias, extents, dtype)


def rms_norm(
    x: VarLike,
    normalized_shape: int | Sequence[int],
    weight: VarLike | None = None,
    eps: float | None = None,
) -> Var:
    """Return x divided by the root of the mean square over its last dimensions.

    Halves are computed in float32; integers give float32.

    Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.

    Parameters
    ----------
    x, normalized_shape, weight
        As in `layer_norm`.
    eps
        Added to the mean square; by default the distance between 1 and the next larger
        number of x's dtype.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    ValueError
        If shapes do not agree.
    """
    return rms_normalised(
        "rms_norm", x, as_normalized_shape("rms_norm", normalized_shape), weight, eps
    )


def rms_normalised(
    name: str, x: VarLike, extents: tuple[int, ...], weight: VarLike | None, eps: float | None
) -> Var:
    """Return x divided by the root of its mean square; messages begin with `name`."""
    x, dtype = widened(as_var(x))
    axes = _last_axes(name, x, extents)
    weight = of_shape(name, "weight", weight, extents)
    eps = _EPSILON[dtype] if eps is None else eps
    DEVIATION.check(name, eps=eps)
    x = brought_near_one(x, axes, eps)
    inverse = inverse_deviation(*small_squares(x, axes, eps), math.prod(extents), eps)
    return scaled(x * inverse, weight, None, extents, dtype)


def group_norm(
    x: VarLike,
    num_groups: int,
    weight: VarLike | None = None,
    bias: VarLike | None = None,
    eps: float = 1e-5,
) -> Var:
    """Return x with groups of channels of each image normalised together.

    Halves are computed in float32; integers give float32.

    Wu and He, "Group Normalization", 2018.

    Parameters
    ----------
    x
        ``(N, C, ...)``.
    num_groups
        Into how many groups the channels are cut.
    weight, bias
        ``(C,)``, by which the result is scaled and moved.
    eps
        Added to the variance.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    ValueError
        If shapes do not agree, or the channels cannot be cut into so many groups.
    """
    return group_normalised("group_norm", x, num_groups, weight, bias, eps)


def group_normalised(
    name: str,
    x: VarLike,
    num_groups: int,
    weight: VarLike | None,
    bias: VarLike | None,
    eps: float,
) -> Var:
    """Return x with groups of channels normalised; messages begin with `name`."""
    DEVIATION.check(name, eps=eps)
    x, dtype = widened(with_channels(name, x, 2))
    N, C, *space = x.shape
    num_groups = as_count(f"{name}: num_groups", num_groups)
    if C % num_groups:
        raise at_line(
            ValueError(f"{name}: {C} channels are not divisible into {num_groups} groups")
        )
    weight, bias = of_shape(name, "weight", weight, (C,)), of_shape(name, "bias", bias, (C,))
    # Weights are those of channels, so they broadcast within groups.
    grouped = x.reshape(N, num_groups, C // num_groups, *space)
    axes = tuple(range(2, grouped.ndim))
    root = root_of_factor(x, eps)
    found = moments(brought_near_one(grouped, axes, eps), axes, root)
    count = math.prod(grouped.shape[2:])
    inverse = inverse_deviation(found.squares, root * root, count, eps)
    result = divided_by_deviation(found, inverse)
    shape = (1, num_groups, C // num_groups) + (1,) * len(space)
    return scaled(result, weight, bias, shape, dtype).reshape(x.shape)


def local_response_norm(
    x: VarLike, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Var:
    """Return x divided by a power of the squares around each channel.

    Halves are computed in float32; integers give float32.

    ``x / (k + alpha * mean)**beta``, with the mean square of `size` channels around each,
    zeros beyond the first and the last. Krizhevsky, Sutskever and Hinton, "ImageNet
    Classification with Deep Convolutional Neural Networks", 2012, section 3.3.

    Parameters
    ----------
    x
        ``(N, C, L, ...)``.
    size
        How many channels; of an even number, one more is before the channel than behind.
    alpha, beta, k
        Numbers of the formula.

    Returns
    -------
    Var
        Of x's shape and dtype.

    Raises
    ------
    ValueError
        If x has fewer than three dimensions, or the size is not positive.
    """
    FINITE.check("local_response_norm", alpha=alpha, beta=beta, k=k)
    x, dtype = widened(with_channels("local_response_norm", x, 3))
    size = as_count("local_response_norm: size", size)
    names = [f"i{axis}" for axis in range(x.ndim)]
    names[1] = f"i1+i{x.ndim}-{size // 2}"
    # Squares of scaled numbers, whose scale the power has again, overflow later.
    exponent = _exponent_of_squares(x.dtype, alpha, beta, k)
    scaled = x * 2.0**-exponent
    mean = (scaled * scaled).reindex((*x.shape, size), names).sum(x.ndim) / size
    power = (k * 4.0**-exponent + alpha * mean) ** beta
    return (x / power * 4.0 ** (-exponent * beta)).cast(dtype)


def _exponent_of_squares(dtype: str, alpha: float, beta: float, k: float) -> int:
    """Return by which power of two numbers may be divided whose squares stand beside k.

    So small a one that neither the power of k alone nor its slope overflows. Squares that
    vanish are nothing beside k, if alpha is not far from it.
    """
    if beta < 0 or not (2.0**-40 < k < 2.0**40 and k * 2.0**-40 < alpha < k * 2.0**40):
        return 0
    return int((511 if dtype == "float64" else 63) / (beta + 1))
