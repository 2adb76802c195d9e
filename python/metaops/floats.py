# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats taken apart and put together, and functions with removable singularities."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import VarLike, as_var, beside, shown, widened, widened_together
from .bits import bitwise_and, bitwise_left_shift, bitwise_right_shift
from .elementwise import abs, clip, copysign, fmod, isfinite, isinf, where
from .functions import exp, log, rsqrt, sin
from .limits import finfo
from .rounding import trunc as _trunc

__all__ = ["frexp", "i0", "ldexp", "logit", "modf", "sinc", "xlogy"]

#: Of float32 and float64: the integers of their bits, how many bits the significand
#: has, and what is added to an exponent.
_LAYOUTS = {"float32": ("int32", 23, 127), "float64": ("int64", 52, 1023)}


def _power_of_two(exponent: Var, dtype: str) -> Var:
    """Return 2 to the power of integers that are exponents of normal numbers."""
    integers, digits, bias = _LAYOUTS[dtype]
    return _core.bitcast(bitwise_left_shift(exponent.cast(integers) + bias, digits), dtype)


def _scaled(x: Var, exponent: Var) -> Var:
    """Return x times 2 to the power of integers, rounded once."""
    _, digits, bias = _LAYOUTS[x.dtype]
    # Beyond these nothing changes, and three factors reach them.
    most = 2 * (bias + digits)
    exponent = clip(exponent.cast("int64"), -most, most)
    last = clip(exponent, 1 - bias, bias)
    rest = exponent - last
    second = clip(rest, 1 - bias, bias)
    # The last factor alone can leave the normal numbers, so it alone rounds.
    for power in (rest - second, second, last):
        x = x * _power_of_two(power, x.dtype)
    return x


def ldexp(x: VarLike, exponent: VarLike) -> Var:
    """Return ``x * 2**exponent``, rounded once, a float; integers give float32.

    Parameters
    ----------
    x
        Numbers.
    exponent
        Integers, of a shape that broadcasts with x's.

    Raises
    ------
    TypeError
        If the exponents are no integers.
    """
    x, exponent = as_var(x), as_var(exponent)
    if "int" not in exponent.dtype:
        raise at_line(TypeError(f"ldexp: exponent is {exponent.dtype}, expected integers"))
    wide, dtype = widened(x)
    return _scaled(wide, exponent).cast(dtype)


def frexp(x: VarLike) -> tuple[Var, Var]:
    """Return m and e, int32, with ``x == m * 2**e`` and ``0.5 <= abs(m) < 1``.

    Of 0, infinities and NaN m is x, and e is 0. Integers are taken as float32.
    """
    x = as_var(x)
    # A longer type would hold integers that m, rounded, makes 1.
    wide, dtype = widened(x if "float" in x.dtype else x.cast("float32"))
    integers, digits, bias = _LAYOUTS[wide.dtype]
    # Numbers below the normal ones are made such first.
    is_tiny = abs(wide) < 2.0 ** (1 - bias)
    lifted = where(is_tiny, wide * 2.0 ** (digits + 1), wide)
    bits = _core.bitcast(lifted, integers)
    exponent = bitwise_and(bitwise_right_shift(bits, digits), 2 * bias + 1).cast("int32") - (
        bias - 1
    )
    exponent = where(is_tiny, exponent - (digits + 1), exponent)
    exponent = where(isfinite(wide) & (wide != 0), exponent, 0)
    return _scaled(wide, -exponent).cast(dtype), exponent


def modf(x: VarLike) -> tuple[Var, Var]:
    """Return the fraction of x behind the point and the integer before it.

    Both have the sign of x, and are floats; integers give float32.
    """
    x = as_var(x)
    x = x if "float" in x.dtype else x.cast("float32")
    fraction = where(abs(x) == math.inf, copysign(0.0, x), fmod(x, 1.0))
    return fraction.cast(x.dtype), _trunc(x)


def sinc(x: VarLike) -> Var:
    """Return ``sin(pi * x) / (pi * x)``, 1 at 0; a float, integers give float32."""
    wide, dtype = widened(as_var(x))
    angle = math.pi * wide
    # A series near 0, of which the derivatives are right there, too.
    is_near = abs(angle) < 0.1
    square = where(is_near, angle, 0.0) ** 2
    near = 1.0 - square / 6 * (1.0 - square / 20 * (1.0 - square / 42 * (1.0 - square / 72)))
    away = where(is_near, 1.0, angle)
    return where(is_near, near, sin(away) / away).cast(dtype)


#: Where the series of `i0` end and its expansion for large numbers begins.
_END_OF_SERIES = 8.0
#: By this power of e the expansion's polynomial is larger than 1, and its slopes, which are
#: many times as large, are smaller than the result.
_LIFT = 4.0
#: From where on `i0` is infinite, as the exponential is; and the power of e that takes what
#: falls, as ``1 / sqrt(x)``, near 1 there, so that no slope overflows before its product.
_FAR_OUT = {"float32": (92.0, 3.25), "float64": (714.0, 4.25)}


@functools.cache
def _expansion() -> list[float]:
    """Return Chebyshev coefficients by 8 / x in [0, 1] of i0(x) over its limit far out.

    That limit is ``exp(x) / sqrt(2 * pi * x)``, and the coefficients are lifted.
    """
    angles = np.linspace(0.0, np.pi, 4097)

    def scaled(t: Any) -> Any:
        x = 2.0 * _END_OF_SERIES / (t[:, None] + 1.0)
        # The rule of trapezoids converges exponentially for periodic functions.
        values = np.exp(x * (np.cos(angles) - 1.0))
        mean = (values[:, :-1] + values[:, 1:]).mean(1) / 2.0
        return mean * np.sqrt(2.0 * np.pi * x[:, 0]) * math.exp(_LIFT)

    return [float(c) for c in np.polynomial.chebyshev.chebinterpolate(scaled, 24)]


def i0(x: VarLike) -> Var:
    """Return the modified Bessel function of the first kind and order 0.

    A float; integers give float32.
    """
    wide, dtype = widened(as_var(x))
    size = abs(wide)
    end, shift = _FAR_OUT[wide.dtype]
    is_near, is_beyond = size < _END_OF_SERIES, size >= end
    # All terms of the series are positive, so none cancel.
    quarter = where(is_near, wide, 0.0) ** 2 / 4.0
    near = quarter * 0.0 + 1.0
    for k in range(26, 0, -1):
        near = 1.0 + near * quarter / float(k * k)
    far = where(is_near | is_beyond, _END_OF_SERIES, size)
    t = 2.0 * _END_OF_SERIES / far - 1.0
    # Clenshaw's recurrence.
    first, second = t * 0.0, t * 0.0
    *rest, constant = _expansion()[::-1]
    for coefficient in map(float, rest):
        first, second = 2.0 * t * first - second + coefficient, first
    falling = rsqrt(far * (2.0 * math.pi * math.exp(-2.0 * shift)))
    away = (t * first - second + constant) * falling * exp(far - (shift + _LIFT))
    beyond = exp(where(is_beyond, size, 0.0))
    return where(is_near, near, where(is_beyond, beyond, away)).cast(dtype)


def xlogy(x: VarLike, y: VarLike) -> Var:
    """Return ``x * log(y)``, 0 where x is 0 and y is not NaN; a float.

    Where x is 0, its gradient is ``log(y)``; that of both is 0 where y is not positive.
    Halves are computed in float32; integers give float32.
    """
    (x, y), dtype = widened_together(x, y)
    # No logarithm that is infinite, or none, may be multiplied by 0.
    is_zero = x == 0
    logarithm = log(where(is_zero & (y <= 0), beside(1, y), y))
    largest = beside(finfo(logarithm.dtype).max, logarithm)
    return (x * where(is_zero & (y == math.inf), largest, logarithm)).cast(dtype)


def share_of(share: Var, x: Var) -> Var:
    """Return ``share * x``, where a share of 0 has nothing of an infinite x."""
    return share * where((share == 0) & isinf(x), 0, x)


def logit(x: VarLike, eps: float | None = None) -> Var:
    """Return ``log(x / (1 - x))``, of which `sigmoid` is the inverse.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Shares; beyond [0, 1] the result is NaN.
    eps
        If given, x is moved into ``[eps, 1 - eps]`` first.

    Raises
    ------
    ValueError
        If `eps` is not in [0, 0.5].
    """
    x, dtype = widened(x)
    if eps is not None:
        if not isinstance(eps, int | float) or not 0 <= eps <= 0.5:
            raise at_line(ValueError(f"logit: eps is {shown(eps)}, expected it in [0, 0.5]"))
        x = clip(x, eps, 1.0 - eps)
    # Of a quotient the slope at 0 would be 0 * inf.
    return (log(x) - log(1.0 - x)).cast(dtype)
