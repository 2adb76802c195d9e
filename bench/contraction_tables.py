# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of contractions: ratios to peers and shares of the processor's peak, by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common import Table
from rows import (
    SLOW,
    Row,
    at_peak,
    geometric_mean,
    mean_share,
    microseconds,
    percent,
    plural,
    share,
    slower,
    speedup,
    turns_note,
)

Runs = Mapping[Any, Sequence[Row]]

NOTE = (
    "Time of the peer over ours: above 1 we are faster. peak: the multiplications and additions"
    " of the contraction over those that the processor did at best in the same turns; of ours,"
    " and of the peer that is fastest. roof: the time to read and write as many bytes, or to"
    " compute at the peak, over ours."
)


def peer_peak(row: Row, peers: Sequence[str]) -> float | None:
    """Return the share of the peak that the fastest peer gets to."""
    return max((part for peer in peers if (part := at_peak(row, peer))), default=None)


def means(rows: Sequence[Row], peers: Sequence[str]) -> list[float | str | None]:
    """Return geometric means: ratios to peers, ours and their share of the peak, the roof's."""
    return [
        *(geometric_mean([speedup(row, peer) for row in rows]) for peer in peers),
        percent(geometric_mean([at_peak(row, "MetaOps") for row in rows])),
        percent(geometric_mean([peer_peak(row, peers) for row in rows])),
        percent(mean_share(rows)),
    ]


def summary_table(runs: Runs, peers: Sequence[str]) -> Table:
    """Return a line for every group."""
    table = Table(
        "Contractions",
        [
            "group",
            "processors",
            "rows",
            *peers,
            "peak",
            "peers' peak",
            "roof",
            "peak, GFLOP/s",
            f"under {SLOW}",
        ],
        note=(
            "Geometric means of the peer's time over ours, and of shares of the processor's peak."
            f" Under {SLOW}: rows that are beside some peer."
        ),
    )
    for cores, rows in runs.items():
        groups = dict.fromkeys(row["group"] for row in rows)
        parts = {group: [row for row in rows if row["group"] == group] for group in groups}
        for title, members in {**parts, "**all**": rows}.items():
            peaks = sorted(row["peak"] for row in members)
            table.add(
                title,
                cores,
                len(members),
                *means(members, peers),
                round(peaks[len(peaks) // 2] * 1e-9),
                sum(bool(slower(row, peers)) for row in members),
            )
    return table


def group_table(title: str, rows: Sequence[Row], peers: Sequence[str]) -> Table:
    """Return a line for every contraction of a group."""
    table = Table(
        title,
        ["contraction", "MFLOP", "us", *peers, "peak", "peers' peak", "roof"],
        note=f"{turns_note(rows)} {NOTE}",
    )
    for row in rows:
        seconds = row["seconds"]["MetaOps"]
        table.add(
            row["name"],
            row["flops"] * 1e-6,
            microseconds(seconds),
            *(speedup(row, peer) for peer in peers),
            percent(at_peak(row, "MetaOps")),
            percent(peer_peak(row, peers)),
            percent(share(row)),
        )
    table.add("*geometric means*", None, None, *means(rows, peers))
    return table


def rows_table(runs: Runs, peers: Sequence[str]) -> Table:
    """Return a line for each contraction and number of processors, for what is kept."""
    columns = ["contraction", "group", "processors", "turns", "MFLOP", "us", *peers]
    columns += ["peak", "peers' peak", "roof", "peak GFLOP/s"]
    table = Table("Contractions", columns)
    for cores, rows in runs.items():
        for row in rows:
            if row["seconds"]:
                table.add(
                    *(row["name"], row["group"], cores, row["rounds"], row["flops"] * 1e-6),
                    1e6 * row["seconds"]["MetaOps"],
                    *(speedup(row, peer) for peer in peers),
                    *(at_peak(row, "MetaOps"), peer_peak(row, peers), share(row)),
                    row["peak"] * 1e-9,
                )
    return table


def tables(runs: Runs, peers: Sequence[str]) -> list[Table]:
    """Return the summary and a table for every group and number of processors."""
    runs = {cores: [row for row in rows if row["seconds"]] for cores, rows in runs.items()}
    result = [summary_table(runs, peers)]
    for group in dict.fromkeys(row["group"] for rows in runs.values() for row in rows):
        for cores, rows in runs.items():
            members = [row for row in rows if row["group"] == group]
            if members:
                title = f"{group.capitalize()}, {plural(cores, 'processor')}"
                result.append(group_table(title, members, peers))
    return result
