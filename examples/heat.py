# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solves the heat equation, and guesses from its end where it was warm in the beginning.

The plate cools in small steps, a loop in one program. The gradient through all of them moves
a guess of the first temperatures, between 0 and 1, until it ends as measured. Many beginnings
end nearly so, as edges are lost first: the guess is blurred, but nearer to the beginning than the
end is. The exit code says whether it ends within 2% of what was measured.
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

GOAL = 0.02
SIZE, TRIPS, RATE = 32, 60, 0.2


def cool(u: mo.Var) -> mo.Var:
    """Return the temperatures after all steps; the border is kept at 0."""

    def step(u: mo.Var, _: None) -> tuple[mo.Var, None]:
        around = nn.functional.conv2d(nn.ConstantPad2d(1, 0.0)(u[None, None]), LAPLACE)
        return u + RATE * around[0, 0], None

    return mo.scan(step, u, None, length=TRIPS)[0]


LAPLACE = mo.array(np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], "float32")[None, None])


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return how far x is from y, in parts of y."""
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def main(arguments: Sequence[str] | None = None) -> float:
    """Solve both ways, draw, and return how far the guess's end is from the measured one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--output", default="heat.png", help="the picture's file")
    options = parser.parse_args(arguments)

    first = np.zeros((SIZE, SIZE), "float32")
    first[6:14, 8:20] = 1.0
    first[20:26, 18:26] = 0.6
    end = cool(mo.array(first)).sync()
    logits = mo.full((SIZE, SIZE), -2.0)
    optimizer = mo.optim.Adam([logits], lr=0.3)

    @mo.jit
    def step() -> mo.Var:
        loss = ((cool(mo.sigmoid(logits)) - end) ** 2).mean()
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="searching"):
        step().fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    guess = mo.sigmoid(logits)
    images = np.stack([first, end.numpy(), guess.numpy(), cool(guess).numpy()])
    of_end, of_guess = distance(images[3], images[1]), distance(images[2], first)
    title = "in the beginning, measured, the guess, how it ends"
    draw_images(options.output, {title: images}, {"squares": losses})
    print(
        f"from the beginning the guess is {of_guess:.0%}, the end {distance(images[1], first):.0%}"
    )
    print(f"the guess ends within {of_end:.2%} of the measured; picture: {options.output}")
    return of_end


if __name__ == "__main__":
    if (_distance := main()) > GOAL:
        sys.exit(f"the guess ends {_distance:.2%} away, expected {GOAL:.0%}")
