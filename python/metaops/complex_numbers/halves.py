# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of complex numbers that are made of functions of their halves.

A *linear* function does the same to both halves, as those that move elements do. One that
is *bilinear* in two operands is made of four of its own values, or two where an operand is
real.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from .dtypes import as_complex_dtype, find_dtype, half_of
from .operands import as_complex, common_half, concerns_complex, is_complex, is_number
from .pair import Complex

__all__ = [
    "bilinear",
    "half",
    "is_pair",
    "is_real_dtype",
    "kept",
    "kept_all",
    "linear",
    "merged",
    "multilinear",
    "one_by_one",
]


def is_pair(value: Any) -> bool:
    """Tell whether an operand is complex: a Complex, a number, an array or a list with one."""
    return is_complex(value) or (isinstance(value, list | tuple) and concerns_complex(value))


def half(value: Any, name: str, dtype: str) -> Any:
    """Return one half of an operand, by its name; that of a real one may be 0.

    Numbers stay numbers, for parameters that take no tensor, with the digits of the type.
    """
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [half(part, name, dtype) for part in value]
    if is_number(value):
        part = getattr(value, name)
        return np.float64(part) if dtype == "float64" else part
    return getattr(as_complex(value, dtype), name)


def is_real_dtype(value: Any) -> bool:
    """Tell whether an argument stands for a type of real numbers."""
    if not isinstance(value, str | type | np.dtype):
        return False
    try:
        _core.dtype(value)
    except (TypeError, ValueError):
        return False
    return True


def kept(what: str, name: str, value: Any) -> Any:
    """Return an argument that is no operand, as a shape or an index: the same for both halves.

    A complex type stands for that of the halves.

    Raises
    ------
    TypeError
        If it is complex, or a real type, which would have no place for imaginary parts.
    """
    if isinstance(value, Var | int | float) or value is None:
        return value
    if (dtype := find_dtype(value)) is not None:
        return half_of(dtype)
    if is_pair(value):
        raise at_line(TypeError(f"{what}: {name} is {shown(value)}, expected real numbers"))
    if is_real_dtype(value):
        as_complex_dtype(what, value)
    return value


def kept_all(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a function that has no operands, as `kept` has each."""
    what = function.__name__
    return (
        [kept(what, _parameter(function, place), arg) for place, arg in enumerate(args)],
        {key: kept(what, key, value) for key, value in kwargs.items()},
    )


def _parameter(function: Callable[..., Any], place: int) -> str:
    """Return the name of the parameter that an argument by position is for."""
    code = function.__code__
    if place < code.co_argcount:
        return code.co_varnames[place]
    has_more = code.co_flags & inspect.CO_VARARGS
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if has_more else "it"


def merged(re: Any, im: Any) -> Any:
    """Return the pairs that two results of one structure make up."""
    if isinstance(re, Var):
        return Complex._of(re, im)
    if isinstance(re, list | tuple):
        parts = [merged(*halves) for halves in zip(re, im, strict=True)]
        return type(re)(*parts) if hasattr(re, "_fields") else type(re)(parts)
    return re


def linear(function: Callable[..., Any], operands: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """Return what a linear function makes of complex arguments.

    Parameters
    ----------
    function
        Of real tensors.
    operands
        The names of the parameters that are operands.
    *args, **kwargs
        The arguments.
    """
    what = function.__name__
    names = [_parameter(function, place) for place in range(len(args))]
    named = {key: value for key, value in kwargs.items() if key not in operands}
    named = {key: kept(what, key, value) for key, value in named.items()}
    given = [
        arg if name in operands else kept(what, name, arg)
        for name, arg in zip(names, args, strict=True)
    ]
    of_names = {key: value for key, value in kwargs.items() if key in operands}
    of_places = [arg for name, arg in zip(names, args, strict=True) if name in operands]
    dtype = common_half(*(x for x in (*of_places, *of_names.values()) if x is not None))

    def of(which: str) -> Any:
        return function(
            *(
                half(arg, which, dtype) if name in operands else arg
                for name, arg in zip(names, given, strict=True)
            ),
            **{key: half(value, which, dtype) for key, value in of_names.items()},
            **named,
        )

    return merged(of("real"), of("imag"))


def one_by_one(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of several tensors, of which the complex ones stay complex.

    It does the same to both halves, and has a result for each argument.
    """
    re, im = (
        function(
            *(half(arg, name, common_half(arg)) if is_pair(arg) else arg for arg in args),
            **kwargs,
        )
        for name in ("real", "imag")
    )
    if isinstance(re, Var):
        return Complex._of(re, im)
    made = [
        Complex._of(first, second) if is_pair(arg) else first
        for arg, first, second in zip(args, re, im, strict=True)
    ]
    return type(re)(made)


def bilinear(
    function: Callable[..., Any], conjugated: int | None, *args: Any, **kwargs: Any
) -> Any:
    """Return what a function that is linear in its first two parameters makes of complex ones.

    Parameters
    ----------
    function
        Of real tensors.
    conjugated
        The operand whose conjugate is taken, by its place; None is for none.
    *args, **kwargs
        The arguments.
    """
    what, given, named = function.__name__, [*args], {**kwargs}
    for place in range(len(given), 2):
        name = _parameter(function, place)
        if name not in named:
            raise at_line(TypeError(f"{what}: {name} is not given"))
        given.append(named.pop(name))
    rest = [kept(what, _parameter(function, i + 2), arg) for i, arg in enumerate(given[2:])]
    named = {key: kept(what, key, value) for key, value in named.items()}
    operands, dtype = given[:2], common_half(*given[:2])
    operands = [as_complex(x, dtype) if is_pair(x) else x for x in operands]
    if conjugated is not None and isinstance(z := operands[conjugated], Complex):
        operands[conjugated] = Complex._of(z.real, -z.imag)
    return multilinear(lambda given: function(*given, *rest, **named), operands)


def multilinear(product: Callable[[list[Any]], Any], operands: list[Any]) -> Any:
    """Return what a function that is linear in each of several operands makes of complex ones.

    They are taken apart from the first one on, so n complex operands make 2**n products.
    """
    places = [i for i, x in enumerate(operands) if is_pair(x)]
    if not places:
        return product(operands)
    dtype = common_half(*(x for x in operands if is_pair(x) or isinstance(x, Var | np.ndarray)))
    given = [
        as_complex(x, dtype) if i in places else _core.full((), x, dtype) if is_number(x) else x
        for i, x in enumerate(operands)
    ]
    return _product(product, given, places)


def _product(product: Callable[[list[Any]], Any], operands: list[Any], places: list[int]) -> Any:
    """Return a product of operands of which those in some places are complex."""
    if not places:
        return product(operands)
    place, *rest = places
    given = operands[place]
    of_real, of_imag = (
        _product(product, [*operands[:place], part, *operands[place + 1 :]], rest)
        for part in (given.real, given.imag)
    )
    if isinstance(of_real, Complex):
        return Complex._of(of_real.real - of_imag.imag, of_real.imag + of_imag.real)
    return Complex._of(of_real, of_imag)
