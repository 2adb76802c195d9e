# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many Python threads on one session, with the garbage collector at work, and processes."""

import gc
import os
import random
import subprocess
import sys
import textwrap
import threading

import metaops as mo
import numpy as np
import pytest

THREADS, SYNCS = 8, 2000


class Cycle:
    """Garbage that only the collector finds, with a Var in it."""

    def __init__(self, var):
        self.var = var
        self.itself = self


class Worker(threading.Thread):
    """Trains a parameter of its own by a rule that NumPy repeats, and reads a shared Var."""

    def __init__(self, number, shared):
        super().__init__()
        self.rng = random.Random(number)
        self.shared = shared
        self.failure = None
        self.fetched = []
        self.expected = []

    def run(self):
        try:
            with self.shared.device:
                self.work()
        except BaseException as error:
            self.failure = error

    def work(self):
        size = self.rng.choice([3, 4, 5])
        value = np.arange(size, dtype="float32")
        p = mo.array(value)
        shared = self.shared.numpy()
        for i in range(SYNCS):
            number = self.rng.choice([0.5, 0.25, -1.0])
            match self.rng.randrange(6):
                case 0:
                    p.update(p * 0.5 + number)
                    value = value * np.float32(0.5) + np.float32(number)
                    mo.sync(p)
                case 1:
                    assert float((p * number).sum().item()) == pytest.approx(
                        float((value * number).sum()), rel=1e-5, abs=1e-5
                    )
                case 2:
                    np.testing.assert_array_equal(p.numpy(), value)
                case 3:
                    Cycle(mo.exp(p) + self.shared.sum())
                    np.testing.assert_array_equal((self.shared + number).numpy(), shared + number)
                case 4:
                    loss = (p * p).sum()
                    np.testing.assert_array_equal(mo.grad(loss, p).numpy(), 2 * value)
                case 5:
                    self.expected.append(value[0] + np.float32(i))
                    (p[0] + float(i)).fetch(lambda v: self.fetched.append(v.item()))
                    p.sync()
            if self.rng.random() < 0.01:
                gc.collect()


@pytest.mark.rest
def test_threads_sync_while_garbage_is_collected():
    shared = mo.array(np.linspace(0, 1, 7, dtype="float32"))
    gc.collect()  # What tests before this one have left in cycles.
    before = mo.stats()["live_vars"]
    threshold = gc.get_threshold()
    gc.set_threshold(50)
    try:
        workers = [Worker(number, shared) for number in range(THREADS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        gc.set_threshold(*threshold)
    mo.sync_all()
    for worker in workers:
        if worker.failure is not None:
            raise worker.failure
        # In the order in which they were asked for.
        np.testing.assert_array_equal(np.float32(worker.fetched), np.float32(worker.expected))
    del workers, worker
    gc.collect()
    assert mo.stats()["live_vars"] == before


def run_python(text, **variables):
    """Run a program in a process of its own; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_process_ends_with_work_in_the_queue():
    out, err = run_python(
        """
        import metaops as mo, numpy as np
        p = mo.array(np.ones((300, 300), dtype="float32"))
        for i in range(20):
            p.update(p @ p * 0.001)
            p.sum().fetch(lambda v: None)
        print("end")
        """
    )
    assert out == "end\n"
    assert err == ""


def test_callbacks_on_their_way_are_called_before_the_end():
    out, err = run_python(
        """
        import metaops as mo
        x = mo.array([1.0, 2.0])
        y = x * 2
        y.fetch(lambda v: print(v.tolist()))
        y.sync()
        """
    )
    assert out == "[2.0, 4.0]\n"
    assert err == ""


def test_what_a_callback_raises_at_the_end_is_told():
    _, err = run_python(
        """
        import threading
        import metaops as mo
        end = threading.Event()
        def fail(value):
            end.wait()
            raise KeyError("nobody saw this")
        y = mo.array([1.0]) * 2
        y.fetch(fail)
        y.sync()
        end.set()
        """
    )
    assert "nobody saw this" in err


def test_a_fork_waits_for_the_queue_and_the_child_is_told():
    out, _ = run_python(
        """
        import os, threading
        import metaops as mo, numpy as np
        p = mo.array(np.ones((200, 200), dtype="float32"))
        seen = []
        for i in range(10):
            p.update(p @ p * 0.005)
            p.sum().fetch(lambda v: seen.append(v.item()))
        child = os.fork()
        if child == 0:
            try:
                p + 1
            except RuntimeError as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        _, status = os.waitpid(child, 0)
        mo.sync_all()
        print(os.waitstatus_to_exitcode(status), len(seen))
        """
    )
    assert out == "0 10\n"


def test_a_callback_may_wait_for_all():
    seen = []

    def callback(value):
        y = mo.array(value) + 1
        mo.sync_all()
        seen.append(y.item())

    (mo.array([1.0]) * 2).fetch(callback)
    mo.sync_all()
    assert seen == [3.0]


def test_a_lock_held_around_a_sync_may_be_taken_by_a_callback():
    lock, seen = threading.Lock(), []

    def callback(value):
        with lock:
            seen.append(value.item())

    x = mo.array([1.0])
    for i in range(20):
        with lock:
            y = x * float(i)
            y.fetch(callback)
            y.sync()
    mo.sync_all()
    assert seen == [float(i) for i in range(20)]


def test_threads_that_are_at_work_at_the_end_do_no_harm():
    for _ in range(3):
        _, err = run_python(
            """
            import threading
            import metaops as mo
            def work():
                while True:
                    (mo.array([1.0, 2.0]) * 3).numpy()
            for i in range(3):
                threading.Thread(target=work, daemon=True).start()
            import time
            time.sleep(0.2)
            """
        )
        assert err == ""


def test_threads_that_begin_at_the_end_do_no_harm():
    # What is done once, such as finding NumPy's functions, is done in several threads.
    for seed in range(10):
        _, err = run_python(
            f"""
            import random, sys, threading, time
            import numpy
            import metaops as mo
            mo.array, mo.zeros
            begin = threading.Event()
            def work():
                begin.wait()
                while True:
                    (mo.array([1.0, 2.0]) * 3).numpy()
            for i in range(8):
                threading.Thread(target=work, daemon=True).start()
            sys.setswitchinterval(1e-6)
            begin.set()
            time.sleep(random.Random({seed}).random() * 0.004)
            """
        )
        assert err == ""


def test_a_function_that_does_not_return_does_not_keep_the_end():
    _, err = run_python(
        """
        import threading, time
        import metaops as mo
        inside = threading.Event()
        def work():
            inside.set()
            time.sleep(3600)
        call = lambda: mo.tune(work, budget=1.0)
        threading.Thread(target=call, daemon=True).start()
        inside.wait()
        """
    )
    assert err == ""


def test_a_finalizer_may_compute_wherever_the_collector_runs():
    code = """
        import gc
        import numpy as np
        import metaops as mo
        x = mo.array(np.ones(4, np.float32))
        finalized = []
        class Loop:
            def __init__(self):
                self.me = self
            def __del__(self):
                finalized.append((x + 1).numpy()[0])
        def record():
            return x * 2
        gc.set_threshold(1)
        for _ in range(300):
            Loop()
            record()
        assert finalized and set(finalized) == {2.0}
    """
    run_python(code)


def test_a_child_ends_where_a_callback_has_been_called():
    code = """
        import os, sys
        import metaops as mo
        mo.fetch(mo.array([1.0]) + 1, lambda value: None)
        mo.sync_all()
        if (child := os.fork()) == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """
    run_python(code)


def test_a_fetch_after_the_end_holds_nobody_up():
    code = """
        import atexit
        def late():
            mo.fetch(mo.array([1.0]) + 1, print)
            mo.sync_all()
        atexit.register(late)
        import metaops as mo
    """
    run_python(code)


def test_programs_do_not_depend_on_when_a_fetched_parameter_is_read():
    parameter = mo.array(np.ones((64, 64), np.float32))
    parameter.sync()
    compiled = []
    for wait in (False, True, True, False):
        release = threading.Event()
        mo.fetch(parameter, lambda value, release=release: release.wait(30))
        if wait:
            release.set()
            mo.sync_all()
        parameter.update(parameter * 0.5)
        parameter.sync()
        release.set()
        mo.sync_all()
        compiled.append(mo.stats()["programs_compiled"])
    assert len(set(compiled)) == 1
