# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triangular factors of any matrices, whose rows are exchanged."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.index.gathering import take_along_axis
from ..ops.shape.diagonals import tril, triu
from ..ops.shape.stacking import concat
from ._matrices import as_matrices, as_matrix, call, rounded_like
from .triangles import solve_lower

__all__ = ["LUResult", "lu"]


class LUResult(NamedTuple):
    """Permutations, and lower and upper triangles."""

    P: Var
    L: Var
    U: Var


def lu(a: VarLike) -> LUResult:
    """Return permutations P, lower triangles L and upper ones U with a = P L U.

    The rows are those of elimination with partial pivoting.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices. Where the first min(m, n) columns depend on each other, derivatives are
        not finite.

    Returns
    -------
    LUResult of three Vars, (..., m, m), (..., m, k) and (..., k, n) with k = min(m, n)
        Of the type of `a`, float32 or float64; integers become the default float. The
        diagonal of L is 1.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.

    References
    ----------
    M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
    differentiation", 2008.

    Examples
    --------
    >>> mo.linalg.lu([[1.0, 2.0], [2.0, 2.0]]).U
    Var([[2., 2.],
         [0., 1.]], dtype=float32)
    """
    (x,), dtype = as_matrices(a)
    *front, rows, columns = as_matrix("lu", x).shape
    rank = min(rows, columns)
    outputs = [((*front, rows, rank), str(x.dtype)), ((*front, rank, columns), str(x.dtype))]
    outputs.append(((*front, rows), "int64"))
    lower, upper, order = call("plu", [x], outputs, ["a", "lower", "upper", "rows"])
    lower, upper = _core.stop_grad(lower), _core.stop_grad(upper)
    lower, upper = _Factors.apply(take_along_axis(x, order[..., None], -2), lower, upper)
    is_there = order[..., None, :] == _core.iota((rows, 1), 0, "int64")
    permutation = is_there.astype(x.dtype)
    return LUResult(*(rounded_like(each, dtype) for each in (permutation, lower, upper)))


class _Factors(Function):
    """Factors that are there, with derivatives by the matrix, whose rows have been exchanged.

    The first k rows and columns are a product of square triangles; what is below these, or
    beside, follows from one of them.
    """

    def execute(self, a: Var, lower: Var, upper: Var) -> tuple[Var, Var]:
        """Return the factors."""
        self.given = a, lower, upper
        return lower, upper

    def _find(self) -> tuple[Var, Var, Var, Var]:
        """Return the squares of both factors, and their rests."""
        lower, upper = _Factors.apply(*self.given)
        rank = lower.shape[-1]
        square, beside = upper[..., :rank], upper[..., rank:]
        return lower[..., :rank, :], lower[..., rank:, :], square, beside

    def grad(self, by_lower: Var | None, by_upper: Var | None) -> tuple[Var, None, None]:
        """Return the gradient by the matrix."""
        lower, below, upper, beside = self._find()
        rank = lower.shape[-1]
        by_lower = self.given[1] * 0 if by_lower is None else by_lower
        by_upper = self.given[2] * 0 if by_upper is None else by_upper
        first, rest = by_lower[..., :rank, :], by_lower[..., rank:, :]
        left = matmul(lower.mT, first) - matmul(by_upper[..., rank:], beside.mT)
        right = matmul(by_upper[..., :rank], upper.mT) - matmul(below.mT, rest)
        inner = tril(left, -1) + triu(right)
        # The transposed inverse of the lower square, and of the upper one.
        by_rows = concat([_over_upper(upper, inner, transposed=True), by_upper[..., rank:]], -1)
        by_first = solve_lower(lower, by_rows, transposed=True)
        by_below = _over_upper(upper, rest, transposed=True)
        return concat([by_first, by_below], -2) if rest.shape[-2] else by_first, None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, Var]:
        """Return how the factors move with the matrix."""
        lower, below, upper, beside = self._find()
        rank = lower.shape[-1]
        rows = solve_lower(lower, tangent[..., :rank, :])
        inner = _over_upper(upper, rows[..., :rank])
        by_lower, by_upper = matmul(lower, tril(inner, -1)), matmul(triu(inner), upper)
        by_beside = rows[..., rank:] - matmul(tril(inner, -1), beside)
        by_below = _over_upper(upper, tangent[..., rank:, :rank] - matmul(below, by_upper))
        return concat([by_lower, by_below], -2), concat([by_upper, by_beside], -1)


def _over_upper(upper: Var, x: Var, *, transposed: bool = False) -> Var:
    """Return x times the inverse of an upper triangle, or the transposed of that."""
    return solve_lower(upper.mT, x.mT, transposed=transposed).mT
