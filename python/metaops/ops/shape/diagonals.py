# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagonals of matrices, what is below or above them, and matrices made of these.

`offset` counts diagonals: 0 is the main one, positive ones are above it.
"""

from __future__ import annotations

import numpy as np

from ... import _core
from ..._core import Var
from ..._defaults import float_type
from ..._devices import makes_arrays, on_device
from ..._errors import at_line
from ..._typing import DType, VarLike, as_integer, as_var, normalised_axes, normalised_axis
from ..elementwise.elementwise import where
from ..index._indices import along

__all__ = [
    "diag",
    "diagflat",
    "diagonal",
    "eye",
    "identity",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
]


def _columns_less_rows(rows: int, columns: int) -> Var:
    """Return on which diagonal each element of a matrix is."""
    # Narrow numbers: more of them fit a vector.
    dtype = "int32" if max(rows, columns) < 2**30 else "int64"
    shape = (rows, columns)
    return _core.iota(shape, 1, dtype) - _core.iota(shape, 0, dtype)


def _within(what: str, offset: int, rows: int, columns: int) -> int:
    """Return the offset, moved to just beyond the matrix where it is far beyond."""
    return min(max(as_integer(what, "offset", offset), -rows), columns)


def _matrices(what: str, x: VarLike) -> Var:
    x = as_var(x)
    if x.ndim < 2:
        raise at_line(ValueError(f"{what}: given shape {x.shape}, expected 2 dimensions or more"))
    return x


def tril(x: VarLike, offset: int = 0) -> Var:
    """Return x with zeros above a diagonal of its last two dimensions.

    Raises
    ------
    ValueError
        If x has fewer than two dimensions.
    """
    x = _matrices("tril", x)
    rows, columns = x.shape[-2:]
    is_kept = _columns_less_rows(rows, columns) <= _within("tril", offset, rows, columns)
    return where(is_kept, x, _core.full((), 0, x.dtype))


def triu(x: VarLike, offset: int = 0) -> Var:
    """Return x with zeros below a diagonal of its last two dimensions.

    Raises
    ------
    ValueError
        If x has fewer than two dimensions.
    """
    x = _matrices("triu", x)
    rows, columns = x.shape[-2:]
    is_kept = _columns_less_rows(rows, columns) >= _within("triu", offset, rows, columns)
    return where(is_kept, x, _core.full((), 0, x.dtype))


@makes_arrays
def tri(
    n: int,
    m: int | None = None,
    offset: int = 0,
    dtype: DType | None = None,
    *,
    device: str | None = None,
) -> Var:
    """Return an n x m matrix of ones at and below a diagonal, and zeros above it.

    `m` is `n` if not given.
    """
    m = n if m is None else m
    below = _columns_less_rows(_extent("tri", n), _extent("tri", m))
    return (below <= _within("tri", offset, n, m)).cast(float_type(dtype))


def _extent(what: str, n: int) -> int:
    n = as_integer(what, "an extent", n)
    if not 0 <= n < 2**60:
        raise at_line(ValueError(f"{what}: an extent is {n}, expected 0 or more, below 2**60"))
    return n


def _indices_of(what: str, n: int, m: int | None, offset: int, is_lower: bool) -> list[Var]:
    rows = _extent(what, n)
    columns = rows if m is None else _extent(what, m)
    offset = _within(what, offset, rows, columns)
    # Beyond this the indices alone would not fit the memory of a host.
    if rows * columns >= 2**40:
        raise at_line(ValueError(f"{what}: a matrix of {rows} x {columns} has too many elements"))
    # Number of elements of each row, and their beginning.
    row = np.arange(rows, dtype=np.int64)
    begin = np.zeros_like(row) if is_lower else np.clip(row + offset, 0, columns)
    end = np.clip(row + offset + 1, 0, columns) if is_lower else np.full_like(row, columns)
    counts = end - begin
    first = np.repeat(begin - np.cumsum(counts) + counts, counts)
    return [as_var(np.repeat(row, counts)), as_var(first + np.arange(counts.sum()))]


@makes_arrays
def tril_indices(
    n: int, offset: int = 0, m: int | None = None, *, device: str | None = None
) -> list[Var]:
    """Return the rows and the columns of what is at and below a diagonal.

    ``x[tuple(tril_indices(n))]`` are these elements of an n x n matrix x, row by row; `m`
    is the number of columns if it is another.
    """
    return _indices_of("tril_indices", n, m, offset, is_lower=True)


@makes_arrays
def triu_indices(
    n: int, offset: int = 0, m: int | None = None, *, device: str | None = None
) -> list[Var]:
    """Return the rows and the columns of what is at and above a diagonal.

    ``x[tuple(triu_indices(n))]`` are these elements of an n x n matrix x, row by row; `m`
    is the number of columns if it is another.
    """
    return _indices_of("triu_indices", n, m, offset, is_lower=False)


def eye(
    n: int,
    m: int | None = None,
    offset: int = 0,
    dtype: DType | None = None,
    *,
    device: str | None = None,
) -> Var:
    """Return an n x m matrix of ones on a diagonal, and zeros elsewhere, of `default_dtype`.

    `m` is `n` if not given. `device` is as in `full`.
    """
    if device is not None:
        return on_device(device, lambda: eye(n, m, offset, dtype))
    m = n if m is None else m
    place = _columns_less_rows(_extent("eye", n), _extent("eye", m))
    result = place == _within("eye", offset, n, m)
    return result.cast(float_type(dtype))


identity = eye


def diagonal(x: VarLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Var:
    """Return a diagonal of matrices, as the last dimension.

    Parameters
    ----------
    x
        At least two dimensions.
    offset
        Which one.
    dim1, dim2
        The dimensions of the matrices' rows and columns, which go.

    Raises
    ------
    ValueError
        If the dimensions are the same or out of range.
    """
    x = _matrices("diagonal", x)
    rows, columns = normalised_axis(dim1, x.ndim), normalised_axis(dim2, x.ndim)
    normalised_axes((rows, columns), x.ndim)
    offset = _within("diagonal", offset, x.shape[rows], x.shape[columns])
    down, right = max(-offset, 0), max(offset, 0)
    count = max(min(x.shape[rows] - down, x.shape[columns] - right), 0)
    # Where a part begins is an operand: other offsets compile nothing.
    x = x[along(rows, slice(down, down + count))][along(columns, slice(right, right + count))]
    others = [axis for axis in range(x.ndim) if axis not in (rows, columns)]
    places = {axis: f"i{k}" for k, axis in enumerate(others)}
    places[rows] = places[columns] = f"i{len(others)}"
    shape = [*(x.shape[axis] for axis in others), count]
    return x.reindex(shape, [places[axis] for axis in range(x.ndim)])


def trace(x: VarLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Var:
    """Return the sum of a diagonal of matrices; see `diagonal`.

    Raises
    ------
    ValueError
        If the dimensions are the same or out of range.
    """
    return diagonal(x, offset, dim1, dim2).sum(-1)


def diag(x: VarLike, offset: int = 0) -> Var:
    """Return a diagonal of a matrix, or a matrix with a diagonal of a vector and zeros.

    Raises
    ------
    ValueError
        If x has neither one dimension nor two.
    """
    x = as_var(x)
    if x.ndim == 2:
        return diagonal(x, offset)
    if x.ndim != 1:
        raise at_line(ValueError(f"diag: given shape {x.shape}, expected 1 or 2 dimensions"))
    offset = as_integer("diag", "offset", offset)
    extent = x.shape[0] + abs(offset)
    _extent("diag", extent)
    row, column = ("i0", "i1") if offset >= 0 else ("i1", "i0")
    return x.reindex((extent, extent), (row,), 0, [f"{column} - {row} != {abs(offset)}"])


def diagflat(x: VarLike, offset: int = 0) -> Var:
    """Return a matrix with x, flattened, on a diagonal, and zeros elsewhere."""
    return diag(as_var(x).reshape((-1,)), offset)
