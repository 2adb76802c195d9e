# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a vision transformer on handwritten digits, and draws what it takes them for.

Images of 8 x 8 pixels are 16 patches. The exit code says whether 93% of the held-out images
were recognised.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from pictures import draw_images
from sklearn.datasets import load_digits
from tqdm import trange

GOAL = 0.93


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, draw, and return the share of held-out images that were recognised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--output", default="vit.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images = (digits.images[order, None] / 8 - 1).astype("float32")
    labels = digits.target[order]
    model = mo.models.VisionTransformer(8, 2, 3, 4, 48, 96, num_classes=10, channels=1)
    optimizer = mo.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)

    @mo.jit
    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="training"):
        rows = rng.integers(600, len(images), options.batch)
        loss = step(mo.array(images[rows]), mo.array(labels[rows]))
        loss.fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    found = model.eval()(mo.array(images[:600])).numpy().argmax(1)
    share = float((found == labels[:600]).mean())
    rows = {}
    for digit in (3, 5, 8):
        taken = np.flatnonzero(found == digit)[:12]
        rows[f"taken for {digit}"] = images[taken, 0]
    draw_images(options.output, rows, {"cross entropy": losses})
    print(f"{share:.1%} of held-out images recognised; picture: {options.output}")
    return share


if __name__ == "__main__":
    if (_share := main()) < GOAL:
        sys.exit(f"{_share:.1%} recognised, expected {GOAL:.0%}")
