# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of loops as people write them, early and late, beside PyTorch's.

    people.py [NAME...] [--threads N] [--before REPORT] [--output FOLDER]

Each loop of test/python/people_loops takes some hundred steps in a process of its own.
Reported are, of a step, the programs that it runs, the operators that are computed again
for values that were live, and its time in the median of ten steps around the tenth and the
five hundredth. `--before` names the people-loops.json of another build, which is put beside.

Where PyTorch is installed, the same loop in PyTorch (people_torch) takes as many steps after
it, in another process with as many threads. Its time is reported if both have returned the
same numbers in their first steps.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from common import Table, seconds, write_report
from rows import geometric_mean, plural

TESTS = Path(__file__).parents[1] / "test" / "python"
EARLY, LATE, STEPS = (10, 20), (500, 510), 510
SEED = 7
#: The first steps, whose numbers are compared, and the tolerances of test_people.py.
CHECKED = 25
RTOL, ATOL = 2e-3, 2e-4

#: Costs of a loop.
Found = dict[str, Any]


def timed(step: Callable[[int], list[Any]], before: Callable[[int], object]) -> Found:
    """Take the steps; return their times and what the first ones returned.

    `before` is called with the number of each step before it.
    """
    times: list[float] = []
    numbers: list[Any] = []
    seen: list[Any] = []
    for i in range(STEPS):
        before(i)
        times.append(seconds(lambda i=i: seen.append(step(i))))
        values = seen.pop()
        if i < CHECKED:
            numbers.append([np.asarray(value).tolist() for value in values])
    return {
        "early_us": 1e6 * median(times[slice(*EARLY)]),
        "late_us": 1e6 * median(times[slice(*LATE)]),
        "numbers": numbers,
    }


def measure(name: str) -> Found:
    """Return what a loop costs."""
    import metaops as mo

    sys.path.insert(0, str(TESTS))
    from people_loops import LOOPS, Hand

    counts: dict[int, Any] = {}

    def count(i: int) -> None:
        if i in (EARLY[1], LATE[0]):
            counts[i] = mo.stats()

    found = timed(LOOPS[name].make(Hand(SEED, keeps=True)), count)
    mo.sync_all()
    first, last = counts.values()
    steps = LATE[0] - EARLY[1]
    return {
        **found,
        "threads": mo.get_num_threads(),
        "programs": (last["programs_run"] - first["programs_run"]) / steps,
        "compiled": last["programs_compiled"],
        "repeated": (last.get("operators_repeated", 0) - first.get("operators_repeated", 0))
        / steps,
        "block": last["ops_in_block"] - first["ops_in_block"],
    }


def measure_torch(name: str) -> Found:
    """Return what a loop costs in PyTorch."""
    import torch
    from people_torch import LOOPS, Hand

    found = timed(LOOPS[name](Hand(SEED)), lambda i: None)
    return {**found, "threads": torch.get_num_threads()}


WORKERS = {"MetaOps": measure, "PyTorch": measure_torch}


def run(name: str, library: str, threads: int) -> Found:
    """Return what a loop costs, measured by another process, or why it has not gone on."""
    command = [sys.executable, __file__, name, "--worker", library]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"error": "more than 120 s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    found: Found = json.loads(done.stdout)
    return found


def run_both(name: str, peers: Iterable[str], threads: int) -> Found:
    """Return what a loop costs, and what it does in PyTorch if it is among `peers`."""
    found = run(name, "MetaOps", threads)
    if name in peers:
        peer = run(name, "PyTorch", threads)
        if "error" not in {**found, **peer} and (reason := difference(found, peer)):
            peer = {"error": reason}
        found["PyTorch"] = peer
    for each in (found, found.get("PyTorch", {})):
        each["compared"] = sum(map(len, each.pop("numbers", [])))
    return found


def difference(found: Found, peer: Found) -> str | None:
    """Return what two loops that should do the same differ in, if anything."""
    if found["threads"] != peer["threads"]:
        return f"{peer['threads']} threads, not {found['threads']}"
    for i, (mine, theirs) in enumerate(zip(found["numbers"], peer["numbers"], strict=True)):
        if list(map(np.shape, mine)) != list(map(np.shape, theirs)):
            return f"other shapes in step {i}"
        if not all(np.isfinite(value).all() for value in mine + theirs):
            return f"not finite in step {i}"
        if not all(map(agree, mine, theirs)):
            return f"other numbers in step {i}"
    return None


def agree(mine: Any, theirs: Any) -> bool:
    """Return whether numbers are the same but for rounding."""
    return np.allclose(mine, theirs, rtol=RTOL, atol=ATOL)


def counterparts() -> set[str]:
    """Return the loops that PyTorch has, none where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return set()
    from people_torch import LOOPS

    return set(LOOPS)


def row(found: Found) -> list[Any]:
    """Return the columns of one build."""
    if "error" in found:
        return [found["error"][:40], None, None, None, None, None]
    names = ("programs", "compiled", "block", "repeated", "early_us", "late_us")
    return [round(found[name], 2) for name in names]


def row_of_peer(found: Found) -> list[Any]:
    """Return the columns of PyTorch beside a build."""
    peer = found.get("PyTorch", {})
    if "error" in peer:
        return [peer["error"][:40], None]
    return [round(peer["late_us"], 2) if peer else None, ratio(found)]


def ratio(found: Found) -> float | None:
    """Return our late time over PyTorch's: above 1 where we are slower."""
    peer = found.get("PyTorch", {})
    if "error" in {**found, **peer} or not peer:
        return None
    return found["late_us"] / peer["late_us"]


def summary(results: dict[str, Found]) -> str:
    """Return how the loops compare with PyTorch's, in sentences."""
    ratios = [value for found in results.values() if (value := ratio(found))]
    if not ratios:
        return "No loop was compared with PyTorch's."
    measured = [found for found in results.values() if ratio(found)]
    threads = plural(measured[0]["threads"], "thread")
    silent = sum(not found["compared"] for found in measured)
    return (
        f"Ours / PyTorch, late, at {threads}: geometric mean **{geometric_mean(ratios):.2f}** of"
        f" {plural(len(ratios), 'loop')} (below 1 we are faster), from {min(ratios):.2f} to"
        f" {max(ratios):.2f}, above 2 in {sum(value > 2 for value in ratios)}. The numbers of the"
        f" first {CHECKED} steps agree; {plural(silent, 'loop')} of these returned none."
    )


def table(results: dict[str, Found], title: str) -> Table:
    """Return the table of a build, with PyTorch's columns if it was measured."""
    columns = ["loop", "programs a step", "compiled", "block grows by", "repeated"]
    columns += ["us at 10", "us at 500"]
    beside = any("PyTorch" in found for found in results.values())
    if beside:
        columns += ["PyTorch us", "ours / PyTorch"]
    made = Table(title, columns, note=summary(results) if beside else "")
    for name, found in results.items():
        made.add(name, *row(found), *(row_of_peer(found) if beside else []))
    return made


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="loops; all by default")
    threads = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=threads, help="of each process")
    parser.add_argument("--before", type=Path, help="the people-loops.json of another build")
    parser.add_argument("--output", help="a folder for people.md and people-loops.json")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(WORKERS[options.worker](options.names[0])))
        return
    sys.path.insert(0, str(TESTS))
    from people_loops import LOOPS

    names, peers = options.names or LOOPS, counterparts()
    results = {name: run_both(name, peers, options.threads) for name in names}
    tables = [table(results, "Loops as people write them")]
    if options.before:
        tables.append(table(json.loads(options.before.read_text()), "Before"))
    write_report("people", tables, options.output)
    if options.output:
        Path(options.output, "people-loops.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
