# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, and the elements at some places of the order.

NaN is larger than every number, in both directions, and both zeros are equal. Every
sort is stable: of equal elements the one that was first stays first, in both
directions.
"""

from __future__ import annotations

from typing import NamedTuple

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_integer, as_line, as_var

__all__ = [
    "argsort",
    "kthvalue",
    "sort",
    "topk",
]


class Sorted(NamedTuple):
    """Elements, and where they were along the dimension, int64."""

    values: Var
    indices: Var


def sort_both(x: VarLike, dim: int | None, descending: bool) -> Sorted:
    """Return both results of a sort; one that nobody uses is not computed."""
    x = as_var(x)
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    line, axis = as_line(x, dim)
    return _shaped(_core.sort(line, axis, bool(descending), 0, line.shape[axis]), x)


def _shaped(both: tuple[Var, Var], x: Var) -> Sorted:
    """Return what was found along a dimension of x; of a 0-d tensor it is 0-d."""
    values, indices = both
    return Sorted(values, indices) if x.ndim else Sorted(values.reshape(()), indices.reshape(()))


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
        If `dim` is out of range; a 0-d tensor has 0 and -1.
    """
    return sort_both(x, dim, descending).values


def argsort(
    x: VarLike, dim: int | None = -1, descending: bool = False, *, stable: bool = True
) -> Var:
    """Return where the elements in the order of `sort` are along the dimension, int64."""
    return sort_both(x, dim, descending).indices


def head(x: Var, axis: int, start: int, stop: int) -> Var:
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
    line, axis = as_line(x, dim)
    k, extent = as_integer("topk", "k", k), line.shape[axis]
    if x.ndim == 0 and k != 1:
        raise at_line(ValueError(f"topk: k is {k}, expected 1 of a 0-d tensor"))
    if not 0 <= k <= extent:
        raise at_line(ValueError(f"topk: k is {k}, expected at most {extent}, dimension {axis}'s"))
    return _shaped(_core.sort(line, axis, bool(largest), 0, k), x)


def kthvalue(x: VarLike, k: int, dim: int = -1, keepdims: bool = False) -> Sorted:
    """Return the k-th smallest element along a dimension; the first is number 1.

    Raises
    ------
    ValueError
        If k or `dim` is out of range.
    """
    x = as_var(x)
    line, axis = as_line(x, dim)
    k, extent = as_integer("kthvalue", "k", k), line.shape[axis]
    if not 1 <= k <= extent:
        raise at_line(ValueError(f"kthvalue: k is {k}, expected 1 to {extent}"))
    values, indices = _shaped(_core.sort(line, axis, False, k - 1, 1), x)
    if keepdims:
        return Sorted(values, indices)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return Sorted(values.reshape(shape), indices.reshape(shape))
