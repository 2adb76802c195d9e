# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recorded functions in profiles: calls, hits, and what was new."""

from __future__ import annotations

import metaops as mo
import pytest
from recorded_functions import leaf

pytestmark = pytest.mark.filterwarnings("error")


def double(x: mo.Var, by: float = 2.0) -> mo.Var:
    """Return x times a number."""
    return x * by


def half(x: mo.Var) -> mo.Var:
    """Return half of x."""
    return x / 2


def test_calls_of_a_scope() -> None:
    jitted, other, unused = mo.jit(double), mo.jit(half), mo.jit(half)
    for _ in range(5):
        jitted(leaf(1))
    unused(leaf(1))
    with mo.profile_scope() as report:
        for _ in range(6):
            jitted(leaf(1))
        jitted(leaf(1, 2))
        jitted(leaf(1), 3.0)
        other(leaf(1))
        open_calls = [info.calls for info in report.functions]
    assert open_calls == [8, 1]
    first, second = report.functions
    assert (first.name, first.calls, first.hits, first.keys) == ("double", 8, 6, 3)
    assert [record.call for record in first.records] == [12, 13]
    shape, number = first.records
    assert shape.new == "x"
    assert "(1,)" in shape.before
    assert "(2,)" in shape.after
    assert number.new == "by"
    assert number.after == "3.0"
    assert (second.name, second.calls, second.hits) == ("half", 1, 0)
    # A call behind the scope is not of it.
    jitted(leaf(1))
    assert report.functions[0].calls == 8
    assert mo.jit_info(jitted).calls == 14


def test_tables_have_functions() -> None:
    jitted = mo.jit(double)
    with mo.profile_scope() as report:
        for _ in range(4):
            jitted(leaf(1, 2))
    text = str(report)
    assert "double: 4 calls, 1 of them without recording; 1 recordings kept" in text
    assert "call 1: the first" in text
    page = report._repr_html_()
    assert "double" in page
    assert "recordings" in page


def test_scopes_without_recorded_functions() -> None:
    with mo.profile_scope() as report:
        (leaf(1) * 2).sync()
    assert report.functions == []
    assert "recording" not in str(report)
