# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of a Complex: its elements as NumPy writes them, and the type behind them."""

from __future__ import annotations

import numpy as np

from .. import _core
from .._core import Var
from .pair import Complex

__all__ = ["format_of", "represent", "write"]


def _has_no_elements(z: Complex) -> bool:
    """Tell whether a half stands for a tensor, or has no elements yet."""
    return any(
        not isinstance(part, Var) or _core.is_given_away(part) or _core.is_recorded(part)
        for part in (z._real, z._imag)
    )


def represent(z: Complex) -> str:
    """Return the elements and their type, or both halves where there are none to show."""
    if _has_no_elements(z):
        return f"Complex({z._real!r}, {z._imag!r})"
    prefix = "Complex("
    extra = f" dtype={z.dtype})"
    if z.size == 0:
        return f"{prefix}[], shape={z.shape},{extra}"
    text = np.array2string(z.numpy(), separator=", ", prefix=prefix, suffix=extra)
    threshold = int(np.get_printoptions()["threshold"])
    shape = f" shape={z.shape}," if z.size > threshold else ""
    return f"{prefix}{text},{shape}{extra}"


def write(z: Complex) -> str:
    """Return the elements, those of a tensor of no dimensions as a number."""
    return represent(z) if _has_no_elements(z) else str(z.numpy())


def format_of(z: Complex, spec: str) -> str:
    """Return the text of all elements, or of the only one as a specification says."""
    return format(z.item(), spec) if spec else write(z)
