# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers of README.md, and the charts of README.md and docs/Results.md."""

from __future__ import annotations

import re
from collections.abc import Sequence

import charts
import kept
from common import Table
from kept import Line
from results_page import FOLDER, PEERS, step_table
from rows import SLOW, geometric_mean, plural

PAGE = kept.ROOT / "README.md"
CHARTS = kept.ROOT / "docs/images"

#: The peers of the front page: those that most workloads are measured beside.
SHOWN = PEERS[:3]

#: Marks between which `script/bench` writes in README.md.
BEGIN, END = "<!-- numbers by script/bench results -->", "<!-- end of numbers -->"

#: Groups of contractions that stand in one line, by the beginnings of their names.
CONTRACTIONS = {
    "matrix products": "products",
    "convolutions and their gradients": "convolutions",
    "depthwise convolutions and gradients": "depthwise",
    "attention, dense layers and MLPs": "blocks",
}


class Part:
    """Rows of which the front page has a line."""

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self.name, self.count = name, len(lines)
        ratios = [[line.get(peer) for peer in SHOWN] for line in lines]
        self.means = [geometric_mean(column) for column in zip(*ratios, strict=True)]
        self.slow = sum(any((ratio or SLOW) < SLOW for ratio in row) for row in ratios)


def find_steps(cores: int) -> list[Line]:
    """Return the ratios of training steps, a line for each model."""
    steps = kept.read(FOLDER / "steps.csv")
    table = step_table([line for line in steps if line["processors"] == cores])
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [line for line in lines if not line["model"].startswith("**")]


def find_parts(cores: int) -> list[Part]:
    """Return the lines of the front page, of runs on so many processors."""
    parts = [Part("training steps of models", find_steps(cores))]
    rows = [line for line in kept.read(FOLDER / "kernels.csv") if line["processors"] == cores]
    for size in ("large", "small"):
        lines = [line for line in rows if line["size"] == size]
        parts.append(Part(f"operators and small networks, {size}", lines))
    rows = kept.read(FOLDER / "contractions.csv")
    rows = [line for line in rows if line["processors"] == cores]
    for name, group in CONTRACTIONS.items():
        parts.append(Part(name, [line for line in rows if line["group"].startswith(group)]))
    return parts


def count_cores() -> int:
    """Return the most processors of a run."""
    return max(line["processors"] for line in kept.read(FOLDER / "kernels.csv"))


def write_numbers() -> str:
    """Return the table of README.md, and what it is of."""
    cores = count_cores()
    table = Table("", ["", "rows", *SHOWN, f"under {SLOW}"])
    for part in find_parts(cores):
        table.add(part.name, part.count, *part.means, part.slow)
    run = {line["key"]: line["value"] for line in kept.read(FOLDER / "run.csv")}
    lines = table.markdown().split("\n\n", 1)[1]
    return (
        f"{lines}\nGeometric means of the peer's time over ours, in float32, on"
        f" {plural(cores, 'processor')} ({run['processor']}): above 1 MetaOps is faster."
        f" PyTorch {run['torch']}, JAX {run['jax']}. *Under {SLOW}*: rows in which some peer is"
        f" clearly faster."
    )


def write_page(page: str) -> str:
    """Return README.md with the numbers of the files."""
    place = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?=\n{re.escape(END)})", re.S)
    return place.sub(lambda _: write_numbers(), page)


def draw_groups(cores: int, size: str) -> str:
    """Return the chart of the groups of workloads at a size."""
    rows = [
        line
        for line in kept.read(FOLDER / "kernels.csv")
        if (line["processors"], line["size"]) == (cores, size)
    ]
    parts = [Part(name, lines) for (name,), lines in kept.parts(rows, ("group",)).items()]
    title = f"Groups of workloads, {size} size, {plural(cores, 'processor')}"
    return draw(title, parts)


def draw(title: str, parts: Sequence[Part]) -> str:
    """Return the chart of some lines."""
    bars = [(part.name, part.means) for part in parts]
    return charts.write_bars(f"{title}: the peer's time over ours", bars, SHOWN)


def draw_charts() -> dict[str, str]:
    """Return the charts, by the names of their files."""
    cores = count_cores()
    steps = [Part(line["model"].split(", ")[0], [line]) for line in find_steps(cores)]
    return {
        "peers.svg": draw("MetaOps beside its peers", find_parts(cores)),
        "steps.svg": draw(f"Training steps, {plural(cores, 'processor')}", steps),
        "large.svg": draw_groups(cores, "large"),
        "small.svg": draw_groups(cores, "small"),
    }


def write() -> None:
    """Write the numbers and the charts anew."""
    PAGE.write_text(write_page(PAGE.read_text()))
    CHARTS.mkdir(exist_ok=True)
    for name, chart in draw_charts().items():
        (CHARTS / name).write_text(chart)
    print(f"wrote the numbers of {PAGE} and the charts in {CHARTS}")
