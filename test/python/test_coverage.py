# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of other libraries: each is here, or a table says why not."""

import collections
import inspect
import re
from itertools import chain

import coverage_of_names as coverage
import metaops as mo
import pytest

LIBRARIES = coverage.counted()
ELSEWHERE, LEFT_OUT, MISSING = coverage.tables()
ABSENT = [*ELSEWHERE, *chain(*LEFT_OUT.values(), *MISSING.values())]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.module)
def test_each_name_is_here_or_in_a_table(library):
    assert len(library.names) == len(set(library.names)) > 10
    unknown = [n for n in library.names if not library.is_here(n) and n not in ABSENT]
    assert not unknown, "add them to metaops/compat/_absent.py, with the reason"


def test_the_tables_hold_absent_names_only():
    twice = [name for name, count in collections.Counter(ABSENT).items() if count > 1]
    assert not twice
    absent = {
        n for library in coverage.libraries() for n in library.names if not library.is_here(n)
    }
    needless = sorted(set(ABSENT) - absent)
    assert not needless, "they are here now, or no library has them"


def test_what_is_named_is_there():
    text = "\n".join([*ELSEWHERE.values(), *LEFT_OUT, *MISSING])
    names = re.findall(r"\bmo\.([\w.]*\w)", text)
    assert len(names) > 100
    for name in names:
        value = mo
        for part in name.split("."):
            assert part in dir(value), name
            value = getattr(value, part)
    x = mo.zeros(2)
    for name in re.findall(r"\bx\.(\w+)", text):
        assert inspect.getattr_static(type(x), name) is not None, name
    for name in re.findall(r"x\.at\[key\]\.(\w+)", text):
        assert callable(getattr(x.at[0], name))


def test_the_document_is_up_to_date():
    assert coverage.DOCUMENT.read_text() == coverage.document(), (
        "run test/python/coverage_of_names.py"
    )
