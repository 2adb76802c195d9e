# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial and the guides: their programs print what is shown, their names exist."""

import contextlib
import io
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def blocks(page):
    """Yield the line, the language and the text of each block of a page."""
    text = (DOCS / page).read_text()
    for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, block.start()) + 2, block[1], block[2]


def programs(page):
    """Return line, program and what the next block shows of its output."""
    found = []
    for line, language, text in blocks(page):
        if language == "python":
            found.append([line, text, ""])
        elif language == "":
            assert found[-1][2] == "", f"line {line}: what prints this?"
            found[-1][2] = text
        else:
            assert language == "py", f"line {line}"
    return found


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("page", ["Tutorial.md"])
def test_what_the_programs_print(page):
    """Run a page's programs in order, as its reader does."""
    scope = {}
    for line, program, shown in programs(page):
        printed = io.StringIO()
        # Errors tell the line of the page.
        code = compile("\n" * (line - 1) + program, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, scope)
        assert printed.getvalue() == shown, f"{page}:{line}"
