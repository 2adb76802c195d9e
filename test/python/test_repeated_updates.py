# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of optimisers on gradients that are there: recorded once, then launched."""

import sys

import metaops as mo
import numpy as np
import pytest
from util import bytes_in_use, close, floats, same

SHAPES = [(16,), (3, 5), (1,), (64,), (2, 3, 4), (1024,), (16,), (0, 3), (33,)]


def sgd(state, w, g, t, rate):
    v = state.setdefault("v", np.zeros_like(w))
    v[...] = 0.9 * v + g + 0.1 * w
    return w - rate * (g + 0.1 * w + 0.9 * v)


def adam(state, w, g, t, rate, decay=0.0):
    m, s = state.setdefault("m", np.zeros_like(w)), state.setdefault("s", np.zeros_like(w))
    m[...] = 0.8 * m + 0.2 * g
    s[...] = 0.95 * s + 0.05 * g * g
    w = w * (1 - rate * decay)
    return w - rate * (m / (1 - 0.8**t)) / (np.sqrt(s / (1 - 0.95**t)) + 1e-6)


KINDS = {
    "SGD": (lambda p: mo.optim.SGD(p, 0.1), lambda state, w, g, t, rate: w - rate * g),
    "Nesterov": (lambda p: mo.optim.SGD(p, 0.1, 0.9, weight_decay=0.1, nesterov=True), sgd),
    "Adam": (lambda p: mo.optim.Adam(p, 0.1, (0.8, 0.95), 1e-6), adam),
    "AdamW": (
        lambda p: mo.optim.AdamW(p, 0.1, (0.8, 0.95), 1e-6, 0.3),
        lambda *given: adam(*given, decay=0.3),
    ),
}


class Case:
    """An optimiser, and the same in NumPy."""

    def __init__(self, rng, kind="Adam", shapes=SHAPES, dtype="float32"):
        self.rng, self.shapes, self.dtype, self.count = rng, shapes, dtype, 0
        make, self.formula = KINDS[kind]
        self.expected = [floats(rng, shape, dtype) for shape in shapes]
        self.parameters = [mo.array(value) for value in self.expected]
        self.states = [{} for _ in shapes]
        self.optimizer = make(self.parameters)

    def gradients(self):
        return [floats(self.rng, shape, self.dtype) for shape in self.shapes]

    def step(self, given=None):
        """Take a step by gradients that are in memory."""
        arrays = self.gradients()
        gradients = [mo.array(array) for array in arrays] if given is None else given(arrays)
        self.move(arrays)
        self.optimizer.apply(gradients)

    def move(self, arrays):
        self.count += 1
        rows = zip(self.states, self.expected, arrays, strict=True)
        self.expected = [
            self.formula(state, w, g, self.count, self.optimizer.lr) for state, w, g in rows
        ]

    def check(self):
        for parameter, value in zip(self.parameters, self.expected, strict=True):
            close(parameter, value, rtol=1e-5, atol=1e-6)


def counts():
    names = ("values_recorded", "programs_run", "program_hits", "programs_compiled")
    return np.array([mo.stats()[name] for name in names])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_equal_the_formula(rng, kind, dtype, recorded):
    case = Case(rng, kind, dtype=dtype)
    for rate in (0.1, 0.05, 0.2, 0.01, 0.03, 0.02):
        case.optimizer.lr = rate
        case.step()
    assert not recorded
    case.check()
    assert case.optimizer.steps == 6


def test_parameters_without_dimensions(rng, recorded):
    case = Case(rng, shapes=[(), (3,), ()])
    for _ in range(5):
        case.step()
    case.check()
    assert not recorded


def test_a_pending_step_is_run_first(rng, recorded):
    case = Case(rng, shapes=[(6,), (3,)])
    case.step(lambda arrays: [mo.array(array) * 1.0 for array in arrays])
    for _ in range(3):
        case.step()
    case.check()
    assert len(recorded) == 2


def test_a_repeated_step_records_nothing(rng, compiled, recorded):
    case = Case(rng)
    for _ in range(3):
        case.step()
    gradients = [mo.array(array) for array in case.gradients()]
    mo.sync_all()
    recorded.clear()
    before = counts()
    case.optimizer.apply(gradients)
    assert not recorded
    assert list(counts() - before) == [0, 1, 1, 0]
    # Parameters and state are written over.
    mo.sync_all()
    memory = bytes_in_use()
    case.optimizer.apply(gradients)
    mo.sync_all()
    assert bytes_in_use() == memory


def test_the_number_of_calls_does_not_depend_on_the_parameters(rng, compiled):
    def calls(number):
        case = Case(rng, shapes=[(16,)] * number)
        for _ in range(3):
            case.step()
        gradients = [mo.array(array) for array in case.gradients()]
        found = []
        sys.setprofile(lambda frame, event, given: found.append(event))
        try:
            case.optimizer.apply(gradients)
        finally:
            sys.setprofile(None)
        return len(found)

    few = calls(4)
    assert calls(40) == few < 80


def test_numbers_are_recorded_once_a_step(rng):
    shapes = [(8,)] * 20
    case = Case(rng, shapes=shapes)
    case.step()
    mo.sync_all()
    leaf = mo.array(np.ones(8, "float32"))
    before = counts()[0]
    case.optimizer.apply([leaf * float(k) for k in range(20)])
    # Seven numbers; of each parameter, the gradient's 3 and the formula's 37.
    assert counts()[0] - before == 7 + 20 * (3 + 37)


def test_a_value_that_is_held_elsewhere_stays(rng):
    case = Case(rng)
    for _ in range(3):
        case.step()
    old = [parameter.numpy() for parameter in case.parameters]
    copies = [parameter.copy() for parameter in case.parameters]
    case.step()
    for copy, value in zip(copies, old, strict=True):
        same(copy, value)
    case.check()
    del copies, copy
    views = [np.from_dlpack(parameter) for parameter in case.parameters[:3]]
    before = [view.copy() for view in views]
    case.step()
    case.step()
    for view, value in zip(views, before, strict=True):
        same(view, value)
    case.check()


def test_what_was_recorded_before_a_step_reads_the_old_values(rng):
    case = Case(rng, shapes=[(5,), (7,)])
    for _ in range(3):
        case.step()
    old = case.parameters[0].numpy()
    doubled = case.parameters[0] * 2.0
    case.step()
    close(doubled, 2 * old)
    case.check()
    loss = (case.parameters[1] ** 2.0).sum()
    loss.sync()
    value = case.parameters[1].numpy()
    case.step()
    case.check()
    # Its history has ended with the step, and may have led to any parameter.
    with pytest.raises(RuntimeError, match="update at"):
        mo.grad(loss, case.parameters[0])
    close(loss, (value**2).sum(), rtol=1e-5)


def test_fetches_are_called(rng):
    case = Case(rng, shapes=[(5,)])
    for _ in range(3):
        case.step()
    found = []
    (case.parameters[0] * 2.0).fetch(lambda value: found.append(value))
    expected = 2 * case.expected[0]
    case.step()
    case.step()
    mo.sync_all()
    close(found[0], expected, rtol=1e-5)
    case.check()


def test_one_gradient_for_several_parameters(rng):
    case = Case(rng, "SGD", shapes=[(6,), (6,)])
    for _ in range(3):
        case.step()
    array = floats(rng, (6,))
    shared = mo.array(array)
    for _ in range(2):
        case.optimizer.apply([shared, shared])
        case.move([array, array])
    case.check()
    # By itself: to zero at a rate of 1.
    case.optimizer.lr = 1.0
    case.optimizer.apply(case.parameters)
    for parameter in case.parameters:
        close(parameter, np.zeros(6))


def test_another_formula_is_recorded(rng, recorded):
    case = Case(rng, "SGD", shapes=[(6,)])
    for _ in range(3):
        case.step()
    case.optimizer.weight_decay = 0.25
    array = floats(rng, (6,))
    case.optimizer.apply([mo.array(array)])
    case.expected = [w - 0.1 * (array + 0.25 * w) for w in case.expected]
    assert not recorded
    case.check()


def test_other_flags_make_another_program(rng, recorded):
    case = Case(rng)
    for flags in ({}, {"backend": "interpreter"}, {"lazy_execution": False}, {"fuse": False}):
        with mo.flag_scope(**flags):
            for _ in range(3):
                case.step()
            case.check()
    with mo.flag_scope(asynchronous=False):
        case.step()
        case.step()
    case.check()


def test_steps_after_the_values_were_set(rng):
    case = Case(rng, "SGD", shapes=[(6,), (3,)])
    for _ in range(3):
        case.step()
    values = case.gradients()
    for parameter, value in zip(case.parameters, values, strict=True):
        parameter.assign(mo.array(value))
    case.expected = values
    for _ in range(3):
        case.step()
    case.check()
    case.optimizer.load_state_dict(case.optimizer.state_dict())
    case.step()
    case.check()


def test_gradients_that_are_there_now_and_then(rng):
    case = Case(rng)
    for given in (None, lambda arrays: [mo.array(a) * 1.0 for a in arrays], None, list, None):
        for _ in range(2):
            case.step(given)
    case.check()


def test_what_is_wrong_takes_no_step(rng):
    case = Case(rng, shapes=[(6,), (3,)])
    for _ in range(3):
        case.step()
    good = [mo.array(array) for array in case.gradients()]
    with pytest.raises(ValueError, match="1 gradients given, expected 2"):
        case.optimizer.apply(good[:1])
    with pytest.raises(ValueError, match=r"a gradient has shape \(3,\), its parameter \(6,\)"):
        case.optimizer.apply(good[::-1])
    assert case.optimizer.steps == 3
    case.check()


def test_two_optimizers_and_an_update_in_turns(rng):
    first, second = Case(rng, "Adam"), Case(rng, "SGD")
    average = mo.array(np.zeros(4, "float32"))
    for _ in range(4):
        first.step()
        average.update(average * 0.5 + 1.0)
        second.step()
        first.step()
    first.check()
    second.check()
    close(average, np.full(4, 1.875))


def test_a_step_without_memory_is_pending_and_counts(rng):
    shapes = [(1 << 14,), (1 << 14,)]
    case = Case(rng, shapes=shapes)
    for _ in range(3):
        case.step()
    # Values that are held elsewhere cannot be written over, so the step needs memory.
    copies = [parameter.copy() for parameter in case.parameters]
    arrays = case.gradients()
    gradients = [mo.array(array) for array in arrays]
    mo.sync_all()
    with mo.flag_scope(memory_limit=bytes_in_use() + (1 << 12)):
        with pytest.raises(MemoryError):
            case.optimizer.apply(gradients)
        assert case.optimizer.steps == 4
    case.move(arrays)
    # A mistake behind it is none of the step's.
    with pytest.raises(ValueError, match="a gradient has shape"):
        case.optimizer.apply([mo.ones(3), mo.ones(3)])
    assert case.optimizer.steps == 4
    case.step()
    case.check()
    del copies
