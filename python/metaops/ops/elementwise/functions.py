# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise functions of real numbers.

They take floats; integers and booleans become float32. float16 and bfloat16 are
computed in float32 and rounded once. Those of several operations compute integers of 16
bits and more in float64 (docs/Types.md). Errors are in docs/Spec.md, "Rounding".
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, paired, whole_number, widened, widened_together
from . import elementwise

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "gammaln",
    "hypot",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "multigammaln",
    "polygamma",
    "rad2deg",
    "radians",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def sqrt(x: VarLike) -> Var:
    """Return the square root of x: NaN below 0."""
    return _core.unary("sqrt", x)


def rsqrt(x: VarLike) -> Var:
    """Return 1 divided by the square root of x: inf at 0, NaN below."""
    return _core.unary("rsqrt", x)


def cbrt(x: VarLike) -> Var:
    """Return the cube root of x, which has the sign of x."""
    return _core.unary("cbrt", x)


def exp(x: VarLike) -> Var:
    """Return e to the power of x."""
    return _core.unary("exp", x)


def exp2(x: VarLike) -> Var:
    """Return 2 to the power of x."""
    return _core.unary("exp2", x)


def expm1(x: VarLike) -> Var:
    """Return ``exp(x) - 1``, right for small x, too."""
    return _core.unary("expm1", x)


def log(x: VarLike) -> Var:
    """Return the natural logarithm of x: -inf at 0, NaN below."""
    return _core.unary("log", x)


def log2(x: VarLike) -> Var:
    """Return the logarithm of x by the base 2."""
    return _core.unary("log2", x)


def log10(x: VarLike) -> Var:
    """Return the logarithm of x by the base 10."""
    return _core.unary("log10", x)


def log1p(x: VarLike) -> Var:
    """Return ``log(1 + x)``, right for small x, too."""
    return _core.unary("log1p", x)


def sin(x: VarLike) -> Var:
    """Return the sine of x in radians."""
    return _core.unary("sin", x)


def cos(x: VarLike) -> Var:
    """Return the cosine of x in radians."""
    return _core.unary("cos", x)


def tan(x: VarLike) -> Var:
    """Return the tangent of x in radians."""
    return _core.unary("tan", x)


def asin(x: VarLike) -> Var:
    """Return the angle in [-pi/2, pi/2] of which x is the sine; NaN outside of [-1, 1]."""
    return _core.unary("asin", x)


def acos(x: VarLike) -> Var:
    """Return the angle in [0, pi] of which x is the cosine; NaN outside of [-1, 1]."""
    return _core.unary("acos", x)


def atan(x: VarLike) -> Var:
    """Return the angle in [-pi/2, pi/2] of which x is the tangent."""
    return _core.unary("atan", x)


def sinh(x: VarLike) -> Var:
    """Return the hyperbolic sine of x."""
    return _core.unary("sinh", x)


def cosh(x: VarLike) -> Var:
    """Return the hyperbolic cosine of x."""
    return _core.unary("cosh", x)


def tanh(x: VarLike) -> Var:
    """Return the hyperbolic tangent of x."""
    return _core.unary("tanh", x)


def asinh(x: VarLike) -> Var:
    """Return the number of which x is the hyperbolic sine."""
    return _core.unary("asinh", x)


def acosh(x: VarLike) -> Var:
    """Return the number, not below 0, of which x is the hyperbolic cosine; NaN below 1."""
    return _core.unary("acosh", x)


def atanh(x: VarLike) -> Var:
    """Return the number of which x is the hyperbolic tangent; NaN outside of [-1, 1]."""
    return _core.unary("atanh", x)


def erf(x: VarLike) -> Var:
    """Return the error function of x."""
    return _core.unary("erf", x)


def erfc(x: VarLike) -> Var:
    """Return ``1 - erf(x)``, right for large x, too."""
    return _core.unary("erfc", x)


def erfinv(x: VarLike) -> Var:
    """Return the number of which x is the error function; NaN outside of [-1, 1]."""
    return _core.unary("erfinv", x)


def lgamma(x: VarLike) -> Var:
    """Return the logarithm of the gamma function's magnitude: inf at 0, -1, -2, ..."""
    return _core.unary("lgamma", x)


def digamma(x: VarLike) -> Var:
    """Return the derivative of `lgamma`: -inf at 0, NaN at -1, -2, ..."""
    return _core.unary("digamma", x)


def polygamma(n: VarLike, x: VarLike) -> Var:
    """Return the derivative number n of `digamma`.

    Parameters
    ----------
    n
        Integers, 0 or more, of any dtype, which broadcast with x; NaN of other numbers.
        No gradient flows to them.
    x
        Any floats; infinite at 0, -1, -2, ..., but for n = 0, which is `digamma`.
    """
    if isinstance(n, int) and n == 0:
        return digamma(x)
    x = as_var(x)
    if "float" not in x.dtype:
        x = x.cast("float32")
    order = as_var(n).cast(x.dtype)
    order, x = paired(order, x)
    result = _core.binary("polygamma", order, x)
    return result if isinstance(n, int) else elementwise.where(order == 0, digamma(x), result)


def multigammaln(x: VarLike, d: int) -> Var:
    """Return the logarithm of the gamma function of x and d dimensions.

    Halves are computed in float32; integers give float32.

    The sum of ``lgamma(x - j / 2)`` for j from 0 to d - 1 and ``d * (d - 1) / 4 *
    log(pi)``; NaN where x is not above ``(d - 1) / 2``.

    Raises
    ------
    TypeError
        If d is no integer.
    ValueError
        If d is below 1.
    """
    d = whole_number("multigammaln", "d", d)
    if d == 0:
        raise at_line(ValueError("multigammaln: d is 0, expected 1 or more"))
    x, dtype = widened(x)
    halves = _core.iota((d,), 0, x.dtype) * 0.5
    total = lgamma(x.unsqueeze(-1) - halves).sum(-1) + d * (d - 1) / 4 * math.log(math.pi)
    return elementwise.where(x > (d - 1) / 2, total, math.nan).cast(dtype)


def hypot(x: VarLike, y: VarLike) -> Var:
    """Return the square root of ``x**2 + y**2``, which does not overflow in between."""
    return _core.binary("hypot", x, y)


def atan2(y: VarLike, x: VarLike) -> Var:
    """Return the angle of the point (x, y), in [-pi, pi]: of ``y / x``, by its quadrant."""
    return _core.binary("atan2", y, x)


def _log_sum(x: VarLike, y: VarLike, power: Callable[[VarLike], Var], unit: float) -> Var:
    """Return the logarithm of the sum of two powers, ``power(x) + power(y)``.

    Of two equal numbers the first is the larger one, which is right for derivatives of every
    order, since what is added has them, too.
    """
    (x, y), dtype = widened_together(x, y)
    # Infinities of one sign have no difference.
    is_apart = (x != y) | (elementwise.abs(x) != math.inf)
    difference = elementwise.where(is_apart, x - y, 0)
    is_larger = difference >= 0
    rest = log1p(power(elementwise.where(is_larger, -difference, difference)))
    sum_ = elementwise.where(is_larger, x, y) + (rest if unit == 1 else rest * unit)
    return sum_.cast(dtype)


def logaddexp(x: VarLike, y: VarLike) -> Var:
    """Return ``log(exp(x) + exp(y))``, which does not overflow in between.

    Halves are computed in float32; integers give float32.
    """
    return _log_sum(x, y, exp, 1.0)


def logaddexp2(x: VarLike, y: VarLike) -> Var:
    """Return ``log2(2**x + 2**y)``, which does not overflow in between.

    Halves are computed in float32; integers give float32.
    """
    return _log_sum(x, y, exp2, 1 / math.log(2))


def deg2rad(x: VarLike) -> Var:
    """Return an angle of x degrees in radians.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (x * (math.pi / 180)).cast(dtype)


def rad2deg(x: VarLike) -> Var:
    """Return an angle of x radians in degrees.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (x * (180 / math.pi)).cast(dtype)


# SciPy's and JAX's name.
gammaln = lgamma
# NumPy's older names.
arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
arcsinh, arccosh, arctanh = asinh, acosh, atanh
degrees, radians = rad2deg, deg2rad
