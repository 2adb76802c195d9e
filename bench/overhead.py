# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it costs to record operators, to find programs and to run them.

1. Recording: one operator through Python, beside a call of PyTorch and of JAX on
   tensors so small that their work is their overhead.
2. Running: syncs of programs that are in the cache. Of chains of tiny kernels the
   cost of one more kernel, of chains of operators that are one kernel the cost of
   one more operator (its place in the slice, its hash, the look-up).
3. Calls: an inference of the digits model at batch 1, from NumPy to NumPy, of which
   10,000 are timed one by one.

Training steps of small models, which are mostly this, are in steps.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from common import (
    Table,
    interleave,
    medians,
    run_worker,
    seconds,
    write_report,
)

OPERATORS = ["x + y", "x * 2.0", "relu(x)", "x.reshape(16)", "x[1:3]"]
#: Calls of an inference, of which the slowest is told.
CALLS = 10_000


def operators_of(module: Any, x: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """Return calls that record, or run, one operator of a library."""
    relu = module.nn.relu if hasattr(module, "nn") and hasattr(module.nn, "relu") else module.relu
    return {
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "relu(x)": lambda: relu(x),
        "x.reshape(16)": lambda: x.reshape(16),
        "x[1:3]": lambda: x[1:3],
    }


def measure_recording(quick: bool) -> dict[str, dict[str, float]]:
    """Return microseconds a call, by operator and library.

    Results are kept while calls are timed, as those of a recorded step are, and
    dropped between turns.
    """
    import jax
    import metaops as mo
    import torch

    a, b = np.ones((4, 4), "float32"), np.ones((4, 4), "float32")
    libraries = {
        "MetaOps": (mo, mo.array(a), mo.array(b)),
        "PyTorch": (torch, torch.from_numpy(a), torch.from_numpy(b)),
        "JAX": (jax, jax.numpy.asarray(a), jax.numpy.asarray(b)),
    }
    mo.sync(list(libraries["MetaOps"][1:]))
    calls, rounds = (200, 5) if quick else (1000, 25)

    def turn(call: Callable[[], Any]) -> Callable[[], float]:
        def measure() -> float:
            kept: list[Any] = [None] * calls
            for k in range(calls // 4):
                kept[k] = call()  # what the neighbour's turn took from the caches comes back
            begin = time.perf_counter()
            for k in range(calls):
                kept[k] = call()
            taken = time.perf_counter() - begin
            kept.clear()
            mo.stats()  # has the session drop what died, outside of the timing
            return taken / calls * 1e6

        return measure

    result: dict[str, dict[str, float]] = {}
    for name in OPERATORS:
        functions = {
            library: turn(operators_of(*entry)[name]) for library, entry in libraries.items()
        }
        for function in functions.values():
            function()
        result[name] = medians(interleave(functions, rounds))
        before = mo.stats()["ops_in_block"]
        recorded = operators_of(*libraries["MetaOps"])[name]()
        result[name]["operators"] = mo.stats()["ops_in_block"] - before
        del recorded
    return result


def sync_times(length: int, kernels: bool, quick: bool) -> tuple[int, float, float]:
    """Return a chain's kernels, and the seconds of recording it and of its sync.

    The chain has `length` kernels of two operators, one of which stops fusion, or
    `length` operators that fuse.
    """
    import metaops as mo

    x, y = mo.array(np.ones(4, "float32")), mo.array(np.full(4, 0.5, "float32"))
    mo.sync([x, y])
    recording, running = [], []
    for _ in range(30 if quick else 200):
        value = x

        def record() -> None:
            nonlocal value
            for k in range(length):
                value = value * y if k % 2 else value + y
                if kernels:
                    value = mo.stop_fuse(value)

        recording.append(seconds(record))
        running.append(seconds(value.sync))
    return len(mo.last_program().kernels), median(recording), median(running)


def measure_running(quick: bool) -> list[tuple[str, int, int, float, float]]:
    """Return rows: kind, operators, kernels, seconds of recording and of the sync."""
    rows = []
    for length in (1, 10, 100):
        rows.append(("kernels", 2 * length, *sync_times(length, True, quick)))
    for length in (10, 100) if quick else (10, 100, 1000):
        rows.append(("operators", length, *sync_times(length, False, quick)))
    return rows


def digits_calls() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return inferences of the digits model, the same one, from NumPy to NumPy."""
    import jax
    import jax_models
    import metaops as mo
    import models
    import torch
    import torch_models
    from subjects import make_task

    weights = make_task("digits").weights
    own, peer = models.digits(), torch_models.digits()
    models.load(own, weights)
    torch_models.load(peer, weights)
    # All use the moments of the batch: JAX's model has no others.
    recorded = mo.jit(own)
    given = [jax.numpy.asarray(weight) for weight in weights]
    jitted = jax.jit(lambda p, x: jax_models.digits(jax_models.Net(p, None), x))

    def without_gradients(module: Any) -> Callable[[np.ndarray], np.ndarray]:
        def call(x: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                return module(torch.from_numpy(x)).numpy()

        return call

    def own_call(module: Any, convert: Callable[[np.ndarray], Any]) -> Callable:
        def call(x: np.ndarray) -> np.ndarray:
            with mo.no_grad():
                return module(convert(x)).numpy()

        return call

    return {
        "MetaOps": own_call(own, mo.array),
        "mo.jit": own_call(recorded, lambda x: x),
        "jax.jit": lambda x: np.asarray(jitted(given, x)),
        "PyTorch": without_gradients(peer),
        "torch.compile": without_gradients(torch.compile(peer)),
        "reduce-overhead": without_gradients(torch.compile(peer, mode="reduce-overhead")),
    }


def measure_calls() -> dict[str, list[float] | str]:
    """Return the median and the slowest call in microseconds, or why there is none."""
    x = np.random.default_rng(1).random((1, 1, 8, 8)).astype("float32")
    result: dict[str, list[float] | str] = {}
    expected = None
    for name, call in digits_calls().items():
        try:
            value = call(x)
        except Exception as error:
            if name == "MetaOps":
                raise
            result[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            continue
        expected = value if expected is None else expected
        np.testing.assert_allclose(value, expected, rtol=1e-3, atol=1e-3, err_msg=name)
        for _ in range(100):
            call(x)
        times = [seconds(lambda call=call: call(x)) * 1e6 for _ in range(CALLS)]
        result[name] = [median(times), max(times)]
    return result


def calls_table(measured: dict[str, list[float] | str]) -> Table:
    """Return the table of calls."""
    table = Table(
        "An inference from NumPy to NumPy",
        ["", "median us", "ratio to mo.jit", "slowest us", "failed by"],
        note=f"The digits model at batch 1, {CALLS:,} calls. Results were compared first.",
    )
    own = measured["mo.jit"]
    for name, row in measured.items():
        if isinstance(row, str):
            table.add(name, None, None, None, row)
        else:
            ratio = None if isinstance(own, str) else row[0] / own[0]
            table.add(name, row[0], ratio, row[1], "")
    return table


def work(options: argparse.Namespace) -> None:
    """Measure one thing, in this process, and write the result."""
    if options.part == "recording":
        result: Any = measure_recording(options.quick)
    elif options.part == "running":
        result = measure_running(options.quick)
    else:
        result = measure_calls()
    Path(options.worker).write_text(json.dumps(result))


def recording_table(measured: dict[str, dict[str, float]]) -> Table:
    """Return the table of recording."""
    table = Table(
        "Recording an operator",
        ["call", "operators", "MetaOps us", "PyTorch us", "JAX us"],
        note="Microseconds a call on 4 x 4 floats, and the meta-operators that it records."
        " PyTorch and JAX compute in the call.",
    )
    for name, row in measured.items():
        table.add(name, int(row["operators"]), row["MetaOps"], row["PyTorch"], row["JAX"])
    return table


def running_table(rows: list[Any]) -> Table:
    """Return the table of running, with the cost of one more kernel or operator."""
    table = Table(
        "Running a cached program",
        ["chain of", "operators", "kernels", "record us", "sync us", "one more us"],
        note="On 4 floats. 'One more' is the sync's slope from the row before, a kernel or an"
        " operator; a kernel's includes that of the two operators it is made of.",
    )
    before: Any = None
    for row in rows:
        kind, operators, kernels, record, sync = row
        slope = None
        if before and before[0] == kind:
            count = kernels - before[2] if kind == "kernels" else operators - before[1]
            slope = (sync - before[4]) / count * 1e6
        table.add(kind, operators, kernels, record * 1e6, sync * 1e6, slope)
        before = row
    return table


TABLES: dict[str, Callable[[Any], Table]] = {
    "recording": recording_table,
    "running": running_table,
    "calls": calls_table,
}


def main() -> None:
    """Run everything in processes of their own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--output", help="a folder for overhead.md and overhead.json")
    parser.add_argument("--part", choices=list(TABLES))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    tables = []
    for part in [options.part] if options.part else TABLES:
        arguments = ["--part", part, *(["--quick"] if options.quick else [])]
        tables.append(TABLES[part](run_worker(__file__, arguments)))
    write_report("overhead", tables, options.output)


if __name__ == "__main__":
    main()
