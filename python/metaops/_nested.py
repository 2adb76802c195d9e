# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of nested sequences, which may have tensors in them.

Such a sequence is a `stack` of its parts, so that nothing is computed for it, and gradients
flow to them. What has no tensor in it is NumPy's to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _core
from ._core import Var
from ._errors import at_line
from ._promotion import is_number, promoted

__all__ = ["read_sequence"]

#: NumPy has no more dimensions.
_MOST_DIMENSIONS = 64


def _leaves(sequence: Any, depth: int = 0) -> Iterator[Any]:
    """Return what is in nested lists and tuples and is none itself.

    Raises
    ------
    ValueError
        If they are nested deeper than tensors have dimensions, as one that holds itself.
    """
    if depth == _MOST_DIMENSIONS:
        raise at_line(
            ValueError(f"array: a sequence is nested {depth} deep, expected fewer dimensions")
        )
    for part in sequence:
        if isinstance(part, list | tuple):
            yield from _leaves(part, depth + 1)
        else:
            yield part if isinstance(part, Var) or is_number(part) else _core.array(part)


def _stacked(part: Any, dtype: _core.dtype) -> Var:
    if isinstance(part, Var):
        return part if part.dtype == dtype else part.cast(dtype)
    if not isinstance(part, list | tuple):
        return _core.array(part, dtype)
    parts = [_stacked(each, dtype) for each in part]
    shapes = list(dict.fromkeys(each.shape for each in parts))
    if len(shapes) > 1:
        given = " and ".join(map(str, shapes[:2]))
        raise at_line(
            ValueError(f"array: parts of a sequence have the shapes {given}, expected one shape")
        )
    return _core.stack(parts, 0) if parts else _core.zeros((0,), dtype)


def read_sequence(sequence: Any, dtype: Any = None, copy: bool | None = True) -> Var:
    """Return a Var of a list or a tuple of numbers, of tensors, or of such.

    Without a dtype, tensors and arrays among the parts are promoted, and Python's numbers
    adopt their type.

    Raises
    ------
    ValueError
        If its parts have several shapes, or `copy` is False.
    TypeError
        If a part is no number, or no type holds all.
    """
    if copy is not False and _core.has_tensors(sequence):
        leaves = list(_leaves(sequence))
        if dtype is None:
            types = [leaf.dtype for leaf in leaves if isinstance(leaf, Var)]
            dtype = promoted(types, (leaf for leaf in leaves if not isinstance(leaf, Var)))
        return _stacked(sequence, _core.dtype(dtype))
    try:
        return _core.array(sequence, dtype, copy=copy)
    except ValueError as error:
        if "with a sequence" not in str(error):
            raise
    raise at_line(ValueError("array: parts of a sequence have several shapes, expected one shape"))
