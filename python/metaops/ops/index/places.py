# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of places: flat and by dimension, of grids, diagonals and triangles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_count, as_integers, as_var, shown, whole_number
from ..elementwise.elementwise import clip, floor_divide, mod, where
from ..shape.diagonals import tril_indices, triu_indices
from ..sort.searching import flatnonzero
from ._indices import as_indices, checked

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "fill_diagonal",
    "ix_",
    "ravel_multi_index",
    "tril_indices_from",
    "triu_indices_from",
    "unravel_index",
]


def _extents(what: str, shape: object) -> list[int]:
    extents = as_integers(what, "shape", shape)
    if any(extent < 0 for extent in extents):
        raise at_line(
            ValueError(f"{what}: shape is {tuple(extents)}, expected extents of 0 or more")
        )
    return extents


def unravel_index(indices: VarLike, shape: Sequence[int]) -> tuple[Var, ...]:
    """Return the index by each dimension for flat ones, in row-major order.

    Parameters
    ----------
    indices
        Integers of any shape; negative ones count from the end.
    shape
        Of the tensor that is indexed.

    Returns
    -------
    tuple of Var
        One for each dimension, int64, of the indices' shape.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    """
    extents = _extents("unravel_index", shape)
    index = as_indices(indices, "unravel_index")
    flat = checked(index, 0, math.prod(extents)).cast("int64")
    result: list[Var] = []
    for extent in reversed(extents):
        result.append(mod(flat, max(extent, 1)))
        flat = floor_divide(flat, max(extent, 1))
    return tuple(result[::-1])


def ravel_multi_index(indices: Sequence[VarLike], shape: Sequence[int], mode: str = "raise") -> Var:
    """Return the flat index for one by each dimension, in row-major order.

    Parameters
    ----------
    indices
        Integers for each dimension, which broadcast together.
    shape
        Of the tensor that is indexed.
    mode
        What becomes of an index that is out of range: "raise", "wrap" or "clip".

    Returns
    -------
    Var
        int64.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If there are not as many as dimensions, or `mode` is another.
    """
    what = "ravel_multi_index"
    extents = _extents(what, shape)
    if mode not in ("raise", "wrap", "clip"):
        raise at_line(
            ValueError(f"{what}: mode is {shown(mode)}, expected 'raise', 'wrap' or 'clip'")
        )
    given = list(indices)
    if len(given) != len(extents) or not extents:
        raise at_line(
            ValueError(f"{what}: given {len(given)} indices for the shape {tuple(extents)}")
        )
    total: Var | None = None
    for axis, (one, extent) in enumerate(zip(given, extents, strict=True)):
        index = as_indices(one, what)
        if mode == "raise":
            place = checked(index, axis, extent).cast("int64")
        else:
            place = as_var(index).cast("int64")
            last = max(extent, 1) - 1
            place = mod(place, last + 1) if mode == "wrap" else clip(place, 0, last)
        total = place if total is None else total * extent + place
    assert total is not None
    return total


def ix_(*indices: VarLike) -> tuple[Var, ...]:
    """Return indices of the grid that vectors span: ``x[ix_(rows, columns)]``.

    Parameters
    ----------
    indices
        Vectors of integers; or of booleans, for the places where they hold.

    Returns
    -------
    tuple of Var
        Vector k, along dimension k.

    Raises
    ------
    ValueError
        If one is no vector.
    """
    result = []
    for axis, given in enumerate(indices):
        index = as_var(given)
        if index.ndim != 1:
            raise at_line(ValueError(f"ix_: given shape {index.shape}, expected vectors"))
        if index.dtype == "bool":
            index = flatnonzero(index)
        elif "int" not in index.dtype:
            kind = index.dtype if index.size else "int64"
            index = as_var(as_indices(index, "ix_")) if index.size else index.cast(kind)
        shape = [1] * len(indices)
        shape[axis] = index.size
        result.append(index.reshape(shape))
    return tuple(result)


def diag_indices(n: int, ndim: int = 2) -> tuple[Var, ...]:
    """Return the indices of the main diagonal, by each of `ndim` dimensions of extent n."""
    n = whole_number("diag_indices", "n", n)
    return tuple(_core.iota((n,), 0, "int64") for _ in range(as_count("diag_indices: ndim", ndim)))


def diag_indices_from(x: VarLike) -> tuple[Var, ...]:
    """Return `diag_indices` of a tensor with at least two dimensions of one extent.

    Raises
    ------
    ValueError
        If x has another shape.
    """
    shape = as_var(x).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise at_line(
            ValueError(
                f"diag_indices_from: given shape {shape}, expected two or more dimensions of one"
                " extent"
            )
        )
    return diag_indices(shape[0], len(shape))


def _matrix_extents(what: str, x: VarLike) -> tuple[int, int]:
    shape = as_var(x).shape
    if len(shape) != 2:
        raise at_line(ValueError(f"{what}: given shape {shape}, expected a matrix"))
    return shape[0], shape[1]


def tril_indices_from(x: VarLike, offset: int = 0) -> list[Var]:
    """Return rows and columns of the lower triangle of a matrix, see `tril_indices`."""
    n, m = _matrix_extents("tril_indices_from", x)
    return tril_indices(n, offset, m)


def triu_indices_from(x: VarLike, offset: int = 0) -> list[Var]:
    """Return rows and columns of the upper triangle of a matrix, see `triu_indices`."""
    n, m = _matrix_extents("triu_indices_from", x)
    return triu_indices(n, offset, m)


def fill_diagonal(x: VarLike, values: VarLike, wrap: bool = False) -> Var:
    """Return x with other values on its main diagonal.

    NumPy's function changes its argument; tensors are values here, so the result is
    another one, and x stays.

    Parameters
    ----------
    x
        A matrix, or more dimensions of one extent.
    values
        Repeated along the diagonal, if they are fewer.
    wrap
        Whether the diagonal of a tall matrix begins again one row below its end.

    Raises
    ------
    ValueError
        If x has another shape, or there are no values.
    """
    x, values = as_var(x), as_var(values)
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise at_line(
            ValueError(
                f"fill_diagonal: given shape {x.shape}, expected a matrix or more dimensions of"
                " one extent"
            )
        )
    if values.size == 0:
        raise at_line(ValueError("fill_diagonal: no values are given"))
    row, *others = (_core.iota(x.shape, axis, "int64") for axis in range(x.ndim))
    # Where the diagonal begins again, its next value goes on.
    turn = x.shape[1] + 1
    column = mod(row, turn) if wrap and x.ndim == 2 else row
    is_on = others[0] == column
    for other in others[1:]:
        is_on = is_on & (other == row)
    number = row - floor_divide(row, turn) if wrap and x.ndim == 2 else row
    flat = values.reshape((-1,)).cast(x.dtype)
    filled = flat if flat.size == 1 else flat.take(mod(number, flat.size), 0)
    return where(is_on, filled, x)
