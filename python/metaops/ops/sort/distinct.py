# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distinct elements, where they are, and how many.

The shapes of results depend on the elements, which are computed at once. With `size`
the shape is known, and nothing is.
"""

from __future__ import annotations

from typing import NamedTuple

from ... import _core
from ..._core import Var
from ..._typing import VarLike, as_count, as_var
from ..elementwise.elementwise import where
from ..index.gathering import take
from ..reduce.cumulative import cumsum
from .searching import flatnonzero
from .sorting import sort_both

__all__ = [
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


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
    ordered, order = sort_both(flat, 0, False)
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
