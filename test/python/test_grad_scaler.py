# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that are scaled: `mo.amp.GradScaler`, and steps of optimisers that are skipped."""

from __future__ import annotations

import math
import pickle

import metaops as mo
import numpy as np
import pytest
from metaops import nn, optim

pytestmark = pytest.mark.processor

#: Optimisers, of which all numbers that depend on the step do so early.
MAKERS = {
    "SGD": lambda p: optim.SGD(p, 0.1),
    "SGD with dampening": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.5),
    "Adam": lambda p: optim.Adam(p, 0.1),
    "Adam, amsgrad": lambda p: optim.Adam(p, 0.1, amsgrad=True, weight_decay=0.1),
    "Adam without means": lambda p: optim.Adam(p, 0.1, betas=(0.0, 0.0)),
    "AdamW": lambda p: optim.AdamW(p, 0.1),
    "Adamax": lambda p: optim.Adamax(p, 0.1),
    "NAdam": lambda p: optim.NAdam(p, 0.1),
    "RAdam": lambda p: optim.RAdam(p, 0.1, betas=(0.5, 0.6)),
    "Adagrad": lambda p: optim.Adagrad(p, 0.1, lr_decay=0.5),
    "Adadelta": lambda p: optim.Adadelta(p, 1.0),
    "RMSprop": lambda p: optim.RMSprop(p, 0.1, momentum=0.9, centered=True),
    "Rprop": lambda p: optim.Rprop(p, 0.1),
    "ASGD": lambda p: optim.ASGD(p, 0.1, t0=2.0, lambd=0.1),
    "Adafactor": lambda p: optim.Adafactor(p, 0.1),
    "LAMB": lambda p: optim.LAMB(p, 0.1),
    "Lion": lambda p: optim.Lion(p, 0.1),
    "Muon": lambda p: optim.Muon(p, 0.1),
}


def loss_of(p, factor):
    """Return a loss whose gradient is infinite where the factor is."""
    return (
        (p - 1) * (p + 2) * mo.array(np.linspace(0.5, 1.5, 6).reshape(2, 3), "float32")
    ).sum() * factor


def train(make, factors, dtype="float64", is_recorded=False, scaler=None):
    """Return the parameter and all that is kept after steps by losses of some factors."""
    p = mo.array(np.linspace(-1, 1, 6).reshape(2, 3), dtype)
    optimizer = make([p])
    scaler = scaler or mo.amp.GradScaler(2.0**10, growth_interval=3)

    def step(factor):
        scaler.step(optimizer, scaler.scale(loss_of(p, factor)))
        scaler.update()

    run = mo.jit(step) if is_recorded else step
    for factor in factors:
        run(mo.array(factor, dtype))
    return p, optimizer, scaler


FACTORS = [math.inf, 1.0, 0.5, math.nan, math.inf, 2.0, 1.0, 0.25, -math.inf, 1.0]


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_skipped_steps_leave_no_trace(name, is_recorded):
    """Numbers, moments and corrections are those of the steps that are taken, alone."""
    make = MAKERS[name]
    p, optimizer, _ = train(make, FACTORS, is_recorded=is_recorded)
    expected = mo.array(np.linspace(-1, 1, 6).reshape(2, 3), "float64")
    other = make([expected])
    for factor in filter(math.isfinite, FACTORS):
        other.step(loss_of(expected, factor))
    np.testing.assert_allclose(p.numpy(), expected.numpy(), rtol=1e-12)
    kept, plain = optimizer.state_dict(), other.state_dict()
    assert kept["taken.0"].item() == 6
    assert (kept["steps"], plain["steps"]) == (10, 6)
    for key, value in plain.items():
        if isinstance(value, mo.Var):
            np.testing.assert_allclose(kept[key].numpy(), value.numpy(), rtol=1e-12, err_msg=key)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_the_scale_follows_the_steps(is_recorded):
    _, _, scaler = train(MAKERS["SGD"], FACTORS, is_recorded=is_recorded)
    # Three steps in turn double it, those that are skipped halve it.
    assert scaler.get_scale() == 2.0**10 / 2**4 * 2
    assert scaler.state_dict()["_growth_tracker"].item() == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("master", [False, True])
def test_parameters_in_halves(dtype, master):
    def make(p):
        return optim.Adam(p, 0.125, master=master)

    p, optimizer, _ = train(make, FACTORS, dtype)
    expected, other, _ = train(make, list(filter(math.isfinite, FACTORS)), dtype)
    np.testing.assert_array_equal(p.float().numpy(), expected.float().numpy())
    assert p.dtype == dtype
    kept, plain = optimizer.state_dict(), other.state_dict()
    for key in ("mean.0", "square.0", *(["master.0"] if master else [])):
        np.testing.assert_array_equal(kept[key].numpy(), plain[key].numpy())


def test_the_first_steps_of_float16_are_skipped():
    """A scale that is far too large goes down to one that is not."""
    mo.seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    before = [p.numpy() for p in model.parameters()]
    optimizer, scaler = optim.Adam(model.parameters(), 1e-2), mo.amp.GradScaler(2.0**40)
    x = mo.rand(32, 8)

    @mo.jit
    def step():
        with mo.amp.autocast("float16"):
            loss = nn.mse_loss(model(x), x.sum(1, keepdims=True))
        scaler.step(optimizer, scaler.scale(loss))
        scaler.update()
        return loss

    losses = [step().item() for _ in range(5)]
    for p, old in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.numpy(), old)
    losses = [step().item() for _ in range(150)]
    assert losses[-1] < 0.05 * losses[0]
    taken = optimizer.state_dict()["taken.0"].item()
    skipped = optimizer.steps - taken
    assert 10 < skipped < 40
    assert scaler.get_scale() == 2.0 ** (40 - skipped)


def test_nothing_is_read_in_a_step():
    """Functions that are recorded have no values, so what works there reads none."""
    scaler, optimizer = mo.amp.GradScaler(), optim.SGD([mo.ones(3)], 1.0)

    @mo.jit
    def step():
        scaler.step(optimizer, scaler.scale(optimizer.parameters[0].sum()))
        scaler.update()
        return scaler.get_scale()

    with pytest.raises(RuntimeError, match="this needs numbers, which there are none of"):
        step()


def test_clipping_between():
    p, q = mo.ones((2, 3)), mo.ones((2, 3))
    first, second = optim.SGD([p], 0.1), optim.SGD([q], 0.1)
    scaler = mo.amp.GradScaler(1024.0)
    for factor in (4.0, math.inf, 8.0):
        scaled = scaler.scale(loss_of(p, factor))
        gradients = scaler.unscale_(mo.grad(scaled, [p]))
        gradients, norm = optim.clip_grad_norm(gradients, 0.5)
        scaler.apply(first, gradients)
        scaler.update()
        assert math.isnan(norm.item()) == math.isinf(factor)
        if math.isfinite(factor):
            clipped, _ = optim.clip_grad_norm(mo.grad(loss_of(q, factor), [q]), 0.5)
            second.apply(clipped)
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)


def test_one_infinite_gradient_skips_all_of_its_optimiser():
    p, q, r = (mo.ones(3) for _ in range(3))
    both, other = optim.SGD([p, q], 1.0), optim.SGD([r], 1.0)
    scaler = mo.amp.GradScaler(4.0)
    scaler.step(both, scaler.scale(p.sum() + (q * math.inf).sum()))
    scaler.step(other, scaler.scale(r.sum()))
    scaler.update()
    assert p.tolist() == q.tolist() == [1, 1, 1]
    assert r.tolist() == [0, 0, 0]
    assert scaler.get_scale() == 2.0


def test_parameters_without_gradients_and_those_that_are_empty():
    p, unused, empty = mo.ones(3), mo.ones(2), mo.ones((0,))
    optimizer, scaler = optim.Adam([p, unused, empty], 0.1), mo.amp.GradScaler()
    scaler.step(optimizer, scaler.scale(p.sum() + empty.sum()))
    scaler.update()
    state = optimizer.state_dict()
    assert [state[f"taken.{k}"].item() for k in range(2)] == [1, 0]
    assert unused.tolist() == [1, 1]


def test_steps_before_the_first_that_is_scaled_count():
    p, q = mo.ones((2, 3)), mo.ones((2, 3))
    first, second, scaler = optim.Adam([p], 0.1), optim.Adam([q], 0.1), mo.amp.GradScaler(2.0)
    for number in range(6):
        second.step(loss_of(q, 1.0))
        if number in (0, 1, 4):
            first.step(loss_of(p, 1.0))
        else:
            scaler.step(first, scaler.scale(loss_of(p, 1.0)))
            scaler.update()
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5)
    assert first.state_dict()["taken.0"].item() == 6


@pytest.mark.parametrize("is_recorded", [False, True])
def test_resuming_from_a_file(tmp_path, is_recorded):
    """Half of the steps, a file, and the rest give the bits of all steps at once."""
    whole, of_whole, _ = train(MAKERS["Adam"], FACTORS, "float32", is_recorded)
    _, optimizer, scaler = result = train(MAKERS["Adam"], FACTORS[:5], "float32", is_recorded)
    path = tmp_path / "state.npz"
    mo.save(
        {"p": result[0], "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}, path
    )
    state = mo.load(path)
    p = state["p"]
    resumed, again = optim.Adam([p], 0.1), mo.amp.GradScaler(7.0)
    resumed.load_state_dict(state["optimizer"])
    again.load_state_dict(state["scaler"])
    for factor in FACTORS[5:]:
        again.step(resumed, again.scale(loss_of(p, mo.array(factor, "float32"))))
        again.update()
    np.testing.assert_array_equal(p.numpy(), whole.numpy())
    assert resumed.state_dict()["taken.0"].item() == of_whole.state_dict()["taken.0"].item() == 6


def test_a_state_of_pytorch():
    scaler = mo.amp.GradScaler()
    state = {
        "scale": 512.0,
        "growth_factor": 3.0,
        "backoff_factor": 0.25,
        "growth_interval": 5,
        "_growth_tracker": 4,
    }
    scaler.load_state_dict(state)
    assert {
        key: getattr(value, "item", lambda v=value: v)()
        for key, value in scaler.state_dict().items()
    } == state
    scaler.update()
    assert scaler.get_scale() == 1536.0


def test_states_that_make_no_sense_change_nothing():
    scaler = mo.amp.GradScaler(8.0)
    good = scaler.state_dict()
    for name, value in [
        ("scale", 0.0),
        ("scale", math.nan),
        ("growth_factor", 1.0),
        ("backoff_factor", 1.0),
        ("growth_interval", 0),
        ("_growth_tracker", -1),
    ]:
        with pytest.raises(ValueError, match=f"{name} is"):
            scaler.load_state_dict({**good, name: value})
    with pytest.raises(KeyError, match="backoff_factor"):
        scaler.load_state_dict({key: good[key] for key in good if key != "backoff_factor"})
    assert scaler.get_scale() == 8.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"init_scale": -1.0}, "scale is -1.0, expected a positive number"),
        ({"init_scale": math.inf}, "scale is inf"),
        ({"growth_factor": 0.5}, "growth_factor is 0.5, expected a number above 1"),
        ({"backoff_factor": 2.0}, "backoff_factor is 2.0"),
        ({"growth_interval": 0}, "growth_interval is 0, expected an integer of at least 1"),
    ],
)
def test_numbers_that_make_no_sense(options, says):
    with pytest.raises(ValueError, match=says):
        mo.amp.GradScaler(**options)


def test_what_is_no_optimiser():
    scaler = mo.amp.GradScaler()
    with pytest.raises(TypeError, match=r"GradScaler: optimizer is .*, expected one of mo\.optim"):
        scaler.step(nn.Linear(2, 2), mo.ones(()))


def test_a_scaler_that_does_nothing():
    p, optimizer = mo.ones(3), None
    scaler = mo.amp.GradScaler(enabled=False)
    optimizer = optim.SGD([p], 1.0)
    loss = p.sum()
    assert scaler.scale(loss) is loss
    scaler.step(optimizer, loss)
    scaler.apply(optimizer, scaler.unscale_(mo.grad(p.sum(), [p])))
    scaler.update()
    assert p.tolist() == [-1, -1, -1]
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})


def test_a_new_scale_and_an_interval_that_is_changed():
    p = mo.ones(3)
    optimizer, scaler = optim.SGD([p], 0.0), mo.amp.GradScaler(4.0, growth_interval=100)

    @mo.jit
    def step():
        scaler.step(optimizer, scaler.scale(p.sum()))
        scaler.update()

    for _ in range(3):
        step()
    scaler.growth_interval = 2
    step()
    assert scaler.get_scale() == 8.0
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0


def test_the_scale_does_not_become_infinite():
    p = mo.ones(3)
    optimizer, scaler = optim.SGD([p], 0.0), mo.amp.GradScaler(2.0**126, growth_interval=1)
    for _ in range(5):
        scaler.step(optimizer, scaler.scale(p.sum() * 2.0**-100))
        scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_optimisers_are_pickled_with_their_counts():
    _, optimizer, _ = train(MAKERS["Adam"], FACTORS[:4])
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.state_dict()["taken.0"].item() == 2


# Numbers and gradients that are given


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, 1e-50])
def test_new_scales_that_make_no_sense(scale):
    scaler = mo.amp.GradScaler(4.0)
    with pytest.raises(ValueError, match=r"scale is .*, expected a positive number"):
        scaler.update(scale)
    assert scaler.get_scale() == 4.0
    scaler.update(mo.array(scale))
    assert scaler.get_scale() == 4.0
    scaler.update(mo.array(8))
    assert scaler.get_scale() == 8.0


def test_the_scale_does_not_become_zero():
    p, scaler = mo.ones(3), mo.amp.GradScaler(1e-37, growth_interval=1)
    optimizer = optim.SGD([p], 0.0)
    for factor in [math.nan] * 8 + [1.0]:
        scaler.step(optimizer, scaler.scale(p.sum() * factor))
        scaler.update()
        assert scaler.get_scale() >= np.finfo("float32").tiny
    assert scaler.get_scale() == 2 * np.finfo("float32").tiny


def test_gradients_are_unscaled_once_and_in_any_form():
    p, unused = mo.ones(3), mo.ones(2)
    scaler, optimizer = mo.amp.GradScaler(4.0), optim.SGD([p, unused], 1.0)
    (gradient,) = mo.grad(scaler.scale((p * 2).sum()), [p])
    by_parameter = scaler.unscale_({p: gradient, unused: None})
    assert by_parameter[p].tolist() == [2, 2, 2]
    assert by_parameter[unused] is None
    first, second = scaler.unscale_([gradient, None])
    assert (first.tolist(), second) == ([2, 2, 2], None)
    scaler.apply(optimizer, by_parameter)
    assert p.tolist() == [-1, -1, -1]
    with pytest.raises(ValueError, match=r"a gradient is given that has been divided .*\(.*test_"):
        scaler.unscale_([first])


# Steps that are not scaled, or recorded before there were any that are


def test_plain_steps_follow_the_counts_of_steps_that_were_taken():
    """Adam's corrections are those of the steps that were taken."""
    p, q = mo.ones(3), mo.ones(3)
    first, second, scaler = optim.Adam([p], 0.1), optim.Adam([q], 0.1), mo.amp.GradScaler(4.0)
    for factor in [math.inf] * 3 + [2.0]:
        scaler.step(first, scaler.scale((p**2).sum() * factor))
    second.step((q**2).sum() * 2.0)
    for _ in range(3):
        first.step((p**3).sum())
        second.step((q**3).sum())
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)
    assert first.state_dict()["taken.0"].item() == second.steps == 4
    first.step((p * math.nan).sum())
    assert np.isnan(p.numpy()).all()


def test_plain_steps_that_were_recorded_before_the_first_that_is_scaled():
    results = []
    for is_recorded in (False, True):
        p = mo.ones(3)
        optimizer, scaler = optim.Adam([p], 0.1), mo.amp.GradScaler(4.0)

        def plain(p=p, optimizer=optimizer):
            optimizer.step((p**2).sum())

        step = mo.jit(plain) if is_recorded else plain
        for number in range(24):
            step()
            if number in (5, 20):
                scaler.step(optimizer, scaler.scale(-p.sum()))
                scaler.update()
        assert optimizer.state_dict()["taken.0"].item() == optimizer.steps == 26
        results.append(p.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def test_one_infinite_part_skips_the_step_of_all():
    p, q = mo.ones(3), mo.ones(3)
    optimizer, scaler = optim.SGD([p, q], 0.5), mo.amp.GradScaler(4.0)
    scaler.step(optimizer, scaler.scale(p.sum() * math.inf), accumulate=True)
    scaler.update()
    scaler.step(optimizer, scaler.scale(q.sum()))
    assert (p.tolist(), q.tolist()) == ([1, 1, 1], [1, 1, 1])
    scaler.step(optimizer, scaler.scale(q.sum()))
    assert (p.tolist(), q.tolist()) == ([1, 1, 1], [0.5, 0.5, 0.5])
