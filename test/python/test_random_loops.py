# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random loops and branches have the values and gradients of the loops unrolled.

Some have a budget that is too small for their carries.

For a longer run: python test_random_loops.py NUMBER_OF_GRAPHS [FIRST_SEED]
"""

from __future__ import annotations

import sys
import traceback

import metaops as mo
import numpy as np
import pytest
from random_loops import PROGRAMS, RandomLoops, choose, repeat_unrolled, run_unrolled
from random_programs import FIRST_SEED


def compare(seed: int) -> None:
    """Compare a value, gradients of two orders and a directional derivative."""
    graph = RandomLoops(seed)
    inputs = graph.inputs()
    tangents = [mo.sin(x + 1).detach() for x in inputs]

    def derive(loss: mo.Var) -> list[mo.Var]:
        if seed % 3 == 0:
            loss.item()
        first = mo.grad(loss, inputs, allow_unused=True)
        moved = mo.jvp([loss], inputs, tangents)
        second = mo.grad(sum((g * g).sum() for g in first) + moved[0], inputs, allow_unused=True)
        return [loss, *first, *moved, *second]

    mo.seed(seed)
    expected = [x.numpy() for x in derive(graph.run(inputs, run_unrolled, choose, repeat_unrolled))]

    def step(*given: mo.Var) -> list[mo.Var]:
        return derive(graph.run(list(given), *PROGRAMS))

    run = mo.jit(step) if seed % 3 == 1 else step
    # Two of five keep the carries of blocks of trips alone, or few of what is dear.
    budget = {0: 0, 1: 150}.get(seed % 5, 1 << 30)
    mo.seed(seed)
    with mo.flag_scope(saved_values_budget=budget):
        results = [x.sync() for x in run(*inputs)]
    for mine, value in zip(results, expected, strict=True):
        scale = max(np.abs(value).max(), 1e-3)
        np.testing.assert_allclose(mine.numpy() / scale, value / scale, atol=1e-9)


@pytest.mark.parametrize("first", range(0, 30, 5))
def test_random_loops(first: int) -> None:
    for seed in range(FIRST_SEED + first, FIRST_SEED + first + 5):
        compare(seed)


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = []
    for seed in range(first, first + count):
        try:
            compare(seed)
        except Exception:
            failed.append(seed)
            traceback.print_exc(limit=3)
    print(f"{count} graphs, {len(failed)} failed: {failed[:20]}")
    sys.exit(bool(failed))
