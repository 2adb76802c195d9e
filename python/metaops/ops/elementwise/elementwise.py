# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise arithmetic, comparison, logic and choice.

Each takes Vars, NumPy arrays or Python scalars of shapes that broadcast as in
NumPy, and returns a Var of the broadcast shape. Operands of two dtypes are
promoted as the array API standard says; a Python scalar adopts the dtype of the
Var beside it. `functions` has exponentials, logarithms and the like, `rounding` what
makes integers of numbers, `bits` what takes integers apart.
"""

from __future__ import annotations

import math
from typing import overload

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import DType, VarLike, as_var, paired, refuse_out, widened_together
from ..create.limits import finfo

__all__ = [
    "abs",
    "absolute",
    "add",
    "cast",
    "clamp",
    "clip",
    "copysign",
    "divide",
    "divmod",
    "equal",
    "float_power",
    "floor_divide",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "heaviside",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lerp",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "reciprocal",
    "remainder",
    "sign",
    "signbit",
    "square",
    "subtract",
    "true_divide",
    "where",
]


def abs(x: VarLike) -> Var:
    """Return the absolute value of x."""
    return _core.unary("abs", x)


def sign(x: VarLike) -> Var:
    """Return -1, 0 or 1 as x is negative, zero or positive; NaN for NaN."""
    return _core.unary("sign", x)


def negative(x: VarLike) -> Var:
    """Return -x."""
    return _core.unary("neg", x)


def positive(x: VarLike) -> Var:
    """Return +x: a Var of its own."""
    return +as_var(x)


def reciprocal(x: VarLike) -> Var:
    """Return 1 / x, a float; integers give float32."""
    return 1 / as_var(x)


def square(x: VarLike) -> Var:
    """Return x * x."""
    x = as_var(x)
    return x * x


def add(x: VarLike, y: VarLike) -> Var:
    """Return x + y."""
    return _core.binary("add", x, y)


def subtract(x: VarLike, y: VarLike) -> Var:
    """Return x - y."""
    return _core.binary("sub", x, y)


def multiply(x: VarLike, y: VarLike) -> Var:
    """Return x * y."""
    return _core.binary("mul", x, y)


def divide(x: VarLike, y: VarLike) -> Var:
    """Return x / y, a float; two integers give float32."""
    return _core.binary("div", x, y)


def floor_divide(x: VarLike, y: VarLike) -> Var:
    """Return the floor of x / y; an integer divided by zero gives 0."""
    return _core.binary("floor_div", x, y)


def mod(x: VarLike, y: VarLike) -> Var:
    """Return ``x - y * floor(x / y)``, which has the sign of y."""
    return _core.binary("mod", x, y)


def fmod(x: VarLike, y: VarLike) -> Var:
    """Return ``x - y * trunc(x / y)``, which has the sign of x; 0 for integers by zero."""
    return _core.binary("fmod", x, y)


def divmod(x: VarLike, y: VarLike) -> tuple[Var, Var]:
    """Return `floor_divide` and `mod` of x and y."""
    return floor_divide(x, y), mod(x, y)


def pow(x: VarLike, y: VarLike) -> Var:
    """Return x to the power of y.

    Of two integers an integer, which wraps; a power with a negative exponent out of
    a tensor is truncated towards zero, and a negative Python integer raises.

    Raises
    ------
    ValueError
        If x has integers and y is a negative Python integer.
    """
    return _core.binary("pow", x, y)


def float_power(x: VarLike, y: VarLike) -> Var:
    """Return x to the power of y, computed in float64, which the result has."""
    return _core.binary("pow", cast(x, "float64"), y)


def fma(x: VarLike, y: VarLike, z: VarLike) -> Var:
    """Return ``x * y + z``, a float, rounded once; integers give float32."""
    return _core.ternary("fma", x, y, z)


def lerp(x: VarLike, y: VarLike, weight: VarLike) -> Var:
    """Return ``x + weight * (y - x)``, a float: x where the weight is 0.

    Integers are floats before they are subtracted, and give float32.
    """
    (x, y, weight), dtype = widened_together(x, y, weight)
    return (x + weight * (y - x)).cast(dtype)


def copysign(x: VarLike, y: VarLike) -> Var:
    """Return the absolute value of x with the sign of y; integers give float32."""
    return _core.binary("copysign", x, y)


def nextafter(x: VarLike, y: VarLike) -> Var:
    """Return the float next to x on the side of y, in their dtype; integers give float32."""
    return _core.binary("nextafter", x, y)


def heaviside(x: VarLike, y: VarLike) -> Var:
    """Return 0, y or 1 as x is negative, zero or positive; NaN for NaN."""
    x = as_var(x)
    return where(x == 0, y, where(isnan(x), x, (x > 0).cast(x.dtype)))


def maximum(x: VarLike, y: VarLike) -> Var:
    """Return the larger of x and y; NaN if either is. Ties share the gradient."""
    return _core.binary("max", x, y)


def minimum(x: VarLike, y: VarLike) -> Var:
    """Return the smaller of x and y; NaN if either is. Ties share the gradient."""
    return _core.binary("min", x, y)


def fmax(x: VarLike, y: VarLike) -> Var:
    """Return the larger of x and y; the other one where one is NaN."""
    x, y = paired(x, y)
    return where(isnan(x), y, where(isnan(y), x, maximum(x, y)))


def fmin(x: VarLike, y: VarLike) -> Var:
    """Return the smaller of x and y; the other one where one is NaN."""
    x, y = paired(x, y)
    return where(isnan(x), y, where(isnan(y), x, minimum(x, y)))


def _is_beyond(x: Var, bound: VarLike, predicate: str) -> Var:
    """Return where x compares so with a bound, or the bound is NaN."""
    is_beyond = _core.compare(predicate, x, bound)
    is_number = isinstance(bound, int | float) and bound == bound
    return is_beyond if is_number else is_beyond | not_equal(bound, bound)


def clip(
    x: VarLike,
    low: VarLike | None = None,
    high: VarLike | None = None,
    *,
    out: None = None,
) -> Var:
    """Return x moved into ``[low, high]``; a bound that is None does nothing.

    NaN stays, and a bound that is NaN gives NaN. The gradient of x is 1 inside,
    at the bounds too, and 0 outside; that of a bound is 1 where it is the result.
    `out` is NumPy's, and None.
    """
    refuse_out("clip", out)
    x = as_var(x)
    if low is not None:
        x = where(_is_beyond(x, low, "lt"), low, x)
    if high is not None:
        x = where(_is_beyond(x, high, "gt"), high, x)
    return x if low is not None or high is not None else +x


clamp = clip
remainder = mod
absolute = abs
true_divide = divide


def logical_and(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: both x and y are not zero."""
    return _core.binary("and", cast(x, "bool"), cast(y, "bool"))


def logical_or(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x or y is not zero."""
    return _core.binary("or", cast(x, "bool"), cast(y, "bool"))


def logical_xor(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: one of x and y is not zero, the other is."""
    return _core.binary("xor", cast(x, "bool"), cast(y, "bool"))


def logical_not(x: VarLike) -> Var:
    """Return a boolean: x is zero."""
    return _core.unary("not", cast(x, "bool"))


def equal(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x == y."""
    return _core.compare("eq", x, y)


def not_equal(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x != y."""
    return _core.compare("ne", x, y)


def less(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x < y."""
    return _core.compare("lt", x, y)


def less_equal(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x <= y."""
    return _core.compare("le", x, y)


def greater(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x > y."""
    return _core.compare("gt", x, y)


def greater_equal(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x >= y."""
    return _core.compare("ge", x, y)


def isnan(x: VarLike) -> Var:
    """Return a boolean: x is NaN, which no integer is."""
    x = as_var(x)
    return not_equal(x, x)


def isfinite(x: VarLike) -> Var:
    """Return a boolean: x is neither infinite nor NaN, as every integer."""
    x = as_var(x)
    return abs(x) < math.inf if "float" in x.dtype else equal(x, x)


def isinf(x: VarLike) -> Var:
    """Return a boolean: x is infinite, which no integer is."""
    x = as_var(x)
    return abs(x) == math.inf if "float" in x.dtype else not_equal(x, x)


def isposinf(x: VarLike) -> Var:
    """Return a boolean: x is positive infinity."""
    x = as_var(x)
    return x == math.inf if "float" in x.dtype else not_equal(x, x)


def isneginf(x: VarLike) -> Var:
    """Return a boolean: x is negative infinity."""
    x = as_var(x)
    return x == -math.inf if "float" in x.dtype else not_equal(x, x)


#: The integers in which the sign of a float is that of the number.
_SIGNED = {"float16": "int16", "bfloat16": "int16", "float32": "int32", "float64": "int64"}


def signbit(x: VarLike) -> Var:
    """Return a boolean: the sign of x is negative, also of -0.0 and of NaN."""
    x = as_var(x)
    if x.dtype == "bool":
        return not_equal(x, x)
    return (_core.bitcast(x, _SIGNED[x.dtype]) if x.dtype in _SIGNED else x) < 0


def nan_to_num(
    x: VarLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Var:
    """Return x with numbers in the place of NaN and infinities.

    Parameters
    ----------
    x
        Any tensor; integers stay as they are.
    nan
        In the place of NaN.
    posinf, neginf
        In the place of infinities; by default the largest and the lowest number of
        x's dtype.
    """
    x = as_var(x)
    if "float" not in x.dtype:
        return +x
    most = finfo(x.dtype).max
    high = most if posinf is None else posinf
    low = -most if neginf is None else neginf
    x = where(isnan(x), nan, where(x == math.inf, high, x))
    return where(x == -math.inf, low, x)


@overload
def where(condition: VarLike) -> tuple[Var, ...]: ...
@overload
def where(condition: VarLike, x: VarLike, y: VarLike) -> Var: ...
def where(
    condition: VarLike, x: VarLike | None = None, y: VarLike | None = None
) -> Var | tuple[Var, ...]:
    """Return x where the boolean `condition` holds, else y.

    The three broadcast together; x and y are promoted to one dtype. Without x and y it is
    `nonzero` of the condition.

    Raises
    ------
    TypeError
        If one of x and y is given.
    """
    if x is not None and y is not None:
        return _core.select(condition, x, y)
    if x is not None or y is not None:
        absent = "y" if y is None else "x"
        raise at_line(TypeError(f"where: {absent} is not given, expected both of x and y"))
    from ..sort.searching import nonzero

    return nonzero(condition)


def cast(x: VarLike, dtype: DType) -> Var:
    """Return x with another dtype.

    Float to float rounds to nearest even, float to integer truncates and
    saturates (NaN gives 0), integer to integer wraps, to bool is "not zero".
    """
    return _core.cast(as_var(x), dtype)
