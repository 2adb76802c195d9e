# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An exception at each stage of a call of a recorded function leaves all as it was.

A stage is a function of the package that recording or calling goes through. It fails before
it has done anything, or when it is done. The run goes on, and ends with the numbers of one
that has not failed.
"""

from __future__ import annotations

import gc
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import _core, nn
from metaops.tracing import effects, functions, recorder
from recorded_functions import Counter, leaf

pytestmark = pytest.mark.filterwarnings("error")


class Stop(Exception):
    """An exception at a stage."""


#: Stages by module and name. Those of a launch are the last ones.
STAGES: dict[str, tuple[Any, str]] = {
    "key": (functions, "call_key"),
    "description": (functions, "describe_call"),
    "recording": (functions, "record"),
    "comparison": (functions, "find_difference"),
    "effects compared": (functions, "are_recorded"),
    "snapshot": (recorder, "Snapshot"),
    "arguments": (recorder, "rebuild_call"),
    "watch": (recorder, "Watch"),
    "result": (recorder, "Result"),
    "leaks": (recorder, "_check_leaks"),
    "guards": (recorder, "make_guards"),
    "locks": (effects, "_held"),
}
#: Operators that the step records, each of which may fail.
OPERATORS = ("tanh", "mean", "sum")


class Training:
    """A step with all that has state: layers, an optimiser, a schedule, random numbers."""

    def __init__(self) -> None:
        mo.seed(5)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.optimizer = mo.optim.Adam(self.model.parameters(), 1e-2)
        self.schedule = mo.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        self.counter = Counter()
        self.count = leaf(0).sync()
        mo.sync_all()
        rng = np.random.default_rng(2)
        self.batches = [rng.normal(size=(6, 3)).astype("float32") for _ in range(6)]
        self.step = mo.jit(self.take_step)

    def take_step(self, x: mo.Var) -> mo.Var:
        """Take a step, and return a loss."""
        self.count.update(self.count + 1)
        hidden = nn.dropout(mo.tanh(self.model(x)), 0.25)
        loss = mo.mean(self.counter.scaled(hidden) ** 2) + mo.sum(hidden) * 0.1
        self.optimizer.step(loss)
        self.schedule.step()
        return loss

    def state(self) -> list[Any]:
        """Return all that a step changes."""
        tensors = [*self.model.state_dict().values(), self.count]
        tensors += [x for x in self.optimizer.state_dict().values() if isinstance(x, mo.Var)]
        return [
            *(x.numpy().tolist() for x in tensors),
            self.optimizer.steps,
            self.optimizer.lr,
            self.schedule.epoch,
            self.counter.value,
        ]

    def run(self, patch: pytest.MonkeyPatch | None, failing: Failing | None, call: int) -> Any:
        """Take all steps; one of them fails first, if asked for, and is taken again."""
        losses = []
        for number, batch in enumerate(self.batches, 1):
            x = mo.array(batch).sync()
            loss = None
            if number == call and patch is not None and failing is not None:
                before, entries = self.state(), mo.jit_info(self.step).keys
                loss = self.try_step(patch, failing, x)
                if loss is None:
                    assert self.state() == before
                    # A recording that was finished is kept.
                    assert mo.jit_info(self.step).keys <= entries + 1
            losses.append((self.step(x) if loss is None else loss).numpy().tolist())
        return losses, self.state(), mo.random((3,)).numpy().tolist()

    def try_step(self, patch: pytest.MonkeyPatch, failing: Failing, x: mo.Var) -> mo.Var | None:
        """Take a step that may fail; return its loss, or None."""
        gc.collect()
        live = mo.stats()["live_vars"]
        with patch.context() as inner:
            failing.set(inner)
            try:
                return self.step(x)
            except Stop:
                failing.has_failed = True
        assert not _core.is_tracing()
        assert effects.recording() is None
        assert mo.stats()["updates_pending"] == 0
        # States that the optimiser has made stay; nothing else does.
        gc.collect()
        states = 2 * len(list(self.model.parameters()))
        assert mo.stats()["live_vars"] - live in (0, states)
        return None


class Failing:
    """A function of a module that fails."""

    has_failed = False

    def __init__(self, module: Any, name: str, when: str) -> None:
        self.module, self.name, self.when = module, name, when

    def set(self, patch: pytest.MonkeyPatch) -> None:
        """Have it fail in a scope."""
        own = getattr(self.module, self.name)

        def fail(*args: Any, **kwargs: Any) -> Any:
            if self.when == "behind":
                own(*args, **kwargs)
            raise Stop

        patch.setattr(self.module, self.name, fail)


@pytest.fixture(scope="module")
def expected() -> Any:
    """Return what a run gives that does not fail."""
    return Training().run(None, None, 0)


def check_failures(
    patch: pytest.MonkeyPatch, expected: Any, where: tuple[Any, str], when: str
) -> list[int]:
    """Have calls fail at a stage, each in a run of its own; return those that go through it."""
    failed = []
    for call in (1, 2, 3, 4):
        failing = Failing(*where, when)
        assert Training().run(patch, failing, call) == expected
        if failing.has_failed:
            failed.append(call)
    return failed


@pytest.mark.parametrize("when", ["before", "behind"])
@pytest.mark.parametrize("stage", STAGES)
def test_stages(monkeypatch: pytest.MonkeyPatch, expected: Any, stage: str, when: str) -> None:
    assert check_failures(monkeypatch, expected, STAGES[stage], when)


@pytest.mark.parametrize("when", ["before", "behind"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators(
    monkeypatch: pytest.MonkeyPatch, expected: Any, operator: str, when: str
) -> None:
    # A replaced function of the package is seen by guards: each call is recorded.
    assert check_failures(monkeypatch, expected, (mo, operator), when) == [1, 2, 3, 4]


@pytest.mark.parametrize("part", ["advance", "get_step"])
def test_effects(monkeypatch: pytest.MonkeyPatch, expected: Any, part: str) -> None:
    assert check_failures(monkeypatch, expected, (Counter, part), "before") == [1, 2, 3, 4]
