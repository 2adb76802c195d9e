# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's universal functions of Vars: ``np.sin(x)`` records `metaops.sin`.

Those of the table below, called without options, record the function of this package,
so gradients flow and dtypes are promoted as there. So do their `reduce`, `accumulate`
and `outer` where there is such a function. Anything else NumPy computes from the values,
and returns an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .._core import Var, matmul
from .._errors import at_line
from .._precision import RULE_OF, computed
from .._typing import as_var
from ..complex_numbers.operands import is_complex
from ..complex_numbers.pair import Complex
from ..complex_numbers.table import FORMS
from ..ops.elementwise import bits, elementwise, functions, rounding
from ..ops.products import products
from ..ops.reduce import cumulative, reduction
from . import array_api

__all__ = ["array_ufunc"]

#: Functions under NumPy's names for them.
_SAME = (
    (
        elementwise,
        "add copysign divide divmod equal float_power floor_divide fmax fmin fmod"
        " greater greater_equal heaviside isfinite isinf isnan less less_equal logical_and"
        " logical_not logical_or logical_xor maximum minimum multiply negative nextafter"
        " not_equal positive reciprocal sign signbit square subtract",
    ),
    (bits, "bitwise_and bitwise_count bitwise_or bitwise_xor gcd lcm"),
    (
        functions,
        "cbrt cos cosh deg2rad exp exp2 expm1 hypot log log10 log1p log2 logaddexp logaddexp2"
        " rad2deg sin sinh sqrt tan tanh",
    ),
    (products, "vecdot"),
    (rounding, "ceil floor trunc"),
)
#: Functions whose name here is another one.
_RENAMED: dict[str, Callable[..., Any]] = {
    "absolute": elementwise.abs,
    "arccos": functions.acos,
    "arccosh": functions.acosh,
    "arcsin": functions.asin,
    "arcsinh": functions.asinh,
    "arctan": functions.atan,
    "arctan2": functions.atan2,
    "arctanh": functions.atanh,
    "conjugate": array_api.conj,
    "degrees": functions.rad2deg,
    "invert": bits.bitwise_invert,
    "left_shift": bits.bitwise_left_shift,
    "matmul": matmul,
    "power": elementwise.pow,
    "radians": functions.deg2rad,
    "remainder": elementwise.mod,
    "right_shift": bits.bitwise_right_shift,
    "rint": rounding.round,
}


class _Along(NamedTuple):
    """What a function of two numbers makes of the elements along a dimension."""

    reduce: Callable[..., Var]
    options: frozenset[str]
    accumulate: Callable[..., Var] | None


def _along(
    reduce: Callable[..., Var], options: str, accumulate: Callable[..., Var] | None = None
) -> _Along:
    return _Along(reduce, frozenset(["axis", "keepdims", *options.split()]), accumulate)


_REDUCTIONS = {
    "add": _along(reduction.sum, "dtype initial where", cumulative.cumsum),
    "multiply": _along(reduction.prod, "dtype initial where", cumulative.cumprod),
    "maximum": _along(reduction.max, "initial where", cumulative.cummax),
    "minimum": _along(reduction.min, "initial where", cumulative.cummin),
    "logaddexp": _along(reduction.logsumexp, "", cumulative.logcumsumexp),
    "logical_and": _along(reduction.all, "where"),
    "logical_or": _along(reduction.any, "where"),
}


def _table() -> dict[Any, Callable[..., Any]]:
    named = {name: getattr(module, name) for module, names in _SAME for name in names.split()}
    named |= _RENAMED
    # Not every version of NumPy has all.
    return {getattr(np, name): _with_rule(f) for name, f in named.items() if hasattr(np, name)}


def _with_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes by its rule under autocast, as the public one does."""
    rule = RULE_OF.get(function.__name__)
    return computed(rule)(function) if rule and isinstance(function, FunctionType) else function


_FUNCTIONS = _table()
#: NumPy's letters for the types of elements.
_LETTERS = frozenset("?bBhHiIlLqQefd")


def _is_ours(value: object) -> bool:
    """Tell whether a function of this package takes an operand."""
    if type(value) in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        kind: np.dtype[Any] = value.dtype  # type: ignore[attr-defined]
        return kind.char in _LETTERS or kind.name == "bfloat16"
    return isinstance(value, Var | int | float)


def _is_foreign(value: object) -> bool:
    """Tell whether an operand's type decides by itself what NumPy's functions do to it."""
    override = getattr(type(value), "__array_ufunc__", array_ufunc)
    return override not in (array_ufunc, np.ndarray.__array_ufunc__)


def _outer(function: Callable[..., Any], x: Any, y: Any) -> Any:
    x, y = as_var(x), as_var(y)
    return function(x.reshape((*x.shape, *(1,) * y.ndim)), y)


def _recorded(
    ufunc: Any,
    function: Callable[..., Any],
    method: str,
    inputs: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    """Return what a function of this package makes of the inputs; NotImplemented if none does."""
    if not all(map(_is_ours, inputs)):
        return NotImplemented
    if method == "__call__" and not options:
        return function(*inputs)
    if method == "outer" and not options and ufunc.signature is None:
        return _outer(function, *inputs)
    along = _REDUCTIONS.get(ufunc.__name__)
    if along is None or not isinstance(inputs[0], Var):
        return NotImplemented
    if method == "reduce" and options.keys() <= along.options:
        # NumPy's functions of the same name reduce all dimensions, these the first.
        given = {**options}
        return along.reduce(inputs[0], given.pop("axis", 0), **given)
    if method == "accumulate" and along.accumulate and options.keys() <= {"axis"}:
        return along.accumulate(inputs[0], options.get("axis", 0))
    return NotImplemented


def _of_complex(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Return what the forms for complex numbers make of the inputs.

    Raises
    ------
    TypeError
        If there is no such form: nothing is computed by NumPy, which would cut gradients.
    """
    function = _FUNCTIONS.get(ufunc)
    form = FORMS.get(getattr(function, "__name__", ""))
    if any(map(_is_foreign, inputs)):
        return NotImplemented
    given = {key: value for key, value in options.items() if value is not None}
    if form is not None and method == "__call__" and not given:
        return form(*inputs)
    along = _REDUCTIONS.get(ufunc.__name__)
    if along is not None and method == "reduce" and given.keys() <= along.options | {"out"}:
        form = FORMS.get(along.reduce.__name__)
        if form is not None:
            return form(inputs[0], given.pop("axis", 0 if "axis" not in options else None), **given)
    if along is not None and along.accumulate and method == "accumulate":
        form = FORMS.get(along.accumulate.__name__)
        if form is not None and given.keys() <= {"axis"}:
            return form(inputs[0], given.get("axis", 0))
    called = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise at_line(
        TypeError(
            f"np.{called}: given complex numbers"
            + (f" and {', '.join(given)}" if given else "")
            + ", for which there is no such function; z.numpy() has the numbers"
        )
    )


def _fetched(value: Any) -> Any:
    return value.numpy() if isinstance(value, Var) else value


def array_ufunc(self: Var | Complex, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Return what a universal function of NumPy makes of Vars and other operands."""
    function = _FUNCTIONS.get(ufunc)
    if function and method == "__call__" and not options and all(map(_is_ours, inputs)):
        # As of an array and a Var: this is all that they need.
        return function(*inputs)
    if any(map(is_complex, inputs)):
        return _of_complex(ufunc, method, inputs, options)
    if any(map(_is_foreign, inputs)):
        return NotImplemented
    outputs = options.pop("out", ())
    if any(isinstance(x, Var) for x in (*outputs, *(inputs[:1] if method == "at" else ()))):
        raise at_line(
            TypeError(
                f"np.{ufunc.__name__}: a Var is to be written, expected an array; x.assign(y) and"
                " x.at[key] give a Var another value"
            )
        )
    operands = [np.asarray(x) if isinstance(x, list | tuple) else x for x in inputs]
    if function and all(out is None for out in outputs):
        chosen = {
            key: value
            for key, value in options.items()
            if key == "axis" or not (value is None or (key == "where" and value is True))
        }
        result = _recorded(ufunc, function, method, operands, chosen)
        if result is not NotImplemented:
            return result
    given = {key: _fetched(value) for key, value in options.items()}
    if outputs:
        given["out"] = outputs
    return getattr(ufunc, method)(*map(_fetched, operands), **given)
