# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a U-Net to find discs among squares in noise, and draws what it marks.

The exit code says whether marked and true discs overlap by 75%.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from pictures import draw_images
from tqdm import trange

GOAL = 0.75
SIZE = 32


def draw_shapes(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy images (N, 1, H, W) of discs and squares, and where the discs are."""
    y, x = np.mgrid[:SIZE, :SIZE]
    images = rng.normal(0, 0.4, (count, 1, SIZE, SIZE))
    discs = np.zeros((count, SIZE, SIZE), "int64")
    for image, mask in zip(images, discs, strict=True):
        for number in range(4):
            (v, u), r = rng.uniform(4, SIZE - 4, 2), rng.uniform(4, 8)
            if number % 2:
                inside = np.maximum(abs(y - v), abs(x - u)) < 0.85 * r
                mask[inside] = 0
            else:
                inside = np.hypot(y - v, x - u) < r
                mask[inside] = 1
            image[0, inside] = 1 + rng.normal(0, 0.3, inside.sum())
    return images.astype("float32"), discs


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, draw, and return the overlap of marked and true discs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--output", default="unet.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    model = mo.models.UNet(1, 2, 8)
    optimizer = mo.optim.Adam(model.parameters(), lr=4e-3)
    schedule = mo.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)

    @mo.jit
    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="training"):
        images, discs = draw_shapes(options.batch, rng)
        loss = step(mo.array(images), mo.array(discs))
        loss.fetch(lambda value: losses.append(value.item()))
        schedule.step()
    mo.sync_all()

    images, discs = draw_shapes(64, rng)
    marked = model.eval()(mo.array(images)).numpy().argmax(1)
    overlap = float((marked & discs).sum() / max((marked | discs).sum(), 1))
    rows = {"images": images[:8, 0], "discs": discs[:8], "marked": marked[:8]}
    draw_images(options.output, rows, {"cross entropy": losses})
    print(f"marked and true discs overlap by {overlap:.1%}; picture: {options.output}")
    return overlap


if __name__ == "__main__":
    if (_overlap := main()) < GOAL:
        sys.exit(f"discs overlap by {_overlap:.1%}, expected {GOAL:.0%}")
