# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of how comments open."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "script"))

from checks import comments

TEXT = """\
/// What it is.
int a; // Where it stands is no block.
// Returns
// What follows is the same sentence.
//
// How a paragraph begins counts, too.
/// Whatever is another word.
"""


def test_openings_are_found():
    assert comments.find_openings(TEXT, "//") == [1, 6]
    assert comments.find_openings("#: Whether\n#: How\nx = 1  # What\n    # That\n", "#") == [1, 4]


@pytest.mark.parametrize(("most", "says"), [(-1, "were there"), (1, "lower MOST")])
def test_more_and_fewer_are_faults(monkeypatch, most, says):
    count = comments.MOST
    monkeypatch.setattr(comments, "MOST", count + most)
    faults = comments.find_comment_faults(frozenset({"lib/Runtime/Graph/Graph.cpp"}))
    assert says in faults[0]
    assert str(count) in faults[0]
    assert all(fault.startswith("lib/Runtime/Graph/Graph.cpp:") for fault in faults[1:])
