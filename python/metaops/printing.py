# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a Var looks like: as text, and as a table in a notebook.

The text is that of NumPy, by its `numpy.printoptions`. A tensor of more elements than
their threshold is shortened: only the elements at its edges are read, and they alone
are computed where that is less work than to compute the tensor.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Var

__all__: list[str] = []

#: The edges are computed alone if that writes so many times less than the tensor has.
_WORTHWHILE = 8


def _is_shortened(x: Var) -> bool:
    return x.size > int(np.get_printoptions()["threshold"])


def _is_cheap(edges: Var, x: Var) -> bool:
    """Whether the edges can be computed with much less work than the tensor."""
    kernels = [kernel for program in _core.plan_programs(edges) for kernel in program.kernels]
    written = sum(kernel.bytes_written for kernel in kernels)
    is_small = written * _WORTHWHILE <= x.size * x.dtype.itemsize
    return is_small and sum(kernel.flops for kernel in kernels) <= x.size


def _edges(x: Var, count: int) -> Var:
    """Return a tensor with the first and last elements along each dimension.

    Of a dimension with more than twice `count`, one element between them stays, in
    place of all that are left out.
    """
    shape, indexes = [], []
    for dim, extent in enumerate(x.shape):
        left_out = extent - 2 * count - 1
        is_cut = left_out >= 0
        shape.append(2 * count + 1 if is_cut else extent)
        # The quotient is 0 for the first elements and 1 for the last ones.
        indexes.append(f"i{dim} + {left_out} * (i{dim} / {count + 1})" if is_cut else f"i{dim}")
    # What is shown needs no gradient, and nothing is kept for one.
    return x.detach().reindex(shape, indexes)


def _shown_part(x: Var) -> npt.NDArray[Any]:
    """Return what is shown, with an element in place of those that are left out."""
    count = int(np.get_printoptions()["edgeitems"])
    if not _is_shortened(x) or all(extent <= 2 * count for extent in x.shape):
        return x.numpy()
    edges = _edges(x, count)
    if not _is_cheap(edges, x):
        x.sync()
    return edges.numpy()


def _text(x: Var, separator: str, prefix: str = "", suffix: str = "") -> str:
    threshold = 0 if _is_shortened(x) else sys.maxsize
    return np.array2string(
        _shown_part(x), separator=separator, prefix=prefix, suffix=suffix, threshold=threshold
    )


def _why_without(x: Var) -> str:
    """Return in a word why a tensor has no elements to show; "" where it has some."""
    if _core.is_given_away(x):
        return "donated"
    return "recorded" if _core.is_recorded(x) else ""


def represent(x: Var) -> str:
    """Return the elements and their type, and the shape where they do not show it.

    Of what has no elements, as a function is recorded of it, the shape and the type.
    """
    prefix = f"{type(x).__name__}("
    if why := _why_without(x):
        return f"{prefix}{why}, shape={x.shape}, dtype={x.dtype})"
    is_empty = x.size == 0
    text = prefix + ("[]" if is_empty else _text(x, ", ", prefix, ")")) + ","
    extra = f"dtype={x.dtype})"
    if _is_shortened(x) or (is_empty and x.ndim > 1):
        extra = f"shape={x.shape}, {extra}"
    last_line = len(text) - (text.rfind("\n") + 1)
    is_full = last_line + len(extra) + 1 > int(np.get_printoptions()["linewidth"])
    return text + ("\n" + " " * len(prefix) if is_full else " ") + extra


def write(x: Var) -> str:
    """Return the elements, those of a tensor of no dimensions as a number."""
    if _why_without(x):
        return represent(x)
    if x.ndim == 0:
        return str(x.numpy())
    return "[]" if x.size == 0 else _text(x, " ")


def _rows(x: Var) -> list[list[str]]:
    """Return the cells of a table of one or two dimensions."""
    part = _shown_part(x)
    cells = [[np.array2string(value) for value in row] for row in np.atleast_2d(part)]
    if _is_shortened(x):
        middle = int(np.get_printoptions()["edgeitems"])
        if x.shape[-1] > 2 * middle:
            for row in cells:
                row[middle] = "..."
        if x.ndim == 2 and x.shape[0] > 2 * middle:
            cells[middle] = ["..."] * len(cells[middle])
    return cells


def represent_html(x: Var) -> str:
    """Return a table for a notebook; of more than two dimensions, the text."""
    from . import _html

    is_table = x.ndim in (1, 2) and x.size > 0 and not _why_without(x)
    body = _html.table(_rows(x)) if is_table else _html.preformatted(write(x))
    return _html.page(f"{type(x).__name__} of shape {x.shape}, {x.dtype}", body)
