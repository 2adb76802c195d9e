# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports for several sizes beside exports for one: files, first runs, times.

    sized_exports.py [--model MODEL] [--sizes N] [--threads N]

A ResNet-18 for images of 32 x 32 with a batch of 1 to N, or a transformer with a length of 1 to
N and batches of 1 and 8. Ten of the sizes are run, and exported alone, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metaops as mo
import models
import numpy as np
from metaops.execute import load_program

TARGETS = ["x86-64-v4" if "avx512f" in Path("/proc/cpuinfo").read_text() else "x86-64-v3"]
#: Runs of which the least is taken.
RUNS = 15


def time_call(call: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def compare(sized: Any, fixed: Any, *inputs: Any) -> tuple[float, float]:
    """Return the least times of both programs in turns, after they are found equal."""
    np.testing.assert_allclose(sized(*inputs), fixed(*inputs), rtol=1e-4, atol=1e-5)
    times = [
        (time_call(lambda: sized(*inputs)), time_call(lambda: fixed(*inputs))) for _ in range(RUNS)
    ]
    return min(a for a, _ in times), min(b for _, b in times)


def choose(model: str, most: int) -> tuple[Any, dict[str, Any], list[dict[str, int]], Any]:
    """Return a model, its dynamic extents, ten sizes, and what makes inputs."""
    rng = np.random.default_rng(0)
    numbers = sorted({max(1, round(most * i / 10)) for i in range(1, 11)})
    if model == "resnet18":

        def draw(batch: int) -> Any:
            return rng.standard_normal((batch, 3, 32, 32)).astype("float32")

        return (
            models.resnet18(10, True).eval(),
            {"x": {0: ("batch", 1, most)}},
            [{"batch": n} for n in numbers],
            draw,
        )

    def draw_tokens(batch: int, length: int) -> Any:
        return rng.standard_normal((batch, length, 128)).astype("float32")

    layers = [mo.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True) for _ in range(4)]
    return (
        mo.nn.Sequential(*layers).eval(),
        {"x": {0: ("batch", [1, 8]), 1: ("length", 1, most)}},
        [{"batch": (1, 8)[i % 2], "length": n} for i, n in enumerate(numbers)],
        draw_tokens,
    )


def main() -> None:
    """Export, run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["resnet18", "transformer"], default="resnet18")
    parser.add_argument("--sizes", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    model, dynamic, sizes, draw = choose(arguments.model, arguments.sizes)
    folder = Path(tempfile.mkdtemp())
    file = folder / "sized"
    seconds = time_call(
        lambda: mo.export(model, [draw(**sizes[0])], file, targets=TARGETS, dynamic=dynamic)
    )
    sized = load_program(file, threads=arguments.threads)
    count = int(np.prod([len(each) for each in sized.extents.values()]))
    alone = folder / "alone"
    rows = []
    for size in sizes:
        x = draw(**size)
        export = time_call(lambda x=x: mo.export(model, [x], alone, targets=TARGETS))
        fixed = load_program(alone, threads=arguments.threads)
        opened = time_call(lambda size=size: sized.at(**size))
        own, other = compare(sized, fixed, x)
        rows.append((size, alone.stat().st_size, export, opened, own, other))
    bytes_alone = statistics.median(row[1] for row in rows)
    print(
        f"{arguments.model}, {count} programs for {TARGETS[0]}: exported in {seconds:.1f} s,"
        f" {file.stat().st_size / 1e6:.1f} MB; one alone {bytes_alone / 1e6:.1f} MB, so"
        f" {(file.stat().st_size - bytes_alone) / max(count - 1, 1) / 1e3:.0f} kB for each other;"
        f" {arguments.threads} threads of {os.cpu_count()}"
    )
    print("| size | opened, ms | sized, ms | alone, ms | ratio |")
    print("| --- | --: | --: | --: | --: |")
    for size, _, _, opened, own, other in rows:
        name = ", ".join(f"{key} {value}" for key, value in size.items())
        print(
            f"| {name} | {opened * 1e3:.2f} | {own * 1e3:.2f} | {other * 1e3:.2f} |"
            f" {own / other:.2f} |"
        )


if __name__ == "__main__":
    main()
