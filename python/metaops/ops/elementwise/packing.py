# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bits as bytes: eight booleans packed into one integer, and out of it."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_integer, as_var, normalised_axis, shown
from ..shape.padding import pad
from .bits import bitwise_and, bitwise_left_shift, bitwise_right_shift

__all__ = ["packbits", "unpackbits"]


def _shift(what: str, shape: tuple[int, ...], bitorder: str) -> Var:
    """Return the place in its byte of each bit along the last dimension."""
    if bitorder not in ("big", "little"):
        raise at_line(
            ValueError(f"{what}: bitorder is {shown(bitorder)}, expected 'big' or 'little'")
        )
    place = _core.iota(shape, len(shape) - 1, "uint8")
    return place if bitorder == "little" else 7 - place


def packbits(x: VarLike, dim: int | None = None, bitorder: str = "big") -> Var:
    """Return the elements along a dimension as the bits of bytes.

    Parameters
    ----------
    x
        Integers or booleans; what is not zero is a bit that is set.
    dim
        The dimension; without one, x is flattened first.
    bitorder
        "big": the first element is the highest bit; "little": the lowest.

    Returns
    -------
    Var
        uint8, x's shape with the extent n along the dimension made ``ceil(n / 8)``.

    Raises
    ------
    TypeError
        If x has floats.
    ValueError
        If `dim` is out of range or `bitorder` is another.
    """
    x = as_var(x)
    if "float" in x.dtype:
        raise at_line(TypeError(f"packbits: given {x.dtype}, expected integers or booleans"))
    if dim is None:
        x, dim = x.reshape((x.size,)), 0
    axis = normalised_axis(dim, x.ndim)
    bits = (x != 0).cast("uint8").moveaxis(axis, -1)
    extent = bits.shape[-1]
    count = -(-extent // 8)
    bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, 8 * count - extent)])
    bits = bits.reshape((*bits.shape[:-1], count, 8))
    packed = (
        bitwise_left_shift(bits, _shift("packbits", bits.shape, bitorder)).sum(-1).cast("uint8")
    )
    return packed.moveaxis(-1, axis)


def unpackbits(
    x: VarLike, dim: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Var:
    """Return the bits of bytes, as 0 and 1, along a dimension.

    Parameters
    ----------
    x
        Of uint8.
    dim
        The dimension; without one, x is flattened first.
    count
        How many bits are returned: more than there are are 0, and of a negative number
        so many are left out. By default all.
    bitorder
        As of `packbits`.

    Returns
    -------
    Var
        uint8, x's shape with another extent along the dimension.

    Raises
    ------
    TypeError
        If x is of another dtype.
    ValueError
        If `dim` is out of range, or `count` leaves out more than there is.
    """
    x = as_var(x)
    if x.dtype != "uint8":
        raise at_line(TypeError(f"unpackbits: given {x.dtype}, expected uint8"))
    if dim is None:
        x, dim = x.reshape((x.size,)), 0
    axis = normalised_axis(dim, x.ndim)
    rows = x.moveaxis(axis, -1)
    extent = 8 * rows.shape[-1]
    shape = (*rows.shape, 8)
    shift = _shift("unpackbits", shape, bitorder)
    bits = bitwise_and(bitwise_right_shift(rows.unsqueeze(-1).broadcast(shape), shift), 1)
    bits = bits.reshape((*rows.shape[:-1], extent))
    if count is not None:
        end = as_integer("unpackbits", "count", count)
        end = end + extent if end < 0 else end
        if end < 0:
            raise at_line(ValueError(f"unpackbits: count is {count}, but there are {extent} bits"))
        bits = bits[..., : min(end, extent)]
        bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, max(end - extent, 0))])
    return bits.moveaxis(-1, axis)
