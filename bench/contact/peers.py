# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers: the time of workloads by PyTorch, in a Python that has it, timed as ours are.

TF32 is off, as ours is f32, but where a row is called by it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch
import torch._functorch.config
from ops.torch_ops import Torch, TorchCompile
from workloads import WORKLOADS
from workloads.base import Distinct, Input, Integers, Ones, Positive

from .activities import Activities, Activity
from .cache import CHECKED, Eviction, is_timed_cold
from .child import Record, first_line
from .turns import alone

#: As rates.py has it, which needs our package.
ROUNDS, WARM_UP = 7, 3
#: Of the product that says what the GPU's tensor cores do.
EXTENT = 8192


class Given:
    """A tensor in an array's place."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def copy(self) -> Given:
        """Return another with the same elements."""
        return Given(self.tensor.clone())


def make(entry: Input) -> Given:
    """Return an input with random elements, made where it is."""
    if isinstance(entry, Integers):
        return Given(torch.randint(0, entry.high, entry.shape, dtype=torch.int32))
    if isinstance(entry, Positive):
        return Given(torch.rand(entry.shape) + 0.5)
    if isinstance(entry, Ones):
        return Given(torch.ones(entry.shape))
    if isinstance(entry, Distinct):
        count = math.prod(entry.shape)
        return Given(torch.randperm(count).float().reshape(entry.shape) - count // 2)
    return Given(torch.randn(getattr(entry, "shape", entry)))


def set_up(device: str, lock: str) -> None:
    """Have tensors made on a device, and ways to compile tried when nobody is timed."""
    torch.set_default_device(device)
    Torch.tensor = lambda self, given: given.tensor  # type: ignore[assignment]
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    except ImportError:
        return
    benchmark = CachingAutotuner.benchmark_all_configs

    def benchmark_alone(self: Any, *arguments: Any, **options: Any) -> Any:
        with alone(lock):
            return benchmark(self, *arguments, **options)

    CachingAutotuner.benchmark_all_configs = benchmark_alone


def is_well() -> bool:
    """Return whether the device still computes."""
    try:
        return bool((torch.ones(3) + 1).sum().item() == 6)
    except Exception:
        return False


def wait() -> None:
    """Wait for the device."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def event_seconds(call: Callable[[], Any]) -> float:
    """Return what a call takes between two events, or on a processor."""
    if not torch.cuda.is_available():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


def time_call(call: Callable[[], Any], lock: str, activities: Activities | None) -> Record:
    """Return the seconds of a call that was made before."""
    with alone(lock):
        for _ in range(WARM_UP - 1):
            call()
        wait()
        events = [event_seconds(call) for _ in range(ROUNDS)]
        record: Record = {"by events": median(events), "seconds": median(events)}
        if activities:
            record |= by_activities(activities, call)
        return record


def by_activities(activities: Activities, call: Callable[[], Any]) -> Record:
    """Return what kernels, copies and fills of a call take, and those of the last call."""
    totals, names = [], []
    for found in rounds_by_activities(activities, call):
        totals.append(sum(one.seconds for one in found))
        names = [[one.name or one.kind, one.seconds * 1e6] for one in found[:40]]
    return {"seconds": median(totals), "fastest": min(totals), "activities": names}


def rounds_by_activities(
    activities: Activities, call: Callable[[], Any], eviction: Eviction | None = None
) -> list[list[Activity]]:
    """Return what calls launch, the second cache being freed before each if it is to be."""
    rounds = []
    activities.begin()
    try:
        for _ in range(ROUNDS):
            if eviction:
                eviction.evict()
            wait()
            activities.since()
            call()
            wait()
            rounds.append(activities.since())
    finally:
        activities.end()
    return rounds


def time_cold(
    call: Callable[[], Any], lock: str, activities: Activities, eviction: Eviction
) -> Record:
    """Return the seconds of a call cold, or why they are not known."""
    try:
        with alone(lock):
            rounds = rounds_by_activities(activities, call, eviction)
    except Exception as error:
        return {"cold error": first_line(error)}
    return {"cold": median(sum(one.seconds for one in found) for found in rounds)}


def by_triton(call: Callable[[], Any], lock: str) -> Record:
    """Return the seconds that triton says a call takes, or why it does not."""
    try:
        from triton.testing import do_bench

        with alone(lock):
            return {"triton": do_bench(call, return_mode="median") / 1e3}
    except Exception as error:
        return {"triton error": first_line(error)}


def allow_tf32(allowed: bool) -> None:
    """Say whether products of f32 may be of fewer digits."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def measure(
    item: Record, lock: str, activities: Activities | None, eviction: Eviction | None
) -> Iterator[Record]:
    """Return the times of a workload at a size, by the peer that the item names."""
    workload, size = WORKLOADS[item["workload"]], item["size"]
    library = TorchCompile() if item["peer"] == "torch.compile" else Torch()
    # The backward pass is run again and again for one forward pass.
    torch._functorch.config.donated_buffer = workload.mode != "backward"
    ways = [("", False)]
    if item["peer"] == "PyTorch" and workload.flops:
        ways.append((" TF32", True))
    for way, tf32 in ways:
        allow_tf32(tf32)
        begin = time.perf_counter()
        torch.manual_seed(0)
        call = library.prepare(workload, [make(entry) for entry in workload.shapes[size]])
        call()
        wait()
        first = time.perf_counter() - begin
        record = time_call(call, lock, activities)
        if activities and eviction and is_timed_cold(workload, size):
            record |= time_cold(call, lock, activities, eviction)
        if item["peer"] == "PyTorch" and not tf32 and (workload.name, size) in CHECKED:
            record |= by_triton(call, lock)
        yield {"peer": item["peer"] + way, "first": first, **record}
        del call
    if item["peer"] == "torch.compile":
        torch._dynamo.reset()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def floors(lock: str, activities: Activities | None) -> Iterator[Record]:
    """Return what the device does at best: a product of bf16, of f32, and a copy."""
    extent = EXTENT if torch.cuda.is_available() else 256
    for name, dtype, tf32 in (
        ("bf16 product", torch.bfloat16, False),
        ("f32 product", torch.float32, False),
        ("TF32 product", torch.float32, True),
    ):
        try:
            allow_tf32(tf32)
            x, y = (torch.randn(extent, extent).to(dtype) for _ in range(2))
            torch.matmul(x, y)
            record = time_call(lambda x=x, y=y: torch.matmul(x, y), lock, activities)
            record["flops per second"] = 2 * extent**3 / record["seconds"]
            yield {"floor": f"{name} of {extent}", **record}
        except Exception as error:
            yield {"floor": name, "error": first_line(error)}
    x = torch.randn(1 << (26 if extent == EXTENT else 16))
    y = torch.empty_like(x)
    record = time_call(lambda: y.copy_(x), lock, activities)
    yield {"floor": "copy", **record, "bytes per second": 2 * x.nbytes / record["seconds"]}
