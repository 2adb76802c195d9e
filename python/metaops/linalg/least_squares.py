# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generalised inverses, least squares, and what depends on the rank of matrices."""

from __future__ import annotations

import math
from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from .._errors import at_line
from .._typing import VarLike, as_number, shown
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ._gaps import largest
from ._matrices import as_matrices, as_matrix, broadcast_fronts, rounded_like, rounding_of
from .singular import decomposed, values_of

__all__ = ["LstsqResult", "lstsq", "matrix_rank", "pinv"]


class LstsqResult(NamedTuple):
    """Solutions, sums of squares of what they leave, ranks, and singular values."""

    solution: Var
    residuals: Var
    rank: Var
    singular_values: Var


def pinv(a: VarLike, rtol: float | None = None, *, check: bool = True) -> Var:
    """Return the generalised inverses of Moore and Penrose.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices. Derivatives are those of matrices of the same rank.
    rtol : float, optional
        Singular values of at most so much of the largest count as 0; by default the
        rounding error of the type, float32 for halves, times the larger of m and n.
    check : bool
        Whether NaN or an infinity is an error, rather than NaN.

    Returns
    -------
    Var, (..., n, m)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, or `rtol` is negative.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.

    References
    ----------
    G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    squares problems whose variables separate", 1973.
    """
    (x,), dtype = as_matrices(a)
    as_matrix("pinv", x)
    least = _tolerance("pinv", "rtol", rtol, x)
    return rounded_like(_inverted(x, decomposed("pinv", x, False, check), least), dtype)


def lstsq(a: VarLike, b: VarLike, rcond: float | None = None, *, check: bool = True) -> LstsqResult:
    """Return the shortest solutions x for which the squares of a x - b are the least.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices. Derivatives are those of matrices of the same rank.
    b : tensor, (m,) or (..., m, k)
        The right-hand sides. A vector is one for all matrices; the dimensions in front of
        matrices are broadcast.
    rcond : float, optional
        As `rtol` of `pinv`.
    check : bool
        Whether NaN or an infinity among the matrices is an error, rather than NaN.

    Returns
    -------
    LstsqResult of four Vars
        Solutions (n,) or (..., n, k); for each column the sum of squares that is left,
        whatever the rank; ranks, int64; singular values.

    Raises
    ------
    ValueError
        If sizes do not go together, or `rcond` is negative.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.

    Examples
    --------
    >>> mo.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]).solution
    Var([1., 2.], dtype=float32)
    """
    (x, y), dtype = as_matrices(a, b)
    as_matrix("lstsq", x)
    is_vector = y.ndim == 1
    columns = y[:, None] if is_vector else y
    if columns.ndim < 2 or columns.shape[-2] != x.shape[-2]:
        raise at_line(
            ValueError(
                f"lstsq: matrices of shape {x.shape} and right-hand sides of shape {y.shape}, "
                "expected as many rows of these"
            )
        )
    least = _tolerance("lstsq", "rcond", rcond, x)
    factors = decomposed("lstsq", x, False, check)
    inverse = _inverted(x, factors, least)
    inverses, wide = broadcast_fronts("lstsq", inverse, columns)
    solution = matmul(inverses, wide)
    rest = matmul(x, solution) - columns
    residuals = (rest * rest).sum(dim=-2)
    if is_vector:
        solution, residuals = solution[..., 0], residuals[..., 0]
    made = (rounded_like(each, dtype) for each in (solution, residuals, factors[1]))
    solution, residuals, values = made
    return LstsqResult(solution, residuals, _rank(factors[1], least), values)


def matrix_rank(
    a: VarLike, tol: float | None = None, *, rtol: float | None = None, check: bool = True
) -> Var:
    """Return how many singular values of matrices are not 0.

    Parameters
    ----------
    a : tensor, (..., m, n)
    tol : float, optional
        Values of at most so much count as 0.
    rtol : float, optional
        The same relative to the largest value, as for `pinv`; not beside `tol`.
    check : bool
        Whether NaN or an infinity is an error, rather than rank 0.

    Returns
    -------
    Var of int64, (...)

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, a tolerance is negative, or both are given.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.
    """
    (x,), _ = as_matrices(a)
    as_matrix("matrix_rank", x)
    if tol is not None and rtol is not None:
        raise at_line(ValueError("matrix_rank: tol and rtol are both given, expected one"))
    values = values_of("matrix_rank", x, check)
    if tol is None:
        return _rank(values, _tolerance("matrix_rank", "rtol", rtol, x))
    return (values > _tolerance("matrix_rank", "tol", tol, x)).astype("int64").sum(dim=-1)


def _tolerance(what: str, name: str, given: float | None, x: Var) -> float:
    if given is None:
        return rounding_of(x, max(x.shape[-2:]))
    number = as_number(what, name, given)
    if not number >= 0 or number == math.inf:
        raise at_line(ValueError(f"{what}: {name} is {shown(given)}, expected 0 or more"))
    return float(number)


def _rank(values: Var, least: float) -> Var:
    return (values > largest(values, [-1]) * least).astype("int64").sum(dim=-1)


def _inverted(x: Var, factors: tuple[Var, Var, Var], least: float) -> Var:
    """Return inverses by singular values and vectors, with derivatives by the matrix."""
    u, s, vh = (_core.stop_grad(each) for each in factors)
    is_none = s <= largest(s, [-1]) * least
    inverses = where(is_none, 0, 1 / where(is_none, 1, s))
    inverse: Var = _Inverse.apply(x, matmul(vh.mT * inverses[..., None, :], u.mT))
    return inverse


class _Inverse(Function):
    """A generalised inverse that is there, with its derivatives by the matrix."""

    def execute(self, a: Var, inverse: Var) -> Var:
        """Return the inverse."""
        self.given = a, inverse
        return inverse

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the matrix."""
        a, inverse = self.given[0], _Inverse.apply(*self.given)
        rows = self._multiply(gradient.mT, inverse, inverse.mT)
        rows = rows - matmul(a, matmul(inverse, rows))
        columns = self._multiply(inverse.mT, inverse, gradient.mT)
        columns = columns - matmul(matmul(columns, inverse), a)
        within = matmul(matmul(inverse.mT, gradient), inverse.mT)
        return rows + columns - within, None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the inverse moves with the matrix."""
        a, inverse = self.given[0], _Inverse.apply(*self.given)
        rows = self._multiply(inverse, inverse.mT, tangent.mT)
        rows = rows - matmul(matmul(rows, a), inverse)
        columns = self._multiply(tangent.mT, inverse.mT, inverse)
        columns = columns - matmul(inverse, matmul(a, columns))
        return rows + columns - matmul(matmul(inverse, tangent), inverse)

    @staticmethod
    def _multiply(a: Var, b: Var, c: Var) -> Var:
        """Return the product of three matrices by way of the smaller one between them."""
        if a.shape[-2] * b.shape[-1] <= b.shape[-2] * c.shape[-1]:
            return matmul(matmul(a, b), c)
        return matmul(a, matmul(b, c))
