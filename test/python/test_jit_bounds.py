# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: comparing, warnings, and how much is kept."""

from __future__ import annotations

import ctypes
import gc
import itertools
import weakref
from itertools import pairwise

import metaops as mo
import numpy as np
import pytest
from metaops.tracing import recordings
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
    jitted = mo.jit(lambda x, name: x * 2)
    with pytest.warns(RuntimeWarning, match="was recorded 16 times in 16 calls") as caught:
        for n in range(1, 40):
            assert jitted(leaf(1), f"part {n}").numpy().tolist() == [2]
    assert len(caught) == 1
    # A text that comes again is recorded.
    for _ in range(4):
        jitted(leaf(1), "another")
    assert hits(jitted) == 1


def test_many_shapes_in_turn() -> None:
    jitted = mo.jit(lambda x: x * 2)
    counts = []
    for _ in range(4):
        for n in range(1, 200):
            assert jitted(np.ones(n, "float32")).shape == (n,)
        counts.append((mo.jit_info(jitted).keys, hits(jitted)))
    # At first 16 are recorded, then all. The first length is compared at its second call, and
    # others by that; at the fourth call the 16 are.
    assert counts == [(16, 0), (199, 15), (199, 15 + 199), (199, 15 + 199 + 183)]


def test_a_length_is_compared_by_another() -> None:
    ticks = itertools.count()

    @mo.jit
    def halve(x: mo.Var) -> mo.Var:
        next(ticks)
        return mo.mean(x * 2) if x.shape[0] < 8 else mo.sum(x)

    runs = []
    for n in (3, 3, 4, 4, 4, 9, 9, 9, 5, 5):
        x = np.arange(n, dtype="float32")
        assert halve(x).numpy() == pytest.approx((x.mean() * 2) if n < 8 else x.sum())
        runs.append(next(ticks))
    # 3 and 9, of which others are computed, run twice; each count is one, too.
    assert [after - before - 1 for before, after in pairwise([-1, *runs])] == [
        *(1, 1, 1, 0, 0),
        *(1, 1, 0, 1, 0),
    ]


def test_what_no_guard_sees_is_no_kin_by_its_numbers() -> None:
    numbers = iter(range(1, 100))
    jitted = mo.jit(lambda x: x * next(numbers))
    assert jitted(leaf(1)).numpy().tolist() == [1]
    assert jitted(leaf(1, 1)).numpy().tolist() == [2, 2]
    with pytest.warns(RuntimeWarning, match="in call 2"):
        assert jitted(leaf(1, 1)).numpy().tolist() == [3, 3]


def test_recordings_of_all_functions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_tables", weakref.WeakSet())
    monkeypatch.setattr(recordings, "_MOST", 10)
    many = [mo.jit(lambda x, name: x * 2) for _ in range(6)]
    for name in "abcde":
        for jitted in many:
            for _ in range(3):
                assert jitted(leaf(1), name).numpy().tolist() == [2]
    assert sum(mo.jit_info(jitted).keys for jitted in many) == 10
    # The recordings of the last name are kept, and some of the one before.
    assert [hits(jitted) for jitted in many] == [5] * 6
    many[0](leaf(1), "e")
    many[0](leaf(1), "e")
    assert hits(many[0]) == 6


def test_recordings_are_bounded() -> None:
    jitted = mo.jit(lambda x, name: x * 2)
    for n in range(1, 120):
        for _ in range(3):
            jitted(leaf(1), str(n))
    info = mo.jit_info(jitted)
    assert info.keys == 64
    # Those used last are kept.
    before = info.hits
    for _ in range(2):
        jitted(leaf(1), "119")
    assert mo.jit_info(jitted).hits == before + 1
    assert hits(jitted) > 0


def test_lengths_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_MOST_OF_FAMILY", 20)
    jitted = mo.jit(lambda x, name: x * 2)
    for n in range(1, 60):
        for _ in range(3):
            jitted(mo.ones(n), "a")
    jitted(leaf(1), "b")
    # One of the other text, and of the lengths those used last.
    assert mo.jit_info(jitted).keys == 21
    before = recorded(jitted)
    jitted(mo.ones(59), "a")
    assert recorded(jitted) == before
    jitted(mo.ones(30), "a")
    assert recorded(jitted) == before + 1


def test_a_difference_ends_what_other_lengths_take_from_it() -> None:
    number = ctypes.c_double(1)
    jitted = mo.jit(lambda x: x * number.value)
    for n in (3, 3, 3, 5, 5, 5):
        assert jitted(mo.ones(n)).numpy().tolist() == [1] * n
    number.value = 3
    with pytest.warns(RuntimeWarning, match="in call 4"):
        assert jitted(mo.ones(3)).numpy().tolist() == [3] * 3
    with pytest.warns(RuntimeWarning, match="in call 4"):
        assert jitted(mo.ones(5)).numpy().tolist() == [3] * 5


def test_a_length_by_another_is_compared_at_its_fourth_call() -> None:
    number = ctypes.c_double(1)
    jitted = mo.jit(lambda x: x * number.value)
    for _ in range(64):
        jitted(mo.ones(3))
    for _ in range(3):
        jitted(mo.ones(5))
    number.value = 3
    with pytest.warns(RuntimeWarning, match="in call 4"):
        assert jitted(mo.ones(5)).numpy().tolist() == [3] * 5


def test_numbers_of_a_length_alone_are_compared() -> None:
    numbers = itertools.count(5)
    # A count of elements may be another one for another length, what is drawn may not.
    jitted = mo.jit(lambda x: mo.mean(x) * (next(numbers) + 0.5 if len(x) > 4 else 1.0))
    for _ in range(3):
        jitted(mo.ones(3))
    assert jitted(mo.ones(5)).item() == 5.5
    with pytest.warns(RuntimeWarning, match="in call 2"):
        assert jitted(mo.ones(5)).item() == 6.5


def test_objects_that_die_while_recordings_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_MOST_FAMILIES", 8)

    class Named:
        pass

    jitted = mo.jit(lambda x, name: x * 2)
    before = gc.get_threshold()
    gc.set_threshold(20)
    try:
        for _ in range(60):
            name = Named()
            # It dies with the collector, wherever that runs.
            name.own = name  # type: ignore[attr-defined]
            for _ in range(3):
                assert jitted(leaf(1), name).numpy().tolist() == [2]
    finally:
        gc.set_threshold(*before)
    del name
    gc.collect()
    assert mo.jit_info(jitted).keys == 0


def test_lists_of_many_tensors() -> None:
    many = [leaf(i) for i in range(300)]
    jitted = mo.jit(lambda parts: parts[0] + parts[299])
    for _ in range(3):
        assert jitted(many).numpy().tolist() == [299]
