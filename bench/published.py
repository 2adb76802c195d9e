# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature: inference and training beside PyTorch's, from the same weights.

Inference of 1 and 8 images of 224 x 224, or texts of 128 tokens, recorded by `mo.jit`; training
steps of 8, by SGD with momentum; and steps of adversarial networks, both in one. PyTorch runs
torchvision's, timm's and transformers' models, eagerly and by torch.compile. Each contestant is
in processes of its own, which take turns. The first ones, with nothing on disk, tell results,
which are compared before any other is started.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    Table,
    compare_steps,
    core_counts,
    interleave,
    medians,
    run_worker,
    seconds,
    write_report,
)
from published_rows import COMPARED, NAMES, QUICK, TASKS, has_task, make_batch, unit_of, units_of
from rows import geometric_mean, plural

CONTESTANTS = ("MetaOps", "PyTorch", "torch.compile")
#: Results may differ by so much of the largest score, and losses by so much of themselves: those
#: after steps by more, as activations near 0 change sides by rounding.
TOLERANCE, LATER_TOLERANCE = 1e-3, 2e-2
ROUNDS, TARGET = 3, 1.0
#: The elements of a result that are compared, at most.
MOST_ELEMENTS = 1 << 14

#: Numbers by contestant: seconds of the first call, "cold" and "warm", those of "later" ones, and
#: bytes, the "peak" of resident memory beyond the process without a model; or "failed", a text.
Times = dict[str, dict[str, Any]]
#: A step, which returns what is compared.
Step = Callable[[], np.ndarray]


def compare(own: Sequence[np.ndarray], peer: Sequence[np.ndarray]) -> None:
    """Raise an error unless results of calls, one after the other, are the same within rounding."""
    assert len(own) == len(peer) == COMPARED
    for number, (found, expected) in enumerate(zip(own, peer, strict=True)):
        scale, is_later = np.abs(expected).max(), number > 0 and expected.ndim == 0
        tolerance = LATER_TOLERANCE if is_later else TOLERANCE
        np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


# Contestants


def make_step(contestant: str, name: str, task: str, weights: str) -> Step:
    """Return what a contestant does in a call."""
    arguments = name, task.startswith("training"), make_batch(name, task), weights
    if contestant == "MetaOps":
        from published_metaops import make_step

        return make_step(*arguments)
    import published_torch

    return published_torch.make_step(*arguments, contestant == "torch.compile")


def prepare(contestant: str, name: str) -> None:
    """Have a contestant be all that it is without the model: imported, and used once."""
    if contestant == "MetaOps":
        import published_metaops

        published_metaops.prepare()
        return
    import published_torch

    published_torch.prepare(name, contestant == "torch.compile")


def peak_resident() -> int:
    """Return the largest resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def some_of(result: np.ndarray) -> list[float] | float:
    """Return elements of a result, those of a large one at a distance."""
    if result.ndim == 0:
        return float(result)
    rows: list[float] = result.ravel()[:: -(-result.size // MOST_ELEMENTS)].tolist()
    return rows


def work(contestant: str, name: str, task: str, weights: str, quick: bool) -> dict[str, Any]:
    """Return what one process of a contestant measures."""
    prepare(contestant, name)
    before = peak_resident()
    step = make_step(contestant, name, task, weights)
    found: list[np.ndarray] = []
    first = seconds(lambda: found.append(step()))
    found += [step() for _ in range(1, COMPARED)]

    def calls(count: int) -> None:
        for _ in range(count):
            step()

    later = compare_steps({"": calls}, 1, 0.1 if quick else TARGET)[""]
    return {
        "results": [some_of(result) for result in found],
        "first": first,
        "later": later,
        "peak": peak_resident() - before,
    }


# Turns


def measure(name: str, task: str, cores: int, contestants: Sequence[str], quick: bool) -> Times:
    """Let contestants take turns, each in processes of its own, and return what they take."""
    times: Times = {}
    runs: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        weights = f"{folder}/weights.pt"
        run_worker(__file__, [name, "--save", weights])

        def turn(contestant: str) -> dict[str, Any]:
            arguments = [name, "--tasks", task, "--contestant", contestant, "--weights", weights]
            caches = f"{folder}/{contestant}"
            arguments += ["--quick"] if quick else []
            found: dict[str, Any] = run_worker(__file__, arguments, cores, caches)
            return found

        for contestant in contestants:
            found = turn(contestant)
            if "failed" in found:
                times[contestant] = found
                continue
            runs[contestant] = [found]
        results = {who: [np.asarray(x) for x in ran[0]["results"]] for who, ran in runs.items()}
        for peer in [who for who in runs if who != "MetaOps"]:
            compare(results["MetaOps"], results[peer])

        def later(contestant: str) -> float:
            runs[contestant].append(turn(contestant))
            return float(runs[contestant][-1]["later"])

        turns = {who: lambda who=who: later(who) for who in runs}
        taken = medians(interleave(turns, 1 if quick else ROUNDS))
    for who, (cold, *warm) in runs.items():
        times[who] = {
            "cold": cold["first"],
            "warm": float(np.median([run["first"] for run in warm])),
            "later": taken[who],
            "peak": float(np.median([run["peak"] for run in warm])),
        }
    return times


# Tables


def ratio_of(times: Times, peer: str, key: str = "later") -> float | None:
    """Return a peer's number by ours, if both are there."""
    own, other = times["MetaOps"].get(key), times.get(peer, {}).get(key)
    return other / own if own and other else None


def task_table(
    task: str, measured: Mapping[str, Mapping[int, Times]], peers: Sequence[str]
) -> Table:
    """Return the table of speeds of a task: a row a model and number of processors."""
    titles = [title for peer in peers for title in (f"{peer} ms", "ratio")]
    table = Table(task, ["model", "processors", "ms", *titles, "a second"])
    table.note = "A ratio over 1 says that MetaOps is faster."
    ratios: dict[int, dict[str, list[float | None]]] = {}
    for name, by_cores in measured.items():
        for cores, times in by_cores.items():
            cells: list[Any] = []
            for peer in peers:
                ratio = ratio_of(times, peer)
                ratios.setdefault(cores, {}).setdefault(peer, []).append(ratio)
                found = times.get(peer, {})
                cells += [found["later"] * 1e3 if ratio else found.get("failed"), ratio]
            own = times["MetaOps"]["later"]
            rate = f"{units_of(name, task) / own:.1f} {unit_of(name)}"
            table.add(name, cores, own * 1e3, *cells, rate)
    for cores, by_peer in ratios.items():
        means = [cell for peer in peers for cell in (None, geometric_mean(by_peer[peer]))]
        table.add(f"**mean of {plural(len(measured), 'model')}**", cores, None, *means, None)
    return table


def start_table(
    task: str, measured: Mapping[str, Mapping[int, Times]], peers: Sequence[str]
) -> Table:
    """Return the table of first calls and of memory of a task."""
    columns = ["model", "processors"]
    for who in ("MetaOps", *peers):
        columns += [f"{who}: cold s", "warm s", "MiB"]
    table = Table(f"{task}: first calls, and memory", columns)
    table.note = (
        "Cold is with nothing on disk, warm with what an earlier process has left there. Memory is"
        " what the process has taken at most since before the model was made."
    )
    for name, by_cores in measured.items():
        for cores, times in by_cores.items():
            cells: list[Any] = []
            for who in ("MetaOps", *peers):
                found = times.get(who, {})
                peak = found.get("peak")
                size = None if peak is None else peak / 2**20
                cells += [found.get("cold"), found.get("warm"), size]
            table.add(name, cores, *cells)
    return table


def main() -> None:
    """Run every model and task and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small models, fewer turns")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--cores", nargs="+", type=int, help="numbers of processors")
    parser.add_argument("--peers", nargs="+", choices=CONTESTANTS[1:], default=CONTESTANTS[1:])
    parser.add_argument("--output", help="a folder for models.md and models.json")
    for hidden in ("--worker", "--contestant", "--weights", "--save"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or (QUICK if options.quick else NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"there is no {' or '.join(sorted(unknown))}, but {', '.join(NAMES)}")
    if options.worker:
        Path(options.worker).write_text(json.dumps(serve(options)))
        return
    tables = []
    contestants = ["MetaOps", *options.peers]
    for task in options.tasks:
        measured: dict[str, dict[int, Times]] = {}
        for name in [name for name in names if has_task(name, task)]:
            for cores in options.cores or core_counts():
                times = measure(name, task, cores, contestants, options.quick)
                measured.setdefault(name, {})[cores] = times
                print(f"{task}, {name}: {times}", file=sys.stderr, flush=True)
        if measured:
            tables.append(task_table(task, measured, options.peers))
            tables.append(start_table(task, measured, options.peers))
    write_report("models", tables, options.output)


def serve(options: argparse.Namespace) -> dict[str, Any]:
    """Do what a process of its own is for; a peer's compiler that fails is told."""
    (name,) = options.names
    if options.save:
        import published_torch

        published_torch.save_weights(name, options.save)
        return {}
    try:
        (task,) = options.tasks
        return work(options.contestant, name, task, options.weights, options.quick)
    except Exception as error:
        if options.contestant != "torch.compile":
            raise
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:80]}


if __name__ == "__main__":
    main()
