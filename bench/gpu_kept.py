# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the repository keeps of runs on GPUs: results/gpu/.

    gpu_kept.py keep FOLDER NAME     of what gpu_contact.py wrote in FOLDER, in results/gpu/NAME
    gpu_kept.py compare OLD NEW      tell what became faster between two folders or names
    gpu_kept.py predict              what runs timed, by the model as it is, without a GPU
    gpu_kept.py tables               written anew in results/gpu/README.md, from what is kept

contact.txt is the summary, and rates.csv has a line for each workload and size, with the
prediction of the run's own commit. predicted.csv has those of the model as it is.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import pstdev
from typing import Any

import gpu_audit
import metaops as mo
from contact.child import Record, without_folders
from contact.compare import Times, compare, of_lines
from contact.controller import Options, Part
from contact.table import (
    COLD_MARK,
    COMPILED,
    EAGER,
    HOST_MARK,
    TF32,
    geometric_mean,
    number,
    summary,
    timed,
)
from workloads import WORKLOADS

KEPT = Path(__file__).resolve().parents[1] / "results" / "gpu"
PEERS = {"eager_us": EAGER, "tf32_us": TF32, "compile_us": COMPILED}
NUMBERS = ("us", "warm_us", "host_us", "events_us", "predicted_us", *PEERS, "bytes", "flops")
COLUMNS = ("workload", "size", "group", *NUMBERS, "cold", "blocks", "threads")
RATES = "rates.csv"
#: Predictions of the model as it is, for the card that the runs had.
PREDICTED = "predicted.csv"
CHIP, CARD = "sm_90a", "H100"
PREDICTED_COLUMNS = ("workload", "size", "predicted_us", "bound", "grids")
BY_HOST = "with routines of the host"
#: Groups of workloads that are bound by the same.
FAMILIES = {
    "memory": ("broadcast", "movement", "element-wise", "reductions", "norms", "networks"),
    "prefixes and the like": ("orders",),
    "products": ("products", "blocks"),
    "convolutions": ("convolutions", "convolutions by image", "convolutions by weights"),
    "depthwise": ("depthwise", "depthwise by image", "depthwise by weights"),
    BY_HOST: (),
}
#: A prediction that is further off is to be mended.
OFF = 3.0

# Keeping


def rates(records: Sequence[Record]) -> list[Record]:
    """Return the lines of rates.csv."""
    lines = []
    for row in timed(list(records)):
        kernels = [one for one in row.get("activities", ()) if "grid" in one]
        longest = max(kernels, key=lambda one: one["us"], default=None)
        peers = {key: row["ratios"].get(peer) for key, peer in PEERS.items()}
        line: Record = {
            "workload": row["workload"],
            "size": row["size"].removesuffix(HOST_MARK).removesuffix(COLD_MARK),
            "group": WORKLOADS[row["workload"]].group,
            "us": row["seconds"] * 1e6,
            "cold": "yes" if row["is cold"] else "",
            "warm_us": row["warm"] * 1e6,
            "host_us": row["of host"] * 1e6,
            "events_us": row["by events"] * 1e6,
            "predicted_us": row["predicted"] * 1e6,
            "bytes": row["bytes"],
            "flops": row["flops"],
        }
        line |= {key: row["seconds"] * 1e6 * r if r else "" for key, r in peers.items()}
        if longest:
            line |= {"blocks": product(longest["grid"]), "threads": product(longest["block"])}
        lines.append(line)
    return sorted(lines, key=lambda line: (line["group"], line["workload"], line["size"]))


def product(extents: Iterable[int]) -> int:
    """Return it."""
    total = 1
    for extent in extents:
        total *= extent
    return total


def keep(folder: Path, name: str) -> None:
    """Keep a run."""
    text = (folder / "contact.jsonl").read_text()
    records = [without_folders(json.loads(line)) for line in text.splitlines()]
    parts = []
    for record in records:
        if record["part"] == "ended":
            parts.append(Part(record["of"], record["items"], record["unbegun"], record["seconds"]))
    budget = next((record["budget"] for record in records if "budget" in record), 0)
    options = Options((), folder, budget)
    (KEPT / name).mkdir(parents=True, exist_ok=True)
    told = summary(records, parts, records[-1]["at"], options)
    told = "".join(line.rstrip() + "\n" for line in told.splitlines())
    (KEPT / name / "contact.txt").write_text(told)
    write_rates(KEPT / name / RATES, records)


def write_rates(path: Path, records: Sequence[Record]) -> None:
    """Write a line for each workload and size: what is measured, predicted, and by peers."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for line in rates(records):
            rounded = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
            writer.writerow(rounded)


# Predicting


def grid_of(blocks: Any, threads: Any) -> str:
    """Return a grid as a word."""
    return f"{blocks}x{threads}"


def predict(workload: str, size: str) -> Record | None:
    """Return what the model says of a workload, or nothing of one without kernels."""
    values = gpu_audit.record(WORKLOADS[workload], size, "float32")
    explanation = mo.explain(values, target=f"cuda:{CHIP}")
    grids = [kernel.grid for kernel in explanation.kernels if kernel.grid]
    if not grids:
        return None
    longest = max(grids, key=lambda grid: grid.predicted_seconds[CARD])
    return {
        "workload": workload,
        "size": size,
        "predicted_us": f"{explanation.predicted_seconds * 1e6:.6g}",
        "bound": longest.bounds[CARD],
        "grids": " ".join(dict.fromkeys(grid_of(grid.blocks, grid.threads) for grid in grids)),
    }


def write_predictions() -> None:
    """Write what the model says of all that the kept runs have timed."""
    timed_rows = {
        (line["workload"], line["size"]): None
        for file in sorted(KEPT.glob(f"*/{RATES}"))
        for line in read(file)
        if not line["host_us"]
    }
    with (KEPT / PREDICTED).open("w", newline="") as file:
        writer = csv.DictWriter(file, PREDICTED_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(filter(None, (predict(*key) for key in timed_rows)))


# Tables


def read(file: Path) -> list[Record]:
    """Return the lines of rates.csv, without the numbers that are not there."""
    with file.open(newline="") as lines:
        return [
            {key: float(v) if key in NUMBERS else v for key, v in line.items() if v != ""}
            for line in csv.DictReader(lines)
        ]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, all columns but the first to the right."""
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [head, f"| --- |{' ---: |' * (len(rows[0]) - 1)}", *body]


def headlines(lines: Sequence[Record]) -> list[str]:
    """Return what there is to say of families: peers' times over ours, and rates."""
    titles = ["", "rows", "eager", "TF32", "compile", "faster than eager", "GB/s", "TFLOP/s"]
    body = [titles]
    for family, groups in FAMILIES.items():
        if family == BY_HOST:
            of = [line for line in lines if line["host_us"]]
        else:
            of = [line for line in lines if line["group"] in groups and not line["host_us"]]
        if not of:
            continue
        cells = [family, str(len(of))]
        for key in PEERS:
            peer = [one for one in of if key in one]
            cells.append(number(geometric_mean(one[key] / one["us"] for one in peer)))
        cells.append(str(sum(one.get("eager_us", 0) > one["us"] for one in of)))
        cells.append(number(geometric_mean(one["bytes"] / one["us"] / 1e3 for one in of)))
        cells.append(number(geometric_mean(one["flops"] / one["us"] / 1e6 for one in of)))
        body.append(cells)
    return table(body)


def same_kernels(lines: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return lines with their predictions of now, if the longest kernel is one there still."""
    path = KEPT / PREDICTED
    now = {(one["workload"], one["size"]): one for one in (read(path) if path.exists() else ())}
    pairs = [(line, now.get((line["workload"], line["size"]))) for line in lines]
    return [
        (line, of)
        for line, of in pairs
        if of and grid_of(line.get("blocks"), line.get("threads")) in of["grids"].split()
    ]


def spread(ratios: Iterable[float]) -> float:
    """Return the factor that two thirds of ratios are within of their geometric mean."""
    return math.exp(pstdev(map(math.log, ratios)))


def predictions(lines: Sequence[Record]) -> list[str]:
    """Return how measured times compare with predicted ones, by groups."""
    groups: dict[str, list[tuple[Record, Record]]] = {}
    for line, now in same_kernels([line for line in lines if not line["host_us"]]):
        groups.setdefault(line["group"], []).append((line, now))
    groups["all"] = [pair for pairs in groups.values() for pair in pairs]
    titles = ["", "rows", "mean then", "spread then", "mean", "spread", "off by more", "least"]
    body = [[*titles, "most", "most in", "by"]]
    for group, members in groups.items():
        then = [line["us"] / line["predicted_us"] for line, _ in members]
        times = [line["us"] / now["predicted_us"] for line, now in members]
        if not times:
            continue
        off = sum(not 1 / OFF <= ratio <= OFF for ratio in times)
        worst, why = members[times.index(max(times))]
        cells = [group, str(len(members))]
        for ratios in (then, times):
            cells += [number(geometric_mean(ratios)), number(spread(ratios))]
        cells += [str(off), number(min(times)), number(max(times))]
        body.append([*cells, worst["workload"], why["bound"]])
    return table(body)


def write_tables() -> None:
    """Write the tables of all runs that the page has places for."""
    page = KEPT / "README.md"
    text = page.read_text()
    for file in sorted(KEPT.glob(f"*/{RATES}")):
        lines = read(file)
        for what, made in (("headlines", headlines(lines)), ("predictions", predictions(lines))):
            begin, end = f"<!-- {what} of {file.parent.name} -->", f"<!-- end of {what} -->"
            place = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.S)
            text = place.sub("\n".join(["", *made, ""]), text)
    page.write_text(text)


def times(name: str) -> Times:
    """Return the times of a run, by what it is called in results/gpu or by its folder."""
    for folder in (KEPT / name, Path(name)):
        if (folder / RATES).exists():
            return of_lines(read(folder / RATES))
    raise SystemExit(f"gpu_kept: there is no {RATES} in {name} or {KEPT / name}")


def main() -> None:
    """Keep a run, compare two, or write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    keeping = commands.add_parser("keep")
    keeping.add_argument("folder", type=Path)
    keeping.add_argument("name")
    commands.add_parser("predict")
    commands.add_parser("tables")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old")
    comparing.add_argument("new")
    given = parser.parse_args()
    if given.command == "compare":
        print("\n".join(compare(times(given.old), times(given.new))))
        return
    if given.command == "keep":
        keep(given.folder, given.name)
    if given.command != "tables":
        write_predictions()
    write_tables()


if __name__ == "__main__":
    main()
