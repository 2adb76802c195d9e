# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients around what calls of recorded functions, and checkpoints, rebind.

They are those of the same thing without a call, or an error: never a part of them.
docs/Jit.md, "What a call runs", and docs/History.md, "Gradients by what has moved".
"""

import metaops as mo
import numpy as np
import pytest
from util import close, floats

pytestmark = pytest.mark.processor

CALLS = 6


def result_is_added(x, w):
    h = x * 2
    w += h
    return h


def result_without_history_is_added(x, w):
    h = mo.random.normal(shape=(3,), dtype="float64") * 0 + 2
    w += h
    return h


def result_is_a_part(x, w):
    h = x * 2
    w[0] = h[1]
    return h


def result_is_assigned(x, w):
    h = x * 2
    w.assign(h * w)
    return h


def result_is_the_value(x, w):
    h = x * 2 + w
    w.assign(h)
    return h


def made_behind(x, w):
    w += x
    return w * w


def made_of_what_is_assigned(x, w):
    w.assign(x * 2)
    return w * w


def made_before(x, w):
    y = w * w
    w += x
    return y


def made_between(x, w):
    w += x
    y = w * w
    w *= x
    return y


def made_of_an_update(x, w):
    w.update(w + x)
    return w * w


FUNCTIONS = [
    result_is_added,
    result_without_history_is_added,
    result_is_a_part,
    result_is_assigned,
    result_is_the_value,
    made_behind,
    made_of_what_is_assigned,
    made_before,
    made_between,
    made_of_an_update,
]

LOSSES = {
    "behind": lambda x, w, y: (w * w).sum(),
    "within": lambda x, w, y: (y * 3).sum(),
    "both": lambda x, w, y: (w * w + y * 3).sum(),
    "all": lambda x, w, y: (w * w * x + y * 3).sum(),
}


@pytest.fixture
def start(rng):
    return floats(rng, (3,)).astype("float64") + 2, floats(rng, (3,)).astype("float64") + 4


def gradients(function, loss, start):
    """Return those by x, w and the result, or the errors that say why there are none."""
    x, w = mo.array(start[0]), mo.array(start[1])
    value = loss(x, w, result := function(x, w))
    found = []
    for target in (x, w, result):
        try:
            found.append(mo.grad(value, target, allow_unused=True).numpy())
        except RuntimeError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_behind_a_call_are_whole(start, function, loss):
    plain = gradients(function, LOSSES[loss], start)
    call = mo.jit(function)
    for _ in range(CALLS):
        for found, expected in zip(gradients(call, LOSSES[loss], start), plain, strict=True):
            if isinstance(found, str):
                assert "the call of a recorded function at" in found
                assert "return the new value from it, and rebind behind the call" in found
                assert "test_jit_rebound.py:" in found
            else:
                close(found, expected, rtol=1e-12)


@pytest.mark.parametrize("pending", ["x", "w", "both"])
def test_what_is_pending_is_no_reason_for_a_part(start, pending):
    """Where the call has not been run yet, gradients are whole as well, or errors."""

    def step(x, w, v):
        w.assign(w + x)
        v.assign(v + w)

    def found(call, loss):
        x, w, v = mo.array(start[0]), mo.array(start[1]), mo.array(start[1] * 2)
        if pending != "w":
            x = x * 1
        if pending != "x":
            w += 0
        call(x, w, v)
        return mo.grad(loss(w, v), w, allow_unused=True).numpy()

    call = mo.jit(step)
    for loss in (lambda w, v: v.sum(), lambda w, v: (v * w).sum()):
        expected = found(step, loss)
        assert np.abs(expected).min() > 0
        for _ in range(CALLS):
            with pytest.raises(RuntimeError, match="the call of a recorded function at"):
                found(call, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_behind_a_checkpoint_are_those_without(start, function, loss):
    def call(x, w):
        return mo.checkpoint(lambda t: function(t, w))(x)

    plain = gradients(function, LOSSES[loss], start)
    for found, expected in zip(gradients(call, LOSSES[loss], start), plain, strict=True):
        close(found, expected, rtol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_new_value_may_be_rebound_behind_the_call(start, function):
    """As the error says."""

    def apart(x, w):
        own = w.clone()
        return function(x, own), own

    call = mo.jit(apart)

    def rebinding(x, w):
        result, new = call(x, w)
        w.assign(new)
        return result

    for loss in LOSSES.values():
        plain = gradients(function, loss, start)
        for _ in range(CALLS):
            found = gradients(rebinding, loss, start)
            # A value updated in the function is no more than a value of it.
            for mine, expected in zip(found, plain, strict=True):
                if not isinstance(mine, str) and function is not made_of_an_update:
                    close(mine, expected, rtol=1e-12)


def test_another_tensor_is_made_of_what_is_assigned_later(start):
    def function(x, w, v):
        h = w + x
        v.assign(v + h)
        w.assign(h)

    def gradient(call):
        x, w, v = mo.array(start[0]), mo.array(start[1]), mo.array(start[1] * 2)
        call(x, w, v)
        return mo.grad((v * w).sum(), w)

    assert np.abs(gradient(function).numpy()).min() > 0
    call = mo.jit(function)
    for _ in range(CALLS):
        with pytest.raises(RuntimeError, match="the call of a recorded function at"):
            gradient(call)


def test_what_was_made_of_the_value_before_is_no_error(start):
    """A loss of a former step beside one of what it has rebound is by the present value."""

    @mo.jit
    def step(x, w):
        loss = (w * w * x).sum()
        w -= 0.1 * mo.grad(loss, w)
        return loss

    w = mo.array(start[1])
    for _ in range(CALLS):
        loss = step(mo.array(start[0]), w)
        close(mo.grad((w * w).sum() + loss, w), 2 * w.numpy(), rtol=1e-12)


def test_moving_with_both_values(start):
    """Forward mode."""

    def call(x, w):
        return mo.checkpoint(lambda t: made_of_an_update(t, w))(x)

    tangent = mo.array(start[0])
    moved = []
    for function in (made_of_an_update, call):
        x, w = mo.array(start[0]), mo.array(start[1])
        result = function(x, w)
        moved.append(mo.jvp([result * 3 + w * w], [w], [tangent])[0].numpy())
    close(moved[1], moved[0], rtol=1e-12)


# --- Tensors that a call makes, rebinds and returns ------------------------------------


def rebound_once(x, w):
    h = x * 2
    y = h * h
    h += w
    return h, y, y


def rebound_twice(x, w):
    h = x * 2
    y = h * h
    h += w
    z = h * h * h
    h[0] = 1
    return h, y, z


def without_history(x, w):
    h = mo.random.normal(shape=(3,), dtype="float64") * 0 + 2
    y = h * h
    h += 1
    return h, y, y


MADE = {
    "first": lambda h, y, z: (y * 3).sum(),
    "second": lambda h, y, z: (z * 5).sum() + (y * 3).sum(),
    "present": lambda h, y, z: (z * 5).sum() + (y * h).sum(),
}


@pytest.mark.parametrize("loss", MADE)
@pytest.mark.parametrize("function", [rebound_once, rebound_twice, without_history])
def test_former_values_of_what_a_call_returns(start, function, loss):
    x, w = mo.array(start[0]), mo.array(start[1])

    def gradient(call):
        h, y, z = call(x, w)
        return mo.grad(MADE[loss](h, y, z), h)

    expected = gradient(function).numpy()
    close(gradient(mo.checkpoint(function)), expected, rtol=1e-12)
    inner = mo.jit(function)
    outer = mo.jit(lambda x, w: inner(x, w))
    for call in (inner, outer):
        for _ in range(CALLS):
            try:
                close(gradient(call), expected, rtol=1e-12)
            except RuntimeError as error:
                # Values without history are computed in the call.
                assert function is without_history
                assert "before it was rebound" in str(error) or "recorded function" in str(error)


def test_a_former_value_is_no_zero_beside_another_target(start):
    call = mo.jit(without_history)
    for _ in range(CALLS):
        x, w = mo.array(start[0]), mo.array(start[1])
        h, y, _ = call(x, w)
        with pytest.raises(RuntimeError, match="rebound"):
            mo.grad((y * x).sum(), [x, h])


def test_gradients_in_a_function_that_calls_another(start):
    @mo.jit
    def gradient(x, w):
        h, y, z = mo.jit(rebound_twice)(x, w)
        return mo.grad((z * 5).sum() + (y * 3).sum(), h)

    h, y, z = rebound_twice(mo.array(start[0]), mo.array(start[1]))
    expected = mo.grad((z * 5).sum() + (y * 3).sum(), h).numpy()
    for _ in range(CALLS):
        close(gradient(mo.array(start[0]), mo.array(start[1])), expected, rtol=1e-12)


def test_a_checkpoint_that_updates_in_a_recorded_function(start):
    def gradient(x, w):
        y = mo.checkpoint(lambda t: made_of_an_update(t, w))(x)
        return mo.grad((y * 3 + w * w).sum(), w)

    x, w = mo.array(start[0]), mo.array(start[1])
    y = made_of_an_update(x, w)
    expected = mo.grad((y * 3 + w * w).sum(), w).numpy()
    call = mo.jit(gradient)
    for _ in range(CALLS):
        close(call(mo.array(start[0]), mo.array(start[1])), expected, rtol=1e-12)
    assert np.abs(expected).min() > 1
