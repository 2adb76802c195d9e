# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of poolings, put back where `max_pool` has found them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._core import Var, check_indices, iota, zeros
from .._errors import at_line
from .._typing import VarLike, as_var
from .window import Numbers, as_images, extents_of, per_dimension

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def max_unpool1d(
    x: VarLike,
    indices: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    output_size: Sequence[int] | None = None,
) -> Var:
    """Put the elements of ``(N, C, L)`` where `max_pool1d` took them, as `max_unpool2d`."""
    return _max_unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: VarLike,
    indices: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    output_size: Sequence[int] | None = None,
) -> Var:
    """Return zeros, with elements where `max_pool2d` has found them.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``.
    indices
        Integers of x's shape, as `max_pool2d` returns them. Of elements with one index the
        last one stays.
    kernel_size, stride, padding
        As in `max_pool2d`.
    output_size
        The extents of the result, or its whole shape: those of the image that was pooled.
        They differ from the default by less than the stride.

    Returns
    -------
    Var
        ``(N, C, (H - 1) stride - 2 padding + h, ...)``, or of `output_size`.

    Raises
    ------
    IndexError
        When the result is waited for, if an index is out of range.
    TypeError
        If the indices are not integers.
    ValueError
        If shapes do not agree, or a number is out of range.
    """
    return _max_unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: VarLike,
    indices: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    output_size: Sequence[int] | None = None,
) -> Var:
    """Put the elements of ``(N, C, D, H, W)`` where `max_pool3d` took them, as `max_unpool2d`."""
    return _max_unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, output_size)


def _max_unpool(
    name: str,
    rank: int,
    x: VarLike,
    indices: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    output_size: Sequence[int] | None,
) -> Var:
    """Return images of `rank` dimensions with elements at flat indices."""
    x, indices = as_images(name, x, rank), as_var(indices)
    if "int" not in indices.dtype:
        raise at_line(TypeError(f"{name}: indices are {indices.dtype}, expected integers"))
    if indices.shape != x.shape:
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape} and indices {indices.shape}, expected one shape"
            )
        )
    extents = _unpooled_extents(
        name, x.shape[-rank:], kernel_size, stride, padding, output_size, x.ndim
    )
    before, count, area = x.shape[:-rank], math.prod(x.shape[-rank:]), math.prod(extents)
    images = math.prod(before)
    if images * count == 0:
        return zeros((*before, *extents), x.dtype)
    index = check_indices(indices.reshape(images, count), x.ndim - rank, area, False)
    # The number of the last element that goes to each place; where none does, one that is
    # out of range, so that the place is filled.
    numbers = iota((images, count), 1, "int32" if count < 2**31 else "int64")
    last = numbers.reindex_reduce("max", (images, area), ("i0", "@e0(i0, i1)"), extras=[index])
    values = x.reshape(images, count)
    result = values.reindex((images, area), ("i0", "@e0(i0, i1)"), extras=[last])
    return result.reshape(*before, *extents)


def _unpooled_extents(
    name: str,
    counts: tuple[int, ...],
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    output_size: Sequence[int] | None,
    ndim: int,
) -> tuple[int, ...]:
    """Return the extents of an image that was pooled to `counts`."""
    rank = len(counts)
    kernel = per_dimension(f"{name}: kernel_size", kernel_size, rank)
    strides = kernel if stride is None else per_dimension(f"{name}: stride", stride, rank)
    paddings = per_dimension(f"{name}: padding", padding, rank)
    if min(*kernel, *strides) < 1 or min(paddings) < 0:
        raise at_line(
            ValueError(
                f"{name}: kernel {kernel}, stride {strides} and padding {paddings}, expected the"
                " first two to be positive and the last not to be negative"
            )
        )
    default = tuple(
        (n - 1) * s - 2 * p + k
        for n, k, s, p in zip(counts, kernel, strides, paddings, strict=True)
    )
    extents = default if output_size is None else extents_of(name, output_size, rank, ndim)
    if any(
        n < 0 or abs(n - usual) >= s for n, usual, s in zip(extents, default, strides, strict=True)
    ):
        raise at_line(
            ValueError(
                f"{name}: output_size is {extents}, expected less than a stride of {strides} from"
                f" {default}"
            )
        )
    return extents
