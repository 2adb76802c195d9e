# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules that are measured, for those who ask for it.

The search is the compiler's (``lib/Runtime/Kernels/Tuning``). Here is what it is
given, what it has found, and where that is kept.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core, _html
from .._core import Var
from .._errors import at_line
from .._flags import flags

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TunedKernel", "Tuning", "tune", "tuned_schedules"]


class TunedKernel(NamedTuple):
    """Kernel calls that were tuned together.

    Attributes
    ----------
    names : list of str
        The kernels of the program, each once.
    operators, lines : list of str
        What they compute, and the Python lines that recorded it.
    seconds_before, seconds_after : float
        Medians of a run of all of them on made-up data, with the compiler's own
        schedules and with `schedules`. Both are 0 where the budget was over
        before they were measured.
    before : list of str
        The compiler's schedules of their stages, as lines of a schedule file.
    schedules : list of str
        The lines of a schedule file that make them faster; none where nothing
        was clearly better.
    measured, refused : int
        Candidates that ran, and that could not be compiled.
    """

    names: list[str]
    operators: list[str]
    lines: list[str]
    seconds_before: float
    seconds_after: float
    before: list[str]
    schedules: list[str]
    measured: int
    refused: int

    @property
    def speedup(self) -> float:
        """How many times faster they are."""
        return self.seconds_before / self.seconds_after if self.seconds_after else 1.0


class Tuning(NamedTuple):
    """What `tune` has found; ``print`` shows a table.

    Attributes
    ----------
    kernels : list of TunedKernel
        Program by program, in the order of their times.
    path : Path or None
        The schedule file that was written, if there is one; of several devices,
        the last.
    seconds : float
        What it took.
    errors : list of str
        Candidates that computed something else than the compiler's own schedules
        do. They are errors of the compiler, and none of them is used.
    """

    kernels: list[TunedKernel]
    path: Path | None
    seconds: float
    errors: list[str]

    @property
    def schedules(self) -> list[str]:
        """All lines that were found, each once."""
        return list(dict.fromkeys(line for kernel in self.kernels for line in kernel.schedules))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the lines to a file that ``flags.schedule_file`` takes.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        with open(path, "w") as file:
            file.write(_to_text(_entries(self.schedules)))

    def _rows(self) -> list[tuple[str, ...]]:
        """Return what is told of each kernel, below a row of heads."""
        header = ("kernels", "before us", "after us", "speedup", "tried", "operators", "lines")
        rows: list[tuple[str, ...]] = [header]
        rows += [
            (
                " ".join(kernel.names),
                f"{kernel.seconds_before * 1e6:,.1f}",
                f"{kernel.seconds_after * 1e6:,.1f}",
                f"{kernel.speedup:.2f}",
                str(kernel.measured),
                " ".join(dict.fromkeys(kernel.operators)),
                " ".join(dict.fromkeys(map(_shorten, kernel.lines))),
            )
            for kernel in self.kernels
        ]
        return rows

    def _summary(self) -> str:
        """Return what was found, in one line."""
        where = f", in {self.path}" if self.path else ""
        return f"{len(self.schedules)} lines of schedules in {self.seconds:.1f} s{where}"

    def _repr_html_(self) -> str:
        heads, *rows = self._rows()
        return _html.page(self._summary(), _html.table(rows, heads))

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if 0 < i < 5 else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self._summary()])


def _shorten(line: str) -> str:
    return line.rpartition("/")[2]


def _entries(lines: Iterable[str]) -> dict[str, str]:
    """Return what a file says of each stage and kernel; later lines count."""
    entries: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            entries[name.strip()] = value.strip()
    entries.pop("version", None)
    return entries


def _to_text(entries: Mapping[str, str]) -> str:
    lines = [f"{name} = {value}\n" for name, value in sorted(entries.items())]
    return "".join([f"version = {_core.schedule_file_version()}\n", *lines])


def _cache_file(target: str) -> Path | None:
    """Return where what is found for a target is kept, or None."""
    from pathlib import Path

    folder = str(flags.cache_dir)
    return Path(folder) / f"schedules-{target[:32]}.txt" if folder and target else None


def tuned_schedules() -> str:
    """Return the file of all schedules that were tuned for the current device.

    It is a file of the cache folder, to which each call of `tune` adds what it
    finds. Nothing reads it unless it is given to ``flags.schedule_file``. The
    name is that of the processor, or of the GPU's chip, and of the build of the
    compiler; other ones have other files.

    Returns
    -------
    str
        The path, or "" where nothing was tuned yet, or there is no cache folder.

    Examples
    --------
    >>> import metaops as mo
    >>> mo.flags.schedule_file = mo.tuned_schedules()
    """
    file = _cache_file(_core.target_name())
    return str(file) if file and file.is_file() else ""


def _keep(target: str, lines: list[str]) -> Path | None:
    """Add lines to the file of a target in the cache folder."""
    file = _cache_file(target)
    if not file or not lines:
        return None
    entries = _entries(file.read_text().splitlines()) if file.is_file() else {}
    entries.update(_entries(lines))
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    temporary.write_text(_to_text(entries))
    temporary.replace(file)
    return file


def _vars(value: object) -> list[Var]:
    """Return the Vars in what a function has returned."""
    if isinstance(value, Var):
        return [value]
    if isinstance(value, Mapping):
        return _vars(list(value.values()))
    if isinstance(value, list | tuple):
        return [var for item in value for var in _vars(item)]
    return []


def tune(
    function: Callable[..., object],
    *args: Any,
    budget: float,
    path: str | os.PathLike[str] | None = None,
) -> Tuning:
    """Look for schedules by which what a function computes is faster.

    Calls the function once, computes what it returns, and tries schedules that
    are near to the compiler's own for the kernels of its programs, those first
    that take most time, on the device that runs them: a processor, by its clock,
    or a GPU, by events. What is clearly faster is kept, in a file that other
    sessions may use; this one goes on as it was. Nothing else may run on the
    machine meanwhile, or in this session.

    Parameters
    ----------
    function
        What is to be faster.
    *args
        What it is called with.
    budget
        For so many seconds, the time of compilation included. The kernel that is
        compiled when they are over is still finished.
    path
        A file that is written with the schedules that were found. They are added
        to the file of the cache folder (see `tuned_schedules`) in any case.

    Returns
    -------
    Tuning
        What was found for each kernel.

    Raises
    ------
    ValueError
        If the budget is negative, or ``flags.schedule_file`` is set: the search
        begins with the compiler's own schedules.
    RuntimeError
        If the interpreter runs, which has no kernels, or an emulator, which tells
        no times.
    OSError
        If the file cannot be written.

    Warns
    -----
    RuntimeWarning
        If a candidate computed something else, which is an error of the compiler.

    Examples
    --------
    >>> import metaops as mo
    >>> x, w = mo.random((64, 256)), mo.random((256, 128))
    >>> print(mo.tune(lambda: mo.matmul(x, w), budget=20))  # doctest: +SKIP
    """
    if not 0 <= budget < math.inf:
        raise at_line(ValueError(f"tune: given a budget of {budget}, expected seconds"))
    if flags.schedule_file:
        raise ValueError(
            "tune: begins with the compiler's own schedules; set flag schedule_file to ''"
        )
    start = time.monotonic()
    profiler = _core.make_profiler(False)
    profiler.start()
    # Kernels that other lengths share are no matter of this one.
    _core.share_kernels(False)
    try:
        _core.sync(_vars(function(*args)))
        _core.sync_all()
    finally:
        _core.share_kernels(True)
        profiler.stop()
    programs = profiler.programs()
    times = [sum(call["total"] for call in program["calls"]) for program in programs]
    kernels: list[TunedKernel] = []
    errors: list[str] = []
    found: dict[str, list[str]] = {}
    left = sum(times)
    for index in sorted(range(len(programs)), key=lambda index: -times[index]):
        seconds = max(budget - (time.monotonic() - start), 0.0)
        share = seconds * times[index] / left if left else 0.0
        tuned, wrong = profiler.tune(index, int(share * 1000))
        left -= times[index]
        errors += wrong
        of_target = found.setdefault(profiler.target_name(index), [])
        for entry in tuned:
            of_target += entry["schedules"]
            entry["names"] = list(dict.fromkeys(entry["names"]))
            kernels.append(TunedKernel(**entry))
    for error in errors:
        warnings.warn(
            f"tune: an error of the compiler, whose schedule is not used: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
    from pathlib import Path

    kept = [file for target, lines in found.items() if (file := _keep(target, lines))]
    written = Path(path) if path else kept[-1] if kept else None
    result = Tuning(kernels, written, time.monotonic() - start, errors)
    if path:
        result.save(path)
    return result
