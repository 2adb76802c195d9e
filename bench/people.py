# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of loops as people write them, early and late.

    people.py [NAME...] [--before REPORT] [--output FOLDER]

Each loop of test/python/people_loops takes some hundred steps in a process of its own.
Reported are, of a step, the programs that it runs, the operators that are computed again
for values that were live, and its time in the median of ten steps around the tenth and the
five hundredth. `--before` names the people-loops.json of another build, which is put beside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from common import Table, seconds, write_report

TESTS = Path(__file__).parents[1] / "test" / "python"
EARLY, LATE, STEPS = (10, 20), (500, 510), 510


def measure(name: str) -> dict[str, Any]:
    """Return what a loop costs."""
    import metaops as mo

    sys.path.insert(0, str(TESTS))
    from people_loops import LOOPS, Hand

    step = LOOPS[name].make(Hand(7, keeps=True))
    times, counts = [], {}
    for i in range(STEPS):
        if i in (EARLY[1], LATE[0]):
            counts[i] = mo.stats()
        times.append(seconds(lambda i=i: step(i)))
    mo.sync_all()
    first, last = counts.values()
    steps = LATE[0] - EARLY[1]
    return {
        "early_us": 1e6 * median(times[slice(*EARLY)]),
        "late_us": 1e6 * median(times[slice(*LATE)]),
        "programs": (last["programs_run"] - first["programs_run"]) / steps,
        "compiled": last["programs_compiled"],
        "repeated": (last.get("operators_repeated", 0) - first.get("operators_repeated", 0))
        / steps,
        "block": last["ops_in_block"] - first["ops_in_block"],
    }


def run(name: str) -> dict[str, Any]:
    """Return what a loop costs, measured by another process, or why it has not gone on."""
    command = [sys.executable, __file__, "--worker", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return {"error": "more than 120 s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def row(found: dict[str, Any]) -> list[Any]:
    """Return the columns of one build."""
    if "error" in found:
        return [found["error"][:40], None, None, None, None, None]
    names = ("programs", "compiled", "block", "repeated", "early_us", "late_us")
    return [round(found[name], 2) for name in names]


def table(results: dict[str, Any], title: str) -> Table:
    """Return the table of a build."""
    columns = ["loop", "programs a step", "compiled", "block grows by", "repeated"]
    made = Table(title, [*columns, "us at 10", "us at 500"])
    for name, found in results.items():
        made.add(name, *row(found))
    return made


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--worker")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--output")
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.worker)))
        return
    sys.path.insert(0, str(TESTS))
    from people_loops import LOOPS

    results = {name: run(name) for name in options.names or LOOPS}
    tables = [table(results, "Loops as people write them")]
    if options.before:
        tables.append(table(json.loads(options.before.read_text()), "Before"))
    write_report("people", tables, options.output)
    if options.output:
        Path(options.output, "people-loops.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
