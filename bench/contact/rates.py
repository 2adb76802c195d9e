# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates: the time of our kernels at the sizes that are measured.

Who is timed has the GPU alone: whoever holds a lock on a file. Each call copies its
inputs to the GPU and its results back, which is not part of the times. What memory bounds
is timed twice, the second time cold, as its peers are (cache.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import kernels
import metaops as mo
from ops.metaops_ops import MetaOps
from workloads import WORKLOADS

from .activities import Activities, Activity
from .cache import FirstLaunch, is_timed_cold, split_evictions
from .child import Record, first_line
from .turns import alone

#: Calls after those that warm up: no more than these, and none after so many seconds.
ROUNDS = (3, 7)
SECONDS = 0.3


def rounds_of(run: Callable[[], Any]) -> list[Any]:
    """Return what a function returns, as often as there is time for it."""
    end = time.monotonic() + SECONDS
    found: list[Any] = []
    while len(found) < ROUNDS[0] or (len(found) < ROUNDS[1] and time.monotonic() < end):
        found.append(run())
    return found


def describe_activity(activity: Activity) -> Record:
    """Return what is kept of an activity."""
    record: Record = {"name": activity.name or activity.kind, "us": activity.seconds * 1e6}
    if activity.grid:
        record |= {"grid": activity.grid, "block": activity.block}
        record |= {"shared": activity.shared_bytes, "registers": activity.registers}
    return record


def rounds_by_activities(
    activities: Activities, call: Callable[[], Any], first: FirstLaunch | None = None
) -> list[list[Activity]]:
    """Return the kernels of calls, from whose inputs the second cache is freed by `first`."""

    def run() -> list[Activity]:
        if first:
            first.arm()
        call()
        found, evictions = split_evictions(activities.since())
        if len(evictions) != bool(first):
            raise RuntimeError(f"the second cache was freed {len(evictions)} times in a call")
        return [one for one in found if one.kind == "kernel"]

    activities.begin()
    try:
        activities.since()
        return rounds_of(run)
    finally:
        activities.end()
        if first:
            first.disarm()


def total(found: list[Activity]) -> float:
    """Return the seconds of a call."""
    return sum(one.seconds for one in found)


def by_activities(activities: Activities, call: Callable[[], Any]) -> Record:
    """Return the median, over calls, of what a call's kernels take, and those of it."""
    calls = sorted(rounds_by_activities(activities, call), key=total)
    return {
        "seconds": median(map(total, calls)),
        "fastest": total(calls[0]),
        "rounds": len(calls),
        "activities": [describe_activity(one) for one in calls[len(calls) // 2][:40]],
    }


def cold(activities: Activities, call: Callable[[], Any], first: FirstLaunch) -> Record:
    """Return the median of what a call's kernels take cold, or why it is not known."""
    try:
        calls = rounds_by_activities(activities, call, first)
    except Exception as error:
        return {"cold error": first_line(error)}
    return {"cold": median(map(total, calls))}


def measure(
    item: Record,
    device: str,
    lock: str,
    activities: Activities | None,
    first_launch: FirstLaunch | None,
) -> Record:
    """Return what the kernels of a workload take at a size."""
    workload = WORKLOADS[item["workload"]]
    with mo.device(device):
        begin = time.perf_counter()
        arrays = workload.arrays(item["size"])
        call = MetaOps().prepare(workload, arrays)
        results = call()
        first = time.perf_counter() - begin
        record: Record = {"bytes": workload.bytes(arrays, [r.numpy() for r in results])}
        del results
        call()
        with alone(lock):
            begin = time.perf_counter()
            profile = kernels.profiled(call, 1, 1 if activities else 3)
            record |= {"by events": profile["seconds"], "seconds": profile["seconds"]}
            record |= {"wall": time.perf_counter() - begin}
            if activities:
                record |= by_activities(activities, call)
                is_cold = record["activities"] and is_timed_cold(workload, item["size"])
                if first_launch and is_cold:
                    record |= cold(activities, call, first_launch)
    record |= {"predicted": profile["predicted"], "flops": workload.flops}
    record |= {"first": first, "kernels": profile["kernels"]}
    return record
