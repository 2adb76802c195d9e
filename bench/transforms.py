# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of one image, beside torchvision's: the usual chains for ImageNet, and their parts.

The image is a made one of 500 x 375 pixels, which Pillow holds in memory, or an array of it.
Chains end in an array or a tensor of float32 with channels first. All are timed by turns in
one process, with one thread; torchvision where it is installed (`pip install --no-deps
torchvision`), its first transforms and those of v2.

    python bench/transforms.py [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import metaops as mo
import numpy as np
from common import Table, compare_steps, repeated, write_report
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

Call = Callable[[], object]


def make_picture() -> Image.Image:
    """Return an image with smooth parts and fine ones."""
    rows, columns, channels = np.ogrid[:375, :500, :3]
    waves = 110 + 90 * np.sin(rows / (20 + channels)) * np.cos(columns / 30 - channels)
    noise = np.random.default_rng(0).integers(0, 50, (375, 500, 3))
    return Image.fromarray((waves + noise).astype("uint8"))


def chains_of(T: Any) -> dict[str, list[Any]]:
    """Return the transforms of each chain, and single ones, by a library's names."""
    end = [T.ToTensor(), T.Normalize(MEAN, STD)]
    crop = [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]
    colours = T.ColorJitter(0.4, 0.4, 0.4)
    return {
        "training": [*crop, *end],
        "training with colours": [*crop, colours, *end],
        "training with RandAugment": [*crop, T.RandAugment(), *end, T.RandomErasing(0.1)],
        "evaluation": [T.Resize(256), T.CenterCrop(224), *end],
        "RandomResizedCrop": crop[:1],
        "RandomHorizontalFlip(1)": [T.RandomHorizontalFlip(1.0)],
        "ToTensor": end[:1],
        "ToTensor and Normalize": end,
        "ColorJitter": [colours],
        "RandomRotation": [T.RandomRotation(30)],
        "GaussianBlur": [T.GaussianBlur(5)],
        "RandomCrop": [T.RandomCrop(224)],
    }


def libraries() -> dict[str, dict[str, Call]]:
    """Return calls for one image, by who computes them and by chains."""
    picture = make_picture()
    pixels = np.asarray(picture)
    rng = np.random.default_rng(1)
    made: dict[str, dict[str, Call]] = {}
    for title, image in (("MetaOps, Pillow", picture), ("MetaOps, array", pixels)):
        made[title] = {}
        for name, transforms in chains_of(mo.transforms).items():
            chain = mo.transforms.Compose(transforms)
            made[title][name] = lambda chain=chain, image=image: chain(image, rng=rng)
    if find_spec("torchvision"):
        import torch
        import torchvision.transforms
        from torchvision.transforms import v2

        torch.set_num_threads(1)
        for title, module in (("torchvision", torchvision.transforms), ("torchvision v2", v2)):
            made[title] = {}
            for name, transforms in chains_of(module).items():
                chain = module.Compose(transforms)
                made[title][name] = lambda chain=chain: chain(picture)
    return made


def measure(rounds: int, target: float) -> Table:
    """Return the microseconds that each chain takes for an image."""
    made = libraries()
    table = Table("Transforms of an image of 500 x 375 pixels, in microseconds", ["chain", *made])
    for name in chains_of(mo.transforms):
        steps = {title: repeated(calls[name]) for title, calls in made.items()}
        times = compare_steps(steps, rounds, target)
        table.add(name, *(times[title] * 1e6 for title in made))
    return table


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--output", help="a folder for the tables")
    arguments = parser.parse_args()
    rounds, target = (3, 0.05) if arguments.quick else (9, 0.2)
    write_report("transforms", [measure(rounds, target)], arguments.output)


if __name__ == "__main__":
    main()
