# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps: training steps of whole models on a GPU, by us and by PyTorch, eager."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from subjects import make_task

from .activities import Activities
from .child import Record
from .turns import alone

#: Those that are compared, and then those that are timed.
LOSSES, TIMED = 3, 5
SUBJECTS = ("mlp", "digits", "transformer", "resnet18-32", "resnet18-224", "resnet50-224")


def measure(contestant: Any, lock: str, activities: Activities | None, wait: Any) -> Record:
    """Return what a step takes: by the clock on the wall, and its kernels."""
    losses = [float(contestant.loss()) for _ in range(LOSSES)]
    # Steps that are recorded before one is run are another program, to be compiled.
    contestant.steps(TIMED)
    wait()
    with alone(lock):
        begin = time.perf_counter()
        contestant.steps(TIMED)
        wait()
        record: Record = {"losses": losses, "wall": (time.perf_counter() - begin) / TIMED}
        if activities:
            activities.begin()
            activities.since()
            contestant.steps(TIMED)
            wait()
            found = [one for one in activities.since() if one.kind == "kernel"]
            activities.end()
            record["seconds"] = sum(one.seconds for one in found) / TIMED
            record["kernels"] = len(found) / TIMED
    return record


def ours(item: Record, device: str, lock: str, activities: Activities | None) -> Record:
    """Return what steps of ours take, and losses beside those of the CPU."""
    import metaops as mo
    from training import MetaOps

    task = make_task(item["subject"])
    with mo.device("cpu:0"):
        reference = MetaOps(task)
        expected = [float(reference.loss()) for _ in range(LOSSES)]
    with mo.device(device):
        record = measure(MetaOps(task), lock, activities, mo.sync_all)
    apart = max(abs(a - b) for a, b in zip(record["losses"], expected, strict=True))
    difference = "" if apart <= 2e-3 * max(expected) else f"losses {record['losses']}"
    return record | {"expected": expected, "difference": difference}


def theirs(item: Record, lock: str, activities: Activities | None) -> Record:
    """Return what steps of PyTorch take."""
    import torch
    from training import Torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait: Callable[[], object] = torch.cuda.synchronize if device == "cuda" else list
    contestant = Torch(make_task(item["subject"], "torch_models"))
    contestant.x, contestant.y = contestant.x.to(device), contestant.y.to(device)
    return {"peer": "PyTorch", **measure(contestant, lock, activities, wait)}
