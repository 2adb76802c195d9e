# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Binary search in sorted numbers."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..elementwise.elementwise import where

__all__ = ["count_below", "read"]


def read(table: Var, places: Var, fill: float = 0) -> Var:
    """Return elements of a vector at places that are known to be inside."""
    names = ", ".join(f"i{axis}" for axis in range(places.ndim))
    return table.reindex(places.shape, [f"@e0({names})"], fill, extras=[places])


def count_below(edges: Var, x: Var, or_equal: bool, nan_last: bool = False) -> Var:
    """Return how many of the rising edges are below each x, or not above it.

    With `nan_last`, NaN is above all numbers, else it is below, above and equal to
    nothing. Each read of an edge halves those that a place may be among, and their number
    does not depend on what is read: all places take as many reads, in one kernel, and none
    leaves the edges.
    """
    count = edges.size
    narrow = "int32" if count < 2**30 else "int64"
    found = _core.full(x.shape, 0, narrow)
    while count:
        half = (count + 1) // 2
        edge = read(edges, found + (half - 1) if half > 1 else found)
        holds = edge <= x if or_equal else edge < x
        if nan_last and or_equal:
            holds = holds | (x != x)
        elif nan_last:
            holds = holds | ((x != x) & (edge == edge))
        found = where(holds, found + half, found)
        count -= half
    return found
