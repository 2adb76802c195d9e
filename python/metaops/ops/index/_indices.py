# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of indices: what they are made of, and that they are in range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import as_var, shown

__all__ = [
    "along",
    "as_array",
    "as_indices",
    "check_range",
    "checked",
    "counted",
    "last_written",
]


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """Return the key that indexes one dimension, and takes those before it whole."""
    return (*(slice(None),) * axis, item)


def as_array(value: Any, what: str) -> Any:
    """Return a sequence, or an array, as an array.

    Raises
    ------
    TypeError
        If its rows have several lengths.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise at_line(
            TypeError(f"{what}: indices are {shown(value)}, expected rows of one length")
        ) from None
    # An empty sequence has no type, and NumPy takes it for one of integers.
    is_untyped = array.size == 0 and not isinstance(value, np.ndarray)
    return array.astype(np.int64) if is_untyped else array


def as_indices(indices: Any, what: str) -> Any:
    """Return integers as a Var, or as an array where they are not one.

    Raises
    ------
    TypeError
        If they are no integers.
    """
    if not isinstance(indices, Var):
        array = as_array(indices, what)
        if array.dtype.kind in "iu":
            return array
        indices = as_var(indices)
    if "int" not in indices.dtype:
        raise at_line(TypeError(f"{what}: indices are {indices.dtype}, expected integers"))
    return indices


def check_range(index: int, axis: int, extent: int) -> int:
    """Return an index counted from the start.

    Raises
    ------
    IndexError
        If it is out of range.
    """
    if not -extent <= index < extent:
        raise at_line(
            IndexError(f"index {index} is out of range for dimension {axis} of extent {extent}")
        )
    return index % extent


def counted(index: Any, axis: int, extent: int) -> Any:
    """Return indices in an array counted from the start.

    Raises
    ------
    IndexError
        If one is out of range.
    """
    if index.size == 0:
        return index
    lowest, highest = int(index.min()), int(index.max())
    for number in (lowest, highest):
        check_range(number, axis, extent)
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + extent, index) if lowest < 0 else index


def checked(index: Any, axis: int, extent: int) -> Var:
    """Return indices counted from the start, those in an array checked at once.

    A Var is checked when it is computed.
    """
    if isinstance(index, Var):
        return _core.check_indices(index, axis, extent)
    return as_var(counted(index, axis, extent))


def last_written(
    values: Sequence[int], shape: Sequence[int], places: Sequence[str], extras: Sequence[Var]
) -> Var:
    """Return the number of the last value that goes to each element; below 0 of none.

    Parameters
    ----------
    values
        The shape of the values, which are numbered in row-major order.
    shape
        Where they go.
    places, extras
        The place of each value there, as for `reindex_reduce`.
    """
    count = math.prod(values)
    numbers = _core.iota((count,), 0, "int32" if count < 2**31 else "int64").reshape(values)
    return numbers.reindex_reduce("max", shape, places, extras=extras)
