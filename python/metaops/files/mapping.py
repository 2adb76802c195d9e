# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors in the bytes of a file.

A file is mapped, so that its pages are read when they are used, and shared among processes; or
it is read. A tensor is a view of these bytes where they are in row-major order and aligned to
its elements, else a copy.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from math import prod
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Var

__all__ = ["ITEM_SIZES", "Bytes", "as_tensor", "is_row_major", "open_bytes"]

Bytes = npt.NDArray[np.uint8]

#: The dtypes of Vars, and the bytes of an element.
ITEM_SIZES = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "uint16": 2,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "uint32": 4,
    "int32": 4,
    "float32": 4,
    "uint64": 8,
    "int64": 8,
    "float64": 8,
}


def open_bytes(file: BinaryIO, *, is_mapped: bool) -> Bytes:
    """Return the bytes of a file, which may be closed."""
    if not is_mapped:
        file.seek(0)
        return np.frombuffer(file.read(), np.uint8)
    file.seek(0, 2)
    if file.tell() == 0:
        return np.empty(0, np.uint8)
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def as_tensor(
    data: Bytes,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    offset: int = 0,
) -> Var:
    """Return a tensor of elements that lie in bytes.

    Parameters
    ----------
    data
        The bytes, from the first element on.
    dtype
        One of `ITEM_SIZES`.
    shape
        The extents.
    strides
        Elements from one to the next of each dimension; as of row-major order by default.
    offset
        Elements before the first.

    Raises
    ------
    ValueError
        If an element would not be in the bytes, or several would share more memory than
        there is.
    """
    size = ITEM_SIZES[dtype]
    strides = _row_major(shape) if strides is None else list(strides)
    if any(step == 0 and n > 1 for n, step in zip(shape, strides, strict=True)):
        # An element that is repeated along a dimension is there once.
        once = [1 if step == 0 else n for n, step in zip(shape, strides, strict=True)]
        return as_tensor(data, dtype, once, strides, offset).broadcast_to(tuple(shape))
    count = prod(shape)
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    available = data.size // size
    if count and (offset < 0 or min(strides, default=0) < 0 or last >= available):
        raise ValueError(f"elements up to number {last} of {available} are asked for")
    if count > available:
        raise ValueError(f"{count} elements are to be made of {available}")
    stored = np.dtype("uint16" if dtype == "bfloat16" else dtype)
    if not count:
        return _core.zeros(tuple(shape), dtype)
    elements = np.ndarray(
        tuple(shape),
        stored,
        data[: available * size],
        offset * size,
        tuple(step * size for step in strides),
    )
    if dtype == "bool":
        # A byte that is neither 0 nor 1 is no bool.
        elements = elements.view(np.uint8) != 0
    if dtype == "bfloat16":
        return _core.bfloat16_from_bits(elements)
    return _core.array(elements, dtype, copy=None)


def is_row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether elements lie one behind the other."""
    places = zip(shape, strides, _row_major(shape), strict=True)
    return all(n <= 1 or step == usual for n, step, usual in places)


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]
