# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Pythons of the machine that have PyTorch, and what it measures there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_check import Row

#: What our own process has for its Python, and no other may see.
OWN = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")
NAMES = ("python3", "python", *(f"python3.{minor}" for minor in range(14, 8, -1)))


def environment() -> dict[str, str]:
    """Return the environment of another Python."""
    return {name: value for name, value in os.environ.items() if name not in OWN}


def find() -> tuple[str, str]:
    """Return the first Python on the path that has PyTorch, and what it is; or why none."""
    tried = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in NAMES:
            python = Path(folder or ".") / name
            if not os.access(python, os.X_OK):
                continue
            tried.append(str(python))
            command = [str(python), "-c", "import torch, numpy; print(torch.__version__)"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment())
            if done.returncode == 0:
                return str(python), f"PyTorch {done.stdout.strip()} of {python}"
    return "", f"PyTorch is in none of {', '.join(tried)}" if tried else "no Python on the path"


def measure_peers(rows: Sequence[Row], rounds: int) -> None:
    """Add the peers' times to the rows, or why there are none."""
    wanted = [(row, size) for row in rows for size in row.seconds]
    python, what = find()
    found: dict[tuple[str, str], dict[str, float | str]] = {}
    if python:
        script = Path(__file__).with_name("gpu_peers.py")
        names = [f"{size}={row.name}" for row, size in wanted]
        done = subprocess.run(
            [python, str(script), str(rounds), *names],
            capture_output=True,
            text=True,
            env=environment(),
        )
        for line in done.stdout.splitlines():
            one = json.loads(line)
            who = found.setdefault((one["name"], one["size"]), {})
            who[one["peer"]] = one.get("seconds", one.get("reason", ""))
        if done.returncode:
            what += f" stopped: {done.stderr.strip()[-200:]}"
    for row, size in wanted:
        row.seconds[size].update(found.get((row.name, size), {"PyTorch": what}))
