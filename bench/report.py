# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of kernels: ratios, shares of the roof, compile times."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import common
from common import Table
from workloads import NOTES

Row = dict[str, Any]

#: A row that is slower than a peer by more gets a line.
SLOW = 0.8


def dumps(rows: Sequence[Row]) -> str:
    """Return rows as JSON."""
    return json.dumps(rows)


def speedup(row: Row, peer: str) -> float | None:
    """Return the peer's time over ours: above 1 where we are faster."""
    seconds = row["seconds"]
    if peer not in seconds or "MetaOps" not in seconds:
        return None
    return seconds[peer] / seconds["MetaOps"]


def roof(row: Row) -> float:
    """Return the seconds that the machine needs at least: to move, or to compute."""
    return max(row["copy"], row["profile"]["flops"] / row["peak"])


def share(row: Row) -> float | None:
    """Return the roof's part of our time."""
    return roof(row) / row["seconds"]["MetaOps"] if row["seconds"] else None


def percent(value: float | None) -> str:
    """Return a share as text."""
    return "" if value is None else f"{100 * value:.0f}%"


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean of those that there are."""
    logs = [math.log(value) for value in values if value]
    return math.exp(sum(logs) / len(logs)) if logs else None


def progress(row: Row) -> str:
    """Return a row in one line."""
    if not row["seconds"]:
        return f"{row['name']} ({row['size']}): {row['skipped']}"
    times = ", ".join(f"{name} {1e6 * t:.1f}" for name, t in row["seconds"].items())
    line = f"{row['name']} ({row['size']}): us {times}; copy {1e6 * row['copy']:.1f}"
    return line + (f" DIFFERS {row['differences']}" if row["differences"] else "")


def explanation(row: Row) -> str:
    """Return what the profile shows, in a line."""
    profile, ideal = row["profile"], row["bytes"]
    kernels = profile["kernels"]
    outside = max(0.0, 1 - profile["seconds"] / row["seconds"]["MetaOps"])
    parts = [
        f"{sum(k['calls'] for k in kernels):.0f} kernels move"
        f" {profile['moved'] / max(ideal, 1):.2f} times the bytes",
        f"{100 * outside:.0f}% outside of kernels",
    ]
    for kernel in kernels[:2]:
        rate = kernel["bytes"] * kernel["calls"] / kernel["seconds"] * 1e-9
        operators = " ".join(kernel["operators"][:8])
        parts.append(f"{1e6 * kernel['seconds']:.0f} us at {rate:.1f} GB/s in ({operators})")
    return "; ".join(parts)


def kernel_table(rows: Sequence[Row], peers: Sequence[str], title: str, note: str) -> Table:
    """Return the ratios of one size and number of processors."""
    columns = ["workload", "MB", "us", *peers, "roof", "in kernels", "kernels", "moved"]
    table = Table(title, columns, note=note)
    groups = dict.fromkeys(row["group"] for row in rows)
    for group in groups:
        members = [row for row in rows if row["group"] == group and row["seconds"]]
        for row in members:
            seconds, profile = row["seconds"]["MetaOps"], row["profile"]
            calls = sum(kernel["calls"] for kernel in profile["kernels"])
            table.add(
                row["name"],
                row["bytes"] / 1e6,
                round(1e6 * seconds) if seconds > 1e-4 else 1e6 * seconds,
                *(speedup(row, peer) for peer in peers),
                percent(share(row)),
                percent(profile["seconds"] / seconds),
                round(calls),
                profile["moved"] / max(row["bytes"], 1),
            )
        add_mean(table, f"*{group}*", members, peers)
    add_mean(table, "**all**", [row for row in rows if row["seconds"]], peers)
    return table


def add_mean(table: Table, title: str, rows: Sequence[Row], peers: Sequence[str]) -> None:
    """Append geometric means of rows."""
    means = [geometric_mean([speedup(row, peer) for row in rows]) for peer in peers]
    table.add(
        title,
        None,
        None,
        *means,
        percent(geometric_mean([share(row) for row in rows])),
        "",
        None,
        None,
    )


def compile_table(runs: Mapping[int, Sequence[Row]], peers: Sequence[str]) -> Table:
    """Return what first calls take: median, largest and total."""
    table = Table(
        "First calls, seconds",
        ["library", "processors", "median", "largest", "total", "kernels, mean"],
        note="Each with an empty cache: recording or tracing, compiling and one run.",
    )
    for cores, rows in runs.items():
        for name in ("MetaOps", *peers):
            times = sorted(row["first"][name] for row in rows if name in row["first"])
            if not times:
                continue
            kernels = [len(row["profile"]["kernels"]) for row in rows if row["profile"]]
            mean = sum(kernels) / max(len(kernels), 1) if name == "MetaOps" else None
            table.add(name, cores, times[len(times) // 2], times[-1], sum(times), mean)
    return table


def slow_table(runs: Mapping[int, Sequence[Row]], peers: Sequence[str]) -> Table:
    """Return a line for every row that is slower than a peer."""
    table = Table(
        f"Rows under {SLOW} of a peer",
        ["workload", "size", "processors", "slowest beside", "ratio", "what the profile shows"],
    )
    for cores, rows in runs.items():
        for row in rows:
            ratios = {peer: speedup(row, peer) for peer in peers}
            known = {peer: ratio for peer, ratio in ratios.items() if ratio is not None}
            if known and min(known.values()) < SLOW:
                worst = min(known, key=lambda peer: known[peer])
                words = [NOTES.get(row["name"], ""), explanation(row)]
                text = ". ".join(word for word in words if word)
                table.add(row["name"], row["size"], cores, worst, known[worst], text)
    return table


def missing_table(runs: Mapping[int, Sequence[Row]]) -> Table:
    """Return what did not run, and what came out different."""
    table = Table("What is missing", ["workload", "size", "library", "why"])
    rows = next(iter(runs.values()), [])
    for row in rows:
        for kind in ("skipped", "differences"):
            for library, reason in row[kind].items():
                table.add(row["name"], row["size"], library, reason)
    return table


def write(runs: Mapping[int, Sequence[Row]], peers: Sequence[str], output: str | None) -> None:
    """Print all tables; write them, the rows and a plot into a folder."""
    tables = []
    note = (
        "Time of the peer over ours: above 1 we are faster. MB: each input and each result"
        " once. roof: the time to copy as many bytes, or to compute at the peak, over ours."
        " in kernels: the part of our time that kernels take. moved: the bytes that our"
        " kernels read and write, over MB."
    )
    for cores, rows in runs.items():
        for size in dict.fromkeys(row["size"] for row in rows):
            chosen = [row for row in rows if row["size"] == size]
            title = f"{size.capitalize()} size, {cores} processor{'s' if cores > 1 else ''}"
            tables.append(kernel_table(chosen, peers, title, note))
    tables += [compile_table(runs, peers), slow_table(runs, peers), missing_table(runs)]
    tables.append(roof_table(runs))
    common.write_report("kernels", tables, output)
    if output is not None:
        import plot

        common.Path(output, "kernels-rows.json").write_text(json.dumps(runs))
        plot.write(runs, peers, output)


def roof_table(runs: Mapping[int, Sequence[Row]]) -> Table:
    """Return the bandwidth of copies by their size, and the peak of computing."""
    table = Table(
        "The machine",
        ["processors", "MB", "copy, GB/s", "peak, GFLOP/s"],
        note=(
            "The faster of NumPy's and PyTorch's copy, read and written bytes together,"
            " the median over rows of a size; the peak is PyTorch's best matrix product."
        ),
    )
    for cores, rows in runs.items():
        groups: dict[int, list[Row]] = {}
        for row in rows:
            if row["seconds"] and row["bytes"] > 4096:
                groups.setdefault(round(math.log2(row["bytes"])), []).append(row)
        for power, members in sorted(groups.items()):
            rates = sorted(row["bytes"] / row["copy"] for row in members)
            table.add(
                cores, 2.0**power / 1e6, rates[len(rates) // 2] * 1e-9, members[0]["peak"] * 1e-9
            )
    return table
