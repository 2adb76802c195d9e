# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of functions of complex numbers: pairs made of numbers, arrays and real tensors.

A real number is a complex one whose imaginary part is 0, as NumPy has it: what an infinite
factor makes of that 0 is NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._errors import at_line
from .._typing import as_var, shown
from ..ops.shape.shaping import broadcast_arrays
from .dtypes import find_dtype, half_of, promoted_half
from .pair import Complex

__all__ = [
    "as_complex",
    "called_beside",
    "common_half",
    "concerns_complex",
    "fitted_halves",
    "is_complex",
    "is_number",
    "paired",
    "placed",
    "zeros_beside",
]

F = TypeVar("F", bound=Callable[..., Any])

_FLOATS = ("float32", "float64")


def is_complex(value: object) -> bool:
    """Tell whether a value has complex elements: a Complex, a number or an array."""
    kind = type(value)
    if kind is Complex or kind is complex:
        return True
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind == "c"
    return isinstance(value, complex)


def concerns_complex(values: Iterable[object]) -> bool:
    """Tell whether a complex value is among some or in sequences of them, or such a type is."""
    for value in values:
        if isinstance(value, Var):
            continue
        if isinstance(value, list | tuple):
            if concerns_complex(value):
                return True
        elif is_complex(value) or find_dtype(value) is not None:
            return True
    return False


def is_number(value: object) -> bool:
    """Tell whether a value is a number of Python's, which adopts the type of what is beside it."""
    return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def _default_half() -> str:
    return get_default_dtype() if get_default_dtype() in _FLOATS else "float32"


def _as_floats(x: Var, half: str) -> Var:
    return x if x.dtype == half else x.cast(half)


def fitted_halves(real: Any, imag: Any) -> tuple[Var, Var]:
    """Return two halves as tensors of one shape and one type of floats."""
    for half in (real, imag):
        if is_complex(half):
            raise at_line(TypeError(f"Complex: a half is {shown(half)}, expected real numbers"))
    if isinstance(real, Var) and isinstance(imag, Var) and real.device != imag.device:
        raise at_line(
            ValueError(
                f"Complex: the halves are on {real.device} and {imag.device}, expected one"
                f" device; bring one over with .to('{real.device}')"
            )
        )
    first, second = _beside(real, imag), _beside(imag, real)
    half = promoted_half([first.dtype, second.dtype])
    first, second = _as_floats(first, half), _as_floats(second, half)
    if first.shape != second.shape:
        first, second = broadcast_arrays(first, second)
    # Each half may be given other values by itself.
    return first, second.clone() if second is first else second


def _beside(half: Any, other: Any) -> Var:
    """Return a half as a tensor, a number of Python as one of the other half's floats."""
    if is_number(half):
        is_typed = isinstance(other, Var | np.ndarray | np.generic)
        dtype = str(other.dtype) if is_typed else get_default_dtype()
        return _core.full((), half, dtype if dtype in _FLOATS else "float32")
    return as_var(half)


#: Makes a call on the device of a tensor, as the extension does for the tensors of a call, and
#: as ever under autocast.
called_beside = _core.set_rule(
    _core.wrap_function(
        lambda x, function, args, kwargs: function(*args, **kwargs), "metaops", "called_beside"
    ),
    "given",
)


def placed(function: F) -> F:
    """Return a form that computes as ever, where the tensors are that it is given.

    Its results are tensors of their own, none that is given, as those of all functions are:
    what is written to one of them later changes no other. Calls with ``copy=False`` ask for
    the same.
    """

    @functools.wraps(function)
    def there(*args: Any, **kwargs: Any) -> Any:
        given = _tensors_in((args, *kwargs.values()))
        first = given[0] if given else None
        result = called_beside(first, function, args, kwargs)
        if kwargs.get("copy", True) is False:
            return result
        return _apart(result, {*map(id, given)})

    return cast(F, there)


def _tensors_in(values: Any) -> list[Var]:
    """Return the tensors among values and in lists of them, with both halves of a Complex."""
    found: list[Var] = []
    rest = [*values][::-1]
    while rest:
        value = rest.pop()
        if isinstance(value, Var):
            found.append(value)
        elif type(value) is Complex:
            found += (value.real, value.imag)
        elif isinstance(value, list | tuple):
            rest += value[::-1]
    return found


def _apart(result: Any, given: set[int]) -> Any:
    """Return a result with copies of those tensors that are given."""
    if isinstance(result, Var):
        return result.clone() if id(result) in given else result
    if type(result) is Complex:
        re, im = _apart(result.real, given), _apart(result.imag, given)
        return result if re is result.real and im is result.imag else Complex._of(re, im)
    return result


def zeros_beside(x: Var) -> Var:
    """Return the imaginary parts of real numbers."""
    return _core.full(x.shape, 0, x.dtype)


def as_complex(value: Any, half: str | None = None) -> Complex:
    """Return a value as a pair.

    Parameters
    ----------
    value
        A Complex, a number, an array or a tensor, or lists of these.
    half
        The type of its halves; by default its own, that of an array, and the default of
        Python's numbers.
    """
    if isinstance(value, Complex):
        if half is None or value.real.dtype == half:
            return value
        return Complex._of(_as_floats(value.real, half), _as_floats(value.imag, half))
    if isinstance(value, list | tuple):
        return _stacked(value, half)
    if is_number(value):
        # Straight to its type, with all digits that this has.
        own = half or _default_half()
        return Complex._of(_core.full((), value.real, own), _core.full((), value.imag, own))
    if is_complex(value):
        if (dtype := find_dtype(value.dtype)) is None:
            raise at_line(
                TypeError(
                    f"array: given elements of dtype {value.dtype}, expected complex64 or"
                    " complex128"
                )
            )
        own = half or half_of(dtype)
        return Complex._of(_core.array(value.real, own), _core.array(value.imag, own))
    x = as_var(value)
    x = _as_floats(x, half or promoted_half([x.dtype]))
    return Complex._of(x, zeros_beside(x))


def _stacked(value: Any, half: str | None) -> Complex:
    """Return nested sequences of numbers and tensors as a pair."""
    if not _has_tensors(value):
        elements = np.asarray(value)
        if half is None and not _is_typed(value):
            half = _default_half()
        return as_complex(elements, half)
    parts = paired(*value) if half is None else [as_complex(part, half) for part in value]
    return Complex._of(
        _core.stack([part.real for part in parts], 0), _core.stack([part.imag for part in parts], 0)
    )


def _has_tensors(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_tensors, value))
    return isinstance(value, Complex | Var)


def _is_typed(value: Any) -> bool:
    """Tell whether numbers of NumPy's are among those in sequences, which have types."""
    if isinstance(value, list | tuple):
        return any(map(_is_typed, value))
    return isinstance(value, np.ndarray | np.generic)


def _type_in(value: Any) -> str | None:
    """Return the type of an operand; None of a number of Python's, which adopts others'."""
    if isinstance(value, Complex | Var | np.ndarray | np.generic):
        return str(value.dtype)
    if is_number(value):
        return None
    if isinstance(value, list | tuple):
        return _type_among(value)
    return str(as_complex(value).dtype)


def _type_among(values: Iterable[Any]) -> str | None:
    """Return the type of halves for operands; None where all are numbers of Python's."""
    types = [dtype for dtype in map(_type_in, values) if dtype is not None]
    return promoted_half(types) if types else None


def common_half(*operands: Any) -> str:
    """Return the type of halves for operands, the default one for numbers of Python's."""
    return _type_among(operands) or _default_half()


def paired(*operands: Any) -> list[Complex]:
    """Return operands as pairs whose halves have one type."""
    if all(type(x) is Complex for x in operands):
        first, *others = operands
        dtype = first.real.dtype
        if all(x.real.dtype == dtype for x in others):
            return list(operands)
    half = common_half(*operands)
    return [as_complex(x, half) for x in operands]
