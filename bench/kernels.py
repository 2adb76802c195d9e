# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of kernels by MetaOps and its peers, and of the machine at best.

Every workload (workloads/) runs in all libraries (ops/) by turns within one
process, and beside them what reads and writes as many bytes, and what multiplies and
adds as fast as the processor can: the roof (roof.py).
Results are compared before anything is timed. What the cost model predicts of our
kernels comes with the profile, so that nothing is explained while others are timed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import common
import numpy as np
import report
import roof
from ops.base import MissingError, Ops
from results_page import PEERS
from workloads import WORKLOADS, Workload, select
from workloads.base import SIZES, Positive


def libraries(names: Sequence[str]) -> list[Ops]:
    """Return MetaOps and its peers."""
    from ops.jax_ops import Jax
    from ops.metaops_ops import MetaOps
    from ops.numpy_ops import NumPy
    from ops.torch_ops import Torch, TorchCompile

    every: list[type[Ops]] = [MetaOps, Torch, TorchCompile, Jax, NumPy]
    return [kind() for kind in every if kind.title == "MetaOps" or kind.title in names]


#: Peers whose results come from malloc get memory that was used before, in large
#: pages, as ours do: kernels are measured, not the first touch of pages.
WARM_MEMORY = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_ARENA_MAX": "1",
}

#: The bytes of such memory, by the sizes of workloads.
HEAP = {"small": 1 << 27, "million": 1 << 28, "own": 1 << 29, "large": 3 << 30}

# One row


class Turn:
    """How long and how often everyone may run.

    The first call of a turn is not counted: it finds caches full of a neighbour's data,
    and a neighbour's threads that still wait actively. Contractions of one size take
    microseconds or seconds: these have rounds of two seconds together, but 3 to 15.
    """

    def __init__(self, quick: bool, size: str, rounds: int | None) -> None:
        given = {"small": 15, "million": 9, "large": 5}.get(size)
        self._rounds = rounds or (1 if quick else given)
        self.target = 1e-4 if quick else (1e-3 if size == "large" else 4e-3)
        self.first = 1 if quick or size == "own" else 3
        #: Calls for each profile, and profiles.
        self.calls, self.profiles = (
            (1, 1) if quick or size == "own" else ((20, 5) if size == "small" else (1, 5))
        )

    def rounds(self, turns: Mapping[str, Callable[[], float]]) -> int:
        """Return how many rounds there are, if need be after one that does not count."""
        if self._rounds is not None:
            return self._rounds
        taken = common.seconds(lambda: common.interleave(turns, 1))
        return min(max(3, round(2 / taken)), 15)


def warm_seconds(call: Callable[[], object], number: int) -> float:
    """Return how long each of so many calls takes, after one that is not counted."""
    call()
    return common.seconds(lambda: common.repeat(call, number)) / number


def agree(mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray], workload: Workload) -> str:
    """Return how results differ, nothing if they agree."""
    if len(mine) != len(theirs):
        return f"{len(mine)} and {len(theirs)} results"
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a.shape != b.shape:
            return f"result {place} has shapes {a.shape} and {b.shape}"
        if workload.random:
            # Which elements are dropped differs, how many and what is left does not.
            zeros = abs(float((a == 0).mean()) - float((b == 0).mean()))
            if zeros > 0.02:
                return f"result {place} has {zeros:.1%} more or fewer zeros"
            kept = (a != 0) & (b != 0)
            a, b = a[kept], b[kept]
        if a.dtype.kind in "iu":
            wrong = float((a != b).mean())
            if wrong:
                return f"result {place} differs at {wrong:.2%} of the places"
            continue
        scale = float(np.abs(b).max(initial=1e-6))
        wrong = float(np.abs(a - b).max(initial=0.0)) / scale
        if not wrong <= workload.tolerance:
            return f"result {place} differs by {wrong:.1e} of the largest element"
    return ""


def counts() -> dict[str, float]:
    """Return what our session has compiled by now, and what that took."""
    import metaops as mo

    statistics = mo.stats()
    return {
        "programs": statistics["programs_compiled"],
        "kernels": statistics["kernels_compiled"],
        "seconds": statistics["compile_seconds"],
    }


def first_calls(
    workload: Workload, arrays: list[np.ndarray], every: Sequence[Ops], row: dict[str, Any]
) -> dict[str, Callable[[], Any]]:
    """Prepare everyone and compare what they return."""
    calls: dict[str, Callable[[], Any]] = {}
    reference: list[np.ndarray] = []
    for library in every:
        if workload.gradients and not library.differentiates:
            continue
        before = counts()
        begin = time.perf_counter()
        try:
            call = library.prepare(workload, arrays)
            results = call()
        except MissingError as missing:
            row["skipped"][library.title] = str(missing)
            continue
        row["first"][library.title] = time.perf_counter() - begin
        if library.title == "MetaOps":
            row["compiled"] = {name: n - before[name] for name, n in counts().items()}
        values = [library.numpy(result) for result in results]
        if not reference:
            reference = values
            row["bytes"] = workload.bytes(arrays, values)
            row["written"] = min(row["bytes"], sum(value.nbytes for value in values))
        difference = agree(values, reference, workload)
        if difference:
            row["differences"][library.title] = difference
        calls[library.title] = call
    return calls


def profiled(call: Callable[[], Any], count: int, rounds: int) -> dict[str, Any]:
    """Return what the profile says of calls of ours, in the median of some rounds."""
    import metaops as mo

    reports = []
    for _ in range(rounds):
        with mo.profile_scope(timeline=False) as report:
            common.repeat(call, count)
        reports.append(report)
    profile = sorted(reports, key=lambda report: report.total_seconds)[rounds // 2]
    kernels = [
        {
            "operators": list(kernel.operators),
            "calls": kernel.calls / count,
            "seconds": kernel.seconds / count,
            "predicted": kernel.predicted_seconds,
            "bytes": kernel.bytes_read + kernel.bytes_written,
            "flops": kernel.flops,
        }
        for kernel in profile.kernels
    ]

    def total(what: str) -> float:
        return sum(kernel[what] * kernel["calls"] for kernel in kernels)

    return {
        "seconds": profile.total_seconds / count,
        "predicted": total("predicted"),
        "flops": total("flops"),
        "moved": total("bytes"),
        "kernels": kernels,
    }


def measure(
    workload: Workload, size: str, every: Sequence[Ops], quick: bool, rounds: int | None
) -> dict[str, Any]:
    """Return a row: seconds of everyone, and what belongs to them."""
    import torch._functorch.config

    row: dict[str, Any] = {"name": workload.name, "group": workload.group, "size": size}
    row["flops"] = workload.flops
    row.update(first={}, skipped={}, differences={}, seconds={}, profile={}, bytes=0)
    # What the forward pass keeps may be overwritten, but where the backward pass is
    # run again and again for one forward pass.
    torch._functorch.config.donated_buffer = workload.mode != "backward"
    arrays = workload.arrays(size)
    calls = first_calls(workload, arrays, every, row)
    if "MetaOps" not in calls:
        return row
    turn = Turn(quick, size, rounds)
    turns: dict[str, Callable[[], float]] = {}
    threads = len(os.sched_getaffinity(0))
    movers = roof.movers(row["bytes"] - row["written"], row["written"], threads)
    for name, call in {**calls, **movers}.items():
        common.repeat(call, turn.first)
        number = 1 if quick else common.calls_for(call, turn.target)
        turns[name] = lambda call=call, number=number: warm_seconds(call, number)
    turns["peak"] = lambda: roof.peak(threads)
    row["rounds"] = turn.rounds(turns)
    results = common.interleave(turns, row["rounds"])
    operation = results.pop("peak")
    row["peak"] = 1 / median(operation)
    # The peak changes, so each turn counts beside that of its round.
    row["at_peak"] = {
        name: median(
            workload.flops * at_peak / taken
            for at_peak, taken in zip(operation, results[name], strict=True)
        )
        for name in calls
    }
    medians = common.medians(results)
    row["moving"] = min(medians.pop(name) for name in movers)
    row["seconds"] = medians
    row["profile"] = profiled(calls["MetaOps"], turn.calls, turn.profiles)
    return row


# Processes


def warm_heap(size: int) -> None:
    """Touch memory and give it back to malloc, which keeps it (`WARM_MEMORY`)."""
    np.ones(size // 4, "float32")


def forget(peers: Sequence[str]) -> None:
    """Let the peers drop what they have compiled."""
    if "torch.compile" in peers:
        import torch._dynamo

        torch._dynamo.reset()
    if "jax.jit" in peers:
        import jax

        jax.clear_caches()


def load(every: Sequence[Ops]) -> None:
    """Let everyone load what the first call of all loads, the compilers above all.

    The extents and the operator are in no workload, so no cache has more to give.
    """
    workload = Workload("load", "", lambda ops, x: 1 / x, {"odd": [Positive((3, 5, 7))]})
    for library in every:
        library.prepare(workload, workload.arrays("odd"))()


def work(options: argparse.Namespace) -> None:
    """Measure all rows with the processors that this process has, and write them."""
    import torch
    from metaops.tools import calibration

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    warm = common.warm_caches()
    warm_heap(max(HEAP[size] for size in options.sizes))
    if not calibration.load(options.machine):
        raise SystemExit(f"the figures of the cost model are not in {options.machine}")
    every = libraries(options.peers)
    load(every)
    # What the libraries have made by now is not looked at in every collection.
    gc.freeze()
    rows = []
    for name in options.names:
        for size in options.sizes:
            if size not in WORKLOADS[name].shapes:
                continue
            row = measure(WORKLOADS[name], size, every, options.quick, options.rounds)
            row["warm"] = warm
            rows.append(row)
            # What is there is not lost if a later row fails.
            Path(options.worker).write_text(json.dumps(rows))
            print(report.progress(row), file=sys.stderr, flush=True)
            forget(options.peers)
            gc.collect()


def calibrate(folder: str) -> None:
    """Measure what the cost model reckons with, on one processor."""
    command = [sys.executable, "-m", "metaops", "calibrate"]
    subprocess.run(
        ["taskset", "-c", common.processors(1), *command],
        check=True,
        env={**os.environ, "METAOPS_CACHE_DIR": folder},
        stdout=sys.stderr,
    )


def parse() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="workloads or groups of them, or patterns, as 'softmax*'; kernels, contractions",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, everything once")
    parser.add_argument("--list", action="store_true", help="print the workloads' names")
    parser.add_argument("--sizes", nargs="+", choices=SIZES)
    parser.add_argument("--peers", nargs="+", choices=PEERS)
    parser.add_argument("--cores", nargs="+", type=int, help="numbers of processors")
    parser.add_argument("--rounds", type=int, help="turns that everyone has")
    parser.add_argument(
        "--caches", help="a folder that keeps compiled code; an empty one for each run if none"
    )
    parser.add_argument("--output", help="folder for the report")
    parser.add_argument("--machine", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    patterns, options.names = options.names, select(options.names)
    if not options.names:
        parser.error(f"no workload is called {' or '.join(patterns)}; --list names them")
    # Compiling by PyTorch takes minutes for the whole table.
    options.peers = options.peers or [
        peer for peer in PEERS if not (options.quick and peer == "torch.compile")
    ]
    options.sizes = options.sizes or [
        size for size in SIZES if not (options.quick and size == "large")
    ]
    options.cores = options.cores or (
        common.core_counts()[:1] if options.quick else common.core_counts()
    )
    return options


def main() -> None:
    """Measure and report."""
    options = parse()
    if options.list:
        print("\n".join(options.names))
        return
    if options.worker:
        work(options)
        return
    arguments = [*options.names, "--sizes", *options.sizes, "--peers", *options.peers]
    arguments += ["--quick"] if options.quick else []
    arguments += ["--rounds", str(options.rounds)] if options.rounds else []
    # In a folder of its own: the caches of those who are measured are empty.
    with tempfile.TemporaryDirectory() as machine:
        calibrate(machine)
        arguments += ["--machine", machine]
        runs = {
            cores: common.run_worker(
                # What one number of processors compiles must not shorten another's first calls.
                __file__,
                arguments,
                cores,
                options.caches and f"{options.caches}/{cores}",
                WARM_MEMORY,
            )
            for cores in options.cores
        }
    report.write(runs, options.peers, options.output, options.quick)
    failures = report.failures(runs)
    if failures:
        raise SystemExit(f"bench: missing, or not what the peers return: {', '.join(failures)}")


if __name__ == "__main__":
    main()
