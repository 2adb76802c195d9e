# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of complex numbers by their real and imaginary parts.

Each takes the halves of its argument, a and b of a + ib, and returns those of its value.
Values on branch cuts, at signed zeros and infinities are those of C99's Annex G, which
NumPy has, and are given where an argument is not finite, so that they change no
derivative elsewhere. Signs are factors that are constants to derivatives: on a cut these
are those of the side that the sign of zero says.

Sources: W. Kahan, "Branch cuts for complex elementary functions, or much ado about
nothing's sign bit", 1987; T. Hull, T. Fairgrieve and P. Tang, "Implementing complex
elementary functions using exception handling", 1994; ISO C99, Annex G.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from .. import _core
from .._core import Var
from ..ops.elementwise import functions as f
from ..ops.elementwise.elementwise import copysign, isfinite, isinf, isnan, maximum, where

__all__ = [
    "Halves",
    "angle",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "magnitude",
    "reciprocal",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

Halves: TypeAlias = tuple[Var, Var]

#: Beyond this exponents are taken apart, so that a small factor comes before an overflow.
_TOP = {"float32": 80.0, "float64": 700.0}
#: Beyond this tanh is 1 to all digits, and squares of sinh do not overflow below it.
_SATURATED = {"float32": 40.0, "float64": 350.0}
#: Numbers whose squares do not overflow in sums, and those that are scaled up first.
_LARGE = {"float32": 1e37, "float64": 1e307}
_SMALL = {"float32": 1e-30, "float64": 1e-290}


def signs(x: Var) -> Var:
    """Return 1 or -1 by the sign, also of zeros: a constant."""
    return copysign(1.0, x.detach())


def magnitude(a: Var, b: Var) -> Var:
    """Return the absolute value, without overflow; its gradient at 0 is 0."""
    return f.hypot(a, b)


def angle(a: Var, b: Var) -> Var:
    """Return the angle, whose gradient at 0 is 0.

    Derivatives of atan2 divide by the sum of squares, so both halves are divided by the
    larger one first, which the angle does not depend on.
    """
    largest = maximum(a * signs(a), b * signs(b)).detach()
    scale = where((largest > 0) & isfinite(largest), largest, 1)
    is_origin = largest == 0
    return f.atan2(where(is_origin, b.detach(), b / scale), where(is_origin, a.detach(), a / scale))


# Exponentials


def _powers(a: Var) -> tuple[Var, Var]:
    """Return two factors of exp(a), the first of which overflows late."""
    top = _TOP[a.dtype]
    is_over = a > top
    return f.exp(a - where(is_over, top, 0)), where(is_over, _factor(a), 1)


def _factor(a: Var) -> Var:
    """Return the power by which others are scaled, in the type of an argument."""
    return _core.full((), math.exp(_TOP[a.dtype]), a.dtype)


def exp(a: Var, b: Var) -> Halves:
    """Return exp(a + ib)."""
    power, scale = _powers(a)
    re, im = power * f.cos(b) * scale, power * f.sin(b) * scale
    is_wild = isinf(a) & ~isfinite(b)
    re = where(is_wild, where(a > 0, math.inf, 0.0), re)
    im = where(is_wild & (a < 0), 0.0 * signs(b), im)
    return re, where((b == 0) & ~isfinite(power), b, im)


def exp2(a: Var, b: Var) -> Halves:
    """Return 2 to the power of a + ib."""
    return exp(a * math.log(2), b * math.log(2))


def expm1(a: Var, b: Var) -> Halves:
    """Return exp(a + ib) - 1, with the digits of small numbers, by NumPy's formula."""
    half = f.sin(b / 2)
    return f.expm1(a) * f.cos(b) - 2 * half * half, f.exp(a) * f.sin(b)


# Logarithms


def _log_magnitude(a: Var, b: Var) -> Var:
    """Return the logarithm of the absolute value, with the digits near 1."""
    x, y = a * signs(a), b * signs(b)
    is_first = x >= y
    large, small = where(is_first, x, y), where(is_first, y, x)
    is_near = (large > 0.5) & (large < 1.5)
    near = where(is_near, large, 1)
    ratio = where((large > 0) & isfinite(large), small, 0) / where(large > 0, large, 1)
    far = f.log(where(is_near, 1, large)) + f.log1p(ratio * ratio) / 2
    beside_one = f.log1p((near - 1) * (near + 1) + where(is_near, small * small, 0)) / 2
    size = where(isnan(a) | isnan(b), math.nan, where(is_near, beside_one, far))
    return where(isinf(a) | isinf(b), math.inf, size)


def log(a: Var, b: Var) -> Halves:
    """Return the logarithm, whose cut is the negative real axis."""
    return _log_magnitude(a, b), angle(a, b)


def log2(a: Var, b: Var) -> Halves:
    """Return the logarithm to base 2."""
    re, im = log(a, b)
    return re / math.log(2), im / math.log(2)


def log10(a: Var, b: Var) -> Halves:
    """Return the logarithm to base 10."""
    re, im = log(a, b)
    return re / math.log(10), im / math.log(10)


def log1p(a: Var, b: Var) -> Halves:
    """Return log(1 + a + ib), with the digits of small numbers."""
    is_near = magnitude(a, b) < 0.5
    x, y = where(is_near, a, 0), where(is_near, b, 0)
    near = f.log1p(x * (2 + x) + y * y) / 2
    re, im = log(1 + a, b)
    return where(is_near, near, re), im


# Roots and quotients


def sqrt(a: Var, b: Var) -> Halves:
    """Return the square root whose real part is not negative."""
    x, y = a * signs(a), b * signs(b)
    largest = maximum(x, y).detach()
    is_large, is_small = largest > _LARGE[a.dtype] / 16, largest < _SMALL[a.dtype]
    scale = where(is_large, 2.0**-4, where(is_small, 2.0**48, 1.0))
    back = where(is_large, 2.0**2, where(is_small, 2.0**-24, 1.0))
    x, y = x * scale, y * scale
    root = f.sqrt((x + magnitude(x, y)) / 2)
    is_zero = largest == 0
    root = where(is_zero, 0, root)
    other = y / where(is_zero, 1, 2 * root) * back
    root = root * back
    root = where(isinf(b), math.inf, root)
    other = where(isinf(b), math.inf, other)
    is_right = signs(a) > 0
    re, im = where(is_right, root, other), where(is_right, other, root)
    return re, im * signs(b)


def reciprocal(a: Var, b: Var) -> Halves:
    """Return 1 / (a + ib) by Smith's algorithm, as NumPy does."""
    is_real_larger = a * signs(a) >= b * signs(b)
    p, q = where(is_real_larger, a, b), where(is_real_larger, b, a)
    ratio = q / p
    scale = 1 / (p + q * ratio)
    re, im = where(is_real_larger, scale, ratio * scale), where(is_real_larger, ratio, 1) * scale
    return re, -im


def sign(a: Var, b: Var) -> Halves:
    """Return the number of absolute value 1 at the same angle, and 0 at 0.

    Beside one infinite half the other one does not count; with two there is no angle.
    """
    is_both = isinf(a) & isinf(b)
    # The absolute value of the largest numbers is none.
    is_large = maximum(a * signs(a), b * signs(b)).detach() > _LARGE[a.dtype]
    scale = where(is_large, 2.0**-4, 1.0)
    x = where(isinf(a), signs(a), where(isinf(b), 0.0, a * scale))
    y = where(isinf(b), signs(b), where(isinf(a), 0.0, b * scale))
    size = magnitude(x, y)
    divisor = where(is_both, math.nan, where(size == 0, 1, size))
    return where(size == 0, 0.0, x / divisor), where(size == 0, 0.0, y / divisor)


# Hyperbolic functions, of which the trigonometric ones are those of iz


def _cosh_sinh(a: Var) -> tuple[Var, Var, Var]:
    """Return cosh(a) and sinh(a) without a factor, which overflows, and the factor."""
    top = _TOP[a.dtype]
    size = a * signs(a)
    is_over = size > top
    power = f.exp(where(is_over, size, top) - top) / 2
    inner = where(is_over, 0, a)
    cosh_, sinh_ = where(is_over, power, f.cosh(inner)), where(is_over, power, 1)
    return cosh_, where(is_over, sinh_ * signs(a), f.sinh(inner)), where(is_over, _factor(a), 1)


def sinh(a: Var, b: Var) -> Halves:
    """Return the hyperbolic sine."""
    cosh_, sinh_, scale = _cosh_sinh(a)
    re, im = sinh_ * f.cos(b) * scale, cosh_ * f.sin(b) * scale
    re = where(~isfinite(b) & ((a == 0) | isinf(a)), where(a == 0, a, math.inf), re)
    return re, where((b == 0) & ~isfinite(cosh_), b, im)


def cosh(a: Var, b: Var) -> Halves:
    """Return the hyperbolic cosine."""
    cosh_, sinh_, scale = _cosh_sinh(a)
    re, im = cosh_ * f.cos(b) * scale, sinh_ * f.sin(b) * scale
    re = where(isinf(a) & ~isfinite(b), math.inf, re)
    im = where((b == 0) & ~isfinite(sinh_), where(isnan(a), b, b * signs(a)), im)
    return re, where((a == 0) & ~isfinite(b), 0.0, im)


def tanh(a: Var, b: Var) -> Halves:
    """Return the hyperbolic tangent."""
    size = a * signs(a)
    is_over = size > _SATURATED[a.dtype]
    inner = where(is_over, 0, a)
    sinh_, cosh_, sin_, cos_ = f.sinh(inner), f.cosh(inner), f.sin(b), f.cos(b)
    below = sinh_ * sinh_ + cos_ * cos_
    re = where(is_over, signs(a), sinh_ * cosh_ / below)
    im = where(is_over, 4 * f.exp(-2 * where(is_over, size, 0)), 1 / below) * sin_ * cos_
    im = where(isinf(a) & ~isfinite(b), 0 * signs(b), im)
    re = where((a == 0) & ~isfinite(b), a, re)
    return re, where((b == 0) & isnan(a), b, im)


def sin(a: Var, b: Var) -> Halves:
    """Return the sine."""
    re, im = sinh(-b, a)
    return im, where(isinf(b) & ~isfinite(a), math.inf, -re)


def cos(a: Var, b: Var) -> Halves:
    """Return the cosine."""
    return cosh(-b, a)


def tan(a: Var, b: Var) -> Halves:
    """Return the tangent."""
    re, im = tanh(-b, a)
    return im, -re
