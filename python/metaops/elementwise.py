# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise functions.

Each takes Vars, NumPy arrays or Python scalars of shapes that broadcast as in
NumPy, and returns a Var of the broadcast shape. Operands of two dtypes are
promoted as the array API standard says; a Python scalar adopts the dtype of the
Var beside it. The functions of one real argument that are not rational take
floats; integers become float32.
"""

from __future__ import annotations

from . import _core
from ._core import Var
from ._typing import DType, VarLike, as_var

__all__ = [
    "abs",
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "clamp",
    "clip",
    "cos",
    "divide",
    "equal",
    "erf",
    "exp",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "round",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "where",
]


def _real(name: str, x: VarLike) -> Var:
    """Apply a unary op that is defined for floats only."""
    x = as_var(x)
    return _core.unary(name, x if "float" in x.dtype else x.cast("float32"))


def exp(x: VarLike) -> Var:
    """Return e to the power of x."""
    return _real("exp", x)


def log(x: VarLike) -> Var:
    """Return the natural logarithm of x: -inf at 0, NaN below."""
    return _real("log", x)


def sqrt(x: VarLike) -> Var:
    """Return the square root of x: NaN below 0."""
    return _real("sqrt", x)


def sin(x: VarLike) -> Var:
    """Return the sine of x in radians."""
    return _real("sin", x)


def cos(x: VarLike) -> Var:
    """Return the cosine of x in radians."""
    return _real("cos", x)


def tanh(x: VarLike) -> Var:
    """Return the hyperbolic tangent of x."""
    return _real("tanh", x)


def erf(x: VarLike) -> Var:
    """Return the error function of x."""
    return _real("erf", x)


def _rounded(name: str, x: VarLike) -> Var:
    x = as_var(x)
    return _core.unary(name, x) if "float" in x.dtype else +x


def floor(x: VarLike) -> Var:
    """Return the largest integer not above x, in x's dtype."""
    return _rounded("floor", x)


def ceil(x: VarLike) -> Var:
    """Return the smallest integer not below x, in x's dtype."""
    return _rounded("ceil", x)


def round(x: VarLike) -> Var:
    """Return the integer nearest to x, ties to even, in x's dtype."""
    return _rounded("round", x)


def abs(x: VarLike) -> Var:
    """Return the absolute value of x."""
    return _core.unary("abs", x)


def sign(x: VarLike) -> Var:
    """Return -1, 0 or 1 as x is negative, zero or positive; NaN for NaN."""
    return _core.unary("sign", x)


def negative(x: VarLike) -> Var:
    """Return -x."""
    return _core.unary("neg", x)


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
    return as_var(x) / y


def floor_divide(x: VarLike, y: VarLike) -> Var:
    """Return the floor of x / y; an integer divided by zero gives 0."""
    return _core.binary("floor_div", x, y)


def mod(x: VarLike, y: VarLike) -> Var:
    """Return ``x - y * floor(x / y)``, which has the sign of y."""
    return _core.binary("mod", x, y)


def pow(x: VarLike, y: VarLike) -> Var:
    """Return x to the power of y."""
    return as_var(x) ** y


def maximum(x: VarLike, y: VarLike) -> Var:
    """Return the larger of x and y; NaN if either is. Ties share the gradient."""
    return _core.binary("max", x, y)


def minimum(x: VarLike, y: VarLike) -> Var:
    """Return the smaller of x and y; NaN if either is. Ties share the gradient."""
    return _core.binary("min", x, y)


def _is_beyond(x: Var, bound: VarLike, predicate: str) -> Var:
    """Return where x compares so with a bound, or the bound is NaN."""
    is_beyond = _core.compare(predicate, x, bound)
    is_number = isinstance(bound, int | float) and bound == bound
    return is_beyond if is_number else is_beyond | not_equal(bound, bound)


def clip(x: VarLike, low: VarLike | None = None, high: VarLike | None = None) -> Var:
    """Return x moved into ``[low, high]``; a bound that is None does nothing.

    NaN stays, and a bound that is NaN gives NaN. The gradient of x is 1 inside,
    at the bounds too, and 0 outside; that of a bound is 1 where it is the result.
    """
    x = as_var(x)
    if low is not None:
        x = where(_is_beyond(x, low, "lt"), low, x)
    if high is not None:
        x = where(_is_beyond(x, high, "gt"), high, x)
    return x if low is not None or high is not None else +x


clamp = clip


def bitwise_and(x: VarLike, y: VarLike) -> Var:
    """Return the bits that are set in both integers or booleans."""
    return _core.binary("and", x, y)


def bitwise_or(x: VarLike, y: VarLike) -> Var:
    """Return the bits that are set in either of two integers or booleans."""
    return _core.binary("or", x, y)


def bitwise_xor(x: VarLike, y: VarLike) -> Var:
    """Return the bits that differ between two integers or booleans."""
    return _core.binary("xor", x, y)


def logical_and(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: both x and y are not zero."""
    return bitwise_and(cast(x, "bool"), cast(y, "bool"))


def logical_or(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: x or y is not zero."""
    return bitwise_or(cast(x, "bool"), cast(y, "bool"))


def logical_xor(x: VarLike, y: VarLike) -> Var:
    """Return a boolean: one of x and y is not zero, the other is."""
    return bitwise_xor(cast(x, "bool"), cast(y, "bool"))


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


def where(condition: VarLike, x: VarLike, y: VarLike) -> Var:
    """Return x where the boolean `condition` holds, else y.

    The three broadcast together; x and y are promoted to one dtype.
    """
    return _core.select(condition, x, y)


def cast(x: VarLike, dtype: DType) -> Var:
    """Return x with another dtype.

    Float to float rounds to nearest even, float to integer truncates and
    saturates (NaN gives 0), integer to integer wraps, to bool is "not zero".
    """
    return _core.cast(as_var(x), dtype)
