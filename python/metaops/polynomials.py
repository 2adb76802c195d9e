# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Polynomials as vectors of coefficients, the highest power first, as NumPy's."""

from __future__ import annotations

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import VarLike, as_var, beside, whole_number
from .filters import convolve
from .padding import pad
from .stacking import concat

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
        coefficients.
    """
    p, x = _coefficients("polyval", p), as_var(x)
    result = x * 0
    for k in range(p.size):
        result = result * x + beside(p[k], x)
    return result


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

    Raises
    ------
    ValueError
        If `m` is negative.
    """
    p = +_coefficients("polyder", p)
    for _ in range(whole_number("polyder", "m", m)):
        if p.size == 0:
            break
        p = p[:-1] * _core.iota((p.size - 1,), 0, "int64")[::-1].cast(p.dtype) + p[:-1]
    return p


def polyint(p: VarLike, m: int = 1, k: VarLike = 0) -> Var:
    """Return the integral of order m of a polynomial, floats.

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
    p = _coefficients("polyint", p)
    p = p + 0.0
    m = whole_number("polyint", "m", m)
    constants = _coefficients("polyint", k).cast(p.dtype)
    if constants.size not in (1, m):
        raise at_line(ValueError(f"polyint: given {constants.size} constants, expected 1 or {m}"))
    constants = constants.broadcast((m,)) if constants.size == 1 else constants
    for step in range(m):
        powers = _core.iota((p.size,), 0, p.dtype)[::-1] + 1
        p = concat([p / powers, constants[step : step + 1]])
    return p
