# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiers of tests: which are run at each change, and which in turn.

The first tier of a test with grids of parameters is a set of rows in which each value of
each grid stands (*each-used* coverage; M. Grindal, J. Offutt, S. F. Andler, Combination
testing strategies: a survey, 2005). Of values that are drawn, such as seeds, it has the
first (``draws``). Tests that are marked ``rest`` are not in it, nor, without ``--gpu-code``,
those that are marked ``gpu_code``. With ``--cover`` it is the tests that a file lists (see
kernel_cover.py). Of a file or a test that has changed it has all rows (``--whole``).

All others are the rest, of which ``--part=3/8`` runs one eighth: whole files' rests, by a
hash of the file's name.

Without options every test is run. ``--tally`` has a file written that says how many tests
came in beside the first tier, and how many are left.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

MARKS = {
    "rest": "is not in the first tier: others find most of what it finds, at less cost",
    "gpu_code": "is about code of GPUs alone: in the first tier where that has changed",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=["first", "all"], default="all", help="which tests are run")
    group.addoption("--part", metavar="K/N", help="beside the first tier, part K of the rest")
    group.addoption("--whole", action="append", default=[], metavar="FILE[::T]", help="all of that")
    group.addoption("--gpu-code", action="store_true", help="code of GPUs has changed")
    group.addoption("--cover", type=Path, help="a file that lists the tests of the first tier")
    group.addoption("--tally", type=Path, help="where the numbers of other tests are written")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def draws(values: Iterable[Any]) -> list[Any]:
    """Return values of a parameter that were drawn: the first tier has the first."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.rest) for value in others)]


# Behind those who mark tests that are skipped.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another run has."""
    if config.getoption("--tier") == "all":
        return
    if (cover := config.getoption("--cover")) is not None:
        first = set(cover.read_text().splitlines())
    else:
        left_out = ["rest"] if config.getoption("--gpu-code") else list(MARKS)
        first = find_first([i for i in items if not any(map(i.get_closest_marker, left_out))])
    part, whole = config.getoption("--part"), set(config.getoption("--whole"))
    taken, left = [], []
    for item in items:
        is_taken = item.nodeid in first or not whole.isdisjoint(name_wholes(item))
        is_taken = is_taken or (part and is_in_part(item.path.name, part))
        (taken if is_taken else left).append(item)
    if (tally := config.getoption("--tally")) is not None:
        added = [item for item in taken if item.nodeid not in first]
        numbers = {"added": count_run(added), "left": count_run(left)}
        tally.write_text(json.dumps(numbers) + "\n")
    items[:] = taken
    config.hook.pytest_deselected(items=left)


def name_wholes(item: pytest.Item) -> tuple[str, str]:
    """Return what a test belongs to: its file, and all rows of it."""
    file = item.path.name
    return file, f"{file}::{item.name.split('[')[0]}"


def count_run(items: Iterable[pytest.Item]) -> int:
    """Return how many tests are not known to be skipped."""
    return sum(item.get_closest_marker("skip") is None for item in items)


def is_in_part(name: str, part: str) -> bool:
    """Return whether a file's rest belongs to part K/N."""
    number, count = map(int, part.split("/"))
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % count + 1 == number


def find_first(items: Sequence[pytest.Item]) -> set[str]:
    """Return the names of tests whose rows have all values of all parameters."""
    rows: dict[str, dict[str, tuple[Hashable, ...]]] = defaultdict(dict)
    for item in items:
        rows[item.nodeid.split("[")[0]][item.nodeid] = read_row(item)
    return set(itertools.chain.from_iterable(map(cover_values, rows.values())))


def read_row(item: pytest.Item) -> tuple[Hashable, ...]:
    """Return which value each grid of parameters has in a test."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    row = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.replace(",", " ").split() if isinstance(names, str) else names
        # A grid may give several, which go together. Tests of one value have one object.
        row.append(tuple(id(params[name]) for name in names if name in params))
    return tuple(row)


def cover_values(rows: dict[str, tuple[Hashable, ...]]) -> list[str]:
    """Return names of rows in which each value of each grid stands.

    Each row that is taken has as many values that are new as any: rows are looked at once
    for each number of new values, the largest first.
    """
    values = {name: set(enumerate(row)) for name, row in rows.items()}
    most = max(map(len, values.values()), default=0)
    # Without two grids, each row is a value of its own.
    if most < 2:
        return list(rows)
    missing = set().union(*values.values())
    taken = []
    for least in range(most, 0, -1):
        for name, own in values.items():
            if len(own & missing) >= least:
                taken.append(name)
                missing -= own
    return taken
