# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Equations with triangular matrices."""

from __future__ import annotations

from .. import _core
from .._core import Var, matmul
from .._errors import at_line
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.shape.diagonals import tril, triu
from ._matrices import (
    as_matrices,
    as_square,
    broadcast_fronts,
    call,
    check_codes,
    held_back,
    rounded_like,
)

__all__ = ["cholesky_solve", "solve_triangular"]

_REASON = "is singular: element {info} of its diagonal is 0"


def solve_triangular(
    a: VarLike,
    b: VarLike,
    *,
    upper: bool = False,
    left: bool = True,
    unitriangular: bool = False,
    check: bool = True,
) -> Var:
    """Return the solutions x of a x = b, or of x a = b, by triangles of matrices.

    Parameters
    ----------
    a : tensor, (..., n, n)
        Of which one triangle is read.
    b : tensor, (..., n, k), or (..., k, n) if not `left`
        The dimensions in front are broadcast.
    upper : bool
        Whether the upper triangle is read, instead of the lower one.
    left : bool
        Whether the matrices stand to the left of the solutions.
    unitriangular : bool
        Whether the diagonals count as ones, and are not read.
    check : bool
        Whether a 0 in a diagonal is an error, rather than NaN.

    Returns
    -------
    Var
        Of the shape of `b`, broadcast, and the common type.

    Raises
    ------
    ValueError
        If matrices are not square, or sizes do not go together.
    numpy.linalg.LinAlgError
        Where values are asked for: if a diagonal has a 0.
    """
    (x, y), dtype = as_matrices(a, b)
    as_square("solve_triangular", x)
    if not left:
        x, y, upper = x.mT, y.mT, not upper
    if y.ndim < 2 or y.shape[-2] != x.shape[-1]:
        raise at_line(
            ValueError(
                f"solve_triangular: matrices of shape {x.shape} and right-hand sides of shape "
                f"{y.shape}, expected as many rows of these"
            )
        )
    x, y = broadcast_fronts("solve_triangular", x, y)
    solutions = _solve(x, y, bool(upper), False, bool(unitriangular), check)
    return rounded_like(solutions if left else solutions.mT, dtype)


def cholesky_solve(b: VarLike, factor: VarLike, *, upper: bool = False) -> Var:
    """Return the solutions x of a x = b, by the factors that `cholesky` gives of `a`.

    Parameters
    ----------
    b : tensor, (..., n, k)
        The dimensions in front are broadcast.
    factor : tensor, (..., n, n)
        Lower triangles, or upper ones if `upper`.
    upper : bool
        As for `cholesky`.

    Returns
    -------
    Var
        Of the shape of `b`, broadcast, and the common type.
    """
    lower = factor if not upper else _core.array(factor).mT
    inner = solve_triangular(lower, b)
    return solve_triangular(_core.array(lower).mT, inner, upper=True)


def solve_lower(a: Var, b: Var, *, transposed: bool = False) -> Var:
    """Return solutions by lower triangles of one shape, which have no 0 in a diagonal."""
    return _solve(a, b, False, transposed, False, check=None)


def _solve(a: Var, b: Var, upper: bool, transposed: bool, unit: bool, check: bool | None) -> Var:
    """Solve, and check the diagonals: NaN for a singular one if False, not at all if None."""
    parameters = {"lower": not upper, "transposed": transposed, "unit": unit}
    outputs = [(b.shape, str(b.dtype)), (b.shape[:-2], "int64")]
    solutions, info = call(
        "triangular_solve",
        [a, b],
        outputs,
        ["a", "b", "solutions", "info"],
        parameters,
        over=[1, -1],
    )
    if check:
        (solutions,) = held_back([solutions], check_codes("solve_triangular", info, _REASON))
    elif check is not None:
        solutions = where((info > 0)[..., None, None], float("nan"), solutions)
    solved: Var = _Solved(upper, transposed, unit)(a, b, _core.stop_grad(solutions))
    return solved


class _Solved(Function):
    """Solutions that are there, with their derivatives by the triangle and the right."""

    def __init__(self, upper: bool, transposed: bool, unit: bool) -> None:
        self.form = upper, transposed, unit

    def execute(self, a: Var, b: Var, solutions: Var) -> Var:
        """Return the solutions."""
        self.given = a, b, solutions
        return solutions

    def _solve(self, b: Var, *, other: bool = False) -> Var:
        upper, transposed, unit = self.form
        return _solve(self.given[0], b, upper, transposed != other, unit, check=None)

    def _take(self, x: Var) -> Var:
        """Return the part of a matrix that is read."""
        upper, _, unit = self.form
        return triu(x, int(unit)) if upper else tril(x, -int(unit))

    def grad(self, gradient: Var) -> tuple[Var, Var, None]:
        """Return the gradients by the matrix and the right."""
        solutions = _Solved(*self.form)(*self.given)
        by_right = self._solve(gradient, other=True)
        outer = matmul(by_right, solutions.mT)
        return -self._take(outer.mT if self.form[1] else outer), by_right, None

    def jvp(self, matrix: Var | None, right: Var | None, _: None) -> Var:
        """Return how the solutions move."""
        solutions = _Solved(*self.form)(*self.given)
        moved = right
        if matrix is not None:
            part = self._take(matrix)
            change = matmul(part.mT if self.form[1] else part, solutions)
            moved = -change if moved is None else moved - change
        assert moved is not None, "a tangent is there"
        return self._solve(moved)
