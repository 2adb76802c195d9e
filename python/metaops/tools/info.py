# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of the operators of the last slice that ran."""

from __future__ import annotations

from .. import _core, _html
from .._core import KernelInfo
from .explaining import Explanation, explain_program

__all__ = ["LastProgram", "last_program"]


class LastProgram:
    """The kernels of a program; ``print`` shows them as a table.

    Attributes
    ----------
    kernels : list of KernelInfo
        The calls in order: name, operators, Python lines, bytes read and written.
    meta_operators : int
        How many operators the slice had.
    distinct_kernels, compiled_kernels : int
        How many kernels differ, and how many of these had to be compiled.
    compile_seconds : float
        The time that compiling took, 0 where nothing was.
    arena_bytes : int
        Memory for values that live within the program only.
    """

    def __init__(self, info: _core.ProgramInfo) -> None:
        self._info = info
        self.kernels: list[KernelInfo] = info.kernels
        self.meta_operators = info.meta_operators
        self.distinct_kernels = info.distinct_kernels
        self.compiled_kernels = info.compiled_kernels
        self.compile_seconds = info.compile_seconds
        self.arena_bytes = info.arena_bytes

    def ir(self, phase: str) -> str:
        """Return the program's MLIR text at a phase.

        Parameters
        ----------
        phase
            graph, fused, scheduled or kernels; then loops or llvm of a program for
            processors, and gpu, nvvm or ptx of one for a GPU.

        Raises
        ------
        ValueError
            If there is no such phase.
        """
        return self._info.ir(phase)

    def explain(self) -> Explanation:
        """Return what each kernel does; see `metaops.explain`."""
        return explain_program(self._info)

    def summary(self) -> str:
        """Return how many operators became how many kernels, in one line."""
        return (
            f"{self.meta_operators} meta-operators in {len(self.kernels)} kernels"
            f" ({self.distinct_kernels} distinct, {self.compiled_kernels} compiled"
            f" in {self.compile_seconds:.3f} s), {self.arena_bytes:,} bytes of scratch memory"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        """Return what is told of each kernel, below a row of heads."""
        rows: list[tuple[str, ...]] = [("kernel", "read", "written", "operators", "lines")]
        for kernel in self.kernels:
            operators, lines = " ".join(kernel.operators), " ".join(kernel.lines)
            read, written = f"{kernel.bytes_read:,}", f"{kernel.bytes_written:,}"
            rows.append((kernel.name, read, written, operators, lines))
        return rows

    def _repr_html_(self) -> str:
        heads, *rows = self._rows()
        return _html.page(self.summary(), _html.table(rows, heads))

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        table = [
            f"{name:{widths[0]}}  {read:>{widths[1]}}  {written:>{widths[2]}}"
            f"  {operators:{widths[3]}}  {lines}".rstrip()
            for name, read, written, operators, lines in rows
        ]
        return "\n".join([self.summary(), *table])


def last_program() -> LastProgram:
    """Return what the last slice that ran was compiled to.

    Raises
    ------
    RuntimeError
        If nothing has run.
    """
    return LastProgram(_core.last_program())
