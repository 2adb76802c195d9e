# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products, derived from meta-operators."""

from __future__ import annotations

from ._core import Var
from ._errors import at_line
from ._typing import VarLike, as_var

__all__ = ["matmul"]


def _broadcast_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which both broadcast.

    Raises
    ------
    ValueError
        If there is none.
    """
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    for m, n in zip(a, b, strict=True):
        if m != n and 1 not in (m, n):
            raise ValueError(f"shapes {a} and {b} do not broadcast")
    return tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))


def matmul(a: VarLike, b: VarLike) -> Var:
    """Return the matrix product of a and b.

    It is a product of two broadcasts summed over the inner dimension; nothing
    of the broadcasts' size exists in memory.

    Parameters
    ----------
    a
        Shape ``(..., n, m)``, or ``(m,)`` for a row.
    b
        Shape ``(..., m, k)``, or ``(m,)`` for a column.

    Returns
    -------
    Var
        Shape ``(..., n, k)`` where the leading dimensions broadcast; the
        dimension that a vector lacks is absent. The dtype is that of a * b.

    Raises
    ------
    ValueError
        If an operand is 0-d, the inner extents differ, or the leading
        dimensions do not broadcast.
    """
    a, b = as_var(a), as_var(b)
    if a.ndim == 0 or b.ndim == 0:
        raise at_line(
            ValueError(f"matmul: shapes {a.shape} and {b.shape}, expected at least one dimension")
        )
    if a.ndim == 1 and b.ndim == 1:
        _check_inner(a, b, a.shape[0], b.shape[0])
        return _inner_sum(a * b, 0)
    if a.ndim == 1:
        _check_inner(a, b, a.shape[0], b.shape[-2])
        return _inner_sum(a.reshape(a.shape[0], 1) * b, -2)
    if b.ndim == 1:
        _check_inner(a, b, a.shape[-1], b.shape[0])
        return _inner_sum(a * b, -1)
    _check_inner(a, b, a.shape[-1], b.shape[-2])
    (n, m), k = a.shape[-2:], b.shape[-1]
    try:
        batch = _broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        raise at_line(
            ValueError(f"matmul of shapes {a.shape} and {b.shape}: leading {error}")
        ) from None
    shape = (*batch, n, m, k)
    return _inner_sum(a.broadcast(shape, (-1,)) * b.broadcast(shape, (-3,)), -2)


def _inner_sum(products: Var, dim: int) -> Var:
    """Return the sum along a dimension in the products' dtype, integers too."""
    result = products.sum(dim)
    return result if result.dtype == products.dtype else result.cast(products.dtype)


def _check_inner(a: Var, b: Var, inner_a: int, inner_b: int) -> None:
    if inner_a != inner_b:
        raise at_line(
            ValueError(
                f"matmul of shapes {a.shape} and {b.shape}: the inner extents"
                f" {inner_a} and {inner_b} differ"
            )
        )
