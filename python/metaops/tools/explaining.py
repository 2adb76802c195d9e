# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels for some values will do, before they are run."""

from __future__ import annotations

import atexit
import os
import re
import warnings
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from .. import _core, _html

if TYPE_CHECKING:
    from .._core import Var

__all__ = [
    "Access",
    "Explanation",
    "Grid",
    "KeptValue",
    "KernelExplanation",
    "Loop",
    "Stage",
    "explain",
    "explain_program",
]


class Access(NamedTuple):
    """One read or write of a stage.

    Attributes
    ----------
    tensor : str
        The type of the tensor.
    map : str
        From the loops of the stage to indices of the tensor.
    indices : list of str
        Symbols of the map that are numbers out of tensors, and where these are
        from.
    kind : str
        "invariant", "unit stride", "strided" or "gathered": where neighbouring
        iterations of the vector loop, or of the innermost one, find theirs.
    is_guarded : bool
        Some iterations are out of the tensor, or excluded by a condition.
    is_write : bool
        Whether it is a write.
    is_streamed : bool
        Whether it goes past the caches, as results do that are larger.
    reduction : str
        What a reduction combines by; empty where none does.
    """

    tensor: str
    map: str
    indices: list[str]
    kind: str
    is_guarded: bool
    is_write: bool
    is_streamed: bool
    reduction: str


class Loop(NamedTuple):
    """One loop of a stage.

    Attributes
    ----------
    loop : int
        Its number: ``d0`` in maps, 0 in a schedule.
    extent : str
        How many iterations.
    is_reduced, is_parallel, is_shared : bool
        Whether a reduction runs over it, threads may divide it, and it is that of
        the stage before.
    owner : str
        On a GPU, who has an iteration: "cluster", "block", "warp" or "thread";
        "" of a loop, which is done in order.
    step : int
        How far one iteration goes.
    vector_width, unroll : int
        Iterations that are one vector, and that are computed side by side.
    """

    loop: int
    extent: str
    is_reduced: bool
    is_parallel: bool
    owner: str
    step: int
    is_shared: bool
    vector_width: int
    unroll: int


class Stage(NamedTuple):
    """One nest of loops in a kernel.

    Attributes
    ----------
    identity : str
        What a file of schedules calls it.
    origins : list of str
        What a file of schedules calls the kernels of fusion of which it is a
        part or the whole.
    space : str
        The extents of the iteration space, as "8x16x32".
    to_space : str
        From loops to indices of the space, whose dimensions may be collapsed.
    operators : list of str
        In program order.
    loops : list of Loop
        Outermost first.
    accesses : list of Access
        Reads, then writes.
    schedule : str
        As ``#metaop.schedule<...>``.
    override_line : int
        The line of the schedule file that it is from; 0 for the compiler's own.
    role : str
        What it does in the kernel of a contraction: "packing", "contraction" or
        "epilogue"; empty in other kernels.
    contraction : str
        The loops of a sum of products by what they are, as "m d0, n d2, k d1";
        empty for other stages.
    """

    identity: str
    origins: list[str]
    space: str
    to_space: str
    operators: list[str]
    loops: list[Loop]
    accesses: list[Access]
    schedule: str
    override_line: int
    role: str = ""
    contraction: str = ""


class Grid(NamedTuple):
    """The threads of a kernel on a GPU, and what they take of it, by an estimate.

    Attributes
    ----------
    chip : str
        What the code is for, as "sm_90a".
    blocks, cluster, threads : int
        Blocks of the grid, blocks of a cluster, threads of a block.
    shared_bytes, registers : int
        Shared memory of a block, registers of a thread.
    resident_blocks : int
        Blocks that a multiprocessor holds at a time.
    occupancy : float
        The part of the threads that it could hold that these have, 0 to 1.
    bytes_again : int
        What stages read of inputs that one before has read.
    warp_instructions, shared_passes : float
        Instructions of all warps, and passes through the banks of shared memory,
        about: what the prediction counts of the schedule.
    predicted_seconds, bounds : dict
        What one call should take, by the name of each card that has the chip, and
        what takes that long there: ``memory``, ``second cache``, ``first cache``,
        ``shared memory``, ``instructions``, ``f32``, ``f64``, ``functions`` or
        ``waiting``.
    """

    chip: str
    blocks: int
    cluster: int
    threads: int
    shared_bytes: int
    registers: int
    resident_blocks: int
    occupancy: float
    bytes_again: int
    warp_instructions: float
    shared_passes: float
    predicted_seconds: dict[str, float]
    bounds: dict[str, str]


class KernelExplanation(NamedTuple):
    """One kernel call.

    Attributes
    ----------
    name : str
        Equal kernels of a program have one name.
    stages : list of Stage
        In the order in which they run.
    lines : list of str
        The Python lines that recorded its operators.
    bytes_read, bytes_written, flops : int
        Each input and each output once; floating-point operations.
    instructions : dict
        How many of each class the prediction counts.
    threads : int
        How many will work on it at most.
    predicted_seconds : float
        What it should take on them; on a GPU, on the first card of `grid`.
    may_keep : bool
        It packs arguments of the program. Where these stay the same, the third
        run on them, and later ones, find what is packed, and do without it.
    grid : Grid or None
        Of a kernel for a GPU.
    text : str
        The stages, as ``print`` shows them.
    """

    name: str
    stages: list[Stage]
    lines: list[str]
    bytes_read: int
    bytes_written: int
    flops: int
    instructions: dict[str, int]
    threads: int
    predicted_seconds: float
    may_keep: bool
    grid: Grid | None
    text: str

    @property
    def intensity(self) -> float:
        """Floating-point operations for each byte read or written."""
        total = self.bytes_read + self.bytes_written
        return self.flops / total if total else 0.0

    def _repr_html_(self) -> str:
        rows = [
            (stage.space or "1 point", " ".join(stage.operators), stage.schedule)
            for stage in self.stages
        ]
        title = f"{self.name}: {' '.join(self.lines)}"
        costs = _html.table([self._costs()], _COSTS)
        return _html.page(title, costs, _html.table(rows, ("space", "operators", "schedule")))

    def _costs(self) -> tuple[str, ...]:
        """Return what is read, written and computed, by how many threads and how fast."""
        return (
            f"{self.bytes_read:,}",
            f"{self.bytes_written:,}",
            f"{self.flops:,}",
            f"{self.threads:,}",
            f"{self.predicted_seconds * 1e6:,.1f}",
        )

    def __str__(self) -> str:
        kept = "  kept from run to run where what it reads stays the same\n"
        text = f"{self.name}: {' '.join(self.lines)}\n{self.text}{kept if self.may_keep else ''}"
        if self.grid:
            return text.rstrip()  # threads and times are told there
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{text}  {threads}; predicted {self.predicted_seconds * 1e6:.1f} us"


#: The heads of a kernel's costs.
_COSTS = ("read", "written", "flops", "threads", "predicted us")


class KeptValue(NamedTuple):
    """A value that a program computes though nobody has asked for it.

    Attributes
    ----------
    line : str
        The Python line that recorded it.
    dtype : str
        The type of its elements.
    shape : tuple of int
        Its extents.
    reason : str
        Whom it is kept for: a "gradient" that may read it; somebody who has "held"
        it; what is "pending" and reads it; those for whom a program has computed it
        before ("again"); a "loop", in which it has taken another value's place; or an
        "update", which would keep more memory without it.
    fits : bool
        False where ``flags.saved_values_budget`` has no room for it: it is then
        computed again if need be.
    """

    line: str
    dtype: str
    shape: tuple[int, ...]
    reason: str
    fits: bool

    def __str__(self) -> str:
        text = f"{self.dtype} {self.shape} of {self.line}: {_REASONS[self.reason]}"
        return f"kept: {text}" if self.fits else f"beyond the budget: {text}"


_REASONS = {
    "gradient": "a gradient may read it",
    "held": "somebody holds it",
    "pending": "what is pending reads it",
    "again": "a program has computed it before",
    "loop": "it has taken the place of another value",
    "update": "what updates write over would be kept for it",
}


class Explanation:
    """What will be computed and how; ``print`` shows it.

    Attributes
    ----------
    kernels : list of KernelExplanation
        The calls in order, of all programs.
    fusion : list of str
        For each program what its fusion costs: the elements that cross between
        operators before, and between kernels after.
    fusion_cost : tuple of int
        The sum of these elements before and after.
    kept : list of KeptValue
        What the programs compute for later, and what does not fit the budget.
    """

    def __init__(self, programs: Sequence[_core.ProgramInfo]) -> None:
        self._programs = list(programs)
        self.kernels: list[KernelExplanation] = []
        self.fusion: list[str] = []
        self.kept: list[KeptValue] = []
        before = after = 0
        for program in programs:
            fusion, calls = program.describe()
            self.fusion.append(fusion)
            if found := re.search(r"cost (\d+) -> (\d+) elements", fusion):
                before, after = before + int(found[1]), after + int(found[2])
            self.kernels += [_kernel(call) for call in calls]
            self.kept += [KeptValue(*value) for value in program.kept()]
        self.fusion_cost = (before, after)

    @property
    def predicted_seconds(self) -> float:
        """What all kernels should take, one after the other."""
        return sum(kernel.predicted_seconds for kernel in self.kernels)

    def ir(self, phase: str) -> list[str]:
        """Return the MLIR text of each program at a phase of its target.

        Parameters
        ----------
        phase
            graph, fused, scheduled or kernels; then loops or llvm of programs for
            processors, and gpu, nvvm or ptx of those for a GPU.

        Raises
        ------
        ValueError
            If there is no such phase.
        """
        return [program.ir(phase) for program in self._programs]

    def save_schedules(self, path: str | os.PathLike[str]) -> None:
        """Write the schedules to a file that ``flags.schedule_file`` takes.

        The first line is the version of the file's form. There is one line for
        each stage, after comments that say what it is, and
        which kernels' rewrites have led to it.

        Parameters
        ----------
        path
            The file to write.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        lines = [f"version = {_core.schedule_file_version()}"]
        seen: set[str] = set()
        for kernel in self.kernels:
            for stage in kernel.stages:
                if stage.identity in seen:
                    continue
                seen.add(stage.identity)
                lines += [
                    f"# {' '.join(stage.operators)}: S = {stage.space or '1 point'}",
                    f"# {' '.join(kernel.lines)}",
                    f"# of kernel {' '.join(stage.origins)}",
                    f"{stage.identity} = {stage.schedule}",
                ]
        with open(path, "w") as file:
            file.writelines(f"{line}\n" for line in lines)

    def _total(self) -> str:
        """Return how many kernels there are, and what they take, in one line."""
        if not self.kernels:
            return "no kernels: the values are in memory already, or are views"
        kernels = "1 kernel" if len(self.kernels) == 1 else f"{len(self.kernels)} kernels"
        return f"{kernels}, predicted {self.predicted_seconds * 1e6:.1f} us"

    def _repr_html_(self) -> str:
        rows = []
        for kernel in self.kernels:
            operators = " ".join(chain(*(stage.operators for stage in kernel.stages)))
            spaces = " ".join(stage.space or "1" for stage in kernel.stages)
            rows.append((kernel.name, *kernel._costs(), spaces, operators, " ".join(kernel.lines)))
        heads = ("kernel", *_COSTS, "spaces", "operators", "lines")
        parts = [_html.table(rows, heads)] if rows else []
        if self.kept:
            parts.append(_html.table([(str(value),) for value in self.kept]))
        return _html.page(self._total(), *parts)

    def __str__(self) -> str:
        if not self.kernels:
            return self._total()
        reports = (filter(None, self.fusion), map(str, self.kernels), map(str, self.kept))
        return "\n".join(chain(*reports, [self._total()]))


def _kernel(call: _core.KernelDescription) -> KernelExplanation:
    return KernelExplanation(
        name=call["name"],
        stages=[
            Stage(
                identity=stage["identity"],
                origins=stage["origins"],
                space=stage["space"],
                to_space=stage["to_space"],
                operators=stage["operators"],
                loops=[Loop(**loop) for loop in stage["loops"]],
                accesses=[Access(**access) for access in stage["accesses"]],
                schedule=stage["schedule"],
                role=stage["role"],
                contraction=stage["contraction"],
                override_line=stage["override_line"],
            )
            for stage in call["stages"]
        ],
        lines=call["lines"],
        bytes_read=call["bytes_read"],
        bytes_written=call["bytes_written"],
        flops=call["flops"],
        instructions=call["instructions"],
        threads=call["threads"],
        predicted_seconds=call["predicted_seconds"],
        may_keep=call["may_keep"],
        grid=None if call["grid"] is None else Grid(**call["grid"]),
        text=call["text"],
    )


def explain(vars: Var | Sequence[Var], *, target: str | None = None) -> Explanation:
    """Return what the kernels do that would compute values.

    The programs are compiled, and found again when the values are asked for.
    Nothing is run. Updates that would be run before, and values that would be
    kept for gradients, are part of it. Waits for runs that are in the queue.

    Parameters
    ----------
    vars
        What `sync` would be called with.
    target
        What the kernels are for, whatever the device of the values is: a GPU by
        its chip, as "cuda:sm_90a". It need not be there. By default that device.

    Raises
    ------
    RuntimeError
        If the interpreter would run, which has no kernels.
    ValueError
        If there is no such target.

    Examples
    --------
    >>> import metaops as mo
    >>> x = mo.random((64, 128))
    >>> explanation = mo.explain(mo.exp(x).sum(dims=1))
    >>> explanation.kernels[0].stages[0].space
    '64x128'
    """
    return Explanation(_core.plan_programs(vars, target))


def explain_program(info: _core.ProgramInfo) -> Explanation:
    """Return the same for a program that has run."""
    return Explanation([info])


@atexit.register
def _warn_of_unused_schedules() -> None:
    for message in _core.take_unused_schedules():
        warnings.warn(message, RuntimeWarning, stacklevel=1)
