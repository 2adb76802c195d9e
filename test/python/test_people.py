# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops as people write them (people_loops/) keep the rules of docs/History.md:

numbers are those of running op by op, what is alive is computed once, a step is as many
programs as it should be, and nothing grows; whether the names of a step are kept or not.
"""

from __future__ import annotations

import gc
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from people_loops import LOOPS, Hand, Loop

#: Iterations after which a loop is to cost the same in each window of so many.
BEGUN, WINDOW = 60, 120
#: A bound that histories of these loops meet by then.
HISTORY_BYTES = 100_000
COUNTS = ("programs_run", "operators_repeated", "values_recorded", "programs_compiled")


def run(loop: Loop, steps: int, keeps: bool) -> list[Any]:
    step = loop.make(Hand(7, keeps))
    return [np.asarray(value) for i in range(steps) for value in step(i)]


@pytest.mark.parametrize("keeps", [False, True], ids=["dropped", "kept"])
@pytest.mark.parametrize("name", LOOPS)
def test_numbers_are_those_of_operators_run_at_once(name, keeps):
    lazy = run(LOOPS[name], 25, keeps)
    with mo.flag_scope(lazy_execution=False):
        eager = run(LOOPS[name], 25, keeps)
    assert len(lazy) == len(eager)
    for mine, expected in zip(lazy, eager, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("keeps", [False, True], ids=["dropped", "kept"])
@pytest.mark.parametrize("name", LOOPS)
@mo.flag_scope(history_bytes=HISTORY_BYTES)
def test_steps_cost_what_they_should(name, keeps):
    loop = LOOPS[name]
    step = loop.make(Hand(7, keeps))

    def window(first: int, last: int) -> dict[str, float]:
        before = mo.stats()
        for i in range(first, last):
            step(i)
        gc.collect()
        _core.drain_queue()
        after = mo.stats()
        found = {each: (after[each] - before[each]) / (last - first) for each in COUNTS}
        return {**found, "block": after["ops_in_block"], "bytes": after["bytes_in_use"]}

    window(0, BEGUN)
    first = window(BEGUN, BEGUN + WINDOW)
    second = window(BEGUN + WINDOW, BEGUN + 2 * WINDOW)
    assert second["programs_compiled"] == 0
    assert second["programs_run"] <= loop.programs * 1.01
    assert second["operators_repeated"] <= loop.repeated * 1.01
    assert second["values_recorded"] <= first["values_recorded"] * 1.01
    assert second["block"] - first["block"] <= loop.block * WINDOW
    # An allocation takes 512 bytes at least.
    assert second["bytes"] <= first["bytes"] * 1.05 + 512 * loop.block * WINDOW
