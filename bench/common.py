# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all measurements share: fair timing, core counts, tables, the machine.

A measurement compares *contestants*: functions that do the same work. They take
turns, so that what else the machine does at the time hits all of them, and the
median of the turns is reported.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

# Timing


def seconds(run: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def calls_for(run: Callable[[], object], target: float) -> int:
    """Return how many calls take about `target` seconds, at least 1."""
    calls = 1
    while True:
        begin = time.perf_counter()
        repeat(run, calls)
        taken = time.perf_counter() - begin
        if taken >= target / 4 or calls >= 1 << 20:
            return max(1, round(calls * target / max(taken, 1e-9)))
        calls *= 4


def repeat(run: Callable[[], object], calls: int) -> None:
    """Call a function several times."""
    for _ in range(calls):
        run()


def interleave(
    contestants: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Let every contestant measure itself once a round; return all results.

    A contestant is a function that returns a number, such as seconds a step. The
    collection of Python's garbage happens between measurements only.
    """
    results: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for number in range(rounds):
        # Whoever follows a heavy neighbour is not always the same.
        shift = number % len(order)
        for name in order[shift:] + order[:shift]:
            gc.collect()
            gc.disable()
            try:
                results[name].append(contestants[name]())
            finally:
                gc.enable()
    return results


def medians(results: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of every contestant."""
    return {name: median(values) for name, values in results.items()}


def repeated(call: Callable[[], object]) -> Callable[[int], None]:
    """Return what calls so often, as `compare_steps` wants it."""

    def steps(count: int) -> None:
        for _ in range(count):
            call()

    return steps


def compare_steps(
    steps: Mapping[str, Callable[[int], object]], rounds: int, target: float
) -> dict[str, float]:
    """Return the seconds a step takes for each contestant.

    Parameters
    ----------
    steps
        Functions that take so many steps and wait until all are done.
    rounds
        How many turns each has.
    target
        How many seconds a turn takes, about.
    """
    turns = {}
    for name, step in steps.items():
        step(3)
        calls = calls_for(lambda step=step: step(1), target)  # type: ignore[misc]
        turns[name] = lambda step=step, calls=calls: seconds(lambda: step(calls)) / calls
    return medians(interleave(turns, rounds))


# Processes

#: Libraries that keep compiled code on disk, the variable that says where, and a folder's name. JAX
#: keeps none unless it is told to.
CACHE_FOLDERS = {
    "MetaOps": ("METAOPS_CACHE_DIR", "metaops"),
    "torch.compile": ("TORCHINDUCTOR_CACHE_DIR", "inductor"),
}


def run_worker(
    script: str,
    arguments: Sequence[str],
    cores: int | None = None,
    caches: str | None = None,
    extra: Mapping[str, str] | None = None,
) -> Any:
    """Run a script in a process of its own; return what it wrote as JSON.

    The script gets the file's name as its last argument, after `--worker`. With
    `cores` it may use so many processors only, whatever its threads are. What the
    contestants keep on disk is in the folder `caches`, else in an empty one. `extra`
    is added to the environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        command = [sys.executable, script, *arguments, "--worker", str(path)]
        if cores is not None:
            command = ["taskset", "-c", processors(cores), *command]
        caches = caches or folder
        environment = {
            **os.environ,
            **{variable: f"{caches}/{name}" for variable, name in CACHE_FOLDERS.values()},
            **(extra or {}),
        }
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        if cores is not None:
            environment["OMP_NUM_THREADS"] = str(cores)
        subprocess.run(command, check=True, env=environment)
        return json.loads(path.read_text())


def warm_caches() -> list[str]:
    """Return who finds code on disk that an earlier process has compiled."""
    return [
        title
        for title, (variable, _) in CACHE_FOLDERS.items()
        if (folder := Path(os.environ[variable])).is_dir() and any(folder.iterdir())
    ]


def processors(count: int) -> str:
    """Return the first of the processors that this process may use, for taskset."""
    available = sorted(os.sched_getaffinity(0))
    if count > len(available):
        raise SystemExit(f"{count} processors are asked for, there are {len(available)}")
    return ",".join(map(str, available[:count]))


def core_counts() -> list[int]:
    """Return the numbers of processors to measure with: 1, and 2 where there are."""
    return [count for count in (1, 2) if count <= len(os.sched_getaffinity(0))]


# Reports

#: Files in which the system describes a cache.
CACHE_FILES = ("type", "level", "size")


def environment() -> dict[str, str]:
    """Return the processor, the operating system and the versions of all peers."""
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    found = {"processor": model, **caches(), "python": platform.python_version()}
    for package in ("numpy", "torch", "jax", "jaxlib"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def caches() -> dict[str, str]:
    """Return the sizes of the caches of one processor, as the system tells them."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((folder / name).read_text().strip() for name in CACHE_FILES)
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


@dataclass
class Table:
    """Rows of text and numbers under a title."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Any]] = field(default_factory=list)
    note: str = ""

    def add(self, *row: Any) -> None:
        """Append a row, one entry per column."""
        assert len(row) == len(self.columns)
        self.rows.append(row)

    def markdown(self) -> str:
        """Return the table as Markdown, numbers aligned to the right."""
        cells = [list(self.columns)] + [[shown(entry) for entry in row] for row in self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        right = [
            any(isinstance(row[k], (int, float)) for row in self.rows)
            for k in range(len(self.columns))
        ]
        align = [str.rjust if number else str.ljust for number in right]
        lines = [
            "| " + " | ".join(f(c, w) for f, c, w in zip(align, row, widths, strict=True)) + " |"
            for row in cells
        ]
        rule = [
            "-" * (w - 1) + ":" if number else "-" * w
            for number, w in zip(right, widths, strict=True)
        ]
        lines.insert(1, "| " + " | ".join(rule) + " |")
        note = f"\n{self.note}\n" if self.note else ""
        return f"## {self.title}\n{note}\n" + "\n".join(lines) + "\n"


def shown(entry: Any) -> str:
    """Return an entry as text, a float with three digits that count."""
    if not isinstance(entry, float):
        return "" if entry is None else str(entry)
    if entry == 0 or not 1e-3 <= abs(entry) < 1e5:
        return f"{entry:.2e}" if entry else "0"
    decimals = max(0, 2 - len(str(int(abs(entry)))) + 1) if abs(entry) >= 1 else 3
    return f"{entry:.{decimals}f}"


def write_report(name: str, tables: Sequence[Table], output: str | None) -> None:
    """Print tables, and write them as NAME.md and NAME.json into a folder."""
    machine = environment()
    heading = f"# {name}\n\n" + ", ".join(f"{key} {value}" for key, value in machine.items())
    text = heading + "\n\n" + "\n".join(table.markdown() for table in tables)
    print(text)
    if output is None:
        return
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    content = {
        "environment": machine,
        "tables": [
            {"title": table.title, "columns": list(table.columns), "rows": table.rows}
            for table in tables
        ],
    }
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
