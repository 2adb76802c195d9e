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
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import common
import metaops as mo
import numpy as np
from ops.metaops_ops import MetaOps
from workloads import CONTRACTIONS, WORKLOADS, Workload, select

ROOT = Path(__file__).resolve().parents[1]

#: The chips of the page, and the element types.
CHIPS = ("sm_90a", "sm_80")
DTYPES = ("float32", "bfloat16")
#: What a kernel that memory bounds may take to compile, in milliseconds.
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

    @property
    def is_contraction(self) -> bool:
        """Whether arithmetic bounds it."""
        return self.group in CONTRACTIONS


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


def audit(names: Iterable[str], dtype: str, chip: str, quick: bool = False) -> list[Audited]:
    """Return a row for each workload."""
    # Tests look at no times.
    rounds, repetitions = (1, 1) if quick else (ROUNDS, REPETITIONS)
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


# Tables


def audit_table(rows: Sequence[Audited], dtype: str, chip: str) -> common.Table:
    """Return what the kernels take, and how long they should."""
    cards = next((list(row.predicted) for row in rows if row.predicted), [])
    failures = [f"{row.name}: {row.failure.splitlines()[0]}" for row in rows if row.failure]
    table = common.Table(
        f"{chip}, {dtype}",
        [
            *("workload", "kernels", "on a CPU", "launches", "MB", "registers", "shared KB"),
            *("occupancy", "local B", "spilled B"),
            *(f"{card} us" for card in cards),
            *("PTX ms", "cubin ms", "hardware"),
        ],
        note="Without code: " + "; ".join(failures) if failures else "",
    )
    for row in rows:
        if row.failure:
            continue
        functions = row.functions or [Function("", 0, 0, 0)]
        table.add(
            row.name,
            row.kernels,
            row.kernels_on_cpu,
            len(row.functions),
            row.bytes / 1e6,
            max(function.registers for function in functions),
            max(function.shared_bytes for function in functions) / 1024,
            f"{min(function.occupancy for function in functions):.0%}",
            sum(function.local_bytes for function in functions),
            sum(function.spilled_bytes for function in functions),
            *(row.predicted.get(card, 0.0) * 1e6 for card in cards),
            1e3 * row.ptx_seconds / max(row.kernels, 1),
            1e3 * row.cubin_seconds / max(row.kernels, 1),
            "not run",
        )
    return table


def compile_table(every: dict[tuple[str, str], list[Audited]]) -> common.Table:
    """Return what compiling a kernel takes, median and largest."""
    table = common.Table(
        "Compiling, milliseconds a kernel",
        ["chip", "dtype", "kind", "workloads", "median", "largest", f"above {COMPILE_AIM}"],
        note="From the recorded operators to machine code, on one processor of this machine; "
        f"the fastest of {ROUNDS * REPETITIONS}.",
    )
    for (chip, dtype), rows in every.items():
        for kind, members in (
            ("memory-bound", [row for row in rows if row.kernels and not row.is_contraction]),
            ("contractions", [row for row in rows if row.kernels and row.is_contraction]),
        ):
            times = sorted(
                1e3 * (row.ptx_seconds + row.cubin_seconds) / row.kernels for row in members
            )
            if times:
                above = sum(taken > COMPILE_AIM for taken in times)
                middle = times[len(times) // 2]
                table.add(chip, dtype, kind, len(times), middle, times[-1], above)
    return table


def summary_table(every: dict[tuple[str, str], list[Audited]]) -> common.Table:
    """Return the sums of each chip and element type."""
    table = common.Table(
        "All workloads",
        [
            *("chip", "dtype", "workloads", "without code", "kernels", "on a CPU", "with more"),
            "launches",
            *("registers", "local B", "spilled B"),
        ],
        note="with more: workloads that have more kernels than on a CPU.",
    )
    for (chip, dtype), rows in every.items():
        functions = [function for row in rows for function in row.functions]
        table.add(
            chip,
            dtype,
            len(rows),
            sum(bool(row.failure) for row in rows),
            sum(row.kernels for row in rows),
            sum(row.kernels_on_cpu for row in rows),
            sum(row.kernels > row.kernels_on_cpu for row in rows),
            len(functions),
            max((function.registers for function in functions), default=0),
            sum(function.local_bytes for function in functions),
            sum(function.spilled_bytes for function in functions),
        )
    return table


INTRODUCTION = f"""\
<!-- Written by `script/bench gpu-audit --write`. -->

# What kernels take of a GPU

Of all workloads of [Benchmarks](Benchmarks.md), at their largest sizes. **Nothing here was run
on hardware**; [results/gpu](../results/gpu/README.md) has what was. Kernels, bytes and
launches are counted; registers, shared and local memory are the assembler's (nvJitLink), and
occupancy follows from them; times on cards are [predictions](Explain.md#predicted-times) from
data sheets. Only the times of compiling are measured, on the machine that wrote this page.

* **kernels** and **on a CPU**: calls of kernels, routines such as sorts not counted; on a CPU,
  of the same workload in the same type.
  **launches**: functions of these kernels; what a result is set to before blocks reduce into
  it is one.
* **registers**, **shared KB** and **occupancy** are those of the function that has the most, or
  the least.
* **PTX ms**, **cubin ms**: the time to PTX from the recorded operators, and to machine code
  from there, for each kernel: the fastest of {ROUNDS * REPETITIONS}.

"""


def write_page(tables: Sequence[common.Table]) -> Path:
    """Write docs/GpuAudit.md."""
    target = ROOT / "docs" / "GpuAudit.md"
    target.write_text(INTRODUCTION + "\n".join(table.markdown() for table in tables))
    return target


def main() -> None:
    """Audit, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads, groups or patterns")
    parser.add_argument("--chip", action="append", help="sm_90a and sm_80 by default")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--quick", action="store_true", help="the odd extents of tests")
    parser.add_argument("--write", action="store_true", help="write docs/GpuAudit.md")
    options = parser.parse_args()
    names = select(options.names)
    if not names:
        parser.error(f"no workload is called {' or '.join(options.names)}")
    every = {
        (chip, dtype): audit(names, dtype, chip, options.quick)
        for chip in options.chip or CHIPS
        for dtype in options.dtype or DTYPES
    }
    tables = [summary_table(every), compile_table(every)]
    tables += [audit_table(rows, dtype, chip) for (chip, dtype), rows in every.items()]
    print("\n".join(table.markdown() for table in tables))
    if options.write:
        print(f"wrote {write_page(tables)}")


if __name__ == "__main__":
    main()
