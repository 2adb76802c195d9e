# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of complex numbers, and the types of their halves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._errors import at_line
from .._typing import shown
from .pair import Complex

__all__ = ["complex64", "complex128"]


class ComplexDType(str):
    """The type of elements of a `Complex`: its name, as a str that equals NumPy's types too.

    Attributes
    ----------
    name : str
        The name as a plain str.
    itemsize : int
        The bytes of an element, of which each half has as many.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the name as a plain str."""
        return str.__str__(self)

    @property
    def itemsize(self) -> int:
        """Return the bytes of an element."""
        return int(self[len("complex") :]) // 8

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        if isinstance(other, type | np.dtype):
            return _name_of(other) == self.name
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"metaops.{self.name}"

    def __reduce__(self) -> str:
        return self.name


complex64 = ComplexDType("complex64")
complex128 = ComplexDType("complex128")

_BY_NAME = {dtype.name: dtype for dtype in (complex64, complex128)}
#: The types of halves, and of the numbers that they make up.
_OF_HALVES = {"float32": complex64, "float64": complex128}
_HALVES = {complex64: _core.float32, complex128: _core.float64}


def _name_of(given: Any) -> str:
    """Return NumPy's name of a type, or nothing of what is none to it."""
    try:
        return np.dtype(given).name
    except TypeError:
        return ""


def find_dtype(given: object) -> ComplexDType | None:
    """Return the complex type that an object stands for, if it stands for one.

    Python's `complex` is that of the default type of floats, as `float` is.
    """
    if isinstance(given, str):
        return _BY_NAME.get(given)
    if given is complex:
        return of_halves(get_default_dtype())
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        return _BY_NAME.get(_name_of(given))
    return None


def of_halves(dtype: str) -> ComplexDType:
    """Return the complex type for halves of a real one: integers and short floats are widened."""
    return _OF_HALVES.get(dtype, complex64)


def half_of(dtype: ComplexDType) -> _core.dtype:
    """Return the type that the halves of a complex one have."""
    return _HALVES[dtype]


def dtype_of(given: Any) -> str:
    """Return the name of the type of a tensor, an array or a type, real or complex.

    Raises
    ------
    TypeError
        If it is none that elements may have.
    """
    value = given.dtype if isinstance(given, Complex | Var | np.ndarray | np.generic) else given
    return find_dtype(value) or _core.dtype(value)


def promoted_half(dtypes: Iterable[str]) -> str:
    """Return the type of halves for operands of some types, at least one of which is complex."""
    return "float64" if {"float64", "complex128"} & {*dtypes} else "float32"


def as_complex_dtype(what: str, given: object) -> ComplexDType:
    """Return a parameter of a function as a complex type.

    Raises
    ------
    TypeError
        If it is none.
    """
    found = find_dtype(given)
    if found is None:
        raise at_line(
            TypeError(f"{what}: dtype is {shown(given)}, expected complex64 or complex128")
        )
    return found
