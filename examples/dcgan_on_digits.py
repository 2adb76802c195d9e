# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a DCGAN on handwritten digits, and draws digits that nobody has written.

Scikit-learn's digits are enlarged to 16 x 16 pixels. The exit code says whether the images
that are made have about the mean and the deviation of real ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops.models import DCGANDiscriminator, DCGANGenerator, adversarial_loss
from pictures import draw_images
from sklearn.datasets import load_digits
from tqdm import trange

GOAL = 0.25
NOISE = 32


def read_digits() -> np.ndarray:
    """Return images (N, 1, 16, 16) in [-1, 1]."""
    images = load_digits().images[:, None].astype("float32") / 8 - 1
    return mo.nn.interpolate(mo.array(images), size=(16, 16), mode="bilinear").numpy()


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, draw, and return how far pixels' mean and deviation are from real ones'."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--output", default="dcgan.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    digits = read_digits()
    generator = DCGANGenerator(NOISE, 16, 1, stages=2)
    discriminator = DCGANDiscriminator(16, 1, stages=2)
    both = [
        mo.optim.Adam(model.parameters(), 1e-3, betas=(0.5, 0.999))
        for model in (generator, discriminator)
    ]

    @mo.jit
    def step(real: mo.Var) -> tuple[mo.Var, mo.Var]:
        fake = generator(mo.randn(real.shape[0], NOISE))
        of_real = adversarial_loss(discriminator(real), True)
        of_fake = adversarial_loss(discriminator(fake.detach()), False)
        both[1].step(of_real + of_fake)
        loss = adversarial_loss(discriminator(fake), True)
        both[0].step(loss)
        return loss, of_real + of_fake

    losses: dict[str, list[float]] = {"generator": [], "discriminator": []}
    for _ in trange(options.steps, desc="training"):
        rows = rng.integers(0, len(digits), options.batch)
        for values, loss in zip(losses.values(), step(mo.array(digits[rows])), strict=True):
            loss.fetch(lambda value, values=values: values.append(value.item()))
    mo.sync_all()

    made = generator.eval()(mo.randn(256, NOISE)).numpy()
    moments = [(images.mean(), images.std()) for images in (made, digits)]
    difference = float(np.abs(np.subtract(*moments)).max())
    images = {f"made {row}": made[12 * row : 12 * row + 12, 0] for row in range(4)}
    draw_images(options.output, {**images, "real": digits[:12, 0]}, losses)
    print(f"mean and deviation differ by at most {difference:.3f}; picture: {options.output}")
    return difference


if __name__ == "__main__":
    if (_difference := main()) > GOAL:
        sys.exit(f"moments differ by {_difference:.3f}, expected at most {GOAL}")
