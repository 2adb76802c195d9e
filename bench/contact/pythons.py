# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Pythons of the machine that have PyTorch."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Variables that our own process has for its Python, and no other may see.
OWN = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")
#: The variable with the LD_LIBRARY_PATH that a bundle was called with.
GIVEN_LIBRARIES = "METAOPS_BUNDLE_LIBRARIES"
NAMES = ("python3", "python", *(f"python3.{minor}" for minor in range(14, 8, -1)))
#: Importing PyTorch for the first time takes long on some disks.
SECONDS = 60
ASKED = "import torch, numpy; print(torch.__version__, torch.__path__[0])"


@dataclass(frozen=True)
class Found:
    """A Python that has PyTorch, if there is one; else `what` says why not."""

    python: str
    what: str
    #: Of PyTorch's libraries.
    folder: str = ""


def environment() -> dict[str, str]:
    """Return the environment of another Python."""
    others = {name: value for name, value in os.environ.items() if name not in OWN}
    if given := others.pop(GIVEN_LIBRARIES, ""):
        others["LD_LIBRARY_PATH"] = given
    return others


def find() -> Found:
    """Return the first Python on the path that has PyTorch."""
    tried: list[str] = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in NAMES:
            python = Path(folder or ".") / name
            if not os.access(python, os.X_OK):
                continue
            tried.append(str(python))
            try:
                done = subprocess.run(
                    [str(python), "-c", ASKED],
                    capture_output=True,
                    text=True,
                    env=environment(),
                    timeout=SECONDS,
                )
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0:
                version, path = done.stdout.strip().split(" ", 1)
                return Found(str(python), f"PyTorch {version}", f"{path}/lib")
    if not tried:
        return Found("", "no Python on the path")
    return Found("", f"PyTorch is in none of {len(tried)} Pythons on the path")
