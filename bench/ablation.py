# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each feature of the session is worth, on the model of examples/digits.py.

The study of Hu et al. (2020), Table 3, in kind: training with all features, and
with one of them off. Each mode runs in processes of its own, in turns, with a
folder of its own for caches, which a run before has filled.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from common import Table, interleave, medians, run_worker, seconds, write_report


@dataclass
class Mode:
    """Flags that are set, and whether every step is waited for."""

    title: str
    flags: Mapping[str, Any] = field(default_factory=dict)
    sync_each: bool = False


MODES = {
    "all": Mode("all features on"),
    "async": Mode("without asynchronous execution", {"asynchronous": False}),
    "cross": Mode("without fusion across iterations", sync_each=True),
    "lazy": Mode("without lazy execution", {"lazy_execution": False}),
    "fuse": Mode("without fusion", {"fuse": False}),
    "rules": Mode("with Rules 1 to 3 alone", {"rules": "paper"}),
    "cache": Mode("without caches on disk", {"cache_dir": ""}),
    "plan": Mode("without reuse of memory", {"reuse_memory": False}),
}

BATCH = 64


def measure(mode: Mode, quick: bool) -> dict[str, Any]:
    """Train in this process: the first step's seconds, those of a later, the peak."""
    import metaops as mo
    import models

    for name, value in mode.flags.items():
        setattr(mo.flags, name, value)
    mo.seed(0)
    rng = np.random.default_rng(0)
    count = 18 * BATCH
    images = mo.array(rng.random((count, 1, 8, 8)).astype("float32"))
    labels = mo.array(rng.integers(0, 10, count).astype("int32"))
    model = models.digits()
    shapes = [parameter.shape for parameter in model.parameters()]
    models.load(model, [rng.normal(0, 0.2, shape).astype("float32") for shape in shapes])
    optimizer = mo.optim.Adam(model.parameters(), lr=5e-3)
    losses: list[float] = []

    def step(k: int) -> None:
        rows = slice(k % 18 * BATCH, k % 18 * BATCH + BATCH)
        loss = mo.nn.cross_entropy_loss(model(images[rows]), labels[rows])
        loss.fetch(lambda value: losses.append(value.item()))
        optimizer.step(loss)
        if mode.sync_each:
            mo.sync_all()

    def epochs(count: int) -> None:
        for k in range(18 * count):
            step(k)
        mo.sync_all()

    def first() -> None:
        step(0)
        mo.sync_all()

    start = seconds(first)
    epochs(1)
    repeats = 1 if quick else 5
    mo.reset_peak()
    taken = seconds(lambda: epochs(repeats))
    return {
        "first": start,
        "step": taken / (18 * repeats),
        "peak": mo.stats()["peak_bytes"],
        "losses": losses[:8],
    }


def main() -> None:
    """Run every mode in processes of its own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps and turns")
    parser.add_argument("--output", help="a folder for ablation.md and ablation.json")
    parser.add_argument("--mode", choices=list(MODES), action="append")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        result = measure(MODES[options.mode[0]], options.quick)
        Path(options.worker).write_text(json.dumps(result))
        return

    import metaops as mo

    names = ["all"] + [name for name in options.mode or MODES if name != "all"]
    missing = {
        name for name in names if not all(hasattr(mo.flags, flag) for flag in MODES[name].flags)
    }
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}

    with tempfile.TemporaryDirectory() as folder:

        def turn(name: str) -> float:
            arguments = ["--mode", name, *(["--quick"] if options.quick else [])]
            runs[name].append(run_worker(__file__, arguments, caches=f"{folder}/{name}"))
            return runs[name][-1]["step"]

        turns = {name: lambda name=name: turn(name) for name in names if name not in missing}
        for run in turns.values():
            run()  # fills the caches
        steps = medians(interleave(turns, 1 if options.quick else 5))

    columns = ["", "step ms", "speed ratio", "first step s", "peak MiB"]
    table = Table("Training step of examples/digits.py's model, batch 64", columns)
    table.note = "A ratio below 1 is what switching the feature off costs in speed."
    for name in names:
        if name in missing:
            flags = ", ".join(MODES[name].flags)
            table.add(f"{MODES[name].title} (there is no flag {flags})", None, None, None, None)
            continue
        results = runs[name][1:]
        np.testing.assert_allclose(results[0]["losses"], runs["all"][0]["losses"], rtol=1e-2)
        first = float(np.median([result["first"] for result in results]))
        peak = results[-1]["peak"] / 2**20
        ratio = steps["all"] / steps[name]
        table.add(MODES[name].title, steps[name] * 1e3, ratio, first, peak)
    write_report("ablation", [table], options.output)


if __name__ == "__main__":
    main()
