# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peak memory of training steps, beside PyTorch's.

Each measurement is a process of its own, which takes three steps from the same
weights. Two numbers are reported:

* the tensors' peak, counted by the allocators: here `stats()["peak_bytes"]`, of
  PyTorch the largest total among the profiler's memory events, parameters,
  gradients and the optimiser's state included. Scratch memory that PyTorch's
  libraries take by themselves is not in there;
* by how much the process's largest resident set exceeds what it had before the
  model was made: with that scratch memory, and with all memory that compiling
  takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import Table, run_worker, seconds, write_report
from subjects import LARGE, SUBJECTS, Subject, weights_for

STEPS = 3


#: The models that are measured, all that are trained.
NAMES = tuple(SUBJECTS)


def peak_resident() -> int:
    """Return the largest resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_metaops(subject: Subject, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Take the steps with MetaOps."""
    import metaops as mo
    import models

    before = peak_resident()
    model = getattr(models, subject.model)(*subject.arguments)
    models.load(model, weights_for([p.shape for p in model.parameters()]))
    if subject.optimizer == "SGD":
        optimizer: mo.optim.Optimizer = mo.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    else:
        optimizer = mo.optim.Adam(model.parameters(), 1e-3)
    var_x, var_y = mo.array(x), mo.array(y.reshape(-1))
    losses, times = [], []

    def step() -> None:
        scores = model(var_x)
        loss = mo.nn.cross_entropy_loss(scores.reshape(-1, scores.shape[-1]), var_y)
        loss.fetch(lambda value: losses.append(value.item()))
        optimizer.step(loss)
        del scores, loss
        mo.sync_all()

    for _ in range(STEPS):
        mo.reset_peak()
        times.append(seconds(step))
    program = mo.last_program()
    return {
        "peak": mo.stats()["peak_bytes"],
        "resident": peak_resident() - before,
        "losses": losses,
        "first": times[0],
        "step": times[-1],
        "scratch": program.arena_bytes,
        "kernels": len(program.kernels),
    }


def measure_torch(subject: Subject, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Take the steps with PyTorch: once for the tensors' peak, once for the rest."""
    import torch
    import torch_models

    before = peak_resident()

    def train() -> tuple[list[float], list[float]]:
        model = getattr(torch_models, subject.model)(*subject.arguments)
        torch_models.load(model, weights_for([tuple(p.shape) for p in model.parameters()]))
        if subject.optimizer == "SGD":
            optimizer: Any = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
        else:
            optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        data = torch.from_numpy(x if x.dtype == np.float32 else x.astype("int64"))
        labels = torch.from_numpy(y.reshape(-1).astype("int64"))
        losses, times = [], []

        def step() -> None:
            optimizer.zero_grad()
            scores = model(data)
            loss = torch.nn.functional.cross_entropy(scores.flatten(0, -2), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

        for _ in range(STEPS):
            times.append(seconds(step))
        return losses, times

    losses, times = train()
    resident = peak_resident() - before
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        train()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    totals = [e["args"]["Total Allocated"] for e in events if e.get("name") == "[memory]"]
    # NumPy's arrays, which PyTorch did not allocate, count as in MetaOps.
    peak = max(totals) + x.nbytes
    return {
        "peak": peak,
        "resident": resident,
        "losses": losses,
        "first": times[0],
        "step": times[-1],
    }


def work(options: argparse.Namespace) -> None:
    """Measure one library on one subject, in this process."""
    subject = SUBJECTS[options.subject]
    rng = np.random.default_rng(1)
    x, y = subject.x(rng), subject.y(rng)
    measure = {"MetaOps": measure_metaops, "PyTorch": measure_torch}[options.framework]
    Path(options.worker).write_text(json.dumps(measure(subject, x, y)))


def main() -> None:
    """Run everything in processes of their own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="without the large images")
    parser.add_argument("--output", help="a folder for memory.md and memory.json")
    parser.add_argument("--subject", choices=NAMES)
    parser.add_argument("--framework", choices=["MetaOps", "PyTorch"], help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    names = [options.subject] if options.subject else NAMES
    if options.quick and not options.subject:
        names = [name for name in NAMES if name not in LARGE]
    columns = ["", "tensors MiB", "resident MiB", "first step s", "step s", "kernels"]
    tables = []
    for name in names:
        results = {
            library: run_worker(__file__, ["--subject", name, "--framework", library])
            for library in ("MetaOps", "PyTorch")
        }
        losses = [result["losses"] for result in results.values()]
        np.testing.assert_allclose(*losses, rtol=2e-3, err_msg=f"losses of {name}")
        table = Table(SUBJECTS[name].title, columns)
        for library, result in results.items():
            sizes = [result[key] / 2**20 for key in ("peak", "resident")]
            kernels = result.get("kernels")
            table.add(library, *sizes, result["first"], result["step"], kernels)
        ratio = results["MetaOps"]["peak"] / results["PyTorch"]["peak"]
        table.note = f"The tensors' peak is {ratio:.2f} of PyTorch's."
        tables.append(table)
    write_report("memory", tables, options.output)


if __name__ == "__main__":
    main()
