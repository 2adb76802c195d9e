# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of tests: how many have run, beside how many should.

pytest, lit and GoogleTest each write them in JUnit's format. ``test/counts.json`` has the
number of tests of each section and tier; a section that has run fewer was cut short or has
found nothing to run, and fails. ``script/test --count`` writes the numbers anew.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from checks.landings import ROOT

FILE = ROOT / "test/counts.json"
#: The share of the stored number that has to run: processors differ in what they skip.
LEAST_SHARE = 0.97


@dataclass
class Results:
    """Tests that have run, and that were skipped."""

    run: int = 0
    skipped: int = 0

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
    return results


def read_counts() -> dict[str, int]:
    """Return how many tests each section and tier should have."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def write_count(name: str, count: int) -> None:
    """Store how many tests a section and tier has."""
    counts = read_counts() | {name: count}
    FILE.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n")


def find_shortfall(name: str, results: Results) -> str | None:
    """Return what is wrong with the number of tests that have run, or None."""
    expected = read_counts().get(name)
    if expected is None:
        return f"{FILE.relative_to(ROOT)} has no number of tests for '{name}': see --count"
    if results.run < LEAST_SHARE * expected:
        return (
            f"{results.run:,} tests have run, and {expected:,} were expected. If some were "
            f"taken out on purpose, script/test --count writes {FILE.relative_to(ROOT)} anew"
        )
    return None
