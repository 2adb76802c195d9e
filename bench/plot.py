# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plot of the table: ratios to peers, the share of the roof, the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rows import AIM, Row, parts, prediction, share, speedup

MARKERS = "os^D"


def write(runs: Mapping[int, Sequence[Row]], peers: Sequence[str], output: str) -> None:
    """Write kernels-SIZE-CORES.svg into a folder for every table."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    for cores, size, rows in parts(runs):
        if not rows:
            continue
        figure, (ratios, roof, model) = plt.subplots(
            1, 3, sharey=True, figsize=(11, 1.2 + 0.16 * len(rows)), width_ratios=(3, 1, 1)
        )
        draw_ratios(ratios, rows, peers)
        roof.barh(range(len(rows)), [share(row) or 0 for row in rows], color="grey")
        roof.axvline(AIM, color="black", linewidth=0.8, linestyle=":")
        roof.set(xlabel="share of the roof")
        scatter(model, [prediction(row) for row in rows], color="grey")
        model.axvline(1, color="black", linewidth=0.8)
        model.set(xscale="log", xlabel="predicted over measured")
        figure.suptitle(f"{size} size, {cores} processor{'s' if cores > 1 else ''}", fontsize=9)
        figure.tight_layout()
        figure.savefig(Path(output) / f"kernels-{size}-{cores}.svg")
        plt.close(figure)


def draw_ratios(axes: Any, rows: Sequence[Row], peers: Sequence[str]) -> None:
    """Draw a mark for every workload and peer."""
    for peer, marker in zip(peers, MARKERS, strict=False):
        scatter(axes, [speedup(row, peer) for row in rows], label=peer, marker=marker)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="time of the peer over ours", ylim=(len(rows), -1))
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=6)
    axes.legend(fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(peers))
    axes.grid(axis="x", linewidth=0.3)


def scatter(axes: Any, values: Sequence[float | None], **style: Any) -> None:
    """Draw the values that there are, one a line."""
    known = [(value, line) for line, value in enumerate(values) if value is not None]
    axes.scatter([value for value, _ in known], [line for _, line in known], 14, **style)
