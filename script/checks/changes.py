# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that changed, and the objects of the build that were made from them.

What a source includes is what the compiler has told ninja of it.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from checks.landings import ROOT, git

BUILD = ROOT / "build/release"


def list_changed(base: str | None) -> frozenset[str] | None:
    """Return the files that differ from a commit, new ones too; None where it is unknown."""
    if base is None or not git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        return None
    # The file itself has changed at each landing.
    changed = git("diff", "--name-only", "--no-renames", "-z", base, "--").split("\0")
    if not any(changed):
        return None
    changed += git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return frozenset(changed) - {""}


def list_changed_tests(base: str | None, changed: Iterable[str] | None) -> list[str]:
    """Return the Python tests among files that differ from a commit's, by name.

    A test is ``test_file.py::test_name``, a file that the commit does not have is
    ``test_file.py``. A test is its function with its decorators, without comments; what
    tests of a file share is not compared.
    """
    found: list[str] = []
    for file in matches(r"^test/python/test_\w+\.py$", changed or ()):
        if not (ROOT / file).exists():
            continue
        name, before = Path(file).name, git("show", f"{base}:{file}")
        if before:
            former = read_tests(before)
            now = read_tests((ROOT / file).read_text())
            found += [f"{name}::{test}" for test in now if former.get(test) != now[test]]
        else:
            found.append(name)
    return found


def read_tests(source: str) -> dict[str, str]:
    """Return the functions of a file that are tests, in a form to be compared."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return {each.name: ast.dump(each) for each in functions if each.name.startswith("test")}


@functools.cache
def read_dependencies() -> dict[str, list[str]]:
    """Return the files that each object was compiled from, where it is up to date."""
    listing = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True
    ).stdout
    dependencies: dict[str, list[str]] = {}
    files: list[str] = []
    for line in listing.splitlines():
        if line.startswith("    "):
            files.append(os.path.normpath(BUILD / line.strip()))
        elif line:
            files = []
            if line.endswith("(VALID)"):
                dependencies[line.split(": #deps")[0]] = files
    return dependencies


def matches(pattern: str, files: Iterable[str]) -> list[str]:
    """Return the files whose names, relative to the root, have a match of a pattern."""
    return sorted(file for file in files if re.search(pattern, file))


def concerns_objects(changed: Iterable[str], objects: str) -> str | None:
    """Return a changed file that an object matching a pattern was made from, if one is."""
    absolute = {str(ROOT / file): file for file in changed}
    # The dialect's headers are made from these, which are nobody's dependencies.
    if tables := matches(r"^include/.*\.td$", changed):
        return tables[0]
    for name, files in read_dependencies().items():
        if re.search(objects, name):
            for file in files:
                if file in absolute:
                    return absolute[file]
    return None
