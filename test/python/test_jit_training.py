# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps that are recorded once: numbers, states and counts are those of eager loops,
bit for bit, also where recording, launching or running fails.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import warnings
from weakref import ref

import metaops as mo
import numpy as np
import pytest
from metaops import _core, nn, optim
from metaops.optim import lr_scheduler
from training_loops import LOOPS, Loop
from util import floats, same

STEPS = 20


@pytest.fixture(autouse=True)
def no_warnings():
    """Have a warning that no test expects be an error: recordings that are compared agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def values(result):
    """Return the numbers that a step returned."""
    return [each.numpy() for each in (result if isinstance(result, (list, tuple)) else [result])]


def run(loop: Loop):
    mo.seed(5)
    return [values(loop.step(i)) for i in range(STEPS)]


def make(name, wrap) -> Loop:
    mo.seed(3)
    return LOOPS[name](wrap)


def check_same(actual, expected, rtol=0.0):
    """Compare nested lists of arrays, as a rule bit for bit."""
    assert len(actual) == len(expected)
    for own, other in zip(actual, expected, strict=True):
        if isinstance(own, np.ndarray):
            np.testing.assert_allclose(own, other, rtol=rtol, atol=rtol)
        else:
            check_same(own, other, rtol)


def check_states(loop, other, rtol=0.0):
    mo.sync_all()
    (tensors, counts), (expected, others) = loop.state(), other.state()
    assert counts == others
    check_same(tensors, expected, rtol)
    check_same(loop.fetched, other.fetched, rtol)


#: The recordings for something new of a loop's functions, where that is not one of each.
RECORDED = {
    # Of three lengths, and of four formulas.
    "lengths": 3,
    "rates_from_outside": 4,
    # Functions in another one are recorded with that.
    "gan_of_functions_in_a_function": 1 / 3,
}


#: Loops whose calls are one program, where an eager step is two: roundings differ.
ONE_PROGRAM = {"two_steps"}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.usefixtures("own_kernels")
def test_loops_are_those_without(name):
    functions = []

    def wrap(function):
        functions.append(mo.jit(function))
        return functions[-1]

    other, loop = make(name, lambda function: function), make(name, wrap)
    expected, rtol = run(other), 1e-5 * (name in ONE_PROGRAM)
    check_same(run(loop), expected, rtol)
    check_states(loop, other, rtol)
    infos = [mo.jit_info(function) for function in functions]
    recorded = sum(len(info.records) for info in infos)
    assert recorded == len(functions) * RECORDED.get(name, 1), "\n".join(map(str, infos))
    assert sum(info.hits for info in infos) >= STEPS // 2


@pytest.mark.parametrize("name", ["mlp_with_schedule_and_dropout", "cnn", "gan", "lengths"])
@pytest.mark.usefixtures("own_kernels")
def test_each_call_is_compared(name):
    """By a recording that has no effects of its own."""
    other, loop = make(name, lambda function: function), make(name, mo.jit)
    expected = run(other)
    with mo.flag_scope(jit="check"):
        check_same(run(loop), expected)
    check_states(loop, other)


class Signs(optim.Optimizer):
    """An optimiser of a user, whose formula is recorded in line."""

    def __init__(self, parameters, lr=0.1):
        super().__init__(parameters, lr, decay=0.0)

    def _new_state(self, group):
        return {"mean": 0.0}

    def _numbers(self, group, step):
        numbers = {"rate": self.lr / step**0.5}
        return {**numbers, "decay": group["decay"]} if group["decay"] else numbers

    def _update(self, index, parameter, gradient, n):
        mean = self._keep("mean", index, 0.9 * self._kept["mean"][index] + gradient)
        moved = parameter - n["rate"] * mo.sign(mean)
        return moved * (1.0 - n["decay"]) if "decay" in n else moved


def test_an_optimiser_of_a_user():
    results = []
    for wrap in (eager, mo.jit):
        mo.seed(2)
        layer = nn.Linear(3, 2)
        optimizer, losses = Signs(layer.parameters()), []

        def step(x, layer=layer, optimizer=optimizer):
            loss = (layer(x) ** 2).mean()
            optimizer.step(loss)
            return loss

        call = wrap(step)
        for i in range(12):
            optimizer.lr = 0.1 / (1 + i)
            optimizer.decay = 0.5 * (i >= 8)
            losses.append(call(mo.ones((2, 3)).sync()).item())
        results.append((losses, optimizer.steps))
    assert results[0] == results[1]
    assert len(mo.jit_info(call).records) == 2


# Failures

BAD = {0, 4, 11, 12, 17}


class Case:
    """A table and a weight, an optimiser with a schedule, and batches, of which some are bad."""

    def __init__(self, wrap, bad=()):
        rng = np.random.default_rng(11)
        self.table, self.weight = (
            mo.array(floats(rng, shape)).sync() for shape in [(12, 6), (6, 4)]
        )
        self.optimizer = optim.Adam([self.table, self.weight], 0.05, (0.7, 0.9))
        self.schedule = lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.batches, self.bad = rng.integers(0, 12, (STEPS, 5)), bad
        self.call = wrap(self.step)
        self.inside = lambda: None

    def step(self, rows):
        loss = (mo.tanh(mo.take(self.table, rows, 0) @ self.weight) ** 2).sum()
        self.optimizer.step(loss)
        self.inside()
        self.schedule.step()
        return loss

    def take(self, i):
        rows = self.batches[i].copy()
        if i in self.bad:
            rows[2] = 40
        # A result of a call is computed, so that of the eager step has to be.
        self.loss = self.call(mo.array(rows))

    def counts(self):
        groups = [{**group, "params": None} for group in self.optimizer.param_groups]
        return self.optimizer.steps, self.schedule.epoch, groups

    def check(self, other):
        assert self.counts() == other.counts()
        own = [self.table, self.weight, *self.optimizer._tensors().values()]
        others = [other.table, other.weight, *other.optimizer._tensors().values()]
        for tensor, expected in zip(own, others, strict=True):
            same(tensor, expected.numpy())


def eager(function):
    return function


def run_bad(case, steps=range(STEPS), asks=False):
    """Take steps of which some fail; return those that have raised an error."""
    raised = set()
    for i in steps:
        try:
            case.take(i)
            if asks:
                mo.sync_all()
        except IndexError as error:
            assert "index 40 is out of range" in str(error)
            raised.add(i)
    with contextlib.suppress(IndexError):
        mo.sync_all()
    return raised


@pytest.mark.parametrize("asks", [False, True])
def test_programs_that_fail(asks):
    """Failures that come to light when later calls have begun are those of an eager loop."""
    case, other = Case(mo.jit, BAD), Case(eager, BAD)
    assert run_bad(case, asks=asks) == run_bad(other, asks=asks)
    assert case.optimizer.steps < STEPS - len(BAD) + 1
    case.check(other)


@pytest.mark.parametrize("asks", [False, True])
@mo.flag_scope(asynchronous=False)
def test_launches_that_fail(asks):
    """A call that fails at once has done nothing."""
    case, other = Case(mo.jit, BAD), Case(eager, BAD)
    assert run_bad(case, asks=asks) == BAD
    assert not run_bad(other, sorted(set(range(STEPS)) - BAD))
    case.check(other)


def test_an_exception_while_a_function_is_recorded():
    """At any place, also in a function that ran before: nothing has changed."""
    case, other = Case(mo.jit), Case(eager)
    case.take(0)
    other.take(0)

    def fail():
        raise ZeroDivisionError

    for _ in range(2):
        case.inside = fail
        with pytest.raises(ZeroDivisionError):
            case.take(1)
        case.check(other)
    case.inside = lambda: None
    for i in range(1, STEPS):
        case.take(i)
        other.take(i)
    case.check(other)


@pytest.mark.parametrize("at", [1, 2, 5])
def test_an_exception_at_the_launch(monkeypatch, at):
    """The counts that the call has advanced are taken back."""
    case, other = Case(mo.jit), Case(eager)
    for i in range(at):
        case.take(i)
        other.take(i)
    with monkeypatch.context() as patch:

        def fail(*given):
            raise MemoryError

        patch.setattr(_core.RecordedFunction, "call", fail)
        with pytest.raises(MemoryError):
            case.take(at)
    case.check(other)
    for i in range(at, STEPS):
        case.take(i)
        other.take(i)
    case.check(other)


def test_a_schedule_that_ends():
    """Its error is that of the eager step, and the optimiser has taken no step either."""
    case = Case(mo.jit)
    case.schedule = lr_scheduler.OneCycleLR(case.optimizer, 0.1, 6)
    for i in range(5):
        case.take(i)
    table = case.table.numpy()
    before = case.counts()
    for _ in range(2):
        with pytest.raises(ValueError, match="step 6 is beyond total_steps, which is 6"):
            case.take(5)
        mo.sync_all()
        assert case.counts() == before
        same(case.table, table)


def test_threads_do_not_cross_counts_and_launches():
    """Gradients of ones: what each parameter has become is what its steps' numbers make."""
    weights = [mo.zeros(3).sync() for _ in range(2)]
    optimizer = optim.SGD(weights, 1.0)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda epoch: 2.0 ** -(epoch % 20))
    seen = []

    @mo.jit
    def step():
        before = weights[0].copy()
        optimizer.step(weights[0].sum() + weights[1].sum())
        schedule.step()
        return before - weights[0]

    for _ in range(3):
        seen.append(step())

    def work():
        with mo.device(weights[0].device):
            seen.extend(step() for _ in range(25))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert optimizer.steps == schedule.epoch == len(seen) == 103
    rates = sorted(moved.numpy()[0] for moved in seen)
    assert rates == sorted(2.0 ** -(epoch % 20) for epoch in range(103))
    same(weights[0], weights[1].numpy())


# Random numbers


def drawn(key):
    """Return numbers by a key and by keys that are made of it."""
    first, second = key.split()
    third = second.fold_in(2**40 + 3)
    return (
        mo.random((5,), key=key),
        mo.randn(7, key=first),
        mo.randint(0, 2**40, (4,), key=second, dtype="int64"),
        mo.random((3,), dtype="float64", key=third),
        mo.permutation(9, key=third.fold_in(-1)),
    )


def test_keys_are_leaves():
    """Another key is no other recording, and its numbers are those without."""
    function = mo.jit(drawn)
    for seed in (0, 1, 2**63, -5, 7, 123456789):
        key = mo.Key(seed)
        for own, expected in zip(function(key), drawn(key), strict=True):
            same(own, expected.numpy())
    assert len(mo.jit_info(function).records) == 1
    scoped = mo.jit(lambda keys: [mo.random((2,), key=key) for key in keys["of"]])
    keys = mo.Key(3).split(3)
    for own, key in zip(scoped({"of": keys}), keys, strict=True):
        same(own, mo.random((2,), key=key).numpy())


# Callbacks


def test_callbacks_are_called_in_order_by_each_call():
    """None is called by a recording that is only compared."""
    seen = []

    def first(x, twice):
        seen.append(("first", *x, *twice))

    def second(x):
        seen.append(("second", *x))

    @mo.jit
    def step(x):
        mo.fetch([x, x * 2.0], first)
        (x + 1.0).fetch(second)
        return x

    for i in range(9):
        step(mo.array([float(i)])).sync()
    mo.sync_all()
    assert seen[::2] == [("first", i, 2.0 * i) for i in range(9)]
    assert seen[1::2] == [("second", i + 1.0) for i in range(9)]
    assert mo.jit_info(step).hits == 6
    with pytest.raises(TypeError, match="the last argument has to be the callback"):
        mo.jit(lambda x: mo.fetch(x))(mo.ones(1))


# Optimisers between calls


def test_state_that_is_loaded_is_gone_on_with():
    """The tensors that are kept are others then, and calls move those."""
    case, other = Case(mo.jit), Case(eager)
    for each in (case, other):
        for i in range(4):
            each.take(i)
        state = {
            name: value.copy() if isinstance(value, mo.Var) else value
            for name, value in each.optimizer.state_dict().items()
        }
        for i in range(4, 8):
            each.take(i)
        each.optimizer.load_state_dict(state)
        for i in range(8, 12):
            each.take(i)
    assert case.optimizer.steps == 8
    case.check(other)
    assert len(mo.jit_info(case.call).records) == 2


def test_eager_steps_between_calls():
    """Also of fewer parameters, which divides those that share a count."""
    case, other = Case(mo.jit), Case(eager)
    for i in range(STEPS):
        for each in (case, other):
            if i in (5, 6):
                each.step(mo.array(each.batches[i]))
            elif i in (9, 12):
                each.optimizer.apply([None, mo.ones(each.weight.shape)])
            else:
                each.take(i)
        case.check(other)
    assert len(mo.jit_info(case.call).records) == 2


def test_parameters_that_are_added():
    def build(wrap):
        layers = nn.Linear(3, 3), nn.Linear(3, 3)
        optimizer = optim.Adam(layers[0].parameters(), 0.1)

        def step(x):
            loss = (layers[1](mo.tanh(layers[0](x))) ** 2).mean()
            optimizer.step(loss)
            return loss

        return layers, optimizer, wrap(step)

    results = []
    for wrap in (eager, mo.jit):
        mo.seed(2)
        layers, optimizer, step = build(wrap)
        x, losses = mo.ones((2, 3)).sync(), []
        for i in range(10):
            if i == 5:
                optimizer.add_param_group({"params": layers[1].parameters(), "lr": 0.01})
            losses.append(step(x).item())
        results.append(losses)
    assert results[0] == results[1]


def test_values_of_options_that_are_read():
    """A rate that the function computes with is what it is at each call."""
    weight = mo.ones(3).sync()
    optimizer = optim.SGD([weight], 0.5)

    @mo.jit
    def penalty(x):
        return x * optimizer.lr + optimizer.steps

    x = mo.ones(2).sync()
    for rate in (0.5, 0.25, 0.25, 0.25, 2.0):
        optimizer.lr = rate
        for steps in range(3):
            optimizer.steps = steps
            same(penalty(x), np.full(2, rate + steps, "float32"))


def test_what_is_refused_inside():
    weight = mo.ones(3).sync()
    optimizer = optim.SGD([weight], 0.5)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
    schedule = lr_scheduler.StepLR(optimizer, 2)
    state, of_schedule = optimizer.state_dict(), schedule.state_dict()
    for what, function in {
        "ReduceLROnPlateau.step is called": lambda: plateau.step(1.0),
        "StepLR is made": lambda: lr_scheduler.StepLR(optimizer, 2),
        "StepLR.load_state_dict is called": lambda: schedule.load_state_dict(of_schedule),
        "SGD.load_state_dict is called": lambda: optimizer.load_state_dict(state),
        "Adam is made": lambda: optim.Adam([weight]),
        "SGD.add_param_group is called": lambda: optimizer.add_param_group({"params": weight}),
        "steps is set": lambda: setattr(optimizer, "steps", 3),
    }.items():
        with pytest.raises(RuntimeError, match=rf"^{what} while .*test_jit_training.py:\d+\)"):
            mo.jit(function)()
    assert optimizer.steps == 0


def test_recordings_go_with_what_they_move():
    """Models, optimisers and schedules that were arguments are kept by nobody."""

    @mo.jit
    def step(model, optimizer, schedule, x):
        model.train()
        loss = (model(x) ** 2).mean() * optimizer.lr
        optimizer.step(loss)
        schedule.step()
        return loss

    x, left = mo.ones((2, 3)).sync(), []
    for _ in range(3):
        model = nn.Linear(3, 2)
        optimizer = optim.Adam(model.parameters(), 0.1)
        schedule = lr_scheduler.StepLR(optimizer, 2)
        for _ in range(5):
            step(model, optimizer, schedule, x).sync()
        left += map(ref, (model, optimizer, schedule, model.weight, *optimizer._tensors().values()))
    del model, optimizer, schedule
    gc.collect()
    assert [each() for each in left] == [None] * len(left)


def test_a_module_that_has_no_hash():
    class Scaled(mo.Module):
        def __init__(self):
            self.weight = mo.ones(3).sync()

        def __eq__(self, other):
            return NotImplemented

        def execute(self, x):
            return x * self.weight if self.is_train else x

    model = Scaled()
    assert Scaled.__hash__ is None

    @mo.jit
    def both(x):
        model.eval()
        y = model(x)
        model.train()
        return y + model(x)

    for i in range(4):
        same(both(mo.array([float(i)] * 3)), np.full(3, 2.0 * i, "float32"))
        assert model.is_train


def test_a_recording_keeps_no_tensor_of_an_optimiser():
    """Vars that a step makes while it is recorded are gone when that ends."""
    weight = mo.ones(3).sync()
    optimizer = optim.Adam([weight], 0.5)
    step = mo.jit(lambda: optimizer.step((weight**2).sum()))
    for _ in range(4):
        step()
    assert not any(_core.is_recorded(value) for value in optimizer._tensors().values())
    assert optimizer.steps == 4
    optimizer.step((weight**2).sum())
    assert optimizer.steps == 5


# Memory


def test_a_call_without_memory_is_pending_and_counts():
    """As an eager step is: its updates are made when there is memory again."""
    weight, x = mo.ones((100000,)).sync(), mo.ones((100000,)).sync()
    optimizer = optim.Adam([weight], 0.1)

    @mo.jit
    def step(x):
        loss = (weight * x).sum()
        optimizer.step(loss)
        return loss

    for _ in range(5):
        step(x)
    mo.sync_all()
    old = weight.detach()  # The next call is recorded, as somebody sees the value.
    limit = mo.flags.memory_limit
    mo.flags.memory_limit = 1 << 16
    try:
        with pytest.raises(MemoryError):
            step(x)
    finally:
        mo.flags.memory_limit = limit
    mo.sync_all()
    assert optimizer.steps == 6
    np.testing.assert_allclose(old.numpy(), np.full(100000, 0.5), rtol=1e-4)
    np.testing.assert_allclose(weight.numpy(), np.full(100000, 0.4), rtol=1e-4)
    step(x)
    np.testing.assert_allclose(weight.numpy(), np.full(100000, 0.3), rtol=1e-4)
