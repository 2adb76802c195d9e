# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders by several keys or in part, and what stands most often."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_integers, as_line, as_var, as_vars, normalised_axis
from ..elementwise.elementwise import where
from ..index._indices import along
from ..index.gathering import gather
from ..reduce.cumulative import cummax
from ..reduce.reduction import argmax
from ..shape.stacking import concat
from .sorting import Sorted, argsort, sort, sort_both

__all__ = ["argpartition", "lexsort", "mode", "partition"]


def _parted(what: str, x: VarLike, kth: int | Sequence[int], dim: int | None) -> tuple[Var, int]:
    x = as_var(x)
    if dim is None:
        x, dim = x.reshape((x.size,)), 0
    line, axis = as_line(x, dim)
    extent = line.shape[axis]
    for k in as_integers(what, "kth", kth):
        if not -extent <= k < extent:
            raise at_line(
                ValueError(f"{what}: kth is {k}, expected a place among {extent} elements")
            )
    return x, axis


def partition(x: VarLike, kth: int | Sequence[int], dim: int | None = -1) -> Var:
    """Return x with element `kth` where it is in order, and none after it smaller.

    It is `sort`, which fulfils this for all elements. `kthvalue` and `topk` are for some.

    Parameters
    ----------
    x
        Any tensor.
    kth
        One place or several; negative ones count from the end.
    dim
        The dimension; None flattens x.

    Raises
    ------
    ValueError
        If a place or `dim` is out of range.
    """
    return sort(*_parted("partition", x, kth, dim))


def argpartition(x: VarLike, kth: int | Sequence[int], dim: int | None = -1) -> Var:
    """Return where the elements of `partition` are in x, int64."""
    return argsort(*_parted("argpartition", x, kth, dim))


def lexsort(keys: VarLike | Sequence[VarLike], dim: int = -1) -> Var:
    """Return the places that order by several keys, the last of which counts most.

    Parameters
    ----------
    keys
        Tensors of one shape, or one whose first dimension holds them.
    dim
        The dimension that is ordered.

    Returns
    -------
    Var
        int64, of a key's shape.

    Raises
    ------
    ValueError
        If there are no keys, or their shapes differ.
    """
    given = as_vars("lexsort", keys)
    if not given or len({key.shape for key in given}) != 1:
        shapes = [key.shape for key in given]
        raise at_line(ValueError(f"lexsort: keys have shapes {shapes}, expected one shape"))
    axis = normalised_axis(dim, given[0].ndim, 1)
    order = argsort(given[0], axis)
    for key in given[1:]:
        order = gather(order, axis, argsort(gather(key, axis, order), axis))
    return order


def mode(x: VarLike, dim: int = -1, keepdims: bool = False) -> Sorted:
    """Return the element that is there most often, the smallest of several, and a place.

    Parameters
    ----------
    x
        Any tensor.
    dim
        The dimension.
    keepdims
        Whether it stays, with extent 1.

    Returns
    -------
    Sorted
        `values` and `indices`, int64: where it stands first.

    Raises
    ------
    ValueError
        If `dim` is out of range or has no elements.
    """
    shape = as_var(x).shape
    x, axis = as_line(x, dim)
    ordered, order = sort_both(x, axis, False)
    place = _core.iota(x.shape, axis, "int64")
    is_new = ordered[along(axis, slice(1, None))] != ordered[along(axis, slice(None, -1))]
    first = _core.full((*x.shape[:axis], min(x.shape[axis], 1), *x.shape[axis + 1 :]), True, "bool")
    start = cummax(where(concat([first, is_new], axis), place, 0), axis)
    # The first longest run ends here, and begins with the first of equal elements.
    end = argmax(place - start, axis, True)
    begin = gather(start, axis, end)
    values, indices = gather(ordered, axis, begin), gather(order, axis, begin)
    if keepdims and shape:
        return Sorted(values, indices)
    return Sorted(values.squeeze(axis), indices.squeeze(axis))
