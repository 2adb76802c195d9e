# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are written beside the program, and writers that are killed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading

import metaops as mo
import numpy as np
import pytest
from metaops.files import background, replacing

pytestmark = pytest.mark.processor

KINDS = ["state.npz", "state.safetensors"]


@pytest.fixture
def gate(monkeypatch):
    """Keep files from being written until the gate is set."""
    opened = threading.Event()
    replaced = replacing.replaced

    def waiting(path):
        assert opened.wait(20)
        return replaced(path)

    monkeypatch.setattr(replacing, "replaced", waiting)
    yield opened
    opened.set()
    background.finish_all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_values_of_the_call_are_saved(tmp_path, kind, gate):
    path = tmp_path / kind
    w, array = mo.ones(3), np.zeros(2)
    optimizer = mo.optim.SGD([w], 1.0)
    pending = w * 2 + 1
    state = {"w": w, "again": w, "array": mo.array(array), "pending": pending}
    saving = mo.save(state, path, wait=False)
    optimizer.step(w.sum())
    mo.sync_all()
    w += 5
    array += 1
    state["w"] = None
    assert not saving.done() and not path.exists()
    assert repr(saving) == f"<{path}, being written>"
    with pytest.raises(TimeoutError, match=r"state.* is not written after 0\.01 s"):
        saving.wait(0.01)
    gate.set()
    saving.wait()
    assert saving.done() and repr(saving) == f"<{path}, written>"
    loaded = mo.load(path)
    assert loaded["w"].tolist() == [1, 1, 1]
    assert loaded["pending"].tolist() == [3, 3, 3]
    if kind == "state.npz":
        assert loaded["w"] is loaded["again"]
    assert os.listdir(tmp_path) == [kind]


def test_arrays_are_those_of_the_call(tmp_path, gate):
    array = np.arange(3.0)
    saving = mo.save({"x": [array, (array, "text", 1, None)]}, tmp_path / "x", wait=False)
    array += 1
    gate.set()
    saving.wait()
    first, (second, *rest) = mo.load(tmp_path / "x")["x"]
    np.testing.assert_array_equal(first, [0, 1, 2])
    assert second is first and rest == ["text", 1, None]


def test_files_are_written_in_the_order_of_the_calls(tmp_path, gate):
    path = tmp_path / "x"
    for number in range(4):
        last = mo.save(number, path, wait=False)
    gate.set()
    last.wait()
    assert mo.load(path) == 3
    for number in range(4):
        mo.save(number, path, wait=False)
    assert mo.save(10, path).done()
    assert mo.load(path) == 10


@pytest.mark.parametrize("value", [{"x": object()}, {"x": {1: {2}}}])
def test_errors_come_by_the_handle(tmp_path, value):
    path = tmp_path / "x"
    mo.save(1, path)
    saving = mo.save(value, path, wait=False)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"save: .* is a (object|set), expected tensors"):
            saving.wait()
    assert saving.done() and repr(saving) == f"<{path}, failed>"
    assert mo.load(path) == 1
    mo.save(2, path, wait=False).wait()
    assert mo.load(path) == 2
    assert os.listdir(tmp_path) == ["x"]


def test_values_that_contain_themselves(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        mo.save(loop, tmp_path / "x", wait=False).wait()


def test_a_tensor_that_cannot_be_computed(tmp_path):
    x = mo.ones(3)[mo.array([7])]
    saving = mo.save({"x": x}, tmp_path / "x", wait=False)
    with pytest.raises(IndexError):
        saving.wait()
    assert os.listdir(tmp_path) == []


def test_saving_in_a_recorded_function(tmp_path):
    @mo.jit
    def step(x):
        mo.save(x, tmp_path / "x", wait=False)

    with pytest.raises(RuntimeError, match="save is called"):
        step(mo.ones(3))


def test_a_fork_waits_for_files(tmp_path):
    saving = mo.save({"x": mo.ones(1000)}, tmp_path / "x", wait=False)
    process = os.fork()
    if not process:
        os._exit(0 if saving.done() else 1)
    assert os.waitpid(process, 0)[1] == 0


def test_files_stay_in_order_while_others_wait(tmp_path, gate):
    """A call that waits for the files before it makes none behind go ahead of them."""
    path = tmp_path / "x"
    first = mo.save(1, path, wait=False)
    thread = threading.Thread(target=mo.save, args=(0, tmp_path / "other"))
    thread.start()
    second = mo.save(2, path, wait=False)
    with pytest.raises(TimeoutError):
        second.wait(0.05)
    assert not first.done()
    gate.set()
    second.wait()
    thread.join()
    assert mo.load(path) == 2


def test_one_thread_writes_and_few_files_wait(tmp_path, gate):
    before = threading.active_count()
    begun = []

    def save_all():
        for number in range(30):
            begun.append(mo.save(number, tmp_path / "x", wait=False))

    thread = threading.Thread(target=save_all)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive() and len(begun) <= background._MOST_WAITING + 1
    assert threading.active_count() == before + 2
    gate.set()
    thread.join()
    begun[-1].wait()
    background.finish_all()
    assert mo.load(tmp_path / "x") == 29
    assert threading.active_count() == before


def test_paths_are_those_of_the_call(tmp_path, monkeypatch, gate):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    saving = mo.save(1, "x", wait=False)
    monkeypatch.chdir(tmp_path / "other")
    gate.set()
    saving.wait()
    assert mo.load(tmp_path / "x") == 1


def test_errors_name_the_line_of_the_call(tmp_path):
    saving = mo.save({"x": object()}, tmp_path / "x", wait=False)
    with pytest.raises(TypeError, match=r"\(.*test_saving\.py:\d+\)$"):
        saving.wait()


def test_values_that_are_deep(tmp_path):
    value = []
    for _ in range(20_000):
        value = [value]
    for wait in (False, True):
        with pytest.raises(ValueError, match=r"save: the value is nested too deeply \(.*test_sav"):
            mo.save(value, tmp_path / "x", wait=wait)


def test_what_failed_keeps_no_tensors(tmp_path):
    x = mo.ones(1000)
    saving = mo.save({"x": x, "y": object()}, tmp_path / "x", wait=False)
    frames = []
    for _ in range(3):
        with pytest.raises(TypeError) as caught:
            saving.wait()
        frames.append(len(caught.traceback))
    assert len({*frames}) == 1
    assert all(frame.path.name != "io.py" for frame in caught.traceback)


def run(text, *arguments):
    """Run a program, and return its exit code and what it has written."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_program_ends_when_its_files_are_written(tmp_path):
    program = """
        import sys
        import metaops as mo

        saving = mo.save({"x": mo.ones(100_000)}, sys.argv[1], wait=False)
    """
    assert run(program, tmp_path / "x") == (0, "")
    assert mo.load(tmp_path / "x")["x"].shape == (100_000,)


def test_files_that_are_begun_when_the_program_ends(tmp_path):
    program = """
        import atexit, sys
        import metaops as mo

        x = mo.ones(100_000)
        atexit.register(lambda: mo.save({"x": x}, sys.argv[1], wait=False))
        mo.save({"x": x}, sys.argv[2], wait=False)
    """
    assert run(program, tmp_path / "x", tmp_path / "y") == (0, "")
    for name in "xy":
        assert mo.load(tmp_path / name)["x"].shape == (100_000,)


def test_forks_beside_threads_that_save(tmp_path):
    """A child has no lock that a thread of its parent's had."""
    program = """
        import os, sys, threading
        import metaops as mo

        def save_all():
            for number in range(60):
                mo.save(number, sys.argv[1], wait=False)

        mo.save(0, sys.argv[1], wait=False).wait()  # imports what a child would wait for
        thread = threading.Thread(target=save_all)
        thread.start()
        codes = []
        for _ in range(8):
            process = os.fork()
            if not process:
                mo.save(7, sys.argv[2], wait=False).wait()
                os._exit(0)
            codes.append(os.waitpid(process, 0)[1])
        thread.join()
        assert codes == [0] * 8
    """
    assert run(program, tmp_path / "x", tmp_path / "y") == (0, "")
    assert mo.load(tmp_path / "y") == 7
    assert mo.load(tmp_path / "x") == 59


class Stopping:
    """Kills the process, or has the disk be full, at a write, a flush or a renaming."""

    def __init__(self, what, most):
        self.what, self.most, self.count = what, most, 0

    def __call__(self, function):
        def call(*args):
            self.count += 1
            if self.count == self.most:
                if self.what == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*args)

        return call

    def open(self, *args):
        """Return an open file whose writes pass by here."""
        return Passing(open(*args), self)


class Passing:
    """A file of which a function has the writes."""

    def __init__(self, file, wrap):
        self.file = file
        self.write = wrap(file.write)

    def __enter__(self):
        self.file.__enter__()
        return self

    def __exit__(self, *error):
        return self.file.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.file, name)


def save_in_child(path, what, most, wait):
    """Return how a child that saves ends, and how many writes and the like it has made."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        stopping = Stopping(what, most)
        replacing.open = stopping.open
        os.fsync, os.replace = stopping(os.fsync), stopping(os.replace)
        code = 1
        try:
            mo.save({f"x{n}": np.full(50, n) for n in range(3)}, path, wait=wait).wait()
            code = 0
        except OSError as error:
            code = error.errno
        finally:
            os.write(writer, str(stopping.count).encode())
            os._exit(code)
    os.close(writer)
    status = os.waitpid(process, 0)[1]
    with open(reader) as told:
        return os.waitstatus_to_exitcode(status), told.read()


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["kill", "full"])
def test_a_writer_that_stops_leaves_the_old_file(tmp_path, kind, what, wait):
    path = tmp_path / kind
    mo.save({"old": mo.ones(3)}, path)
    before = path.read_bytes()
    (tmp_path / "other").mkdir()
    code, count = save_in_child(tmp_path / "other" / kind, what, 0, wait)
    assert code == 0 and int(count) >= 4
    for most in range(1, int(count) + 1):
        code, told = save_in_child(path, what, most, wait)
        assert code == (-signal.SIGKILL if what == "kill" else errno.ENOSPC), told
        assert path.read_bytes() == before
        # Nothing is left by the one before.
        assert len(os.listdir(tmp_path)) == (3 if what == "kill" else 2)
    mo.save({"new": mo.ones(3)}, path)
    assert sorted(os.listdir(tmp_path)) == ["other", kind]
    assert [*mo.load(path)] == ["new"]


def test_files_of_writers_that_live_stay(tmp_path):
    path = tmp_path / "x"
    (tmp_path / "x.notours.part").write_bytes(b"")
    (tmp_path / "x.0123abcd.part").write_bytes(b"abandoned")
    (tmp_path / "y.0123abcd.part").write_bytes(b"another's")
    with replacing.replaced(str(path)) as file:
        file.write(b"first")
        mo.save(1, path)
        assert len(os.listdir(tmp_path)) == 4
    assert path.read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == ["x", "x.notours.part", "y.0123abcd.part"]
