# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets: the distinct elements of tensors, in rising order, of which NaN is one at most.

How many there are depends on the elements, so these are computed at once.
"""

from __future__ import annotations

from typing import NamedTuple

from ... import _core
from ..._core import Var
from ..._typing import VarLike, as_var
from ..reduce.cumulative import cumsum
from ..shape.stacking import concat
from .distinct import unique, unique_all
from .searching import flatnonzero, isin, searchsorted
from .sorting import sort

__all__ = ["intersect1d", "setdiff1d", "setxor1d", "union1d", "unique_consecutive"]


class Runs(NamedTuple):
    """The first element of each run, the run of each element, and the runs' lengths."""

    values: Var
    inverse_indices: Var
    counts: Var


def _distinct(x: VarLike) -> Var:
    """Return the distinct elements; NaN is one of them, as in `metaops.unique`."""
    values = unique(x)
    assert isinstance(values, Var)
    return values


def union1d(x: VarLike, y: VarLike) -> Var:
    """Return the distinct elements of x and y, a vector."""
    return _distinct(concat([x, y], None))


def intersect1d(x: VarLike, y: VarLike, return_indices: bool = False) -> Var | tuple[Var, Var, Var]:
    """Return the distinct elements that x and y both have, a vector.

    With `return_indices` also where each is first in x and in y, both flattened.
    """
    first, second = unique_all(x), unique_all(y)
    is_shared = isin(first.values, second.values)
    values = first.values[is_shared]
    if not return_indices:
        return values
    places = searchsorted(second.values, values)
    return values, first.indices[is_shared], second.indices[places]


def setdiff1d(x: VarLike, y: VarLike) -> Var:
    """Return the distinct elements of x that y does not have, a vector."""
    values = _distinct(x)
    return values[isin(values, y, invert=True)]


def setxor1d(x: VarLike, y: VarLike) -> Var:
    """Return the distinct elements that one of x and y has and the other has not."""
    return sort(concat([setdiff1d(x, y), setdiff1d(y, x)]))


def unique_consecutive(x: VarLike) -> Runs:
    """Return x, flattened, with each run of equal elements made one.

    Returns
    -------
    Runs
        `values`; `inverse_indices`, of x's shape, the number of each element's run;
        and `counts`, how long each is.
    """
    x = as_var(x)
    flat = x.reshape((-1,)) if x.size else x.reshape((0,))
    is_first = flat[1:] != flat[:-1]
    if flat.size:
        is_first = concat([_core.full((1,), True, "bool"), is_first])
    starts = flatnonzero(is_first)
    ends = concat([starts[1:], _core.full((min(flat.size, 1),), flat.size, "int64")])
    inverse = (cumsum(is_first) - 1).reshape(x.shape)
    return Runs(flat[starts], inverse, ends - starts)
