# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hurwitz's zeta function, of which Riemann's is a case."""

from __future__ import annotations

import math

from ..._core import Var
from ..._typing import VarLike, in_float64
from .elementwise import pow, where
from .rounding import floor

__all__ = ["zeta"]

#: Number of terms that are summed one by one.
_TERMS = 10
#: The Bernoulli numbers B(2), B(4), ..., B(24) by (2j)!: 1 by these.
_RECIPROCALS = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000.0 / 691.0),
    *(74724249600.0, -10670622842880000.0 / 3617.0, 5109094217170944000.0 / 43867.0),
    *(-802857662698291200000.0 / 174611.0, 14101100039391805440000.0 / 77683.0),
    -1693824136731743669452800000.0 / 236364091.0,
)
#: Beyond it nothing is left of the terms that are not summed one by one.
_LARGE = 1e6


def zeta(x: VarLike, q: VarLike = 1.0) -> Var:
    """Return the sum of ``(q + k)**-x`` for k = 0, 1, 2, ..., a float.

    It has derivatives by both, but none by q where x is 1.

    Parameters
    ----------
    x
        Numbers above 1; infinite at 1, NaN below.
    q
        Positive numbers, which broadcast with x; infinite at 0, -1, -2, ..., NaN of other
        negative ones. With 1 it is Riemann's zeta function.

    Notes
    -----
    By the formula of Euler and Maclaurin (DLMF 25.11.5 and 2.10.1). All types are computed in
    float64; integers give float32.
    """
    (x, q), dtype = in_float64(x, q)
    is_inside = (x >= 1) & (q > 0)
    s, first = where(is_inside, x, 2.0), where(is_inside, q, 1.0)
    total = pow(first, -s)
    for k in range(1, _TERMS):
        total = total + pow(first + float(k), -s)
    last = first + float(_TERMS)
    total = total + pow(last, 1.0 - s) / (s - 1.0) + pow(last, -s) * _rest(s, last)
    # Infinite as a power of 0, or none, and so are the derivatives.
    is_pole = (x >= 1) & (q <= 0) & (q == floor(q))
    base, power = where(is_pole, q - floor(q), 1.0), where(is_pole, -x, 1.0)
    unknown = where(is_inside | is_pole, 1.0, x * q) * math.nan
    outside = where(is_pole, pow(base, power), unknown)
    return where(is_inside, total, outside).cast(dtype)


def _rest(s: Var, last: Var) -> Var:
    """Return what is left of the sum, and of its integral, by the power of the last term."""
    s = where(s < _LARGE, s, 2.0)
    square = 1.0 / (last * last)
    numbers = [1.0 / number for number in _RECIPROCALS]
    # Horner's scheme: each term is the one before by two factors.
    series = square * 0.0 + numbers[-1]
    for j in range(len(numbers) - 2, -1, -1):
        factors = (s + float(2 * j + 1)) * (s + float(2 * j + 2)) * square
        series = numbers[j] + series * factors
    return 0.5 + series * s / last
