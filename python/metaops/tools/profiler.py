# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of programs goes: tables, timelines and pictures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import _core, _html
from ..tracing.reports import CallCounts, JitInfo
from . import picture
from ._profile_types import CallTimes, LaunchCountsDict, ProgramTimes, RunTimes

__all__ = [
    "AccessCounts",
    "KernelCounts",
    "KernelProfile",
    "ProfileReport",
    "ProgramProfile",
    "profile_scope",
]


class AccessCounts(NamedTuple):
    """What accesses of memory moved, counted by requests of whole warps.

    Attributes
    ----------
    operation, location : str
        What accesses, as ``llvm.load``, and where that comes from; empty of a sum.
    is_shared : bool
        Whether it is a block's shared memory, and not global memory.
    requests : int
        How often a warp asked.
    bytes : int
        What its lanes asked for, each byte once in a request.
    moved, least : int
        Sectors of 32 bytes, or passes through the banks of shared memory: those
        that there were, and the fewest for as many bytes.
    """

    operation: str
    location: str
    is_shared: bool
    requests: int
    bytes: int
    moved: int
    least: int


class KernelCounts(NamedTuple):
    """What one call of a kernel moved and executed, counted by the emulator.

    Attributes
    ----------
    accesses : list of AccessCounts
        By operation, in the order of the code.
    instructions : dict
        Of all threads, by class: ``float``, ``integer``, ``global`` and so on.
    """

    accesses: list[AccessCounts]
    instructions: dict[str, int]

    @property
    def in_global(self) -> AccessCounts:
        """The sum over the accesses of global memory."""
        return self._sum(is_shared=False)

    @property
    def in_shared(self) -> AccessCounts:
        """The sum over the accesses of shared memory."""
        return self._sum(is_shared=True)

    @property
    def bank_conflicts(self) -> int:
        """Passes through the banks that conflicts cost."""
        return self.in_shared.moved - self.in_shared.least

    def _sum(self, is_shared: bool) -> AccessCounts:
        own = [access for access in self.accesses if access.is_shared == is_shared]
        return AccessCounts(
            operation="",
            location="",
            is_shared=is_shared,
            requests=sum(access.requests for access in own),
            bytes=sum(access.bytes for access in own),
            moved=sum(access.moved for access in own),
            least=sum(access.least for access in own),
        )


class KernelProfile(NamedTuple):
    """What one kernel of one program took at its lines of the user's code.

    A program that calls the same kernel several times for the same lines has one
    of these for all of them.

    Attributes
    ----------
    name : str
        The kernel's name within its program.
    program : int
        The program's place in `ProfileReport.programs`.
    operators : tuple of str
        The meta-operators that it computes.
    lines : tuple of str
        The lines that recorded them, as ``file.py:12``.
    calls : int
        How often it ran.
    seconds : float
        What its calls took together.
    mean_seconds, min_seconds, max_seconds : float
        What one call took.
    share : float
        Its part of the report's `total_seconds`, 0 to 1.
    bytes_read, bytes_written : int
        The size of the tensors that one call reads and writes.
    flops : int
        The floating-point operations of one call. Each element-wise operation
        and each combination of a reduction is one for each point of the
        iteration space; casts, selections, comparisons, index computations and
        whatever is done on integers are none. A matrix product is
        ``2 * M * N * K``.
    predicted_seconds : float
        What the cost model says that one call takes; see `calibration`.
    counts : KernelCounts or None
        What its last call moved and executed, on an emulated device.
    """

    name: str
    program: int
    operators: tuple[str, ...]
    lines: tuple[str, ...]
    calls: int
    seconds: float
    min_seconds: float
    max_seconds: float
    share: float
    bytes_read: int
    bytes_written: int
    flops: int
    predicted_seconds: float
    counts: KernelCounts | None

    @property
    def mean_seconds(self) -> float:
        """What one call took on average."""
        return self.seconds / self.calls

    @property
    def gigabytes_per_second(self) -> float:
        """What it read and wrote in the time, in 10^9 bytes a second."""
        return _rate((self.bytes_read + self.bytes_written) * self.calls, self.seconds)

    @property
    def gigaflops_per_second(self) -> float:
        """What it computed in the time, in 10^9 operations a second."""
        return _rate(self.flops * self.calls, self.seconds)


class ProgramProfile(NamedTuple):
    """The runs of one program for the same lines of the user's code.

    Attributes
    ----------
    index : int
        Its place in `ProfileReport.programs`.
    runs : int
        How often it ran.
    seconds : float
        What its kernels took together.
    meta_operators : int
        How many operators it had before fusion.
    kernel_calls : int
        How many kernels one run calls.
    arena_bytes : int
        Memory for the values that live within a run only.
    compilations : int
        How many of its runs had to compile it, or load it from disk.
    compile_seconds : float
        What that took.
    device : str
        Where it ran.
    """

    index: int  # type: ignore[assignment]
    runs: int
    seconds: float
    meta_operators: int
    kernel_calls: int
    arena_bytes: int
    compilations: int
    compile_seconds: float
    device: str


class ProfileReport:
    """What ran in a `profile_scope`; ``print`` shows it as a table.

    It may be read while the scope is open, and then tells what has run so far.
    """

    def __init__(self, profiler: _core.Profiler, has_timeline: bool) -> None:
        self._profiler = profiler
        self._has_timeline = has_timeline
        self._programs: list[ProgramTimes] | None = None
        self._calls = CallCounts()
        self._functions: list[JitInfo] | None = None

    def _finish(self) -> None:
        self._programs = self._profiler.programs()
        self._functions = self._calls.list_called()

    def _data(self) -> list[ProgramTimes]:
        return self._profiler.programs() if self._programs is None else self._programs

    @property
    def total_seconds(self) -> float:
        """What all kernels took together.

        This is not the time that passed: recording, compiling and waiting are
        not in it, and kernels that run side by side count in full.
        """
        return sum(call["total"] for program in self._data() for call in program["calls"]) * 1e-9

    @property
    def compile_seconds(self) -> float:
        """What compiling took for the runs that had to."""
        return sum(program["compile_seconds"] for program in self._data())

    @property
    def programs(self) -> list[ProgramProfile]:
        """The programs in the order of their first runs.

        A program that serves several places of the code is listed for each.
        """
        return [
            ProgramProfile(
                index=index,
                runs=program["runs"],
                seconds=sum(call["total"] for call in program["calls"]) * 1e-9,
                meta_operators=program["meta_operators"],
                kernel_calls=len(program["calls"]),
                arena_bytes=program["arena_bytes"],
                compilations=program["compilations"],
                compile_seconds=program["compile_seconds"],
                device=program["device"],
            )
            for index, program in enumerate(self._data())
        ]

    @property
    def kernels(self) -> list[KernelProfile]:
        """The kernels, those that took most first."""
        groups: dict[tuple[Any, ...], list[CallTimes]] = {}
        for index, program in enumerate(self._data()):
            for call in program["calls"]:
                if call["runs"]:
                    key = (index, call["name"], tuple(call["lines"]))
                    groups.setdefault(key, []).append(call)
        total = sum(call["total"] for calls in groups.values() for call in calls)
        rows = [_merge(index, calls, total) for (index, *_), calls in groups.items()]
        return sorted(rows, key=lambda kernel: -kernel.seconds)

    @property
    def functions(self) -> list[JitInfo]:
        """The functions of `jit` that were called, those with most calls first.

        Of each, the calls of the scope, those that used a recording as it was, and the
        recordings that were made, with what was new; see `jit_info`.
        """
        return self._calls.list_called() if self._functions is None else self._functions

    def table(self, rows: int | None = None) -> str:
        """Return the kernels as a table, those that took most first.

        Below are the `functions` that were called, if any.

        Parameters
        ----------
        rows
            How many kernels to show; all by default.
        """
        kernels = self.kernels
        shown = kernels if rows is None else kernels[:rows]
        lines = [self.summary(), *_format_table(shown)]
        if len(shown) < len(kernels):
            lines.append(f"and {_count(len(kernels) - len(shown), 'more kernel')}")
        return "\n".join([*lines, *map(str, self.functions)])

    def summary(self) -> str:
        """Return what ran and what it took, in one line."""
        programs = self.programs
        return (
            f"{_count(sum(kernel.calls for kernel in self.kernels), 'kernel call')} in "
            f"{_count(sum(program.runs for program in programs), 'run')} of "
            f"{_count(len(programs), 'program')}: {self.total_seconds * 1e3:.3f} ms, "
            f"and {self.compile_seconds:.3f} s to compile"
        )

    def _repr_html_(self) -> str:
        tables = [_html.table([*map(_row, self.kernels)], _COLUMNS)]
        if functions := self.functions:
            tables.append(
                _html.table([_row_of_function(each) for each in functions], _OF_FUNCTIONS)
            )
        return _html.page(self.summary(), *tables)

    def __str__(self) -> str:
        return self.table()

    def chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a timeline that Perfetto and Chrome's tracing page open.

        One track has a span for each run of a program, another one a span for
        each kernel call with its operators, lines, bytes and floating-point
        operations; kernels that run side by side are on tracks of their own.
        Time starts with the first kernel. The runs of the interpreter are not in
        it.

        Parameters
        ----------
        path
            The file to write, as JSON.

        Raises
        ------
        ValueError
            If the scope was opened with ``timeline=False``.
        OSError
            If the file cannot be written.
        """
        import json

        if not self._has_timeline:
            raise ValueError("chrome_trace: the profile was taken with timeline=False")
        runs = self._profiler.runs()  # first: the programs of all of these are there
        trace = {"displayTimeUnit": "ns", "traceEvents": _trace_events(self._data(), runs)}
        with open(path, "w") as file:
            file.write(json.dumps(trace))

    def graph(self, path: str | os.PathLike[str], program: int = -1) -> None:
        """Draw a program: operators as nodes, each kernel a box around its own.

        The colour of a box tells its share of the program's time; the operators'
        lines are shown where the mouse points. An operator that is computed by
        several kernels is drawn in each.

        Parameters
        ----------
        path
            The file to write. What it ends with is what is written: ``.dot`` or
            ``.gv`` is text for Graphviz; ``.svg``, ``.pdf`` and ``.png`` are
            drawn by its program ``dot``, which has to be installed.
        program
            The place in `programs`; the last one by default.

        Raises
        ------
        ValueError
            If the name ends with something else.
        IndexError
            If there is no such program.
        RuntimeError
            If Graphviz is not installed, or fails.
        OSError
            If the file cannot be written.
        """
        from pathlib import Path

        data = self._data()
        if not -len(data) <= program < len(data):
            raise IndexError(f"graph: given program {program}, but {len(data)} have run")
        index = program % len(data)
        dot = picture.to_dot(self._profiler.graph(index), data[index]["calls"])
        picture.write(dot, Path(path))


@contextmanager
def profile_scope(*, timeline: bool = True) -> Iterator[ProfileReport]:
    """Measure the kernels that are run in a ``with`` block.

    What is asked for in the block runs and is measured; what is only recorded
    there is not run by the scope (`sync_all` does that). At the end, also after
    an exception, it is waited for runs that are on their way.

    Scopes may be nested, and each tells of all that ran in it: what runs in an
    inner one is in the outer one's report, too. All threads are measured.

    Parameters
    ----------
    timeline
        Keep the time of each single call for `ProfileReport.chrome_trace`, some
        tens of bytes each. Without it, memory does not grow with the number of
        runs.

    Yields
    ------
    ProfileReport
        What ran, by kernel.

    Examples
    --------
    >>> with mo.profile_scope() as report:
    ...     step(x).sync()
    >>> print(report)
    """
    profiler = _core.make_profiler(timeline)
    report = ProfileReport(profiler, timeline)
    profiler.start()
    try:
        yield report
    finally:
        profiler.stop()
        report._finish()


def _rate(amount: float, seconds: float) -> float:
    """Return 10^9 units a second; 0 where the clock has not moved."""
    return amount / seconds * 1e-9 if seconds > 0 else 0.0


def _merge(program: int, calls: list[CallTimes], total: int) -> KernelProfile:
    """Add up the calls of a program that are one row of a report."""
    first = calls[0]  # equal kernels work on equal shapes
    time = sum(call["total"] for call in calls)
    return KernelProfile(
        name=first["name"],
        program=program,
        operators=tuple(first["operators"]),
        lines=tuple(first["lines"]),
        calls=sum(call["runs"] for call in calls),
        seconds=time * 1e-9,
        min_seconds=min(call["min"] for call in calls) * 1e-9,
        max_seconds=max(call["max"] for call in calls) * 1e-9,
        share=time / total if total else 0.0,
        bytes_read=first["bytes_read"],
        bytes_written=first["bytes_written"],
        flops=first["flops"],
        predicted_seconds=first["predicted_seconds"],
        counts=_counts(first["counts"]),
    )


def _counts(counts: LaunchCountsDict | None) -> KernelCounts | None:
    if counts is None:
        return None
    accesses = [AccessCounts(**access) for access in counts["accesses"]]
    return KernelCounts(accesses, counts["instructions"])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_COLUMNS: tuple[str, ...] = (
    *("kernel", "calls", "total ms", "share", "mean us", "min us", "max us"),
    "predicted us",
    *("bytes", "GB/s", "FLOPs", "GFLOP/s", "operators", "lines"),
)


def _format_operators(operators: tuple[str, ...]) -> str:
    """Return each operator once, with how often it is there."""
    return " ".join(
        name if times == 1 else f"{name}*{times}" for name, times in Counter(operators).items()
    )


def _row(kernel: KernelProfile) -> tuple[str, ...]:
    """Return the cells of a kernel."""
    return (
        f"{kernel.program}.{kernel.name}",
        f"{kernel.calls:,}",
        f"{kernel.seconds * 1e3:.3f}",
        f"{kernel.share:.1%}",
        f"{kernel.mean_seconds * 1e6:.1f}",
        f"{kernel.min_seconds * 1e6:.1f}",
        f"{kernel.max_seconds * 1e6:.1f}",
        f"{kernel.predicted_seconds * 1e6:.1f}",
        f"{kernel.bytes_read + kernel.bytes_written:,}",
        f"{kernel.gigabytes_per_second:.2f}",
        f"{kernel.flops:,}",
        f"{kernel.gigaflops_per_second:.2f}",
        _format_operators(kernel.operators),
        " ".join(kernel.lines),
    )


_OF_FUNCTIONS: tuple[str, ...] = ("function", "calls", "hits", "recordings", "kept", "new")


def _row_of_function(info: JitInfo) -> tuple[str, ...]:
    """Return the cells of a recorded function."""
    counts = (info.calls, info.hits, len(info.records), info.keys)
    return (info.name, *(f"{count:,}" for count in counts), "; ".join(map(str, info.records)))


def _format_table(kernels: list[KernelProfile]) -> list[str]:
    """Return aligned lines; numbers to the right, texts to the left."""
    rows = [_COLUMNS, *map(_row, kernels)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    left = {0, len(_COLUMNS) - 2, len(_COLUMNS) - 1}
    return [
        "  ".join(
            f"{text:{width}}" if column in left else f"{text:>{width}}"
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _trace_events(programs: list[ProgramTimes], runs: list[RunTimes]) -> list[dict[str, Any]]:
    """Return events as the trace format has them, times in microseconds."""
    start = min((begin for _, _, times in runs for _, begin, _ in times), default=0)
    devices = list(dict.fromkeys(program["device"] for program in programs))

    def name(what: str, value: str, device: str, track: int = 0) -> dict[str, Any]:
        place = {"pid": _process(devices, device), "tid": track}
        return {"ph": "M", "name": what, **place, "args": {"name": value}}

    def span(
        label: str, device: str, track: int, begin: int, end: int, args: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "ph": "X",
            "name": label,
            "pid": _process(devices, device),
            "tid": track,
            "ts": (begin - start) / 1000,
            "dur": (end - begin) / 1000,
            "args": args,
        }

    spans = []
    # Of the kernels' tracks of each device, when each is free again.
    track_ends: dict[str, list[int]] = {device: [] for device in devices}
    for index, was_compiled, times in runs:
        if not times:
            continue
        program = programs[index]
        device = program["device"]
        about: dict[str, Any] = {"program": index, "meta_operators": program["meta_operators"]}
        if was_compiled:
            about["compile_seconds"] = program["compile_seconds"] / program["compilations"]
        first, last = min(begin for _, begin, _ in times), max(end for _, _, end in times)
        spans.append(span(f"program {index}", device, 1, first, last, about))
        for number, begin, end in sorted(times, key=lambda time: time[1]):
            call = program["calls"][number]
            args = {
                "operators": " ".join(call["operators"]),
                "lines": call["lines"],
                "bytes_read": call["bytes_read"],
                "bytes_written": call["bytes_written"],
                "flops": call["flops"],
            }
            track = _take_track(track_ends[device], begin, end)
            spans.append(span(call["name"], device, 2 + track, begin, end, args))
    names = []
    for device in devices or ["cpu:0"]:
        title = "metaops" if len(devices) < 2 else f"metaops, {device}"
        names.append(name("process_name", title, device))
        tracks = ["programs", "kernels"]
        tracks += [f"kernels, {number}" for number in range(2, len(track_ends.get(device, ())) + 1)]
        names += [
            name("thread_name", text, device, number) for number, text in enumerate(tracks, 1)
        ]
    return [*names, *spans]


def _process(devices: list[str], device: str) -> int:
    """Return by which number viewers keep a device's tracks together."""
    return os.getpid() + (devices.index(device) if device in devices else 0)


def _take_track(ends: list[int], begin: int, end: int) -> int:
    """Return the first track that is free, or a new one: spans of one do not overlap."""
    track = next((track for track, free in enumerate(ends) if free <= begin), len(ends))
    ends[track : track + 1] = [end]
    return track
