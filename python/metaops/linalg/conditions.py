# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Condition numbers."""

from __future__ import annotations

import math

from .._core import Var
from .._errors import at_line
from .._typing import VarLike
from ..ops.elementwise.elementwise import isnan, where
from ..ops.reduce.norms import matrix_norm, matrix_order
from ._matrices import as_matrices, as_matrix, as_square, rounded_like
from .equations import inv
from .singular import values_of

__all__ = ["cond"]


def cond(a: VarLike, order: str | float | None = None) -> Var:
    """Return the condition numbers of matrices: infinity for a singular one.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices; square ones unless `order` is None, 2 or -2.
    order : optional
        None or 2: the largest singular value over the smallest one; -2 the other way round.
        As of `mo.matrix_norm`: that of a matrix times that of its inverse.

    Returns
    -------
    Var, (...)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, matrices have no element or are not square,
        or `order` is another one.
    TypeError
        If `order` is neither a name nor a number.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite and singular values are used.
    """
    (x,), dtype = as_matrices(a)
    as_matrix("cond", x)
    if 0 in x.shape[-2:]:
        raise at_line(ValueError(f"cond: the matrices have shape {x.shape}, expected elements"))
    known = matrix_order("cond", order, None)
    if known in (None, 2, -2):
        values = values_of("cond", x)
        first, last = values[..., 0], values[..., -1]
        ratio = last / first if known == -2 else first / last
        is_zero = values.abs().max(-1) == 0
        return rounded_like(where(is_zero, 0 if known == -2 else math.inf, ratio), dtype)
    as_square("cond", x)
    if known == "nuc":
        values = values_of("cond", x)
        number = values.sum(-1) * (1 / values).sum(-1)
    else:
        number = matrix_norm(x, known) * matrix_norm(inv(x, check=False), known)
    is_singular = isnan(number) & ~isnan(x).any((-2, -1))
    return rounded_like(where(is_singular, math.inf, number), dtype)
