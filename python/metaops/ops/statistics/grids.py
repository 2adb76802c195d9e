# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Histograms of points: how many lie in each cell of a grid."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, float_among, unrounded
from .histograms import _are_edges, _bin_of, _counted, _edges, _wide

__all__ = ["histogram2d", "histogramdd"]


def _histogram(
    what: str, points: Sequence[Var], bins: Any, range: Any, density: bool, weights: Any
) -> tuple[Var, list[Var]]:
    """Return the counts of points, given by their coordinates, and the edges."""
    sides = tuple(bins) if _are_edges(bins) else (bins,) * len(points)
    ranges = (None,) * len(points) if range is None else tuple(range)
    if len(sides) != len(points) or len(ranges) != len(points):
        raise at_line(
            ValueError(
                f"{what}: given {len(sides)} bins and {len(ranges)} ranges, expected {len(points)}"
            )
        )
    edges, places = [], []
    for coordinate, own, bounds in zip(points, sides, ranges, strict=True):
        found = _edges(what, coordinate, own, bounds)
        uniform = not _are_edges(own)
        edges.append(found)
        places.append(_bin_of(_wide(coordinate) if uniform else coordinate, found, uniform))
    if density and weights is not None:
        # What is divided by a sum is not rounded before.
        weights = unrounded(as_var(weights))
    counts = _counted(what, places, tuple(side.size - 1 for side in edges), weights)
    if density:
        wide = [_wide(side) for side in edges]
        counts = counts.cast(float_among(side.dtype for side in wide) or "float32")
        total = counts.sum()
        for axis, side in enumerate(wide):
            widths = side[1:] - side[:-1]
            counts = counts / widths.reshape([-1] + [1] * (len(edges) - axis - 1))
        counts = counts / total
    return counts, [+side for side in edges]


def histogram2d(
    x: VarLike,
    y: VarLike,
    bins: int | Sequence[VarLike] = 10,
    range: Sequence[Sequence[float] | None] | None = None,
    density: bool = False,
    weights: VarLike | None = None,
) -> tuple[Var, Var, Var]:
    """Return how many points lie in each cell of a grid, and the edges of its sides.

    Parameters
    ----------
    x, y
        The coordinates, of one dimension and one extent.
    bins
        A number for both sides, or two: numbers or edges.
    range
        Two pairs: the first and last edge of each side.
    density
        Whether the counts are divided by their sum and by the cells' areas.
    weights
        Added up in place of ones, of x's shape.

    Returns
    -------
    Var
        Shape ``(bins of x, bins of y)``, typed as of `histogram`.
    Var, Var
        The edges along x and along y.

    Raises
    ------
    ValueError
        If shapes differ, or bins or ranges are not as of `histogram`.
    """
    points = [as_var(x), as_var(y)]
    if points[0].ndim != 1 or points[0].shape != points[1].shape:
        raise at_line(
            ValueError(
                f"histogram2d of shapes {points[0].shape} and {points[1].shape}: expected one"
                " dimension and equal extents"
            )
        )
    counts, (first, second) = _histogram("histogram2d", points, bins, range, density, weights)
    return counts, first, second


def histogramdd(
    x: VarLike,
    bins: int | Sequence[VarLike] = 10,
    range: Sequence[Sequence[float] | None] | None = None,
    density: bool = False,
    weights: VarLike | None = None,
) -> tuple[Var, list[Var]]:
    """Return how many points lie in each cell of a grid, and the edges of its sides.

    Parameters
    ----------
    x
        Points, shape ``(n, d)``.
    bins
        A number for all sides, or one for each of the d: numbers or edges.
    range
        A pair for each side: its first and last edge.
    density
        Whether the counts are divided by their sum and by the cells' volumes.
    weights
        Added up in place of ones, shape ``(n,)``.

    Returns
    -------
    Var
        One dimension for each coordinate, typed as of `histogram`.
    list of Var
        The edges along each.

    Raises
    ------
    ValueError
        If shapes do not fit, or bins or ranges are not as of `histogram`.
    """
    points = as_var(x)
    if points.ndim != 2 or points.shape[1] == 0:
        raise at_line(
            ValueError(f"histogramdd: given shape {points.shape}, expected (n, d) with d above 0")
        )
    return _histogram(
        "histogramdd",
        [points[:, k] for k in builtins.range(points.shape[1])],
        bins,
        range,
        density,
        weights,
    )
