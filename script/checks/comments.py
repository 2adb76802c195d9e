# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Openings of comments, which name a concept or begin with a verb.

Comments that open with a question's word say late what they are about. Those that were
written before there was this rule are counted, and there may be no more of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from checks.landings import ROOT

#: Number of comments that open so. To be lowered with each that is rewritten.
MOST = 126

FOLDERS = ("bench", "include", "lib", "python", "script", "test/python", "tools", "unittests")
MARKS = {".cpp": "//", ".h": "//", ".td": "//", ".py": "#"}


def find_openings(text: str, mark: str) -> list[int]:
    """Return the numbers of lines that open a comment with a question's word."""
    word = re.compile(rf"{mark}[/:]? *(What|Whether|How|Where|Who|That)\b")
    found = []
    was_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        is_comment = stripped.startswith(mark)
        if is_comment and not was_comment and word.match(stripped):
            found.append(number)
        # A blank line of a comment ends a paragraph.
        was_comment = is_comment and stripped not in (mark, mark + "/")
    return found


def list_files() -> list[Path]:
    """Return the sources whose comments are looked at."""
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*"))
    return sorted(file for file in files if file.suffix in MARKS and file.is_file())


def find_comment_faults(changed: frozenset[str] | None) -> list[str]:
    """Return what is wrong with the number of comments that open so.

    Of files that have changed (None: of all), their places are told, too.
    """
    places = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in list_files()
        for number in find_openings(file.read_text(), MARKS[file.suffix])
    ]
    if len(places) == MOST:
        return []
    if len(places) < MOST:
        return [f"{len(places)} comments open with a question's word: lower MOST, {MOST}, to that"]
    return [
        f"{len(places)} comments open with What, Whether, How, Where, Who or That, and {MOST}"
        " were there. Begin those that are new with a verb or the name of a concept:",
        *(place for place in places if changed is None or place.split(":")[0] in changed),
    ]
