# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that change a tensor's shape or put tensors together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import Axes, Shape, VarLike, as_var, normalised_axes, normalised_axis

__all__ = [
    "cat",
    "concat",
    "concatenate",
    "expand_dims",
    "flatten",
    "flip",
    "permute",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "transpose",
    "unsqueeze",
]


def reshape(x: VarLike, shape: Shape) -> Var:
    """Return the same elements in row-major order under another shape.

    One extent may be -1: it is what remains.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    """
    return _core.reshape(as_var(x), shape)


def flatten(x: VarLike, start_dim: int = 0, end_dim: int = -1) -> Var:
    """Return x with dimensions `start_dim` to `end_dim`, inclusive, made one.

    Raises
    ------
    ValueError
        If a dimension is out of range or they are in the wrong order.
    """
    x = as_var(x)
    if x.ndim == 0:
        return reshape(x, (1,))
    first, last = normalised_axis(start_dim, x.ndim), normalised_axis(end_dim, x.ndim)
    if first > last:
        raise at_line(ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}"))
    # Not -1: it would be ambiguous beside an extent of 0.
    middle = math.prod(x.shape[first : last + 1])
    return reshape(x, (*x.shape[:first], middle, *x.shape[last + 1 :]))


def squeeze(x: VarLike, dim: Axes = None) -> Var:
    """Return x without the given dimensions of extent 1, or without all of them.

    Raises
    ------
    ValueError
        If a given dimension is out of range or has another extent.
    """
    x = as_var(x)
    if dim is None:
        return reshape(x, [n for n in x.shape if n != 1])
    axes = normalised_axes(dim, x.ndim)
    for axis in axes:
        if x.shape[axis] != 1:
            raise at_line(
                ValueError(f"squeeze: dimension {axis} of {x.shape} has not the extent 1")
            )
    return reshape(x, [n for axis, n in enumerate(x.shape) if axis not in axes])


def unsqueeze(x: VarLike, dim: int) -> Var:
    """Return x with a new dimension of extent 1 at place `dim` of the result.

    Raises
    ------
    ValueError
        If `dim` is not in ``[-x.ndim - 1, x.ndim]``.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim + 1)
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


expand_dims = unsqueeze


def transpose(x: VarLike, axes: Sequence[int] | None = None) -> Var:
    """Return x with its dimensions permuted, reversed by default.

    Dimension k of the result is dimension ``axes[k]`` of x.

    Raises
    ------
    ValueError
        If `axes` is no permutation of x's dimensions.
    """
    x = as_var(x)
    return x.transpose(tuple(range(x.ndim))[::-1] if axes is None else axes)


permute = transpose


def swapaxes(x: VarLike, first: int, second: int) -> Var:
    """Return x with two dimensions exchanged.

    Raises
    ------
    ValueError
        If one is out of range.
    """
    x = as_var(x)
    first, second = normalised_axis(first, x.ndim), normalised_axis(second, x.ndim)
    axes = list(range(x.ndim))
    axes[first], axes[second] = second, first
    return x.transpose(axes)


def flip(x: VarLike, dim: Axes = None) -> Var:
    """Return x with the order of elements along the dimensions reversed."""
    x = as_var(x)
    axes = normalised_axes(dim, x.ndim)
    return x[tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))]


def concat(tensors: Sequence[VarLike], dim: int = 0) -> Var:
    """Return the tensors one after the other along an existing dimension.

    Parameters
    ----------
    tensors
        At least one; shapes agree in all other dimensions; dtypes are promoted.
    dim
        The dimension along which they are joined.

    Raises
    ------
    ValueError
        If there are none, or shapes do not agree, or `dim` is out of range.

    Notes
    -----
    Tensors that are in memory are copied. What has to be computed is computed
    into its place in the result, where nothing else decides where it lies.
    """
    return _core.concat([as_var(x) for x in tensors], dim)


concatenate = concat
cat = concat


def stack(tensors: Sequence[VarLike], dim: int = 0) -> Var:
    """Return tensors of one shape side by side along a new dimension.

    Raises
    ------
    ValueError
        If there are none, or shapes differ, or `dim` is out of range.
    """
    return _core.stack([as_var(x) for x in tensors], dim)


def split(x: VarLike, sections: int | Sequence[int], dim: int = 0) -> list[Var]:
    """Return x cut along a dimension.

    Parameters
    ----------
    x
        At least one dimension.
    sections
        The extent of every part (the last may be smaller), or the extents of all.
    dim
        The dimension that is cut.

    Raises
    ------
    ValueError
        If the extents do not add up to x's or `dim` is out of range.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    extent = x.shape[axis]
    if isinstance(sections, int):
        if sections <= 0:
            raise at_line(ValueError(f"split: sections is {sections}, expected a positive number"))
        sizes = [min(sections, extent - k) for k in range(0, extent, sections)]
    else:
        sizes = list(sections)
    if sum(sizes) != extent or any(size < 0 for size in sizes):
        raise at_line(ValueError(f"split: extents {sizes} do not add up to {extent}"))
    parts, begin = [], 0
    for size in sizes:
        key = (slice(None),) * axis + (slice(begin, begin + size),)
        parts.append(x[key])
        begin += size
    return parts
