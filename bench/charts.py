# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bar charts of ratios, as SVG whose text follows from the numbers alone.

Documents show them, and a test compares each with the files that it is written from. So
they have no dates, and no fonts or numbers of a plotting library's version.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from common import shown

#: A name and, for each series, the ratio or None.
Bars = tuple[str, Sequence[float | None]]

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd")
WIDTH, LEFT, RIGHT = 760, 250, 50
TOP, BAR, GAP, BOTTOM = 52, 9, 8, 20

STYLE = (
    "text{font:11px sans-serif;fill:#222}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".value{font-size:8px}.title{font-size:13px;font-weight:bold}"
    ".grid{stroke:#ddd}.one{stroke:#222}"
)


class Axis:
    """A logarithmic axis, cut off where a few long bars would shorten all others."""

    LAST = 8.0

    def __init__(self, rows: Sequence[Bars]) -> None:
        ratios = [ratio for _, values in rows for ratio in values if ratio]
        self.first = 2.0 ** math.floor(math.log2(min([0.5, *ratios])))
        exponents = range(round(math.log2(self.first)), round(math.log2(self.LAST)) + 1)
        self.ticks = [2.0**exponent for exponent in exponents]

    def place(self, ratio: float) -> float:
        """Return how far to the right a ratio is."""
        share = math.log(min(ratio, self.LAST) / self.first) / math.log(self.LAST / self.first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def text(x: float, y: float, content: str, kind: str = "") -> str:
    """Return a line of text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(content)}</text>'


def bar(axis: Axis, ratio: float, y: float, colour: str) -> list[str]:
    """Return a bar from 1 to a ratio, and the number beside it."""
    one, end = axis.place(1), axis.place(ratio)
    x, width = min(one, end), round(abs(end - one), 1)
    number = shown(ratio) + (" →" if ratio > axis.LAST else "")
    return [
        f'<rect x="{x}" y="{y}" width="{width}" height="{BAR - 1}" fill="{colour}"/>',
        text(max(one, end) + 3, y + BAR - 2, number, "value"),
    ]


def write_bars(title: str, rows: Sequence[Bars], series: Sequence[str]) -> str:
    """Return a chart of bars from 1 to the right where we are faster, else to the left."""
    axis = Axis(rows)
    step = BAR * len(series) + GAP
    bottom = TOP + step * len(rows)
    lines = [text(8, 16, title, "title")]
    for number, name in enumerate(series):
        x = LEFT + 130 * number
        lines += [
            f'<rect x="{x}" y="24" width="10" height="10" fill="{COLOURS[number]}"/>',
            text(x + 14, 33, name),
        ]
    for tick in axis.ticks:
        kind, place = ("one" if tick == 1 else "grid"), axis.place(tick)
        lines.append(f'<path class="{kind}" d="M{place} {TOP - 6}V{bottom}"/>')
        lines.append(text(place, bottom + 14, f"{tick:g}", "middle"))
    for row, (name, ratios) in enumerate(rows):
        y = TOP + step * row
        lines.append(text(LEFT - 10, y + step / 2, name, "end"))
        for number, ratio in enumerate(ratios):
            if ratio:
                lines += bar(axis, ratio, y + BAR * number, COLOURS[number])
    height = bottom + BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *lines,
            "</svg>\n",
        ]
    )
