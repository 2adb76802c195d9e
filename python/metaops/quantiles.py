# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantiles: what a share of the elements is not larger than."""

from __future__ import annotations

import math

import numpy as np

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import (
    Axes,
    VarLike,
    normalised_axes,
    shown,
    widened,
)
from .elementwise import abs, where
from .reduction import any
from .rounding import floor
from .sorting import head, sort

__all__ = [
    "median",
    "percentile",
    "quantile",
]


def flattened(x: Var, dim: Axes) -> tuple[Var, list[int], list[int]]:
    """Return x with the dimensions made one, the last; and the shape without them.

    The latter as it is, and with extents 1 in their places.
    """
    axes = normalised_axes(dim, x.ndim)
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    kept = [x.shape[axis] for axis in rest]
    moved = x.transpose((*rest, *axes)) if x.ndim > 1 else x
    ones = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return moved.reshape((*kept, math.prod(x.shape[axis] for axis in axes))), kept, ones


#: How numbers between two elements are chosen.
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def shares_of(q: VarLike) -> Var:
    """Return q in float64: a Python number has more digits than float32."""
    return q.cast("float64") if isinstance(q, Var) else _core.array(q, "float64")


def quantile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return what a share q of the elements is not above.

    Parameters
    ----------
    x
        Numbers; integers become float32.
    q
        Shares in ``[0, 1]``, of any shape, which comes first in the result's.
    dim
        The dimensions; all by default.
    keepdims
        Whether these stay, with extent 1.
    method
        What lies between two elements: "linear", "lower", "higher", "midpoint" or
        "nearest", which is the even one of two.

    Returns
    -------
    Var
        NaN where an element is NaN, or where there is none.

    Raises
    ------
    ValueError
        If `method` is none of these or a dimension is out of range.
    """
    if method not in METHODS:
        names = ", ".join(map(repr, METHODS))
        raise at_line(ValueError(f"quantile: method is {shown(method)}, expected one of {names}"))
    x, dtype = widened(x)
    rows, kept, ones = flattened(x, dim)
    extent = rows.shape[-1]
    shares = q.shape if isinstance(q, Var) else np.shape(q)
    shape = (*shares, *(ones if keepdims else kept))
    if extent == 0:
        return _core.full(shape, math.nan, dtype)
    weight: Var | float
    is_even: Var | bool
    if isinstance(q, float | int) and 0 <= q <= 1:
        below, above, weight, is_even = _known_ends(rows, float(q))
    else:
        below, above, weight, is_even = _ends(rows, kept, shares_of(q))
    if method == "nearest":
        result = where((weight < 0.5) | ((weight == 0.5) & is_even), below, above)
    elif method in ("linear", "midpoint"):
        result = between(below, above, weight if method == "linear" else 0.5)
    else:
        result = above if method == "higher" else below
    result = where(any(rows != rows, -1), math.nan, result)
    return result.reshape(shape).cast(dtype)


def between(below: Var, above: Var, weight: Var | float) -> Var:
    """Return what lies between two elements, the first of which is not the larger one.

    Of two equal ones each has its share of the gradient.
    """
    # From an infinity on there is no way to go, and of equal ones no difference.
    is_infinite = abs(below) == math.inf
    way = where(is_infinite, 0.0, above) - where(is_infinite, 0.0, below)
    return where(is_infinite, below + above, below + way * weight)


def _known_ends(rows: Var, share: float) -> tuple[Var, Var, float, bool]:
    """Return what `_ends` does, by finding these elements alone."""
    axis, extent = rows.ndim - 1, rows.shape[-1]
    # Places are exact in float64, whatever x is.
    place = share * (extent - 1)
    low, high = math.floor(place), math.ceil(place)
    # As many for every share: where they begin is an operand.
    count = min(extent, 2)
    first = min(low, extent - count)
    part, _ = _core.sort(rows, axis, False, first, count)
    kept = rows.shape[:-1]
    below, above = (head(part, axis, k - first, k - first + 1).reshape(kept) for k in (low, high))
    return below, above, place - low, low % 2 == 0


def _ends(rows: Var, kept: list[int], share: Var) -> tuple[Var, Var, Var, Var]:
    """Return the elements that a share is between, and where it is between them.

    The latter are the share of the second one, and whether the first one has an even
    number.
    """
    extent = rows.shape[-1]
    ordered = sort(rows)
    place = (share * (extent - 1)).reshape((*share.shape, *[1] * len(kept)))
    low = floor(place)
    high = where(place > low, low + 1, low)
    below, above = (_at(ordered, end.cast("int64"), kept) for end in (low, high))
    return below, above, (place - low).cast(rows.dtype), low % 2 == 0


def _at(rows: Var, place: Var, kept: list[int]) -> Var:
    """Return elements of each row, at places that have a dimension for each of `kept`."""
    shares = place.ndim - len(kept)
    shape = (*place.shape[:shares], *kept)
    names = [f"i{shares + k}" for k in range(len(kept))]
    own = [f"i{k}" for k in range(shares)] + ["0"] * len(kept)
    return rows.reindex(shape, (*names, f"@e0({', '.join(own)})"), extras=[place])


def percentile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return the `quantile` for q / 100."""
    return quantile(x, shares_of(q) / 100, dim, keepdims, method)


def median(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the element in the middle, or the mean of both; see `quantile`."""
    return quantile(x, 0.5, dim, keepdims)
