# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images at places that are computed, as of Jaderberg et al. (2015).

What is outside of an image is a border that `pad` puts around it, and places further away
are moved to where they find the same. So every neighbour of a place is in the padded
image, at a constant distance from the first: one index for each place is enough.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import elementwise
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown, widened
from ..creation import arange
from ..padding import pad
from ..shaping import stack
from .resample import keys

__all__ = ["affine_grid", "grid_sample"]

#: By mode, the neighbours of a place, counted from the element at or before it.
_NEIGHBOURS = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}
_PADDING_MODES = ("zeros", "border", "reflection")


def grid_sample(
    x: VarLike,
    grid: VarLike,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Var:
    """Return images or volumes at the places of a grid.

    Parameters
    ----------
    x
        Floats, ``(N, C, H, W)`` or ``(N, C, D, H, W)``, of no extent 0 in space.
    grid
        Floats, ``(N, H', W', 2)`` or ``(N, D', H', W', 3)``: places, the last dimension's
        index first, from -1 to 1 across x.
    mode
        "bilinear" (of volumes linear in three dimensions), "nearest", or, of images,
        "bicubic", which is the convolution of Keys (1981) with a = -0.75.
    padding_mode
        What is outside of x: "zeros", "border" (the nearest element), or "reflection".
    align_corners
        Whether -1 and 1 are the middles of the outermost elements, else their edges.

    Returns
    -------
    Var
        ``(N, C, H', W')`` or ``(N, C, D', H', W')``, of x's dtype. A place that is NaN has
        the value of one far to the left.

    Raises
    ------
    TypeError
        If x or the grid is not of floats.
    ValueError
        If shapes do not agree or there is no such mode.

    Notes
    -----
    The gradient of x is a scatter, which runs on one thread. That of the grid is 0 of mode
    "nearest", and where a place is outside of x and all around it is equal.
    """
    x, grid = as_var(x), as_var(grid)
    _check(x, grid, mode, padding_mode)
    images, dtype = widened(x)
    coordinates, _ = widened(grid)
    rank = x.ndim - 2
    axes = [
        _Axis.of(coordinates[..., rank - 1 - k], extent, mode, padding_mode, align_corners)
        for k, extent in enumerate(x.shape[2:])
    ]
    outside = {"zeros": "constant", "border": "edge"}.get(
        padding_mode, "reflect" if align_corners else "symmetric"
    )
    widths = [(0, 0), (0, 0), *((axis.low, axis.high) for axis in axes)]
    padded = pad(images, widths, outside)
    return _interpolated(padded, axes, _NEIGHBOURS[mode]).cast(dtype)


class _Axis(NamedTuple):
    """The places along one dimension, each ``(N, ...)``."""

    #: The element at or before each place, or the nearest one.
    element: Var
    #: The weights of the neighbours, a last dimension; None are 1.
    weights: Var | None
    #: The widths of the border that has neighbours outside of x.
    low: int
    high: int

    @staticmethod
    def of(
        coordinate: Var, extent: int, mode: str, padding_mode: str, align_corners: bool
    ) -> _Axis:
        span = extent - 1 if align_corners else extent
        place = (coordinate + 1) * (span / 2) - (0 if align_corners else 0.5)
        neighbours = _NEIGHBOURS[mode]
        if padding_mode == "reflection":
            low, high = (0.0, extent - 1.0) if align_corners else (-0.5, extent - 0.5)
            place = _within(_reflected(place, low, high), low, high)
        elif padding_mode == "border" and mode != "bicubic":
            low, high = 0.0, extent - 1.0
            place = _within(place, low, high)
        else:
            # Beyond, all neighbours are outside, and equal.
            low, high = -float(max(neighbours[-1], 1)), float(extent - 1 - neighbours[0] + 1)
            place = _within(place, low, high)
        before = max(0, -math.floor(low) - neighbours[0])
        after = max(0, math.ceil(high) + neighbours[-1] - (extent - 1))
        if mode == "nearest":
            return _Axis(elementwise.round(place), None, before, after)
        element = elementwise.floor(place)
        t = place - element
        weights = stack(keys(t) if mode == "bicubic" else [1 - t, t], -1)
        # Of all channels the same, so computed once, and not with each of them.
        return _Axis(element, weights.stop_fuse(), before, after)


def _within(place: Var, low: float, high: float) -> Var:
    """Return places moved into a range; NaN becomes the lower end."""
    # The gradient at the ends is that outside.
    place = elementwise.where(place > low, place, low)
    return elementwise.where(place < high, place, high)


def _reflected(place: Var, low: float, high: float) -> Var:
    """Return places mirrored at both ends of a range until they are in it."""
    span = high - low
    if span == 0:
        return place
    away = elementwise.mod(elementwise.abs(place - low), 2 * span)
    return (span + low) - elementwise.abs(away - span)


def _interpolated(padded: Var, axes: Sequence[_Axis], neighbours: Sequence[int]) -> Var:
    """Return the weighted sums of all neighbours of each place.

    They are the last dimensions of one reindex, of which the gradient is one scatter.
    """
    rank = len(axes)
    strides = [math.prod(padded.shape[3 + k :]) for k in range(rank)]
    # The first neighbour is in x padded: integers, for floats count to 2**24 only.
    first = [axis.element.cast("int64") + (axis.low + neighbours[0]) for axis in axes]
    place = first[-1]
    for index, stride in zip(first[:-1], strides[:-1], strict=True):
        place = place + index * stride
    place = place.stop_fuse()
    shape = (*padded.shape[:2], *place.shape[1:], *(len(neighbours) for _ in axes))
    inner = range(2 + rank, 2 + 2 * rank)
    own = ", ".join(f"i{k}" for k in range(2 + rank) if k != 1)
    distance = "+".join(f"i{k}*{stride}" for k, stride in zip(inner, strides, strict=True))
    flat = padded.reshape((*padded.shape[:2], math.prod(padded.shape[2:])))
    terms = flat.reindex(shape, ("i0", "i1", f"@e0({own})+{distance}"), extras=[place])
    for k, axis in zip(inner, axes, strict=True):
        if axis.weights is not None:
            terms = terms * axis.weights.broadcast(
                shape, [1, *(other for other in inner if other != k)]
            )
    return terms.sum(tuple(inner))


def _check(x: Var, grid: Var, mode: Any, padding_mode: Any) -> None:
    """Raise an exception unless the arguments agree."""
    for name, value in (("x", x), ("grid", grid)):
        if "float" not in value.dtype:
            raise at_line(TypeError(f"grid_sample: {name} is {value.dtype}, expected floats"))
    rank = x.ndim - 2
    if (
        rank not in (2, 3)
        or grid.ndim != x.ndim
        or (grid.shape[0], grid.shape[-1])
        != (
            x.shape[0],
            rank,
        )
    ):
        raise at_line(
            ValueError(
                f"grid_sample: x has shape {x.shape} and the grid {grid.shape}, expected"
                " (N, C, H, W) and (N, H', W', 2), or (N, C, D, H, W) and (N, D', H', W', 3)"
            )
        )
    if 0 in x.shape[2:]:
        raise at_line(ValueError(f"grid_sample: x has shape {x.shape}, which has no elements"))
    modes = ["bilinear", "nearest"] + ["bicubic"] * (rank == 2)
    for name, value, known in (
        ("mode", mode, modes),
        ("padding_mode", padding_mode, _PADDING_MODES),
    ):
        if not isinstance(value, str) or value not in known:
            raise at_line(
                ValueError(
                    f"grid_sample: {name} is {shown(value)} for x of {x.ndim} dimensions,"
                    f" expected one of {', '.join(map(repr, known))}"
                )
            )


def affine_grid(theta: VarLike, size: Sequence[int], align_corners: bool = False) -> Var:
    """Return the places of an image's elements, moved by affine maps.

    Parameters
    ----------
    theta
        Maps, floats ``(N, 2, 3)`` of images and ``(N, 3, 4)`` of volumes.
    size
        Of the images that `grid_sample` shall make, ``(N, C, H, W)`` or
        ``(N, C, D, H, W)``.
    align_corners
        As of `grid_sample`.

    Returns
    -------
    Var
        ``(N, H, W, 2)`` or ``(N, D, H, W, 3)``, of theta's dtype.

    Raises
    ------
    TypeError
        If theta is not of floats.
    ValueError
        If the shape of theta does not fit the size.
    """
    theta = as_var(theta)
    if "float" not in theta.dtype:
        raise at_line(TypeError(f"affine_grid: theta is {theta.dtype}, expected floats"))
    try:
        sizes = tuple(map(operator.index, size))
    except TypeError:
        sizes = ()
    rank = len(sizes) - 2
    if rank not in (2, 3) or theta.shape != (sizes[0], rank, rank + 1) or min(sizes) < 0:
        raise at_line(
            ValueError(
                f"affine_grid: theta has shape {theta.shape} and size is {shown(size)}, expected"
                " (N, 2, 3) and (N, C, H, W), or (N, 3, 4) and (N, C, D, H, W)"
            )
        )
    maps, dtype = widened(theta)
    batch, extents = sizes[0], sizes[2:]
    rows = []
    for row in range(rank):
        own = [maps[:, row, k].reshape((batch,) + (1,) * rank) for k in range(rank + 1)]
        total = own[rank]
        for k, extent in enumerate(reversed(extents)):
            place = _middles(extent, align_corners, maps.dtype).reshape((extent,) + (1,) * k)
            total = total + own[k] * place
        rows.append(total.broadcast((batch, *extents)))
    return stack(rows, -1).cast(dtype)


def _middles(extent: int, align_corners: bool, dtype: str) -> Var:
    """Return the places of elements, from -1 to 1 across them."""
    span = extent - 1 if align_corners else extent
    if span == 0:
        return arange(extent, dtype=dtype) * 0
    shift = span if align_corners else span - 1
    return (arange(extent, dtype=dtype) * 2 - shift) / span
