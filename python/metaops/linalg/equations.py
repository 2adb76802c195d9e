# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear equations and inverses."""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._typing import VarLike
from ..ops.elementwise.elementwise import where
from ..ops.shape.shaping import broadcast_to
from ._lu import Factors, factor_lu, identities_like, solve_rows
from ._matrices import (
    as_matrices,
    as_square,
    broadcast_fronts,
    check_codes,
    held_back,
    rounded_like,
)

__all__ = ["inv", "inv_ex", "solve", "solve_ex"]

_REASON = "is singular: pivot {info} is 0"


def _checked(what: str, made: Factors, check: bool) -> Factors:
    """Return factors of matrices that are not singular; NaN, or an error, for others."""
    if not check:
        is_wrong = (made.info > 0)[..., None, None]
        return made._replace(factors=where(is_wrong, float("nan"), made.factors))
    held = held_back([made.factors, made.pivots], check_codes(what, made.info, _REASON))
    return made._replace(factors=held[0], pivots=held[1])


def solve(a: VarLike, b: VarLike, *, check: bool = True) -> Var:
    """Return the solutions x of a x = b.

    Parameters
    ----------
    a : tensor, (..., n, n)
        The matrices.
    b : tensor, (n,) or (..., n, k)
        The right-hand sides. A vector is one for all matrices; the dimensions in front of
        matrices are broadcast.
    check : bool
        Whether a singular matrix is an error, rather than NaN.

    Returns
    -------
    Var
        Of the shape of `b`, broadcast, and the common type.

    Raises
    ------
    ValueError
        If matrices are not square, or sizes do not go together.
    numpy.linalg.LinAlgError
        Where values are asked for: if a matrix is singular.

    Examples
    --------
    >>> mo.linalg.solve([[2.0, 1.0], [1.0, 3.0]], [3.0, 5.0])
    Var([0.8, 1.4], dtype=float32)
    """
    return _solve("solve", a, b, check)[0]


def solve_ex(a: VarLike, b: VarLike) -> tuple[Var, Var]:
    """Return the solutions of `solve`, and what is wrong with each matrix.

    The second tensor, int64 and of shape (...), is 0 for a matrix that is not singular, else
    the number of its first pivot that is 0, from 1 on. The solutions are NaN then.
    """
    return _solve("solve_ex", a, b, check=False)


def _solve(what: str, a: VarLike, b: VarLike, check: bool) -> tuple[Var, Var]:
    (x, y), dtype = as_matrices(a, b)
    as_square(what, x)
    is_vector = y.ndim == 1
    columns = y[:, None] if is_vector else y
    if columns.ndim < 2 or columns.shape[-2] != x.shape[-1]:
        raise at_line(
            ValueError(
                f"{what}: matrices of shape {x.shape} and right-hand sides of shape {y.shape}, "
                "expected as many rows of these"
            )
        )
    made = _checked(what, factor_lu(x), check)
    wide, columns = broadcast_fronts(what, x, columns)
    factors = _widened(made.factors, wide.shape)
    pivots = _widened(made.pivots, wide.shape[:-1])
    solutions = solve_rows(wide, columns.mT, factors, pivots).mT
    return rounded_like(solutions[..., 0] if is_vector else solutions, dtype), made.info


def _widened(x: Var, shape: tuple[int, ...]) -> Var:
    return x if x.shape == shape else broadcast_to(x, shape)


def inv(a: VarLike, *, check: bool = True) -> Var:
    """Return the inverses of matrices.

    Parameters
    ----------
    a : tensor, (..., n, n)
        The matrices.
    check : bool
        Whether a singular matrix is an error, rather than NaN.

    Returns
    -------
    Var, (..., n, n)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if a matrix is singular.
    """
    return _invert("inv", a, check)[0]


def inv_ex(a: VarLike) -> tuple[Var, Var]:
    """Return the inverses of `inv`, and what is wrong with each matrix, as `solve_ex`."""
    return _invert("inv_ex", a, check=False)


def _invert(what: str, a: VarLike, check: bool) -> tuple[Var, Var]:
    (x,), dtype = as_matrices(a)
    made = _checked(what, factor_lu(as_square(what, x)), check)
    inverse = solve_rows(x, identities_like(x), made.factors, made.pivots).mT
    return rounded_like(inverse, dtype), made.info
