# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while kernels run and while they are compiled, in processes of their own.

Nothing here depends on how fast anything is: the work that is interrupted would take
many minutes, and the signal is sent when the process is known to be in it.
"""

import subprocess
import sys
import textwrap

import pytest

PREAMBLE = """
import os, signal, threading, time
import numpy as np
import metaops as mo

# Whoever started the tests may ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt_when(ready, number=signal.SIGINT):
    # Polls from another thread; the session can be asked while the main thread waits.
    def send():
        while not ready():
            time.sleep(0.02)
        time.sleep(0.1)
        os.kill(os.getpid(), number)
    threading.Thread(target=send, daemon=True).start()

def is_interrupted(work):
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False

def runs(count):
    return lambda: mo.stats()["programs_run"] >= count

def wait_until_idle():
    for _ in range(200):
        before = time.process_time()
        time.sleep(0.2)
        if time.process_time() - before < 0.05:
            return
    raise AssertionError("the work goes on")

def endless():
    # A sum of 2**42 terms.
    ones = mo.ones((1 << 21,))
    return mo.exp(ones.reshape((-1, 1)) * ones * 0.5).sum()

def many_kernels(count, bits):
    # Kernels of different operations, so that each has code of its own; and the result.
    x = mo.array(np.linspace(0.1, 0.9, 7, dtype="f4"))
    y, expected = x, x.numpy().astype("f8")
    for number in range(count):
        for bit in range(bits):
            if number >> bit & 1:
                y, expected = mo.tanh(y) + bit, np.tanh(expected) + bit
            else:
                y, expected = mo.sqrt(mo.abs(y)), np.sqrt(np.abs(expected))
        y = mo.stop_fuse(y)
    return y, expected
"""


def run(script, timeout=240):
    """Run a script after the preamble; its output."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_kernel_stops(threads, compiled):
    run(f"""
        mo.set_num_threads({threads})
        x = mo.array(np.arange(6.0, dtype="f4"))
        y = endless()
        interrupt_when(runs(1))
        assert is_interrupted(y.sync)
        wait_until_idle()
        # The session works, and does not begin the sum anew for others.
        assert (x + 1).sum().item() == 21
        # Who asks for it has it begun anew, by the program that is there.
        compiled = mo.stats()["programs_compiled"]
        interrupt_when(lambda: True)
        assert is_interrupted(y.item)
        assert mo.stats()["programs_compiled"] == compiled
        # What is made of it needs it, too.
        z = y + 1
        interrupt_when(runs(mo.stats()["programs_run"] + 1))
        assert is_interrupted(z.item)
        wait_until_idle()
        # Nobody holds it any more.
        del y, z
        assert (x * 2).sum().item() == 30
        """)


def test_a_long_sum_of_random_numbers_stops(compiled):
    run("""
        y = mo.random((2**42,)).sum()
        interrupt_when(runs(1))
        assert is_interrupted(y.sync)
        wait_until_idle()
        """)


def test_what_was_stopped_is_computed_when_it_is_asked_for_again(compiled):
    run("""
        a = mo.array(np.arange(8, dtype="f4"))
        slow = endless()
        fast = (a * 3).sum()
        interrupt_when(runs(1))
        assert is_interrupted(lambda: mo.sync([slow]))
        wait_until_idle()
        seen = []
        fast.fetch(seen.append)
        del slow
        mo.sync_all()
        assert fast.item() == 84 and seen == [84]
        """)


def test_updates_are_made_whole_or_not_at_all():
    run("""
        first, second = mo.zeros((1 << 18,)), mo.zeros((1 << 18,))

        def train(steps):
            for _ in range(steps):
                first.update(mo.sqrt(first * first) + 1.0)
                second.update(mo.sqrt(second * second) + 1.0)

        train(3)
        mo.sync_all()
        for round in range(5):
            before = int(first.numpy()[0])
            interrupt_when(lambda: True)
            assert is_interrupted(lambda: train(10**9))
            count = first.numpy()
            # The second update of a step may be one that was never recorded.
            assert (count == count[0]).all() and count[0] >= before
            behind = count[0] - second.numpy()
            assert (behind == behind[0]).all() and behind[0] in (0, 1), behind
            second.update(second + float(behind[0]))
            train(2)
            assert (first.numpy() == count + 2).all()
            assert (second.numpy() == count + 2).all()
        """)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_update_that_has_begun_to_overwrite_stops(threads, compiled):
    run(f"""
        mo.set_num_threads({threads})
        p, q = mo.zeros((1 << 10,)), mo.zeros(())
        mo.sync([p, q])
        p.update(p + 1)
        q.update(q + endless())
        started = runs(mo.stats()["programs_run"] + 1)
        interrupt_when(started)
        assert is_interrupted(mo.sync_all)
        wait_until_idle()
        # One program writes over both, p first.
        assert mo.last_program().kernels[0].bytes_written == 4 << 10
        # What is left of it has to be done before p is there.
        for _ in range(2):
            interrupt_when(lambda: True)
            assert is_interrupted(p.numpy)
            wait_until_idle()
        assert (mo.ones((5,)) * 2).sum().item() == 10
        # The process may end like this.
        """)


def test_a_compilation_stops(compiled):
    run("""
        y, expected = many_kernels(48, 6)
        started = threading.Event()
        interrupt_when(started.is_set)
        def ask():
            started.set()
            y.sync()
        assert is_interrupted(ask)
        assert mo.stats()["programs_run"] == 0
        # What is recorded is still there, and so are the kernels that are done.
        assert (y + 1).shape == (7,)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
        """)


def test_what_a_handler_raises_is_raised(compiled):
    run("""
        class Stop(Exception):
            pass

        def stop(number, frame):
            raise Stop

        signal.signal(signal.SIGALRM, stop)
        y = endless()
        interrupt_when(runs(1), signal.SIGALRM)
        try:
            y.sync()
        except Stop:
            pass
        else:
            raise AssertionError("finished")
        wait_until_idle()
        """)


def test_a_handler_may_use_the_session_while_a_kernel_runs(compiled):
    run("""
        weight = mo.array(np.arange(4, dtype="f4"))
        saved = []

        def save(number, frame):
            saved.append(weight.numpy())
            if len(saved) == 2:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, save)
        y = endless()
        interrupt_when(runs(1))
        interrupt_when(lambda: len(saved) == 1)
        assert is_interrupted(y.sync)
        np.testing.assert_array_equal(saved[1], [0, 1, 2, 3])
        """)


def test_a_compilation_goes_on_if_the_handler_lets_it(compiled):
    run("""
        calls = []
        signal.signal(signal.SIGINT, lambda number, frame: calls.append(mo.stats()))
        y, expected = many_kernels(32, 5)
        started = threading.Event()
        interrupt_when(started.is_set)
        started.set()
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
        # Called before anything was computed, by a session that is whole.
        assert len(calls) == 1 and calls[0]["programs_run"] == 0
        """)


def test_the_interpreter_stops_between_operations():
    run("""
        mo.flags.backend = "interpreter"
        y = mo.random((1 << 20,))
        for _ in range(2000):
            y = y + 1
        y = y.sum()
        interrupt_when(runs(1))
        assert is_interrupted(y.sync)
        wait_until_idle()
        assert mo.ones((3,)).sum().item() == 3
        """)


def test_waiting_for_another_thread_that_computes_stops(compiled):
    run("""
        y = endless()
        waiting = threading.Thread(target=lambda: is_interrupted(y.sync), daemon=True)
        waiting.start()
        while not runs(1)():
            time.sleep(0.02)
        interrupt_when(lambda: True)
        assert is_interrupted(y.item)
        # The other thread has the sum begun anew, and the process may end.
        print("left", flush=True)
        os._exit(0)
        """)


def test_a_loop_that_writes_over_a_donated_tensor_goes_on(compiled):
    run("""
        count = 30_000_000
        add = mo.jit(
            lambda x, n: mo.fori_loop(0, n, lambda i, total: total + 1, x),
            donate="x",
            recheck=False,
        )
        x = mo.zeros(8, dtype="float64").sync()
        for _ in range(3):
            x = add(x, mo.array(3)).sync()
        # The loop's kernel, and no copy.
        assert [k.bytes_written for k in mo.last_program().kernels] == [0, 64]
        x = add(x, mo.array(count))
        interrupt_when(lambda: True)
        assert is_interrupted(x.sync)
        wait_until_idle()
        assert mo.ones(4).sum().item() == 4
        np.testing.assert_array_equal(x.numpy(), np.full(8, 9.0 + count))
        """)
