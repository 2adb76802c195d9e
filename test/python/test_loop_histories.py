# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Histories of loops: gradients through steps, as far as anything of them is held."""

import collections

import metaops as mo
import numpy as np
import pytest
from numpy_loops import FEW_BYTES, INPUTS, OUTPUTS, ROWS, loss_of, sizes
from util import close, floats


def train_inside(w, x, y, rate, steps, look):
    for _ in range(steps):
        loss = loss_of(w, x, y)
        w = w - mo.grad(loss, w) * rate
        if look:
            float(loss)
    return w


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("keeps", [False, True])
def test_gradients_flow_through_steps_by_hand(rng, look, keeps):
    """By the rate, the data and, where it is held, the start of five steps."""
    arrays = [floats(rng, (INPUTS, OUTPUTS), "float64"), floats(rng, (ROWS, INPUTS), "float64")]
    y = mo.array(floats(rng, (ROWS, OUTPUTS), "float64"))

    def outer(w, x, rate):
        return loss_of(train_inside(w, x, y, rate, 5, look), x * 0.5, y)

    w, x = (mo.array(array) for array in arrays)
    rate = mo.array(0.3, "float64")
    targets = [rate, x, w] if keeps else [rate, x]
    if keeps:
        loss = outer(w, x, rate)
    else:
        del w
        loss = outer(mo.array(arrays[0]), x, rate)
    gradients = [g.numpy() for g in mo.grad(loss, targets)]
    eps = 1e-5

    def value(r, dx, dw):
        return outer(
            mo.array(arrays[0] + dw), mo.array(arrays[1] + dx), mo.array(r, "float64")
        ).item()

    slope = (value(0.3 + eps, 0, 0) - value(0.3 - eps, 0, 0)) / (2 * eps)
    assert gradients[0] == pytest.approx(slope, rel=1e-5)
    for number, gradient in enumerate(gradients[1:]):
        direction = rng.uniform(-1, 1, gradient.shape)
        moves = [[0, 0], [0, 0]]
        moves[0][number], moves[1][number] = eps * direction, -eps * direction
        slope = (value(0.3, *moves[0]) - value(0.3, *moves[1])) / (2 * eps)
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5)


def recur(h, u, steps):
    """Return the states of a recurrent network without input."""
    states = [h]
    for _ in range(steps):
        states.append((states[-1] @ u).tanh())
    return states


def gradient_through_time(h, u, steps):
    """Return the derivative by u of the sum of all states' squares' means."""
    states = [h]
    for _ in range(steps):
        states.append(np.tanh(states[-1] @ u))
    back, result = np.zeros_like(h), np.zeros_like(u)
    for t in range(steps, 0, -1):
        back = (back + 2 * states[t] / h.size) * (1 - states[t] ** 2)
        result += states[t - 1].T @ back
        back = back @ u.T
    return result


@pytest.mark.parametrize("look", ["never", "listed", "few"])
def test_gradients_flow_through_time(rng, look):
    """Through any number of steps, if nothing is asked for or all states are held."""
    steps = {"never": 60, "listed": 30, "few": 12}[look]
    h, u = floats(rng, (4, 5), "float64"), floats(rng, (5, 5), "float64", low=-0.5, high=0.5)
    state, U = mo.array(h), mo.array(u)
    total, held = mo.array(0.0, "float64"), []
    for _ in range(steps):
        state = (state @ U).tanh()
        total = total + (state**2).mean()
        if look == "listed":
            held += [state, total]
        if look != "never":
            float(total)
    close(mo.grad(total, U), gradient_through_time(h, u, steps), rtol=1e-9)


def test_a_history_that_has_ended_is_an_error_and_no_zero(rng):
    h, u = floats(rng, (4, 5)), floats(rng, (5, 5), low=-0.5, high=0.5)

    def run(steps):
        state = mo.array(h)
        for _ in range(steps):
            state = (state @ U).tanh()
            float(state.sum())
        return state

    U, other = mo.array(u), mo.array(h)
    line = run.__code__.co_firstlineno + 3
    with mo.flag_scope(history_bytes=FEW_BYTES):
        state = run(9)
        loss = (state * other).sum()
        for _ in range(2):
            with pytest.raises(
                RuntimeError, match=f"test_loop_histories.py:{line}, .*history_bytes"
            ):
                mo.grad(loss, U)
        # What the chain was not made of is not concerned, nor what is made of no chain.
        close(mo.grad(loss, other), state)
        close(mo.grad((U * other[:1]).sum(), U), np.broadcast_to(h[:1], (5, 5)))
        # Nor what is cut off on purpose.
        cut = (state.detach() @ U).sum()
        close(mo.grad(cut, U), np.broadcast_to(state.numpy().sum(0)[:, None], (5, 5)), rtol=1e-5)
        # What is made of the chain is of the chain, also when it is computed.
        later = (state * 2).sync()
        with pytest.raises(RuntimeError, match="history_bytes"):
            mo.grad(later, U)
    with mo.flag_scope(history_bytes=1 << 20):
        state = run(9)
        mo.grad((state * other).sum(), U).sync()


def test_what_is_held_keeps_its_history_until_it_is_let_go(rng):
    U, state = mo.array(floats(rng, (5, 5), low=-0.5, high=0.5)), mo.array(floats(rng, (4, 5)))
    seen = []
    with mo.flag_scope(history_bytes=FEW_BYTES, asynchronous=False):
        held = collections.deque(maxlen=8)
        for _ in range(60):
            state = (state @ U).tanh()
            held.append(state)
            float(state.sum())
            seen.append(sizes())
        assert seen[-1] == seen[30]
        early = held[0]
        mo.grad(state.sum(), early).sync()
        held.clear()
        with pytest.raises(RuntimeError, match="keep Vars of the values between"):
            mo.grad(state.sum(), early)


@pytest.mark.parametrize("step", [mo.tanh, mo.cumsum, mo.sort], ids=lambda step: step.__name__)
def test_an_end_is_known_where_nothing_of_the_chain_is_held(rng, step):
    """What is not computed between two values passes the end on."""
    start = mo.array(floats(rng, (5,)))
    with mo.flag_scope(history_bytes=40_000):
        x = start
        for steps in range(1, 30):
            x = step(x * 0.5).sync()
            if steps <= 4:
                assert np.any(mo.grad(x.sum(), start).numpy() != 0)
        for loss in (x.sum(), (x * 2).sync().sum(), (x[1:] - x[:-1]).sum()):
            with pytest.raises(RuntimeError, match="history_bytes"):
                mo.grad(loss, start)
