# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What numbers an element type has: `finfo` and `iinfo`, as in the array API."""

from __future__ import annotations

from typing import Any, NoReturn

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import DType
from ...complex_numbers.dtypes import find_dtype, half_of
from ...complex_numbers.pair import Complex

__all__ = ["finfo", "iinfo"]

#: Of each type of floats: bits, bits of the significand after the first, and the
#: exponent of the largest power of two.
_FLOATS = {
    "float16": (16, 10, 15),
    "bfloat16": (16, 7, 127),
    "float32": (32, 23, 127),
    "float64": (64, 52, 1023),
}


def _dtype_of(type: DType | Var | Complex) -> _core.dtype:
    """Return the type of a tensor, or the type itself; of complex numbers that of their halves."""
    given = type.dtype if isinstance(type, Var | Complex) else type
    found = find_dtype(given)
    return _core.dtype(given) if found is None else half_of(found)


class _Limits:
    """A value that is what its attributes are, and stays so."""

    def _set(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise at_line(AttributeError(f"{type(self).__name__}: {name} cannot be set"))

    def __delattr__(self, name: str) -> NoReturn:
        raise at_line(AttributeError(f"{type(self).__name__}: {name} cannot be deleted"))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        attributes = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({attributes})"


class finfo(_Limits):  # noqa: N801 (the array API's name)
    """The limits of a type of floats, or of the halves of complex numbers.

    Parameters
    ----------
    type
        A dtype, or a Var, whose dtype is meant.

    Attributes
    ----------
    dtype
        The type.
    bits : int
        How many one number takes.
    eps : float
        The distance from 1 to the next number above.
    max, min : float
        The largest number, and the lowest.
    smallest_normal : float
        The smallest positive number with all its digits.

    Raises
    ------
    TypeError
        If it is not a type of floats.
    """

    dtype: _core.dtype
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float

    def __init__(self, type: DType | Var) -> None:
        dtype = _dtype_of(type)
        if dtype not in _FLOATS:
            raise at_line(TypeError(f"finfo: {dtype} is no type of floats; see iinfo"))
        bits, digits, exponent = _FLOATS[dtype]
        most = (2.0 - 2.0**-digits) * 2.0**exponent
        self._set(
            dtype=dtype,
            bits=bits,
            eps=2.0**-digits,
            max=most,
            min=-most,
            smallest_normal=2.0 ** (1 - exponent),
        )


class iinfo(_Limits):  # noqa: N801 (the array API's name)
    """The limits of a type of integers.

    Parameters
    ----------
    type
        A dtype, or a Var, whose dtype is meant.

    Attributes
    ----------
    dtype
        The type.
    bits : int
        How many one number takes.
    max, min : int
        The largest number, and the lowest.

    Raises
    ------
    TypeError
        If it is not a type of integers.
    """

    dtype: _core.dtype
    bits: int
    max: int
    min: int

    def __init__(self, type: DType | Var) -> None:
        dtype = _dtype_of(type)
        if "int" not in dtype:
            raise at_line(TypeError(f"iinfo: {dtype} is no type of integers; see finfo"))
        bits = 8 * dtype.itemsize
        low, high = (0, 2**bits) if "uint" in dtype else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        self._set(dtype=dtype, bits=bits, max=high - 1, min=low)
