# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms of vectors and of matrices."""

from __future__ import annotations

import math

from ..._core import Var
from ..._errors import at_line
from ..._typing import Axes, VarLike, as_number, as_var, normalised_axes, shown, widened
from ..elementwise.elementwise import abs, pow, where
from ._squares import root_of_powers, root_of_squares, unit_of

__all__ = ["matrix_norm", "norm"]


def norm(
    x: VarLike,
    order: float = 2,
    dim: Axes = None,
    keepdims: bool = False,
) -> Var:
    """Return the vector norm of the elements along the dimensions, a float.

    It is right wherever it is a number of the type, whatever the powers of the elements
    are. Its gradient is 0 where the norm is 0, and that by an element that is 0 is 0.
    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Any shape.
    order
        2 (Euclidean), 1, ``math.inf`` (the largest magnitude), ``-math.inf`` (the
        smallest), 0 (how many elements are not 0), or p > 0 for
        ``sum(|x|**p)**(1/p)``. Over nothing all are 0, but the smallest is inf.
    dim, keepdims
        As in every reduction; by default over all elements.

    Raises
    ------
    ValueError
        If `order` is another number.
    """
    check_order("norm", order)
    x, dtype = widened(as_var(x))
    axes = normalised_axes(dim, x.ndim)
    result = _norm(x, order, axes, keepdims)
    return result if result.dtype == dtype else result.cast(dtype)


def check_order(what: str, order: float) -> None:
    """Raise ValueError unless there is a norm of that order, TypeError if it is no number."""
    given: object = order
    if isinstance(given, str):
        expected = "a number; mo.matrix_norm takes names"
    else:
        number = as_number(what, "order", given)
        if number >= 0 or number == -math.inf:
            return
        expected = "0, a positive number, inf or -inf"
    raise at_line(ValueError(f"{what}: order is {shown(given)}, expected {expected}"))


def _norm(x: Var, order: float, axes: tuple[int, ...], keepdims: bool) -> Var:
    if order == 2:
        return root_of_squares(x, axes, keepdims)
    if order == 0:
        return where(x == 0, 0, 1).sum(axes, keepdims).cast(x.dtype)
    if order == 1 or (order == math.inf and x.size == 0):
        return abs(x).sum(axes, keepdims)
    if order == math.inf:
        return abs(x).max(axes, keepdims)
    if order == -math.inf:
        return abs(x).min(axes, keepdims)
    result = root_of_powers(x, order, axes, keepdims)
    return _root_of_scaled(x, order, axes, keepdims) if result is None else result


def _root_of_scaled(x: Var, order: float, axes: tuple[int, ...], keepdims: bool) -> Var:
    """Return the root of the sum of powers of magnitudes by way of the largest one."""
    is_zero, unit = x == 0, unit_of(x, axes, order)
    # Small powers are steep at 0, their sum's root is: 1 takes the place of 0.
    size = where(is_zero, 1, abs(x) * (1.0 / unit))
    total = where(is_zero, 0, pow(size, order)).sum(axes, True)
    is_none = total == 0
    result = where(is_none, 0, pow(where(is_none, 1, total), 1.0 / order)) * unit
    rest = [n for axis, n in enumerate(x.shape) if axis not in axes]
    return result if keepdims else result.reshape(rest)


def matrix_norm(x: VarLike, order: str | float = "fro", keepdims: bool = False) -> Var:
    """Return a norm of matrices, a float. For vectors there is `metaops.norm`.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Shape ``(..., m, n)``.
    order
        "fro" (the root of the sum of squares), 1 and -1 (the largest and the smallest
        sum of magnitudes of a column), ``math.inf`` and ``-math.inf`` (of a row), 2 and -2
        (the largest and the smallest singular value), "nuc" (the sum of these).
    keepdims
        As in every reduction.

    Raises
    ------
    ValueError
        If x has fewer than two dimensions, or `order` is another one.
    TypeError
        If `order` is neither a name nor a number.
    numpy.linalg.LinAlgError
        Where values are asked for: if singular values are, of what is not finite.
    """
    x = as_var(x)
    if x.ndim < 2:
        raise at_line(
            ValueError(f"matrix_norm: x has shape {x.shape}, expected two dimensions or more")
        )
    known = matrix_order("matrix_norm", order)
    if known == "fro":
        return norm(x, 2, (-2, -1), keepdims)
    if known in (2, -2, "nuc"):
        return _norm_of_spectrum(x, known, keepdims)
    summed = -2 if known in (1, -1) else -1
    sums = norm(x, 1, summed, True)
    other = -3 - summed
    result = norm(sums, math.inf if known in (1, math.inf) else -math.inf, other, True)
    return result if keepdims else result.reshape(x.shape[:-2])


def matrix_order(what: str, given: str | float | None, *more: None) -> str | float | None:
    """Return the order of a norm of matrices, which may be one of `more`, too.

    Raises
    ------
    ValueError
        If it is another one.
    TypeError
        If it is neither a name nor a number.
    """
    known = (*more, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
    order = given if given is None or isinstance(given, str) else as_number(what, "order", given)
    if order not in known:
        names = ", ".join(map(repr, known))
        raise at_line(ValueError(f"{what}: order is {shown(given)}, expected one of {names}"))
    return order


def _norm_of_spectrum(x: Var, order: str | float | None, keepdims: bool) -> Var:
    # Linear algebra is made of what is here.
    from ...linalg.singular import values_of

    x, dtype = widened(x)
    values = values_of("matrix_norm", x)
    if order == "nuc" or (order == 2 and values.shape[-1] == 0):
        result = values.sum(-1)
    else:
        result = values.max(-1) if order == 2 else values.min(-1)
    result = result.reshape((*x.shape[:-2], 1, 1)) if keepdims else result
    return result if result.dtype == dtype else result.cast(dtype)
