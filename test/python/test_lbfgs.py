# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""L-BFGS beside PyTorch's, on the losses of lbfgs_cases.py."""

from __future__ import annotations

import json
import pickle

import lbfgs_cases
import metaops as mo
import numpy as np
import pytest
from lbfgs_cases import CASES, STARTS, STEPS, WOLFE, rosenbrock
from metaops import nn
from metaops.optim.line_search import Point, _interpolate, strong_wolfe

pytestmark = pytest.mark.processor

EXPECTED = json.loads(lbfgs_cases.FILE.read_text())


def make(loss, options, dtype="float64"):
    """Return parameters, their optimiser, and what computes the loss."""
    parameters = [mo.array(start, dtype) for start in STARTS[loss]]
    optimizer = mo.optim.LBFGS(parameters, **options)
    return parameters, optimizer, mo.jit(lambda: loss(parameters, mo.array))


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_pytorchs(name):
    loss, options = CASES[name]
    parameters, optimizer, closure = make(loss, options)
    for number, row in enumerate(EXPECTED[name], 1):
        before = optimizer.step(closure)
        np.testing.assert_allclose(before.item(), row["before"], rtol=1e-6, atol=1e-12)
        assert [optimizer.n_iter, optimizer.func_evals] == row["counts"]
        for p, expected in zip(parameters, row["values"], strict=True):
            np.testing.assert_allclose(p.numpy().ravel(), expected, rtol=1e-6, atol=1e-9)
        assert optimizer.steps == number
    assert number == STEPS


def test_the_end_of_rosenbrocks_valley():
    parameters, optimizer, closure = make(rosenbrock, WOLFE)
    for _ in range(6):
        optimizer.step(closure)
    for p in parameters:
        np.testing.assert_allclose(p.numpy(), 1, rtol=1e-5)
    # At the end nothing moves any more.
    before = [p.numpy() for p in parameters]
    assert optimizer.step(closure).item() < 1e-10
    np.testing.assert_allclose([p.numpy() for p in parameters], before, rtol=1e-7)


@pytest.mark.parametrize("options", [WOLFE, {"lr": 0.2, "max_iter": 7}])
def test_what_is_kept_is_all_that_there_is(options, tmp_path):
    parameters, optimizer, closure = make(rosenbrock, {**options, "history_size": 4})
    others, other, its_closure = make(rosenbrock, {**options, "history_size": 4})
    other.load_state_dict(other.state_dict())  # before there is anything
    for _ in range(2):
        optimizer.step(closure)
    for p, q in zip(parameters, others, strict=True):
        q.assign(p)
    mo.save(optimizer.state_dict(), tmp_path / "state")
    other.load_state_dict(mo.load(tmp_path / "state"))
    third = pickle.loads(pickle.dumps(optimizer))
    for _ in range(2):
        optimizer.step(closure)
        other.step(its_closure)
        third.step(lambda: rosenbrock(third.parameters, mo.array))
    assert other.n_iter == optimizer.n_iter and other.steps == optimizer.steps == 4
    for p, q, r in zip(parameters, others, third.parameters, strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
        np.testing.assert_array_equal(p.numpy(), r.numpy())
    state = optimizer.state_dict()
    before = [p.numpy() for p in others]
    with pytest.raises(ValueError, match=r"'old_dirs' has shape \(1, 2\), expected"):
        other.load_state_dict({**state, "old_dirs": np.zeros((1, 2))})
    with pytest.raises(KeyError):
        other.load_state_dict({k: v for k, v in state.items() if k != "d"})
    assert other.n_iter == optimizer.n_iter
    np.testing.assert_array_equal([p.numpy() for p in others], before)


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-6), ("bfloat16", 0.05)])
def test_models_in_shorter_types(dtype, most):
    mo.seed(0)
    model = nn.Linear(3, 2).to(dtype)
    x = mo.array(np.random.default_rng(1).normal(size=(20, 3)).astype("float32"))
    y = x @ mo.array([[1.0, -1], [0.5, 2], [0, 1]]) + 0.25
    optimizer = mo.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")

    def closure():
        return ((model(x.cast(dtype)).cast("float32") - y) ** 2).mean()

    for _ in range(3):
        optimizer.step(closure)
    assert {p.dtype for p in model.parameters()} == {dtype}
    assert closure().item() < most


def test_schedules_and_parameters_that_are_not_used():
    used, other = mo.array(np.array([3.0, 1.0])), mo.array(np.array([7.0]))
    optimizer = mo.optim.LBFGS([used, other], lr=0.5, max_iter=1)
    schedule = mo.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
    optimizer.step(lambda: (used * used).sum() / 2)
    # The first step is of the gradient's direction, as long as its largest sum allows.
    np.testing.assert_allclose(used.numpy(), np.array([3.0, 1.0]) * (1 - 0.5 / 4))
    assert other.numpy() == 7.0
    schedule.step()
    assert optimizer.lr == 0.05
    before = used.numpy()
    # Newton's step, for a curvature of 1, would go to the end: this is a 20th of it.
    optimizer.step(lambda: (used * used).sum() / 2)
    np.testing.assert_allclose(used.numpy(), before * 0.95)


def test_a_search_that_raises_leaves_parameters_as_the_last_one_did():
    parameters, optimizer, closure = make(rosenbrock, WOLFE)
    others, other, its_closure = make(rosenbrock, {**WOLFE, "max_iter": 1})
    other.step(its_closure)
    assert other.func_evals == 2
    calls = []

    def fails():
        calls.append(0)
        if len(calls) == 3:
            raise OSError("no data")
        return closure()

    with pytest.raises(OSError, match="no data"):
        optimizer.step(fails)
    for p, q in zip(parameters, others, strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
    optimizer.step(closure)
    assert rosenbrock(parameters, mo.array).item() < 1


def test_closures_are_called_in_the_scope_of_a_step():
    weight, seen = mo.ones((2, 2)), []

    def closure():
        product = weight @ weight
        seen.append(str(product.dtype))
        return (product.cast("float32") ** 2).sum()

    optimizer = mo.optim.LBFGS([weight], max_iter=1)
    optimizer.step(closure)
    with mo.amp.autocast("bfloat16"):
        optimizer.step(closure)
    assert seen == ["float32", "bfloat16"] and weight.dtype == "float32"


def test_bad_input():
    w = mo.ones(3)
    bad = [
        ({"lr": -1.0}, "lr is -1.0"),
        ({"max_iter": 0}, "max_iter is 0, expected an integer of at least 1"),
        ({"max_eval": 0}, "max_eval is 0"),
        ({"history_size": 0}, "history_size is 0"),
        ({"tolerance_grad": -1.0}, "tolerance_grad is -1.0"),
        ({"tolerance_change": -1.0}, "tolerance_change is -1.0"),
        ({"line_search_fn": "wolfe"}, "line_search_fn is 'wolfe', expected None or 'strong_w"),
    ]
    for options, text in bad:
        with pytest.raises(ValueError, match=text):
            mo.optim.LBFGS([w], **options)
    for option in ("maximize", "master"):
        with pytest.raises(ValueError, match=f"{option} is True, expected False"):
            mo.optim.LBFGS([{"params": [w], option: True}])
    with pytest.raises(ValueError, match=r"line_search_fn is an array .*, expected None or"):
        mo.optim.LBFGS([w], line_search_fn=np.zeros(2))
    with pytest.raises(ValueError, match="several groups given, expected one"):
        mo.optim.LBFGS([{"params": [w]}, {"params": [mo.ones(2)]}])
    optimizer = mo.optim.LBFGS([w])
    with pytest.raises(ValueError, match="several groups given, expected one"):
        optimizer.add_param_group({"params": [mo.ones(2)]})
    with pytest.raises(TypeError, match=r"closure is .*, expected a function that returns the"):
        optimizer.step((w * w).sum())
    with pytest.raises(TypeError, match=r"the closure returns 3\.0, expected the loss"):
        optimizer.step(lambda: 3.0)
    with pytest.raises(ValueError, match="no"):
        optimizer.step(lambda: mo.ones(3).sum())
    with pytest.raises(TypeError, match=r"expected step\(closure\)"):
        optimizer.apply([w])
    scaler = mo.amp.GradScaler()
    with pytest.raises(TypeError, match=r"scaled, expected step\(closure\)"):
        scaler.step(optimizer, scaler.scale((w * w).sum()))
    with pytest.raises(RuntimeError, match=r"LBFGS\.step is called"):
        mo.jit(lambda x: optimizer.step(lambda: (w * x).sum()))(w)


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 10.0, 300.0])
@pytest.mark.parametrize(
    "curve",
    [
        lambda t: (-t / (t**2 + 2), (t**2 - 2) / (t**2 + 2) ** 2),
        lambda t: ((t + 0.004) ** 5 - 2 * (t + 0.004) ** 4, (t + 0.004) ** 3 * (5 * t - 7.98)),
        lambda t: ((t - 3) ** 2, 2 * (t - 3)),
    ],
)
def test_searches_meet_the_strong_wolfe_conditions(curve, first):
    """At the curves of Moré and Thuente (1994), equations 5.1 and 5.2, and at a parabola."""
    calls = []

    def at(step):
        calls.append(step)
        loss, slope = curve(step)
        return Point(step, loss, np.array([slope]), slope)

    start = at(0.0)
    point = strong_wolfe(at, start, first, 1e-12, 25)
    assert len(calls) - 1 <= 26 and point.step > 0
    assert point.loss <= start.loss + 1e-4 * point.step * start.slope
    assert abs(point.slope) <= -0.9 * start.slope


def test_options_are_checked_where_they_are_used():
    w = mo.ones(3)
    optimizer = mo.optim.LBFGS([w])
    bad = {"line_search_fn": "armijo", "maximize": True, "max_iter": 0, "tolerance_grad": -1.0}
    for name, value in bad.items():
        optimizer = mo.optim.LBFGS([w])
        state = optimizer.state_dict()
        group = {**state["param_groups"][0], name: value}
        with pytest.raises(ValueError, match=f"LBFGS: {name} is "):
            optimizer.load_state_dict({**state, "param_groups": [group]})
        assert getattr(optimizer, name) != value
        setattr(optimizer, name, value)
        with pytest.raises(ValueError, match=f"LBFGS: {name} is "):
            optimizer.step(lambda: (w * w).sum())
    np.testing.assert_array_equal(w.numpy(), 1.0)


def test_gradients_flow_in_the_closure_of_a_step_without():
    w = mo.array(np.array([1.0, -2.0]))
    with mo.no_grad():
        mo.optim.LBFGS([w]).step(lambda: (w * w).sum())
        assert not mo.is_grad_enabled()
    np.testing.assert_allclose(w.numpy(), 0.0, atol=1e-7)


def test_searches_where_the_loss_is_beyond_all_numbers():
    w = mo.array(np.array([3.0]))
    optimizer = mo.optim.LBFGS([w], 100.0, line_search_fn="strong_wolfe", max_iter=100)
    loss = optimizer.step(lambda: mo.exp(w * w).sum())
    assert np.isfinite(w.numpy()).all()
    assert mo.exp(w * w).sum().item() <= loss.item()
    large = Point(1.0, 1e300, np.ones(1), 1e300)
    point = Point(0.0, 0.0, np.ones(1), -1e300)
    assert _interpolate(point, large, 0.25, 0.75) == 0.5


def test_a_search_that_raises_leaves_the_history_as_it_was():
    w = mo.array(np.array([1.0, 2.0]))
    optimizer = mo.optim.LBFGS([w], max_iter=1, line_search_fn="strong_wolfe")
    targets = [3.0, 4.0]

    def closure():
        if not targets:
            raise OSError("no data")
        return ((w * w - targets[0]) ** 2).sum()

    optimizer.step(closure)
    before, at = optimizer.state_dict(), w.numpy()
    calls = []

    def fails():
        calls.append(targets.clear() if calls else None)
        return closure()

    with pytest.raises(OSError, match="no data"):
        optimizer.step(fails)
    np.testing.assert_array_equal(w.numpy(), at)
    after = optimizer.state_dict()
    assert after["n_iter"] == before["n_iter"] == 1
    for name in ("d", "prev_flat_grad", "old_dirs", "old_stps", "ro", "t", "prev_loss", "H_diag"):
        np.testing.assert_array_equal(after[name], before[name])
