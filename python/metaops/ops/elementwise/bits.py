# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise functions of integers and of the bits of numbers."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..._typing import DType, VarLike
from . import elementwise

__all__ = [
    "bitcast",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "gcd",
    "invert",
    "lcm",
    "left_shift",
    "right_shift",
]


def bitwise_and(x: VarLike, y: VarLike) -> Var:
    """Return the bits that are set in both integers or booleans."""
    return _core.binary("and", x, y)


def bitwise_or(x: VarLike, y: VarLike) -> Var:
    """Return the bits that are set in either of two integers or booleans."""
    return _core.binary("or", x, y)


def bitwise_xor(x: VarLike, y: VarLike) -> Var:
    """Return the bits that differ between two integers or booleans."""
    return _core.binary("xor", x, y)


def bitwise_invert(x: VarLike) -> Var:
    """Return x, integers or booleans, with every bit flipped."""
    return _core.unary("not", x)


def bitwise_left_shift(x: VarLike, y: VarLike) -> Var:
    """Return integers x with their bits moved up by y places.

    0 where y is negative, or not less than the number of bits.
    """
    return _core.binary("shl", x, y)


def bitwise_right_shift(x: VarLike, y: VarLike) -> Var:
    """Return the floor of x / 2**y for integers x, moved down by y places.

    0, or -1 for negative x, where y is negative or not less than the number of bits.
    """
    return _core.binary("shr", x, y)


def bitwise_count(x: VarLike) -> Var:
    """Return the number of bits that are set in the absolute value of integers x.

    In x's dtype.
    """
    return _core.unary("popcount", elementwise.abs(x))


def gcd(x: VarLike, y: VarLike) -> Var:
    """Return the greatest common divisor of the absolute values of integers."""
    return _core.binary("gcd", x, y)


def lcm(x: VarLike, y: VarLike) -> Var:
    """Return the least common multiple of the absolute values of integers; 0 with 0."""
    x, y = elementwise.abs(x), elementwise.abs(y)
    return elementwise.floor_divide(x, gcd(x, y)) * y


def bitcast(x: VarLike, dtype: DType) -> Var:
    """Return numbers with the bits of x, of another dtype of the same width.

    Raises
    ------
    TypeError
        If the widths differ or one of them is bool.
    """
    return _core.bitcast(x, dtype)


# NumPy's older names.
left_shift, right_shift = bitwise_left_shift, bitwise_right_shift
invert = bitwise_not = bitwise_invert
