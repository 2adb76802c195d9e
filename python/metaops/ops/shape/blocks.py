# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors made of blocks and of products of sets, and tensors of other sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import (
    Shape,
    VarLike,
    as_integers,
    as_var,
    as_vars,
    normalised_axis,
    shown,
    whole_number,
)
from ..create.creation import meshgrid
from ..index.gathering import take
from ..sort.searching import flatnonzero
from .padding import pad
from .stacking import concat, stack

__all__ = [
    "block",
    "block_diag",
    "cartesian_prod",
    "combinations",
    "diag_embed",
    "resize",
    "trim_zeros",
    "unflatten",
]


def _depth(blocks: Any) -> int:
    if not isinstance(blocks, list):
        return 0
    depths = {_depth(part) for part in blocks}
    if len(depths) != 1:
        raise at_line(
            ValueError(f"block: given {shown(blocks)}, expected lists of one depth, not empty")
        )
    return 1 + depths.pop()


def block(blocks: VarLike | list[Any]) -> Var:
    """Return a tensor put together from nested lists of blocks.

    Those of the innermost lists lie along the last dimension, those of the lists
    around them along the one before, and so on.

    Raises
    ------
    ValueError
        If lists differ in depth or are empty, or extents do not fit.
    """
    depth = _depth(blocks)
    return _joined(blocks, depth, max(depth, _largest_rank(blocks)))


def _largest_rank(part: Any) -> int:
    return max(map(_largest_rank, part)) if isinstance(part, list) else as_var(part).ndim


def _joined(part: Any, level: int, rank: int) -> Var:
    """Return the blocks of lists, which are nested so deep, along the last dimensions of a rank."""
    if not isinstance(part, list):
        x = as_var(part)
        return +x.reshape((*[1] * (rank - x.ndim), *x.shape))
    return concat([_joined(inner, level - 1, rank) for inner in part], -level)


def block_diag(*tensors: VarLike) -> Var:
    """Return a matrix with matrices along its diagonal, else 0.

    Parameters
    ----------
    tensors
        Matrices; a vector is a row, and a number a matrix of one element.

    Raises
    ------
    ValueError
        If one has more dimensions, or none are given.
    """
    matrices = []
    for x in as_vars("block_diag", tensors):
        if x.ndim > 2:
            raise at_line(ValueError(f"block_diag: given shape {x.shape}, expected matrices"))
        matrices.append(x.reshape((*[1] * (2 - x.ndim), *x.shape)))
    if not matrices:
        raise at_line(ValueError("block_diag: no matrices are given"))
    width = sum(x.shape[1] for x in matrices)
    rows, before = [], 0
    for x in matrices:
        rows.append(pad(x, [(0, 0), (before, width - before - x.shape[1])]))
        before += x.shape[1]
    return concat(rows, 0)


def cartesian_prod(*tensors: VarLike) -> Var:
    """Return all combinations of one element of each vector, the last one changing first.

    Returns
    -------
    Var
        Shape ``(number of combinations, number of vectors)``; of one vector itself.

    Raises
    ------
    ValueError
        If one is no vector, or none are given.
    """
    vectors = as_vars("cartesian_prod", tensors)
    if not vectors or any(x.ndim != 1 for x in vectors):
        raise at_line(
            ValueError(
                f"cartesian_prod: given shapes {[x.shape for x in vectors]}, expected vectors"
            )
        )
    if len(vectors) == 1:
        return +vectors[0]
    grid = meshgrid(*vectors, indexing="ij")
    return stack([x.reshape((math.prod(x.shape),)) for x in grid], 1)


def combinations(x: VarLike, r: int = 2, with_replacement: bool = False) -> Var:
    """Return all combinations of r elements of a vector, in their order.

    Parameters
    ----------
    x
        A vector.
    r
        How many elements each has.
    with_replacement
        Whether an element may be there more than once.

    Returns
    -------
    Var
        Shape ``(number of combinations, r)``.

    Raises
    ------
    ValueError
        If x is no vector or `r` is negative, or there are more than 2**24 combinations.
    """
    x = as_var(x)
    if x.ndim != 1:
        raise at_line(ValueError(f"combinations: given shape {x.shape}, expected a vector"))
    r, n = whole_number("combinations", "r", r), x.size
    most = n + r - 1 if with_replacement else n
    least = min(r, max(most - r, 0))
    count = math.comb(most, r) if least < 64 and most >= 0 else 2**64
    if r > most >= 0:
        count = 0
    if count * max(r, 1) > 2**24:
        raise at_line(
            ValueError(f"combinations of {shown(r)} of {n} elements: more than 2**24 numbers")
        )
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = list(choose(range(n), r)) if count else []
    return take(x, np.array(chosen, np.int64).reshape((-1 if r else 0, r)), 0)


def diag_embed(x: VarLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Var:
    """Return matrices with x's last dimension on their diagonals, else 0.

    Parameters
    ----------
    x
        Any tensor with a dimension.
    offset
        The diagonal's number of columns right of the main one.
    dim1, dim2
        The dimensions of the result that are the matrices' rows and columns.

    Raises
    ------
    ValueError
        If a dimension is out of range, both are the same or x has none.
    """
    x = as_var(x)
    if x.ndim == 0:
        raise at_line(ValueError("diag_embed: given shape (), expected a dimension"))
    rank = x.ndim + 1
    row, column = normalised_axis(dim1, rank), normalised_axis(dim2, rank)
    if row == column:
        raise at_line(ValueError(f"diag_embed: dim1 and dim2 are both {dim1}"))
    (offset,) = as_integers("diag_embed", "offset", offset)
    extent = x.shape[-1] + abs(offset)
    others = [axis for axis in range(rank) if axis not in (row, column)]
    shape = [0] * rank
    shape[row] = shape[column] = extent
    for axis, n in zip(others, x.shape, strict=False):
        shape[axis] = n
    place = f"i{row}" if offset >= 0 else f"i{column}"
    # What is beyond the last element is on no diagonal.
    is_on = _core.iota(shape, column, "int64") - _core.iota(shape, row, "int64") == offset
    indexes = [*(f"i{axis}" for axis in others), place]
    zero = _core.full((), 0, x.dtype)
    return _core.select(is_on, x.reindex(shape, indexes), zero)


def resize(x: VarLike, shape: Shape) -> Var:
    """Return x's elements, repeated as often as needed, in row-major order under a shape.

    Of no elements the result is 0.

    Raises
    ------
    ValueError
        If an extent is negative.
    """
    x, extents = as_var(x), as_integers("resize", "shape", shape)
    if any(extent < 0 for extent in extents):
        raise at_line(
            ValueError(f"resize: shape is {tuple(extents)}, expected extents of 0 or more")
        )
    count = math.prod(extents)
    if x.size == 0 or count == 0:
        return _core.zeros(extents, x.dtype)
    flat = x.reshape((x.size,)).reindex((count,), (f"i0 % {x.size}",))
    return flat.reshape(extents)


def trim_zeros(x: VarLike, trim: str = "fb") -> Var:
    """Return a vector without the zeros at its ends.

    How many there are is computed at once.

    Parameters
    ----------
    x
        A vector.
    trim
        The ends: "f" for the front, "b" for the back, "fb" for both.

    Raises
    ------
    ValueError
        If x is no vector or `trim` is another.
    """
    x = as_var(x)
    if x.ndim != 1:
        raise at_line(ValueError(f"trim_zeros: given shape {x.shape}, expected a vector"))
    ends = trim.lower() if isinstance(trim, str) else trim
    if ends not in ("f", "b", "fb", "bf"):
        raise at_line(ValueError(f"trim_zeros: trim is {shown(trim)}, expected 'f', 'b' or 'fb'"))
    places = flatnonzero(x != 0)
    if places.size == 0:
        return +x[:0]
    first = int(places[0].item()) if "f" in ends else 0
    last = int(places[-1].item()) + 1 if "b" in ends else x.size
    return +x[first:last]


def unflatten(x: VarLike, dim: int, sizes: Sequence[int]) -> Var:
    """Return x with one dimension made several; one of their extents may be -1.

    Raises
    ------
    ValueError
        If `dim` is out of range or the extents do not fit.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    extents, extent = as_integers("unflatten", "sizes", sizes), x.shape[axis]
    known = math.prod(n for n in extents if n != -1)
    if extents.count(-1) == 1 and known and extent % known == 0:
        extents = [extent // known if n == -1 else n for n in extents]
    if math.prod(extents) != extent or any(n < 0 for n in extents):
        raise at_line(
            ValueError(f"unflatten: sizes are {tuple(extents)}, expected a product of {extent}")
        )
    return x.reshape((*x.shape[:axis], *extents, *x.shape[axis + 1 :]))
