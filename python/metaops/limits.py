# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What numbers an element type has: `finfo` and `iinfo`, as in the array API."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import DType

__all__ = ["finfo", "iinfo"]

#: Of each type of floats: bits, bits of the significand after the first, and the
#: exponent of the largest power of two.
_FLOATS = {
    "float16": (16, 10, 15),
    "bfloat16": (16, 7, 127),
    "float32": (32, 23, 127),
    "float64": (64, 52, 1023),
}


def _dtype_of(type: DType | Var) -> _core.dtype:
    return _core.dtype(type.dtype if isinstance(type, Var) else type)


@dataclass(frozen=True)
class finfo:  # noqa: N801 (the array API's name)
    """The limits of a type of floats.

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
    bits: int = field(init=False)
    eps: float = field(init=False)
    max: float = field(init=False)
    min: float = field(init=False)
    smallest_normal: float = field(init=False)

    def __init__(self, type: DType | Var) -> None:
        dtype = _dtype_of(type)
        if dtype not in _FLOATS:
            raise at_line(TypeError(f"finfo: {dtype} is no type of floats; see iinfo"))
        bits, digits, exponent = _FLOATS[dtype]
        most = (2.0 - 2.0**-digits) * 2.0**exponent
        values = (dtype, bits, 2.0**-digits, most, -most, 2.0 ** (1 - exponent))
        names = ("dtype", "bits", "eps", "max", "min", "smallest_normal")
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class iinfo:  # noqa: N801 (the array API's name)
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
    bits: int = field(init=False)
    max: int = field(init=False)
    min: int = field(init=False)

    def __init__(self, type: DType | Var) -> None:
        dtype = _dtype_of(type)
        if "int" not in dtype:
            raise at_line(TypeError(f"iinfo: {dtype} is no type of integers; see finfo"))
        bits = 8 * dtype.itemsize
        low, high = (0, 2**bits) if "uint" in dtype else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        for name, value in zip(
            ("dtype", "bits", "max", "min"), (dtype, bits, high - 1, low), strict=True
        ):
            object.__setattr__(self, name, value)
