# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are loops, beside PyTorch's and JAX's: time, first calls and memory.

    loops.py [GROUP...] [--task TASK...] [--cores N...] [--quick] [--output FOLDER]

Groups are lstm, waves, stacking, decoding and lengths (bench/loop_rows). What everyone
returns is compared before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from common import core_counts, run_worker, seconds, write_report
from loop_rows import decoding, lengths, lstm, stacking, waves

GROUPS: dict[str, Any] = {
    "lstm": lstm,
    "decoding": decoding,
    "stacking": stacking,
    "waves": waves,
    "lengths": lengths,
}


def measure(name: str, only: list[str] | None, cores: int, quick: bool) -> dict[str, Any]:
    """Return what each task of a group measured, in a process of its own."""
    found = {}
    for task in GROUPS[name].TASKS:
        if only and task not in only:
            continue
        arguments = [name, "--task", task, *(["--quick"] if quick else [])]

        def run(task: str = task, arguments: list[str] = arguments) -> None:
            found[task] = run_worker(__file__, arguments, cores=cores)

        taken = seconds(run)
        print(f"{name}, {task}, {cores}: {taken:.1f} s", file=sys.stderr)
    return found


def main() -> None:
    """Measure groups and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--task", nargs="+", help="some tasks of the groups")
    parser.add_argument("--cores", nargs="+", type=int, help="numbers of processors")
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--output", help="a folder for loops.md and loops.json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.groups or list(GROUPS)
    if unknown := set(names) - set(GROUPS):
        parser.error(f"there is no {' or '.join(sorted(unknown))}, but {', '.join(GROUPS)}")
    if options.worker:
        found = GROUPS[names[0]].measure(options.task[0], options.quick)
        Path(options.worker).write_text(json.dumps(found))
        return
    tables = []
    for name in names:
        measured = {
            cores: found
            for cores in options.cores or core_counts()
            if (found := measure(name, options.task, cores, options.quick))
        }
        if measured:
            tables += GROUPS[name].make_tables(measured)
    write_report("loops", tables, options.output)


if __name__ == "__main__":
    main()
