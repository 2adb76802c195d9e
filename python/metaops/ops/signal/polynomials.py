# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Polynomials as vectors of coefficients, the highest power first, as NumPy's."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, float_among, unrounded, whole_number, widened_together
from ..shape.padding import pad
from ..shape.stacking import concat
from .filters import convolve

__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]


def _coefficients(name: str, p: VarLike) -> Var:
    """Return coefficients as a vector, which a number is, too."""
    p = as_var(p)
    if p.ndim > 1:
        raise at_line(ValueError(f"{name}: given shape {p.shape}, expected a vector"))
    return p.reshape((p.size,))


def _of_one_length(name: str, p: VarLike, q: VarLike) -> tuple[Var, Var]:
    first, second = _coefficients(name, p), _coefficients(name, q)
    extent = max(first.size, second.size)
    return pad(first, [(extent - first.size, 0)]), pad(second, [(extent - second.size, 0)])


def polyval(p: VarLike, x: VarLike) -> Var:
    """Return the polynomial's values at x.

    Parameters
    ----------
    p
        Coefficients, of at most one dimension.
    x
        Any tensor.

    Returns
    -------
    Var
        Shape of x. By Horner's rule: one kernel, of as many steps as there are
        coefficients. Integers wrap in the type to which x and p are promoted; halves are
        computed in float32.
    """
    p, x = _coefficients("polyval", p), as_var(x)
    dtype = float_among([p.dtype, x.dtype])
    p, x = unrounded(p), unrounded(x)
    result = x * 0
    for k in range(p.size):
        result = result * x + p[k]
    return result if dtype is None else result.cast(dtype)


def polyadd(p: VarLike, q: VarLike) -> Var:
    """Return the sum of two polynomials."""
    first, second = _of_one_length("polyadd", p, q)
    return first + second


def polysub(p: VarLike, q: VarLike) -> Var:
    """Return the difference of two polynomials."""
    first, second = _of_one_length("polysub", p, q)
    return first - second


def polymul(p: VarLike, q: VarLike) -> Var:
    """Return the product of two polynomials."""
    return convolve(_coefficients("polymul", p), _coefficients("polymul", q))


def polyder(p: VarLike, m: int = 1) -> Var:
    """Return the derivative of order m of a polynomial.

    That of integers has 64 bits, as NumPy's: int64 but for uint64. Halves are computed in
    float32.

    Raises
    ------
    ValueError
        If `m` is negative.
    """
    p = +_coefficients("polyder", p)
    count = whole_number("polyder", "m", m)
    dtype = float_among([p.dtype])
    if dtype is None and p.dtype != "uint64":
        p = p.cast("int64")
    p = unrounded(p)
    for _ in range(min(count, p.size)):
        p = p[:-1] * (_core.iota((p.size - 1,), 0, p.dtype)[::-1] + 1)
    return p if dtype is None else p.cast(dtype)


def polyint(p: VarLike, m: int = 1, k: VarLike = 0) -> Var:
    """Return the integral of order m of a polynomial, floats.

    Computed in the type to which p and k are promoted, halves in float32; integers give
    float32.

    Parameters
    ----------
    p
        Coefficients.
    m
        How often it is integrated.
    k
        The constants of the integrations, m of them or one for all.

    Raises
    ------
    ValueError
        If `m` is negative, or there are other than m constants.
    """
    m = whole_number("polyint", "m", m)
    (p, constants), dtype = widened_together(p, k)
    p, constants = _coefficients("polyint", p), _coefficients("polyint", constants)
    if constants.size not in (1, m):
        raise at_line(ValueError(f"polyint: given {constants.size} constants, expected 1 or {m}"))
    constants = constants.broadcast((m,)) if constants.size == 1 else constants
    for step in range(m):
        powers = _core.iota((p.size,), 0, p.dtype)[::-1] + 1
        p = concat([p / powers, constants[step : step + 1]])
    return p.cast(dtype)
