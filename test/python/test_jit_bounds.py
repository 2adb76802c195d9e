# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: comparing, warnings, and how much is kept."""

from __future__ import annotations

import weakref

import metaops as mo
import numpy as np
import pytest
from metaops.tracing import functions
from recorded_functions import hits, leaf, recorded

# A warning that no test expects is an error.
pytestmark = pytest.mark.filterwarnings("error")


def test_flag_off_and_check() -> None:
    calls = 0

    def count() -> int:
        nonlocal calls
        calls += 1
        return 0

    class Counting:
        def __index__(self) -> int:
            return count()

    index = Counting()
    jitted = mo.jit(lambda x: x * float(index.__index__() + 2), recheck=False)
    with mo.flag_scope(jit="off"):
        for _ in range(3):
            assert jitted(leaf(1)).numpy().tolist() == [2]
    assert mo.jit_info(jitted).calls == 0
    plain = mo.jit(lambda x: x * 2)
    with mo.flag_scope(jit="check"):
        for _ in range(6):
            assert plain(leaf(1)).numpy().tolist() == [2]
    assert hits(plain) == 0
    for _ in range(6):
        plain(leaf(1))
    assert hits(plain) > 0


def test_check_finds_differences_at_once() -> None:
    table = np.ones(2, "float32")
    jitted = mo.jit(lambda x: x * table)
    for _ in range(10):
        jitted(leaf(1, 2))
    table[0] = 5
    with mo.flag_scope(jit="check"), pytest.warns(RuntimeWarning, match="in call 11"):
        assert jitted(leaf(1, 2)).numpy().tolist() == [5, 2]


def test_warning_names_both_values_and_the_line() -> None:
    numbers = iter(range(1, 100))
    jitted = mo.jit(lambda x: x * next(numbers))
    assert jitted(leaf(1)).numpy().tolist() == [1]
    with pytest.warns(RuntimeWarning) as caught:
        assert jitted(leaf(1)).numpy().tolist() == [2]
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert "test_jit_bounds.py" in text
    assert "call 2" in text
    for i in range(3, 8):
        assert jitted(leaf(1)).numpy().tolist() == [i]
    assert hits(jitted) == 0


def test_numbers_that_differ_are_named() -> None:
    jitted = mo.jit(lambda x, rate, name="a": x * rate)
    for i in range(7):
        jitted(leaf(1), i * 0.5)
    with pytest.warns(RuntimeWarning, match=r"8 values of the number rate.*mo\.array\(rate\)"):
        jitted(leaf(1), 99.0)


def test_functions_that_mostly_miss_say_so_once() -> None:
    jitted = mo.jit(lambda x: x * 2)
    with pytest.warns(RuntimeWarning, match="was recorded 16 times in 16 calls") as caught:
        for n in range(1, 40):
            assert jitted(mo.ones(n)).shape == (n,)
    assert len(caught) == 1
    # A shape that comes again is recorded.
    for _ in range(4):
        jitted(mo.ones(100))
    assert hits(jitted) == 1


def test_many_shapes_in_turn() -> None:
    jitted = mo.jit(lambda x: x * 2)
    with pytest.warns(RuntimeWarning, match="was recorded 16 times"):
        for _ in range(2):
            for n in range(1, 200):
                assert jitted(np.ones(n, "float32")).shape == (n,)
    # More shapes than recordings that are kept: they are called as they are.
    assert recorded(jitted) < 40
    assert mo.jit_info(jitted).keys <= 64


def test_recordings_of_all_functions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_functions", weakref.WeakSet())
    monkeypatch.setattr(functions, "_MOST", 10)
    many = [mo.jit(lambda x: x * 2) for _ in range(6)]
    for n in range(1, 6):
        for jitted in many:
            for _ in range(3):
                assert jitted(mo.ones(n)).shape == (n,)
    assert sum(mo.jit_info(jitted).keys for jitted in many) == 10
    # The recordings of the last shape are kept, and some of the one before.
    assert [hits(jitted) for jitted in many] == [5] * 6
    many[0](mo.ones(5))
    many[0](mo.ones(5))
    assert hits(many[0]) == 6


def test_recordings_are_bounded() -> None:
    jitted = mo.jit(lambda x: x * 2)
    for n in range(1, 120):
        for _ in range(3):
            jitted(mo.ones(n))
    info = mo.jit_info(jitted)
    assert info.keys == 64
    # Those used last are kept.
    before = info.hits
    for _ in range(2):
        jitted(mo.ones(119))
    assert mo.jit_info(jitted).hits == before + 1
    assert hits(jitted) > 0
