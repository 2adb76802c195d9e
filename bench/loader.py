# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaders of batches: images a second, and what a batch costs the loader's own process.

    loader.py [--data NAME...] [--workers N...] [--quick] [--output FOLDER]

Data sets, of images in batches of 32, in an order that is drawn for each epoch:

rows
    60,000 images of 28 x 28 numbers and labels, in arrays (a `TensorDataset`).
items
    The same by a class with ``__getitem__``.
jpeg
    2,000 images of 256 x 256 pixels in files, which Pillow reads and halves.

Each library's loader gives epochs in turn, with workers that stay. All epochs have to have the
same images, by sums, before a time is reported.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from common import Table, write_report

BATCH = 32
#: The batches of an epoch behind which time is taken.
FIRST = 8
DATA = ("rows", "items", "jpeg")
#: The images of a data set in memory, and in files.
IMAGES, FILES = 60_000, 2_000


class Epoch(NamedTuple):
    """What an epoch took, and had."""

    seconds: float
    #: Of this process alone.
    processor_seconds: float
    #: The batches that took it.
    batches: int
    #: All of them, those without time among them.
    images: int
    #: The sum of the labels.
    labels: int


class Items:
    """Rows of arrays, one by one."""

    def __init__(self, images: Any, labels: Any) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.images[index], int(self.labels[index])


class Files:
    """Images in files."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        from PIL import Image

        with Image.open(self.paths[index]) as image:
            return np.asarray(image.convert("RGB").resize((128, 128))), index


def write_images(folder: Path, count: int) -> list[str]:
    """Write images of noise and slopes, and return their paths."""
    from PIL import Image

    rng, paths = np.random.default_rng(0), []
    slope = np.linspace(0, 160, 256)
    for number in range(count):
        pixels = slope[:, None, None] * rng.random(3) + rng.integers(0, 80, (256, 256, 3))
        paths.append(str(folder / f"{number}.jpg"))
        Image.fromarray(pixels.astype("uint8")).save(paths[-1], quality=90)
    return paths


def make_arrays(count: int) -> tuple[Any, Any]:
    """Return images and labels."""
    rng = np.random.default_rng(0)
    return rng.random((count, 28, 28), dtype="float32"), rng.integers(0, 10, count)


def make_ours(kind: str, content: Any, workers: int) -> Iterable[Any]:
    """Return our loader of a data set."""
    from metaops import data

    kinds: dict[str, Callable[..., Any]] = {
        "rows": data.TensorDataset,
        "items": Items,
        "jpeg": Files,
    }
    return data.DataLoader(kinds[kind](*content), BATCH, shuffle=True, num_workers=workers)


def make_theirs(kind: str, content: Any, workers: int) -> Iterable[Any]:
    """Return PyTorch's loader of a data set."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    kinds: dict[str, Callable[..., Any]] = {
        "rows": lambda *arrays: TensorDataset(*map(torch.from_numpy, arrays)),
        "items": Items,
        "jpeg": Files,
    }
    return DataLoader(
        kinds[kind](*content),
        BATCH,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
    )


LIBRARIES = {"MetaOps": make_ours, "PyTorch": make_theirs}


def run_epoch(loader: Iterable[Any]) -> Epoch:
    """Take an epoch's batches; the first ones, which may have been made before, without time."""
    sizes, labels = [], []
    begin, begin_own = time.perf_counter(), time.process_time()
    for number, (images, label) in enumerate(loader):
        if number == FIRST - 1:
            begin, begin_own = time.perf_counter(), time.process_time()
        sizes.append(images.shape[0])
        labels.append(label)
    taken, own = time.perf_counter() - begin, time.process_time() - begin_own
    total = sum(int(np.asarray(label).sum()) for label in labels)
    return Epoch(taken, own, len(sizes) - FIRST, sum(sizes), total)


def measure(kind: str, content: Any, workers: int, rounds: int) -> dict[str, list[Epoch]]:
    """Return epochs of each library, which take turns; the first ones are not counted."""
    loaders = {name: make(kind, content, workers) for name, make in LIBRARIES.items()}
    epochs: dict[str, list[Epoch]] = {name: [] for name in loaders}
    for turn in range(rounds + 1):
        for name, loader in loaders.items():
            epochs[name].append(run_epoch(loader))
        print(f"{kind}, {workers} workers: round {turn} of {rounds}", file=sys.stderr)
    found = {(epoch.images, epoch.labels) for epoch in itertools.chain(*epochs.values())}
    if len(found) != 1:
        raise SystemExit(f"{kind}, {workers} workers: epochs have other images, {found}")
    return {name: taken[1:] for name, taken in epochs.items()}


def rows_of(
    kinds: Iterable[str], workers: Iterable[int], rounds: int, images: int, files: int
) -> Iterator[tuple[Any, ...]]:
    """Return a row for each data set and number of workers."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            if kind == "jpeg":
                content: Any = (write_images(Path(folder), files),)
            else:
                content = make_arrays(images)
            for count in workers:
                epochs = measure(kind, content, count, rounds)
                rates, costs = (
                    {name: median(map(what, taken)) for name, taken in epochs.items()}
                    for what in (
                        lambda epoch: epoch.batches * BATCH / epoch.seconds,
                        lambda epoch: 1e6 * epoch.processor_seconds / epoch.batches,
                    )
                )
                ratio = rates["MetaOps"] / rates["PyTorch"]
                yield kind, count, *rates.values(), ratio, *costs.values()


def main() -> None:
    """Measure all, and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--workers", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--quick", action="store_true", help="one short epoch of each")
    parser.add_argument("--output", help="a folder for loader.md and .json")
    options = parser.parse_args()
    rounds, images, files = (1, 3_200, 640) if options.quick else (5, IMAGES, FILES)
    columns = ["data", "workers", "images a second", "PyTorch", "ratio"]
    columns += ["us a batch here", "PyTorch us"]
    note = (
        f"Medians of {rounds} epochs, in batches of {BATCH}. The ratio is above 1 where we give "
        "more images a second; the last columns are the processor's time of the loader's own "
        "process, without its workers."
    )
    table = Table("Loaders", columns, note=note)
    for row in rows_of(options.data, options.workers, rounds, images, files):
        table.add(*row)
    write_report("loader", [table], options.output)


if __name__ == "__main__":
    main()
