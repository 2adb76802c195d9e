# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators and attributes of Var that the array API has and the extension has not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from . import _core, _devices
from ._core import Var, matmul
from ._errors import at_line
from .compat.array_api import array_namespace
from .compat.ufuncs import array_ufunc
from .ops.elementwise import bits, rounding
from .ops.elementwise.elementwise import divmod, equal
from .ops.products.products import matrix_transpose

__all__ = ["ATTRIBUTES", "SPECIAL_METHODS", "to_device"]


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Var, other: Any) -> Any:
        return function(self, other) if _core.is_operand(other) else NotImplemented

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Var, other: Any) -> Any:
        return function(other, self) if _core.is_operand(other) else NotImplemented

    return method


def _power(x: Any, other: Any) -> Var:
    """Return a power, as `**` computes it wherever it is written."""
    result: Var = x**other
    return result


def _in_place(function: Callable[..., Var]) -> Callable[..., Any]:
    def method(self: Var, other: Any) -> Any:
        if not _core.is_operand(other):
            return NotImplemented
        return self.assign(function(self, other))

    return method


def _index(self: Var) -> int:
    """Return an integer of Python's.

    Raises
    ------
    TypeError
        If it is not one integer.
    """
    if self.ndim or "int" not in self.dtype:
        raise at_line(
            TypeError(
                f"index: given a Var of shape {self.shape} and dtype {self.dtype}, expected one"
                " integer"
            )
        )
    return operator.index(self.item())


def _contains(self: Var, value: Any) -> bool:
    """Return whether any element equals a number, or one of a tensor that broadcasts.

    Raises
    ------
    ValueError
        If the shapes do not broadcast together.
    """
    try:
        if isinstance(value, int) and "float" in self.dtype:
            value = float(value)
        return _core.is_operand(value) and bool(equal(self, value).any())
    except OverflowError:  # no element is a number that the type does not hold
        return False


def _round(self: Var, ndigits: int | None = None) -> Var:
    """Return the numbers rounded, as `round` has it; they stay a tensor of this dtype."""
    return rounding.round(self, 0 if ndigits is None else ndigits)


def _complex(self: Var) -> complex:
    """Return a complex number of Python's, whose imaginary part is 0."""
    return complex(float(self))


def to_device(x: Var, device: str, *, stream: None = None) -> Var:
    """Return the same tensor on a device; gradients flow back.

    Parameters
    ----------
    x
        Any tensor.
    device
        Its name, or a `metaops.device`.
    stream
        None: there are no streams.

    Raises
    ------
    ValueError
        If there is no such device, or a stream is given.
    """
    if stream is not None:
        raise at_line(ValueError("to_device: a stream is given, expected None"))
    return _core.transfer(x, _devices.device(device))


# Attributes


def _itemsize(x: Var) -> int:
    """Return how many bytes an element takes."""
    return x.dtype.itemsize


def _nbytes(x: Var) -> int:
    """Return how many bytes all elements take."""
    return x.size * x.dtype.itemsize


def _device(x: Var) -> str:
    """Return where the elements are; see `metaops.device`."""
    return _devices.device_of(x)


def _mT(x: Var) -> Var:  # noqa: N802
    """Return the matrices of the last two dimensions transposed."""
    return matrix_transpose(x)


#: Python, NumPy and the array API call these, never with other spellings of keywords.
SPECIAL_METHODS: dict[str, Callable[..., Any]] = {
    "__array_namespace__": array_namespace,
    "__array_ufunc__": array_ufunc,
    "__complex__": _complex,
    "__contains__": _contains,
    "__divmod__": _forward(divmod),
    "__rdivmod__": _reflected(divmod),
    "__round__": _round,
    "__imatmul__": _in_place(matmul),
    "__ipow__": _in_place(_power),
    "__index__": _index,
    "__lshift__": _forward(bits.bitwise_left_shift),
    "__rlshift__": _reflected(bits.bitwise_left_shift),
    "__ilshift__": _in_place(bits.bitwise_left_shift),
    "__rshift__": _forward(bits.bitwise_right_shift),
    "__rrshift__": _reflected(bits.bitwise_right_shift),
    "__irshift__": _in_place(bits.bitwise_right_shift),
}

#: Properties, by what they return, with the text that they have.
ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "itemsize": _itemsize,
    "nbytes": _nbytes,
    "device": _device,
    "mT": _mT,
}
