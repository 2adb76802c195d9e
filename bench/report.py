# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of kernels: ratios, shares of the roof, predictions, compile times."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import common
import contraction_tables
import front_page
import kept
import results_page
from common import Table
from rows import (
    AIM,
    OVER,
    SLOW,
    SLOW_PEERS,
    Row,
    beyond,
    bound,
    compile_times,
    contractions,
    geometric_mean,
    is_slow_for_peers,
    kernels,
    mean_share,
    microseconds,
    parts,
    percent,
    plural,
    prediction,
    share,
    slower,
    speedup,
    spread,
    turns_note,
)
from workloads import NOTES

Runs = Mapping[int, Sequence[Row]]


def progress(row: Row) -> str:
    """Return a row in one line."""
    if not row["seconds"]:
        return f"{row['name']} ({row['size']}): {row['skipped']}"
    times = ", ".join(f"{name} {1e6 * t:.1f}" for name, t in row["seconds"].items())
    line = f"{row['name']} ({row['size']}): us {times}; roof {1e6 * row['moving']:.1f}"
    return line + (f" DIFFERS {row['differences']}" if row["differences"] else "")


# Ratios


SUMMARY_NOTE = (
    "Geometric means of the peer's time over ours: above 1 we are faster. In brackets: the"
    f" rows that the peer has. Under {SLOW}: rows that are beside some peer. Roof: the"
    " geometric mean of its share of our time, where a share above 100% counts as 100%."
)


def summary_tables(runs: Runs, peers: Sequence[str]) -> list[Table]:
    """Return means over all workloads, and over those that no peer is known to be slow at."""
    kept = {
        cores: [row for row in rows if not is_slow_for_peers(row)] for cores, rows in runs.items()
    }
    left_out = sorted({row["name"] for rows in runs.values() for row in rows} - _names(kept))
    tables = [summary_table(runs, peers, "All workloads", SUMMARY_NOTE)]
    if left_out and _names(kept):
        patterns = ", ".join(pattern.strip("* ") for pattern in SLOW_PEERS)
        note = (
            f"The same without what peers are known to be slow at ({patterns}):"
            f" {plural(len(left_out), 'workload')} fewer."
        )
        tables.append(summary_table(kept, peers, "Without what peers are slow at", note))
    return tables


def _names(runs: Runs) -> set[str]:
    return {row["name"] for rows in runs.values() for row in rows}


def summary_table(runs: Runs, peers: Sequence[str], title: str, note: str) -> Table:
    """Return geometric means over all workloads."""
    columns = ["size", "processors", "rows", *peers, "all peers", f"under {SLOW}", "roof"]
    table = Table(title, columns, note=note)

    def add(size: str, cores: int, rows: Sequence[Row]) -> None:
        cells, every = [], []
        for peer in peers:
            known = [ratio for row in rows if (ratio := speedup(row, peer))]
            every += known
            mean = geometric_mean(known)
            cells.append("" if mean is None else f"{common.shown(mean)} ({len(known)})")
        table.add(
            size,
            cores,
            len(rows),
            *cells,
            geometric_mean(every),
            sum(bool(slower(row, peers)) for row in rows),
            percent(mean_share(rows)),
        )

    for cores, size, rows in parts(runs):
        add(size, cores, rows)
    for cores, every in runs.items():
        if len({row["size"] for row in every}) > 1:
            add("both", cores, [row for row in every if row["seconds"]])
    return table


def kernel_table(rows: Sequence[Row], peers: Sequence[str], title: str, note: str) -> Table:
    """Return the ratios of one size and number of processors."""
    columns = ["workload", "MB", "us", *peers, "roof", "in kernels", "kernels", "moved"]
    table = Table(title, [*columns, "predicted us", "predicted/measured"], note=note)
    for group in dict.fromkeys(row["group"] for row in rows):
        members = [row for row in rows if row["group"] == group]
        for row in members:
            add_row(table, row, peers)
        add_mean(table, f"*{group}*", members, peers)
    add_mean(table, "**all**", rows, peers)
    return table


def add_row(table: Table, row: Row, peers: Sequence[str]) -> None:
    """Append a workload."""
    seconds, profile = row["seconds"]["MetaOps"], row["profile"]
    table.add(
        row["name"],
        row["bytes"] / 1e6,
        microseconds(seconds),
        *(speedup(row, peer) for peer in peers),
        percent(share(row)),
        percent(profile["seconds"] / seconds),
        round(sum(kernel["calls"] for kernel in profile["kernels"])),
        profile["moved"] / max(row["bytes"], 1),
        microseconds(profile["predicted"]),
        prediction(row),
    )


def add_mean(table: Table, title: str, rows: Sequence[Row], peers: Sequence[str]) -> None:
    """Append geometric means of rows."""
    ratios = [geometric_mean([speedup(row, peer) for row in rows]) for peer in peers]
    roof = percent(mean_share(rows))
    predicted = geometric_mean(map(prediction, rows))
    table.add(title, None, None, *ratios, roof, "", None, None, None, predicted)


# The roof and the cost model


def share_table(runs: Runs) -> Table:
    """Return the share of the roof of every group beyond the caches."""
    table = Table(
        "Share of the roof at the large size",
        [
            "group",
            "processors",
            "rows",
            "mean",
            f"rows over {percent(OVER)}",
            f"rows under {percent(AIM)}",
        ],
        note=(
            "Geometric means, where a share above 100% counts as 100%: it is an error of the"
            f" roof. Those over {percent(OVER)} are counted. The roof is to read and write as"
            " many bytes, or the peak of FMA where the name of the row says so."
        ),
    )
    for cores, size, rows in parts(runs):
        if size != "large":
            continue
        for group in dict.fromkeys(row["group"] for row in rows):
            members = [row for row in rows if row["group"] == group]
            low = [(part, row) for row in members if (part := share(row) or 0) < AIM]
            low.sort(key=lambda pair: pair[0])
            names = ", ".join(
                f"{row['name']} {'(FMA) ' if bound(row) == 'FMA' else ''}{percent(part)}"
                for part, row in low
            )
            table.add(
                group, cores, len(members), percent(mean_share(members)), beyond(members), names
            )
    return table


def prediction_table(runs: Runs) -> Table:
    """Return how far the cost model is off."""
    table = Table(
        "The cost model",
        ["size", "processors", "predicted/measured", "spread", "lowest", "highest"],
        note=(
            "The time that the model predicts of a row's kernels, with figures measured"
            " before on one processor, over the time that they took. The spread is the"
            " factor that two thirds of the rows are off the geometric mean by, at most."
        ),
    )
    for cores, size, rows in parts(runs):
        known = sorted((ratio, row["name"]) for row in rows if (ratio := prediction(row)))
        if not known:
            continue
        ratios = [ratio for ratio, _ in known]
        ends = [f"{common.shown(ratio)} {name}" for ratio, name in (known[0], known[-1])]
        table.add(size, cores, geometric_mean(ratios), spread(ratios), *ends)
    return table


def machine_table(runs: Runs) -> Table:
    """Return the bandwidth of the roof by size, and the peak of computing."""
    table = Table(
        "The machine",
        ["processors", "MB", "moved, GB/s", "peak, GFLOP/s"],
        note=(
            "Bytes of the roof, read and written together, the median over rows of a size;"
            " the peak is that of multiplications and additions in registers, their median too."
        ),
    )
    for cores, rows in runs.items():
        groups: dict[int, list[Row]] = {}
        for row in rows:
            if row["seconds"] and row["bytes"] > 4096:
                groups.setdefault(round(math.log2(row["bytes"])), []).append(row)
        for power, members in sorted(groups.items()):
            moved = median(row["bytes"] / row["moving"] for row in members)
            peak = median(row["peak"] for row in members)
            table.add(cores, 2.0**power / 1e6, moved * 1e-9, peak * 1e-9)
    return table


# Compile times


def compile_table(runs: Runs) -> Table:
    """Return what a kernel of ours takes to compile: median, largest and total."""
    table = Table(
        "Compiling, milliseconds a kernel",
        ["size", "processors", "programs", "kernels", "median", "largest", "total"],
        note=(
            "From the operators to machine code, as the session counts it. Kernels of a row"
            " are compiled together: each gets the row's mean. Those that an earlier row has"
            " compiled, for other extents too, are not compiled again."
        ),
    )
    for cores, size, rows in parts(runs):
        times = compile_times(rows)
        if not times:
            continue
        programs = sum(row["compiled"]["programs"] for row in rows)
        total = sum(row["compiled"]["seconds"] for row in rows)
        milliseconds = (1e3 * times[len(times) // 2], 1e3 * times[-1], 1e3 * total)
        table.add(size, cores, programs, len(times), *milliseconds)
    return table


def caches_note(runs: Runs) -> str:
    """Return who found on disk what an earlier process had compiled, in a sentence."""
    warm: dict[str, list[str]] = {}
    for cores, rows in runs.items():
        for name in {name for row in rows for name in row["warm"]}:
            warm.setdefault(name, []).append(str(cores))
    if not warm:
        return "Caches on disk were empty at the start of each run."
    found = "; ".join(
        f"{name} ({' and '.join(cores)} processors)" for name, cores in sorted(warm.items())
    )
    return f"Caches on disk held what an earlier run had compiled: {found}."


def first_table(runs: Runs, peers: Sequence[str]) -> Table:
    """Return what first calls take: median, largest and total."""
    table = Table(
        "First calls, seconds",
        ["size", "processors", "library", "rows", "median", "largest", "total"],
        note=(
            "Tensors from arrays, recording or tracing, compiling and one run."
            f" {caches_note(runs)} Within a run, MetaOps in memory and torch.compile on disk"
            " find what earlier rows have compiled."
        ),
    )
    for cores, size, rows in parts(runs):
        for name in ("MetaOps", *peers):
            times = sorted(row["first"][name] for row in rows if name in row["first"])
            if times:
                middle = times[len(times) // 2]
                table.add(size, cores, name, len(times), middle, times[-1], sum(times))
    return table


# Rows that need words


def explanation(row: Row) -> str:
    """Return what the profile shows, in a line."""
    profile, ideal = row["profile"], row["bytes"]
    kernels = profile["kernels"]
    outside = max(0.0, 1 - profile["seconds"] / row["seconds"]["MetaOps"])
    calls = plural(round(sum(k["calls"] for k in kernels)), "kernel")
    texts = [
        f"{calls}, {profile['moved'] / max(ideal, 1):.2f} times the bytes",
        f"{100 * outside:.0f}% outside of kernels",
    ]
    for kernel in kernels[:2]:
        rate = kernel["bytes"] * kernel["calls"] / kernel["seconds"] * 1e-9
        operators = " ".join(kernel["operators"][:8])
        texts.append(f"{1e6 * kernel['seconds']:.0f} us at {rate:.1f} GB/s in ({operators})")
    return "; ".join(texts)


def slow_table(runs: Runs, peers: Sequence[str]) -> Table:
    """Return a line for every row that is slower than a peer."""
    table = Table(
        f"Rows under {SLOW} of a peer",
        ["workload", "size", "processors", "ratios", "why", "what the profile shows"],
    )
    for cores, size, rows in parts(runs):
        for row in rows:
            slow = slower(row, peers)
            if slow:
                ratios = ", ".join(f"{peer} {ratio:.2f}" for peer, ratio in slow.items())
                note = NOTES.get(row["name"], "**no note**")
                table.add(row["name"], size, cores, ratios, note, explanation(row))
    return table


def missing_table(runs: Runs) -> Table:
    """Return what did not run, and what came out different."""
    table = Table("What is missing", ["workload", "size", "processors", "library", "why"])
    seen = set()
    for cores, rows in runs.items():
        for row in rows:
            for kind in ("skipped", "differences"):
                for library, reason in row[kind].items():
                    line = (row["name"], row["size"], library, reason)
                    if line not in seen:
                        seen.add(line)
                        table.add(row["name"], row["size"], cores, library, reason)
    return table


def failures(runs: Runs) -> list[str]:
    """Return the workloads that we lack, and those with results that differ."""
    return [
        f"{row['name']} ({row['size']}, {plural(cores, 'processor')})"
        for cores, rows in runs.items()
        for row in rows
        if row["differences"] or "MetaOps" in row["skipped"]
    ]


# All of it

NOTE = (
    "Time of the peer over ours: above 1 we are faster. MB: each input and each result once."
    " roof: the time to read and write as many bytes, or to compute at the peak, over ours."
    " in kernels:"
    " the part of our time that kernels take. moved: the bytes that our kernels read and"
    " write, over MB. predicted us: of all kernels, by the cost model."
)


def tables(runs: Runs, peers: Sequence[str], quick: bool) -> list[Table]:
    """Return all tables; rows that were run once are not told apart by their speed."""
    sized, products = kernels(runs), contractions(runs)
    result = summary_tables(sized, peers) if any(sized.values()) else []
    if any(products.values()):
        result += contraction_tables.tables(products, peers)
    for cores, size, rows in parts(sized):
        title = f"{size.capitalize()} size, {plural(cores, 'processor')}"
        result.append(kernel_table(rows, peers, title, f"{turns_note(rows)} {NOTE}"))
    if any(size == "large" for _, size, _ in parts(sized)):
        result.append(share_table(sized))
    result += [prediction_table(runs), compile_table(runs), first_table(runs, peers)]
    if not quick and any(sized.values()):
        result.append(slow_table(sized, peers))
    return [*result, missing_table(runs), machine_table(runs)]


def write(runs: Runs, peers: Sequence[str], output: str | None, quick: bool = False) -> None:
    """Print all tables; write them, the rows and a plot into a folder."""
    common.write_report("kernels", tables(runs, peers, quick), output)
    if output is not None:
        import plot

        content = {"environment": common.environment(), "peers": list(peers), "runs": runs}
        common.Path(output, "kernels-rows.json").write_text(json.dumps(content) + "\n")
        plot.write(runs, peers, output)


# Kept results


def kernel_rows(runs: Runs, peers: Sequence[str]) -> Table:
    """Return a line for each workload, size and number of processors."""
    columns = ["workload", "group", "size", "processors", "turns", "MB", "us", *peers]
    columns += ["roof", "bound"]
    columns += ["in kernels", "kernels", "moved", "predicted us", "predicted/measured"]
    table = Table("Kernels", columns)
    for cores, size, rows in parts(kernels(runs)):
        for row in rows:
            seconds, profile = row["seconds"]["MetaOps"], row["profile"]
            table.add(
                *(row["name"], row["group"], size, cores, row["rounds"]),
                *(row["bytes"] / 1e6, 1e6 * seconds),
                *(speedup(row, peer) for peer in peers),
                *(share(row), bound(row), profile["seconds"] / seconds),
                round(sum(kernel["calls"] for kernel in profile["kernels"])),
                profile["moved"] / max(row["bytes"], 1),
                *(1e6 * profile["predicted"], prediction(row)),
            )
    return table


def run_table(content: dict[str, Any], runs: Runs) -> Table:
    """Return what is said of the whole run: the machine, and who found code on disk."""
    table = Table("Run", ["key", "value"])
    for key, value in content["environment"].items():
        table.add(key, value)
    table.add("caches", caches_note(runs))
    return table


def keep(content: dict[str, Any], folder: Path) -> None:
    """Write what the repository keeps of the rows that `write` has written."""
    runs = {int(cores): rows for cores, rows in content["runs"].items()}
    peers = content["peers"]
    tables = {
        "run": run_table(content, runs),
        "kernels": kernel_rows(runs, peers),
        "contractions": contraction_tables.rows_table(contractions(runs), peers),
        "slow": slow_table(kernels(runs), peers),
        "missing": missing_table(runs),
        "cost-model": prediction_table(runs),
        "compiling": compile_table(runs),
        "first-calls": first_table(runs, peers),
        "machine": machine_table(runs),
    }
    for name, table in tables.items():
        kept.write(folder / f"{name}.csv", table)


def keep_steps(content: dict[str, Any], folder: Path) -> None:
    """Write what the repository keeps of steps.json, which steps.py has written."""
    columns = ["model", "processors", "library", "step ms", "ratio to MetaOps", "first call s"]
    table = Table("Steps", columns)
    # The first table is their summary.
    for model in content["tables"][1:]:
        for row in model["rows"]:
            table.add(model["title"], *row)
    kept.write(folder / "steps.csv", table)


def main() -> None:
    """Write results/cpu from a folder that `script/bench --output` has filled, and the pages.

    Without a folder the pages alone are written anew.
    """
    if len(sys.argv) > 2:
        raise SystemExit("usage: script/bench results [FOLDER]")
    for name in sys.argv[1:]:
        rows, steps = (Path(name, file) for file in ("kernels-rows.json", "steps.json"))
        keep(json.loads(rows.read_text()), results_page.FOLDER)
        if steps.exists():
            keep_steps(json.loads(steps.read_text()), results_page.FOLDER)
        else:
            # Those of another run do not belong beside these.
            (results_page.FOLDER / "steps.csv").unlink(missing_ok=True)
    results_page.write_page()
    front_page.write()


if __name__ == "__main__":
    main()
