# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of square matrices by partial pivoting, and equations by them."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from ..func.derivatives import Function
from ..ops.shape.diagonals import eye
from ..ops.shape.shaping import broadcast_to
from ._matrices import call

__all__ = ["Factors", "factor_lu", "identities_like", "solve_rows"]


class Factors(NamedTuple):
    """A matrix with the factors of its transposed, which have no derivatives."""

    a: Var
    factors: Var
    pivots: Var
    info: Var


def factor_lu(a: Var) -> Factors:
    outputs = [(a.shape, str(a.dtype)), (a.shape[:-1], "int64"), (a.shape[:-2], "int64")]
    roles = ["a", "factors", "pivots", "info"]
    factors, pivots, info = call("lu", [a], outputs, roles, over=[0, -1, -1])
    return Factors(a, _core.stop_grad(factors), pivots, info)


class _Solved(Function):
    """Solutions by factors that are there, with derivatives by the matrix and the right.

    The right-hand sides and the solutions are rows. Nothing is factored for derivatives.
    """

    def __init__(self, transposed: bool) -> None:
        self.transposed = transposed

    def execute(self, a: Var, rows: Var, factors: Var, pivots: Var, solutions: Var) -> Var:
        """Return the solutions."""
        self.given = a, rows, factors, pivots, solutions
        return solutions

    def _solve(self, rows: Var, *, other: bool = False) -> Var:
        a, _, factors, pivots, _ = self.given
        return solve_rows(a, rows, factors, pivots, self.transposed != other)

    def grad(self, gradient: Var) -> tuple[Var, Var, None, None, None]:
        """Return the gradients by the matrix and the right."""
        solutions = _Solved(self.transposed)(*self.given)
        by_right = self._solve(gradient, other=True)
        left, right = (solutions, by_right) if self.transposed else (by_right, solutions)
        return -matmul(left.mT, right), by_right, None, None, None

    def jvp(self, matrix: Var | None, rows: Var | None, *_: None) -> Var:
        """Return how the solutions move."""
        solutions = _Solved(self.transposed)(*self.given)
        moved = rows
        if matrix is not None:
            change = matmul(solutions, matrix if self.transposed else matrix.mT)
            moved = -change if moved is None else moved - change
        assert moved is not None, "a tangent is there"
        return self._solve(moved)


def solve_rows(a: Var, rows: Var, factors: Var, pivots: Var, transposed: bool = False) -> Var:
    """Return x of a x = b, or of the transposed, for each row b."""
    (solutions,) = call(
        "lu_solve",
        [factors, pivots, rows],
        [(rows.shape, str(rows.dtype))],
        ["factors", "pivots", "rows", "solutions"],
        {"transposed": transposed},
        over=[2],
    )
    given = a, rows, factors, pivots, _core.stop_grad(solutions)
    solved: Var = _Solved(transposed)(*given)
    return solved


def identities_like(a: Var) -> Var:
    """Return identity matrices in the shape of others."""
    return broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape)
