# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counting: numbers by their value, and by the bins that they lie in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, shown, unrounded, whole_number
from ..elementwise.elementwise import where
from ..reduce.segments import extent_above, integers
from ..sort._search import count_below, read

__all__ = ["bincount", "digitize", "histogram", "histogram_bin_edges"]


def bincount(
    x: VarLike,
    weights: VarLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
) -> Var:
    """Return how often each number 0, 1, ... occurs, as ``numpy.bincount``.

    Parameters
    ----------
    x
        Integers, not negative, of one dimension.
    weights
        Added up in place of ones, of x's shape.
    minlength
        The least extent of the result.
    length
        The extent of the result. Without it, that is the largest number and one: then
        x is computed at once, since the shape depends on it. With it nothing is
        computed, and numbers outside of ``[0, length)`` are not counted.

    Returns
    -------
    Var
        int64, or the weights' type as `metaops.sum` widens it.

    Raises
    ------
    TypeError
        If x is not of integers.
    ValueError
        If x has another rank, the weights another shape, or a number is negative.
    """
    numbers = integers("bincount", "x", x)
    if numbers.ndim != 1:
        raise at_line(ValueError(f"bincount: x has shape {numbers.shape}, expected one dimension"))
    least = whole_number("bincount", "minlength", minlength)
    if length is None:
        extent = extent_above("bincount", numbers, least)
    else:
        extent = max(whole_number("bincount", "length", length), least)
    return _counted("bincount", [numbers], (extent,), weights)


def _counted(
    what: str, places: Sequence[Var], shape: tuple[int, ...], weights: VarLike | None
) -> Var:
    """Add ones, or weights, at places that are given by a tensor per dimension."""
    given = places[0].shape
    if weights is None:
        added = _core.full(given, 1, "int64")
    else:
        added = as_var(weights)
        if added.shape != given:
            raise at_line(ValueError(f"{what}: weights have shape {added.shape}, expected {given}"))
        if "float" not in added.dtype:
            # As a sum: unsigned numbers stay so.
            added = added.cast("uint64" if added.dtype.startswith("u") else "int64")
    names = ", ".join(f"i{axis}" for axis in range(len(given)))
    reads = [f"@e{number}({names})" for number in range(len(places))]
    return added.reindex_reduce("add", shape, reads, extras=list(places))


def digitize(x: VarLike, bins: VarLike, right: bool = False) -> Var:
    """Return the number of the bin of each x, int64, as ``numpy.digitize``.

    Parameters
    ----------
    x
        Any shape. NaN lies beyond all bins.
    bins
        Edges that rise, or fall, of one dimension.
    right
        Whether a bin has its upper edge, and not its lower one.

    Returns
    -------
    Var
        0 before the first edge, ``len(bins)`` behind the last.

    Raises
    ------
    ValueError
        If `bins` has another rank.
    """
    x, edges = as_var(x), as_var(bins)
    if edges.ndim != 1:
        raise at_line(ValueError(f"digitize: bins has shape {edges.shape}, expected one dimension"))
    count = edges.size
    if count < 2:
        return _number_of(x, edges, right).cast("int64")
    rises = edges[0] <= edges[-1]
    found = _number_of(x, where(rises, edges, edges[::-1]), right)
    return where(rises, found, count - found).cast("int64")


def _number_of(x: Var, edges: Var, right: bool) -> Var:
    """Return how many rising edges are before each x, which is all for NaN."""
    found = count_below(edges, x, or_equal=not right)
    return where(x != x, edges.size, found) if "float" in x.dtype else found


def _wide(x: Var) -> Var:
    """Return the floats in which edges are computed."""
    if x.dtype in ("float32", "float64"):
        return x
    return x.cast("float32" if "float" in x.dtype else "float64")


def _bounds(x: Var, range: Sequence[float] | None) -> tuple[Var, Var]:
    """Return the first and the last edge, of x's type."""
    if range is not None:
        try:
            low, high = (float(bound) for bound in range)
        except (TypeError, ValueError):
            raise at_line(
                ValueError(f"histogram: range is {shown(range)}, expected two numbers")
            ) from None
        if not low <= high or high - low == float("inf"):
            raise at_line(
                ValueError(f"histogram: range is {shown(range)}, expected finite rising numbers")
            )
        first, last = (_core.full((), bound, x.dtype) for bound in (low, high))
    elif x.size == 0:
        first, last = (_core.full((), bound, x.dtype) for bound in (0, 1))
    else:
        first, last = x.min(), x.max()
    same = (first == last).cast(x.dtype) * 0.5
    return first - same, last + same


def _uniform_edges(x: Var, bins: int, range: Sequence[float] | None) -> Var:
    first, last = _bounds(x, range)
    part = _core.iota((bins + 1,), 0, x.dtype) / bins
    # Weighting both ends meets the last one exactly.
    return first * (1 - part) + last * part


def _are_edges(bins: object) -> bool:
    """Tell whether bins are given by their edges, not by their number."""
    return isinstance(bins, Var | np.ndarray | list | tuple)


def _edges(what: str, x: Var, bins: VarLike, range: Sequence[float] | None) -> Var:
    """Return the edges of the bins, given by their number or themselves."""
    if isinstance(bins, str):
        raise at_line(
            ValueError(f"{what}: bins is {shown(bins)}, expected a number of bins or their edges")
        )
    if _are_edges(bins):
        edges = as_var(bins)
        if edges.ndim != 1 or edges.size == 0:
            raise at_line(
                ValueError(f"{what}: bins has shape {edges.shape}, expected a number or edges")
            )
        return edges
    count = whole_number(what, "bins", bins)
    if count == 0:
        raise at_line(ValueError(f"{what}: bins is 0, expected 1 or more"))
    return _uniform_edges(_wide(x), count, range)


def _bin_of(x: Var, edges: Var, uniform: bool) -> Var:
    """Return the bin of each x, -1 for what lies in none; the last has its upper edge."""
    count = edges.size - 1
    if uniform:
        first, last = edges[0], edges[-1]
        guess = ((x - first) / (last - first) * count).cast("int32")
        guess = where(guess >= count, count - 1, where(guess < 0, 0, guess))
        # Rounding may have gone over an edge.
        guess = where((x < read(edges, guess)) & (guess > 0), guess - 1, guess)
        over = (x >= read(edges, guess + 1)) & (guess < count - 1)
        found = where(over, guess + 1, guess)
    else:
        found = count_below(edges, x, or_equal=True) - 1
        found = where(x == edges[-1], count - 1, found)
    return where((x >= edges[0]) & (x <= edges[-1]), found, -1)


def histogram_bin_edges(
    x: VarLike, bins: VarLike = 10, range: Sequence[float] | None = None
) -> Var:
    """Return the edges of the bins that `histogram` counts in.

    Parameters
    ----------
    x
        Any shape.
    bins
        The number of bins of one width, or the edges themselves.
    range
        The first and the last edge; by default the smallest and the largest x.

    Returns
    -------
    Var
        Shape ``(bins + 1,)``; float64 for integers and float64, else float32.

    Raises
    ------
    ValueError
        If `bins` is not positive or `range` falls. The rules by which NumPy chooses
        a number of bins are not there.
    """
    edges = _edges("histogram_bin_edges", as_var(x).reshape((-1,)), bins, range)
    return +edges


def histogram(
    x: VarLike,
    bins: VarLike = 10,
    range: Sequence[float] | None = None,
    density: bool = False,
    weights: VarLike | None = None,
) -> tuple[Var, Var]:
    """Return how many elements lie in each bin, and the bins' edges.

    Parameters
    ----------
    x
        Any shape. What lies in no bin, as NaN, is not counted.
    bins, range
        As of `histogram_bin_edges`. Edges have to rise.
    density
        Whether the counts are divided by their sum and by the bins' widths.
    weights
        Added up in place of ones, of x's shape.

    Returns
    -------
    Var
        Shape ``(bins,)``: int64, the weights' type as `metaops.sum` widens it, or
        a float with `density`.
    Var
        Shape ``(bins + 1,)``. A bin has its lower edge; the last one has both.

    Raises
    ------
    ValueError
        If `bins` is not positive, `range` falls or the weights have another shape.
    """
    x = as_var(x)
    flat = x.reshape((-1,))
    edges = _edges("histogram", flat, bins, range)
    uniform = not _are_edges(bins)
    if uniform:
        flat = _wide(flat)
    if weights is not None:
        given = as_var(weights)
        if given.shape != x.shape:
            raise at_line(
                ValueError(f"histogram: weights have shape {given.shape}, expected {x.shape}")
            )
        # What is divided by a sum is not rounded before.
        weights = (unrounded(given) if density else given).reshape((-1,))
    places = [_bin_of(flat, edges, uniform)]
    counts = _counted("histogram", places, (edges.size - 1,), weights)
    if density:
        counts = counts.cast(_wide(edges).dtype)
        counts = counts / (edges[1:] - edges[:-1]) / counts.sum()
    return counts, +edges
