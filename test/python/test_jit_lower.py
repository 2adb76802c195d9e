# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that calls of recorded functions would run; nothing changes by asking."""

from __future__ import annotations

import re
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from recorded_functions import Counter, leaf
from util import on_processor

pytestmark = pytest.mark.filterwarnings("error")


def make_step(rate: float = 1e-2) -> tuple[Any, nn.Module, mo.optim.Adam]:
    """Return a training step, its model and its optimiser."""
    mo.seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
    optimizer = mo.optim.Adam(model.parameters(), rate)

    @mo.jit
    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        value = mo.mean((model(x) - y) ** 2)
        optimizer.step(value)
        return value

    return step, model, optimizer


def batch(count: int = 5) -> tuple[mo.Var, mo.Var]:
    """Return inputs and targets."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(count, 4)), rng.normal(size=(count, 1))
    return mo.array(x.astype("float32")).sync(), mo.array(y.astype("float32")).sync()


def check_is_last(explained: mo.Explanation) -> None:
    """Check that the program explained has run last, and was not compiled for that."""
    (before,) = explained.ir("graph")
    (after,) = mo.last_program().explain().ir("graph")
    # Updates have the line of their call.
    line = r'"[^"]*test_jit_lower\.py":\d+'
    assert re.sub(line, "line", before) == re.sub(line, "line", after)
    assert mo.last_program().compile_seconds == 0


def test_phases_of_a_function() -> None:
    jitted = mo.jit(lambda x, by: mo.sum(mo.exp(x) * by))
    x = mo.ones((8, 16))
    explained = jitted.lower(x, 2.0)
    assert len(explained.kernels) == 1
    assert "metaop.reduce" in explained.ir("graph")[0]
    assert "schedule" in explained.ir("scheduled")[0]
    assert explained.ir("llvm" if on_processor(x) else "nvvm")
    assert "8x16" in str(explained)
    assert mo.jit_info(jitted).calls == 0


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_the_program_is_that_of_a_call(own_kernels: None, calls: int) -> None:
    step, model, _ = make_step()
    x, y = batch()
    mo.sync(list(model.parameters()))
    for _ in range(calls):
        step(x, y)
    explained = step.lower(x, y)
    assert len(explained.fusion) == 1
    step(x, y)
    check_is_last(explained)


def test_results_with_history(own_kernels: None) -> None:
    weight = leaf(1, 2, 3).sync()
    jitted = mo.jit(lambda x: mo.sum(mo.tanh(weight * x)))
    x = leaf(3, 4, 5).sync()
    explained = jitted.lower(x)
    assert explained.kernels
    jitted(x).sync()
    check_is_last(explained)


def test_nothing_changes() -> None:
    results = []
    for asks in (False, True):
        step, model, optimizer = make_step()
        x, y = batch()
        losses = []
        for _ in range(6):
            losses.append(step(x, y).numpy())
            before = {name: var.numpy().copy() for name, var in model.state_dict().items()}
            info, count = mo.jit_info(step), optimizer.steps
            if asks:
                step.lower(x, y)
                # A shape that is not recorded yet.
                step.lower(*batch(3))
            assert mo.jit_info(step) == info
            assert optimizer.steps == count
            for name, var in model.state_dict().items():
                assert np.array_equal(var.numpy(), before[name])
        results.append([*losses, mo.random((3,)).numpy(), *before.values()])
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


def test_what_is_pending_stays_so() -> None:
    weight = leaf(1).sync()
    weight.update(weight + 1)
    seen: list[float] = []
    mo.fetch(weight * 3, lambda value: seen.append(float(value[0])))
    jitted = mo.jit(lambda x: x * weight)
    runs, pending = mo.stats()["programs_run"], mo.stats()["updates_pending"]
    jitted.lower(leaf(1))
    assert mo.stats()["programs_run"] == runs
    assert mo.stats()["updates_pending"] == pending == 1
    assert not seen
    mo.sync_all()
    assert weight.numpy().tolist() == [2]


def test_held_values_and_old_ones_are_as_before() -> None:
    weight = leaf(1, 2).sync()
    old = weight * 10

    def f(x: mo.Var) -> mo.Var:
        weight.update(weight + x)
        return weight * 2

    jitted = mo.jit(f)
    live = mo.stats()["live_vars"]
    for _ in range(3):
        jitted.lower(leaf(1, 1))
    assert mo.stats()["live_vars"] == live
    assert weight.numpy().tolist() == [1, 2]
    assert old.numpy().tolist() == [10, 20]
    assert [grad.numpy().tolist() for grad in mo.grad(mo.sum(old), [weight])] == [[10, 10]]


def test_effects_are_not_advanced() -> None:
    counter = Counter()
    jitted = mo.jit(lambda x: counter.scaled(x))
    jitted.lower(leaf(1))
    assert (counter.value, counter.launches) == (1, 0)
    assert jitted(leaf(1)).numpy().tolist() == [2]
    jitted.lower(leaf(1))
    assert (counter.value, counter.launches) == (2, 1)


class Scaler:
    """A class with a method that is recorded."""

    by = 3

    @mo.jit
    def scale(self, x: mo.Var) -> mo.Var:
        """Return x times a number."""
        return x * self.by


def test_methods_and_modules() -> None:
    assert Scaler.scale.lower(Scaler(), leaf(1)).kernels
    model: Any = mo.jit(nn.Linear(4, 2))
    assert model.lower(mo.ones((3, 4))).kernels
    assert mo.jit_info(model).calls == 0


def test_errors() -> None:
    jitted = mo.jit(lambda x: x * 2)

    @mo.jit
    def outer(x: mo.Var) -> mo.Var:
        jitted.lower(x)
        return x

    with pytest.raises(RuntimeError, match=r"lower is called while a function .*\.py:\d+"):
        outer(leaf(1))
    with pytest.raises(TypeError, match="missing 1 required"):
        jitted.lower()  # type: ignore[call-arg]
    with (
        mo.flag_scope(lazy_execution=False),
        pytest.raises(RuntimeError, match="operators are run one by one"),
    ):
        jitted.lower(leaf(1))
    with pytest.raises(RuntimeError, match="leaves a tensor"):
        kept: list[mo.Var] = []
        mo.jit(lambda x: kept.append(x * 2)).lower(leaf(1))  # type: ignore[func-returns-value]
    assert jitted(leaf(1)).numpy().tolist() == [2]
