# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy functions as steps of programs."""

import gc
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading

import metaops as mo
import numpy as np
import pytest

pytestmark = pytest.mark.processor

HERE = pathlib.Path(__file__).name


def rand(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def double(x):
    return x * 2


def stats(x, y):
    return x.sum(-1) + y, np.argsort(x, -1)


def fail(x):
    raise KeyError("no such key")


def called(fn, x, shape=None, dtype=None, **more):
    return mo.host_call(fn, x.shape if shape is None else shape, dtype or x.dtype, x, **more)


# Values.


def test_results_are_the_functions():
    x, y = rand(3, 4), rand(3, seed=1)
    total, order = mo.host_call(
        stats, [(3,), (3, 4)], ["float32", "int64"], mo.array(x), mo.array(y)
    )
    assert np.allclose((total + 1).numpy(), x.sum(-1) + y + 1, rtol=1e-6)
    assert (order.numpy() == np.argsort(x, -1)).all()


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32"


@pytest.mark.parametrize("dtype", [*DTYPES.split()])
def test_types(dtype):
    x = mo.array(rand(2, 3) * 20).cast(dtype)
    made = called(lambda a: a[::-1], x)
    assert str(made.dtype) == dtype
    assert (made.numpy() == x.numpy()[::-1]).all()


def test_tensors_without_dimensions_or_elements():
    assert called(lambda x: x + 1, mo.array(2.0)).item() == 3
    assert called(lambda x: 5.0, mo.array(2.0)).item() == 5
    assert called(double, mo.zeros((0, 2))).numpy().shape == (0, 2)
    assert mo.host_call(lambda: np.arange(3.0), (3,), "float32").numpy().tolist() == [0, 1, 2]


def test_arrays_are_read_only_and_copies():
    kept = []

    def keep(x):
        kept.append(x)
        assert not x.flags.writeable
        return x[0]

    x = mo.array(rand(1000))
    values = x.numpy()
    made = mo.host_call(keep, (), "float32", x * 1)
    assert made.item() == values[0]
    for k in range(5):
        (x * k).numpy()
    assert (kept[0] == values).all()

    def write(x):
        x[0] = 1
        return x

    with pytest.raises(RuntimeError, match="read-only"):
        called(write, x).numpy()


def test_equal_calls_are_merged_and_unread_ones_are_not_made():
    calls = []

    def count(x):
        calls.append(1)
        return x

    x = mo.ones(3)
    assert (called(count, x) + called(count, x)).numpy().tolist() == [2, 2, 2]
    unread = called(count, x + 1)
    del unread
    mo.sync_all()
    assert len(calls) == 1


# Failures.


def test_functions_that_raise():
    x = mo.ones(3)
    words = rf"fail has raised KeyError: 'no such key' \(.*{HERE}:\d+"
    with pytest.raises(RuntimeError, match=words):
        called(fail, x).numpy()
    assert called(double, x).numpy().tolist() == [2, 2, 2]


class Untold(Exception):
    def __str__(self):
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Untold(), "raises has raised Untold: without words"),
        (ValueError("bad \udcff name"), r"raises has raised ValueError: bad \\udcff name"),
        (SystemExit(3), "raises has raised SystemExit: 3"),
    ],
)
def test_errors_that_are_hard_to_tell(error, words):
    def raises(x):
        raise error

    with pytest.raises(RuntimeError, match=words):
        called(raises, mo.ones(3)).numpy()
    assert mo.ones(2).sum().item() == 2


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x[:2], "an array of shape (2,) and dtype float32, expected shape (3,)"),
        (lambda x: np.array(["a"] * 3), "expected dtype int32"),
        (lambda x: x, "expected dtype int32"),
        (lambda x: None, "has returned None, expected shape (3,)"),
    ],
)
def test_results_that_are_others(fn, words):
    with pytest.raises(RuntimeError, match=re.escape(words)):
        called(fn, mo.ones(3), dtype="int32").numpy()


def test_numbers_of_results():
    made = mo.host_call(lambda x: (x,), [(3,), (3,)], ["float32"] * 2, mo.ones(3))
    with pytest.raises(RuntimeError, match="expected a tuple of 2 arrays"):
        made[0].numpy()


def test_a_failure_leaves_the_session_as_it_was():
    w = mo.array(rand(4))
    before = w.numpy()
    w.update(w + called(fail, w))
    with pytest.raises(RuntimeError, match="fail has raised"):
        mo.sync_all()
    # It keeps the value that it would have lost.
    assert (w.numpy() == before).all()


def test_the_package_is_not_to_be_used_inside():
    y = mo.ones(3)
    uses = [
        lambda x: mo.sin(y),
        lambda x: y.numpy(),
        lambda x: mo.array(x),
        lambda x: float(y.sum()),
        lambda x: mo.sync_all(),
        lambda x: mo.jit(mo.sin)(y),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="the function uses metaops"):
            called(use, mo.ones(3)).numpy()
    assert y.numpy().tolist() == [1, 1, 1]


def test_tensors_may_die_inside():
    def collect(x):
        cycle = [mo_vars.pop()]
        cycle.append(cycle)
        del cycle
        gc.collect()
        return x

    mo_vars = [mo.ones(3)]
    assert called(collect, mo.ones(2)).numpy().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: mo.host_call(3, (1,), "float32"), TypeError, "fn is 3"),
        (lambda: mo.host_call(double, 3, "float32"), TypeError, "shapes is 3"),
        (lambda: mo.host_call(double, (-1,), "float32"), ValueError, "an extent is negative"),
        (lambda: mo.host_call(double, [(1,)], ["int32"] * 2), ValueError, "1 shapes and 2 dtypes"),
    ],
)
def test_bad_calls(call, error, words):
    with pytest.raises(error, match=f"host_call.*{words}") as raised:
        call()
    assert f"{HERE}:" in str(raised.value)


# Derivatives, recorded functions, loops and examples.


def test_derivatives_are_a_functions_around():
    class Double(mo.Function):
        def execute(self, x):
            return called(double, x)

        def grad(self, gradient):
            return called(double, gradient)

    x = mo.ones(3)
    assert mo.grad((Double.apply(x) ** 2).sum(), x).numpy().tolist() == [8, 8, 8]
    with pytest.raises(RuntimeError, match="nobody knows the derivatives"):
        mo.grad(called(double, x).sum(), x)


def test_recorded_functions_and_loops():
    x = rand(3)
    recorded = mo.jit(lambda v: called(double, v + 1) + 1)
    for _ in range(3):
        assert np.allclose(recorded(mo.array(x)).numpy(), 2 * (x + 1) + 1)
    last, rows = mo.scan(lambda c, _: (called(double, c), c.sum()), mo.array(x), length=4)
    assert np.allclose(last.numpy(), 16 * x)
    assert np.allclose(rows.numpy(), x.sum() * 2.0 ** np.arange(4), rtol=1e-5)
    made = mo.cond(
        mo.array(True), lambda v: called(double, v), lambda v: called(fail, v), mo.array(x)
    )
    assert np.allclose(made.numpy(), 2 * x)


def test_examples():
    shapes = []

    def rows(x, y):
        shapes.append((x.shape, y.shape))
        return x.sum(-1) + y

    def total(x, y):
        return mo.host_call(rows, (), "float32", x, y, vectorized=True)

    x, y = rand(5, 4), rand(5, seed=1)
    made = mo.vmap(total)(mo.array(x), mo.array(y))
    assert np.allclose(made.numpy(), x.sum(-1) + y, rtol=1e-5)
    assert shapes == [((5, 4), (5,))]
    shared = mo.vmap(total, in_dims=(0, None))(mo.array(x), mo.array(2.0))
    assert np.allclose(shared.numpy(), x.sum(-1) + 2, rtol=1e-5)
    twice = mo.vmap(mo.vmap(total))(mo.array(rand(2, 3, 4)), mo.array(rand(2, 3, seed=1)))
    assert np.allclose(twice.numpy(), rand(2, 3, 4).sum(-1) + rand(2, 3, seed=1), rtol=1e-5)
    assert shapes[-1] == ((2, 3, 4), (2, 3))
    in_turn = mo.vmap(lambda v: called(double, v))(mo.array(x))
    assert np.allclose(in_turn.numpy(), 2 * x)


def test_program_files_refuse_it(tmp_path):
    with pytest.raises(ValueError, match=rf"export: host_call is called at .*{HERE}:\d+"):
        mo.export(lambda x: called(double, x), [mo.ones(3)], tmp_path / "host.metaops")


# Threads and processes.


def test_threads_that_record_and_wait_meanwhile():
    entered, go = threading.Event(), threading.Event()

    def wait(x):
        entered.set()
        assert go.wait(60)
        return x

    made = called(wait, mo.ones(2))
    seen = []
    mo.fetch(made, seen.append)
    worker = threading.Thread(target=mo.sync_all)
    worker.start()
    assert entered.wait(60)
    # Python goes on, also without values of its own.
    assert float(np.ones(3).sum()) == 3
    go.set()
    worker.join(60)
    assert not worker.is_alive()
    mo.sync_all()
    assert seen[0].tolist() == [1, 1]


def test_many_threads_that_call():
    failures = []

    def work(seed):
        x = rand(50, seed=seed)
        for k in range(20):
            made = called(double, mo.array(x) + k).numpy()
            if not np.allclose(made, 2 * (x + k)):
                failures.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert failures == []


def run(text, **more):
    done = subprocess.run(
        [sys.executable, "-c", "import metaops as mo, numpy as np\n" + textwrap.dedent(text)],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_ends_and_forks_while_a_function_runs():
    text = """
    import os, threading, time
    def tell(number):
        os.write(1, f"{int(number)}\\n".encode())  # at once: threads tell, too
    entered = threading.Event()
    def slow(x):
        entered.set()
        time.sleep(0.3)
        return x + 1
    def start(n):
        entered.clear()
        x = mo.ones(n)
        made = mo.host_call(slow, x.shape, x.dtype, x)
        mo.fetch(made, lambda value: tell(value.sum()))
        threading.Thread(target=mo.sync_all, daemon=True).start()
        entered.wait()
    # One for its caller's thread, and one that is left to the queue's.
    for n in (2, 6_000_000):
        start(n)
        child = os.fork()
        if child == 0:
            os._exit(0)
        tell(os.waitpid(child, 0)[1])
        start(n)
    """
    assert sorted(run(text)) == ["0", "0", "12000000", "12000000", "4", "4"]


def test_ctrl_c_inside():
    text = """
    import os, signal
    def interrupted(x):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        return x
    x = mo.ones(2)
    try:
        mo.host_call(interrupted, x.shape, x.dtype, x).numpy()
        print("went on")
    except KeyboardInterrupt:
        print("interrupted")
    print((x + 1).sum().item())
    """
    assert run(text) == ["interrupted", "4.0"]


def test_programs_are_not_found_by_other_processes(tmp_path):
    text = """
    x = mo.ones(2)
    print(mo.host_call(lambda v: v {sign} 3, x.shape, x.dtype, x).sum().item())
    """
    for sign, expected in (("+", "8.0"), ("*", "6.0")):
        made = run(text.format(sign=sign), METAOPS_CACHE_DIR=str(tmp_path / "cache"))
        assert made == [expected]
