# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fewest tests that reach every frame of the kernels of an emulated GPU.

The frame of a kernel, a loop or a branch is what is directly in it of loops, branches,
accesses and barriers, without arithmetic and numbers (lib/Runtime/Kernels/CodeFeatures.cpp).
While all tests are run on an emulated device, it is recorded which frames the kernels have
that each of them compiles, and which operations, each with its type. Of these, tests are
chosen greedily: again and again the one that reaches, for a second of its time, the most
that none of the chosen ones does (V. Chvatal, A Greedy Heuristic for the Set-Covering
Problem, 1979). kernel_cover.txt lists what was chosen, and is never written by hand:

    python test/python/kernel_cover.py RECORDS

The compiler decides what kernels there are, so the list grows old. ``--check`` tells what a
recorded run has reached that the tests of the list have not, in the same run.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")
#: Names the folder that gets the records of a run's processes.
VARIABLE = "METAOPS_TEST_RECORDS"
#: The share of what was recorded that the tests of the list have to reach.
LEAST_SHARE = 0.95
#: Files whose tests count kernels that those before them have not compiled: all of them are
#: run, or none.
IN_ORDER = ("test_varying.py",)


class Recorder:
    """Writes down what the kernels are made of that each test compiles."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / f"log-{os.getpid()}.txt"
        self.file = folder / f"tests-{os.getpid()}.json"
        self.tests: dict[str, dict] = {}
        self.log.write_text("")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record a test."""
        begin = self.log.stat().st_size
        result = yield
        with self.log.open() as log:
            log.seek(begin)
            features = sorted(set(log.read().split()))
        self.tests.setdefault(item.nodeid, {})["features"] = features
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record how long a test takes."""
        test = self.tests.setdefault(report.nodeid, {})
        test["seconds"] = test.get("seconds", 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded."""
        self.file.write_text(json.dumps(self.tests))


def start_recording() -> Recorder | None:
    """Return what records this process's tests, if the environment asks for it.

    Before the package is imported, which takes the name of the log from the environment.
    """
    if not (folder := os.environ.get(VARIABLE)):
        return None
    recorder = Recorder(Path(folder))
    os.environ["METAOPS_EMULATOR_LOG"] = str(recorder.log)
    return recorder


def read_records(folder: Path) -> dict[str, dict]:
    """Return the tests that the processes of a run have recorded."""
    tests: dict[str, dict] = {}
    for file in sorted(folder.glob("tests-*.json")):
        for name, test in json.loads(file.read_text()).items():
            # The process that hands out the tests records none.
            if "features" in test:
                tests[name] = test
    return tests


def reach(tests: dict[str, dict], names: set[str]) -> set[str]:
    """Return the frames and operations that some tests reach."""
    return {feature for name in names & tests.keys() for feature in tests[name]["features"]}


def choose(tests: dict[str, dict]) -> list[str]:
    """Return the tests that reach everything, at little time."""
    tests = {n: test for n, test in tests.items() if not n.split("::")[0].endswith(IN_ORDER)}
    missing = reach(tests, set(tests))
    chosen = []
    # What a test adds only gets less, so the last value is a bound.
    bounds = {name: float("inf") for name in sorted(tests)}
    while missing:
        best, best_value = "", 0.0
        for name in sorted(bounds, key=lambda name: -bounds[name]):
            if bounds[name] <= best_value:
                break
            new = len(missing.intersection(tests[name]["features"]))
            bounds[name] = new / (tests[name]["seconds"] + 0.01)
            if bounds[name] > best_value:
                best, best_value = name, bounds[name]
        chosen.append(best)
        missing.difference_update(tests[best]["features"])
    return sorted(drop_redundant(tests, chosen))


def drop_redundant(tests: dict[str, dict], chosen: list[str]) -> list[str]:
    """Return the tests without those, the longest first, of which others reach everything."""
    counts = Counter(feature for name in chosen for feature in tests[name]["features"])
    kept = []
    for name in sorted(chosen, key=lambda name: -tests[name]["seconds"]):
        if all(counts[feature] > 1 for feature in tests[name]["features"]):
            counts.subtract(tests[name]["features"])
        else:
            kept.append(name)
    return kept


def main() -> int:
    """Write the list, or check it; return the exit status."""
    arguments = sys.argv[1:]
    is_check = arguments[:1] == ["--check"]
    tests = read_records(Path(arguments[-1]))
    reached = reach(tests, set(tests))
    if not is_check:
        chosen = choose(tests)
        LIST.write_text("".join(f"{name}\n" for name in chosen))
        told = f"{len(reach(tests, set(chosen))):,} of {len(reached):,} frames and operations"
        seconds = sum(tests[name]["seconds"] for name in chosen)
        total = sum(test["seconds"] for test in tests.values())
        print(f"{len(chosen):,} of {len(tests):,} tests reach {told}")
        print(f"they take {seconds:.0f} of {total:.0f} seconds")
        return 0
    names = set(LIST.read_text().splitlines())
    gone = sorted(names - tests.keys())
    listed = reach(tests, names)
    print(f"kernel_cover.txt reaches {len(listed):,} of {len(reached):,} frames and operations")
    if gone:
        print(f"{len(gone)} of its {len(names)} tests have not run: {gone[0]}, ...")
    if reached and len(listed) >= LEAST_SHARE * len(reached) and len(gone) < 0.05 * len(names):
        return 0
    print(
        f"expected {LEAST_SHARE:.0%}, and its tests; after script/test --full devices\n"
        f"    python test/python/kernel_cover.py {arguments[-1]}\nwrites it anew"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
