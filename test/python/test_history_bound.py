# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Histories keep so many bytes (docs/History.md#how-far-back), and say where they end."""

from __future__ import annotations

import inspect

import metaops as mo
import numpy as np
import pytest
from util import close, floats

KILO = 1024


@pytest.fixture(autouse=True)
def settled():
    """Count no histories of other tests."""
    mo.sync_all()
    with mo.flag_scope(asynchronous=False):
        yield


def kept():
    mo.sync([])
    return mo.stats()["history_bytes"]


class Counted:
    """Bytes of histories beyond those when it was made."""

    def __init__(self):
        self.before = kept()

    def __call__(self):
        return kept() - self.before


# Loops that are looked at


def walk(state, u, steps, seen=None):
    """Look at each step of a chain of which nobody holds the former states."""
    for _ in range(steps):
        state = (state @ u).tanh()
        float(state.sum())
        if seen is not None:
            stats = mo.stats()
            seen.append((stats["history_bytes"], stats["ops_in_block"], stats["bytes_in_use"]))
    return state


@pytest.mark.parametrize("rows", [2, 64, 1024])
def test_a_long_loop_is_bounded_in_bytes(rng, rows):
    """Operators take the bytes of small steps, values those of large ones."""
    bound, seen = 512 * KILO, []
    u = mo.array(floats(rng, (16, 16), low=-0.2, high=0.2))
    state = mo.array(floats(rng, (rows, 16)))
    mo.sync([u, state])
    before, begun = mo.stats(), kept()
    with mo.flag_scope(history_bytes=bound):
        walk(state, u, 600, seen)
    # A step's own, which stays in any case, and rounding of sizes of memory.
    step = rows * 64 + 16 * KILO
    histories, operators, memory = (np.array(column) for column in zip(*seen, strict=True))
    assert histories.max() <= begun + bound + step
    assert (operators - before["ops_in_block"]).max() <= (bound + step) / KILO * 1.5 + 16
    assert (memory - before["bytes_in_use"]).max() <= 2 * (bound + step)
    # They reach the bound, of which a sixteenth is made free at a time.
    assert histories[-200:].min() >= bound - bound / 16 - 2 * step
    assert histories[-200:].max() == histories[-400:-200].max()


def test_gradients_reach_as_far_as_the_bound(rng):
    u, start = floats(rng, (5, 5), "float64", low=-0.4, high=0.4), floats(rng, (4, 5), "float64")
    states = [start]
    for _ in range(40):
        states.append(np.tanh(states[-1] @ u))
    back, expected = np.ones_like(start), np.zeros_like(u)
    for t in range(40, 0, -1):
        back = back * (1 - states[t] ** 2)
        expected += states[t - 1].T @ back
        back = back @ u.T
    U = mo.array(u)
    with mo.flag_scope(history_bytes=512 * KILO):
        close(mo.grad(walk(mo.array(start), U, 40).sum(), U), expected, rtol=1e-9)
    line = inspect.getsourcelines(walk)[1] + 3
    message = (
        rf"through a value of shape \(4, 5\) from .*test_history_bound.py:{line}, whose history "
        "was let go, with the last Var of what it was made of or when all histories "
        "took more than 8192 bytes; keep Vars .*history_bytes"
    )
    with mo.flag_scope(history_bytes=8 * KILO):
        state = walk(mo.array(start), U, 40)
        for _ in range(2):
            with pytest.raises(RuntimeError, match=message):
                mo.grad(state.sum(), U)


@pytest.mark.parametrize("bound", [0, 1, KILO])
def test_the_last_program_keeps_its_history(rng, bound):
    """A loss that has been looked at is differentiated, however small the bound is."""
    w, x = mo.array(floats(rng, (6, 3))), mo.array(floats(rng, (20, 6)))
    with mo.flag_scope(history_bytes=bound):
        for _ in range(5):
            loss = ((x @ w).tanh() ** 2).sum()
            float(loss)
            t = np.tanh(x.numpy() @ w.numpy())
            close(mo.grad(loss, w), x.numpy().T @ (2 * t * (1 - t * t)), rtol=1e-3, atol=1e-4)
            w = w * 0.9 + 0.01


def test_the_oldest_goes_first_whichever_loop_it_is_of(rng):
    """A loop that is waiting loses its history to one that goes on."""
    u = mo.array(floats(rng, (5, 5), low=-0.4, high=0.4))
    start = mo.array(floats(rng, (4, 5)))
    with mo.flag_scope(history_bytes=64 * KILO):
        waiting = (walk(start, u, 3) * 2.0).sync()
        mo.grad(waiting.sum(), u).sync()
        walk(start * 0.5, u, 40)
        # It is held: its own history is there, that of what nobody holds is not.
        with pytest.raises(RuntimeError, match="history_bytes"):
            mo.grad(waiting.sum(), u)


def test_what_is_held_does_not_push_others_out(rng):
    """Histories of held values go on, and count no more when the bound has been met."""
    u = mo.array(floats(rng, (5, 5), "float64", low=-0.4, high=0.4))
    state, held = mo.array(floats(rng, (4, 5), "float64")), []
    start = state
    with mo.flag_scope(history_bytes=32 * KILO):
        for _ in range(100):
            state = (state @ u).tanh()
            held.append(state)
            float(state.sum())
        assert mo.stats()["ops_in_block"] > 200
        mo.grad(state.sum(), start).sync()
        # The others have the whole bound.
        other = mo.array(floats(rng, (4, 5), "float64"))
        mo.grad(walk(other, u, 3).sum(), other).sync()
        assert kept() <= 64 * KILO
        begun = mo.stats()["ops_in_block"]
        held.clear()
        state = state * 1.0
        walk(state, u, 20)
        assert mo.stats()["ops_in_block"] < begun - 150


# Counting


def test_operators_and_what_nobody_holds_count(rng):
    counted = Counted()
    w = mo.array(floats(rng, (32, 32)))
    x = mo.array(floats(rng, (32, 32)))
    mo.sync([w, x])
    assert counted() == 0
    y = (w * x).exp()
    assert counted() == 0
    y.sync()
    operators = 2 * KILO
    assert counted() == operators
    # Its data, once the name is rebound.
    x = None
    assert counted() == operators + 4 * KILO
    z = y.sum()
    z.sync()
    y = None
    assert operators + 8 * KILO <= counted() <= operators + 10 * KILO
    z = None
    assert counted() == 0


def test_a_held_view_holds(rng):
    """The memory is the view's, however it came to be."""
    w = mo.array(floats(rng, (16, 64)))
    counted = Counted()
    batch = mo.array(floats(rng, (16, 64)))
    rows = batch.reshape((32, 32)).reshape((16, 64))
    loss = (rows * w).sum()
    loss.sync()
    count = counted()
    batch = None
    assert counted() == count
    rows = None
    assert counted() == count + 4 * KILO
    loss = None
    assert counted() == 0


def test_values_saved_for_gradients_have_their_own_budget(rng):
    """A step that is looked at twice keeps what its gradient needs, and that is no history."""
    w, x = mo.array(floats(rng, (64, 64), low=-0.1, high=0.1)), mo.array(floats(rng, (64, 64)))
    with mo.flag_scope(history_bytes=24 * KILO):
        before = mo.stats()["bytes_in_use"]
        h = ((x @ w).tanh() @ w).tanh() @ w
        loss = (h * h).sum()
        float(loss)
        assert mo.stats()["bytes_in_use"] - before > 2 * 16 * KILO
        float((h * 2.0).mean())
        gradient = mo.grad(loss, w)
    with mo.flag_scope(lazy_execution=False):
        h = ((x @ w).tanh() @ w).tanh() @ w
        close(mo.grad((h * h).sum(), w), gradient, rtol=1e-4, atol=1e-5)


def test_nothing_counts_that_is_gone(rng):
    """After any loop the sum is what it was before."""
    counted = Counted()
    for bound in (0, 16 * KILO, 1 << 28):
        with mo.flag_scope(history_bytes=bound):
            w, x = mo.array(floats(rng, (8, 8))), mo.array(floats(rng, (8, 8)))
            optimizer = mo.optim.Adam([w], 0.01)
            losses, views = [], []
            for i in range(30):
                h = (x @ w).reshape((4, 16))
                views.append(h.reshape((16, 4)))
                values = mo.sort((h * h).reshape((64,)))
                loss = (values[:5] * 2.0).sum()
                if i % 3:
                    float(loss)
                if i % 2:
                    optimizer.step(loss)
                else:
                    w = w - 0.01 * mo.grad(loss, w)
                    optimizer = mo.optim.Adam([w], 0.01)
                losses.append(loss)
                with mo.no_grad():
                    float((x * w).max())
            mo.sync_all()
            del w, x, optimizer, losses, views, h, values, loss
            assert counted() == 0


@pytest.mark.parametrize("lazy", [True, False])
def test_without_laziness_histories_stay(rng, lazy):
    u, start = mo.array(floats(rng, (5, 5), low=-0.4, high=0.4)), mo.array(floats(rng, (4, 5)))
    with mo.flag_scope(history_bytes=4 * KILO, lazy_execution=lazy):
        state = walk(start, u, 20)
        if lazy:
            with pytest.raises(RuntimeError, match="history_bytes"):
                mo.grad(state.sum(), start)
        else:
            mo.grad(state.sum(), start).sync()


def test_the_default_is_a_share_of_the_budget():
    assert mo.flags.history_bytes == mo.flags.saved_values_budget // 4 == 2**28


# Held and pending values


def test_what_held_values_leave_behind_counts_again(rng):
    """The bound is met while values are held; those die, and younger histories read them."""
    bound, size = 4096 * KILO, 1024 * KILO
    data, w = mo.array(floats(rng, (size // 4,))), mo.array(np.float32(0.5))
    c = mo.array(np.float32(0.9))
    mo.sync([data, w, c])
    before = mo.stats()["bytes_in_use"]
    with mo.flag_scope(history_bytes=bound):
        held = []
        for _ in range(24):
            held.append(data * w)
            float(held[-1].sum())
        z = mo.array(np.float32(0.1))
        for _ in range(24):
            z = mo.tanh(z * c + (held.pop(0) * z).mean())
            float(z)
        # The bound, and a step's own.
        assert mo.stats()["bytes_in_use"] - before <= bound + 2 * size


def test_what_is_pending_is_not_held_against_histories(rng):
    u = mo.array(floats(rng, (5, 5), "float64", low=-0.4, high=0.4))
    start = mo.array(floats(rng, (4, 5), "float64"))
    with mo.flag_scope(history_bytes=512 * KILO):
        large = mo.array(floats(rng, (256, 1024))) * 2.0
        float(large.sum())
        unasked = large * 2.0
        del large
        state = walk(start, u, 4)
        gradient = mo.grad(state.sum(), u).numpy()
        assert unasked.shape == (256, 1024)
    close(gradient, mo.grad(walk(start, u, 4).sum(), u), rtol=1e-12)
