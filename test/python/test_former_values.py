# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients are by the values that a loss was made of, or an error; never silently zero.

docs/History.md, "Gradients by what has moved".
"""

import contextlib
import inspect
import pickle

import metaops as mo
import numpy as np
import pytest
from util import close, floats


@pytest.fixture
def start(rng):
    return floats(rng, (3, 2)), floats(rng, (3, 2))


def two_losses(start):
    w, x = mo.array(start[0]), mo.array(start[1])
    return w, (w * w * x).sum(), (w * w * w).sum()


def by(start):
    """Return the gradients of the two losses."""
    w, x = start
    return 2 * w * x, 3 * w * w


REBINDINGS = {
    "step": lambda w, loss: mo.optim.SGD([w], 0.1).step(loss),
    "apply": lambda w, loss: mo.optim.Adam([w], 0.1).apply([mo.grad(loss, w)]),
    "add": lambda w, loss: w.__iadd__(1),
    "item": lambda w, loss: w.__setitem__(0, 5),
    "assign": lambda w, loss: w.assign(w * 0),
    "update": lambda w, loss: w.update(w * 2),
    "twice": lambda w, loss: [w.__iadd__(1), w.__imul__(2)],
}


@pytest.mark.parametrize("name", REBINDINGS)
def test_the_gradient_is_by_the_value_that_the_loss_was_made_of(start, name):
    w, first, second = two_losses(start)
    REBINDINGS[name](w, first)
    close(mo.grad(second, w), by(start)[1])
    close(mo.grad((w * 3).sum(), w), np.full((3, 2), 3))


@pytest.mark.parametrize("name", REBINDINGS)
def test_the_present_value_goes_first(start, name):
    w, first, _ = two_losses(start)
    REBINDINGS[name](w, first)
    close(mo.grad(first + (w * 3).sum(), w), np.full((3, 2), 3))


def test_of_two_former_values_the_youngest_is_meant(start):
    w = mo.array(start[0])
    loss = (w * 2).sum()
    w += 1
    loss += (w * 3).sum()
    w += 1
    close(mo.grad(loss, w), np.full((3, 2), 3))


def test_a_former_value_that_an_update_has_overwritten_is_an_error(start):
    w, _, second = two_losses(start)
    second.sync()
    w.update(w * 2)
    line = inspect.currentframe().f_lineno - 1
    mo.sync([w])
    with pytest.raises(RuntimeError, match=rf"update at \S*test_former_values\.py:{line} "):
        mo.grad(second, w)
    close(second, (start[0] ** 3).sum(), rtol=1e-5)


def test_a_var_of_the_former_value_keeps_it(start):
    w, _, second = two_losses(start)
    old = w.clone()
    second.sync()
    w.update(w * 2)
    mo.sync([w])
    close(mo.grad(second, w), by(start)[1])
    close(mo.grad(second, old), by(start)[1])


def test_a_former_value_that_nobody_held_is_an_error(start):
    w = mo.array(start[0])
    loss = (w * w).sum()
    w += 1
    loss.sync()
    with pytest.raises(RuntimeError, match="before it was rebound"):
        mo.grad(loss, w)


def test_a_value_in_memory_that_a_gradient_reads_is_not_written_over(rng):
    """Nobody holds m, and an update through a view of it has the memory of its own."""
    a = floats(rng, (3, 4)).astype("float64") + 2
    for reads in ("", "y", "r", "ry", "yr"):
        x, r = mo.array(a), mo.array(np.full(4, 0.5))
        m = x.mean(0, keepdims=True)
        y = x * m
        r.update(r * 0.9 + m.reshape(4) * 0.1)
        del m
        for name in reads:
            (y if name == "y" else r).numpy()
        expected = 2 * a * a.mean(0) ** 2 + (2 * a**2 * a.mean(0)).sum(0) / 3
        close(mo.grad((y * y).sum(), x), expected, rtol=1e-10)


@pytest.mark.parametrize("looks", ["running_mean", "sync_all", "again", "eval", "state"])
def test_statistics_may_be_looked_at_between_a_loss_and_its_gradient(rng, looks):
    """As who prints or saves them does, or calls the layer again."""

    def gradients(looks):
        layer = mo.nn.BatchNorm1d(4)
        layer.weight.assign(mo.array(weight))
        x = mo.array(data)
        loss = (layer(x) * mo.array(factor)).sum()
        loss.item()
        if looks == "running_mean":
            layer.running_mean.numpy()
        elif looks == "sync_all":
            mo.sync_all()
        elif looks == "again":
            layer(x * 2).numpy()
        elif looks == "eval":
            layer.eval()(x).numpy()
        elif looks == "state":
            {name: value.numpy() for name, value in layer.state_dict().items()}
        return [g.numpy() for g in mo.grad(loss, [x, layer.weight, layer.bias])]

    data, factor, weight = floats(rng, (16, 4)), floats(rng, (16, 4)), floats(rng, (4,))
    for mine, expected in zip(gradients(looks), gradients(""), strict=True):
        close(mine, expected, rtol=1e-4, atol=1e-5)


def test_what_a_gradient_runs_does_not_end_its_history():
    """A target that is rebound by hand has the loss computed, of which it would be the last."""
    a, v = mo.array([1.0, 2.0, 3.0]), mo.array([4.0, 5.0, 6.0])
    mo.sync_all()
    loss = (a * v).sum()
    a = a - 0.1 * mo.grad(loss, a)
    v += 1
    close(mo.grad(loss, [v, a], allow_unused=True)[0], [1, 2, 3])


def test_a_target_that_is_rebound_after_its_history_has_ended_is_an_error():
    w, v, u = (mo.array([x, 2.0, 3.0]) for x in (1.0, 4.0, 5.0))
    mo.sync_all()
    loss = (w * v).sum() + u.sum()
    mo.optim.SGD([w], 0.1).step(loss)
    mo.sync_all()
    v += 1
    with pytest.raises(RuntimeError, match="update at"):
        mo.grad(loss, [v, u])
    with pytest.raises(RuntimeError, match="update at"):
        mo.optim.SGD([v, u], 0.1).step(loss)


# --- Steps -----------------------------------------------------------------------


@pytest.mark.parametrize("looked", [False, True])
def test_two_steps_are_by_gradients_at_the_values_that_the_losses_saw(start, looked):
    w, first, second = two_losses(start)
    if looked:
        mo.sync([first, second])
    optimizer = mo.optim.SGD([w], 0.1)
    optimizer.step(first)
    optimizer.step(second)
    one, two = by(start)
    close(w, start[0] - 0.1 * (one + two), rtol=1e-5)


def test_a_step_by_several_losses_is_one_by_their_sum(start):
    w, first, second = two_losses(start)
    optimizer = mo.optim.SGD([w], 0.1)
    optimizer.step([first, second])
    assert optimizer.steps == 1
    close(w, start[0] - 0.1 * sum(by(start)), rtol=1e-5)


def test_a_second_step_is_told_behind_a_step_by_another_loss(start):
    w, first, second = two_losses(start)
    optimizer = mo.optim.SGD([w], 0.1)
    optimizer.step(first)
    optimizer.step(second)
    with pytest.raises(ValueError, match="has been stepped by before"):
        optimizer.step(first)
    assert optimizer.steps == 2


def test_a_second_step_by_one_loss_is_an_error(start):
    w, first, _ = two_losses(start)
    optimizer = mo.optim.SGD([w], 0.1)
    optimizer.step(first)
    with pytest.raises(ValueError, match="has been stepped by before"):
        optimizer.step(first)
    assert optimizer.steps == 1
    # Values are told apart by their numbers in this session.
    assert "_stepped" not in pickle.loads(pickle.dumps(optimizer)).__dict__
    # Another one moves parameters of its own by it.
    other = mo.array(start[1])
    mo.optim.SGD([other], 0.1).step((other * 2).sum())


def test_a_step_by_no_loss_is_an_error(start):
    w, _, _ = two_losses(start)
    with pytest.raises(ValueError, match="no losses given"):
        mo.optim.SGD([w], 0.1).step([])


@pytest.mark.parametrize("make", [mo.optim.SGD, mo.optim.Adam, mo.optim.AdamW, mo.optim.RMSprop])
def test_a_parameter_that_the_loss_never_saw_stays(make, rng):
    """With its state, and its count of steps."""
    options = {"momentum": 0.9} if make is mo.optim.SGD else {}
    options |= {"weight_decay": 0.1}
    seen, other = (mo.array(floats(rng, (2,))) for _ in range(2))
    optimizer = make([seen, other], lr=0.1, **options)
    optimizer.step((seen * seen).sum() + (other * other).sum())
    before = other.numpy()
    state = {k: v.numpy() for k, v in optimizer.state_dict().items() if k.endswith(".1")}
    optimizer.step((seen * seen).sum())
    same = {k: v.numpy() for k, v in optimizer.state_dict().items() if k.endswith(".1")}
    np.testing.assert_array_equal(other.numpy(), before)
    for name, value in state.items():
        np.testing.assert_array_equal(same[name], value)
    # The next step of it is its second, as if there had been none between.
    alone = mo.array(before)
    lonely = make([alone], lr=0.1, **options)
    lonely.load_state_dict(
        {"steps": 1, "param_groups": optimizer.state_dict()["param_groups"]}
        | {name.replace(".1", ".0"): value for name, value in state.items()}
    )
    optimizer.step((other * other).sum())
    lonely.step((alone * alone).sum())
    close(other, alone, rtol=1e-6)


def test_a_step_that_has_failed_does_not_count(rng):
    w, table = mo.array(floats(rng, (3,))), mo.array(floats(rng, (10,)))
    optimizer = mo.optim.Adam([w], 0.1)
    for step in range(6):
        loss = (w * table[mo.array([1, 2, 30 if step % 3 == 2 else 3])]).sum()
        optimizer.step(loss)
        if step % 3 == 2:
            with pytest.raises(IndexError, match="index 30 is out of range"):
                loss.item()
        else:
            loss.item()
        assert optimizer.steps == step + 1 - (step + 1) // 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_step_that_fails_for_an_earlier_one_does_not_count(asynchronous):
    """Nobody looks at the losses, so the bad batch comes to light with the next step."""
    with mo.flag_scope(asynchronous=asynchronous):
        w, table = mo.array([1.0, 2.0, 3.0]), mo.array(np.arange(10, dtype="float32"))
        optimizer = mo.optim.SGD([w], 0.1)
        for index in (3, 30, 3, 3):
            with contextlib.suppress(IndexError):
                optimizer.step((w * table[mo.array([1, 2, index])]).sum())
        with contextlib.suppress(IndexError):
            w.numpy()
        moved = w.numpy()
    assert optimizer.steps * 0.1 == pytest.approx(1.0 - moved[0], abs=1e-6)


# --- Targets that a loss does not depend on -------------------------------------------


def test_a_loss_that_depends_on_no_target_is_an_error(start):
    w, first, _ = two_losses(start)
    other = mo.array(start[0])
    with pytest.raises(ValueError, match="does not depend on any of the targets"):
        mo.grad(first, other)
    close(mo.grad(first, other, allow_unused=True), np.zeros((3, 2)))
    close(mo.grad(first, [w, other])[1], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="does not depend on target 1"):
        mo.grad(first, [w, other], allow_unused=False)


def test_derivatives_that_are_zero_everywhere_are_no_error(start):
    w = mo.array(start[0])
    close(mo.grad(mo.sign(w).sum(), w), np.zeros((3, 2)))
    (g,) = mo.grad((w * 2).sum(), [w])
    close(mo.grad(g.sum(), w, allow_unused=True), np.zeros((3, 2)))
