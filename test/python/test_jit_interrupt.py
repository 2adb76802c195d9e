# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C in the first calls of recorded functions and in later ones, by test_interrupt.py's rules.

Of a call that was not recorded yet nothing is left. One that was recorded or launched
counts: its values are computed when they are asked for.
"""

from __future__ import annotations

import pytest
from test_interrupt import run


@pytest.mark.parametrize("call", [1, 2, 4])
def test_while_the_function_is_recorded(call: int) -> None:
    run(f"""
        p = mo.zeros((3,))
        optimizer = mo.optim.SGD([p], 1.0, momentum=0.5)
        started, is_slow = threading.Event(), np.array([False])

        @mo.jit
        def step(x):
            optimizer.step(mo.sum(p * x))
            if is_slow[0]:
                started.set()
                time.sleep(120)
            return mo.sum(p)

        x = mo.ones((3,))
        for _ in range({call} - 1):
            step(x)
        before, steps = p.numpy().copy(), optimizer.steps
        is_slow[0] = True
        interrupt_when(started.is_set)
        assert is_interrupted(lambda: step(x))
        assert (p.numpy() == before).all() and optimizer.steps == steps == {call} - 1
        is_slow[0] = False
        step(x)
        assert optimizer.steps == {call}
        assert (mo.ones((2,)) + 1).numpy().tolist() == [2, 2]
        """)


def test_while_the_first_program_is_compiled(compiled: None) -> None:
    run("""
        p = mo.zeros((3,)).sync()
        optimizer = mo.optim.SGD([p], 1.0)
        ready = threading.Event()

        @mo.jit
        def step(x):
            y = x
            for number in range(48):
                for bit in range(6):
                    y = mo.tanh(y) + bit if number >> bit & 1 else mo.sqrt(mo.abs(y))
                y = mo.stop_fuse(y)
            loss = mo.sum(p * x) + mo.sum(y) * 0
            optimizer.step(loss)
            return loss

        x = mo.ones((3,)).sync()
        interrupt_when(ready.is_set)
        def first():
            ready.set()
            step(x)
        assert is_interrupted(first)
        # It may have come while the function was recorded, before the program.
        steps = optimizer.steps
        assert steps in (0, 1)
        assert (p.numpy() == -steps).all()
        for number in range(1, 5):
            step(x)
            assert (p.numpy() == -steps - number).all()
            assert optimizer.steps == steps + number
        """)


def test_in_a_loop_of_calls() -> None:
    run("""
        p, q = mo.zeros((1 << 12,)), mo.zeros((5,))
        optimizer = mo.optim.SGD([p, q], 1.0)

        @mo.jit
        def step(x):
            loss = mo.sum(p * x) + mo.sum(q)
            optimizer.step(loss)
            return loss

        x = mo.ones((1 << 12,))

        def train(count):
            for _ in range(count):
                step(x)

        train(6)
        for round in range(6):
            interrupt_when(lambda: True)
            assert is_interrupted(lambda: train(10**9))
            steps = optimizer.steps
            assert steps > 6
            # All that has been counted is made, and nothing else.
            assert (p.numpy() == -steps).all(), (p.numpy()[0], steps)
            assert (q.numpy() == -steps).all()
            train(2)
            assert optimizer.steps == steps + 2
            assert (p.numpy() == -steps - 2).all()
        assert mo.jit_info(step).hits > 6
        """)


@pytest.mark.parametrize("calls", [1, 3])
def test_while_a_call_runs(compiled: None, calls: int) -> None:
    run(f"""
        p = mo.zeros((1 << 10,)).sync()

        @mo.jit(recheck=False)
        def step(x):
            p.update(p + 1)
            return endless() * x

        x = mo.ones(()).sync()
        for number in range({calls}):
            # Later calls wait for the first.
            started = runs(mo.stats()["programs_run"] + 1)
            interrupt_when(started if number == 0 else lambda: True)
            assert is_interrupted(lambda: step(x).numpy())
            wait_until_idle()
            # It is suspended: what it was to rebind is there when it is done.
            interrupt_when(lambda: True)
            assert is_interrupted(p.numpy)
            wait_until_idle()
            # Other work goes on.
            assert (mo.ones((5,)) * 2).sum().item() == 10
        """)


@pytest.mark.parametrize("calls", [3, 5])
def test_where_each_call_is_waited_for(compiled: None, calls: int) -> None:
    """A call that is stopped has been made: it counts, and is made once."""
    run(f"""
        mo.flags.asynchronous = False
        p, trips = mo.zeros((3,)).sync(), mo.array(3).sync()
        optimizer = mo.optim.SGD([p], 1.0)

        @mo.jit(recheck=False)
        def step(x, trips):
            many = mo.while_loop(lambda i: i < trips, lambda i: i + 1, 0)
            loss = mo.sum(p * x) + mo.sum(many * 0)
            optimizer.step(loss)
            return many

        x = mo.ones((3,)).sync()
        for _ in range({calls} - 1):
            step(x, trips)
        most = mo.array(1 << 26).sync()
        # The session cannot be asked while a call waits in it.
        interrupt_when(lambda: True)
        assert is_interrupted(lambda: step(x, most))
        assert optimizer.steps == {calls}
        # Other work goes on, and what was stopped is there when it is done.
        assert (mo.ones((5,)) * 2).sum().item() == 10
        step(x, trips)
        assert optimizer.steps == {calls} + 1
        assert (p.numpy() == -{calls} - 1).all(), p.numpy()
        """)


def test_a_handler_that_goes_on_makes_no_second_call(compiled: None) -> None:
    run("""
        mo.flags.asynchronous = False
        p, trips = mo.zeros((3,)).sync(), mo.array(3).sync()
        handled = []
        signal.signal(signal.SIGINT, lambda *_: handled.append(1))

        @mo.jit(recheck=False)
        def step(trips):
            many = mo.while_loop(lambda i: i < trips, lambda i: i + 1, 0)
            p.update(p + 1 + many * 0)
            return many

        for _ in range(4):
            step(trips)
        most = mo.array(1 << 26).sync()
        # The session cannot be asked while a call waits in it.
        interrupt_when(lambda: True)
        assert step(most).item() == 1 << 26
        assert handled == [1]
        assert (p.numpy() == 5).all(), p.numpy()
        """)
