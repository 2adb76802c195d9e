# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Build, then run the checks and tests. All sections run even when one fails.

Without options it is the first tier: what every change needs. It leaves out tests that
others stand for, and sections that are about nothing that has changed since the last
landing; the summary says what was left out, and why.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import traceback

from checks.changes import list_changed, list_changed_tests
from checks.landings import (
    FILE,
    PARTS,
    ROOT,
    describe_part,
    find_base,
    find_part,
    is_advanced,
    read_landings,
)
from checks.results import find_mismatches, read_results, write_counts
from checks.sections import SECTIONS, Plan, Request, Section


def parse_part(text: str) -> int:
    """Return the number of a part."""
    if not text.isdigit() or not 1 <= int(text) <= PARTS:
        raise argparse.ArgumentTypeError(f"expected 1 to {PARTS}, got '{text}'")
    return int(text)


def parse_arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser(
        prog="script/test",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"sections: {' '.join(names)}",
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help="only these, after the build"
    )
    tiers = parser.add_mutually_exclusive_group()
    tiers.add_argument("--full", action="store_true", help="all tests there are")
    tiers.add_argument(
        "--part",
        type=parse_part,
        metavar=f"1..{PARTS}",
        help="beside the first tier an eighth of what it leaves out",
    )
    tiers.add_argument(
        "--lands",
        action="store_true",
        help="as at a landing: beside the first tier the part whose turn it is",
    )
    parser.add_argument("--count", action="store_true", help="store how many tests there are")
    arguments = parser.parse_args()
    if arguments.count and (arguments.part or arguments.lands):
        parser.error("--count is of a whole tier, without a part")
    if unknown := [name for name in arguments.sections if name not in names]:
        parser.error(f"no section '{unknown[0]}'; there are: {' '.join(names)}")
    return arguments


class Run:
    """The sections of a run, one after the other, and what became of them."""

    def __init__(self, request: Request, *, counts: bool) -> None:
        self.request, self.counts = request, counts
        self.is_built = False
        self.passed = self.failed = 0
        self.summary: list[str] = []

    def run_section(self, section: Section, *, is_named: bool) -> None:
        """Run a section, and tell what became of it.

        One that is named is run, whatever has changed.
        """
        print(f"=== {section.name} ===", flush=True)
        begin = time.monotonic()
        notes: list[str] = []
        if section.needs_build and not self.is_built:
            # What an earlier build left behind would give an answer about other code.
            print("not run: the build failed")
            result = "not run"
        else:
            try:
                result = self.try_section(section, notes, is_named=is_named)
            except Exception:
                traceback.print_exc()
                result = "FAILED"
        self.passed += result == "passed"
        self.failed += result in ("FAILED", "not run")
        seconds = time.monotonic() - begin
        print(f"--- {section.name}: {result}, {seconds:.1f} s ---\n", flush=True)
        line = f"{section.name:8} {result:8} {seconds:7.1f} s  {'; '.join(notes)}"
        self.summary.append(line.rstrip())

    def try_section(self, section: Section, notes: list[str], *, is_named: bool) -> str:
        """Run a section if its plan says so; return what became of it."""
        plan = section.plan(self.request)
        if plan.extent == "none" and is_named:
            plan = Plan("all")
        notes += [plan.why] if plan.why else []
        if plan.extent == "none":
            print(f"not run: {plan.why}")
            return "-"
        shutil.rmtree(section.results, ignore_errors=True)
        section.results.mkdir(parents=True)
        good = section.run(self.request, plan)
        if section.has_tests:
            good = self.count(section, plan, notes, is_good=good) and good
        self.is_built |= section.name == "build" and good
        return "passed" if good else "FAILED"

    def count(self, section: Section, plan: Plan, notes: list[str], *, is_good: bool) -> bool:
        """Compare the tests that have run with the stored number of them."""
        results = read_results(section.results)
        name = f"{section.name} {plan.extent}"
        if plan.has_gpu_code:
            name += ", code of GPUs"
        part = self.request.part if plan.extent == "first" else None
        if plan.extent == "first":
            tier = f"first tier and part {part}" if part else "first tier"
            notes.insert(0, f"{tier}, {results.left:,} left to other parts")
        notes.insert(0, str(results))
        if self.counts and is_good:
            write_counts(name, results)
            return True
        mismatches = find_mismatches(name, results)
        for mismatch in mismatches:
            print(f"{section.name}: {mismatch}")
        notes += ["not the number of tests"] if mismatches else []
        return not mismatches


def make_request(arguments: argparse.Namespace) -> Request:
    """Return what is asked for, and print what decided it."""
    landings = read_landings()
    part = find_part(landings) if arguments.lands else arguments.part
    base = find_base(landings, lands=arguments.lands)
    changed = list_changed(base)
    if part:
        print(f"part {part} of {PARTS}: {describe_part(part, landings)}")
        print(f"to run it again: script/test --part {part}")
    if arguments.lands and not is_advanced(landings):
        print(f"the last commit has not advanced {FILE}: this part may not be the next one")
    if changed is not None and not arguments.full:
        print(f"{len(changed)} files have changed since {base[:10] if base else ''}")
    tests = list_changed_tests(base, changed)
    return Request(arguments.full, part, changed, tests, arguments.lands)


def main() -> int:
    """Run the program; return its exit status."""
    arguments = parse_arguments()
    # Fresh and freed memory holds no zeros by chance: what is never written, or used
    # after its end, shows.
    os.environ["MALLOC_PERTURB_"] = "165"
    # Tests start hundreds of processes, which are not to compile the package each.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build/pycache")
    request = make_request(arguments)
    run = Run(request, counts=arguments.count)
    for section in SECTIONS:
        is_named = section.name in arguments.sections
        if section.name == "build" or not arguments.sections or is_named:
            run.run_section(section, is_named=is_named)
    print("\n".join(run.summary))
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
