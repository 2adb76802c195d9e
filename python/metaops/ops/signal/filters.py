# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolution and correlation of two sequences."""

from __future__ import annotations

from ..._core import Var
from ..._errors import at_line
from ..._promotion import promoted
from ..._typing import VarLike, as_var, shown, unrounded

__all__ = ["convolve", "correlate"]


def _slid(what: str, x: Var, y: Var, mode: str, sign: int) -> Var:
    """Sum x's elements times those of y, for each way to lay y over x.

    Element k of x meets element j of y where the result is number ``k + j`` (`sign`
    1), or ``k - j`` counted from y's last on (`sign` -1), of those of mode "full".
    """
    if x.ndim != 1 or y.ndim != 1 or x.size == 0 or y.size == 0:
        raise at_line(
            ValueError(
                f"{what} of shapes {x.shape} and {y.shape}: expected one dimension and elements"
            )
        )
    short, long = sorted((x.size, y.size))
    # How many results there are, and how many of the full ones come before.
    extents = {
        "full": (long + short - 1, 0),
        "same": (long, (short - 1) // 2),
        "valid": (long - short + 1, short - 1),
    }
    if not isinstance(mode, str) or mode not in extents:
        raise at_line(
            ValueError(f"{what}: mode is {shown(mode)}, expected 'full', 'same' or 'valid'")
        )
    extent, skipped = extents[mode]
    if sign < 0 and x.size < y.size and mode == "same":
        # NumPy exchanges the sequences and reverses the result.
        skipped = short - 1 - skipped
    offset = skipped if sign > 0 else skipped - (y.size - 1)
    place = f"i0-i1+{offset}" if sign > 0 else f"i0+i1+{offset}"
    # The windows over x times y: a product of a matrix, which is not in memory. Beyond x
    # nothing of y takes part, where an infinity times 0 would be NaN.
    shape, beyond = (extent, y.size), f"{place}<0||{place}>={x.size}"
    windows = x.reindex(shape, (place,))
    taken = y.reindex(shape, ("i1",), overflow_conditions=(beyond,))
    # Not a contraction, whose gradient by x would have that matrix in memory.
    products = unrounded(windows) * unrounded(taken)
    return products.sum(1).cast(promoted([x.dtype, y.dtype]))


def convolve(x: VarLike, y: VarLike, mode: str = "full") -> Var:
    """Return the convolution of two sequences, as ``numpy.convolve``.

    Parameters
    ----------
    x, y
        One dimension, one element or more.
    mode
        "full" (wherever they overlap), "same" (as many as the longer has), or "valid"
        (where the shorter lies within the longer).

    Raises
    ------
    ValueError
        If there is another number of dimensions, no element, or another mode.
    """
    x, y = as_var(x), as_var(y)
    if y.size > x.size:
        x, y = y, x
    return _slid("convolve", x, y, mode, 1)


def correlate(x: VarLike, y: VarLike, mode: str = "valid") -> Var:
    """Return the sums of products of x with y moved along it, as ``numpy.correlate``.

    Parameters, modes and errors are those of `convolve`.
    """
    return _slid("correlate", as_var(x), as_var(y), mode, -1)
