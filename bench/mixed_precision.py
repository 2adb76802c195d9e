# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps with products in bfloat16, beside float32 and beside PyTorch's autocast.

A convolutional network of images of 32x32 and a GPT of four layers, each in a process of its
own: the time of a step by Adam, recorded by mo.jit or eager in PyTorch, and memory at the
peak of a step beside what is there before it: parameters, moments, data. MetaOps counts its
own bytes; PyTorch's are those that tensors for gradients keep, without what lives shortly.

    python bench/mixed_precision.py          # two minutes; for one processor, behind taskset -c 0
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

from common import Table, run_worker, write_report

MODELS = ("CNN", "GPT")
TYPES = ("float32", "bfloat16")
CHANNELS, BATCH, CLASSES = (32, 64, 128), 32, 10
LAYERS, WIDTH, HEADS, LENGTH, SEQUENCES, WORDS = 4, 128, 4, 128, 4, 256
STEPS = 8


def make_network(nn: Any, name: str) -> Any:
    """Return a model of either library's layers."""
    if name == "GPT":
        return nn.ModuleList(
            [
                nn.Embedding(WORDS, WIDTH),
                nn.Embedding(LENGTH, WIDTH),
                nn.LayerNorm(WIDTH),
                nn.Linear(WIDTH, WORDS, bias=False),
                *(
                    nn.TransformerEncoderLayer(
                        WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=True
                    )
                    for _ in range(LAYERS)
                ),
            ]
        )
    layers = []
    for given, made in zip((3, *CHANNELS), CHANNELS, strict=False):
        layers += [nn.Conv2d(given, made, 3, padding=1, bias=False), nn.BatchNorm2d(made)]
        layers += [nn.ReLU(), nn.Conv2d(made, made, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(made), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * CHANNELS[-1], CLASSES))


def run_network(name: str, model: Any, x: Any, positions: Any, mask: Any) -> Any:
    """Return the scores of classes, or of words."""
    if name == "CNN":
        return model(x)
    words, places, norm, head, *blocks = model
    h = words(x) + places(positions)
    for block in blocks:
        h = block(h, mask)
    return head(norm(h)).reshape(SEQUENCES * LENGTH, WORDS)


def time_steps(step: Callable[[], float]) -> tuple[float, list[float]]:
    """Return the median milliseconds of a step, and the losses."""
    times, losses = [], []
    for number in range(STEPS + 3):
        begin = time.perf_counter()
        losses.append(step())
        if number >= 3:
            times.append((time.perf_counter() - begin) * 1e3)
    return median(times), losses


def measure_metaops(name: str, dtype: str) -> dict[str, float]:
    """Return what a step of MetaOps takes."""
    import metaops as mo

    mo.set_num_threads(1)
    mo.seed(0)
    model = make_network(mo.nn, name)
    optimizer = mo.optim.Adam(model.parameters(), 1e-3)
    mask = mo.triu(mo.ones((LENGTH, LENGTH)), 1) > 0
    positions = mo.arange(LENGTH)
    if name == "CNN":
        x, y = mo.rand(BATCH, 3, 32, 32), mo.randint(0, CLASSES, (BATCH,))
    else:
        x, y = (mo.randint(0, WORDS, (SEQUENCES, LENGTH)) for _ in range(2))
    scope = mo.amp.autocast("bfloat16", enabled=dtype == "bfloat16")

    @mo.jit
    def step(x: Any, y: Any) -> Any:
        with scope:
            scores = run_network(name, model, x, positions, mask)
            loss = mo.nn.cross_entropy_loss(scores, y.reshape(-1))
        optimizer.step(loss)
        return loss

    for _ in range(3):
        step(x, y).item()
    mo.sync_all()
    before = mo.memory_stats()["in_use"]
    mo.reset_peak()
    step(x, y).item()
    peak = mo.memory_stats()["peak"] - before
    taken, losses = time_steps(lambda: float(step(x, y).item()))
    return {"ms": taken, "peak": peak / 1e6, "loss": losses[-1]}


def measure_torch(name: str, dtype: str) -> dict[str, float]:
    """Return what a step of PyTorch takes."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = make_network(torch.nn, name)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    mask = torch.triu(torch.ones(LENGTH, LENGTH), 1) > 0
    positions = torch.arange(LENGTH)
    if name == "CNN":
        x, y = torch.rand(BATCH, 3, 32, 32), torch.randint(0, CLASSES, (BATCH,))
    else:
        x, y = (torch.randint(0, WORDS, (SEQUENCES, LENGTH)) for _ in range(2))

    def compute() -> Any:
        is_low = dtype == "bfloat16"
        with torch.autocast("cpu", torch.bfloat16) if is_low else nullcontext():
            scores = run_network(name, model, x, positions, mask)
            return torch.nn.functional.cross_entropy(scores, y.reshape(-1))

    def step() -> float:
        optimizer.zero_grad()
        loss = compute()
        loss.backward()
        optimizer.step()
        return float(loss.item())

    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
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
    alive.clear()
    taken, losses = time_steps(step)
    return {"ms": taken, "peak": sum(saved.values()) / 1e6, "loss": losses[-1]}


MEASURES = {"MetaOps": measure_metaops, "PyTorch": measure_torch}


def main() -> None:
    """Run everything in processes of their own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", help="a folder for mixed_precision.md and .json")
    parser.add_argument("--library", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--model", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--dtype", choices=TYPES, help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        result = MEASURES[options.library](options.model, options.dtype)
        Path(options.worker).write_text(json.dumps(result))
        return
    columns = ["", "float32 ms", "bfloat16 ms", "ratio", "float32 MB", "bfloat16 MB", "ratio"]
    table = Table("training steps under autocast", [*columns, "losses"])
    for model in MODELS:
        for library in MEASURES:
            arguments = ["--library", library, "--model", model, "--dtype"]
            wide, low = (run_worker(__file__, [*arguments, dtype]) for dtype in TYPES)
            numbers = []
            for key in ("ms", "peak"):
                numbers += [wide[key], low[key], low[key] / wide[key]]
            losses = f"{wide['loss']:.4f} {low['loss']:.4f}"
            table.add(f"{model}, {library}", *numbers, losses)
    write_report("mixed_precision", [table], options.output)


if __name__ == "__main__":
    main()
