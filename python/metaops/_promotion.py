# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type to which several are promoted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._errors import at_line

__all__ = ["is_number", "promoted"]


def is_number(given: object) -> bool:
    """Tell whether an object is a number of Python, which adopts the type of others."""
    return isinstance(given, bool | int | float) and not isinstance(given, np.generic)


def _wider_integer(a: str, b: str) -> str:
    """Return the smallest type that holds the integers of two types."""
    bits, other = (_core.dtype(dtype).itemsize * 8 for dtype in (a, b))
    if a.startswith("u") == b.startswith("u"):
        return a if bits >= other else b
    signed, unsigned = (bits, other) if b.startswith("u") else (other, bits)
    if unsigned == 64:
        raise at_line(TypeError(f"result_type: no integer type holds both {a} and {b}"))
    return f"int{max(signed, 2 * unsigned)}"


def _wider_float(a: str, b: str) -> str:
    if a == b:
        return a
    return "float64" if "float64" in (a, b) else "float32"


def promoted(dtypes: Iterable[str], numbers: Iterable[Any] = ()) -> str:
    """Return the type of operands of these types, at least one, and of Python's numbers.

    Raises
    ------
    TypeError
        If none holds the numbers of all.
    """
    given = list(dict.fromkeys(dtypes))
    floats = [dtype for dtype in given if "float" in dtype]
    integers = [dtype for dtype in given if "int" in dtype]
    result, *others = floats or integers or given
    for other in others:
        result = (_wider_float if floats else _wider_integer)(result, other)
    kinds = set(map(type, numbers))
    if not floats and any(issubclass(kind, float) for kind in kinds):
        return "float32"
    if result == "bool" and not kinds <= {bool}:
        return "int64"
    return result
