# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Effects that optimisers, schedules and modules register with a function that is recorded:
what they advance and take back, and the numbers that its calls are given.
"""

from __future__ import annotations

import contextlib
import itertools
from types import SimpleNamespace

import metaops as mo
import numpy as np
import pytest
from metaops import _core, nn, optim
from metaops.tracing import effects
from util import floats, same

STEPS = 6
SHAPES = [(4, 3), (5, 2), (3, 3)]
KINDS = {
    "SGD": (optim.SGD, {}),
    "SGD dampened": (optim.SGD, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "Nesterov": (optim.SGD, {"momentum": 0.9, "nesterov": True}),
    "RMSprop": (optim.RMSprop, {"centered": True, "momentum": 0.8}),
    "Adagrad": (optim.Adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    "Adadelta": (optim.Adadelta, {"rho": 0.8, "weight_decay": 0.1}),
    "Adam": (optim.Adam, {"weight_decay": 0.1}),
    "AdamW": (optim.AdamW, {"amsgrad": True, "betas": (0.5, 0.3)}),
    "Adamax": (optim.Adamax, {"weight_decay": 0.1}),
    "NAdam": (optim.NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    "RAdam": (optim.RAdam, {"betas": (0.9, 0.95)}),
    "Rprop": (optim.Rprop, {}),
    "ASGD": (optim.ASGD, {"t0": 2}),
    "Adafactor": (optim.Adafactor, {"weight_decay": 0.1}),
    "LAMB": (optim.LAMB, {"weight_decay": 0.1}),
    "Lion": (optim.Lion, {"weight_decay": 0.1}),
    "Muon": (optim.Muon, {}),
}


class Trace:
    """A trace that keeps the numbers of a recording, and records on the session."""

    def __init__(self):
        self.is_entered = False
        self.placeholders = []

    def __enter__(self):
        assert not self.is_entered
        self.is_entered = True

    def __exit__(self, *exception):
        assert self.is_entered
        self.is_entered = False

    def number(self, dtype):
        self.placeholders.append(mo.array(0.0, dtype))
        return self.placeholders[-1]


class Recorded:
    """A step that is recorded once, and then called.

    Vars have values here, so a step that is recorded is not taken back from them: what
    is recorded is the function of each parameter, of which calls replay those.
    """

    def __init__(self, monkeypatch, step):
        self.trace, self.calls = Trace(), []

        def keep(functions, arguments):
            if not all(each.takes(given) for each, given in zip(functions, arguments, strict=True)):
                return False
            self.calls.append((list(functions), [list(given) for given in arguments]))
            return True

        self.replay = optim.moving.replay
        with monkeypatch.context() as patch:
            patch.setattr(optim.moving, "replay", keep)
            self.recording = effects.Recording(self.trace)
            with self.recording:
                step()

    def call(self, gradients):
        """Call the function of gradients; None if it would not be what was recorded."""
        function = SimpleNamespace(call=self.run, begin_call=lambda: None, counts=lambda: False)
        try:
            return effects.call_with_effects(function, gradients, self.recording.effects)
        except effects.NotRecordedError:
            return None

    def run(self, given, values, steps):
        """Replay what was recorded, with other gradients and numbers."""
        places = {id(var): k for k, var in enumerate(self.trace.placeholders)}
        gradients = iter(given)
        rows = zip(values, self.trace.placeholders, strict=True)
        numbers = [_core.scalars([value], like.dtype)[0] for value, like in rows]
        for functions, arguments in self.calls:
            rows = [
                [row[0], next(gradients)]
                + [numbers[places[id(x)]] if id(x) in places else x for x in row[2:]]
                for row in arguments
            ]
            assert self.replay(functions, rows)
        for outcome, first, count, in_dtype in steps:
            outcome.watch_updates(numbers[first : first + count], in_dtype)
        return []


class Case:
    """Parameters, an optimiser of them, and gradients for its steps."""

    def __init__(self, kind, options, *, dtype="float32", groups=False, frozen=None):
        rng = np.random.default_rng(3)
        self.parameters = [mo.array(floats(rng, shape)).cast(dtype) for shape in SHAPES]
        mo.sync_all()
        given = [{"params": self.parameters[:1], "lr": 0.3}, {"params": self.parameters[1:]}]
        self.optimizer = kind(given if groups else self.parameters, 0.05, **options)
        self.batches = [[floats(rng, shape) for shape in SHAPES] for _ in range(STEPS)]
        self.frozen, self.dtype = frozen, dtype

    def gradients(self, i):
        every = [mo.array(batch).cast(self.dtype) for batch in self.batches[i]]
        return [None if k == self.frozen else each for k, each in enumerate(every)]

    def given(self, i):
        return [each for each in self.gradients(i) if each is not None]

    def step(self, i=0):
        self.optimizer.apply(self.gradients(i))

    def counts(self):
        own = self.optimizer.state_dict()
        groups = [
            {name: option for name, option in group.items() if name != "params"}
            for group in self.optimizer.param_groups
        ]
        return own["steps"], own.get("counts"), groups

    def check(self, other):
        assert self.counts() == other.counts()
        for own, expected in zip(self.parameters, other.parameters, strict=True):
            same(own, expected.numpy())
        tensors, others = self.optimizer._tensors(), other.optimizer._tensors()
        assert tensors.keys() == others.keys()
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(tensor.numpy(), others[name].numpy(), err_msg=name)


def check(monkeypatch, make):
    """Compare calls of a step that is recorded once with steps, rates changing between."""
    case, other = make(), make()
    before = case.counts()
    recorded = Recorded(monkeypatch, case.step)
    assert case.counts() == before
    for i in range(STEPS):
        case.optimizer.lr = other.optimizer.lr = 0.2 / (1 + i)
        assert recorded.call(case.given(i)) is not None
        other.step(i)
        case.check(other)
    assert case.optimizer.steps == STEPS


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"groups": True},
        {"frozen": 1},
        {"frozen": 1, "groups": True},
        {"dtype": "float16"},
        {"dtype": "bfloat16", "master": True},
        {"maximize": True},
    ],
    ids=lambda how: " ".join(f"{name}={value}" for name, value in how.items()) or "plain",
)
def test_calls_are_steps(monkeypatch, name, how):
    kind, options = KINDS[name]
    options |= {key: how[key] for key in ("maximize", "master") if key in how}
    how = {key: how[key] for key in ("groups", "frozen", "dtype") if key in how}
    check(monkeypatch, lambda: kind_of(kind, options, how))


def kind_of(kind, options, how):
    return Case(kind, options, **how)


def adam(**options):
    return Case(optim.Adam, {"betas": (0.8, 0.9), **options})


def test_state_that_an_option_asks_for_is_made_outside(monkeypatch):
    """Its first values are what calls begin with, not a part of what is recorded."""
    case, other = adam(), adam()
    case.optimizer.amsgrad = other.optimizer.amsgrad = True
    entered = []

    def full(*given):
        entered.append(effects.recording() is not None)
        return mo.full(*given)

    monkeypatch.setattr(optim.keeping, "full", full)
    recorded = Recorded(monkeypatch, case.step)
    assert entered == [False] * len(SHAPES)
    for i in range(STEPS):
        recorded.call(case.given(i))
        other.step(i)
    case.check(other)


def test_two_steps_in_one_function(monkeypatch):
    case, other = adam(), adam()
    recorded = Recorded(monkeypatch, lambda: (case.step(0), case.step(1)))
    assert case.optimizer.steps == 0
    for i in (0, 2, 4):
        recorded.call(case.given(i) + case.given(i + 1))
        other.step(i)
        other.step(i + 1)
        case.check(other)
    assert case.optimizer.steps == 6


def test_another_formula_is_not_what_was_recorded(monkeypatch):
    """Names of numbers, counts that are shared no more, state that is other tensors."""
    changes = {
        "names": lambda o: setattr(o, "weight_decay", 0.5),
        "common": lambda o: setattr(o, "maximize", True),
        "state": lambda o: o.load_state_dict(o.state_dict()),
        "group": lambda o: o.add_param_group({"params": mo.ones(3)}),
        "counts": lambda o: o.apply([mo.ones(SHAPES[0]), None, None]),
    }
    for change in changes.values():
        case = adam()
        recorded = Recorded(monkeypatch, case.step)
        assert recorded.call(case.given(0)) is not None
        change(case.optimizer)
        before = case.counts()
        assert not effects.are_recorded(recorded.recording.effects)
        assert recorded.call(case.given(1)) is None
        assert case.counts() == before
    # Numbers are no other formula.
    case = adam()
    recorded = Recorded(monkeypatch, case.step)
    case.optimizer.lr, case.optimizer.betas, case.optimizer.steps = 1.0, (0.1, 0.2), 9
    assert effects.are_recorded(recorded.recording.effects)
    assert recorded.call(case.given(0)) is not None
    assert case.optimizer.steps == 10


def test_parameters_that_move_in_turn(monkeypatch):
    """Two functions of one optimiser: each is the one that was recorded."""
    case, other = adam(), adam()
    masks = [(0, 1), (2,)]

    def step(which, who, i):
        given = who.gradients(i)
        who.optimizer.apply([g if k in masks[which] else None for k, g in enumerate(given)])

    functions = [Recorded(monkeypatch, lambda w=w: step(w, case, 0)) for w in (0, 1)]
    assert case.counts()[:2] == (0, None)
    for i, which in enumerate((0, 0, 1, 0, 1, 1)):
        given = [case.gradients(i)[k] for k in masks[which]]
        assert functions[which].call(given) is not None
        step(which, other, i)
        case.check(other)


def test_an_exception_takes_back(monkeypatch):
    """While a function is recorded, in an effect and at the launch."""
    case = adam()
    schedule = optim.lr_scheduler.ExponentialLR(case.optimizer, 0.5)

    def step():
        case.step()
        schedule.step()

    def fails(*given):
        step()
        raise ZeroDivisionError

    before = case.counts(), schedule.state_dict()
    with pytest.raises(ZeroDivisionError):
        Recorded(monkeypatch, fails)
    assert (case.counts(), schedule.state_dict()) == before
    recorded = Recorded(monkeypatch, step)
    assert (case.counts(), schedule.state_dict()) == before
    recorded.call(case.given(0))
    before = case.counts(), schedule.state_dict()
    recorded.run = lambda *given: 1 / 0
    with pytest.raises(ZeroDivisionError):
        recorded.call(case.given(1))
    assert (case.counts(), schedule.state_dict()) == before
    assert before[0][0] == 1 and before[0][2][0]["lr"] == 0.025


def test_a_step_whose_error_is_caught_does_not_count(monkeypatch):
    case = adam()

    def step():
        with contextlib.suppress(ValueError):
            case.optimizer.apply(case.gradients(0)[::-1])

    recorded = Recorded(monkeypatch, step)
    recorded.run = lambda *given: []
    recorded.call([])
    assert case.optimizer.steps == 0


SCHEDULES = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, 2, 0.5),
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda t: 1 / (1 + t)),
    "CosineAnnealingLR": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 5),
    "CyclicLR": lambda o: optim.lr_scheduler.CyclicLR(o, 0.01, 0.1, 2),
    "OneCycleLR": lambda o: optim.lr_scheduler.OneCycleLR(o, 0.1, 20),
    "SequentialLR": lambda o: optim.lr_scheduler.SequentialLR(
        o,
        [optim.lr_scheduler.LinearLR(o), optim.lr_scheduler.ExponentialLR(o, 0.5)],
        [3],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("groups", [False, True])
def test_schedules(monkeypatch, name, groups):
    case, other = (Case(optim.Adam, {}, groups=groups) for _ in range(2))
    schedule, expected = SCHEDULES[name](case.optimizer), SCHEDULES[name](other.optimizer)

    def step():
        case.step()
        schedule.step()
        case.step()

    before = schedule.state_dict(), case.counts()
    recorded = Recorded(monkeypatch, step)
    assert (schedule.state_dict(), case.counts()) == before
    for i, j in itertools.pairwise(range(STEPS)):
        recorded.call(case.given(i) + case.given(j))
        other.step(i)
        expected.step()
        other.step(j)
        case.check(other)
        assert schedule.state_dict() == expected.state_dict()


@pytest.mark.parametrize("inside", [False, True])
def test_a_schedule_that_ends_stays_at_its_end(monkeypatch, inside):
    case = adam()
    schedule = optim.lr_scheduler.OneCycleLR(case.optimizer, 0.1, 3)
    recorded = Recorded(monkeypatch, schedule.step)
    step = (lambda: recorded.call([])) if inside else schedule.step
    step()
    step()
    before = schedule.state_dict(), case.counts()
    for _ in range(2):
        with pytest.raises(ValueError, match="step 3 is beyond total_steps, which is 3"):
            step()
        assert (schedule.state_dict(), case.counts()) == before


def test_options_that_are_set_and_read_inside(monkeypatch):
    case = adam()
    read = []

    def step():
        read.append(case.optimizer.lr)
        case.optimizer.lr = 0.5
        read.append(case.optimizer.lr)
        case.step()

    recorded = Recorded(monkeypatch, step)
    assert read == [0.05, 0.5] and case.optimizer.lr == 0.05
    other = adam()
    other.optimizer.lr = 0.5
    assert recorded.call(case.given(0)) is not None
    other.step(0)
    case.check(other)
    # The rate that it reads is a constant of what was recorded.
    assert recorded.call(case.given(0)) is None
    case.optimizer.lr = 0.05
    assert recorded.call(case.given(0)) is not None


def test_counts_that_are_read_inside(monkeypatch):
    case = adam()
    schedule = optim.lr_scheduler.StepLR(case.optimizer, 2)
    for read in (
        lambda: case.optimizer.steps,
        lambda: schedule.epoch,
        schedule.get_last_lr,
    ):
        recorded = Recorded(monkeypatch, read)
        assert recorded.call([]) == []
        case.step()
        schedule.step()
        schedule.step()
        assert recorded.call([]) is None


def test_modes_of_modules(monkeypatch):
    model = mo.Sequential(nn.Dropout(0.5), nn.Linear(2, 2))
    model[0].eval()
    seen = []

    def step():
        model.eval()
        seen.append([module.is_train for module in model.modules()])
        model.train()

    def now():
        return [module.is_train for module in model.modules()]

    before = now()
    recorded = Recorded(monkeypatch, step)
    assert now() == before == [True, False, True]
    assert "is_train" not in vars(model)
    assert seen == [[False] * 3]
    recorded.call([])
    assert now() == [True] * 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_programs_that_fail(monkeypatch, asynchronous):
    """Counts and numbers of later calls are those of the calls that were taken."""

    def gradients(case, i, bad):
        rows = mo.array([1, 40, 2, 3] if bad else [1, 0, 2, 3])
        first, *others = case.gradients(i % STEPS)
        return [mo.take(first, rows, 0), *others]

    case, other = adam(), adam()
    recorded = Recorded(monkeypatch, case.step)
    bad, raised = {0, 7}, set()
    with mo.flag_scope(asynchronous=asynchronous):
        for i in range(2 * STEPS):
            try:
                recorded.call(gradients(case, i, i in bad))
            except IndexError:
                raised.add(i)
        with contextlib.suppress(IndexError):
            mo.sync_all()
    for i in sorted(set(range(2 * STEPS)) - raised - bad):
        other.optimizer.apply(gradients(other, i, False))
        mo.sync_all()
    assert other.optimizer.steps > STEPS // 2
    case.check(other)


def test_plans_tell_gradient_modes_apart():
    case = adam()
    found = []
    for scope in (contextlib.nullcontext, mo.no_grad, contextlib.nullcontext):
        with scope():
            case.step()
        found.append(case.optimizer._plan.functions)
    assert found[0] == found[2] != found[1]
