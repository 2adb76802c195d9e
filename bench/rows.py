# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a measured row of kernels.py says: ratios, the roof, the prediction."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]

#: A row that is slower than a peer by more gets a line.
SLOW = 0.8
#: The part of the roof that is aimed at.
AIM = 0.85
#: A share of the roof above is a roof that was not measured well.
OVER = 1.05
#: Rows that peers are known to be slow at: means are given without them, too. PyTorch has
#: no fast kernel for these on CPUs, or JAX's backend has none.
SLOW_PEERS = ("depthwise*", "max pooling*", "argmax*", "var *", "dropout*")


def speedup(row: Row, peer: str) -> float | None:
    """Return the peer's time over ours: above 1 where we are faster."""
    seconds = row["seconds"]
    if peer not in seconds or "MetaOps" not in seconds:
        return None
    return seconds[peer] / seconds["MetaOps"]


def slower(row: Row, peers: Sequence[str]) -> dict[str, float]:
    """Return the ratios to peers that we are much slower than, the worst first."""
    ratios = {peer: speedup(row, peer) for peer in peers}
    slow = [(ratio, peer) for peer, ratio in ratios.items() if ratio and ratio < SLOW]
    return {peer: ratio for ratio, peer in sorted(slow)}


def is_slow_for_peers(row: Row) -> bool:
    """Return whether the peers are known to be slow at a row."""
    return any(fnmatch.fnmatch(row["name"], pattern) for pattern in SLOW_PEERS)


def computing(row: Row) -> float:
    """Return the seconds that the row's operations take at the peak.

    Those of a contraction are told, others are what our kernels do.
    """
    return (row["flops"] or row["profile"]["flops"]) / row["peak"]


def roof(row: Row) -> float:
    """Return the seconds that the machine needs at least: to move, or to compute."""
    return max(row["moving"], computing(row))


def bound(row: Row) -> str:
    """Return what the roof is."""
    return "FMA" if computing(row) > row["moving"] else "memory"


def share(row: Row) -> float | None:
    """Return the roof's part of our time."""
    return roof(row) / row["seconds"]["MetaOps"] if row["seconds"] else None


def mean_share(rows: Iterable[Row]) -> float | None:
    """Return the geometric mean of the rows' shares of the roof.

    Nothing is faster than the roof: a share above 1 is an error of its measurement, and
    counts as 1.
    """
    return geometric_mean(min(part, 1.0) for row in rows if (part := share(row)))


def beyond(rows: Iterable[Row]) -> int:
    """Return how many rows are faster than their roof by more than timing explains."""
    return sum((share(row) or 0) > OVER for row in rows)


def at_peak(row: Row, name: str) -> float | None:
    """Return how much of the processor's peak a contraction gets to, by someone."""
    return row["at_peak"].get(name) if row["flops"] else None


def contractions(runs: Mapping[Any, Sequence[Row]]) -> dict[Any, list[Row]]:
    """Return the rows with extents of their own."""
    return {cores: [row for row in rows if row["size"] == "own"] for cores, rows in runs.items()}


def kernels(runs: Mapping[Any, Sequence[Row]]) -> dict[Any, list[Row]]:
    """Return the rows that are measured at each size."""
    return {cores: [row for row in rows if row["size"] != "own"] for cores, rows in runs.items()}


def prediction(row: Row) -> float | None:
    """Return what the cost model says of the kernels over what they took."""
    profile = row["profile"]
    return profile["predicted"] / profile["seconds"] if profile.get("seconds") else None


def compile_times(rows: Iterable[Row]) -> list[float]:
    """Return seconds for every kernel that was compiled, in order.

    Kernels of a row are compiled together, so each gets the mean of the row.
    """
    times: list[float] = []
    for row in rows:
        compiled = row.get("compiled")
        if compiled and compiled["kernels"]:
            times += [compiled["seconds"] / compiled["kernels"]] * compiled["kernels"]
    return sorted(times)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of those that there are."""
    logs = [math.log(value) for value in values if value]
    return math.exp(sum(logs) / len(logs)) if logs else None


def spread(values: Iterable[float | None]) -> float | None:
    """Return the factor that values are off their geometric mean by, typically.

    It is the exponential of the standard deviation of logarithms: two thirds of
    normal logarithms are between the mean over it and the mean times it.
    """
    logs = [math.log(value) for value in values if value]
    if not logs:
        return None
    mean = sum(logs) / len(logs)
    return math.exp(math.sqrt(sum((log - mean) ** 2 for log in logs) / len(logs)))


def parts(runs: Mapping[Any, Sequence[Row]]) -> list[tuple[Any, str, list[Row]]]:
    """Return processors, size and measured rows of each table."""
    return [
        (cores, size, [row for row in rows if row["size"] == size and row["seconds"]])
        for cores, rows in runs.items()
        for size in dict.fromkeys(row["size"] for row in rows)
    ]


# As text


def percent(value: float | None) -> str:
    """Return a share as text."""
    return "" if value is None else f"{100 * value:.0f}%"


def microseconds(seconds: float) -> float:
    """Return a time as it is shown, large ones without decimals."""
    return round(1e6 * seconds) if seconds > 1e-4 else 1e6 * seconds


def plural(count: int, word: str) -> str:
    """Return a count with its word."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def turns_note(rows: Sequence[Row]) -> str:
    """Return how many turns everyone had, in a sentence."""
    turns = sorted({row["rounds"] for row in rows})
    if not turns:
        return "Nothing was measured."
    # Contractions of many lengths have many numbers.
    numbers = " or ".join(map(str, turns)) if len(turns) < 3 else f"{turns[0]} to {turns[-1]}"
    return f"The median of {numbers} {'turn' if turns == [1] else 'turns'}."
