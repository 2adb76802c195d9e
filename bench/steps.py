# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of whole models, eager and by mo.jit, beside PyTorch, torch.compile and jax.jit.

The losses of the first steps are compared, then the time of a step. The time of the
first call is with all compilation, caches on disk empty.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import Table, compare_steps, core_counts, run_worker, seconds, write_report
from rows import geometric_mean, plural
from subjects import LARGE, SUBJECTS, make_task
from training import CONTESTANTS

PEERS = [name for name in CONTESTANTS if name != "MetaOps"]

#: The seconds of a step and of the first call, or what it failed by, by contestant.
Times = Mapping[str, Mapping[str, Any]]

#: Steps whose losses are compared.
LOSSES = 4
#: Turns that everyone has, and the seconds that they should take together.
ROUNDS, BUDGET = (3, 15), 60.0


def measure(name: str, peers: Sequence[str], quick: bool) -> Times:
    """Return the first call's and a later step's seconds, by contestant."""
    task = make_task(name)
    contestants, first, losses, later = {}, {}, {}, {}
    failed: dict[str, str] = {}
    for title in ["MetaOps", *peers]:
        start = CONTESTANTS[title](task)
        values: list[float] = []

        def step(start: object = start, values: list[float] = values) -> None:
            values.append(start.loss())  # type: ignore[attr-defined]

        try:
            first[title] = seconds(step)
        except Exception as error:
            if title == "MetaOps":
                raise
            failed[title] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            print(f"{name}: {title} failed by {failed[title]}", file=sys.stderr)
            continue
        contestants[title] = start
        later[title] = min(seconds(step) for _ in range(LOSSES - 1))
        losses[title] = values
        print(f"{name}: {title} {first[title]:.1f} s, {later[title]:.4f} s", file=sys.stderr)
    for title, values in losses.items():
        np.testing.assert_allclose(values, losses["MetaOps"], rtol=2e-3, err_msg=title)
    target = 0.02 if quick else 0.15
    turn = sum(max(target, taken) for taken in later.values())
    rounds = ROUNDS[0] if quick else min(max(ROUNDS[0], int(BUDGET / turn)), ROUNDS[1])
    steps = compare_steps({title: c.steps for title, c in contestants.items()}, rounds, target)
    times = {title: {"first": first[title], "step": steps[title]} for title in contestants}
    return {**times, **{title: {"failed": reason} for title, reason in failed.items()}}


def steps_table(title: str, measured: Mapping[int, Times]) -> Table:
    """Return the table of a model's training steps."""
    table = Table(
        title,
        ["processors", "", "step ms", "ratio to MetaOps", "first call s", "failed by"],
        note="A ratio over 1 says that MetaOps is faster.",
    )
    for cores, contestants in measured.items():
        own = contestants["MetaOps"]["step"]
        for name, row in contestants.items():
            if "failed" in row:
                table.add(cores, name, None, None, None, row["failed"])
            else:
                table.add(cores, name, row["step"] * 1e3, row["step"] / own, row["first"], "")
    return table


def summary_table(measured: Mapping[str, Mapping[int, Times]], peers: Sequence[str]) -> Table:
    """Return the ratios of all models, and their means."""
    table = Table(
        "Training steps",
        ["model", "processors", *peers],
        note="Time of the peer over ours: above 1 we are faster.",
    )
    ratios: dict[int, list[list[float | None]]] = {}
    for name, by_cores in measured.items():
        for cores, times in by_cores.items():
            own = times["MetaOps"]["step"]
            row = [times[p]["step"] / own if "step" in times[p] else None for p in peers]
            ratios.setdefault(cores, []).append(row)
            table.add(name, cores, *row)
    for cores, rows in ratios.items():
        title = f"**mean of {plural(len(rows), 'model')}**"
        table.add(title, cores, *map(geometric_mean, zip(*rows, strict=True)))
    return table


def main() -> None:
    """Run every model in processes of its own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUBJECTS)}")
    parser.add_argument("--quick", action="store_true", help="small models, fewer turns")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--cores", nargs="+", type=int, help="numbers of processors")
    parser.add_argument("--output", help="a folder for steps.md and steps.json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or [name for name in SUBJECTS if not (options.quick and name in LARGE)]
    if unknown := set(names) - set(SUBJECTS):
        parser.error(f"there is no {' or '.join(sorted(unknown))}, but {', '.join(SUBJECTS)}")
    if options.worker:
        times = measure(names[0], options.peers, options.quick)
        Path(options.worker).write_text(json.dumps(times))
        return
    arguments = ["--peers", *options.peers, *(["--quick"] if options.quick else [])]
    measured = {
        name: {
            cores: run_worker(__file__, [name, *arguments], cores=cores)
            for cores in options.cores or core_counts()
        }
        for name in names
    }
    tables = [steps_table(SUBJECTS[name].title, times) for name, times in measured.items()]
    write_report("steps", [summary_table(measured, options.peers), *tables], options.output)


if __name__ == "__main__":
    main()
