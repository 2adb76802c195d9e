# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The largest elements of windows, and where they are."""

from __future__ import annotations

import math
from typing import Literal, overload

import numpy as np

from .._core import Var, full, iota
from .._typing import VarLike
from ..ops.elementwise.elementwise import where
from .window import Numbers, as_images, pooling_windows

__all__ = [
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


@overload
def max_pool1d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Var: ...
@overload
def max_pool1d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Var, Var]: ...
def max_pool1d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Var | tuple[Var, Var]:
    """Return the largest element of each window of ``(N, C, L)``, as `max_pool2d`."""
    numbers = (kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool("max_pool1d", 1, x, *numbers, return_indices)


@overload
def max_pool2d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Var: ...
@overload
def max_pool2d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Var, Var]: ...
def max_pool2d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Var | tuple[Var, Var]:
    """Return the largest element of each window.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``; of numbers.
    kernel_size
        A number or one for each of height and width.
    stride
        Likewise; by default the kernel's size.
    padding
        Likewise, at most half of the kernel's; the border never wins.
    dilation
        Likewise: the distance between neighbours in a window.
    ceil_mode
        Whether a last window may reach over the end, if it begins before it.
    return_indices
        Whether to return also where the largest elements are.

    Returns
    -------
    Var
        ``(N, C, (H + 2 padding - dilation (h - 1) - 1) / stride + 1, ...)``.
    Var
        If asked for: int64 of this shape, the places in the flattened ``(H, W)``. Of
        equal elements it is the first, and NaN is larger than any number.

    Raises
    ------
    ValueError
        If x has another number of dimensions, the window does not fit, or one would have
        elements outside of x alone.
    """
    numbers = (kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool("max_pool2d", 2, x, *numbers, return_indices)


@overload
def max_pool3d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Var: ...
@overload
def max_pool3d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = ...,
    padding: Numbers = ...,
    dilation: Numbers = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Var, Var]: ...
def max_pool3d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Var | tuple[Var, Var]:
    """Return the largest element of each window of ``(N, C, D, H, W)``, as `max_pool2d`."""
    numbers = (kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool("max_pool3d", 3, x, *numbers, return_indices)


def _max_pool(
    name: str,
    rank: int,
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
    return_indices: bool,
) -> Var | tuple[Var, Var]:
    """Return the largest elements of windows over images of `rank` dimensions."""
    x = as_images(name, x, rank)
    windows = pooling_windows(
        name, x.shape[-rank:], kernel_size, stride, padding, dilation, ceil_mode
    )
    parts = windows.of(x, lowest(x.dtype))
    if not return_indices:
        return parts.max(tuple(range(x.ndim, parts.ndim)))
    places, beyond = flat_places(x.shape[-rank:])
    return largest(parts, windows.of(places, beyond), rank, beyond)


def lowest(dtype: str) -> float:
    """Return the number that is larger than none of a type."""
    if dtype == "bool":
        return False
    return int(np.iinfo(dtype).min) if "int" in dtype else -math.inf


def flat_places(extents: tuple[int, ...]) -> tuple[Var, int]:
    """Return the place of each element in a flattened image, and one beyond them all."""
    count = math.prod(extents)
    # Narrow numbers: more of them fit a vector.
    return iota((count,), 0, "int32" if count < 2**31 else "int64").reshape(extents), count


def largest(parts: Var, places: Var, rank: int, beyond: int) -> tuple[Var, Var]:
    """Return the largest element of each window, and its place.

    Parameters
    ----------
    parts
        Windows, ``(..., *counts, *kernel)``.
    places
        Of their elements, of a shape that broadcasts with this one, with `beyond` for what
        is outside of the image.
    rank
        How many dimensions a window has.
    beyond
        A number above all places.
    """
    axes = tuple(range(parts.ndim - rank, parts.ndim))
    values = parts.max(axes, True)
    attained = parts == values
    if "float" in parts.dtype:
        # The largest is NaN where there is one, which equals nothing.
        attained = attained | (parts != parts)
    indices = where(attained, places, full((), beyond, places.dtype)).min(axes)
    return values.reshape(indices.shape), indices.cast("int64")
