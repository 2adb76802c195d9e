# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shares and entropies: the normal distribution, and logarithms times numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..._core import Var
from ..._typing import VarLike, beside, in_float64, widened, widened_together
from ..create.limits import finfo
from ._normal import normal_quantile
from .activations import sigmoid
from .elementwise import clip, where
from .functions import erfc, log, log1p, sqrt

__all__ = ["entr", "expit", "log_ndtr", "ndtr", "ndtri", "xlog1py", "xlogy"]

#: The name that SciPy and JAX have for it.
expit = sigmoid


def _product(
    x: VarLike, y: VarLike, logarithm: Callable[[Var], Var], pole: float, root: float
) -> Var:
    """Return x times a logarithm of y, which has a pole and a root."""
    (x, y), dtype = widened_together(x, y)
    # No logarithm that is infinite, or none, may be multiplied by 0.
    is_zero = x == 0
    factor = logarithm(where(is_zero & (y <= pole), beside(root, y), y))
    largest = beside(finfo(factor.dtype).max, factor)
    return (x * where(is_zero & (y == math.inf), largest, factor)).cast(dtype)


def xlogy(x: VarLike, y: VarLike) -> Var:
    """Return ``x * log(y)``, 0 where x is 0 and y is not NaN; a float.

    Where x is 0, its gradient is ``log(y)``; that of both is 0 where y is not positive.
    Halves are computed in float32; integers give float32.
    """
    return _product(x, y, log, 0.0, 1.0)


def xlog1py(x: VarLike, y: VarLike) -> Var:
    """Return ``x * log(1 + y)``, 0 where x is 0 and y is not NaN; a float.

    It is right for small y. Where x is 0, its gradient is ``log(1 + y)``; that of both is 0
    where y is not above -1. Halves are computed in float32; integers give float32.
    """
    return _product(x, y, log1p, -1.0, 0.0)


def entr(x: VarLike) -> Var:
    """Return ``-x * log(x)``, 0 at 0 and -inf below, a float.

    Its derivative at 0 is infinite, as is that of what is below. Halves are computed in
    float32; integers give float32.
    """
    wide, dtype = widened(x)
    is_zero, is_inside = wide == 0, (wide > 0) & (wide < math.inf)
    inside = where(is_inside, wide, 1.0)
    # At 0 all derivatives of a root are infinite, with the signs that these have.
    at_zero = sqrt(where(is_zero, wide, 1.0))
    outside = where(is_zero | is_inside, -1.0, wide)
    outside = outside * where(outside > 0, -math.inf, math.inf)
    return where(is_inside, -inside * log(inside), where(is_zero, at_zero, outside)).cast(dtype)


#: Beyond it, on either side, shares and their derivatives are 0 or 1.
_END = 40.0


def ndtr(x: VarLike) -> Var:
    """Return the share of normal numbers, of mean 0 and deviation 1, below x; a float.

    All types are computed in float64; integers give float32.
    """
    (wide,), dtype = in_float64(x)
    return (0.5 * erfc(clip(wide, -_END, _END) * -math.sqrt(0.5))).cast(dtype)


#: From where on the series for the logarithm of a small share is right to the last digit.
_TAIL = -16.0


def log_ndtr(x: VarLike) -> Var:
    """Return the logarithm of `ndtr`, right where that is near 1, or 0; a float.

    All types are computed in float64; integers give float32.
    """
    (wide,), dtype = in_float64(x)
    is_tail, is_above = wide < _TAIL, wide > 0
    # The complement is small above 0, and the share has all its digits down to the tail.
    share = erfc(clip(where(is_above, wide, 0.0), 0.0, _END) * math.sqrt(0.5))
    below = log(0.5 * erfc(where(is_above | is_tail, 0.0, wide) * -math.sqrt(0.5)))
    tail = _log_tail(where(is_tail, wide, _TAIL))
    return where(is_tail, tail, where(is_above, log1p(-0.5 * share), below)).cast(dtype)


def _log_tail(x: Var) -> Var:
    """Return the logarithm of a small share, by the series of Mills' ratio (DLMF 7.12.1)."""
    is_finite = x > -math.inf
    finite = where(is_finite, x, _TAIL)
    reciprocal = 1.0 / (finite * finite)
    series = 1.0 - 19.0 * reciprocal
    for k in range(17, 0, -2):
        series = 1.0 - series * (float(k) * reciprocal)
    rest = log(series) - log(-finite) - 0.5 * math.log(2.0 * math.pi)
    return where(is_finite, rest, 0.0) - 0.5 * x * x


def ndtri(p: VarLike) -> Var:
    """Return the number below which a share p of normal numbers lies, a float.

    It is infinite at 0 and 1, as its derivatives are, and NaN outside of [0, 1]. All types
    are computed in float64; integers give float32.
    """
    (share,), dtype = in_float64(p)
    is_inside = (share > 0) & (share < 1)
    inside = normal_quantile(where(is_inside, share, 0.5))
    # Infinite as logarithms are, whose derivatives are infinite, too.
    is_low = share < 0.5
    low = log(where(is_inside | ~is_low, 1.0, share))
    high = -log(where(is_inside | is_low, 1.0, 1.0 - share))
    return where(is_inside, inside, where(is_low, low, high)).cast(dtype)
