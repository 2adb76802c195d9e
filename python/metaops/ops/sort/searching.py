# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places: of numbers in an order, of elements in a set, of what is not zero.

Where the shape of a result depends on the elements (`nonzero`), they are computed at
once. With `size` the shape is known, and nothing is.
"""

from __future__ import annotations

import math

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_count, as_var, shown
from ..elementwise.elementwise import where
from ..index.gathering import take
from ..reduce.cumulative import cumsum
from ..shape.stacking import concat
from ._search import count_below
from .sorting import sort

__all__ = [
    "argwhere",
    "flatnonzero",
    "isin",
    "nonzero",
    "searchsorted",
]


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


# Places of elements that are not zero


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
