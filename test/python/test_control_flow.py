# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random branches and loops compute what the interpreter computes.

For a longer run: python test_control_flow.py NUMBER_OF_PROGRAMS [FIRST_SEED]
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from random_control_flow import ControlFlow
from random_programs import FIRST_SEED
from test_schedule_fuzz import TOOLS

#: Features that ten programs of fixed seeds have some of.
KINDS = ("if", "for", "while", "scan", "captured yields", "kernels")
#: By which rules programs are fused, in turn.
RULES = ["extended", "paper", "none"]


def compare(seed: int, folder: Path) -> tuple[Counter, str]:
    """Return what a program was made of, and what was found; nothing if all is well."""
    program = ControlFlow(seed)
    path = folder / f"control_flow_{seed}.mlir"
    path.write_text(program.text())
    pipeline = f"--metaop-pipeline=to=fused rules={RULES[seed % len(RULES)]}"
    fused = run([TOOLS / "metaop-opt", path, pipeline], "")
    done = run([TOOLS / "metaop-run", "--compare", f"--seed={seed}"], fused.stdout)
    if done.returncode == 0 and "agree" in done.stdout:
        path.unlink()
        program.counts["failed checks"] = "both fail" in done.stdout
        return program.counts, ""
    return program.counts, f"seed {seed}: {fused.stderr}{done.stdout}{done.stderr}"


def run(command: list, text: str) -> subprocess.CompletedProcess:
    """Run a tool on a text."""
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_random_control_flow(tmp_path, first):
    counts: Counter = Counter()
    for seed in range(FIRST_SEED + first, FIRST_SEED + first + 10):
        drawn, problem = compare(seed, tmp_path)
        assert not problem
        counts += drawn
    # A test of programs without any of these tests nothing.
    assert FIRST_SEED or all(counts[kind] for kind in KINDS), counts


def test_what_is_drawn():
    counts: Counter = Counter()
    for seed in range(300):
        program = ControlFlow(seed)
        program.text()
        counts += program.counts
    kinds = ["if", "for", "while", "empty for", "empty while", "counter read"]
    kinds += ["captured yields", "equal yields", "carried given", "exchanged"]
    kinds += [
        "mean",
        "tanh",
        "min",
        "sum",
        "kernels",
        "view",
        "sort",
        "parts",
        "checked",
        "inserted",
        "barrier",
    ]
    kinds += ["tight checks", "scan", "bounded scan", "rows", "rows made", "carried rows"]
    kinds += ["unroll", "chains", "passed through", "carried on"]
    assert min(counts[kind] for kind in kinds) > 15, counts


def main(count: int, first: int) -> int:
    """Check programs of `count` seeds; return how many failed."""
    counts, failed = Counter(), 0
    for seed in range(first, first + count):
        drawn, problem = compare(seed, Path())
        counts += drawn
        failed += bool(problem)
        if problem:
            print(problem[:400])
    print(f"{count} programs, {failed} failed; {dict(counts)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) > 0)
