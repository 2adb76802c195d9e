# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inverses of trigonometric and hyperbolic functions of complex numbers.

By W. Kahan, "Branch cuts for complex elementary functions", 1987, in the forms that
Python's `cmath` has: two square roots, of whose halves products are taken. See `formulas`
for what is so of all.
"""

from __future__ import annotations

import math

from .._core import Var
from ..ops.elementwise import functions as f
from ..ops.elementwise.elementwise import isinf, isnan, where
from .formulas import Halves, magnitude, signs, sqrt

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atanh"]

#: Beyond the first numbers their squares are all that counts; below the second they vanish.
_LARGE = {"float32": 8e37, "float64": 4e307}
_SQUARES = {"float32": 9e18, "float64": 6e153}
_SMALL = {"float32": 1e-19, "float64": 1e-154}


def _is_large(a: Var, b: Var) -> Var:
    bound = _LARGE[a.dtype]
    return (a * signs(a) > bound) | (b * signs(b) > bound)


def _log_large(a: Var, b: Var, mask: Var) -> Var:
    """Return the logarithm of twice the absolute value, where a mask says that it is large."""
    size = magnitude(where(mask, a, 2) / 2, where(mask, b, 0) / 2)
    return f.log(size) + 2 * math.log(2)


def asinh(a: Var, b: Var) -> Halves:
    """Return the inverse of the hyperbolic sine: cuts beyond i and -i."""
    is_large = _is_large(a, b)
    x, y = where(is_large, 0, a), where(is_large, 0, b)
    re1, im1 = sqrt(1 + y, -x)
    re2, im2 = sqrt(1 - y, x)
    re = f.asinh(re1 * im2 - re2 * im1)
    im = f.atan2(y, re1 * re2 - im1 * im2)
    re = where(is_large, _log_large(a, b, is_large) * signs(a), re)
    im = where(is_large, f.atan2(b, where(is_large, a * signs(a), 1)), im)
    return re, where((b == 0) & isnan(a), b, im)


def acos(a: Var, b: Var) -> Halves:
    """Return the inverse of the cosine: cuts beyond 1 and -1."""
    is_large = _is_large(a, b)
    x, y = where(is_large, 0, a), where(is_large, 0, b)
    re1, im1 = sqrt(1 - x, -y)
    re2, im2 = sqrt(1 + x, y)
    re = 2 * f.atan2(re1, re2)
    im = f.asinh(re2 * im1 - re1 * im2)
    re = where(is_large, f.atan2(b * signs(b), where(is_large, a, 1)), re)
    im = where(is_large, _log_large(a, b, is_large) * -signs(b), im)
    return where((a == 0) & isnan(b), math.pi / 2, re), im


def acosh(a: Var, b: Var) -> Halves:
    """Return the inverse of the hyperbolic cosine: a cut below 1."""
    is_large = _is_large(a, b)
    x, y = where(is_large, 0, a), where(is_large, 0, b)
    re1, im1 = sqrt(x - 1, y)
    re2, im2 = sqrt(x + 1, y)
    re = f.asinh(re1 * re2 + im1 * im2)
    im = 2 * f.atan2(im1, re2)
    re = where(is_large, _log_large(a, b, is_large), re)
    im = where(is_large, f.atan2(b, where(is_large, a, 1)), im)
    return re, where((a == 0) & isnan(b), math.pi / 2, im)


def atanh(a: Var, b: Var) -> Halves:
    """Return the inverse of the hyperbolic tangent: cuts beyond 1 and -1."""
    flip = signs(a)
    x, y = a * flip, b * flip
    size = y * signs(y)
    bound = _SQUARES[a.dtype]
    is_large = (x > bound) | (size > bound)
    # Beside the pole, the square of what is small would vanish.
    is_pole = (x == 1) & (size < _SMALL[a.dtype])
    is_other = is_large | is_pole
    p, q = where(is_other, 0, x), where(is_other, 0, y)
    re = f.log1p(4 * p / ((1 - p) * (1 - p) + q * q)) / 4
    im = f.atan2(2 * q, (1 - p) * (1 + p) - q * q) / 2
    distance = magnitude(where(is_large, x, 2) / 2, where(is_large, y, 0) / 2)
    re = where(is_large, where(isinf(distance), 0, x / 4 / distance / distance), re)
    im = where(is_large & ~isnan(y), math.pi / 2 * signs(y), where(isnan(y), math.nan, im))
    near = where(is_pole, size, 1)
    re = where(is_pole, -f.log(f.sqrt(near) / f.sqrt(magnitude(near, near * 0 + 2))), re)
    im = where(is_pole, f.atan2(near * 0 + 2, -near) / 2 * signs(y), im)
    im = where((b == 0) & (x == 1), y, im)
    re = where((a == 0) & isnan(b), 0, re)
    return re * flip, im * flip


def asin(a: Var, b: Var) -> Halves:
    """Return the inverse of the sine: cuts beyond 1 and -1."""
    re, im = asinh(-b, a)
    return im, -re


def atan(a: Var, b: Var) -> Halves:
    """Return the inverse of the tangent: cuts beyond i and -i."""
    re, im = atanh(-b, a)
    return im, -re
