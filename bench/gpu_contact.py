# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether kernels are right on a GPU, and how fast, in one command that loses no answer.

    gpu_contact.py [PART...] [--budget SECONDS] [--emulate] [--output FOLDER]

kinds: a kernel of each kind on the GPU and on the emulator of its chip, which execute the
same code, and NumPy. checks: so are all workloads at odd extents. steps: training steps of
models. exchange: tensors to PyTorch's library and back, in place. rates: the time of
kernels by the GPU's clock, beside PyTorch, eager and compiled, where a Python on the path
has it. tests: test files on the GPU. Results are in FOLDER: contact.jsonl has one a line,
contact.txt is the summary, culprits.tar.gz has the kernels of what went wrong.

With --beside, rates has what became faster since another bundle was made, and no peers.
With --emulate, the emulator is in the GPU's place, and the CPU in the emulator's.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

TESTS_FOLDER = Path(__file__).resolve().parents[1] / "test" / "python"


def main() -> None:
    """Be a child, or the controller."""
    if sys.argv[1:2] == ["--child"]:
        from contact.answers import run_child

        run_child(sys.argv[2], json.loads(sys.argv[3]))
        return
    from contact.controller import PARTS, TESTS, Contact, Options
    from contact.troubles import CHIPS, NoRoomError
    from workloads import select

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="all if none")
    parser.add_argument("--budget", type=float, default=480, help="seconds for all")
    parser.add_argument("--emulate", action="store_true", help="needs no GPU")
    parser.add_argument("--chip", default="", help="what is emulated; by default the GPU's")
    parser.add_argument("--output", type=Path, default=Path("contact"), help="folder for results")
    parser.add_argument("--workloads", nargs="+", default=(), help="names, groups or patterns")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files, as 'reduce'")
    parser.add_argument("--patience", type=float, default=0, help="seconds for one result")
    parser.add_argument("--faults", action="store_true", help="add results that fail, to see it")
    parser.add_argument("--beside", type=Path, help="another bundle, timed in turns with this one")
    given = parser.parse_args()
    if given.beside and not (given.beside / "contact").exists():
        parser.error(f"{given.beside} is no bundle: it has no contact")
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {' or '.join(sorted(unknown))}; there are {PARTS}")
    # Not a number is not above 0, either.
    if not 0 < given.budget < float("inf"):
        parser.error(f"{given.budget:g} seconds are no time for anything")
    if absent := [pattern for pattern in given.workloads if not select([pattern])]:
        parser.error(f"no workload is called {' or '.join(absent)}")
    if absent := [name for name in given.tests if not (TESTS_FOLDER / f"test_{name}.py").exists()]:
        parser.error(f"no file of tests is called test_{absent[0]}.py")
    if given.chip and given.chip not in (*CHIPS.values(), "sm_90"):
        parser.error(
            f"{given.chip} is no chip that is known; there are {', '.join(CHIPS.values())}"
        )
    options = Options(
        parts=given.parts or PARTS,
        folder=given.output.resolve(),
        budget=given.budget,
        emulate=given.emulate,
        chip=given.chip,
        patterns=given.workloads,
        tests=given.tests,
        patience=given.patience,
        faults=given.faults,
        beside=given.beside and given.beside.resolve(),
    )
    try:
        sys.exit(Contact(options).go())
    except NoRoomError as error:
        sys.exit(f"contact: {error}")


if __name__ == "__main__":
    main()
