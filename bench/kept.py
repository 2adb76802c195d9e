# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the repository keeps of measurements: tables in results/, as CSV.

Pages are written from these files, so whoever doubts a mean can compute it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from common import Table
from rows import geometric_mean

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"

#: A line of a file, by the names of its columns; what is not there is None.
Line = dict[str, Any]


def write(path: Path, table: Table) -> None:
    """Write a table, without title and note, floats with five digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        for row in table.rows:
            writer.writerow(map(unparsed, row))


def unparsed(entry: Any) -> Any:
    """Return an entry of a table as a cell: a float stays one when it is read."""
    if not isinstance(entry, float):
        return entry
    text = f"{entry:.5g}"
    return text if set(text) - set("-0123456789") else f"{text}.0"


def read(path: Path) -> list[Line]:
    """Return the lines of a table."""
    with path.open(newline="") as file:
        return [{name: parse(cell) for name, cell in line.items()} for line in csv.DictReader(file)]


def parse(cell: str) -> Any:
    """Return a cell as a number, if it is one, or as text, or None."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell or None


def numbers(lines: Iterable[Line], column: str) -> list[float]:
    """Return the numbers of a column that are there."""
    return [line[column] for line in lines if line[column] is not None]


def means(lines: Iterable[Line], column: str) -> list[float | None]:
    """Return the geometric mean of a column, and the median."""
    values = numbers(lines, column)
    return [geometric_mean(values), float(median(values)) if values else None]


def parts(lines: Sequence[Line], columns: Sequence[str]) -> dict[tuple[Any, ...], list[Line]]:
    """Return the lines with the same entries in some columns, in the order of the file."""
    result: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        result.setdefault(tuple(line[name] for name in columns), []).append(line)
    return result


def as_table(title: str, lines: Sequence[Line], note: str = "") -> Table:
    """Return lines as they are."""
    columns = list(lines[0]) if lines else []
    table = Table(title, columns, note=note)
    for line in lines:
        table.add(*(line[name] for name in columns))
    return table


def percents(lines: Sequence[Line], column: str, mean: Callable[..., float | None]) -> str:
    """Return the mean of shares as text, or nothing where there are none."""
    value = mean(min(share, 1.0) for share in numbers(lines, column))
    return "" if value is None else f"{100 * value:.0f}%"
