# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory, time and kernels of a step, which is recorded and compiled, and not run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..tracing.lowering import estimate_call, explain_call, record_anew

if TYPE_CHECKING:
    from .explaining import KernelExplanation

__all__ = ["KernelRow", "StepCosts", "cost_of_step", "in_columns"]

_HEADS = ("kernels of", "kernels", "bytes", "FLOPs", "predicted us")


class KernelRow(NamedTuple):
    """The kernels that compute operators of the same lines.

    Attributes
    ----------
    lines : tuple of str
        The Python lines that recorded the operators.
    kernels : int
        The number of calls of kernels.
    bytes : int
        Those of each input and each output, once.
    flops : int
        Their operations on floats.
    predicted_seconds : float
        The time that they should take.
    """

    lines: tuple[str, ...]
    kernels: int
    bytes: int
    flops: int
    predicted_seconds: float

    def _cells(self) -> tuple[str, ...]:
        """Return the row of a table."""
        return (
            " + ".join(map(os.path.basename, self.lines)),
            f"{self.kernels:,}",
            f"{self.bytes:,}",
            f"{self.flops:,}",
            f"{self.predicted_seconds * 1e6:,.1f}",
        )


class StepCosts(NamedTuple):
    """Memory, time and kernels of a step. Its text is a table.

    Attributes
    ----------
    rows : list of KernelRow
        The kernels by lines, in the order in which the first of each row is called.
    kernels : int
        The number of calls of kernels.
    memory_bytes : int or None
        The most memory that is in use, as `metaops.estimate` tells it: what is in use
        already is part of it. None where what the step updates has no room a second time,
        which the estimate takes.
    predicted_seconds : float
        The time that all kernels should take, one after the other.
    """

    rows: list[KernelRow]
    kernels: int
    memory_bytes: int | None
    predicted_seconds: float

    def __str__(self) -> str:
        table = in_columns([_HEADS, *(row._cells() for row in self.rows)], 1)
        kernels = "1 kernel" if self.kernels == 1 else f"{self.kernels:,} kernels"
        most = self.memory_bytes
        memory = "memory is not known" if most is None else f"at most {most:,} bytes in use"
        last = f"{kernels}, predicted {self.predicted_seconds * 1e6:,.1f} us; {memory}"
        return "\n".join([*table, last])

    def __repr__(self) -> str:
        return str(self)


def in_columns(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Return the lines of a table, the first columns of which are texts, others numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{'<' if place < texts else '>'}{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _rows_of(kernels: Sequence[KernelExplanation]) -> list[KernelRow]:
    rows: dict[tuple[str, ...], KernelRow] = {}
    for kernel in kernels:
        lines = tuple(dict.fromkeys(kernel.lines))
        _, count, size, flops, seconds = rows.get(lines, KernelRow(lines, 0, 0, 0, 0.0))
        rows[lines] = KernelRow(
            lines,
            count + 1,
            size + kernel.bytes_read + kernel.bytes_written,
            flops + kernel.flops,
            seconds + kernel.predicted_seconds,
        )
    return list(rows.values())


def cost_of_step(
    step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> StepCosts:
    """Return what a call of a step takes; it is not called."""
    entry, bound = record_anew(step, args, kwargs)
    explained = explain_call(entry, bound)
    return StepCosts(
        _rows_of(explained.kernels),
        len(explained.kernels),
        estimate_call(entry, bound),
        explained.predicted_seconds,
    )
