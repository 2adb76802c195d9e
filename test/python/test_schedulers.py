# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules against their formulas."""

import math
from itertools import pairwise

import metaops as mo
import numpy as np
import pytest
from metaops.optim import SGD, Adagrad, Adam, Muon, RMSprop, lr_scheduler

BASE = 0.8


def optimizer(**options):
    return SGD([mo.zeros((1,))], BASE, **options)


def seen(schedule, count=12):
    rates = [schedule.get_last_lr()[0]]
    for _ in range(count):
        schedule.step()
        assert schedule.get_last_lr()[0] == schedule.optimizer.lr
        rates.append(schedule.optimizer.lr)
    return rates


def linear(t):
    return 0.25 + 0.75 * min(t, 4) / 4


def cosine(t, length, low):
    return low + (BASE - low) * (1 + math.cos(math.pi * t / length)) / 2


def restarts(t):
    start, length = 0, 2
    while t >= start + length:
        start, length = start + length, length * 2
    return cosine(t - start, length, 0.1)


def triangle(t, up=3, down=2):
    t %= up + down
    return t / up if t <= up else 1 - (t - up) / down


S = lr_scheduler
SCHEDULES = {
    "LambdaLR": (lambda o: S.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: BASE / (1 + t)),
    "MultiplicativeLR": (
        lambda o: S.MultiplicativeLR(o, lambda t: 1 / t),
        lambda t: BASE / math.factorial(t),
    ),
    "StepLR": (lambda o: S.StepLR(o, 3, 0.5), lambda t: BASE * 0.5 ** (t // 3)),
    "MultiStepLR": (
        lambda o: S.MultiStepLR(o, [5, 2, 2], 0.5),
        lambda t: BASE * 0.5 ** ((t >= 5) + 2 * (t >= 2)),
    ),
    "ConstantLR": (lambda o: S.ConstantLR(o, 0.5, 3), lambda t: BASE * (0.5 if t < 3 else 1)),
    "LinearLR": (lambda o: S.LinearLR(o, 0.25, 1.0, 4), lambda t: BASE * linear(t)),
    "PolynomialLR": (
        lambda o: S.PolynomialLR(o, 6, 2.0),
        lambda t: BASE * (1 - min(t, 6) / 6) ** 2,
    ),
    "ExponentialLR": (lambda o: S.ExponentialLR(o, 0.7), lambda t: BASE * 0.7**t),
    "CosineAnnealingLR": (
        lambda o: S.CosineAnnealingLR(o, T_max=5, eta_min=0.1),
        lambda t: cosine(t, 5, 0.1),
    ),
    "CosineAnnealingWarmRestarts": (
        lambda o: S.CosineAnnealingWarmRestarts(o, 2, 2, 0.1),
        restarts,
    ),
    "WarmRestarts of one length": (
        lambda o: S.CosineAnnealingWarmRestarts(o, T_0=3, eta_min=0.1),
        lambda t: cosine(t % 3, 3, 0.1),
    ),
    "CyclicLR": (
        lambda o: S.CyclicLR(o, 0.1, 0.5, 3, 2, cycle_momentum=False),
        lambda t: 0.1 + 0.4 * triangle(t),
    ),
    "CyclicLR by halves": (
        lambda o: S.CyclicLR(o, 0.1, 0.5, 3, 2, "triangular2", cycle_momentum=False),
        lambda t: 0.1 + 0.4 * triangle(t) / 2 ** (t // 5),
    ),
    "CyclicLR by powers": (
        lambda o: S.CyclicLR(o, 0.1, 0.5, 3, None, "exp_range", 0.9, cycle_momentum=False),
        lambda t: 0.1 + 0.4 * triangle(t, 3, 3) * 0.9**t,
    ),
    "SequentialLR": (
        lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.25, 1.0, 4), S.ExponentialLR(o, 0.5)], [3]),
        lambda t: BASE * (linear(t) if t < 3 else 0.5 ** (t - 3)),
    ),
    "ChainedScheduler": (
        lambda o: S.ChainedScheduler([S.LinearLR(o, 0.25, 1.0, 4), S.StepLR(o, 3, 0.5)]),
        lambda t: BASE * linear(t) * 0.5 ** (t // 3),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates(name):
    make, formula = SCHEDULES[name]
    expected = [formula(t) for t in range(13)]
    np.testing.assert_allclose(seen(make(optimizer())), expected, rtol=1e-12, atol=1e-15)
    # Another one goes on from where the first was.
    first, second = make(optimizer()), make(optimizer())
    for _ in range(5):
        first.step()
    second.load_state_dict(first.state_dict())
    np.testing.assert_allclose(seen(second, 7)[1:], expected[6:], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_after_others(name):
    """It begins at its own first rate, wherever the one before has ended."""
    make, formula = SCHEDULES[name]
    expected = [formula(t) for t in range(6)]
    o = optimizer()
    for before, _ in SCHEDULES.values():
        seen(before(o), 5)
        np.testing.assert_allclose(seen(make(o), 5), expected, rtol=1e-12, atol=1e-15)


def test_a_rate_that_was_set_by_hand():
    """A new schedule goes by it, for its group alone."""
    o = SGD([{"params": mo.zeros(1)}, {"params": mo.zeros(2), "lr": 0.2}], lr=0.4)
    S.ExponentialLR(o, 0.5).step()
    o.param_groups[0]["lr"] = 0.3
    schedule = S.StepLR(o, 1, 0.1)
    assert schedule.get_last_lr() == [0.3, 0.2]
    schedule.step()
    np.testing.assert_allclose(schedule.get_last_lr(), [0.03, 0.02])
    # So it is with what a plateau has made of a rate.
    o = optimizer()
    plateau = S.ReduceLROnPlateau(o, factor=0.5, patience=0)
    S.ConstantLR(o, 1.0, 2)
    for _ in range(2):
        plateau.step(1.0)
    assert S.ExponentialLR(o, 0.1).get_last_lr() == [BASE * 0.5]


@pytest.mark.parametrize("is_loaded_first", [False, True])
@pytest.mark.parametrize("name", [*SCHEDULES, "OneCycleLR"])
def test_training_goes_on_at_the_rate_of_its_epoch(name, is_loaded_first):
    """Whichever of optimiser and schedule is made, and loaded, first."""
    make = SCHEDULES[name][0] if name in SCHEDULES else lambda o: S.OneCycleLR(o, 0.5, 20)
    first = make(optimizer())
    for _ in range(4):
        first.step()
    states = first.optimizer.state_dict(), first.state_dict()
    other = optimizer()
    if is_loaded_first:
        other.load_state_dict(states[0])
    second = make(other)
    if not is_loaded_first:
        other.load_state_dict(states[0])
    second.load_state_dict(states[1])
    assert other.lr == first.optimizer.lr and other.momentum == first.optimizer.momentum
    assert seen(second, 5) == seen(first, 5)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("three_phase", [False, True])
def test_one_cycle(strategy, three_phase):
    o = Adam([mo.zeros((1,))])
    schedule = S.OneCycleLR(
        o, 2.0, 10, pct_start=0.4, anneal_strategy=strategy, three_phase=three_phase
    )
    first, last = 2.0 / 25, 2.0 / 25 / 1e4
    points = [(0, first, 0.95), (3, 2.0, 0.85), (9, last, 0.95)]
    if three_phase:
        points.insert(2, (6, first, 0.95))
    for t in range(10):
        left, right = next((a, b) for a, b in pairwise(points) if t <= b[0] and t >= a[0])
        share = (t - left[0]) / (right[0] - left[0])
        share = (1 - math.cos(math.pi * share)) / 2 if strategy == "cos" else share
        rate, momentum = (left[k] + (right[k] - left[k]) * share for k in (1, 2))
        assert o.lr == pytest.approx(rate, rel=1e-12)
        assert o.betas == (pytest.approx(momentum, rel=1e-12), 0.999)
        if t < 9:
            schedule.step()
    with pytest.raises(ValueError, match="OneCycleLR: step 10 is beyond total_steps, which is 10"):
        schedule.step()


def test_cycles_of_momentum():
    o = optimizer(momentum=0.9)
    schedule = S.CyclicLR(o, 0.1, 0.5, 2, base_momentum=0.7, max_momentum=0.9)
    momenta = [o.momentum]
    for _ in range(4):
        schedule.step()
        momenta.append(o.momentum)
    np.testing.assert_allclose(momenta, [0.9, 0.8, 0.7, 0.8, 0.9])


@pytest.mark.parametrize("make", [SGD, RMSprop, Muon, Adam])
@pytest.mark.parametrize("kind", ["CyclicLR", "OneCycleLR"])
def test_momentum_that_was_not_asked_for(make, kind):
    """As in PyTorch, a cycle of momentum is one also where it was 0."""
    p = mo.zeros((2, 2))
    o = make([p], 0.1)
    schedule = S.CyclicLR(o, 0.1, 0.5, 2) if kind == "CyclicLR" else S.OneCycleLR(o, 0.5, 8)
    top = 0.9 if kind == "CyclicLR" else 0.95
    assert (o.betas[0] if make is Adam else o.momentum) == top
    for _ in range(3):
        o.apply([mo.ones((2, 2))])
        schedule.step()
    assert (o.betas[0] if make is Adam else o.momentum) < top
    assert np.isfinite(p.numpy()).all()


@pytest.mark.parametrize("kind", ["CyclicLR", "OneCycleLR"])
def test_cycles_without_momentum(kind):
    o = SGD([mo.zeros(1)], 0.1)
    make = getattr(S, kind)
    for _ in range(2):
        schedule = make(o, 0.1, 8, cycle_momentum=False)
        schedule.step()
        assert o.momentum == 0
    adagrad = Adagrad([mo.zeros(1)], 0.1)
    with pytest.raises(ValueError, match=f"{kind}: cycle_momentum needs .*, which Adagrad has"):
        make(adagrad, 0.1, 8)
    make(adagrad, 0.1, 8, cycle_momentum=False).step()


def test_groups():
    o = SGD([{"params": mo.zeros(1)}, {"params": mo.zeros(2), "lr": 0.2}], lr=0.4)
    schedule = S.LambdaLR(o, [lambda t: 0.5**t, lambda t: 0.1**t])
    schedule.step()
    np.testing.assert_allclose(schedule.get_last_lr(), [0.2, 0.02])
    # A second schedule goes by the first rates, too, and begins by them.
    schedule = S.StepLR(o, 1, 0.5)
    assert schedule.get_last_lr() == [0.4, 0.2]
    schedule.step()
    np.testing.assert_allclose([group["lr"] for group in o.param_groups], [0.2, 0.1])


@pytest.mark.parametrize("mode, better", [("min", -1), ("max", 1)])
def test_plateau(mode, better):
    o = optimizer()
    schedule = S.ReduceLROnPlateau(
        o, mode, 0.5, patience=1, threshold=0.1, threshold_mode="abs", cooldown=1, min_lr=0.15
    )
    rates = []
    figures = [1, 1 + 0.5 * better, 1.5 * better + 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    best, bad, cool, rate, expected = -math.inf, 0, 0, BASE, []
    for figure in figures:
        schedule.step(mo.array(float(figure)))
        rates.append(o.lr)
        if better * figure > best + 0.1:
            best, bad = better * figure, 0
        else:
            bad += 1
        if cool:
            cool, bad = cool - 1, 0
        if bad > 1:
            rate, cool, bad = max(rate * 0.5, 0.15), 1, 0
        expected.append(rate)
    np.testing.assert_allclose(rates, expected)
    assert len(set(rates)) >= 3
    other = S.ReduceLROnPlateau(o, mode)
    other.load_state_dict(schedule.state_dict())
    assert other.best == schedule.best and other.epoch == len(figures)


def test_plateau_by_share():
    o = optimizer()
    schedule = S.ReduceLROnPlateau(o, factor=0.5, patience=0, threshold=0.1)
    for figure, rate in [(10.0, 0.8), (9.5, 0.4), (8.9, 0.4), (8.1, 0.2)]:
        schedule.step(figure)
        assert o.lr == pytest.approx(rate)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda o: S.StepLR(o, 0), ValueError, "StepLR: step_size is 0, expected a positive"),
        (lambda o: S.LinearLR(o, total_iters=0), ValueError, "LinearLR: total_iters is 0"),
        (lambda o: S.LambdaLR(o, [abs, abs]), ValueError, "2 functions given, expected 1"),
        (lambda o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]), ValueError, "1 milestones for 1"),
        (lambda o: S.ChainedScheduler([]), TypeError, "expected LRSchedulers"),
        (lambda o: S.SequentialLR(o, [3], []), TypeError, "SequentialLR: schedulers are"),
        (
            lambda o: S.ChainedScheduler([S.StepLR(o, 1), S.StepLR(optimizer(), 1)]),
            ValueError,
            "expected schedulers that are all of one",
        ),
        (lambda o: S.CyclicLR(o, 0, 1, mode="x"), ValueError, "CyclicLR: mode is 'x', expected"),
        (lambda o: S.OneCycleLR(o, 1), ValueError, "OneCycleLR: expected total_steps, or epochs"),
        (lambda o: S.OneCycleLR(o, 1, 5, pct_start=2), ValueError, "pct_start is 2, expected"),
        (lambda o: S.ReduceLROnPlateau(o, "x"), ValueError, "mode is 'x', expected 'min' or"),
        (lambda o: S.ReduceLROnPlateau(o, factor=1), ValueError, "factor is 1, expected it bel"),
        (lambda o: S.ReduceLROnPlateau(3), TypeError, "optimizer is 3, expected an Optimizer"),
        (lambda o: S.ExponentialLR(3, 0.5), TypeError, "ExponentialLR: optimizer is 3, expected"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(optimizer())


def swalr_of_pytorch(rates, before, epochs, last, share):
    """Return the rates that PyTorch's formula gives after each step, from those it finds."""
    found = []
    for step, rate in enumerate(before):
        step = max(1, step) if epochs == 0 else step
        last_t, t = (max(0, min(1, k / max(1, epochs))) for k in (step - 1, step))
        rate = found[-1] if rate is None else rate
        first = last if share(last_t) == 1 else (rate - share(last_t) * last) / (1 - share(last_t))
        found.append(last * share(t) + first * (1 - share(t)))
    return found


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 4])
def test_the_rate_of_averaging_is_pytorchs(strategy, epochs):
    share = (lambda t: (1 - math.cos(math.pi * t)) / 2) if strategy == "cos" else (lambda t: t)
    schedule = mo.optim.SWALR(optimizer(), 0.05, epochs, strategy)
    found = seen(schedule, 7)
    expected = swalr_of_pytorch(found, [BASE] + [None] * 7, epochs, 0.05, share)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found[max(1, epochs) :], 0.05, rtol=1e-12)
    closed = [schedule.rate(t, BASE) for t in range(8)]
    np.testing.assert_allclose(found, closed, rtol=1e-9)


def test_averaging_goes_on_from_the_rate_of_another_schedule():
    own = optimizer()
    first = lr_scheduler.ExponentialLR(own, 0.5)
    later = mo.optim.SWALR(own, 0.05, 4, "linear")
    for _ in range(3):
        first.step()
    rates = [own.lr]
    for _ in range(5):
        later.step()
        rates.append(own.lr)
    start = BASE * 0.5**3
    np.testing.assert_allclose(rates, [start + (0.05 - start) * min(t / 4, 1) for t in range(6)])


def test_averaging_of_groups_and_states():
    groups = [{"params": [mo.zeros((1,))]}, {"params": [mo.zeros((1,))], "lr": 0.4}]
    own = SGD(groups, BASE)
    schedule = mo.optim.SWALR(own, [0.1, 0.2], 2, "linear")
    schedule.step()
    np.testing.assert_allclose(schedule.get_last_lr(), [0.45, 0.3])
    state = schedule.state_dict()
    again = mo.optim.SWALR(own, [0.1, 0.2], 2, "linear")
    again.load_state_dict(state)
    again.step()
    np.testing.assert_allclose(again.get_last_lr(), [0.1, 0.2])
    for arguments, text in [
        (([0.1],), "1 swa_lr given, expected 2, one per group"),
        ((np.array([0.1]),), "1 swa_lr given, expected 2, one per group"),
        (([],), "0 swa_lr given, expected 2, one per group"),
        ((-0.1,), "swa_lr is -0.1"),
        ((math.inf,), "swa_lr is inf"),
        ((0.1, -1), "anneal_epochs is -1"),
        ((0.1, 1, "exp"), "anneal_strategy is 'exp', expected 'cos' or 'linear'"),
    ]:
        with pytest.raises(ValueError, match=text):
            mo.optim.SWALR(own, *arguments)
    for rate in (None, "0.1"):
        with pytest.raises(TypeError, match=f"swa_lr is {rate!r}, expected a number"):
            mo.optim.SWALR(own, rate)
    assert mo.optim.SWALR(own, np.array([0.1, 0.2])).swa_lrs == [0.1, 0.2]


def test_averaging_leaves_groups_that_come_later():
    own = optimizer()
    schedule = mo.optim.SWALR(own, 0.05, 2, "linear")
    own.add_param_group({"params": [mo.zeros((1,))], "lr": 0.4})
    schedule.step()
    np.testing.assert_allclose(
        [group["lr"] for group in own.param_groups], [(BASE + 0.05) / 2, 0.4]
    )


def test_averaging_has_no_factor_in_a_chain():
    own = optimizer()
    later = mo.optim.SWALR(own, 0.05)
    first = lr_scheduler.ExponentialLR(own, 0.5)
    sequence = lr_scheduler.SequentialLR(own, [first, later], [3])
    for schedule, name in [(later, "SWALR"), (sequence, "SequentialLR")]:
        with pytest.raises(ValueError, match=f"a {name} goes by the rates that others set"):
            lr_scheduler.ChainedScheduler([first, schedule])


def test_schedules_that_are_not_made_set_nothing():
    own = optimizer()
    before = [dict(group) for group in own.param_groups]
    makers = [
        lambda: mo.optim.SWALR(own, -1.0),
        lambda: lr_scheduler.StepLR(own, 0),
        lambda: lr_scheduler.LambdaLR(own, []),
        lambda: lr_scheduler.CosineAnnealingLR(own, 0),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="expected"):
            make()
        assert [dict(group) for group in own.param_groups] == before
    # A rate that is set then is the one by which the next schedule goes.
    own.lr = 4 * BASE
    assert lr_scheduler.StepLR(own, 1).base_lrs == [4 * BASE]
