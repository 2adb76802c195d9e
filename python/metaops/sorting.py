# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, and what is made of it: the largest, medians, searches, distinct elements.

NaN is larger than every number, in both directions, and both zeros are equal. Every
sort is stable: of equal elements the one that was first stays first, in both
directions.

Where the shape of a result depends on the elements (`unique`, `nonzero`), they are
computed at once. With `size` the shape is known, and nothing is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from . import _core
from ._core import Var
from ._errors import at_line
from ._search import count_below
from ._typing import (
    Axes,
    VarLike,
    as_count,
    as_integer,
    as_var,
    normalised_axes,
    normalised_axis,
    shown,
    widened,
)
from .cumulative import cumsum
from .elementwise import where
from .gathering import take
from .reduction import any
from .rounding import floor
from .stacking import concat

__all__ = [
    "argsort",
    "argwhere",
    "flatnonzero",
    "isin",
    "kthvalue",
    "median",
    "nonzero",
    "percentile",
    "quantile",
    "searchsorted",
    "sort",
    "topk",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class Sorted(NamedTuple):
    """Elements, and where they were along the dimension, int64."""

    values: Var
    indices: Var


class Unique(NamedTuple):
    """Distinct elements in rising order, and what else there is to know of them.

    Attributes
    ----------
    values
        The distinct elements.
    indices
        Where each of them comes first in x flattened.
    inverse_indices
        The number of each element of x among the values, in x's shape.
    counts
        How often each of them is there.
    """

    values: Var
    indices: Var
    inverse_indices: Var
    counts: Var


class UniqueCounts(NamedTuple):
    """Distinct elements, and how often each of them is there."""

    values: Var
    counts: Var


class UniqueInverse(NamedTuple):
    """Distinct elements, and the number of each element among them."""

    values: Var
    inverse_indices: Var


def _sorted(x: VarLike, dim: int | None, descending: bool) -> Sorted:
    """Return both results of a sort; one that nobody uses is not computed."""
    x = as_var(x)
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    axis = normalised_axis(dim, x.ndim)
    return Sorted(*_core.sort(x, axis, bool(descending), 0, x.shape[axis]))


def sort(x: VarLike, dim: int | None = -1, descending: bool = False, *, stable: bool = True) -> Var:
    """Return the elements along a dimension in rising order.

    Parameters
    ----------
    x
        Any tensor.
    dim
        The dimension; None sorts x flattened.
    descending
        Whether the order falls.
    stable
        Every sort is stable, whatever this says.

    Raises
    ------
    ValueError
        If `dim` is out of range, as of a 0-d tensor it is.
    """
    return _sorted(x, dim, descending).values


def argsort(
    x: VarLike, dim: int | None = -1, descending: bool = False, *, stable: bool = True
) -> Var:
    """Return where the elements in the order of `sort` are along the dimension, int64."""
    return _sorted(x, dim, descending).indices


def _head(x: Var, axis: int, start: int, stop: int) -> Var:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def topk(x: VarLike, k: int, dim: int = -1, largest: bool = True) -> Sorted:
    """Return the k largest elements along a dimension, from the largest on.

    Parameters
    ----------
    x
        Any tensor.
    k
        How many, at most the dimension's extent.
    dim
        The dimension.
    largest
        False for the k smallest, from the smallest on.

    Returns
    -------
    Sorted
        `values` and `indices`; of equal elements the first ones.

    Raises
    ------
    ValueError
        If k or `dim` is out of range.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    k = as_integer("topk", "k", k)
    if not 0 <= k <= x.shape[axis]:
        raise at_line(
            ValueError(f"topk: k is {k}, expected at most {x.shape[axis]}, dimension {axis}'s")
        )
    return Sorted(*_core.sort(x, axis, bool(largest), 0, k))


def kthvalue(x: VarLike, k: int, dim: int = -1, keepdims: bool = False) -> Sorted:
    """Return the k-th smallest element along a dimension; the first is number 1.

    Raises
    ------
    ValueError
        If k or `dim` is out of range.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    k = as_integer("kthvalue", "k", k)
    if not 1 <= k <= x.shape[axis]:
        raise at_line(ValueError(f"kthvalue: k is {k}, expected 1 to {x.shape[axis]}"))
    values, indices = _core.sort(x, axis, False, k - 1, 1)
    if keepdims:
        return Sorted(values, indices)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return Sorted(values.reshape(shape), indices.reshape(shape))


# Quantiles


def _flattened(x: Var, dim: Axes) -> tuple[Var, list[int], list[int]]:
    """Return x with the dimensions made one, the last; and the shape without them.

    The latter as it is, and with extents 1 in their places.
    """
    axes = normalised_axes(dim, x.ndim)
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    kept = [x.shape[axis] for axis in rest]
    moved = x.transpose((*rest, *axes)) if x.ndim > 1 else x
    ones = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return moved.reshape((*kept, math.prod(x.shape[axis] for axis in axes))), kept, ones


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _shares(q: VarLike) -> Var:
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
    if method not in _METHODS:
        names = ", ".join(map(repr, _METHODS))
        raise at_line(ValueError(f"quantile: method is {shown(method)}, expected one of {names}"))
    x = as_var(x)
    x = x if "float" in x.dtype else x.cast("float32")
    x, dtype = widened(x)
    rows, kept, ones = _flattened(x, dim)
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
        below, above, weight, is_even = _ends(rows, kept, _shares(q))
    if method == "nearest":
        result = where((weight < 0.5) | ((weight == 0.5) & is_even), below, above)
    elif method == "linear":
        result = below + (above - below) * weight
        # Of equal infinities the difference is none.
        result = where(below == above, below, result)
    elif method == "midpoint":
        result = where(below == above, below, below + (above - below) * 0.5)
    else:
        result = above if method == "higher" else below
    result = where(any(rows != rows, -1), math.nan, result)
    return result.reshape(shape).cast(dtype)


def _known_ends(rows: Var, share: float) -> tuple[Var, Var, float, bool]:
    """Return what `_ends` does, by finding these elements alone."""
    axis, extent = rows.ndim - 1, rows.shape[-1]
    # Places are exact in float64, whatever x is.
    place = share * (extent - 1)
    low, high = math.floor(place), math.ceil(place)
    part, _ = _core.sort(rows, axis, False, low, high + 1 - low)
    kept = rows.shape[:-1]
    below, above = (_head(part, axis, k, k + 1).reshape(kept) for k in (0, high - low))
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
    return quantile(x, _shares(q) / 100, dim, keepdims, method)


def median(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the element in the middle, or the mean of both; see `quantile`."""
    return quantile(x, 0.5, dim, keepdims)


# Searches


def searchsorted(
    sorted: VarLike, values: VarLike, side: str = "left", sorter: VarLike | None = None
) -> Var:
    """Return where values belong in a sorted vector, int64.

    Parameters
    ----------
    sorted
        A vector in rising order, as `sort` gives it, or any with a `sorter`.
    values
        Of any shape.
    side
        "left" or "right" of elements that equal a value.
    sorter
        The `argsort` of the vector, where it is not in order.

    Returns
    -------
    Var
        Of the values' shape: how many elements come before each one.

    Raises
    ------
    ValueError
        If `sorted` is no vector or `side` is another.
    """
    if side not in ("left", "right"):
        raise at_line(
            ValueError(f"searchsorted: side is {shown(side)}, expected 'left' or 'right'")
        )
    ordered, value = as_var(sorted), as_var(values)
    if ordered.ndim != 1:
        raise at_line(
            ValueError(f"searchsorted: sorted has shape {ordered.shape}, expected a vector")
        )
    if sorter is not None:
        ordered = take(ordered, sorter)
    if ordered.dtype != value.dtype:
        common = _core.binary("max", ordered[:0].reshape((0,)), value.reshape((-1,))[:0]).dtype
        ordered, value = ordered.cast(common), value.cast(common)
    return count_below(ordered, value, side == "right", nan_last="float" in value.dtype).cast(
        "int64"
    )


def isin(x: VarLike, test: VarLike, invert: bool = False) -> Var:
    """Return a boolean for each element: it equals one of `test`.

    Parameters
    ----------
    x, test
        Of any shape. NaN equals nothing.
    invert
        Whether to return the opposite.
    """
    x, test = as_var(x), as_var(test)
    if test.size == 0:
        return _core.full(x.shape, bool(invert), "bool")
    ordered = sort(test, None)
    place = searchsorted(ordered, x)
    last = test.size - 1
    found = take(ordered, where(place > last, last, place)) == x
    return ~found if invert else found


# What is not zero


def flatnonzero(x: VarLike, size: int | None = None, fill_value: int = 0) -> Var:
    """Return where elements of x flattened are not zero, int64; see `nonzero`."""
    x = as_var(x).reshape((-1,))
    mask = x if x.dtype == "bool" else x != 0
    if size is None:
        return _core.true_places(mask)
    size = as_count("flatnonzero: size", size, 0)
    extent = mask.shape[0]
    if extent == 0:
        return _core.full((size,), fill_value, "int64")
    target = where(mask, cumsum(mask) - 1, size)
    places = _core.iota((extent,), 0, "int64")
    result = places.reindex_reduce("max", (size,), ("@e0(i0)",), extras=[target])
    # Of what no element was put into, the maximum is that of nothing.
    return where(result < 0, fill_value, result)


def nonzero(x: VarLike, size: int | None = None, fill_value: int = 0) -> tuple[Var, ...]:
    """Return the indices of elements that are not zero, one tensor for each dimension.

    Parameters
    ----------
    x
        A tensor of one dimension or more.
    size
        How many there are; if they are fewer, the rest is `fill_value`, if more, the
        first ones are returned. Without it they are counted, and computed at once.
    fill_value
        An index.

    Returns
    -------
    tuple of Var
        int64, in row-major order.

    Raises
    ------
    ValueError
        If x is 0-d.
    """
    x = as_var(x)
    if x.ndim == 0:
        raise at_line(ValueError("nonzero: x is 0-d, expected one dimension or more"))
    place = flatnonzero(x, size, -1)
    indices, rest = [], place
    for axis in range(x.ndim - 1):
        inner = max(math.prod(x.shape[axis + 1 :]), 1)
        index = rest // inner
        indices.append(index)
        rest = rest - index * inner
    indices.append(rest)
    if size is None:
        return tuple(indices)
    return tuple(where(place < 0, fill_value, index) for index in indices)


def argwhere(x: VarLike, size: int | None = None, fill_value: int = 0) -> Var:
    """Return the indices of `nonzero` as rows of a matrix, one for each element."""
    columns = [index.reshape((-1, 1)) for index in nonzero(x, size, fill_value)]
    return concat(columns, 1)


# Distinct elements


def _runs(ordered: Var, size: int | None, equal_nan: bool) -> tuple[Var, Var]:
    """Return which elements differ from the one before, and where these are.

    The latter has the extent after the last one where there are fewer than `size`.
    """
    extent = ordered.shape[0]
    before = ordered.reindex((extent,), ("i0-1",))
    is_new = ordered != before
    if equal_nan and "float" in ordered.dtype:
        is_new = is_new & ((ordered == ordered) | (before == before))
    is_new = is_new | (_core.iota((extent,), 0, "int64") == 0)
    if size is None:
        # The first run has to leave the elements for the next.
        _core.sync([ordered, is_new])
    return is_new, flatnonzero(is_new, size, extent)


def _unique(x: VarLike, size: int | None, wants_places: bool, equal_nan: bool = False) -> Unique:
    """Return `unique_all`; without places, `indices` and `inverse_indices` are empty."""
    x = as_var(x)
    size = size if size is None else as_count("unique: size", size, 0)
    flat = x.reshape((-1,))
    extent = flat.shape[0]
    none = _core.full((size or 0,), 0, "int64")
    if extent == 0:
        values = _core.full((size or 0,), 0, x.dtype)
        return Unique(values, none, none[:0].reshape(x.shape), none)
    ordered, order = _sorted(flat, 0, False)
    if not wants_places:
        del order  # A sort without it takes half the time.
    is_new, begin = _runs(ordered, size, equal_nan)
    end = begin.reindex(begin.shape, ("i0+1",), extent)
    first = begin if size is None else where(begin < extent, begin, 0)
    values, counts = take(ordered, first), end - begin
    if not wants_places:
        return Unique(values, none, none, counts)
    # Sorts are stable: of equal elements the first is the one that came first.
    indices = take(order, first)
    rank = cumsum(is_new) - 1
    inverse = rank.reindex_reduce("max", (extent,), ("@e0(i0)",), extras=[order])
    return Unique(values, indices, inverse.reshape(x.shape), counts)


def unique_all(x: VarLike, size: int | None = None) -> Unique:
    """Return the distinct elements, and all that there is to know of them.

    Parameters
    ----------
    x
        Any tensor. NaN equals nothing, as in the array API; in `unique` it equals itself,
        as in NumPy.
    size
        How many there are; if they are fewer, the first one is repeated, with a count
        of 0; if more, the smallest ones are returned. Without it they are counted, and
        computed at once.

    Returns
    -------
    Unique
        `values`, `indices`, `inverse_indices` and `counts`; all int64 but the values.
    """
    return _unique(x, size, wants_places=True)


def unique_values(x: VarLike, size: int | None = None) -> Var:
    """Return the distinct elements in rising order; see `unique_all`."""
    return _unique(x, size, wants_places=False).values


def unique_counts(x: VarLike, size: int | None = None) -> UniqueCounts:
    """Return the distinct elements and how often each is there; see `unique_all`."""
    result = _unique(x, size, wants_places=False)
    return UniqueCounts(result.values, result.counts)


def unique_inverse(x: VarLike, size: int | None = None) -> UniqueInverse:
    """Return the distinct elements and the number of each element among them."""
    result = unique_all(x, size)
    return UniqueInverse(result.values, result.inverse_indices)


def unique(
    x: VarLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    size: int | None = None,
) -> Var | tuple[Var, ...]:
    """Return the distinct elements in rising order, as ``numpy.unique``.

    Parameters
    ----------
    x
        Any tensor, which is flattened.
    return_index, return_inverse, return_counts
        Whether to return `indices`, `inverse_indices` and `counts` of `unique_all`,
        too, in this order.
    size
        As in `unique_all`.
    """
    result = _unique(x, size, return_index or return_inverse, equal_nan=True)
    more = [
        value
        for value, is_wanted in zip(
            result[1:], (return_index, return_inverse, return_counts), strict=True
        )
        if is_wanted
    ]
    return (result.values, *more) if more else result.values
