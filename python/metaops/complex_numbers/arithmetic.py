# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of complex numbers, with NumPy's values.

Products are those of the halves, as NumPy's are: a product of an infinite number and
another one may be NaN. Quotients are by Smith's algorithm (R. Smith, "Algorithm 116: Complex
division", 1962), so that squares do not overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._core import Var
from ..ops.elementwise import elementwise as e
from . import formulas
from .formulas import magnitude, signs
from .halves import kept
from .operands import as_complex, paired
from .pair import Complex

__all__ = [
    "add",
    "divide",
    "equal",
    "isclose",
    "multiply",
    "not_equal",
    "power",
    "reciprocal",
    "square",
    "subtract",
    "where",
]

#: Powers of less are products, as in NumPy.
_MOST_PRODUCTS = 100


def add(x: Any, y: Any) -> Complex:
    """Return x + y."""
    x, y = paired(x, y)
    return Complex._of(x.real + y.real, x.imag + y.imag)


def subtract(x: Any, y: Any) -> Complex:
    """Return x - y."""
    x, y = paired(x, y)
    return Complex._of(x.real - y.real, x.imag - y.imag)


def multiply(x: Any, y: Any) -> Complex:
    """Return x * y."""
    x, y = paired(x, y)
    return Complex._of(
        x.real * y.real - x.imag * y.imag,
        x.real * y.imag + x.imag * y.real,
    )


def divide(x: Any, y: Any) -> Complex:
    """Return x / y; by 0 it is infinite or NaN."""
    x, y = paired(x, y)
    a, b, c, d = x.real, x.imag, y.real, y.imag
    is_real_larger = c * signs(c) >= d * signs(d)
    is_zero = (c == 0) & (d == 0)
    p, q = e.where(is_real_larger, c, d), e.where(is_real_larger, d, c)
    ratio = q / p
    scale = 1 / (p + q * ratio)
    re = e.where(is_real_larger, a + b * ratio, a * ratio + b) * scale
    im = e.where(is_real_larger, b - a * ratio, b * ratio - a) * scale
    # The sign of a divisor that is 0 does not count. Others would make infinite gradients here.
    size = e.where(is_zero, c * signs(c), 1)
    return Complex._of(e.where(is_zero, a / size, re), e.where(is_zero, b / size, im))


def reciprocal(x: Any) -> Complex:
    """Return 1 / x."""
    x = as_complex(x)
    return Complex._of(*formulas.reciprocal(x.real, x.imag))


def square(x: Any) -> Complex:
    """Return x * x."""
    x = as_complex(x)
    return multiply(x, x)


def _whole_power(x: Complex, exponent: int) -> Complex:
    """Return a power by squaring."""
    result, factor, count = None, x, abs(exponent)
    while count:
        if count & 1:
            result = factor if result is None else multiply(result, factor)
        count >>= 1
        if count:
            factor = multiply(factor, factor)
    assert result is not None
    return reciprocal(result) if exponent < 0 else result


def _as_exponent(y: Any) -> complex | None:
    """Return an exponent that is one number of Python's or NumPy's."""
    if isinstance(y, int | float | complex | np.number) and not isinstance(y, bool):
        return complex(y)
    return None


def power(x: Any, y: Any) -> Complex:
    """Return x to the power of y: exp(y * log(x)), and 1 for the exponent 0."""
    exponent = _as_exponent(y)
    x, y = paired(x, y)
    if exponent is not None and exponent.imag == 0:
        real = exponent.real
        if real == 0.5:
            return Complex._of(*formulas.sqrt(x.real, x.imag))
        if real.is_integer() and 0 < abs(real) < _MOST_PRODUCTS:
            return _whole_power(x, int(real))
    x, y = Complex._of(*_broadcast(x, y, 0)), Complex._of(*_broadcast(x, y, 1))
    is_origin = (x.real == 0) & (x.imag == 0)
    is_one = (y.real == 0) & (y.imag == 0)
    base = Complex._of(e.where(is_origin, 1, x.real), e.where(is_origin, 0, x.imag))
    moved = multiply(y, Complex._of(*formulas.log(base.real, base.imag)))
    re, im = formulas.exp(moved.real, moved.imag)
    of_origin = e.where(y.real > 0, 0.0, math.nan)
    re, im = e.where(is_origin, of_origin, re), e.where(is_origin, of_origin, im)
    return Complex._of(e.where(is_one, 1, re), e.where(is_one, 0, im))


def _broadcast(x: Complex, y: Complex, which: int) -> tuple[Var, Var]:
    """Return the halves of one of two operands, in the shape of both."""
    from ..ops.shape.shaping import broadcast_arrays

    halves = broadcast_arrays(x.real, x.imag, y.real, y.imag)
    return halves[2 * which], halves[2 * which + 1]


# Comparisons, and choices


def equal(x: Any, y: Any) -> Var:
    """Tell where numbers are equal."""
    x, y = paired(x, y)
    return (x.real == y.real) & (x.imag == y.imag)


def not_equal(x: Any, y: Any) -> Var:
    """Tell where numbers differ."""
    x, y = paired(x, y)
    return (x.real != y.real) | (x.imag != y.imag)


def isclose(x: Any, y: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Var:
    """Tell where the distance of numbers is at most ``atol + rtol * abs(y)``."""
    rtol, atol = kept("isclose", "rtol", rtol), kept("isclose", "atol", atol)
    x, y = paired(x, y)
    distance = magnitude(x.real - y.real, x.imag - y.imag)
    size = magnitude(y.real, y.imag)
    result = equal(x, y) | ((distance <= atol + rtol * size) & e.isfinite(size))
    if equal_nan:
        result = result | (_isnan(x) & _isnan(y))
    return result


def _isnan(x: Complex) -> Var:
    return e.isnan(x.real) | e.isnan(x.imag)


def where(condition: Any, x: Any, y: Any) -> Complex:
    """Return x where a condition holds, and y elsewhere."""
    condition = kept("where", "condition", condition)
    x, y = paired(x, y)
    return Complex._of(e.where(condition, x.real, y.real), e.where(condition, x.imag, y.imag))
