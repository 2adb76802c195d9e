# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Borders of images that are made of the images' own elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import Var
from .._errors import at_line
from .._typing import shown

__all__: list[str] = []

MODES = ("zeros", "reflect", "replicate", "circular")


def check_padding_mode(name: str, mode: Any) -> None:
    """Raise ValueError unless `mode` is one of `MODES`."""
    if not isinstance(mode, str) or mode not in MODES:
        raise at_line(
            ValueError(f"{name}: padding_mode is {shown(mode)}, expected one of {', '.join(MODES)}")
        )


def bordered(name: str, x: Var, widths: Sequence[tuple[int, int]], mode: str) -> Var:
    """Return x with a border around its last dimensions.

    Parameters
    ----------
    name
        What a message begins with.
    x
        Any shape.
    widths
        One (before, after) for each of the last dimensions.
    mode
        "reflect": mirrored, the outermost elements are not repeated; "replicate": the
        outermost elements; "circular": those of the other end.

    Raises
    ------
    ValueError
        If a border takes more elements than there are.
    """
    first = x.ndim - len(widths)
    for axis, (low, high) in enumerate(widths, first):
        extent = x.shape[axis]
        most = {"reflect": extent - 1, "circular": extent}.get(mode, low + high if extent else 0)
        if max(low, high) > most:
            raise at_line(
                ValueError(
                    f"{name}: a {mode} border of {max(low, high)} is wider than an extent of"
                    f" {extent} allows"
                )
            )
        if low or high:
            x = _along(x, axis, low, high, mode)
    return x


def _along(x: Var, axis: int, low: int, high: int, mode: str) -> Var:
    """Return x with a border along one dimension."""
    extent, i = x.shape[axis], f"i{axis}"
    names = [f"i{k}" for k in range(x.ndim)]
    shape = (*x.shape[:axis], low + extent + high, *x.shape[axis + 1 :])

    def part(index: str, *outside: str) -> Var:
        return x.reindex(shape, [*names[:axis], index, *names[axis + 1 :]], 0, outside)

    if mode == "circular":
        return part(f"({i}+{extent - low})%{extent}")
    before, after = {
        "reflect": (f"{low}-{i}", f"{2 * extent - 2 + low}-{i}"),
        "replicate": ("0", f"{extent - 1}"),
    }[mode]
    # Each element is in one of the three, and 0 in the others. Their indices are affine,
    # so the gradients are no scatters.
    result = part(f"{i}-{low}")
    if low:
        result = result + part(before, f"{i}>={low}")
    if high:
        result = result + part(after, f"{i}<{low + extent}")
    return result
