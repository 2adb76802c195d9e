# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a WGAN-GP on handwritten digits: a critic whose slope is held at 1 shows the way.

The critic takes several steps for each of the generator (Gulrajani et al., 2017, algorithm 1).
The exit code says whether the images that are made have about the mean and the deviation of
real ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops.models import WGANCritic, WGANGenerator, wasserstein_critic_loss, wasserstein_loss
from pictures import draw_images
from sklearn.datasets import load_digits
from tqdm import trange

GOAL = 0.1
NOISE = 16
SHAPE = (1, 8, 8)
#: Steps of the critic for each of the generator.
CRITIC_STEPS = 5


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, draw, and return how far pixels' mean and deviation are from real ones'."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--output", default="wgan_gp.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    digits = load_digits().images.reshape(-1, *SHAPE).astype("float32") / 8 - 1
    generator, critic = WGANGenerator(NOISE, SHAPE), WGANCritic(SHAPE)
    of_generator, of_critic = (
        mo.optim.Adam(model.parameters(), 2e-4, betas=(0.0, 0.9)) for model in (generator, critic)
    )

    @mo.jit
    def step_critic(real: mo.Var) -> mo.Var:
        fake = generator(mo.randn(real.shape[0], NOISE)).detach()
        of_critic.step(wasserstein_critic_loss(critic, real, fake))
        return critic(real).mean() - critic(fake).mean()

    @mo.jit
    def step_generator() -> None:
        of_generator.step(wasserstein_loss(critic(generator(mo.randn(options.batch, NOISE)))))

    distances: list[float] = []
    for _ in trange(options.steps, desc="training"):
        for _ in range(CRITIC_STEPS):
            rows = rng.integers(0, len(digits), options.batch)
            distance = step_critic(mo.array(digits[rows]))
        distance.fetch(lambda value: distances.append(value.item()))
        step_generator()
    mo.sync_all()

    made = generator.eval()(mo.randn(256, NOISE)).numpy()
    moments = [(images.mean(), images.std()) for images in (made, digits)]
    difference = float(np.abs(np.subtract(*moments)).max())
    images = {f"made {row}": made[12 * row : 12 * row + 12, 0] for row in range(4)}
    draw_images(
        options.output, {**images, "real": digits[:12, 0]}, {"distance of the critic": distances}
    )
    print(f"mean and deviation differ by at most {difference:.3f}; picture: {options.output}")
    return difference


if __name__ == "__main__":
    if (_difference := main()) > GOAL:
        sys.exit(f"moments differ by {_difference:.3f}, expected at most {GOAL}")
