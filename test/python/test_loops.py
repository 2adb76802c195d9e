# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that are constant in size in NumPy are so here: programs, operators and
bytes do not grow, however the loop is written. docs/History.md has the rules.
"""

import gc

import metaops as mo
import numpy as np
import pytest
from numpy_loops import ALL, FEW_BYTES, INPUTS, OUTPUTS, RATE, ROWS, loss_of, sizes
from util import close, floats

STEPS = 48


@pytest.fixture
def settled(own_kernels):
    """Leave nothing of other tests, and no program on its way when a step is over."""
    mo.sync_all()
    # What there is now is collected once, and not after each step.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    with mo.flag_scope(asynchronous=False):
        yield


@pytest.mark.parametrize("make", ALL, ids=lambda loop: loop.__name__)
def test_steps_are_numpys_and_do_not_grow(settled, make, rng):
    """When histories have met their bound, nothing changes from period to period."""
    with mo.flag_scope(history_bytes=FEW_BYTES):
        loop, seen = make(rng), []
        for i in range(STEPS):
            loop.step(i)
            loop.reference(i)
            seen.append(sizes())
            if i == STEPS // 2 - 1:
                runs = mo.stats()["programs_run"]
        if loop.programs:
            assert seen[-1] == seen[STEPS // 2 - 1]
            periods = STEPS // 2 / loop.period
            assert mo.stats()["programs_run"] - runs <= loop.programs * periods
        else:
            for name in seen[0]:
                early, late = seen[: STEPS // 2], seen[STEPS // 2 :]
                assert max(s[name] for s in late) <= max(s[name] for s in early)
        for var, array in loop.pairs():
            close(var, array, rtol=1e-3, atol=1e-4)


# Costs of a step


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("rebinds", [False, True])
def test_an_update_by_hand_costs_what_an_update_costs(compiled, settled, rng, printed, rebinds):
    def train(by_hand):
        x, y = mo.array(floats(rng, (ROWS, INPUTS))), mo.array(floats(rng, (ROWS, OUTPUTS)))
        w = mo.array(floats(rng, (INPUTS, OUTPUTS)))
        counts = []
        for _ in range(24):
            before = mo.stats()["programs_run"]
            loss = loss_of(w, x, y)
            new = w - mo.grad(loss, w) * RATE
            if not by_hand:
                w.update(new)
            elif rebinds:
                w = new
            else:
                w.assign(new)
            del new
            if printed:
                float(loss)
            kernels = len(mo.last_program().kernels) if counts else 0
            counts.append((mo.stats()["programs_run"] - before, kernels))
        mo.sync_all()
        assert len(set(counts[8:])) == 1
        return counts[-1]

    hand, explicit = train(True), train(False)
    assert hand[0] <= explicit[0]
    if not printed:
        assert hand == explicit


# Loops that ask for nothing


@pytest.mark.parametrize("start", ["array", "zeros"])
def test_a_loop_that_asks_for_nothing_is_cut(settled, rng, start):
    c = mo.array(floats(rng, (4,), low=0.1, high=0.2))
    x = mo.zeros(4) if start == "zeros" else mo.array(floats(rng, (4,)))
    v = x * 1.0
    expected_x, expected_v = x.numpy().astype("float64"), v.numpy().astype("float64")
    a = c.numpy().astype("float64")
    if start == "zeros":
        x, v = mo.zeros(4), mo.zeros(4)
    seen = []
    steps = 60_000
    for i in range(steps):
        v = v * 0.5 - x * c + 0.1
        x = x + v
        expected_v = expected_v * 0.5 - expected_x * a + 0.1
        expected_x = expected_x + expected_v
        if i % 1000 == 999:
            seen.append((mo.stats()["ops_in_block"], mo.stats()["programs_compiled"]))
    operators, programs = zip(*seen, strict=True)
    assert max(operators) < 450_000
    assert max(operators[40:]) <= max(operators[:40]) * 1.1
    assert programs[-1] == programs[20] <= programs[0] + 6
    close(x, expected_x.astype("float32"), rtol=1e-3, atol=1e-4)


def test_a_list_of_losses_does_not_hold_the_parameters_of_each(compiled, settled, rng):
    """As with updates: numbers and operators are kept, and no old parameters."""
    start, data = (floats(rng, (64, 64), low=-0.1, high=0.1) for _ in range(2))
    w, x = mo.array(start), mo.array(data)
    losses, seen = [], []
    with mo.flag_scope(history_bytes=FEW_BYTES):
        for _ in range(48):
            losses.append(((w * x).tanh() ** 2).sum())
            w -= mo.grad(losses[-1], w) * RATE
            seen.append(mo.stats()["bytes_in_use"])
        # A parameter takes 16 KiB.
        assert seen[-1] - seen[23] < 24 * 2048
        first, last = losses[0].item(), losses[-1].item()
        assert last < first
        with pytest.raises(RuntimeError, match="history_bytes"):
            mo.grad(losses[8], x).sync()
        # The first one was made of no step.
        t = np.tanh(start * data)
        close(mo.grad(losses[0], x), 2 * t * (1 - t * t) * start, rtol=1e-3)
