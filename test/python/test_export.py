# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs compute what they were exported from, without a compiler."""

from __future__ import annotations

import subprocess
import sys

import metaops as mo
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.metaops"


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_module(path):
    model = mo.nn.Sequential(
        mo.nn.Conv2d(3, 8, 3, padding=1), mo.nn.ReLU(), mo.nn.Flatten(), mo.nn.Linear(8 * 36, 5)
    )
    mo.export(model, [np.zeros((2, 3, 6, 6), "float32")], path, metadata={"made for": "a test"})
    program = mo.load_program(path)
    assert [(t.name, t.dtype, t.shape) for t in program.inputs] == [
        (program.inputs[0].name, "float32", (2, 3, 6, 6))
    ]
    for seed in range(3):
        x = rng(seed).standard_normal((2, 3, 6, 6)).astype("float32")
        np.testing.assert_allclose(program(x)[0], model(mo.array(x)).numpy(), rtol=1e-5, atol=1e-5)


def test_weights_have_their_names(path):
    model = mo.nn.Linear(4, 3)
    mo.export(model, [mo.zeros((2, 4))], path)
    weights = {name: value.shape for name, value in mo.load_program(path).weights.items()}
    assert weights == {name: tuple(value.shape) for name, value in model.state_dict().items()}


def test_later_updates_do_not_reach_the_file(path):
    model = mo.nn.Linear(4, 3)
    x = rng().random((2, 4), dtype="float32")
    optimizer = mo.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step((model(mo.array(x)) ** 2).sum())
    before = model(mo.array(x)).numpy()
    mo.export(model, [x], path)
    optimizer.step((model(mo.array(x)) ** 2).sum())
    np.testing.assert_allclose(mo.load_program(path)(x)[0], before, rtol=1e-6)


def test_several_inputs_and_outputs(path):
    def fn(first, second, unused):
        return {"sum": first + second, "first": first, "largest": second.max()}

    mo.export(fn, [mo.zeros((3,)), np.zeros((3,), "float32"), np.zeros((2,), "int64")], path)
    program = mo.load_program(path)
    assert [t.name for t in program.inputs] == ["first", "second", "unused"]
    assert [t.name for t in program.outputs] == ["sum", "first", "largest"]
    x, y = rng(1).random((2, 3), dtype="float32")
    total, first, largest = program(x, y, np.zeros(2, "int64"))
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(first, x)
    assert largest == y.max()


def test_gradients(path):
    def fn(w, x):
        loss = (x @ w).tanh().sum()
        return loss, mo.grad(loss, w)

    mo.export(fn, [mo.zeros((4, 3)), mo.zeros((5, 4))], path)
    w, x = (rng(2).standard_normal(s).astype("float32") for s in ((4, 3), (5, 4)))
    loss, gradient = mo.load_program(path)(w, x)
    np.testing.assert_allclose(loss, np.tanh(x @ w).sum(), rtol=1e-5)
    np.testing.assert_allclose(gradient, x.T @ (1 - np.tanh(x @ w) ** 2), rtol=1e-4, atol=1e-5)


def test_indices_are_checked(path):
    table = mo.array(rng(3).random((10, 4), dtype="float32"))
    mo.export(lambda indices: table[indices], [np.zeros(3, "int64")], path)
    program = mo.load_program(path)
    np.testing.assert_array_equal(program(np.array([1, 9, -10]))[0], table.numpy()[[1, 9, -10]])
    for bad in ([1, 10, 2], [0, -11, 0]):
        with pytest.raises(Exception, match=r"index -?1\d is out of range for dimension 0 of ext"):
            program(np.array(bad))
    # The program goes on.
    np.testing.assert_array_equal(program(np.array([0, 0, 5]))[0], table.numpy()[[0, 0, 5]])


def test_indices_of_indices_are_checked(path):
    table = mo.array(rng(3).random((10, 4), dtype="float32"))
    order = mo.array(np.array([3, 12, 5]))
    mo.export(lambda indices: table[order[indices]], [np.zeros(2, "int64")], path)
    program = mo.load_program(path)
    np.testing.assert_array_equal(program(np.array([0, 2]))[0], table.numpy()[[3, 5]])
    with pytest.raises(Exception, match="index 12 is out of range"):
        program(np.array([0, 1]))
    with pytest.raises(Exception, match="index 3 is out of range"):
        program(np.array([0, 3]))


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_each_target(path, target):
    mo.export(lambda x: mo.softmax(x.sin(), dim=1), [mo.zeros((7, 33))], path, targets=[target])
    x = rng(4).standard_normal((7, 33)).astype("float32")
    try:
        program = mo.load_program(path)
    except Exception as error:
        if "avx" not in str(error):
            raise
        pytest.skip(f"a processor without {target}")
    expected = np.exp(np.sin(x)) / np.exp(np.sin(x)).sum(1, keepdims=True)
    np.testing.assert_allclose(program(x)[0], expected, rtol=1e-5)


def test_aarch64_is_compiled_and_refused_here(path):
    mo.export(lambda x: x.exp().sum(), [mo.zeros((64,))], path, targets=["aarch64"])
    with pytest.raises(Exception, match="aarch64"):
        mo.load_program(path)
    assert mo.load_program(path, code=False).outputs[0].shape == ()


def test_without_a_compiler(path):
    mo.export(lambda x: (x * 2).sort(), [mo.zeros((5,))], path)
    code = f"""
import sys
import numpy as np
from metaops.execute import load_program
x = np.array([3, 1, 2, 5, 4], "float32")
assert (load_program({str(path)!r})(x)[0] == [2, 4, 6, 8, 10]).all()
assert "metaops._core" not in sys.modules
assert "libLLVM" not in open("/proc/self/maps").read()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("fn", "error", "message"),
    [
        (lambda x: x + float(x.sum()), ValueError, "asked for a value"),
        (lambda x: x + mo.rand(3), ValueError, "draws random numbers at .*test_export"),
        (lambda x: 3, TypeError, "returned int; expected a tensor"),
        (lambda x: [], TypeError, "returned list"),
    ],
)
def test_what_cannot_be_exported(path, fn, error, message):
    with pytest.raises(error, match=message):
        mo.export(fn, [mo.zeros((3,))], path)
    assert not path.exists()


def test_an_unknown_target(path):
    with pytest.raises(RuntimeError, match="no target 'z80'; there are: x86-64-v3"):
        mo.export(lambda x: x + 1, [mo.zeros((3,))], path, targets=["z80"])
    assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="No such file"):
        mo.export(lambda x: x + 1, [mo.zeros((3,))], tmp_path / "no" / "program.metaops")


def test_a_file_is_replaced(path):
    for number in (1, 2):
        mo.export(lambda x, number=number: x + number, [mo.zeros((3,))], path)
        np.testing.assert_array_equal(
            mo.load_program(path)(np.zeros(3, "float32"))[0], [number] * 3
        )
    assert [file.name for file in path.parent.iterdir()] == [path.name]
