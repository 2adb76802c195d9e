# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether kernels compute on a GPU what they do on the emulator, and how fast.

    gpu_check.py [NAME...] [--emulate] [--tests [FILE...]] [--output FOLDER]

Every workload (workloads/) is run at odd extents on the GPU and on the emulator of its
chip, which execute the same code, and results are compared. Then those of sizes that
are measured are timed: each call's kernels by events on the GPU's clock, in the median
of some rounds, beside the driver's copy as the ceiling, and beside PyTorch where a
Python on the path has it. What did not run has a line that says why.

With --emulate, the emulator is what is checked, beside the CPU, and nothing is timed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import common
import gpu_python
import kernels
import metaops as mo
import numpy as np
from common import Table
from gpu_copy import DriverError, GpuCopy
from ops.metaops_ops import MetaOps
from workloads import WORKLOADS, select

#: Tests that compute on whichever device is current.
TESTS = (
    "elementwise", "reduce", "reindex", "gather", "cumulative", "sorting", "norm", "pool",
    "conv", "losses", "activations", "embedding", "einsum", "dtypes", "halves", "placement",
)  # fmt: skip
PEERS = ("PyTorch", "torch.compile")


@dataclass
class Row:
    """What is known of a workload."""

    name: str
    group: str
    #: Empty if results agree.
    difference: str = ""
    same_bits: bool = False
    #: By size, then by who: seconds, or why there are none.
    seconds: dict[str, dict[str, float | str]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)


def results_on(device: str, name: str, size: str) -> list[np.ndarray]:
    """Return what a workload computes on a device, each time from the same numbers."""
    workload = WORKLOADS[name]
    mo.seed(0)
    with mo.device(device):
        results = MetaOps().prepare(workload, workload.arrays(size))()
        return [np.array(result.numpy()) for result in results]


def first_line(error: BaseException) -> str:
    """Return what an error says, shortly."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def check(name: str, device: str, reference: str) -> Row:
    """Compare a workload's results on two devices, at odd extents."""
    row = Row(name, WORKLOADS[name].group)
    try:
        mine = results_on(device, name, "odd")
        expected = results_on(reference, name, "odd")
    except Exception as error:
        row.difference = first_line(error)
        return row
    row.difference = kernels.agree(mine, expected, WORKLOADS[name])
    row.same_bits = [a.tobytes() for a in mine] == [b.tobytes() for b in expected]
    return row


def measure(row: Row, device: str, size: str, rounds: int) -> None:
    """Time the kernels of a workload at a size."""
    workload = WORKLOADS[row.name]
    times = row.seconds.setdefault(size, {})
    try:
        with mo.device(device):
            arrays = workload.arrays(size)
            call = MetaOps().prepare(workload, arrays)
            row.bytes[size] = workload.bytes(arrays, [np.array(r.numpy()) for r in call()])
            times["MetaOps"] = kernels.profiled(call, 1, rounds)["seconds"]
    except Exception as error:
        times["MetaOps"] = first_line(error)


def run_tests(files: Sequence[str], device: str, folder: Path) -> list[tuple[str, int, int, str]]:
    """Run files of tests on a device: of each its passed and failed ones, and the first."""
    root = Path(os.environ.get("METAOPS_TESTS", Path(__file__).parents[1] / "test" / "python"))
    lines = []
    for name in files:
        report = folder / f"tests-{name}.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--device", device, f"--junitxml={report}", str(root / f"test_{name}.py")]
        done = subprocess.run(command, capture_output=True, text=True, cwd=root)
        if not report.exists():
            lines.append((name, 0, 0, (done.stderr or done.stdout).strip()[-300:]))
            continue
        cases = list(ElementTree.parse(report).iter("testcase"))
        failed = [
            f"{case.get('name')}: {bad.get('message', '')[:150]}"
            for case in cases
            for bad in (*case.findall("failure"), *case.findall("error"))
        ]
        skipped = sum(case.find("skipped") is not None for case in cases)
        passed = len(cases) - len(failed) - skipped
        lines.append((name, passed, len(failed), failed[0] if failed else ""))
    return lines


def check_table(rows: Sequence[Row], device: str, reference: str) -> Table:
    """Return which workloads agree."""
    wrong = [row for row in rows if row.difference]
    exact = sum(row.same_bits for row in rows)
    note = (
        f"{len(rows) - len(wrong)} of {len(rows)} workloads agree at odd extents, {exact} of"
        " them to the bit; below are the others."
    )
    table = Table(f"{device} beside {reference}", ["workload", "what differs"], note=note)
    for row in wrong:
        table.add(row.name, row.difference)
    return table


def time_table(rows: Sequence[Row], ceiling: float, gpu: str) -> Table:
    """Return what was timed."""
    note = (
        f"{gpu}. The driver's copy moves {ceiling / 1e9:.0f} GB/s in this run; shares are of"
        " that. Ratios are PyTorch's time over ours."
    )
    columns = ["workload", "size", "us", "GB/s", "share", *PEERS, "did not run"]
    table = Table("Kernels by the GPU's clock", columns, note=note)
    for row in rows:
        for size, times in row.seconds.items():
            own = times["MetaOps"]
            missing = [f"{who}: {t}" for who, t in times.items() if isinstance(t, str)]
            if isinstance(own, str):
                table.add(row.name, size, None, None, None, None, None, "; ".join(missing))
                continue
            rate = row.bytes[size] / own
            peers = [t / own if isinstance(t := times.get(p), float) else None for p in PEERS]
            share = f"{rate / ceiling:.0%}"
            table.add(row.name, size, own * 1e6, rate / 1e9, share, *peers, "; ".join(missing))
    return table


def tests_table(lines: Sequence[tuple[str, int, int, str]], device: str) -> Table:
    """Return what tests have said."""
    table = Table(f"Tests on {device}", ["file", "passed", "failed", "the first that failed"])
    for line in lines:
        table.add(*line)
    return table


def time_all(rows: Sequence[Row], options: argparse.Namespace) -> Table:
    """Time all rows, and the peers; the table says why where that cannot be."""
    try:
        copy = GpuCopy()
        ceiling = copy.bytes_per_second()
    except DriverError as error:
        return Table("Kernels by the GPU's clock", ["nothing was timed"], [[str(error)]])
    for row in rows:
        for size in options.sizes:
            if size in WORKLOADS[row.name].shapes:
                measure(row, options.device, size, options.rounds)
    gpu_python.measure_peers(rows, options.rounds)
    return time_table(rows, ceiling, copy.name)


def parse() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads or groups; all if none")
    parser.add_argument("--emulate", action="store_true", help="check the emulator, time nothing")
    parser.add_argument("--chip", default="sm_90a", help="what is emulated")
    parser.add_argument("--sizes", nargs="+", default=["large", "million", "own"])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--tests", nargs="*", metavar="FILE", help="files of tests, as 'reduce'")
    parser.add_argument("--output", default="results", help="folder for the report")
    options = parser.parse_args()
    patterns, options.names = options.names, select(options.names)
    if not options.names:
        parser.error(f"no workload is called {' or '.join(patterns)}")
    options.tests = TESTS if options.tests is None else options.tests
    emulator = f"emulator:{options.chip}"
    options.device = emulator if options.emulate else "cuda:0"
    options.reference = "cpu:0" if options.emulate else emulator
    return options


def main() -> None:
    """Check, time, and report."""
    options = parse()
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    begin = time.monotonic()
    for place, name in enumerate(options.names):
        print(f"\r{place + 1} of {len(options.names)} {name:<60.60}", end="", file=sys.stderr)
        rows.append(check(name, options.device, options.reference))
    print(f"\rchecked in {time.monotonic() - begin:.0f} s{'':<60}", file=sys.stderr)
    lines = run_tests(options.tests, options.device, folder)
    tables: list[Any] = [check_table(rows, options.device, options.reference)]
    tables.append(tests_table(lines, options.device))
    if not options.emulate:
        tables.append(time_all(rows, options))
    common.write_report("gpu-check", tables, options.output)
    if any(row.difference for row in rows) or any(failed for _, _, failed, _ in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
