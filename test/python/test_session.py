# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The session behind the Vars: threads, processes, NumPy's memory, callbacks."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading

import metaops as mo
import numpy as np
import pytest


def line_of(function):
    """Return "file.py:N" of the second line of a function."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + 1}"


# NumPy's memory


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a[::2, ::-1],
        lambda a: a.T,
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(">f4"),
        lambda a: np.broadcast_to(a[0], (3, 6)),
        lambda a: a[:0],
        lambda a: a[1, 2],
    ],
)
def test_arrays_of_any_layout_are_copied(make):
    source = make(np.arange(24, dtype="float32").reshape(4, 6))
    x = mo.array(source)
    assert x.dtype == "float32"
    np.testing.assert_array_equal(x.numpy(), source)


def test_a_readonly_array_is_taken_and_later_writes_are_not_seen():
    source = np.ones(3, "float32")
    source.flags.writeable = False
    x = mo.array(source)
    source.flags.writeable = True
    source[:] = 5
    np.testing.assert_array_equal(x.numpy(), [1, 1, 1])


def test_numpy_gives_a_copy_or_a_view_that_stays():
    p = mo.array([1.0, 2.0])
    written = p.numpy()
    written[:] = 0
    view = p.numpy(copy=False)
    assert not view.flags.writeable
    for _ in range(3):
        p.update(p * 2)
    mo.sync_all()
    np.testing.assert_array_equal(p.numpy(), [8, 16])
    np.testing.assert_array_equal(view, [1, 2])
    del p
    gc.collect()
    np.testing.assert_array_equal(view, [1, 2])


def test_printing_a_parameter_leaves_its_memory_reusable():
    p = mo.array([1.0, 2.0])
    sizes = []
    for _ in range(6):
        str(p), repr(p)
        p.update(p * 2)
        mo.sync_all()
        sizes.append(mo.stats()["bytes_in_use"])
    assert sizes[-1] == sizes[2]


def test_bfloat16_comes_and_goes_as_float32():
    x = mo.array([1.0, 1.00390625, 3.14159], "bfloat16")
    assert x.dtype == "bfloat16" and x.numpy().dtype == np.float32
    # 1 + 2**-8 lies halfway: to even. pi has 8 significant bits left.
    np.testing.assert_array_equal(x.numpy(), np.float32([1.0, 1.0, 3.140625]))


def test_default_dtypes():
    assert mo.array(1).dtype == "int64"
    assert mo.array(1.0).dtype == "float32"
    assert mo.array([[1.0], [2.0]]).dtype == "float32"
    assert mo.array([1, 2]).dtype == "int64"
    assert mo.array([True]).dtype == "bool"
    assert mo.array(np.float64([1])).dtype == "float64"
    assert mo.array(np.zeros(1, "uint16")).dtype == "uint16"
    assert mo.array([1, 2], float).dtype == "float32"
    assert mo.array(mo.array([1, 2]), "int8").dtype == "int8"


@pytest.mark.parametrize("bad", ["text", [1, "a"], object(), [[1], [2, 3]]])
def test_what_is_no_tensor_is_refused(bad):
    with pytest.raises((TypeError, ValueError)):
        mo.array(bad)


def test_numpy_functions_and_operators_take_vars():
    x = mo.array([1.0, 4.0])
    np.testing.assert_array_equal(np.asarray(x), [1, 4])
    np.testing.assert_array_equal(np.asarray(x, dtype="int32"), [1, 4])
    total = np.float32([1, 2]) + x
    assert isinstance(total, mo.Var)
    np.testing.assert_array_equal(total.numpy(), [2, 6])


# Vars as Python objects


def test_text():
    x = mo.array([[1.0, 2.0], [3.0, 4.0]])
    assert str(x) == "[[1. 2.]\n [3. 4.]]"
    assert repr(x) == "Var([[1., 2.],\n     [3., 4.]], dtype=float32)"
    assert f"{x.sum():.2f}" == "10.00"
    with pytest.raises(ValueError, match="not a single number"):
        f"{x:.2f}"


def test_copies_and_pickles():
    x = mo.array([1, 2], "int16")
    y, z = copy.copy(x), copy.deepcopy(x)
    x += 1
    for same in (y, z, pickle.loads(pickle.dumps(y))):
        assert same.dtype == "int16"
        np.testing.assert_array_equal(same.numpy(), [1, 2])
    assert len({x, y, z}) == 3


def test_iteration_and_length():
    x = mo.array([[1, 2], [3, 4]])
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2
    with pytest.raises(TypeError):
        len(x.sum())
    with pytest.raises(TypeError):
        iter(x.sum())


def test_foreign_objects_get_their_turn():
    class Other:
        def __radd__(self, left):
            return "other"

    assert mo.array([1]) + Other() == "other"
    with pytest.raises(TypeError):
        mo.array([1]) + object()


# Errors


def test_errors_name_the_users_line():
    def wrong():
        return mo.array([1.0, 2.0]) + mo.array([1.0, 2.0, 3.0])

    with pytest.raises(ValueError) as error:
        wrong()
    assert str(error.value).endswith(f"({line_of(wrong)})")

    def inside():
        return mo.concat([mo.array([1.0]), mo.array([[1.0]])])

    with pytest.raises(ValueError):
        inside()


def test_the_dump_names_the_users_line():
    def model(x):
        return mo.sigmoid(x)

    y = model(mo.array([1.0]))
    name, number = line_of(model).rsplit(":", 1)
    assert f'"{name}":{number}' in mo.dump()
    del y


def test_a_failed_call_leaves_nothing_behind():
    x = mo.array([1.0, 2.0])
    before = mo.stats()
    for _ in range(10):
        with pytest.raises(ValueError):
            x.reindex((2, 2), ["i0 +"])
        with pytest.raises(ValueError):
            (x + 1).reshape(3)
        with pytest.raises(IndexError):
            x[7]
    after = mo.stats()
    assert after["ops_in_block"] == before["ops_in_block"]
    assert after["live_vars"] == before["live_vars"]


# Fetches


def test_fetches_are_called_after_the_run():
    calls = []
    x = mo.array([3.0])
    y = x * 2
    mo.fetch(y, x, lambda *values: calls.append([v.tolist() for v in values]))
    assert not calls
    y.sync()
    mo.sync_all()
    assert calls == [[[6.0], [3.0]]]


def test_a_callback_may_use_the_session():
    seen = []
    y = mo.array([3.0]) * 2
    mo.fetch(y, lambda value: seen.append((mo.array(value) + 1).item()))
    mo.sync_all()
    assert seen == [7.0]


def test_an_error_of_a_callback_is_the_next_syncs_and_the_others_are_called():
    seen = []

    def fail(value):
        raise KeyError("callback")

    y = mo.array([3.0]) * 2
    mo.fetch(y, fail)
    mo.fetch(y, lambda value: seen.append(value.item()))
    with pytest.raises(KeyError, match="callback"):
        mo.sync_all()
    mo.sync_all()
    assert seen == [6.0]
    assert y.item() == 6.0


# Threads and processes


def test_threads_share_the_session():
    errors = []
    w = mo.array(np.eye(4, dtype="float32"))

    def work(number):
        try:
            for i in range(30):
                x = mo.asarray(np.full((2, 4), number + i, "float32"), device=w.device)
                y = (x @ w * 2 + 1).sum()
                assert y.item() == 8 * (2 * (number + i) + 1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_forked_child_is_told():
    x = mo.array([1.0])
    (x + 1).sync()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            x + 1
            text = "no error"
        except RuntimeError as error:
            text = str(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert "forked" in stream.read()
    os.waitpid(child, 0)
    assert (x + 1).item() == 2


CHILD = """
import multiprocessing, os, sys
import numpy as np
import metaops as mo

x = mo.ones((4,))
x.fetch(lambda value: None)
mo.sync_all()


def work(uses):
    assert np.ones(3).sum() == 3
    if uses:
        try:
            x.sum().item()
        except RuntimeError as error:
            assert "forked" in str(error)
        else:
            raise AssertionError("the child has computed")


for uses in (False, True):
    process = multiprocessing.get_context("fork").Process(target=work, args=(uses,))
    process.start()
    process.join()
    assert process.exitcode == 0
    # With all that a process does at its end.
    child = os.fork()
    if child == 0:
        work(uses)
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert x.sum().item() == 4
"""


def test_forked_children_end_in_silence():
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
