# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of symmetric matrices."""

from __future__ import annotations

from .. import _core
from .._core import Var, matmul
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.shape.diagonals import tril
from ._matrices import as_matrices, as_square, call, check_codes, held_back, rounded_like
from .triangles import solve_lower

__all__ = ["cholesky", "cholesky_ex"]

_REASON = "is not positive definite: its minor {info} is not positive"


def cholesky(a: VarLike, *, upper: bool = False, check: bool = True) -> Var:
    """Return the triangular factors of positive definite matrices.

    Parameters
    ----------
    a : tensor, (..., n, n)
        Symmetric matrices, of which the lower triangles are read; the upper ones if `upper`.
    upper : bool
        Whether the factor is the upper triangle U of U^T U, instead of L of L L^T.
    check : bool
        Whether a matrix that is not positive definite is an error, rather than NaN.

    Returns
    -------
    Var, (..., n, n)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if a matrix is not positive definite.

    Examples
    --------
    >>> mo.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    Var([[2., 0.],
         [1., 2.]], dtype=float32)
    """
    return _factor("cholesky", a, upper, check)[0]


def cholesky_ex(a: VarLike, *, upper: bool = False) -> tuple[Var, Var]:
    """Return the factors of `cholesky`, and what is wrong with each matrix.

    The second tensor, int64 and of shape (...), is 0 for a matrix that is positive definite,
    else the number of its first minor that is not positive, from 1 on. The factor is NaN then.
    """
    return _factor("cholesky_ex", a, upper, check=False)


def _factor(what: str, a: VarLike, upper: bool, check: bool) -> tuple[Var, Var]:
    (x,), dtype = as_matrices(a)
    as_square(what, x)
    lower = x.mT if upper else x
    outputs = [(x.shape, str(x.dtype)), (x.shape[:-2], "int64")]
    factor, info = call("cholesky", [lower], outputs, ["a", "factor", "info"], over=[0, -1])
    if check:
        (factor,) = held_back([factor], check_codes(what, info, _REASON))
    else:
        factor = _core.stop_grad(where((info > 0)[..., None, None], float("nan"), factor))
    factor = rounded_like(_Cholesky.apply(lower, factor), dtype)
    return (factor.mT if upper else factor), info


class _Cholesky(Function):
    """A factor that is there, with its derivatives by the matrix.

    S. P. Smith, Differentiation of the Cholesky algorithm, 1995; in the form of I. Murray,
    2016. Of a symmetric matrix, the gradient is symmetric.
    """

    def execute(self, a: Var, factor: Var) -> Var:
        """Return the factor."""
        self.given = a, factor
        return factor

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the matrix."""
        factor = _Cholesky.apply(*self.given)
        inner = _halve(matmul(factor.mT, gradient))
        outer = solve_lower(factor, solve_lower(factor, inner, transposed=True).mT, transposed=True)
        return (outer + outer.mT) * 0.5, None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the factor moves with the matrix."""
        factor = _Cholesky.apply(*self.given)
        moved = (tangent + tangent.mT) * 0.5
        inner = solve_lower(factor, solve_lower(factor, moved).mT)
        return matmul(factor, _halve(inner))


def _halve(x: Var) -> Var:
    """Return the lower triangles, with half of the diagonals."""
    return (tril(x) + tril(x, -1)) * 0.5
