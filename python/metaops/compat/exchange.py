# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors from the memory of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._devices import device as find_device
from .._devices import device_of, on_device
from .._errors import at_line
from .._nested import read_sequence
from .._typing import DType

__all__ = ["asarray", "from_dlpack"]


def asarray(
    obj: Any,
    dtype: DType | None = None,
    *,
    copy: bool | None = None,
    device: str | None = None,
) -> Var:
    """Return a Var of numbers, lists or an array, in the array's memory if possible.

    An array's memory is shared if the elements are of the right dtype, in
    row-major order, in this machine's byte order and aligned. The session never
    writes it, and keeps the array alive. Whoever writes the array later changes
    the Var: values computed from then on are made of the new elements, those
    computed before are not. `metaops.array` copies.

    Parameters
    ----------
    obj
        A Var, a number, a (nested) list of numbers and tensors, or what NumPy makes an
        array of.
    dtype
        Of the result; by default the array's; of numbers and lists as of `metaops.array`.
    copy
        None copies if need be, True always, False never.
    device
        Where it is to be; by default where a Var is, and else the device that is
        current, see `metaops.device`.

    Returns
    -------
    Var
        A Var that is given comes back as another Var of the same value.

    Raises
    ------
    ValueError
        If `copy` is False and the memory cannot be shared; the message says why. If parts
        of a list have several shapes.
    TypeError
        If the elements are not numbers.
    """
    if device is not None:
        return on_device(device, lambda: asarray(obj, dtype, copy=copy))
    return made_of(obj, dtype, copy)


def made_of(obj: Any, dtype: DType | None, copy: bool | None) -> Var:
    """Return a Var of an object; Python's floats are of the default type."""
    if not isinstance(obj, list | tuple):
        if dtype is None and isinstance(obj, float) and not isinstance(obj, np.generic):
            dtype = get_default_dtype()
        return _core.array(obj, dtype, copy=copy)
    result = read_sequence(obj, dtype, copy)
    if dtype is not None or result.dtype != "float32" or get_default_dtype() == "float32":
        return result
    # Those of Python are NumPy's float64, and became float32.
    is_of_python = not _core.has_tensors(obj) and np.asarray(obj).dtype == "float64"
    return read_sequence(obj, get_default_dtype(), copy) if is_of_python else result


def from_dlpack(obj: Any, *, device: Any = None, copy: bool | None = None) -> Var:
    """Return a Var of another library's tensor, in its memory if possible.

    Memory is shared, and may be written by others, as with `asarray`. A tensor
    that is not in row-major order is copied.

    Parameters
    ----------
    obj
        A tensor with the methods ``__dlpack__`` and ``__dlpack_device__``, or a
        capsule that ``__dlpack__`` has returned.
    device
        Where it is to be, see `metaops.device`; by default the device that is current, of
        a Var where it is. With a device, the other library copies a tensor that is not in
        the CPU's memory.
    copy
        None copies if need be, True always, False never.

    Returns
    -------
    Var
        Through which no gradient flows to the other library.

    Raises
    ------
    BufferError
        If the tensor is not in the CPU's memory and no device is given, is of a dtype that
        `Var` does not have, or would have to be copied against `copy`.
    TypeError
        If `obj` does not take part in DLPack.
    ValueError
        If there is no such device.
    """
    if device is None:
        device = device_of(obj) if isinstance(obj, Var) else None
    if not isinstance(device, str):
        # A pair of DLPack's, or what is refused.
        return _core.from_dlpack(obj, device=device, copy=copy)
    place = find_device(device)
    if copy is False and not place.startswith(("cpu:", "interpreter:")):
        raise at_line(
            BufferError(f"from_dlpack: given copy=False, but {place} has memory of its own")
        )
    return on_device(place, lambda: _core.from_dlpack(obj, device="cpu", copy=copy))
