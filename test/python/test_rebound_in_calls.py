# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients by tensors that calls inside of calls rebind are whole.

docs/History.md, "Gradients by what has moved": the last value within a call and the one behind
it are one, in however many calls it is.
"""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, floats

pytestmark = pytest.mark.processor

CALLS = 5

WRAPS = {
    "checkpoint": mo.checkpoint,
    "two checkpoints": lambda f: mo.checkpoint(mo.checkpoint(f)),
    "three checkpoints": lambda f: mo.checkpoint(mo.checkpoint(mo.checkpoint(f))),
    "a function between": lambda f: mo.checkpoint(lambda *a: mo.checkpoint(f)(*a)),
    "call": mo.jit,
    "call of a checkpoint": lambda f: mo.jit(mo.checkpoint(f)),
    "call of two checkpoints": lambda f: mo.jit(mo.checkpoint(mo.checkpoint(f))),
    "call in a checkpoint": lambda f: mo.checkpoint(mo.jit(f)),
    "call in a call": lambda f: mo.jit(mo.jit(f)),
    "checkpoint of a call of a checkpoint": lambda f: mo.checkpoint(mo.jit(mo.checkpoint(f))),
}

LOSSES = {
    "both": lambda r, v: (r * r + v * 3).sum(),
    "result": lambda r, v: (r * r).sum(),
    "tensor": lambda r, v: (v * v).sum(),
}


def update_once(x, v):
    v.update(x * v)
    return v * x


def update_twice(x, v):
    v.update(x * v)
    first = v * x
    v.update(mo.sin(v) + x)
    return first * v


def update_behind(x, v):
    result = v * v * x
    v.update(result + 1)
    return result


FUNCTIONS = [update_once, update_twice, update_behind]


@pytest.fixture
def start(rng):
    return floats(rng, (3,)).astype("float64") + 2, floats(rng, (3,)).astype("float64") + 4


def gradients(call, loss, start):
    """Return those by x and v; an error where the history ends with the call."""
    x, v = mo.array(start[0]), mo.array(start[1])
    result = call(x, v)
    value = loss(result, v)
    found = []
    for target in (x, v):
        try:
            found.append(mo.grad(value, target, allow_unused=True).numpy())
        except RuntimeError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("wrap", WRAPS)
def test_gradients_by_what_is_updated_are_those_without_calls(start, wrap, function, loss):
    expected = gradients(function, LOSSES[loss], start)
    call = WRAPS[wrap](function)
    for _ in range(CALLS):
        for found, plain in zip(gradients(call, LOSSES[loss], start), expected, strict=True):
            if isinstance(found, str):
                # A call has written over what its result is made of.
                assert "the call of a recorded function at" in found
                assert function is update_behind and wrap.startswith("call")
            else:
                close(found, plain, rtol=1e-12)


@pytest.mark.parametrize("wrap", WRAPS)
def test_gradients_are_differences(start, wrap):
    """By the value behind the call, wherever it is read."""
    x, v = mo.array(start[0]), mo.array(start[1])
    result = WRAPS[wrap](update_once)(x, v)
    found = mo.grad((result * result + v * 3).sum(), v).numpy()
    behind = start[0] * start[1]

    def loss(value):
        return ((value * start[0]) ** 2 + value * 3).sum()

    for place in range(3):
        step = np.eye(3)[place] * 1e-5
        close(found[place], (loss(behind + step) - loss(behind - step)) / 2e-5, rtol=1e-7)


@pytest.mark.parametrize("wrap", ["two checkpoints", "a function between"])
def test_tensors_that_a_checkpoint_makes_and_another_one_updates(start, wrap):
    def function(x, v):
        h = x * v
        y = inner(x, h)
        return h, y

    def gradient(call):
        x, v = mo.array(start[0]), mo.array(start[1])
        h, y = call(x, v)
        return mo.grad((y * y + h * 3).sum(), h).numpy()

    inner = update_once
    expected = gradient(function)
    inner = mo.checkpoint(update_once)
    close(gradient(WRAPS[wrap](function)), expected, rtol=1e-12)


@pytest.mark.parametrize("wrap", ["two checkpoints", "a function between"])
def test_moving_with_all_values(start, wrap):
    """Forward mode."""
    moved = []
    for call in (update_once, WRAPS[wrap](update_once)):
        x, v = mo.array(start[0]), mo.array(start[1])
        result = call(x, v)
        (tangent,) = mo.jvp([result * result + v * 3], [v], [mo.array(start[1])])
        moved.append(tangent.numpy())
    close(moved[1], moved[0], rtol=1e-12)


@pytest.mark.parametrize("looks", ["no", "before", "result", "loss"])
@pytest.mark.parametrize("wrap", ["call of a checkpoint", "call of two checkpoints"])
def test_statistics_in_a_call_leave_gradients_by_what_lies_before(rng, wrap, looks):
    values = floats(rng, (8, 4))

    def train(wraps):
        mo.seed(3)
        before, norm, behind = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)
        layer = wraps(norm)
        found = []
        for step in range(CALLS):
            h = before(mo.array(values + step))
            if looks == "before":
                h.sync()
            y = layer(h)
            if looks == "result":
                y.sync()
            loss = (behind(y) ** 2).mean()
            if looks == "loss":
                loss.item()
            found += [g.numpy() for g in mo.grad(loss, [before.weight, norm.weight])]
            found.append(norm.running_mean.numpy())
        return found

    for found, plain in zip(train(WRAPS[wrap]), train(lambda layer: layer), strict=True):
        close(found, plain, rtol=1e-4, atol=1e-5)


def test_of_two_tensors_that_a_call_rebinds_each_has_its_gradient(start):
    """Where one is made of the other, the one that it is made of has an error, or all of it."""

    def step(x, w, v):
        w += x
        v += x * 2

    call = mo.jit(step)
    for _ in range(CALLS):
        x, w, v = mo.array(start[0]), mo.array(start[1]), mo.array(start[1] * 2)
        call(x, w, v)
        loss = (w * v * x).sum()
        close(mo.grad(loss, w), v.numpy() * start[0], rtol=1e-12)
        close(mo.grad(loss, v), w.numpy() * start[0], rtol=1e-12)

    def chained(x, w, v):
        w += x
        v += w

    call = mo.jit(chained)
    for _ in range(CALLS):
        x, w, v = mo.array(start[0]), mo.array(start[1]), mo.array(start[1] * 2)
        call(x, w, v)
        loss = (w * v * x).sum()
        close(mo.grad(loss, v), w.numpy() * start[0], rtol=1e-12)
        with pytest.raises(RuntimeError, match="the call of a recorded function at"):
            mo.grad(loss, w)


TWO_RESULTS = {
    "loop": lambda v, w: mo.fori_loop(0, 1, lambda _, c: (c[0] * 2.0, c[1] * 2.0), (v, w)),
    "branch": lambda v, w: mo.cond(mo.sum(v) > 0, lambda: (v * 2.0, w * 2.0), lambda: (v, w)),
    "checkpoint": lambda v, w: mo.checkpoint(lambda p, q: (p * 2.0, q * 2.0))(v, w),
    "two operations": lambda v, w: (v * 2.0, w * 2.0),
}


def whole_or_none(loss, by, right):
    """Check that the gradient is right, or an error."""
    try:
        gradient = mo.grad(loss, by)
    except RuntimeError as error:
        assert "grad: " in str(error)
        return
    close(gradient, right)


@pytest.mark.parametrize("results", TWO_RESULTS)
@pytest.mark.parametrize("rebind", ["assign", "update"])
@pytest.mark.parametrize("calls", [1, 3])
def test_call_that_rebinds_two_by_results_of_one_operation(results, rebind, calls):
    def f(a, v, w):
        p, q = TWO_RESULTS[results](v, w)
        getattr(w, rebind)(q * 1.0)
        a += p
        return a * 3.0

    call = mo.jit(f)
    for _ in range(calls):
        a, v, w = (mo.array(np.array(x)) for x in ([0.5, 0.7], [1.0, 1.3], [2.0, 1.0]))
        t = call(a, v, w)
    whole_or_none((t + a).sum(), a, np.array([4.0, 4.0]))


@pytest.mark.parametrize("wrap", ["checkpoint", "two checkpoints"])
@pytest.mark.parametrize("ask", [True, False])
def test_what_a_checkpoint_that_updates_has_read_is_updated(wrap, ask):
    """The history of its result goes with the last tensor that it was made of."""
    start, factor = np.array([0.5, 0.7]), np.array([3.0, 5.0])
    a, b, v = mo.array(start), mo.array(factor), mo.array(start * 2)

    def f(a, b, v):
        v.update(mo.sin(a))
        return b * mo.sin(v)

    t = WRAPS[wrap](f)(a, b, v)
    b += v
    if ask:
        t.sync()
    u = mo.sin(t)
    a.update(v + mo.stop_grad(u.detach()))
    loss = (u * b).sum()
    loss.sync()
    x = np.sin(start)
    inside = factor * np.sin(x)
    right = np.sin(inside) + np.cos(inside) * factor * np.cos(x) * (factor + x)
    whole_or_none(loss, v, right)
