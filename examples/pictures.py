# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what the examples have learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np


def draw_losses(axes: Any, losses: Mapping[str, Sequence[float]]) -> None:
    """Draw losses of steps, of one or several names."""
    for name, values in losses.items():
        axes.plot(values, linewidth=0.8, label=name)
    axes.set(xlabel="step", title="training")
    axes.legend()


def draw_images(
    path: str, rows: Mapping[str, np.ndarray], losses: Mapping[str, Sequence[float]]
) -> None:
    """Save losses, and beside them rows of images (N, H, W), each row with the same greys."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 2 + len(rows)), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2))
    draw_losses(left.subplots(), losses)
    count = max(map(len, rows.values()))
    grid = right.subplots(len(rows), count, squeeze=False)
    for axes, (name, images) in zip(grid, rows.items(), strict=True):
        axes[0].set_title(name, loc="left", fontsize=9)
        for place in axes:
            place.axis("off")
        for place, image in zip(axes, images, strict=False):
            place.imshow(image, cmap="gray_r", vmin=images.min(), vmax=images.max())
    figure.savefig(path, dpi=100)
    plt.close(figure)
