# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plot of the table: each workload's ratio to its fastest peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write(runs: Mapping[int, Sequence[Any]], peers: Sequence[str], output: str) -> None:
    """Write kernels-SIZE-CORES.svg into a folder: ratios and the share of the roof."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from report import share, speedup

    for cores, rows in runs.items():
        for size in dict.fromkeys(row["size"] for row in rows):
            chosen = [row for row in rows if row["size"] == size and row["seconds"]]
            if not chosen:
                continue
            figure, (left, right) = plt.subplots(
                1, 2, sharey=True, figsize=(10, 1 + 0.16 * len(chosen)), width_ratios=(3, 1)
            )
            places = range(len(chosen))
            for peer, marker in zip(peers, "os^D", strict=False):
                known = [
                    (r, y)
                    for y, row in zip(places, chosen, strict=True)
                    if (r := speedup(row, peer)) is not None
                ]
                left.scatter(
                    [r for r, _ in known], [y for _, y in known], 14, label=peer, marker=marker
                )
            left.axvline(1, color="black", linewidth=0.8)
            left.set(xscale="log", xlabel="time of the peer over ours", ylim=(len(chosen), -1))
            left.set_yticks(list(places), [row["name"] for row in chosen], fontsize=6)
            left.legend(fontsize=7)
            left.grid(axis="x", linewidth=0.3)
            right.barh(list(places), [share(row) or 0 for row in chosen], color="grey")
            right.axvline(0.85, color="black", linewidth=0.8, linestyle=":")
            right.set(xlabel="share of the roof")
            figure.suptitle(f"{size} size, {cores} processors", fontsize=9)
            figure.tight_layout()
            figure.savefig(Path(output) / f"kernels-{size}-{cores}.svg")
            plt.close(figure)
