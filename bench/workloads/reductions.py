# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions over each axis of matrices and images."""

from __future__ import annotations

from typing import Any

from .base import Workload, with_backward

TWO = {"small": [(256, 512)], "large": [(16384, 4096)], "odd": [(13, 37)]}
FOUR = {"small": [(8, 16, 32, 32)], "large": [(64, 64, 128, 128)], "odd": [(3, 5, 7, 11)]}
NAMES = ("sum", "mean", "max", "var", "argmax")


def _row(name: str, shapes: Any, rank: int, axis: int | None) -> Workload:
    where = "all" if axis is None else f"axis {axis}"

    def body(ops: Any, x: Any) -> Any:
        return getattr(ops, name)(x, axis)

    return Workload(f"{name} of {rank}-D, {where}", "reductions", body, shapes)


def _rows(name: str, shapes: Any, rank: int, axis: int | None) -> list[Workload]:
    """Describe the derivatives of some too; those of the others are like these."""
    forward = _row(name, shapes, rank, axis)
    if rank != 2 or axis is None or name not in ("mean", "max", "var"):
        return [forward]
    results: Any = {size: [(entries[0][1 - axis],)] for size, entries in shapes.items()}
    return with_backward(forward, results, is_linear=name == "mean")


WORKLOADS = [
    workload
    for name in NAMES
    for rank, shapes in ((2, TWO), (4, FOUR))
    for axis in (*range(rank), *((None,) if name != "argmax" and rank == 2 else ()))
    for workload in _rows(name, shapes, rank, axis)
]

_TWO_PASSES = (
    "The largest and then its place are two reductions, and the second, which compares, reads"
    " the input again; the cast of places is a kernel more. To get there: reduce pairs of a"
    " number and its place, as many vectors side by side as for a maximum."
)

_SHORT_ROWS = (
    "A row is two vectors, and each needs a reduction across lanes. To get there: reduce 16"
    " rows side by side, by tiles that are transposed in registers."
)
_FAR_ROWS = (
    "Rows that are added lie megabytes apart and are taken by strips of 16 KB; a variance"
    " does so twice. To get there: keep a block of rows in cache for both passes."
)
_TIES = (
    "Ours shares the gradient among equal elements, so it counts them first: one pass more"
    " over the input than the peers', which at the small size is a kernel and its recording."
)
_SMALL = "The result is as fast as memory; at the small size what is left is recording from Python."

NOTES: dict[str, str] = {
    **{row.name: _TWO_PASSES for row in WORKLOADS if row.name.startswith("argmax")},
    **{
        f"{what} of 4-D, axis {axis}": _FAR_ROWS
        for what in ("sum", "mean", "max", "var")
        for axis in (0, 1)
    },
    "max of 4-D, axis 3": _SHORT_ROWS,
    "max of 2-D, axis 1": _SMALL,
    "var of 4-D, axis 2": (
        "The mean and the squares are two kernels, each of which reads the input. To get there:"
        " join them by the image, which a core's cache holds."
    ),
    "max of 2-D, axis 0 backward": _TIES,
    "max of 2-D, axis 0 both": _TIES,
    "mean of 2-D, axis 1 backward": _SMALL,
}
