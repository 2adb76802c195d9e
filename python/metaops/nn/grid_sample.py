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

import numpy as np
import numpy.typing as npt

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown, widened
from ..ops.create.creation import arange
from ..ops.elementwise import elementwise, rounding
from ..ops.shape.padding import pad
from ..ops.shape.stacking import stack
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

    Halves are computed in float32.

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
    # Of all dimensions at once: the grid's last one has them, the last of x first.
    extents = np.array(x.shape[:1:-1], coordinates.dtype)
    span = extents - 1 if align_corners else extents
    place = (coordinates + 1) * (span / 2)
    if not align_corners:
        place = place - 0.5
    border = _Border.of(mode, padding_mode, align_corners)
    place = border.moved(place, extents, padding_mode == "reflection")
    padded = pad(images, [(0, 0), (0, 0), *[border.widths] * len(extents)], border.mode)
    return _interpolated(padded, place, mode, border.widths[0]).cast(dtype)


class _Border(NamedTuple):
    """What is put around x, and the range of places whose neighbours are there."""

    #: Of `pad`.
    mode: str
    #: Before and after each dimension.
    widths: tuple[int, int]
    #: The least place.
    low: float
    #: The largest place less the extent.
    high: float

    @staticmethod
    def of(mode: str, padding_mode: str, align_corners: bool) -> _Border:
        first, last = _NEIGHBOURS[mode][0], _NEIGHBOURS[mode][-1]
        if padding_mode == "reflection":
            kind, low, high = ("reflect", 0.0, -1.0) if align_corners else ("symmetric", -0.5, -0.5)
        elif padding_mode == "border" and mode != "bicubic":
            kind, low, high = "edge", 0.0, -1.0
        else:
            # Beyond, all neighbours are outside, and equal.
            kind = "edge" if padding_mode == "border" else "constant"
            low, high = -float(max(last, 1)), -float(first)
        widths = (-math.floor(low) - first, math.ceil(high) + last + 1)
        return _Border(kind, widths, low, high)

    def moved(self, place: Var, extents: npt.NDArray[Any], is_mirrored: bool) -> Var:
        """Return places in the range; one that is NaN becomes the lower end."""
        high = extents + self.high
        if is_mirrored:
            span = np.maximum(high - self.low, 1)
            away = elementwise.mod(elementwise.abs(place - self.low), 2 * span)
            place = elementwise.subtract(span + self.low, elementwise.abs(away - span))
        # The gradient at the ends is that outside.
        place = elementwise.where(place > self.low, place, self.low)
        return elementwise.where(place < high, place, high)


def _interpolated(padded: Var, place: Var, mode: str, before: int) -> Var:
    """Return the weighted sums of all neighbours of each place.

    They are the last dimensions of one reindex, of which the gradient is one scatter.
    What is the same for all channels is computed once, and not with each of them.
    """
    rank, neighbours = place.shape[-1], _NEIGHBOURS[mode]
    strides = [math.prod(padded.shape[3 + k :]) for k in range(rank)]
    element = rounding.round(place) if mode == "nearest" else rounding.floor(place)
    # The first neighbour is in x padded: integers, for floats count to 2**24 only.
    first = element.cast("int64") + (before + neighbours[0])
    index = (first * np.array(strides[::-1])).sum(-1).stop_fuse()
    shape = (*padded.shape[:2], *index.shape[1:], *[len(neighbours)] * rank)
    own = [f"i{k}" for k in range(2 + rank) if k != 1]
    inner = [f"i{k}" for k in range(2 + rank, 2 + 2 * rank)]
    distance = "+".join(f"{k}*{stride}" for k, stride in zip(inner, strides, strict=True))
    flat = padded.reshape((*padded.shape[:2], math.prod(padded.shape[2:])))
    at = f"@e0({', '.join(own)})+{distance}"
    terms = flat.reindex(shape, ("i0", "i1", at), extras=[index])
    if mode == "nearest":
        return terms.reshape(shape[: 2 + rank])
    t = place - element
    weights = stack(keys(t) if mode == "bicubic" else [1 - t, t], -1).stop_fuse()
    for number, k in enumerate(reversed(inner)):
        terms = terms * weights.reindex(shape, (*own, str(number), k))
    return terms.sum(range(2 + rank, 2 + 2 * rank))


def _check(x: Var, grid: Var, mode: Any, padding_mode: Any) -> None:
    """Raise an exception unless the arguments agree."""
    for name, value in (("x", x), ("grid", grid)):
        if "float" not in value.dtype:
            raise at_line(TypeError(f"grid_sample: {name} is {value.dtype}, expected floats"))
    rank = x.ndim - 2
    expected = (x.shape[:1], (rank,))
    if rank not in (2, 3) or grid.ndim != x.ndim or (grid.shape[:1], grid.shape[-1:]) != expected:
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

    Halves are computed in float32.

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
