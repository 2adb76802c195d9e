# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modified Bessel functions of the first kind, of the orders 0 and 1.

Below 8 they are the power series (DLMF 10.25.2), all of whose terms are positive; above it
the limit ``exp(x) / sqrt(2 * pi * x)`` (DLMF 10.40.1) times a sum of Chebyshev polynomials
of ``8 / x``. The coefficients come of the integral over an angle (DLMF 10.32.3). They have
derivatives of all orders, those of the sums. Halves are computed in float32; integers give
float32.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..._core import Var
from ..._typing import VarLike, widened
from .elementwise import abs, copysign, where
from .functions import exp, rsqrt

__all__ = ["i0", "i0e", "i1", "i1e"]

#: Seam between the series and the expansion for large numbers.
_END_OF_SERIES = 8.0
#: The expansion is one by 8 / x from 0 to this: beyond what it is used for, as its slopes are
#: less exact at the ends.
_RANGE = 1.125
#: Number of a series' terms behind the first.
_TERMS = 26
#: By this power of e the expansion's polynomial is larger than 1, and its slopes, which are
#: many times as large, are smaller than the result.
_LIFT = 4.0
#: From where on all are infinite, as the exponential is; and the power of e that takes what
#: falls, as ``1 / sqrt(x)``, near 1 there, so that no slope overflows before its product.
_FAR_OUT = {"float32": (92.0, 3.25), "float64": (714.0, 4.25)}
#: The same power for what falls alone: no size times the numbers under the root overflows.
_SHIFT = 1.0


@functools.cache
def _expansion(order: int) -> list[float]:
    """Return Chebyshev coefficients by 8 / x of the function over its limit.

    They are lifted.
    """
    angles = np.linspace(0.0, np.pi, 4097)
    turns = np.cos(order * angles)

    def scaled(t: Any) -> Any:
        x = (2.0 * _END_OF_SERIES / _RANGE) / (t[:, None] + 1.0)
        # The rule of trapezoids converges exponentially for periodic functions.
        values = np.exp(x * (np.cos(angles) - 1.0)) * turns
        mean = (values[:, :-1] + values[:, 1:]).mean(1) / 2.0
        return mean * np.sqrt(2.0 * np.pi * x[:, 0]) * math.exp(_LIFT)

    return [float(c) for c in np.polynomial.chebyshev.chebinterpolate(scaled, 28)]


def _series(order: int, x: Var) -> Var:
    """Return the function of small numbers."""
    quarter = x**2 / 4.0
    total = quarter * 0.0 + 1.0
    for k in range(_TERMS, 0, -1):
        total = 1.0 + total * quarter / float(k * (k + order))
    return total * x * 0.5 if order else total


def _far(order: int, x: Var, shift: float) -> Var:
    """Return the function over ``exp(x - shift - _LIFT)``, by Clenshaw's recurrence."""
    t = (2.0 * _END_OF_SERIES / _RANGE) / x - 1.0
    first, second = t * 0.0, t * 0.0
    *rest, constant = _expansion(order)[::-1]
    for coefficient in rest:
        first, second = 2.0 * t * first - second + coefficient, first
    falling = rsqrt(x * (2.0 * math.pi * math.exp(-2.0 * shift)))
    return (t * first - second + constant) * falling


def _signed(order: int, size: Var, x: Var) -> Var:
    """Return what is computed of the size of x with the sign that the function has."""
    return copysign(size, x) if order else size


def _bessel(order: int, x: VarLike) -> Var:
    """Return the function of x."""
    wide, dtype = widened(x)
    size = abs(wide)
    end, shift = _FAR_OUT[wide.dtype]
    is_near, is_beyond = size < _END_OF_SERIES, size >= end
    near = _series(order, where(is_near, wide, 0.0))
    far = where(is_near | is_beyond, _END_OF_SERIES, size)
    away = _far(order, far, shift) * exp(far - (shift + _LIFT))
    away = where(is_beyond, exp(where(is_beyond, size, 0.0)), away)
    return where(is_near, near, _signed(order, away, wide)).cast(dtype)


def _bounded_bessel(order: int, x: VarLike) -> Var:
    """Return the function of x times ``exp(-abs(x))``."""
    wide, dtype = widened(x)
    size = abs(wide)
    is_near = size < _END_OF_SERIES
    within = where(is_near, wide, 0.0)
    near = _series(order, within) * exp(-abs(within))
    away = _far(order, where(is_near, _END_OF_SERIES, size), _SHIFT) * math.exp(-_SHIFT - _LIFT)
    return where(is_near, near, _signed(order, away, wide)).cast(dtype)


def i0(x: VarLike) -> Var:
    """Return the modified Bessel function of the first kind and order 0, a float."""
    return _bessel(0, x)


def i0e(x: VarLike) -> Var:
    """Return ``i0(x) * exp(-abs(x))``, which does not overflow, a float.

    At 0, where it has none, its derivative is 0.
    """
    return _bounded_bessel(0, x)


def i1(x: VarLike) -> Var:
    """Return the modified Bessel function of the first kind and order 1, a float.

    It is the derivative of `i0`.
    """
    return _bessel(1, x)


def i1e(x: VarLike) -> Var:
    """Return ``i1(x) * exp(-abs(x))``, which does not overflow, a float."""
    return _bounded_bessel(1, x)
