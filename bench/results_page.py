# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Results.md: means and medians of the rows in results/cpu/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import kept
from common import Table
from kept import Line
from rows import (
    AIM,
    OVER,
    SLOW,
    SLOW_PEERS,
    geometric_mean,
    is_slow_for_peers,
    percent,
    plural,
    turns_note,
)

FOLDER = kept.RESULTS / "cpu"
PAGE = kept.ROOT / "docs" / "Results.md"

#: Whom MetaOps is measured beside, in the order of the columns.
PEERS = ("PyTorch", "torch.compile", "jax.jit", "NumPy")
#: Libraries that eager steps of training are measured beside.
BESIDE_STEPS = ("mo.jit", "PyTorch", "torch.compile", "reduce-overhead", "jax.jit")

RATIOS = (
    "Geometric means and medians of the peer's time over ours: above 1 we are faster."
    f" Under {SLOW}: rows that are beside some peer."
)
SHARES = (
    " Roof: the time to read and write as many bytes, or to compute at the peak, over ours,"
    " where a share above 100% counts as 100%: it is an error of its measurement."
)


def peers_of(lines: Sequence[Line]) -> list[str]:
    """Return the peers that the lines are beside."""
    return [peer for peer in PEERS if lines and peer in lines[0]]


def ratio_table(
    title: str,
    note: str,
    parts: Mapping[tuple[Any, ...], Sequence[Line]],
    columns: Sequence[str],
    shares: Sequence[str] = ("roof",),
) -> Table:
    """Return means and medians of ratios, and of shares, of each part."""
    peers = peers_of([line for lines in parts.values() for line in lines])
    names = [f"{peer}{kind}" for peer in peers for kind in ("", ", median")]
    names += ["all peers", f"under {SLOW}"]
    names += [f"{share}{kind}" for share in shares for kind in ("", ", median")]
    table = Table(title, [*columns, "rows", *names], note=note)
    for key, lines in parts.items():
        ratios = [kept.numbers(lines, peer) for peer in peers]
        slow = sum(any((line[peer] or SLOW) < SLOW for peer in peers) for line in lines)
        table.add(
            *key,
            len(lines),
            *(value for peer in peers for value in kept.means(lines, peer)),
            geometric_mean(ratio for every in ratios for ratio in every),
            slow,
            *(
                kept.percents(lines, share, mean)
                for share in shares
                for mean in (geometric_mean, middle)
            ),
        )
    return table


def middle(values: Any) -> float | None:
    """Return the median of those that there are."""
    listed = list(values)
    return float(median(listed)) if listed else None


def sized(lines: Sequence[Line]) -> dict[tuple[Any, ...], list[Line]]:
    """Return the parts of sizes and processors, and of each number of processors."""
    parts = kept.parts(lines, ("size", "processors"))
    if len({size for size, _ in parts}) > 1:
        parts |= {("both", k[0]): v for k, v in kept.parts(lines, ("processors",)).items()}
    return parts


def turns(lines: Sequence[Line]) -> str:
    """Return how many turns everyone had, in a sentence."""
    return turns_note([{"rounds": line["turns"]} for line in lines])


def kernel_tables(lines: Sequence[Line]) -> list[Table]:
    """Return the means of kernels: of all, without what peers are slow at, of groups."""
    columns = ("size", "processors")
    note = f"{turns(lines)} {RATIOS}{SHARES}"
    tables = [ratio_table("All workloads", note, sized(lines), columns)]
    others = [line for line in lines if not is_slow_for_peers({"name": line["workload"]})]
    if others and len(others) < len(lines):
        left_out = len({line["workload"] for line in lines} - {o["workload"] for o in others})
        patterns = ", ".join(pattern.strip("* ") for pattern in SLOW_PEERS)
        note = (
            f"The same without what peers are known to be slow at ({patterns}):"
            f" {plural(left_out, 'workload')} fewer."
        )
        tables.append(ratio_table("Without what peers are slow at", note, sized(others), columns))
    by_group = ("group", "size", "processors")
    note = "The same by groups of workloads."
    parts = kept.parts(lines, by_group)
    return [*tables, ratio_table("Groups", note, parts, by_group), roof_table(lines)]


def roof_table(lines: Sequence[Line]) -> Table:
    """Return how many rows beyond the caches are near their roof."""
    table = Table(
        "Rows beside their roof at the large size",
        ["group", "processors", "rows", f"under {percent(AIM)}", f"over {percent(OVER)}"],
        note=f"Those over {percent(OVER)} have a roof that was not measured well.",
    )
    large = [line for line in lines if line["size"] == "large"]
    for key, members in kept.parts(large, ("group", "processors")).items():
        shares = kept.numbers(members, "roof")
        table.add(
            *key,
            len(members),
            sum(share < AIM for share in shares),
            sum(share > OVER for share in shares),
        )
    return table


def contraction_table(lines: Sequence[Line]) -> Table:
    """Return the means of contractions, by groups and of all."""
    parts = kept.parts(lines, ("group", "processors"))
    for key, members in kept.parts(lines, ("processors",)).items():
        parts["**all**", key[0]] = members
    ordered = dict(sorted(parts.items(), key=lambda part: part[0][1]))
    note = (
        f"{turns(lines)} {RATIOS} Peak: the multiplications and additions of the contraction over"
        " those that the processor did at best in the same turns; of ours, and of the peer that"
        " is fastest."
    )
    shares = ("peak", "peers' peak", "roof")
    return ratio_table("Contractions", note, ordered, ("group", "processors"), shares)


def step_table(lines: Sequence[Line]) -> Table:
    """Return the ratios of training steps, and their means."""
    libraries = {line["library"] for line in lines}
    peers = [name for name in BESIDE_STEPS if name in libraries]
    note = "The time of a step over that of our eager one: above 1 it is slower."
    table = Table("Training steps", ["model", "processors", *peers], note=note)
    ratios = {
        (line["model"], line["processors"], line["library"]): line["ratio to MetaOps"]
        for line in lines
    }
    for model, cores in kept.parts(lines, ("model", "processors")):
        table.add(model, cores, *(ratios.get((model, cores, peer)) for peer in peers))
    rows = list(table.rows)
    for cores in dict.fromkeys(row[1] for row in rows):
        columns = list(zip(*(row[2:] for row in rows if row[1] == cores), strict=True))
        table.add("**mean**", cores, *map(geometric_mean, columns))
        table.add("**median**", cores, *(middle(filter(None, column)) for column in columns))
    return table


#: Charts of the page, which front_page.py draws, by what they show.
FIGURES = {
    "Training steps": "steps",
    "Groups of workloads, large size": "large",
    "Groups of workloads, small size": "small",
}


#: Tables of the run as it counted them, by their files, with what is said of them.
COUNTED = {
    "cost-model": (
        "The cost model",
        "The time that the model predicts of a row's kernels, with figures measured before on"
        " one processor, over the time that they took. The spread is the factor that two thirds"
        " of the rows are off the geometric mean by, at most.",
    ),
    "compiling": (
        "Compiling, milliseconds a kernel",
        "From the operators to machine code, as the session counts it. Kernels of a row are"
        " compiled together: each gets the row's mean. Those that an earlier row has compiled,"
        " for other extents too, are not compiled again.",
    ),
    "first-calls": (
        "First calls, seconds",
        "Tensors from arrays, recording or tracing, compiling and one run. {caches} Within a"
        " run, MetaOps in memory and torch.compile on disk find what earlier rows have compiled.",
    ),
    "missing": ("What is missing", "What did not run, or came out different."),
}


def page(folder: Path = FOLDER) -> str:
    """Return the page of the files in a folder."""
    run = {line["key"]: line["value"] for line in kept.read(folder / "run.csv")}
    lines, products = kept.read(folder / "kernels.csv"), kept.read(folder / "contractions.csv")
    cores = dict.fromkeys(line["processors"] for line in [*lines, *products])
    absent = [peer for peer in PEERS if peer not in peers_of(lines or products)]
    tables = kernel_tables(lines) if lines else []
    if products:
        tables.append(contraction_table(products))
    for name, (title, note) in COUNTED.items():
        counted = kept.read(folder / f"{name}.csv")
        if counted:
            tables.append(kept.as_table(title, counted, note.format(caches=run["caches"])))
    if (folder / "steps.csv").exists():
        tables.append(step_table(kept.read(folder / "steps.csv")))
    return (
        "<!-- Written by `script/bench results` from the files in results/cpu. -->\n\n"
        "# Results\n\n"
        "Means and medians of what `script/bench` of [Benchmarks](Benchmarks.md) has measured,"
        f" in runs for {' and for '.join(plural(count, 'processor') for count in cores)}."
        f"{' Left out: ' + ', '.join(absent) + '.' if absent else ''}"
        " The rows are in [results/cpu](../results/README.md), and with them those that are"
        f" under {SLOW} of a peer, with the reason.\n\n"
        + ", ".join(f"{key} {value}" for key, value in run.items() if key != "caches")
        + ".\n\n"
        + "".join(f"![{title}](images/{name}.svg)\n\n" for title, name in FIGURES.items())
        + "\n".join(table.markdown() for table in tables)
    )


def write_page() -> None:
    """Write docs/Results.md anew."""
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
