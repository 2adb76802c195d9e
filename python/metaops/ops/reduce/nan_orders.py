# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of NaN-ridden tensors that order or add up: what is NaN is left out."""

from __future__ import annotations

import math

from ... import _core
from ..._core import Var
from ..._domains import SHARE
from ..._typing import Axes, DType, VarLike, as_var, widened
from ..elementwise.elementwise import maximum, minimum, where
from ..elementwise.rounding import ceil, floor
from ..sort import quantiles, sorting
from . import cumulative, reduction

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
]


def _replaced(x: VarLike, number: float) -> Var:
    x = as_var(x)
    return where(x == x, x, number) if "float" in x.dtype else x


def _place_of(name: str, x: VarLike, dim: int | None, keepdims: bool) -> Var:
    x = as_var(x)
    find = reduction.argmax if name == "nanargmax" else reduction.argmin
    place = find(_replaced(x, -math.inf if name == "nanargmax" else math.inf), dim, keepdims)
    if "float" not in x.dtype:
        return place
    return where((x == x).any(dim, keepdims), place, -1)


def nanargmax(x: VarLike, dim: int | None = None, keepdims: bool = False) -> Var:
    """Return the place of the largest element that is not NaN, -1 where there is none.

    Otherwise as `metaops.argmax`.
    """
    return _place_of("nanargmax", x, dim, keepdims)


def nanargmin(x: VarLike, dim: int | None = None, keepdims: bool = False) -> Var:
    """Return the place of the smallest element that is not NaN, -1 where there is none.

    Otherwise as `metaops.argmin`.
    """
    return _place_of("nanargmin", x, dim, keepdims)


def nancumsum(x: VarLike, dim: int | None = None, dtype: DType | None = None) -> Var:
    """Return the sums of `metaops.cumsum` with 0 for NaN."""
    return cumulative.cumsum(_replaced(x, 0), dim, dtype)


def nancumprod(x: VarLike, dim: int | None = None, dtype: DType | None = None) -> Var:
    """Return the products of `metaops.cumprod` with 1 for NaN."""
    return cumulative.cumprod(_replaced(x, 1), dim, dtype)


def _read(rows: Var, place: Var, kept: int) -> Var:
    """Return an element of each row, at places whose last dimensions are the rows'."""
    names = [f"i{k}" for k in range(place.ndim)]
    indexes = (*names[place.ndim - kept :], f"@e0({', '.join(names)})")
    return rows.reindex(place.shape, indexes, extras=[place])


def nanquantile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return the `metaops.quantile` of what is not NaN; NaN where there is nothing.

    Parameters
    ----------
    x, q, dim, keepdims, method
        As of `metaops.quantile`.

    Raises
    ------
    ValueError
        As `metaops.quantile`.
    """
    quantiles.check_method("nanquantile", method)
    SHARE.check("nanquantile", q=q)
    x = as_var(x)
    if "float" not in x.dtype:
        return quantiles.quantile(x, q, dim, keepdims, method)
    wide, dtype = widened(x)
    share = as_var(quantiles.in_range(quantiles.shares_of(q)))
    rows, kept, ones = quantiles.flattened(wide, dim)
    shape = (*share.shape, *(ones if keepdims else kept))
    if rows.shape[-1] == 0:
        return _core.full(shape, math.nan, dtype)
    ordered = sorting.sort(rows)  # NaN last
    count = (rows == rows).sum(-1)
    share = share.reshape((*share.shape, *[1] * len(kept)))
    place = quantiles.place_of(method, share, count)
    low = floor(place)
    high = low + 1 if quantiles.reaches_on(method) else ceil(place)
    last = maximum(count - 1, 0)
    below, above = (
        _read(ordered, minimum(maximum(end, 0), last).cast("int64"), len(kept))
        for end in (low, high)
    )
    weight = (place - low).cast(wide.dtype)
    result = quantiles.chosen(method, below, above, weight, low % 2)
    return where(weight == weight, result, math.nan).reshape(shape).cast(dtype)


def nanpercentile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return the `nanquantile` for q / 100."""
    share = quantiles.share_of_percentage("nanpercentile", q)
    return nanquantile(x, share, dim, keepdims, method)


def nanmedian(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the element in the middle of what is not NaN, or the mean of both."""
    return nanquantile(x, 0.5, dim, keepdims)
