# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of all workloads take of a GPU, without one.

Each workload is recorded, compiled to PTX for a chip, and assembled by nvJitLink, as for
a GPU that is not here: nothing is run there. What is printed is counted or computed from
the code, but for the time that compiling takes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import common
import kept
import metaops as mo
import numpy as np
from kept import Line
from ops.metaops_ops import MetaOps
from workloads import CONTRACTIONS, WORKLOADS, Workload, select

ROOT = kept.ROOT
#: The kept lines, and the page that is written from them.
LINES = kept.RESULTS / "gpu-audit.csv"
PAGE = ROOT / "docs" / "GpuAudit.md"

#: The chips of the page, and the element types.
CHIPS = ("sm_90a", "sm_80")
DTYPES = ("float32", "bfloat16")
#: Milliseconds that compiling a kernel may take which memory bounds.
COMPILE_AIM = 60
#: All are compiled in so many rounds, and each so often in a round; the fastest time is
#: told. Other work on the machine only adds to one, and comes in bursts, which are longer
#: than the repetitions of a round.
ROUNDS, REPETITIONS = 2, 3

SEPARATOR = "// -----"


@dataclass
class Function:
    """What an assembler says of a function of a kernel, and the room it leaves."""

    name: str
    registers: int
    local_bytes: int
    spilled_bytes: int
    shared_bytes: int = 0
    threads: int = 1
    blocks: int = 0
    occupancy: float = 0.0


@dataclass
class Audited:
    """A workload on a chip."""

    name: str
    group: str
    #: Calls of kernels on the GPU, and on a processor.
    kernels: int
    kernels_on_cpu: int
    bytes: int
    #: Predicted seconds by card.
    predicted: dict[str, float]
    ptx_seconds: float
    #: The programs in the phase ptx.
    modules: list[str]
    functions: list[Function] = field(default_factory=list)
    cubin_seconds: float = 0.0
    #: Why there is no code; empty where there is.
    failure: str = ""


# Recording


def size_of(workload: Workload, quick: bool) -> str:
    """Return the size to look at: the largest there is, or that of tests."""
    if quick:
        return "odd"
    return next(size for size in ("large", "own", "million") if size in workload.shapes)


def leaf(entry: Any, dtype: str) -> mo.Var:
    """Return an input without contents: no kernel depends on them."""
    shape = getattr(entry, "shape", entry)
    is_integer = hasattr(entry, "high")
    if is_integer or dtype == "float32":
        # Pages that nobody touches take no memory.
        return mo.asarray(np.zeros(shape, "int32" if is_integer else "float32"))
    value = mo.zeros(shape, dtype=dtype)
    value.sync()
    return value


def record(workload: Workload, size: str, dtype: str) -> list[mo.Var]:
    """Record a workload; the forward pass of a backward one has run then."""
    tensors = [leaf(entry, dtype) for entry in workload.shapes[size]]
    return MetaOps().recorder(workload, tensors)()


def count_kernels(explanation: mo.Explanation) -> int:
    """Return the calls that are no copies and no routines."""
    return sum(bool(kernel.stages) for kernel in explanation.kernels)


def look_at(name: str, size: str, dtype: str, chip: str, repetitions: int) -> Audited:
    """Compile a workload for a chip, to PTX, and keep the time of the fastest repetition."""
    workload = WORKLOADS[name]
    on_cpu = count_kernels(mo.explain(record(workload, size, dtype)))
    explanation = mo.explain(record(workload, size, dtype), target=f"cuda:{chip}")
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        modules = explanation.ir("ptx")
        times.append(time.perf_counter() - begin)
    kernels = [kernel for kernel in explanation.kernels if kernel.grid]
    cards: dict[str, float] = {}
    for kernel in kernels:
        assert kernel.grid is not None
        for card, seconds in kernel.grid.predicted_seconds.items():
            cards[card] = cards.get(card, 0.0) + seconds
    return Audited(
        name=name,
        group=workload.group,
        kernels=len(kernels),
        kernels_on_cpu=on_cpu,
        bytes=sum(kernel.bytes_read + kernel.bytes_written for kernel in kernels),
        predicted=cards,
        ptx_seconds=min(times),
        modules=modules,
    )


# Assembling


def toolkits() -> list[str]:
    """Return the folders of NVIDIA's packages in this Python, as options of our tools."""
    packages = Path(sysconfig.get_paths()["purelib"], "nvidia")
    folders = sorted(path for path in packages.glob("[!_]*") if path.is_dir())
    return [f"--toolkit={folder}" for folder in folders]


RESOURCES = re.compile(
    r"(?P<name>\w+): registers (\d+), local (\d+), spilled (\d+) \+ (\d+), .*?"
    r"; (\d+) threads, (\d+) bytes with the call's, (\d+) blocks a multiprocessor, (\d+)%"
)


def parse_resources(text: str) -> tuple[list[Function], float]:
    """Return the functions that `metaop-translate --print-resources` lists, and seconds."""
    functions = []
    for found in RESOURCES.finditer(text):
        registers, local, stored, loaded, threads, shared, blocks, percent = map(
            int, found.groups()[1:]
        )
        functions.append(
            Function(
                name=found["name"],
                registers=registers,
                local_bytes=local,
                spilled_bytes=stored + loaded,
                shared_bytes=shared,
                threads=threads,
                blocks=blocks,
                occupancy=percent / 100,
            )
        )
    taken = sum(map(float, re.findall(r"assembled in ([\d.]+) ms", text)))
    return functions, taken * 1e-3


def assemble(rows: Sequence[Audited], rounds: int, repetitions: int) -> None:
    """Fill in what the assembler says, of all rows in one process."""
    one = [module for row in rows for module in row.modules for _ in range(repetitions)]
    modules = one * rounds
    if not modules:
        return
    finished = subprocess.run(
        [
            str(ROOT / "build/release/bin/metaop-translate"),
            *("--print-resources", "--times", *toolkits()),
            *(f"--split-input-file={SEPARATOR}", f"--output-split-marker={SEPARATOR}"),
        ],
        input=f"\n{SEPARATOR}\n".join(modules),
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise SystemExit(f"gpu-audit: {finished.stderr.strip()[-2000:]}")
    found = [parse_resources(part) for part in finished.stdout.split(f"{SEPARATOR}\n")]
    place = 0
    for row in rows:
        for _ in row.modules:
            same = [
                found[begin + repetition]
                for begin in range(place, len(modules), len(one))
                for repetition in range(repetitions)
            ]
            row.functions += same[0][0]
            row.cubin_seconds += min(seconds for _, seconds in same)
            place += repetitions


def audit(
    names: Iterable[str], dtype: str, chip: str, quick: bool = False, is_timed: bool = True
) -> list[Audited]:
    """Return a row for each workload."""
    # Tests look at no times.
    rounds, repetitions = (ROUNDS, REPETITIONS) if is_timed and not quick else (1, 1)
    rows = []
    for name in names:
        try:
            rows.append(look_at(name, size_of(WORKLOADS[name], quick), dtype, chip, repetitions))
        except (RuntimeError, TypeError, ValueError) as error:
            group = WORKLOADS[name].group
            rows.append(
                Audited(
                    name, group, 0, 0, 0, {}, 0.0, [], failure=str(error) or type(error).__name__
                )
            )
    for _ in range(rounds - 1):
        for row in rows:
            if not row.failure:
                again = look_at(
                    row.name, size_of(WORKLOADS[row.name], quick), dtype, chip, repetitions
                )
                row.ptx_seconds = min(row.ptx_seconds, again.ptx_seconds)
    assemble(rows, rounds, repetitions)
    return rows


def keep_times(every: dict[tuple[str, str], list[Audited]], lines: Sequence[Line]) -> None:
    """Have rows take as long to compile as lines that are kept say, a kernel."""
    kept_lines = {(line["chip"], line["dtype"], line["workload"]): line for line in lines}
    for (chip, dtype), rows in every.items():
        for row in rows:
            if line := kept_lines.get((chip, dtype, row.name)):
                row.ptx_seconds = 1e-3 * line["PTX ms"] * max(row.kernels, 1)
                row.cubin_seconds = 1e-3 * line["cubin ms"] * max(row.kernels, 1)


# Lines and tables


def lines_of(every: dict[tuple[str, str], list[Audited]]) -> common.Table:
    """Return a line for each workload, chip and element type, for what is kept."""
    cards = list(
        dict.fromkeys(card for rows in every.values() for row in rows for card in row.predicted)
    )
    columns = ["chip", "dtype", "group", "workload", "kernels", "on a CPU", "launches", "MB"]
    columns += ["registers", "shared KB", "occupancy", "local B", "spilled B"]
    columns += [*(f"{card} us" for card in cards), "PTX ms", "cubin ms", "failure"]
    table = common.Table("All workloads", columns)
    for (chip, dtype), rows in every.items():
        for row in rows:
            functions = row.functions or [Function("", 0, 0, 0)]
            table.add(
                *(chip, dtype, row.group, row.name),
                *(row.kernels, row.kernels_on_cpu, len(row.functions), row.bytes / 1e6),
                max(function.registers for function in functions),
                max(function.shared_bytes for function in functions) / 1024,
                min(function.occupancy for function in functions),
                sum(function.local_bytes for function in functions),
                sum(function.spilled_bytes for function in functions),
                *(row.predicted[c] * 1e6 if c in row.predicted else None for c in cards),
                1e3 * row.ptx_seconds / max(row.kernels, 1),
                1e3 * row.cubin_seconds / max(row.kernels, 1),
                row.failure.splitlines()[0] if row.failure else None,
            )
    return table


def audit_table(lines: Sequence[Line], dtype: str, chip: str) -> common.Table:
    """Return what the kernels take, and how long they should."""
    members = [line for line in lines if (line["chip"], line["dtype"]) == (chip, dtype)]
    failures = [f"{line['workload']}: {line['failure']}" for line in members if line["failure"]]
    cards = [name for name in members[0] if name.endswith(" us")] if members else []
    cards = [name for name in cards if kept.numbers(members, name)]
    columns = ["workload", "kernels", "on a CPU", "launches", "MB", "registers", "shared KB"]
    columns += ["occupancy", "local B", "spilled B", *cards, "PTX ms", "cubin ms"]
    table = common.Table(
        f"{chip}, {dtype}",
        columns,
        note="Without code: " + "; ".join(failures) if failures else "",
    )
    for line in members:
        if not line["failure"]:
            shown = line | {"occupancy": f"{line['occupancy']:.0%}"}
            table.add(*(shown[name] for name in columns))
    return table


def compile_table(lines: Sequence[Line]) -> common.Table:
    """Return what compiling a kernel takes, median and largest."""
    table = common.Table(
        "Compiling, milliseconds a kernel",
        ["chip", "dtype", "kind", "workloads", "median", "largest", f"above {COMPILE_AIM}"],
        note="From the recorded operators to machine code, on one processor of this machine; "
        f"the fastest of {ROUNDS * REPETITIONS}.",
    )
    for key, members in kept.parts(lines, ("chip", "dtype")).items():
        for kind in ("memory-bound", "contractions"):
            times = sorted(
                float(line["PTX ms"] + line["cubin ms"])
                for line in members
                if line["kernels"] and (line["group"] in CONTRACTIONS) == (kind == "contractions")
            )
            if times:
                above = sum(taken > COMPILE_AIM for taken in times)
                table.add(*key, kind, len(times), times[len(times) // 2], times[-1], above)
    return table


def summary_table(lines: Sequence[Line]) -> common.Table:
    """Return the sums of each chip and element type."""
    table = common.Table(
        "All workloads",
        [
            *("chip", "dtype", "workloads", "without code", "kernels", "on a CPU", "with more"),
            "launches",
            *("registers", "local B", "spilled B"),
        ],
        note="with more: workloads that have more kernels than on a CPU. registers: the most.",
    )
    for key, members in kept.parts(lines, ("chip", "dtype")).items():
        table.add(
            *key,
            len(members),
            sum(bool(line["failure"]) for line in members),
            sum(line["kernels"] for line in members),
            sum(line["on a CPU"] for line in members),
            sum(line["kernels"] > line["on a CPU"] for line in members),
            sum(line["launches"] for line in members),
            max(line["registers"] for line in members),
            sum(line["local B"] for line in members),
            sum(line["spilled B"] for line in members),
        )
    return table


def group_table(lines: Sequence[Line], dtype: str, chip: str) -> common.Table:
    """Return the medians of groups of workloads."""
    members = [line for line in lines if (line["chip"], line["dtype"]) == (chip, dtype)]
    members = [line for line in members if line["launches"]]
    cards = [name for name in members[0] if name.endswith(" us")] if members else []
    cards = [name for name in cards if kept.numbers(members, name)]
    medians = ["MB", "registers", "shared KB", "occupancy", *cards, "PTX ms", "cubin ms"]
    table = common.Table(
        f"{chip}, {dtype}: medians of groups",
        ["group", "workloads", "kernels", "on a CPU", "launches", *medians, "least occupancy"],
    )
    for (group,), rows in kept.parts(members, ("group",)).items():
        middle = {name: float(median(kept.numbers(rows, name))) for name in medians}
        shown = middle | {"occupancy": f"{middle['occupancy']:.0%}"}
        table.add(
            group,
            len(rows),
            *(sum(row[name] for row in rows) for name in ("kernels", "on a CPU", "launches")),
            *(shown[name] for name in medians),
            f"{min(row['occupancy'] for row in rows):.0%}",
        )
    return table


INTRODUCTION = f"""\
<!-- Written by `script/bench gpu-audit --write`, from results/gpu-audit.csv. -->

# What kernels take of a GPU

Of all workloads of [Benchmarks](Benchmarks.md), at their largest sizes: sums, and medians of
groups. [results/gpu-audit.csv](../results/README.md) has a line for each workload, chip and
type. **Nothing here was run on hardware**; [results/gpu](../results/gpu/README.md) has what
was. Kernels, bytes and launches are counted; registers, shared and local memory are the
assembler's (nvJitLink), and occupancy follows from them; times on cards are
[predictions](Explain.md#predicted-times). Only the times of compiling are
measured, on the machine that wrote the file.

* **kernels** and **on a CPU**: calls of kernels, routines such as sorts not counted; on a CPU,
  of the same workload in the same type.
  **launches**: functions of these kernels; what a result is set to before blocks reduce into
  it is one.
* **registers**, **shared KB** and **occupancy** of a workload are those of the function that
  has the most, or the least.
* **PTX ms**, **cubin ms**: the time to PTX from the recorded operators, and to machine code
  from there, for each kernel: the fastest of {ROUNDS * REPETITIONS}.

"""


def page(lines: Sequence[Line]) -> str:
    """Return docs/GpuAudit.md."""
    tables = [summary_table(lines), compile_table(lines)]
    for chip, dtype in kept.parts(lines, ("chip", "dtype")):
        tables.append(group_table(lines, dtype, chip))
    return INTRODUCTION + "\n".join(table.markdown() for table in tables)


def main() -> None:
    """Audit, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads, groups or patterns")
    parser.add_argument("--chip", action="append", help="sm_90a and sm_80 by default")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--quick", action="store_true", help="the odd extents of tests")
    parser.add_argument(
        "--write", action="store_true", help="write results/gpu-audit.csv and docs/GpuAudit.md"
    )
    parser.add_argument(
        "--keep-times",
        action="store_true",
        help="compile once, and leave the times of that as results/gpu-audit.csv has them",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="only write docs/GpuAudit.md, from results/gpu-audit.csv",
    )
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(kept.read(LINES)))
        return
    names = select(options.names)
    if not names:
        parser.error(f"no workload is called {' or '.join(options.names)}")
    every = {
        (chip, dtype): audit(names, dtype, chip, options.quick, not options.keep_times)
        for chip in options.chip or CHIPS
        for dtype in options.dtype or DTYPES
    }
    if options.keep_times:
        keep_times(every, kept.read(LINES))
    # As they are read, so that the page is that of the file.
    with tempfile.TemporaryDirectory() as folder:
        path = LINES if options.write else Path(folder, LINES.name)
        kept.write(path, lines_of(every))
        lines = kept.read(path)
    tables = [summary_table(lines), compile_table(lines)]
    tables += [audit_table(lines, dtype, chip) for chip, dtype in every]
    print("\n".join(table.markdown() for table in tables))
    if options.write:
        PAGE.write_text(page(lines))
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
