# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of an LSTM over 64 and 512 steps: the first one, its size, and its memory.

Every library has a process of its own, with nothing on disk. The peak is that of tensors:
`stats()["peak_bytes"]`, the largest total among the events of PyTorch's profiler, and what
JAX's compiled function tells of its arguments, results and scratch memory. "Tight" is a tenth
of the bytes that the rows of a trip's reductions take, as `saved_values_budget`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from common import Table, seconds

from . import lstm

STEPS = (64, 512)
CONTESTANTS = ("mo.scan", "tight", "Python's loop", "PyTorch", "jax.lax.scan")
#: Of a loop in Python the longer one is left out, which takes minutes.
TASKS = [f"{name}, {steps}" for steps in STEPS for name in CONTESTANTS]
TASKS.remove(f"Python's loop, {STEPS[-1]}")


def make_arrays(steps: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return an input of so many steps, and weights."""
    x, weights = lstm.make_arrays(lstm.OF_CELLS)
    return np.tile(x, (steps // lstm.STEPS, 1, 1)), weights


def measure_calls(call: lstm.Call, quick: bool) -> dict[str, Any]:
    """Return the seconds of the first call, those of later ones, and its numbers' sums."""
    first = seconds(call)
    later = median(seconds(call) for _ in range(3 if quick else 9))
    sums = [float(np.square(np.asarray(value, "float64")).sum()) for value in call()]
    return {"first": first, "later": later, "sums": sums}


def measure_metaops(name: str, steps: int, quick: bool) -> dict[str, Any]:
    """Measure one of ours."""
    import metaops as mo

    x, weights = make_arrays(steps)
    if name == "Python's loop":
        call = lstm.make_cells(x, weights)["cell in Python's loop"]["train"]
    else:
        call = lstm.make_metaops(x, weights)["train"]
    hidden = weights[0].shape[0] // 4
    budget = x.nbytes * 4 * hidden // x.shape[2] // 10 if name == "tight" else 1 << 30
    with mo.flag_scope(saved_values_budget=budget):
        recorded = mo.stats()["values_recorded"]
        mo.reset_peak()
        result = measure_calls(call, quick)
        calls = 5 if quick else 11
        result["operators"] = (mo.stats()["values_recorded"] - recorded) // calls
        result["kernels"] = len(mo.last_program().kernels)
        mo.reset_peak()
        call()
        result["peak"] = mo.stats()["peak_bytes"]
    return result


def measure_torch(steps: int, quick: bool) -> dict[str, Any]:
    """Measure torch.nn.LSTM."""
    import torch

    x, weights = make_arrays(steps)
    result = measure_calls(lstm.make_torch(x, weights)["train"], quick)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        lstm.make_torch(x, weights)["train"]()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    totals = [e["args"]["Total Allocated"] for e in events if e.get("name") == "[memory]"]
    # NumPy's array, which PyTorch did not allocate, counts as elsewhere.
    return {**result, "peak": max(totals) + x.nbytes}


def measure_jax(steps: int, quick: bool) -> dict[str, Any]:
    """Measure jax.lax.scan."""
    import jax

    x, arrays = make_arrays(steps)
    result = measure_calls(lstm.make_jax(x, arrays)["train"], quick)
    derive = jax.jit(jax.value_and_grad(lambda weights, x: (lstm.run_jax(weights, x) ** 2).mean()))
    sizes = derive.lower(arrays, x).compile().memory_analysis()
    kinds = ("argument", "output", "temp")
    return {**result, "peak": sum(getattr(sizes, f"{kind}_size_in_bytes") for kind in kinds)}


def measure(task: str, quick: bool) -> dict[str, Any]:
    """Measure one library at one number of steps."""
    name, steps = task.split(", ")
    if name == "PyTorch":
        return measure_torch(int(steps), quick)
    if name == "jax.lax.scan":
        return measure_jax(int(steps), quick)
    return measure_metaops(name, int(steps), quick)


def make_tables(measured: dict[int, dict[str, Any]]) -> list[Table]:
    """Return the table of first gradients, after comparing all of them."""
    columns = ["contestant", "steps", "processors", "first s", "later ms", "peak MiB"]
    table = Table(
        f"Gradients of an LSTM, {lstm.OF_CELLS}, by its length",
        [*columns, "operators", "kernels"],
        note="Operators are those that a call records.",
    )
    for cores, tasks in measured.items():
        for task, found in tasks.items():
            name, steps = task.split(", ")
            expected = tasks.get(f"PyTorch, {steps}", found)["sums"]
            np.testing.assert_allclose(found["sums"], expected, rtol=5e-3, err_msg=task)
            times = [found["first"], 1e3 * found["later"], found["peak"] / 2**20]
            sizes = [found.get("operators"), found.get("kernels")]
            table.add(name, int(steps), cores, *times, *sizes)
    return [table]
