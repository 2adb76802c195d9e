# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a variational autoencoder on handwritten digits, and walks between two of them.

The exit code says whether a held-out image costs at most 26 nats; each of its 64 pixels
costs 0.69 where nothing is known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from pictures import draw_images
from sklearn.datasets import load_digits
from tqdm import trange

GOAL = 26.0
#: A held-out image costs the mean of so many draws of its numbers.
DRAWS = 16


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, draw, and return what a held-out image costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--output", default="vae.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    images = load_digits().images.reshape(-1, 64).astype("float32") / 16
    held_out, images = images[:300], images[300:]
    model = mo.models.VAE(64, 128, 8)
    optimizer = mo.optim.Adam(model.parameters(), lr=2e-3)

    @mo.jit
    def step(x: mo.Var) -> mo.Var:
        loss = mo.models.vae_loss(model(x), x)
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="training"):
        loss = step(mo.array(images[rng.integers(0, len(images), options.batch)]))
        loss.fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    x = mo.array(held_out)
    cost = float(np.mean([mo.models.vae_loss(model(x), x).item() for _ in range(DRAWS)]))
    output = model(x, mo.zeros((len(held_out), 8)))
    share = np.linspace(0, 1, 12, dtype="float32")[:, None]
    ends = output.mean.numpy()
    walk = mo.sigmoid(model.decode(mo.array((1 - share) * ends[0] + share * ends[1]))).numpy()
    drawn = mo.sigmoid(model.decode(mo.randn(12, 8))).numpy()
    rows = {
        "held out": held_out[:12],
        "through 8 numbers": mo.sigmoid(output.logits).numpy()[:12],
        "from the first to the second": walk,
        "of random numbers": drawn,
    }
    draw_images(
        options.output,
        {name: row.reshape(-1, 8, 8) for name, row in rows.items()},
        {"nats of an image": losses},
    )
    print(f"a held-out image costs {cost:.1f} nats; picture: {options.output}")
    return cost


if __name__ == "__main__":
    if (_cost := main()) > GOAL:
        sys.exit(f"an image costs {_cost:.1f} nats, expected at most {GOAL}")
