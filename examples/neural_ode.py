# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learns a spiral from points on it: the slope is a small network, and a loop follows it.

Chen et al., "Neural Ordinary Differential Equations", 2018, with Runge-Kutta steps and the
gradient through them. The exit code says whether the curve is within 0.15 of the spiral's
points in the mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import matplotlib
import metaops as mo
import numpy as np
from metaops import nn
from pictures import draw_losses
from tqdm import trange

GOAL = 0.15
POINTS, DURATION = 80, 12.0


def follow(slope: Callable[[mo.Var], mo.Var], start: mo.Var) -> mo.Var:
    """Return a curve's points from its start on, by Runge and Kutta's rule of order 4."""
    h = DURATION / POINTS

    def step(x: mo.Var, _: None) -> tuple[mo.Var, mo.Var]:
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, x

    return mo.scan(step, start, None, length=POINTS)[1]


def main(arguments: Sequence[str] | None = None) -> float:
    """Learn, draw, and return the mean distance of points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--output", default="neural_ode.png", help="the picture's file")
    options = parser.parse_args(arguments)

    mo.seed(0)
    turn = mo.array(np.array([[-0.1, 1.0], [-1.0, -0.1]], "float32"))
    start = mo.array(np.array([[2.0, 0.0]], "float32"))
    spiral = follow(lambda x: x @ turn, start).sync()
    network = mo.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = mo.optim.Adam(network.parameters(), lr=5e-3)

    @mo.jit
    def step() -> mo.Var:
        loss = mo.abs(follow(network, start) - spiral).mean()
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="learning"):
        step().fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    found, true = (x.numpy()[:, 0] for x in (follow(network, start), spiral))
    distance = float(np.linalg.norm(found - true, axis=1).mean())
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    draw_losses(left, {"distance": losses})
    right.plot(*true.T, "o", markersize=3, label="the spiral's points")
    right.plot(*found.T, label="learnt")
    right.legend()
    figure.savefig(options.output, dpi=100)
    plt.close(figure)
    print(f"points are {distance:.3f} apart in the mean; picture: {options.output}")
    return distance


if __name__ == "__main__":
    if (_distance := main()) > GOAL:
        sys.exit(f"points are {_distance:.3f} apart, expected {GOAL}")
