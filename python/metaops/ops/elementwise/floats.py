# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats taken apart and put together, and functions with removable singularities."""

from __future__ import annotations

import math

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, shown, widened
from .bits import bitwise_and, bitwise_left_shift, bitwise_right_shift
from .elementwise import abs, clip, copysign, fmod, isfinite, isinf, where
from .functions import log, sin
from .rounding import trunc as _trunc

__all__ = ["frexp", "ldexp", "logit", "modf", "sinc"]

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
