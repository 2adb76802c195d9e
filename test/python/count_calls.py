# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions of a call of exported programs, in Valgrind's callgrind.

Files have machine code, so that what is counted is compiled: an interpreter copies what a
kernel has in place. ``python count_calls.py PROGRAM...`` is what Valgrind runs, see `count`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from count_instructions import dump, read_totals

#: The calls that are counted, behind the first ones.
CALLS, FIRST = 3, 2


def count(programs: Sequence[Path], folder: Path) -> list[float]:
    """Return the instructions of a call of each program, with numbers as arguments."""
    out = folder / "counts"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", sys.executable]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [*command, __file__, *map(str, programs)], check=True, capture_output=True, env=environment
    )
    # Before each program is what came in between.
    return [total / CALLS for total in read_totals(folder)[1 : 2 * len(programs) : 2]]


def main() -> None:
    import gc

    import numpy as np
    from metaops import execute

    gc.disable()
    rng = np.random.default_rng(0)
    for path in sys.argv[1:]:
        program = execute.load_program(path)
        inputs = [rng.random(t.shape).astype(t.dtype) for t in program.inputs]
        for _ in range(FIRST):
            program(*inputs)
        dump()
        for _ in range(CALLS):
            program(*inputs)
        dump()


if __name__ == "__main__":
    main()
