# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of tests: how many have run, beside how many should.

pytest, lit and GoogleTest each write them in JUnit's format. ``test/counts.json`` has the
number of tests of each section and tier; a section that has run fewer was cut short or has
found nothing to run, and fails. So does one that has run many more: the number that its tests
would have to fall below is too old to find anything. ``script/test --count`` writes the numbers
anew.

pytest tells how many tests a first tier has left out (``test/python/tiers.py``), so the number
of all is known, compared and written without running them.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from checks.landings import ROOT

FILE = ROOT / "test/counts.json"
#: A file in which pytest writes how many tests it has beside a first tier.
TALLY = "tally.json"
#: The share of the stored number that may be missing, or come in addition: processors differ
#: in what they skip.
SLACK = 0.03
#: So many may come in addition, however few there are.
LEAST_SLACK = 10


@dataclass
class Results:
    """Tests that have run, and that were skipped.

    Of a first tier, also those that have run in addition, for a part or because their file
    has changed, and those that are left.
    """

    run: int = 0
    skipped: int = 0
    added: int = 0
    left: int = 0

    def __str__(self) -> str:
        skipped = f", {self.skipped:,} skipped" if self.skipped else ""
        return f"{self.run:,} tests{skipped}"


def read_results(folder: Path) -> Results:
    """Add up the results in a folder's files."""
    results = Results()
    for file in sorted(folder.glob("*.xml")):
        for suite in ElementTree.parse(file).getroot().iter("testsuite"):
            skipped = sum(int(suite.get(name, 0)) for name in ("skipped", "disabled"))
            results.run += int(suite.get("tests", 0)) - skipped
            results.skipped += skipped
    if (tally := folder / TALLY).exists():
        numbers = json.loads(tally.read_text())
        results.added, results.left = numbers["added"], numbers["left"]
    return results


def read_counts() -> dict[str, int]:
    """Return how many tests each section and tier should have."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def count_tiers(name: str, results: Results) -> dict[str, int]:
    """Return how many tests there are by results, of a section's tier and of all of it."""
    section, extent = name.split(" ", 1)
    counts = {name: results.run - results.added}
    if extent != "all":
        counts[f"{section} all"] = results.run + results.left
    return counts


def write_counts(name: str, results: Results) -> None:
    """Store how many tests a section and tier has, and all of the section."""
    counts = read_counts() | count_tiers(name, results)
    FILE.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n")


def find_mismatches(name: str, results: Results) -> list[str]:
    """Return what is wrong with the numbers of tests, those that are left among them."""
    expected = read_counts()
    said = (judge(n, count, expected.get(n)) for n, count in count_tiers(name, results).items())
    return [fault for fault in said if fault]


def judge(name: str, count: int, expected: int | None) -> str | None:
    """Return what is wrong with a number of tests, or None."""
    file = FILE.relative_to(ROOT)
    if expected is None:
        return f"{file} has no number of tests for '{name}': see --count"
    anew = f"script/test --count writes {file} anew"
    if count < (1 - SLACK) * expected:
        return (
            f"'{name}' has {count:,} tests, and {expected:,} were expected. If some were taken"
            f" out on purpose, {anew}"
        )
    if count > expected + max(SLACK * expected, LEAST_SLACK):
        return (
            f"'{name}' has {count:,} tests, and {expected:,} were expected. That number is too"
            f" old to show that some are missing; {anew}"
        )
    return None
