# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attaches to Complex its operators and methods, and has forms for those of Var."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import _core, _devices
from .._core import Var
from .._errors import at_line
from ..compat.array_api import array_namespace
from . import parts, printing
from .arithmetic import add, divide, equal, multiply, not_equal, power, subtract
from .at import at, getitem, setitem
from .dtypes import find_dtype
from .halves import bilinear, half, is_real_dtype, kept, merged
from .operands import is_complex, placed
from .pair import Complex
from .table import FORMS, matmul

__all__ = ["attach", "forms_of_var"]


def _matmul(x: Any, y: Any) -> Any:
    return bilinear(matmul, None, x, y)


def _given(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that computes as ever under autocast, with all that it calls."""
    wrapped: Callable[..., Any] = _core.wrap_function(function, "metaops", name)
    return _core.set_rule(wrapped, "given")


#: Operators of two operands, by the names that Python has for them.
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: _given(placed(function), name)
    for name, function in {
        "add": add,
        "sub": subtract,
        "mul": multiply,
        "truediv": divide,
        "pow": power,
        "matmul": _matmul,
    }.items()
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": placed(equal),
    "ne": placed(not_equal),
}

#: Methods of Var that do the same to both halves.
_LINEAR_METHODS = """
    T broadcast broadcast_to contiguous cumsum diagonal flatten flip gather mT mean moveaxis
    permute ravel repeat reshape roll split squeeze stop_grad sum swapaxes t take tile trace
    transpose tril triu unsqueeze view
"""
#: Methods that are forms of functions.
_METHODS = """
    abs acos acosh all any asin asinh atan atanh conj cos cosh cumprod exp exp2 expm1 isfinite
    isinf isnan log log10 log1p log2 pow prod reciprocal rsqrt scatter_add sign sin sinh sqrt square
    std tan tanh var dot
"""
#: Operators of Var that complex numbers and arrays may stand on the right of.
_OF_VAR = {
    f"__{prefix}{name}__": (function, bool(prefix))
    for name, function in _OPERATORS.items()
    for prefix in ("", "r")
} | {f"__{name}__": (function, False) for name, function in _COMPARISONS.items()}


def _is_operand(value: object) -> bool:
    return isinstance(value, Complex | list | tuple) or is_complex(value) or _core.is_operand(value)


def _operator(function: Callable[[Any, Any], Any], is_reflected: bool) -> Callable[..., Any]:
    def operator(self: Complex, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return function(other, self) if is_reflected else function(self, other)

    return operator


def _in_place(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operator(self: Complex, other: Any) -> Any:
        return self.assign(function(self, other)) if _is_operand(other) else NotImplemented

    return operator


def _refuse_order(self: Complex, other: Any) -> Any:
    raise at_line(
        TypeError(
            "<, <=, > and >=: given a Complex, expected real numbers: complex ones have no order"
        )
    )


def _on_the_left(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return the form of an operator of Var; a Complex has its own for the other side."""

    def form(self: Var, other: Any) -> Any:
        if type(other) is Complex or not _is_operand(other):
            return NotImplemented
        return function(self, other)

    return form


def _on_the_right(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self) if _is_operand(other) else NotImplemented


def _moved(self: Var, destination: Any) -> Complex:
    return _astype(self, destination.dtype if isinstance(destination, Complex) else destination)


def forms_of_var() -> dict[Any, Callable[..., Any]]:
    """Return the forms of operators and methods of Var, by these."""
    forms = {
        name: _on_the_right(function) if is_reflected else _on_the_left(function)
        for name, (function, is_reflected) in _OF_VAR.items()
    }
    forms |= {"astype": _astype, "cast": _astype, "to": _moved, "pow": power}
    forms |= {name: FORMS[name] for name in ("cumsum", "dot", "mean", "prod", "sum")}
    return {getattr(Var, name): form for name, form in forms.items()}


def _linear_method(name: str) -> Any:
    found = getattr(Var, name)
    if isinstance(found, property):
        return property(lambda self: merged(getattr(self.real, name), getattr(self.imag, name)))

    def method(self: Complex, *args: Any, **kwargs: Any) -> Any:
        given = [kept(name, "an argument", arg) for arg in args]
        named = {key: kept(name, key, arg) for key, arg in kwargs.items() if key != "initial"}
        initial = {key: arg for key, arg in kwargs.items() if key == "initial"}

        def of(which: str) -> Any:
            part = getattr(self, which)
            start = {key: half(value, which, part.dtype) for key, value in initial.items()}
            return getattr(part, name)(*given, **named, **start)

        return merged(of("real"), of("imag"))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = found.__doc__
    return _given(method, f"Complex.{name}")


def _method(name: str) -> Callable[..., Any]:
    form = FORMS[name]
    plain = getattr(form, "__wrapped__", None)
    if isinstance(plain, FunctionType) and "dim" in plain.__code__.co_varnames:
        # Its parameters have other spellings.
        return _given(form, f"Complex.{name}")

    def method(self: Complex, *args: Any, **kwargs: Any) -> Any:
        return form(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"See `metaops.{name}`."
    return _given(method, f"Complex.{name}")


def _astype(self: Complex | Var, dtype: Any) -> Complex:
    """Return the same numbers with another complex type."""
    made: Complex = FORMS["cast"](self, dtype)
    return made


def _to(self: Complex, destination: Any) -> Complex:
    """Return the same numbers with another complex type, or on a device."""
    if isinstance(destination, Complex):
        destination = destination.dtype
    if find_dtype(destination) is not None or is_real_dtype(destination):
        return _astype(self, destination)
    place = _devices.device(destination)
    return Complex._of(_core.transfer(self.real, place), _core.transfer(self.imag, place))


def _to_device(self: Complex, device: Any, *, stream: None = None) -> Complex:
    """Return the same tensor on a device; gradients flow back."""
    return Complex._of(
        self.real.to_device(device, stream=stream), self.imag.to_device(device, stream=stream)
    )


def _absolute(self: Complex) -> Var:
    size: Var = FORMS["abs"](self)
    return size


def _contains(self: Complex, value: Any) -> bool:
    """Return whether any element equals a number, or one of a tensor that broadcasts."""
    return _is_operand(value) and bool(equal(self, value).any())


def _conj_transpose(self: Complex) -> Complex:
    """Return the matrices of the last two dimensions transposed, and conjugated."""
    conjugate: Complex = FORMS["conj"](self)
    return Complex._of(conjugate.real.mT, conjugate.imag.mT)


def attach(array_ufunc: Callable[..., Any]) -> None:
    """Give Complex its members.

    Parameters
    ----------
    array_ufunc
        What NumPy's universal functions are, which knows the forms of this package.
    """
    setattr(Complex, "__array_ufunc__", array_ufunc)  # noqa: B010
    for name, function in _OPERATORS.items():
        setattr(Complex, f"__{name}__", _operator(function, False))
        setattr(Complex, f"__r{name}__", _operator(function, True))
        setattr(Complex, f"__i{name}__", _in_place(function))
    for name, function in _COMPARISONS.items():
        setattr(Complex, f"__{name}__", _operator(function, False))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Complex, f"__{name}__", _refuse_order)
    for name in _LINEAR_METHODS.split():
        setattr(Complex, name, _linear_method(name))
    for name in _METHODS.split():
        setattr(Complex, name, _method(name))
    for name, member in _OTHERS.items():
        setattr(Complex, name, member)


_OTHERS: dict[str, Any] = {
    "__abs__": _absolute,
    "__contains__": _contains,
    "__format__": printing.format_of,
    "__array_namespace__": array_namespace,
    "__getitem__": getitem,
    "__neg__": lambda self: FORMS["negative"](self),
    "__pos__": lambda self: self.clone(),
    "__repr__": printing.represent,
    "__setitem__": setitem,
    "__str__": printing.write,
    "H": property(_conj_transpose),
    "at": property(at),
    "astype": _astype,
    "cast": _astype,
    "to": _to,
    "to_device": _to_device,
    "angle": parts.angle,
}
