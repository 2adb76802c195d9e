# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that a scan makes, beside the same rows written at once.

Row t is twice the row that is read, and t, which is counted in the carry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import Table, compare_steps, repeated

ROWS = 4096
#: The shape of a row.
TASKS = {"128": (128,), "32 x 128": (32, 128)}

Calls = dict[str, Callable[[], Any]]


def make_metaops(rows: np.ndarray) -> Calls:
    """Return calls of a scan, and of an expression."""
    import metaops as mo

    xs = mo.array(rows).sync()
    ones = (1,) * (rows.ndim - 1)

    def at_once(xs: Any) -> Any:
        return xs * 2 + mo.arange(ROWS).reshape(ROWS, *ones)

    def scan(xs: Any) -> Any:
        return mo.scan(lambda count, x: (count + 1, x * 2 + count), 0, xs)[1]

    return {"at once": lambda: at_once(xs).sync(), "mo.scan": lambda: scan(xs).sync()}


def make_jax(rows: np.ndarray) -> Calls:
    """Return calls of jax.lax.scan."""
    import jax

    xs = jax.numpy.asarray(rows)
    scan = jax.jit(lambda xs: jax.lax.scan(lambda count, x: (count + 1, x * 2 + count), 0.0, xs)[1])
    return {"jax.lax.scan": lambda: scan(xs).block_until_ready()}


def measure(task: str, quick: bool) -> dict[str, float]:
    """Return the seconds of a call, by contestant."""
    rows = np.random.default_rng(0).normal(size=(ROWS, *TASKS[task])).astype("float32")
    calls = {**make_metaops(rows), **make_jax(rows)}
    count = np.arange(ROWS, dtype="float32").reshape(ROWS, *(1,) * (rows.ndim - 1))
    for name, call in calls.items():
        np.testing.assert_allclose(np.asarray(call()), rows * 2 + count, rtol=1e-6, err_msg=name)

    steps = {name: repeated(call) for name, call in calls.items()}
    return compare_steps(steps, *((3, 0.01) if quick else (7, 0.1)))


def make_tables(measured: dict[int, dict[str, Any]]) -> list[Table]:
    """Return the table of rows."""
    table = Table(
        f"{ROWS:,} rows",
        ["row", "processors", "at once ms", "mo.scan", "jax.lax.scan", "mo.scan / at once"],
        note="Milliseconds of a call, recording included.",
    )
    for cores, tasks in measured.items():
        for task, found in tasks.items():
            once, scan, jax = (1e3 * value for value in found.values())
            table.add(task, cores, once, scan, jax, scan / once)
    return [table]
