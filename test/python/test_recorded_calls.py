# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of recorded functions, recorded in line or launched, against the functions."""

from __future__ import annotations

import gc

import metaops as mo
import numpy as np
import pytest
from metaops import _core


class Recorded:
    """A function that is recorded once, as its calls give it Vars for arguments."""

    def __init__(self, function, *like):
        trace = _core.begin_trace(list(like))
        with trace:
            results = function(*trace.arguments)
        self.captured = trace.captured()
        self.function = trace.finish(list(results))
        del results
        assert trace.held_lines() == []

    def __call__(self, *arguments):
        return self.function.call([*arguments, *self.captured], [], [])


def recorded_values(call):
    """Return how many values a call records."""
    before = mo.stats()["values_recorded"]
    results = call()
    return mo.stats()["values_recorded"] - before, results


def _random(*shape, seed=0):
    return mo.array(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


class Model:
    """Two layers, a count and a step by hand."""

    def __init__(self):
        self.w = _random(4, 8, seed=1)
        self.v = _random(8, 3, seed=2)
        self.count = mo.array(0.0)

    def step(self, x):
        h = mo.relu(x @ self.w) * (mo.random.uniform((5, 8)) > 0.25)
        loss = ((h @ self.v) ** 2).mean()
        w, v = mo.grad(loss, [self.w, self.v])
        self.w.update(self.w - 0.1 * w)
        self.v.update(self.v - 0.1 * v)
        self.count += 1.0
        return loss, h

    def state(self):
        return [x.numpy() for x in (self.w, self.v, self.count)]


def _assert_same(got, expected):
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def _run(steps, call, model, between=lambda model, results: None):
    mo.seed(7)
    found = []
    for number in range(steps):
        results = call(_random(5, 4, seed=number))
        between(model, results)
        found.append([*(x.numpy() for x in results), *model.state()])
    return found


def _look_at_loss(model, results):
    float(results[0])


def _keep_old(model, results):
    model.kept = [*getattr(model, "kept", []), model.w.clone()]


def _evaluate(model, results):
    model.logits = mo.relu(_random(5, 4) @ model.w)
    model.logits.numpy()


def _leave_pending(model, results):
    model.pending = model.w.sum() * 2


@pytest.mark.parametrize(
    "between",
    [lambda model, results: None, _look_at_loss, _keep_old, _evaluate, _leave_pending],
    ids=["nothing", "loss", "old values", "evaluation", "pending"],
)
def test_calls_are_those_of_the_function(between):
    plain, model = Model(), Model()
    expected = _run(8, plain.step, plain, between)
    recorded = Recorded(model.step, _random(5, 4))
    got = _run(8, recorded, model, between)
    for x, y in zip(got, expected, strict=True):
        _assert_same(x, y)
    for name in ("kept", "logits", "pending"):
        if hasattr(plain, name):
            x, y = getattr(plain, name), getattr(model, name)
            kept = (x, y) if name == "kept" else ([x], [y])
            _assert_same(*[[value.numpy() for value in side] for side in kept])


def test_calls_are_launched():
    model = Model()
    recorded = Recorded(model.step, _random(5, 4))
    batches = [_random(5, 4, seed=number) for number in range(8)]
    counts = []
    programs = mo.stats()["programs_run"]
    for batch in batches:
        count, _ = recorded_values(lambda batch=batch: recorded(batch))
        counts.append(count)
    assert counts[0] > 20
    assert counts[3:] == [2] * 5  # the results
    assert mo.stats()["programs_run"] - programs == 8


def test_gradients_behind_a_step_raise():
    model = Model()
    recorded = Recorded(model.step, _random(5, 4))
    for _ in range(4):
        x = _random(5, 4)
        loss, _ = recorded(x)
        for target in (model.w, model.v, x):
            for unused in (None, True, False):
                with pytest.raises(RuntimeError, match="depends on a target through"):
                    mo.grad(loss, target, allow_unused=unused)


def test_results_of_inference_keep_their_history():
    w, x = _random(4, 3), _random(5, 4)
    recorded = Recorded(lambda x: [mo.tanh(x @ w)], x)
    for _ in range(4):
        (y,) = recorded(x)
        gradient = mo.grad((y * y).sum(), w)
        expected = mo.grad((mo.tanh(x @ w) ** 2).sum(), w)
        np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-5)


def test_inference_without_gradients_is_launched():
    w, x = _random(4, 3), _random(5, 4)
    recorded = Recorded(lambda x: [mo.tanh(x @ w)], x)
    with mo.no_grad():
        for number in range(5):
            count, (y,) = recorded_values(lambda: recorded(x))
            np.testing.assert_array_equal(y.numpy(), mo.tanh(x @ w).numpy())
            assert number < 2 or count == 1
            w += 0.5
            mo.sync(w)


def test_one_result_is_another_or_an_argument():
    w = _random(3)

    def function(x):
        y = x * 2
        w.update(w + y)
        return [y, y, w, x]

    x = _random(3, seed=4)
    recorded = Recorded(lambda x: [value * 1 for value in function(x)[:2]] + [w * 1], x)
    for _ in range(5):
        before = w.numpy()
        a, b, c = recorded(x)
        _assert_same([a.numpy(), b.numpy()], [x.numpy() * 2] * 2)
        _assert_same([c.numpy(), w.numpy()], [before + x.numpy() * 2] * 2)


def test_one_variable_is_argument_and_captured():
    w = _random(3)

    def function(x):
        x += 1.0
        w.update(w * 2)
        return [x + w]

    recorded = Recorded(function, w)
    expected = w.numpy()
    for _ in range(4):
        expected = (expected + 1) * 2
        (y,) = recorded(w)
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(y.numpy(), expected * 2, rtol=1e-6)


def test_a_failed_call_leaves_what_it_was_to_rebind():
    w, table = mo.zeros((3,)), _random(6, 3)
    recorded = Recorded(lambda i: [w.update(w + table[i].sum(0)) * 1], mo.array(np.array([0, 1])))
    expected = np.zeros(3, "float32")
    for number in range(8):
        indices = np.array([number % 6, 1])
        if number == 4:
            with pytest.raises(IndexError):
                recorded(mo.array(np.array([0, 6])))[0].numpy()
                mo.sync_all()
        recorded(mo.array(indices))
        expected = expected + (table.numpy()[indices[0]] + table.numpy()[1])
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5)


def test_arrays_made_inside_are_constants():
    made = [1.0]
    recorded = Recorded(lambda x: [x + mo.array(np.full(3, made[0]))], mo.ones((3,)))
    made[0] = 2.0
    again = Recorded(lambda x: [x + mo.array(np.full(3, made[0]))], mo.ones((3,)))
    assert "array" in recorded.function.difference(again.function)
    for _ in range(3):
        np.testing.assert_array_equal(recorded(mo.ones((3,)))[0].numpy(), np.full(3, 2.0))


def test_nothing_is_kept():
    gc.collect()
    before = mo.stats()
    model = Model()
    recorded = Recorded(model.step, _random(5, 4))
    for number in range(50):
        recorded(_random(5, 4, seed=number))
    early = mo.stats()
    for number in range(200):
        recorded(_random(5, 4, seed=number))
    late = mo.stats()
    assert late["ops_in_block"] == early["ops_in_block"]
    assert late["bytes_in_use"] == early["bytes_in_use"]
    del model, recorded
    gc.collect()
    mo.sync_all()
    assert mo.stats()["ops_in_block"] <= before["ops_in_block"] + 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: float(x.sum()), "needs numbers"),
        (lambda x: [x if x.sum() > 0 else -x], "needs numbers"),
        (lambda x: x.numpy(), "needs numbers"),
        (lambda x: mo.sync_all(), "needs numbers"),
    ],
    ids=["float", "if", "numpy", "sync"],
)
def test_reads_of_values_raise(function, message):
    x = mo.ones((3,))
    with pytest.raises(RuntimeError, match=message):
        Recorded(function, x)
    np.testing.assert_array_equal((x + 1).numpy(), np.full(3, 2.0))


def _gradient_or_error(loss, *targets, **options):
    """Return gradients, or None where they are errors of ended histories."""
    try:
        return [g.numpy() for g in mo.grad(loss, list(targets), **options)]
    except RuntimeError as error:
        assert "depends on a target through" in str(error) or "may depend" in str(error)
        return None


@pytest.mark.parametrize("unused", [None, True])
def test_histories_of_arguments_end_with_launched_calls(unused):
    """A result depends on the history of its arguments, though that has ended."""
    p, s = mo.full((3,), 2.0).sync(), mo.ones(3).sync()

    def function(x):
        loss = (s * x).sum()
        s.update(s * 1.0)
        return [loss]

    recorded = Recorded(function, mo.ones(3))
    for _ in range(6):
        x = (p * p).sync()
        (loss,) = recorded(x)
        assert _gradient_or_error(p.sum() + loss, p, allow_unused=unused) is None
        assert _gradient_or_error(loss, p, allow_unused=unused) is None


def test_ended_results_are_arguments():
    w, t, x = mo.full((3,), 2.0).sync(), mo.ones(()).sync(), mo.full((3,), 3.0).sync()

    def first(x):
        loss = (w * x).sum()
        w.update(w * 1.0)
        return [loss]

    def second(loss):
        result = loss * loss * t
        t.update(t * 1.0)
        return [result]

    one, two = Recorded(first, x), Recorded(second, t)
    for _ in range(6):
        (loss,) = one(x)
        (result,) = two(loss)
        assert _gradient_or_error((x * x).sum() + result, x) is None
        assert _gradient_or_error(result, x, allow_unused=True) is None


def test_what_is_changed_in_place_has_no_silent_part():
    """A gradient through what a call has made of a Var is an error; others are right."""
    p = mo.full((3,), 2.0).sync()

    def function(x):
        x += p
        return []

    recorded = Recorded(function, mo.ones(3))
    for _ in range(6):
        x = mo.full((3,), 3.0).sync()
        recorded(x)
        np.testing.assert_array_equal(x.numpy(), np.full(3, 5.0))
        assert _gradient_or_error((x * p).sum(), p) is None
        (by_x,) = _gradient_or_error((x * p).sum(), x)
        np.testing.assert_array_equal(by_x, np.full(3, 2.0))
        (by_x, by_p) = _gradient_or_error((x.detach() * p + x * 2.0).sum(), x, p) or (None, None)
        assert by_x is None or by_p is None or (by_p == 5.0).all()


def test_steps_by_hand_are_launched():
    w, x = _random(4, 3).sync(), _random(5, 4).sync()
    expected = w.numpy()

    def function(x):
        global_loss = ((x @ w) ** 2).mean()
        w.assign(w - 0.1 * mo.grad(global_loss, w))
        return [global_loss]

    recorded = Recorded(function, x)
    plain = mo.array(expected)
    for number in range(8):
        count, (loss,) = recorded_values(lambda: recorded(x))
        assert number < 3 or count == 1
        other = ((x @ plain) ** 2).mean()
        plain.update(plain - 0.1 * mo.grad(other, plain))
        np.testing.assert_allclose(loss.numpy(), other.numpy(), rtol=1e-5)
        np.testing.assert_allclose(w.numpy(), plain.numpy(), rtol=1e-5, atol=1e-7)
        # The Var is the start of a history from here on.
        (gradient,) = _gradient_or_error((w * w).sum(), w)
        np.testing.assert_allclose(gradient, 2 * w.numpy(), rtol=1e-6)
