# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers rounded to integers, or to decimals; integers stay as they are."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..._typing import VarLike, as_integer, as_var, refuse_out, widened
from ..create.limits import iinfo
from .elementwise import floor_divide, isfinite, where

__all__ = ["ceil", "floor", "round", "trunc"]


def _rounded(name: str, x: VarLike) -> Var:
    x = as_var(x)
    return _core.unary(name, x) if "float" in x.dtype else +x


def floor(x: VarLike) -> Var:
    """Return the largest integer not above x, in x's dtype."""
    return _rounded("floor", x)


def ceil(x: VarLike) -> Var:
    """Return the smallest integer not below x, in x's dtype."""
    return _rounded("ceil", x)


def trunc(x: VarLike) -> Var:
    """Return the integer next to x on the side of zero, in x's dtype."""
    return _rounded("trunc", x)


def round(x: VarLike, decimals: int = 0, *, out: None = None) -> Var:
    """Return x rounded to a number of decimals, ties to even, in x's dtype.

    Parameters
    ----------
    x
        Numbers.
    decimals
        How many digits behind the point stay; if negative, how many before it are 0.
        Floats are multiplied by a power of ten and divided again, as by NumPy, so what is
        halfway is so after the product is rounded. Integers stay exact.
    out
        NumPy's, and None: the result is a tensor of its own.

    Raises
    ------
    TypeError
        If `decimals` is no integer.
    """
    refuse_out("round", out)
    digits = as_integer("round", "decimals", decimals)
    x = as_var(x)
    if digits == 0 or x.dtype == "bool":
        return _rounded("round", x)
    if "float" in x.dtype:
        wide, dtype = widened(x)
        return _rounded_floats(wide, digits).cast(dtype)
    return +x if digits > 0 else _rounded_integers(x, 10**-digits)


def _rounded_floats(x: Var, digits: int) -> Var:
    """Return floats rounded to a number of digits behind the point, or before it."""
    most = 38 if x.dtype == "float32" else 308
    if -digits > most:
        return where(isfinite(x), x * 0.0, x)
    if digits < 0:
        return _rounded("round", x / 10.0**-digits) * 10.0**-digits
    scale = 10.0 ** min(digits, most)
    moved = x * scale
    return where(isfinite(moved), _rounded("round", moved) / scale, x)


def _rounded_integers(x: Var, unit: int) -> Var:
    """Return the nearest multiples of a power of ten, ties to even; 0 if it is too large."""
    if unit > iinfo(x.dtype).max:
        return x * 0
    count = floor_divide(x, unit)
    rest = x - count * unit
    # Not twice the rest, which might overflow.
    half = unit // 2
    is_above = (rest > half) | ((rest == half) & (count % 2 != 0))
    return (count + is_above.cast(x.dtype)) * unit
