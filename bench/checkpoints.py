# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of the layers of a transformer, beside PyTorch's.

12 layers, 128 wide, of 8 sequences of 64 tokens, with dropout. Each row is a process of its
own, which takes steps of two kinds:

* *looked at*: the loss is asked for first, and then the gradients. What is kept between is
  what is let go when the loss is dropped, in PyTorch what its graph saves;
* *at once*: loss and gradients are one program, as with `mo.jit`. Its scratch memory is what
  lives in it at the same time.

    python bench/checkpoints.py             # a minute; for one processor, behind taskset -c 0
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from common import Table, run_worker, write_report

LAYERS, WIDTH, HEADS, HIDDEN, DROPOUT = 12, 128, 4, 512, 0.1
SHAPE = (8, 64, WIDTH)
STEPS = 15


def milliseconds(step: Callable[[], object]) -> float:
    """Return the median time of a step, behind some that are not counted."""
    times = []
    for number in range(STEPS + 3):
        begin = time.perf_counter()
        step()
        if number >= 3:
            times.append((time.perf_counter() - begin) * 1e3)
    return median(times)


def measure_metaops(has_checkpoints: bool) -> dict[str, float]:
    """Return what MetaOps keeps and takes."""
    import metaops as mo

    mo.set_num_threads(1)
    mo.seed(0)
    layers = [
        mo.nn.TransformerEncoderLayer(
            WIDTH, HEADS, HIDDEN, DROPOUT, batch_first=True, norm_first=True
        )
        for _ in range(LAYERS)
    ]
    parameters = [p for layer in layers for p in layer.parameters()]
    calls = [mo.nn.Checkpoint(layer) for layer in layers] if has_checkpoints else layers
    x = mo.random.normal(shape=SHAPE)

    def compute() -> Any:
        h = x
        for call in calls:
            h = call(h)
        return (h * h).mean()

    def look() -> None:
        loss = compute()
        loss.item()
        mo.sync(mo.grad(loss, parameters))

    def at_once() -> Any:
        loss = compute()
        return [loss, *mo.grad(loss, parameters)]

    mo.sync(at_once())
    scratch = mo.last_program().arena_bytes
    loss = compute()
    loss.item()
    gc.collect()
    before = mo.stats()["bytes_in_use"]
    del loss
    mo.sync_all()
    gc.collect()
    kept = before - mo.stats()["bytes_in_use"]
    recorded = mo.jit(at_once)
    return {
        "kept": kept / 1e6,
        "looked": milliseconds(look),
        "once": milliseconds(lambda: mo.sync(at_once())),
        "jit": milliseconds(lambda: mo.sync(recorded())),
        "scratch": scratch / 1e6,
    }


def measure_torch(has_checkpoints: bool) -> dict[str, float]:
    """Return what PyTorch keeps and takes."""
    import torch
    from torch.utils.checkpoint import checkpoint

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [
        torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, HIDDEN, DROPOUT, batch_first=True, norm_first=True
        )
        for _ in range(LAYERS)
    ]
    parameters = [p for layer in layers for p in layer.parameters()]
    x = torch.randn(SHAPE, requires_grad=True)

    def compute() -> Any:
        h = x
        for layer in layers:
            h = checkpoint(layer, h, use_reentrant=False) if has_checkpoints else layer(h)
        return (h * h).mean()

    def look() -> None:
        loss = compute()
        loss.item()
        torch.autograd.grad(loss, parameters)

    own = {p.untyped_storage().data_ptr() for p in parameters} | {x.untyped_storage().data_ptr()}
    saved: dict[int, int] = {}
    alive = []

    def save(tensor: Any) -> Any:
        alive.append(tensor)
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        compute()
    return {"kept": sum(saved.values()) / 1e6, "looked": milliseconds(look)}


MEASURES = {"MetaOps": measure_metaops, "PyTorch": measure_torch}


def main() -> None:
    """Run everything in processes of their own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", help="a folder for checkpoints.md and checkpoints.json")
    parser.add_argument("--library", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--checkpoints", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        result = MEASURES[options.library](options.checkpoints)
        Path(options.worker).write_text(json.dumps(result))
        return
    columns = ["", "kept MB", "looked at ms", "at once ms", "jit ms", "scratch MB"]
    table = Table("checkpoints of 12 layers", columns)
    notes = []
    for library in MEASURES:
        arguments = ["--library", library]
        rows = [
            run_worker(__file__, arguments),
            run_worker(__file__, [*arguments, "--checkpoints"]),
        ]
        for name, row in zip((library, f"{library}, checkpoints"), rows, strict=True):
            table.add(name, *(row.get(key) for key in ("kept", "looked", "once", "jit", "scratch")))
        notes.append(f"{rows[1]['looked'] / rows[0]['looked']:.2f} in {library}")
    table.note = f"With checkpoints a step that is looked at takes {' and '.join(notes)}."
    write_report("checkpoints", [table], options.output)


if __name__ == "__main__":
    main()
