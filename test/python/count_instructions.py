# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs loops in Valgrind's callgrind, which counts the instructions of their steps.

``python count_instructions.py [FLAG=NUMBER...] NAME...`` is what it runs, see `count`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: From each of these iterations on, so many are counted, and so often: the least count
#: stands, since an allocator tidies up now and then.
FIRST, COUNTED, TIMES = (10, 50, 500), 10, 3


def is_there() -> bool:
    """Return whether instructions can be counted here."""
    return shutil.which("valgrind") is not None and shutil.which("vgdb") is not None


def count(names: list[str], folder: Path, **flags: int) -> dict[str, list[float]]:
    """Return the instructions of an iteration of loops, from each of `FIRST` on.

    They are those of the whole process: of Python, the session and the interpreter of
    programs, which stands in for compiled ones. So they do not depend on the machine's
    load, and hardly on anything else.
    """
    out = folder / "counts"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    settings = [f"{name}={value}" for name, value in flags.items()]
    script = [sys.executable, __file__, *settings, *names]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([*command, *script], check=True, capture_output=True, env=environment)
    totals = read_totals(folder)
    # In front of the counts from an iteration on is what came before it.
    places = [totals[k : k + 1 + TIMES][1:] for k in range(0, len(totals), 1 + TIMES)]
    least = [min(counts) / COUNTED for counts in places if len(counts) == TIMES]
    return {name: least[k * len(FIRST) :][: len(FIRST)] for k, name in enumerate(names)}


def read_totals(folder: Path) -> list[int]:
    """Return what was counted in each part that `dump` has ended, and to the end."""
    parts = sorted(folder.glob("counts.*"), key=lambda path: int(path.suffix[1:]))
    return [int(re.findall(r"^totals: (\d+)", part.read_text(), re.M)[-1]) for part in parts]


def dump() -> None:
    """End a part of what is counted."""
    subprocess.run(["vgdb", f"--pid={os.getpid()}", "dump"], check=True, capture_output=True)


def main() -> None:
    import gc

    import metaops as mo
    from metaops import _core
    from people_loops import LOOPS, Hand

    mo.flags.backend = "interpreter"
    gc.disable()
    settings = [text.split("=") for text in sys.argv[1:] if "=" in text]
    for name, value in settings:
        setattr(mo.flags, name, int(value))
    for name in sys.argv[1 + len(settings) :]:
        step = LOOPS[name].make(Hand(7, keeps=True))
        ends = {first + k * COUNTED for first in FIRST for k in range(TIMES + 1)}
        for i in range(max(ends) + 1):
            if i in ends:
                _core.drain_queue()
                dump()
            step(i)
        del step


if __name__ == "__main__":
    main()
