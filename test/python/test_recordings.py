# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What layers record once for calls that are alike."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from itertools import pairwise
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.tracing.once import Recordings


def numbers(*shape: int, seed: int = 0) -> mo.Var:
    return mo.array(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def counted(calls: list[int]):
    """Return a function that counts how often it is run by Python."""

    def function(x: mo.Var, y: mo.Var) -> list[mo.Var]:
        calls.append(1)
        return [mo.tanh(x) * y, x + 1]

    return function


def test_the_third_call_does_not_run_python() -> None:
    recordings, calls = Recordings(), []
    for seed in range(6):
        x, y = numbers(4, seed=seed), numbers(4, seed=seed + 10)
        first, second = recordings.call("kind", counted(calls), [x, y])
        np.testing.assert_allclose(first.numpy(), np.tanh(x.numpy()) * y.numpy(), rtol=1e-6)
        np.testing.assert_array_equal(second.numpy(), x.numpy() + 1)
    assert len(calls) == 2


def test_each_kind_is_recorded_by_itself() -> None:
    recordings, calls = Recordings(), []
    y = numbers(1)
    for _ in range(3):
        for length in (2, 5, 7):
            recordings.call("kind", counted(calls), [numbers(length), y])
        with mo.no_grad():
            recordings.call("kind", counted(calls), [numbers(2), y])
        recordings.call("another", counted(calls), [numbers(2), y])
    assert len(calls) == 2 * 5
    # Another tensor of another type: what was recorded does not take it.
    for _ in range(3):
        (first, _) = recordings.call(
            "kind", counted(calls), [numbers(2), numbers(1).cast("float64")]
        )
        assert first.dtype == "float64"
    assert len(calls) == 2 * 5 + 2


def test_few_kinds_are_kept() -> None:
    recordings, calls = Recordings(), []
    for length in range(1, 40):
        recordings.call("kind", counted(calls), [numbers(length), numbers(1)])
    assert len(recordings._functions) == Recordings.most


def test_what_cannot_be_recorded_is_called() -> None:
    recordings, calls = Recordings(), []

    def function(x: mo.Var) -> list[mo.Var]:
        calls.append(x.sum().item())
        return [x * 2]

    for seed in range(4):
        (found,) = recordings.call("kind", function, [numbers(3, seed=seed)])
        np.testing.assert_array_equal(found.numpy(), numbers(3, seed=seed).numpy() * 2)
    assert len(calls) == 4


def test_gradients_flow_through_what_is_recorded() -> None:
    recordings, calls = Recordings(), []
    for seed in range(4):
        x, y = numbers(4, seed=seed), numbers(4, seed=seed + 10)
        first, _ = recordings.call("kind", counted(calls), [x, y])
        grad_x, grad_y = mo.grad(first.sum(), [x, y])
        t = np.tanh(x.numpy())
        np.testing.assert_allclose(grad_x.numpy(), (1 - t * t) * y.numpy(), rtol=1e-5)
        np.testing.assert_allclose(grad_y.numpy(), t, rtol=1e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2, "bias": False}])
def test_later_calls_of_a_layer_are_as_the_first(kind: type, options: dict) -> None:
    layer = kind(3, 4, **options)
    parameters = list(layer.parameters())
    twins = [copy.deepcopy(layer) for _ in range(6)]
    x = numbers(7, 2, 3)
    for call, twin in enumerate(twins):
        lengths = np.array([3, 7]) if call % 2 else None
        given = (x * float(call + 1)).sync()
        found, _ = layer(given, lengths=lengths)
        # A copy has no recordings.
        expected, _ = twin(given, lengths=lengths)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        gradients = mo.grad((found * found).sum(), parameters)
        others = mo.grad((expected * expected).sum(), list(twin.parameters()))
        for gradient, other in zip(gradients, others, strict=True):
            np.testing.assert_allclose(gradient.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


def run_scan(cell: nn.Module, x: mo.Var, part: str = "scan") -> mo.Var:
    """Return the outputs of a cell for each row."""
    count = 2 if isinstance(cell, nn.LSTMCell) else 1

    def step(state: tuple, row: mo.Var) -> tuple:
        made: Any = cell(row, state if count == 2 else state[0])
        following = made if count == 2 else (made,)
        return following, following[0]

    def run(x: mo.Var) -> mo.Var:
        body = mo.checkpoint(step) if part == "checkpoint" else step
        return mo.scan(body, (mo.zeros((2, 4)),) * count, x)[1]

    return mo.vmap(run)(mo.stack([x, x * 2])) if part == "vmap" else run(x)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("part", ["scan", "checkpoint", "vmap"])
def test_later_calls_of_a_cell_in_bodies_are_as_the_first(kind: type, part: str) -> None:
    cell = kind(3, 4)
    x = numbers(7, 2, 3)
    for call in range(4):
        given = (x * float(call + 1)).sync()
        # A copy has no recordings.
        twin = copy.deepcopy(cell)
        found, expected = run_scan(cell, given, part), run_scan(twin, given, part)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        gradients = mo.grad((found * found).sum(), list(cell.parameters()))
        others = mo.grad((expected * expected).sum(), list(twin.parameters()))
        for gradient, other in zip(gradients, others, strict=True):
            np.testing.assert_array_equal(gradient.numpy(), other.numpy())
    assert all(cell._recurrence.recordings._functions.values())


def test_a_body_keeps_what_it_has_replayed() -> None:
    """A recording has arrays, which the body's operation is given when that is finished."""
    recordings = Recordings()
    x = numbers(5)

    def scale(x: mo.Var) -> list[mo.Var]:
        return [x * mo.array(np.arange(x.size, dtype="float32"))]

    def trip(total: mo.Var, _: None) -> tuple:
        (y,) = recordings.call("own", scale, [x])
        for length in range(Recordings.most):
            recordings.call("other", scale, [mo.zeros(length)])
        gc.collect()
        return total + y, None

    for _ in range(3):
        for _ in range(3):
            (expected,) = recordings.call("own", scale, [x])
        total, _ = mo.scan(trip, mo.zeros(5), length=2, unroll=False)
        np.testing.assert_array_equal(total.numpy(), 2 * expected.numpy())


def test_a_layer_that_has_run_is_copied_and_pickled() -> None:
    layer = nn.LSTM(3, 4)
    x = numbers(7, 2, 3)
    expected = [layer(x)[0].numpy() for _ in range(3)]
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        for value in expected:
            np.testing.assert_array_equal(other(x)[0].numpy(), value)


@pytest.mark.usefixtures("own_kernels")
def test_threads_call_one_layer() -> None:
    layer = nn.RNN(3, 4)
    inputs = [numbers(length, 2, 3, seed=length) for length in range(3, 23)]
    expected = [layer(x)[0].numpy() for x in inputs]
    wrong = []

    def run(order: list[int]) -> None:
        for place in order:
            if not np.array_equal(layer(inputs[place])[0].numpy(), expected[place]):
                wrong.append(place)

    orders = [list(np.random.default_rng(seed).integers(0, 20, 60)) for seed in range(4)]
    threads = [threading.Thread(target=run, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(layer._recurrence.recordings._functions) <= Recordings.most + 4


def test_updated_parameters_count_at_the_next_call() -> None:
    layer = nn.RNN(3, 4)
    x = numbers(7, 2, 3)
    outputs = []
    for _ in range(4):
        outputs.append(layer(x)[0].numpy())
        for parameter in layer.parameters():
            parameter.update(parameter * 0.5)
    assert all(np.abs(a - b).max() > 1e-3 for a, b in pairwise(outputs))
    layer.weight_hh_l0.update(layer.weight_hh_l0 * 0)
    given = x.numpy() @ layer.weight_ih_l0.numpy().T
    biases = layer.bias_ih_l0.numpy() + layer.bias_hh_l0.numpy()
    np.testing.assert_allclose(layer(x)[0].numpy(), np.tanh(given + biases), rtol=1e-5, atol=1e-6)


def test_a_layer_that_moves_to_another_device_is_recorded_anew(rng: np.random.Generator) -> None:
    layer = nn.LSTM(3, 4)
    x = mo.array(rng.standard_normal((5, 2, 3), dtype="float32"))
    expected = [layer(x)[0].numpy() for _ in range(3)][-1]
    layer.to("cpu:1")
    for _ in range(3):
        np.testing.assert_array_equal(layer(x.to("cpu:1"))[0].numpy(), expected)


def test_a_call_that_fails_does_not_end_recordings(rng: np.random.Generator) -> None:
    layer = nn.GRU(3, 4)
    x = mo.array(rng.standard_normal((5, 2, 3), dtype="float32"))
    expected = layer(x)[0].numpy()
    for _ in range(2):
        with pytest.raises(ValueError, match="two devices"):
            layer(x.to("cpu:1"))
    for _ in range(3):
        np.testing.assert_array_equal(layer(x)[0].numpy(), expected)


def test_a_jitted_function_is_recorded_for_each_budget() -> None:
    start = mo.array(np.linspace(-1, 1, 64).reshape(8, 8))

    budgets: list[int] = []

    @mo.jit
    def differentiate(h: mo.Var) -> mo.Var:
        def trip(h: mo.Var, _x: None) -> tuple:
            return mo.sin(h) * h, None

        budgets.append(mo.flags.saved_values_budget)
        return mo.grad(mo.scan(trip, h, length=64, unroll=False)[0].sum(), [h])[0]

    expected = differentiate(start).numpy()
    with mo.flag_scope(saved_values_budget=0):
        np.testing.assert_array_equal(differentiate(start).numpy(), expected)
    assert budgets[-1] == 0
    assert budgets[0] > 0


def test_nothing_is_recorded_where_each_operator_runs_at_once() -> None:
    recordings, calls = Recordings(), []
    with mo.flag_scope(lazy_execution=False):
        for _ in range(5):
            recordings.call("kind", counted(calls), [numbers(4), numbers(4, seed=1)])
    assert len(calls) == 5


def test_types_in_turn_have_recordings_each() -> None:
    recordings, calls = Recordings(), []
    for _ in range(6):
        for dtype in ("float32", "float64"):
            x, y = numbers(4).cast(dtype), numbers(4, seed=1).cast(dtype)
            assert recordings.call("kind", counted(calls), [x, y])[0].dtype == dtype
    # Each type's first call, and the one that is recorded.
    assert len(calls) == 4
