# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Landings: the commits that came together, and the part of the tests that is their turn.

The file ``.ci/landing`` holds a number, which the last commit of each landing advances by
one. So the history tells where each landing ended: what has changed since then, and which
landing was the last one to run a part. Nothing here depends on the clock or the machine: a
commit always gives the same part.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ".ci/landing"
#: The number of parts of what the first tier leaves out, of which each landing runs one.
PARTS = 8


def git(*arguments: str) -> str:
    """Return what git prints; nothing where it fails, as in a tree without a history."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


@dataclass(frozen=True)
class Landing:
    """A landing as the history tells it."""

    #: The number that its last commit has written into the file.
    number: int
    #: Its last commit.
    commit: str


def read_landings() -> list[Landing]:
    """Return the landings of this history, the latest one first."""
    landings = []
    for commit in git("log", "--format=%H", "--", FILE).split():
        number = git("show", f"{commit}:{FILE}").strip()
        if number.isdigit():
            landings.append(Landing(int(number), commit))
    # Where a shallow clone ends, each file seems to have been written.
    is_shallow = git("rev-parse", "--is-shallow-repository").strip() == "true"
    return landings[:-1] if is_shallow else landings


def find_part(landings: list[Landing]) -> int:
    """Return the part, 1 to PARTS, whose turn it is at this commit.

    Commits behind the last landing count, too: should one not have advanced the number,
    its part is another one all the same.
    """
    if not landings:
        number = (ROOT / FILE).read_text().strip() if (ROOT / FILE).exists() else "0"
        return int(number) % PARTS + 1
    ahead = git("rev-list", "--count", f"{landings[0].commit}..HEAD").strip()
    return (landings[0].number + int(ahead or 0)) % PARTS + 1


def find_base(landings: list[Landing], *, lands: bool) -> str | None:
    """Return the commit that changes are counted from, or None where none is known.

    It is the end of the last landing. A tree that ``lands`` (as in continuous integration)
    ends with the latest number itself, so its base is the number before.
    """
    before = landings[1:] if lands or is_advanced(landings) else landings
    return before[0].commit if before else None


def is_advanced(landings: list[Landing]) -> bool:
    """Return whether the commit at hand has advanced the number, as the last one should."""
    return bool(landings) and landings[0].commit == git("rev-parse", "HEAD").strip()


def describe_part(part: int, landings: list[Landing]) -> str:
    """Return the landing and the commits that may have broken what a part finds broken."""
    earlier = [landing for landing in landings[1:] if landing.number % PARTS + 1 == part]
    if not earlier:
        return "no landing of this history has run it before"
    since = earlier[0]
    commits = git("rev-list", "--count", f"{since.commit}..HEAD").strip()
    return (
        f"landing {since.number} ran it last, so what fails in it came with one of the "
        f"{commits} commits of {since.commit[:10]}..HEAD"
    )


def seed() -> int:
    """Return a number that is the commit's own, for tests of random programs."""
    return int(git("rev-parse", "HEAD").strip()[:6] or "0", 16)
