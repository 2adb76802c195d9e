# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported functions that have programs for several sizes."""

from __future__ import annotations

import threading

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.execute import load_program

pytestmark = pytest.mark.processor


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")


def compare(program, fn, *arrays):
    """Compare a program with the function in a session."""
    found = program(*arrays)
    with mo.no_grad():
        expected = fn(*map(mo.array, arrays))
    single = not isinstance(expected, tuple)
    for result, own in zip(
        [found] if single else found, [expected] if single else expected, strict=True
    ):
        np.testing.assert_allclose(result, own.numpy(), rtol=3e-5, atol=3e-6)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 4)

    def execute(self, x):
        return self.second(mo.relu(self.first(x)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.metaops"


def test_a_range_of_batches(path):
    model = Perceptron()
    mo.export(model, [mo.zeros((2, 16))], path, dynamic={"x": {0: ("batch", 1, 40)}})
    program = load_program(path)
    assert program.inputs[0].shape == ("batch", 16)
    assert program.outputs[0].shape == (None, 4)
    assert program.extents == {"batch": tuple(range(1, 41))}
    fixed = path.with_name("fixed")
    mo.export(model, [mo.zeros((2, 16))], fixed)
    assert list(program.weights) == list(load_program(fixed).weights)
    for n in (1, 2, 7, 8, 40, 2):
        compare(program, model, draw(n, 16))


def test_the_compiler_loads_it_too(path):
    model = Perceptron()
    mo.export(model, [mo.zeros((2, 16))], path, dynamic={"x": {0: ("batch", [3, 1])}})
    compare(mo.load_program(path), model, draw(3, 16))


def test_numbers_follow_sizes(path):
    def fn(x):
        return x.mean(0), x[::-1], x.std(0), x - x[-1], mo.arange(x.shape[0]) * 2

    mo.export(fn, [mo.zeros((1, 5))], path, dynamic={"x": {0: ("n", 2, 9)}})
    program = load_program(path)
    for n in range(2, 10):
        compare(program, fn, draw(n, 5))


def test_each_size_does_what_the_function_does_there(path):
    def fn(x):
        return x * 2 if x.shape[0] > 3 else x.sum(0, keepdims=True) + x

    mo.export(fn, [mo.zeros((1, 5))], path, dynamic={"x": {0: ("n", 1, 6)}})
    program = load_program(path)
    for n in range(1, 7):
        compare(program, fn, draw(n, 5))


def test_two_extents_that_inputs_share(path):
    def fn(x, y, mask):
        return (x @ y) * mask, (x * mask.sum()).sum(0)

    mo.export(
        fn,
        [mo.zeros((1, 3, 4)), mo.zeros((1, 4, 3)), mo.zeros((3, 3))],
        path,
        dynamic={
            "x": {0: ("batch", 1, 3), 1: "length"},
            "y": {0: "batch", -1: ("length", [2, 7, 5])},
            "mask": {0: "length", 1: "length"},
        },
    )
    program = load_program(path)
    assert program.extents == {"batch": (1, 2, 3), "length": (2, 5, 7)}
    for batch in (1, 2, 3):
        for n in (2, 5, 7):
            compare(program, fn, draw(batch, n, 4), draw(batch, 4, n), draw(n, n))
    with pytest.raises(ValueError, match=r"'y' has 2 along dimension 2, which is 'length', and th"):
        program(draw(1, 5, 4), draw(1, 4, 2), draw(5, 5))
    with pytest.raises(ValueError, match="no program for batch 2, length 6; it has those for batc"):
        program(draw(2, 6, 4), draw(2, 4, 6), draw(6, 6))


def test_size_zero(path):
    def fn(x):
        return x.sum(0), x * 2

    mo.export(fn, [mo.zeros((1, 3))], path, dynamic={"x": {0: ("n", 0, 2)}})
    program = load_program(path)
    for n in (0, 1, 2):
        compare(program, fn, draw(n, 3))


def test_containers_and_functions(path):
    model = Perceptron()
    mo.export(
        {
            "one": (lambda batch: {"y": model(batch["x"])}, [{"x": mo.zeros((1, 16))}]),
            "fixed": (model, [mo.zeros((5, 16))]),
        },
        path,
        dynamic={"one": {"batch.x": {0: ("batch", 1, 4)}}},
    )
    program = load_program(path)
    x = draw(3, 16)
    expected = model(mo.array(x)).numpy()
    np.testing.assert_allclose(program({"x": x})["y"], expected, rtol=1e-5, atol=1e-6)
    assert program["fixed"].inputs[0].shape == (5, 16)
    assert program["fixed"].extents == {}
    named = [name for name in program.weights if not name.startswith("constant_")]
    assert named == [f"one.{name}" for name in model.state_dict()] or named == list(
        model.state_dict()
    )


def test_a_loop_of_as_many_trips(path):
    cell = nn.RNN(4, 6)

    def fn(x):
        return cell(x)[0]

    mo.export(
        fn, [mo.zeros((2, 1, 4))], path, dynamic={"x": {0: ("time", 1, 12), 1: ("b", [1, 3])}}
    )
    program = load_program(path)
    for time in (1, 5, 12):
        compare(program, fn, draw(time, 3, 4))


def test_a_step_of_training(path):
    model = nn.Linear(3, 1)
    optimizer = mo.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        loss = (model(x) ** 2).mean()
        optimizer.step(loss)
        return loss

    mo.export(step, [mo.zeros((1, 3))], path, state="outputs", dynamic={"x": {0: ("batch", 1, 5)}})
    program = load_program(path)
    state = program.state
    for n in (4, 5, 1, 4):
        x = draw(n, 3, seed=n)
        loss, state = program(x, {"optimizer.lr": 0.1}, state)
        np.testing.assert_allclose(loss, step(mo.array(x)).item(), rtol=1e-5)
    np.testing.assert_allclose(state["model.weight"], model.weight.numpy(), rtol=1e-5)


def test_dropout_draws_from_the_state(path):
    def fn(x):
        return x * (mo.rand(x.shape) < 0.5)

    mo.export(fn, [mo.zeros((1, 8))], path, state="outputs", dynamic={"x": {0: ("n", 1, 3)}})
    program = load_program(path)
    state = program.state
    first, state = program(np.ones((3, 8), "float32"), state)
    second, _ = program(np.ones((3, 8), "float32"), state)
    assert set(np.unique(first)) == {0, 1} and not np.array_equal(first, second)


def test_at_gives_a_program_of_fixed_shapes(path):
    mo.export(lambda x: x.sum(1), [mo.zeros((1, 3))], path, dynamic={"x": {0: ("batch", 1, 4)}})
    program = load_program(path)
    fixed = program.at(batch=4)
    assert fixed.inputs[0].shape == (4, 3) and fixed.outputs[0].shape == (4,)
    assert fixed.extents == {} and fixed.at() is fixed
    np.testing.assert_allclose(fixed(np.ones((4, 3), "float32")), 3)
    with pytest.raises(ValueError, match="given float32"):
        fixed(np.ones((3, 3), "float32"))
    with pytest.raises(TypeError, match="has the extents batch, given n"):
        program.at(n=3)
    with pytest.raises(TypeError, match="has the extents batch, given none"):
        program.at()
    with pytest.raises(ValueError, match="no program for batch 5; it has those for batch of 1 to"):
        program.at(batch=5)
    program.close()
    with pytest.raises(RuntimeError, match="closed"):
        fixed(np.ones((4, 3), "float32"))


def test_more_sizes_than_stay_open_from_several_threads(path):
    mo.export(lambda x: x.cumsum(0), [mo.zeros(1)], path, dynamic={"x": {0: ("n", 1, 40)}})
    program = load_program(path)
    wrong = []

    def work(seed):
        for n in np.random.default_rng(seed).integers(1, 41, 60):
            x = draw(n, seed=seed)
            if not np.allclose(program(x), np.cumsum(x), atol=1e-5):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_kernels_are_shared(path, tmp_path):
    """Sixty-four sizes have little more code than one, not sixty-four times as much."""
    model = Perceptron()
    arguments = [mo.zeros((8, 16))]
    targets = ["x86-64-v3"]
    image = {}
    for name, dynamic in {
        "fixed": None,
        "sized": {"x": {0: ("batch", 1, 64)}},
    }.items():
        file = tmp_path / name
        mo.export(model, arguments, file, targets=targets, dynamic=dynamic)
        data = file.read_bytes()
        count = int.from_bytes(data[12:16], "little")
        entries = (data[64 + 64 * i :] for i in range(count))
        image[name] = sum(
            int.from_bytes(e[16:24], "little")
            for e in entries
            if int.from_bytes(e[:4], "little") == 3
        )
    assert image["sized"] < 12 * image["fixed"]


@pytest.mark.parametrize(
    ("dynamic", "error", "message"),
    [
        ({"y": {0: ("n", 1, 4)}}, ValueError, r"names the input 'y'; 'main' has 'x'"),
        ({"x": {2: ("n", 1, 4)}}, ValueError, r"names dimension 2 of the input 'x', which has 2"),
        ({"x": {-3: ("n", 1, 4)}}, ValueError, r"names dimension -3 of the input 'x'"),
        ({"x": {"0": ("n", 1, 4)}}, ValueError, r"names dimension '0' of the input 'x'"),
        ({"x": {True: ("n", 1, 4)}}, ValueError, r"names dimension True of"),
        ({"x": {0: "n"}}, ValueError, r"gives no sizes for 'n'; expected a name, \('batch'"),
        ({"x": {0: ("n", 4, 1)}}, ValueError, r"has \('n', 4, 1\) at dimension 0 of 'x'"),
        ({"x": {0: ("n", -1, 1)}}, ValueError, r"has \('n', -1, 1\) at dimension 0"),
        ({"x": {0: ("n", [])}}, ValueError, r"at dimension 0 of 'x'; expected a name"),
        ({"x": {0: ("n", [1.5])}}, ValueError, r"at dimension 0 of 'x'; expected a name"),
        ({"x": {0: 4}}, ValueError, r"has 4 at dimension 0 of 'x'; expected a name"),
        ({"x": {0: ("n", 1, 4), 1: ("n", 1, 5)}}, ValueError, r"gives 'n' other sizes at dimensi"),
        ({"x": {0: ("n", 1, 4), -2: "n"}}, ValueError, r"names dimension -2 of 'x' twice"),
        ({"x": {0: ("n", 1, 10**12)}}, ValueError, r"1,000,000,000,000 sizes at .*4,096 at most"),
        (
            {"x": {0: ("n", 1, 100), 1: ("m", 1, 100)}},
            ValueError,
            r"'main' would have 10,000 programs, .*\(n 100, m 100\); expected 4,096 at most",
        ),
        ({"x": 4}, TypeError, r"dynamic has 4 for the input 'x'; expected a dict of its dimension"),
        ({}, TypeError, r"given dynamic=a dict for 'main'; expected a dict of inputs"),
        (4, TypeError, r"given dynamic=4 for 'main'; expected a dict of inputs"),
    ],
)
def test_what_cannot_be_dynamic(path, dynamic, error, message):
    with pytest.raises(error, match=message):
        mo.export(lambda x: x * 2, [mo.zeros((2, 2))], path, dynamic=dynamic)
    assert not path.exists()


def test_a_function_that_returns_others_at_some_size(path):
    with pytest.raises(ValueError, match=r"'main' returns another structure .* with n 3 than with"):
        mo.export(
            lambda x: (x, x) if x.shape[0] == 3 else x,
            [mo.zeros(2)],
            path,
            dynamic={"x": {0: ("n", 1, 4)}},
        )
    with pytest.raises(ValueError, match=r"returns \(output: float32 .*with n 1, and .*with n 3"):
        mo.export(
            lambda x: x.sum() if x.shape[0] == 3 else x,
            [mo.zeros(2)],
            path,
            dynamic={"x": {0: ("n", 1, 4)}},
        )
    assert not path.exists()


def test_a_size_at_which_the_function_fails(path):
    with pytest.raises(ValueError, match="test_export_sizes"):
        mo.export(lambda x: x.reshape(2, -1), [mo.zeros(2)], path, dynamic={"x": {0: ("n", 1, 4)}})
    assert not path.exists()


def test_files_without_code_have_fixed_shapes(path):
    with pytest.raises(ValueError, match="given dynamic with code=False"):
        mo.export(lambda x: x, [mo.zeros(2)], path, code=False, dynamic={"x": {0: ("n", 1, 4)}})
    with pytest.raises(ValueError, match="dynamic names the function 'g'; there are 'f'"):
        mo.export({"f": (lambda x: x, [mo.zeros(2)])}, path, dynamic={"g": {}})
    mo.export(lambda x: x * 2, [mo.zeros(2)], path, dynamic={"x": {0: ("n", 1, 2)}})
    with pytest.raises(ValueError, match="no MLIR to compile"):
        mo.load_program(path, code=False)


def test_numbers_keep_their_names(path):
    class Scalars(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = mo.array(1.0), mo.array(1.0), mo.array(2.0)

        def execute(self, x):
            return (x * 1.0 + 2.0) * self.a + self.b * 3 + self.c

    mo.export(Scalars(), [mo.zeros(2)], path, dynamic={"x": {0: ("n", np.int64(1), 3)}})
    program = load_program(path)
    named = {name for name in program.weights if not name.startswith("constant_")}
    assert named == {"a", "b", "c"}
    np.testing.assert_allclose(program(np.ones(3, "float32")), 3 + 3 + 2)
