# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What exported functions do beside computing results: errors, or a state of the file."""

from __future__ import annotations

import inspect
import threading
import time

import metaops as mo
import numpy as np
import pytest
from metaops import nn

pytestmark = pytest.mark.processor


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.metaops"


def some(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def line_of(function, offset):
    """Return "file:line" of a function's line, as errors name it."""
    return f"{__file__}:{inspect.getsourcelines(function)[1] + offset}"


def refused(path, fn, args, error, *messages, **options):
    """Return the message with which an export fails; nothing is written."""
    with pytest.raises(error) as raised:
        mo.export(fn, args, path, **options)
    assert not path.exists()
    for message in messages:
        assert message in str(raised.value), raised.value
    return str(raised.value)


# Values that are read


def test_values_that_are_read_are_errors_with_the_line(path):
    kept = mo.array(some(3))
    kept.sync()

    def read_result(x):
        return x * float(x.sum())

    def read_input(x):
        return x * x.numpy()

    def read_outside(x):
        return x * kept.numpy()[0]

    def read_truth(x):
        return x * 2 if x.sum() > 0 else x * 3

    def read_item(x):
        return x * x[0].item()

    def read_list(x):
        return x * x.tolist()[0]

    def wait(x):
        mo.sync([x * 2])
        return x

    for fn in (read_result, read_input, read_outside, read_truth, read_item, read_list, wait):
        refused(path, fn, [mo.array(some(3))], RuntimeError, line_of(fn, 1))


# Updates


def test_updates_are_errors_with_the_line(path):
    class Holder:
        var: mo.Var

    def update(x):
        h.var.update(h.var + x)
        return x

    def assign(x):
        h.var.assign(h.var + x)
        return x + h.var

    def set_item(x):
        h.var[0] = x[0]
        return x + h.var

    def add_in_place(x):
        h.var += x
        return x + h.var

    def twice(x):
        h.var.update(h.var + 1)
        h.var.update(h.var * 2)
        return x + h.var

    h = Holder()
    for fn, line in ((update, 1), (assign, 1), (set_item, 1), (add_in_place, 1), (twice, 2)):
        h.var = given = mo.array(some(3))
        refused(path, fn, [some(3)], ValueError, "a tensor of shape (3,)", line_of(fn, line))
        assert h.var is given
        np.testing.assert_array_equal(given.numpy(), some(3))


def test_updates_of_modules_are_told_by_name(path):
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    before = {name: value.numpy() for name, value in model.state_dict().items()}
    ran = mo.stats()["programs_run"]
    message = refused(
        path,
        model,
        [mo.ones((8, 4))],
        ValueError,
        "updates 1.num_batches_tracked, 1.running_mean, 1.running_var at ",
    )
    assert "eval() to be called before, or state='outputs'" in message
    refused(path, lambda x: model(x), [mo.ones((8, 4))], ValueError, "updates model.1.")
    assert mo.stats()["programs_run"] == ran
    mo.sync_all()
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    model.eval()
    mo.export(model, [mo.ones((8, 4))], path)


def test_arguments_may_be_rebound(path):
    def fn(x, y):
        x += 1
        x.update(x * 2)
        y[0] = 5.0
        return x, y, x * y

    given = mo.array(some(2)), mo.array(some(2, seed=1))
    mo.export(fn, given, path)
    for var, seed in zip(given, (0, 1), strict=True):
        np.testing.assert_array_equal(var.numpy(), some(2, seed=seed))
    expected = [each.numpy() for each in fn(*given)]
    for result, each in zip(mo.load_program(path)(some(2), some(2, seed=1)), expected, strict=True):
        np.testing.assert_array_equal(result, each)


def test_one_tensor_as_two_arguments(path):
    given = mo.array(some(3))
    mo.export(lambda x, y: x - 2 * y, [given, given], path)
    x, y = some(3, seed=1), some(3, seed=2)
    np.testing.assert_allclose(mo.load_program(path)(x, y), x - 2 * y, rtol=1e-6)


def test_an_argument_that_the_function_knows(path):
    given = mo.array(some(3))
    mo.export(lambda x: x + 2 * given, [given], path)
    x = some(3, seed=1)
    np.testing.assert_allclose(mo.load_program(path)(x), x + 2 * x, rtol=1e-6)


def test_results_that_are_no_computations(path):
    kept = mo.array(some(3))
    mo.export(lambda x: (x, kept, x), [some(3)], path)
    x = some(3, seed=1)
    first, second, third = mo.load_program(path)(x)
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(second, some(3))
    np.testing.assert_array_equal(third, x)
    first[:] = 0
    np.testing.assert_array_equal(third, x)


def test_pending_values_are_weights(path):
    kept = mo.array(some(3)) * 2
    kept.update(kept + 1)
    mo.export(lambda x: x * kept + mo.array(some(3, seed=2)), [some(3)], path)
    x = some(3, seed=1)
    expected = x * (some(3) * 2 + 1) + some(3, seed=2)
    np.testing.assert_allclose(mo.load_program(path)(x), expected, rtol=1e-5)
    np.testing.assert_allclose(kept.numpy(), some(3) * 2 + 1, rtol=1e-6)


def test_values_that_are_kept_are_errors(path):
    kept = []

    def fn(x):
        kept.append(x * 2)
        return x

    refused(path, fn, [some(3)], ValueError, "is kept when", line_of(fn, 1))

    def in_a_cycle(x):
        cycle = [x * 2]
        cycle.append(cycle)
        return x

    mo.export(in_a_cycle, [some(3)], path)


# Random numbers


def test_random_numbers_are_errors_with_the_line(path):
    def fn(x):
        return x + mo.rand(3)

    message = refused(path, fn, [some(3)], ValueError, "draws random numbers", line_of(fn, 1))
    assert "or state='outputs'" in message
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    refused(path, model, [some(2, 3)], ValueError, "draws random numbers")


def test_exporting_draws_nothing(path):
    mo.seed(4)
    expected = mo.rand(3).numpy()
    mo.seed(4)

    def fn(x):
        mo.rand(7)
        return x

    mo.export(fn, [some(3)], path)
    np.testing.assert_array_equal(mo.rand(3).numpy(), expected)


# Other failures


def test_an_exception_leaves_everything(path):
    def fn(x):
        kept.update(kept + x)
        raise KeyError("mine")

    kept = mo.array(some(3))
    with pytest.raises(KeyError, match="mine"):
        mo.export(fn, [some(3)], path)
    np.testing.assert_array_equal(kept.numpy(), some(3))
    assert (mo.array(some(3)) * 2).numpy()[0] == 2 * some(3)[0]


def test_generators_are_errors(path):
    def fn(x):
        yield x

    refused(path, fn, [some(3)], TypeError, "returned generator")


@pytest.mark.parametrize("reads", [False, True])
def test_other_threads_go_on(path, reads):
    kept, ends = mo.array(some(3)), threading.Event()
    counts = [0]

    def work():
        while not ends.is_set():
            kept.update(kept + 1)
            if reads:
                kept.numpy()
            counts[0] += 1

    def fn(x):
        before = counts[0]
        while counts[0] < before + 20:
            time.sleep(0.001)
        return x * 2

    thread = threading.Thread(target=work)
    thread.start()
    try:
        mo.export(fn, [some(3)], path)
    finally:
        ends.set()
        thread.join()
    np.testing.assert_array_equal(mo.load_program(path)(some(3)), some(3) * 2)
    np.testing.assert_allclose(kept.numpy(), some(3) + np.float32(counts[0]), rtol=1e-3)


def test_functions_of_no_arguments(path):
    kept = mo.array(some(3))
    mo.export(lambda: kept * 2, [], path)
    np.testing.assert_array_equal(mo.load_program(path)(), some(3) * 2)


def test_without_lazy_execution(path):
    with mo.flag_scope(lazy_execution=False):
        mo.export(lambda x: x * 2, [some(3)], path)
    np.testing.assert_array_equal(mo.load_program(path)(some(3)), some(3) * 2)


# State


def test_state_is_inputs_and_outputs(path):
    model = nn.BatchNorm1d(3)
    twin = nn.BatchNorm1d(3)
    mo.export(model, [mo.zeros((8, 3))], path, state="outputs")
    program = mo.load_program(path)
    state = program.state
    own = model.state_dict()
    assert set(state) < set(own)
    assert [t.name for t in program.inputs] == ["x", *state]
    assert [t.name for t in program.outputs] == ["output", *state]
    for name, value in state.items():
        np.testing.assert_array_equal(value, own[name].numpy())
    for seed in range(3):
        x = some(8, 3, seed=seed)
        y, state = program(x, state)
        np.testing.assert_allclose(y, twin(mo.array(x)).numpy(), rtol=1e-5, atol=1e-6)
        for name, value in state.items():
            np.testing.assert_allclose(value, twin.state_dict()[name].numpy(), rtol=1e-5)
    # The model is as it was.
    np.testing.assert_array_equal(model.running_mean.numpy(), np.zeros(3))


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: mo.random.uniform(shape=(0, 2)),
        lambda x: mo.map(lambda row: mo.random.uniform(shape=(2,)) + row, x[:0]),
        lambda x: mo.map(lambda row: mo.random.uniform(shape=(0, 2)) + row, x),
    ],
)
def test_no_random_numbers_leave_the_state(path, draw):
    mo.export(lambda x: (draw(x), x * 2), [some(3)], path, state="outputs")
    program = mo.load_program(path)
    before = program.state
    (drawn, result), state = program(some(3), before)
    assert drawn.size == 0
    np.testing.assert_array_equal(result, some(3) * 2)
    assert {name: int(value) for name, value in state.items()} == {
        name: int(value) for name, value in before.items()
    }


def test_a_function_without_state_has_an_empty_one(path):
    mo.export(lambda x: x * 2, [some(3)], path, state="outputs")
    program = mo.load_program(path)
    assert program.state == {}
    result, state = program(some(3), {})
    assert state == {}
    np.testing.assert_array_equal(result, some(3) * 2)


def test_random_numbers_are_a_state(path):
    def fn(x):
        mo.rand(2)
        return x + mo.rand(3), mo.randn(4)

    mo.seed(11)
    mo.rand(5)
    mo.export(fn, [some(3)], path, state="outputs")
    program = mo.load_program(path)
    state = program.state
    assert list(state) == ["random.key", "random.counter"]
    for _ in range(3):
        given, state = program(some(3), state)
        for result, expected in zip(given, fn(mo.array(some(3))), strict=True):
            np.testing.assert_array_equal(result, expected.numpy())


class Momentum:
    """An optimiser whose whole state are Vars, with Adam's formula."""

    def __init__(self, model):
        self.model = model
        self.step = mo.zeros(())
        self.m = [mo.zeros_like(p) for p in model.parameters()]
        self.v = [mo.zeros_like(p) for p in model.parameters()]

    def train(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        parameters = self.model.parameters()
        gradients = mo.grad(loss, parameters)
        step = self.step + 1
        for p, g, m, v in zip(parameters, gradients, self.m, self.v, strict=True):
            first = 0.9 * m + 0.1 * g
            second = 0.999 * v + 0.001 * g * g
            m.update(first)
            v.update(second)
            size = 0.01 * (1 - 0.999**step).sqrt() / (1 - 0.9**step)
            p.update(p - size * first / (second.sqrt() + 1e-8))
        self.step.update(step)
        return loss


def make_trainer():
    mo.seed(5)
    model = nn.Sequential(
        nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.BatchNorm1d(16), nn.Linear(16, 4)
    )
    return Momentum(model)


def batch():
    x = (np.arange(8 * 6) % 17 - 8).astype("float32").reshape(8, 6)
    return x, np.arange(8) % 4


def test_a_step_of_training(path):
    trainer, twin = make_trainer(), make_trainer()
    x, y = batch()
    trainer.model.parameters()[0].sync()
    before = [p.numpy() for p in trainer.model.parameters()]
    mo.seed(9)
    mo.export(trainer.train, [x, y], path, state="outputs")
    for p, value in zip(trainer.model.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.numpy(), value)
    program = mo.load_program(path)
    state = program.state
    assert "model.0.weight" in state and "random.counter" in state and "state_0" in state
    mo.seed(9)
    for _ in range(30):
        loss, state = program(x, y, state)
        np.testing.assert_allclose(loss, twin.train(mo.array(x), mo.array(y)).numpy(), rtol=1e-4)
    np.testing.assert_allclose(
        state["model.0.weight"], twin.model.parameters()[0].numpy(), rtol=1e-3, atol=1e-5
    )


def test_training_and_inference_share_a_file(path):
    model = nn.Linear(3, 2)

    def train(x):
        loss = (model(x) ** 2).mean()
        for p, g in zip(model.parameters(), mo.grad(loss, model.parameters()), strict=True):
            p.update(p - 0.1 * g)
        return loss

    functions = {"train": (train, [some(4, 3)]), "infer": (lambda x: model(x), [some(4, 3)])}
    mo.export(functions, path, state="outputs")
    program = mo.load_program(path)
    names = {name for name in program.weights if not name.startswith("constant_")}
    assert names == {"model.weight", "model.bias"}
    assert program["infer"].state == {}
    x = some(4, 3)
    np.testing.assert_allclose(
        program["infer"](x, {})[0], model(mo.array(x)).numpy(), rtol=1e-5, atol=1e-6
    )
    first, state = program["train"](x, program.state)
    second, _ = program["train"](x, state)
    assert second < first


def test_names_that_a_state_has_taken(path):
    def fn(state):
        kept.update(kept + state)
        return state

    kept = mo.array(some(3))
    refused(path, fn, [some(3)], ValueError, "a parameter of the function has the name 'state'",
            state="outputs")  # fmt: skip
    refused(path, abs, [some(3)], ValueError, "given the state 'inputs'", state="inputs")
