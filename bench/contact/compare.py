# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two commits beside each other: what became faster between them, and what slower."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workloads import WORKLOADS

from .child import Record
from .table import aligned, geometric_mean, number, timed

#: By a workload and a size: the seconds of a call, cold if they are known, and warm.
Times = dict[tuple[str, str], dict[str, float]]
#: Times are apart if they are by more than this, which runs of one commit are not.
APART = 1.05
MOST = 15


def of_records(records: Sequence[Record], part: str) -> Times:
    """Return the times among the results of a part of a contact."""
    rows = timed([{**record, "part": "rates"} for record in records if record["part"] == part])
    times: Times = {}
    for row in rows:
        size = row["size"].split(" ")[0]
        times[row["workload"], size] = {"warm": row["warm"]}
        if row["is cold"]:
            times[row["workload"], size]["cold"] = row["seconds"]
    return times


def of_lines(lines: Iterable[Record]) -> Times:
    """Return the times of the lines of rates.csv, which at first had no cold ones."""
    times: Times = {}
    for line in lines:
        row = {"warm": line.get("warm_us", line["us"]) / 1e6}
        if line.get("cold"):
            row["cold"] = line["us"] / 1e6
        times[line["workload"], line["size"]] = row
    return times


def compare(old: Times, new: Times) -> list[str]:
    """Return, by groups and for the rows that changed most, old times over new ones."""
    ratios: dict[tuple[str, str], float] = {}
    kinds: dict[tuple[str, str], str] = {}
    for row in old.keys() & new.keys():
        kind = "cold" if "cold" in old[row] and "cold" in new[row] else "warm"
        ratios[row], kinds[row] = old[row][kind] / new[row][kind], kind
    if not ratios:
        return ["No row was timed in both."]
    groups: dict[str, list[float]] = {"all": list(ratios.values())}
    for row in sorted(ratios, key=lambda row: list(WORKLOADS).index(row[0])):
        groups.setdefault(WORKLOADS[row[0]].group, []).append(ratios[row])
    body = [["old over new", "rows", "mean", "faster", "slower", "least", "most"]]
    for group, found in groups.items():
        faster, slower = sum(r > APART for r in found), sum(r < 1 / APART for r in found)
        cells = [number(value) for value in (geometric_mean(found), min(found), max(found))]
        body.append([group, str(len(found)), cells[0], str(faster), str(slower), *cells[1:]])
    cold = sum(kind == "cold" for kind in kinds.values())
    lines = ["Old times over new ones: above 1, the new commit is faster. Means are geometric."]
    lines += [f"{cold} of {len(ratios)} rows are cold. Only in one: {len(old.keys() ^ new.keys())}"]
    lines += aligned(body)
    order = sorted(ratios, key=ratios.__getitem__)
    slower_rows = [row for row in order if ratios[row] < 1 / APART][:MOST]
    faster_rows = [row for row in reversed(order) if ratios[row] > APART][:MOST]
    for name, rows in (("slower", slower_rows), ("faster", faster_rows)):
        told = [[name, "old us", "new us", "old over new"]]
        for row in rows:
            times = [number(side[row][kinds[row]] * 1e6) for side in (old, new)]
            told.append([f"{row[0]}, {row[1]}", *times, number(ratios[row])])
        lines += ["", *aligned(told)] if rows else ["", f"No row is {name} by 5%."]
    return lines
