# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients by tensors that functions have returned, rebound or been given, as Python has them."""

import metaops as mo
import numpy as np
import pytest


def leaf(seed, *shape):
    return mo.array(np.random.default_rng(seed).standard_normal(shape or (3,)))


def plain(fn):
    return fn


#: Ways through which functions are called.
WRAPPERS = {
    "jit": mo.jit,
    "checkpoint": mo.checkpoint,
    "checkpoint in jit": lambda fn: mo.jit(mo.checkpoint(fn)),
    "jit in checkpoint": lambda fn: mo.checkpoint(mo.jit(fn)),
    "jit in jit": lambda fn: mo.jit(lambda *args: mo.jit(fn)(*args)),
    "checkpoint in checkpoint": lambda fn: mo.checkpoint(lambda *args: mo.checkpoint(fn)(*args)),
}


def numbers(result):
    several = result if isinstance(result, list | tuple) else [result]
    return [each.numpy() for each in several]


def assert_as_plain(program, wrap):
    """Assert that a program of a wrapper of functions gives what it gives without."""
    for expected, got in zip(numbers(program(plain)), numbers(program(wrap)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


wrapped = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS.keys())


# --- Results


@pytest.mark.parametrize("which", range(6))
@wrapped
def test_results_that_are_made_of_each_other(wrap, which):
    def program(wrap):
        def fn(x):
            a = mo.exp(x)
            b = a * x
            return a, b, mo.sin(b) * a, mo.sin(x)

        x = leaf(0)
        a, b, c, other = wrap(fn)(x)
        loss, by = [
            (c.sum(), [a]),
            ((c * c + a).sum(), [a, x]),
            ((c * b * a).sum(), [b, a, x]),
            ((c + other).sum(), [b, other]),
            ((other * a * c).sum(), [c, other, a]),
            ((b * other).sum(), [a, b, other, x]),
        ][which]
        return mo.grad(loss, by)

    assert_as_plain(program, wrap)


@wrapped
def test_second_derivatives_by_results(wrap):
    def program(wrap):
        def fn(x):
            a = mo.exp(x)
            return a, a * a * a * x, mo.tanh(a)

        x = leaf(1)
        a, b, c = wrap(fn)(x)
        (by_a,) = mo.grad((a * b * c).sum(), [a])
        by_x = mo.grad((a * b * c).sum(), x)
        return [*mo.grad((by_a * by_a).sum(), [a, x]), *mo.grad((by_x * by_x).sum(), [a, x])]

    assert_as_plain(program, wrap)


@wrapped
def test_tangents_by_results(wrap):
    def program(wrap):
        def fn(x):
            a = mo.exp(x)
            return a, mo.sin(a) * x

        x, t, u = leaf(2), leaf(3), leaf(4)
        a, b = wrap(fn)(x)
        moved = mo.jvp([b * a, a], [a], [t])
        both = mo.jvp([b * a, a], [a, x], [t, u])
        return [*moved, *both, mo.grad((moved[0] * both[0]).sum(), a)]

    assert_as_plain(program, wrap)


@wrapped
def test_results_are_held_when_what_they_are_made_of_is_not(wrap):
    def program(wrap):
        a, b = wrap(lambda x: (x * 2, mo.exp(x * 2)))(leaf(5) * 1)
        mo.sync([a, b])
        loss = (a * a + b).sum()
        loss.item()
        return mo.grad(loss, a)

    assert_as_plain(program, wrap)


@wrapped
def test_by_the_last_of_the_results_the_first_is_made_of(wrap):
    def program(wrap):
        def fn(x):
            a = mo.exp(x)
            return mo.sin(a), a

        b, a = wrap(fn)(leaf(6))
        return mo.grad((a * b).sum(), a)

    assert_as_plain(program, wrap)


def test_a_loop_between_results_is_missing_its_gradient():
    def fn(x):
        a = mo.exp(x)
        return a, mo.while_loop(lambda h: h.sum() < 100, lambda h: h * h, a)

    x = mo.array([1.0, 2.0])
    a, b = mo.checkpoint(fn)(x)
    with pytest.raises(RuntimeError, match="a loop whose number of trips is only known when"):
        mo.grad(b.sum(), a)
    np.testing.assert_allclose(mo.grad((a * a).sum(), a).numpy(), 2 * a.numpy())


# --- Branches and loops


def test_results_of_branches_and_loops_that_are_made_of_each_other_are_errors():
    x = leaf(7)

    def pair(x):
        a = mo.exp(x)
        return a, a * x

    def apart(x):
        return mo.exp(x), mo.sin(x)

    def trip(carry, row):
        h, _ = pair(carry[0])
        return (h, h * row), h

    for a, b in (
        mo.cond(x.sum() < 1e9, pair, apart, x),
        mo.cond(x.sum() < 1e9, apart, pair, x),
        mo.scan(trip, (x, x), leaf(8, 100, 3))[0],
        mo.while_loop(lambda c: c[0].sum() < 5, lambda c: pair(c[0]), (x, x), 9),
    ):
        for by in (a, [a, x]):
            with pytest.raises(RuntimeError, match="the target is a result of the branch or loop"):
                mo.grad((a + b).sum(), by)
        with pytest.raises(RuntimeError, match="jvp: the target is a result of the branch or"):
            mo.jvp([b], [a], [mo.ones(3, "float64")])
        np.testing.assert_allclose(mo.grad((a * a * b).sum(), b).numpy(), (a * a).numpy())
        copy = a * 1
        np.testing.assert_allclose(mo.grad((copy * b).sum(), copy).numpy(), b.numpy())
    a, b = mo.cond(x.sum() < 1e9, apart, apart, x)
    np.testing.assert_allclose(mo.grad((a * b).sum(), a).numpy(), b.numpy())
    (h, _), rows = mo.scan(trip, (x, x), leaf(8, 100, 3))
    np.testing.assert_allclose(mo.grad((h * rows.sum(0)).sum(), rows).numpy()[7], h.numpy())


# --- Tensors that functions rebind


def add(x):
    before = x * x
    x += 1
    return before + x * x * x


def add_twice(x):
    x *= 2
    between = x * x
    x *= 3
    return between


def add_after(x):
    x += 1
    return x * x * x


def add_to_two(x):
    before = x * x
    x += 1
    return before, x * x * x


def update(x):
    before = x * x
    x.update(x + 1)
    return before + x * x * x


def update_twice(x):
    before = x * x
    x.update(x * 2)
    between = x * x
    x.update(x * 3)
    return before + between


def set_item(x):
    before = x * x
    x[0] = 5.0
    return before + x * x * x


def assign(x):
    before = x * x
    x.assign(x * 3)
    return before + x * x * x


REBINDING = [add, add_twice, add_after, add_to_two, update, update_twice, set_item, assign]


@pytest.mark.parametrize("body", REBINDING, ids=lambda body: body.__name__)
@pytest.mark.parametrize("is_given", [True, False])
@wrapped
def test_by_what_a_call_has_rebound(wrap, body, is_given):
    """The gradient is by the youngest value that the loss was made of."""

    def program(wrap):
        base = leaf(9)
        x = base * 2
        y = wrap(body)(x) if is_given else wrap(lambda one: body(x) * one)(mo.ones(3, "float64"))
        loss = (y[0] + y[1] if isinstance(y, tuple) else y).sum()
        return [loss, mo.grad(loss, x)]

    assert_as_plain(program, wrap)


@pytest.mark.parametrize("body", REBINDING, ids=lambda body: body.__name__)
@wrapped
def test_inside_by_what_is_rebound(wrap, body):
    def program(wrap):
        def fn(x):
            y = body(x)
            return mo.grad(y[0] + y[1] if isinstance(y, tuple) else y, x)

        return wrap(fn)(leaf(10) * 1)

    assert_as_plain(program, wrap)


@pytest.mark.parametrize("body", REBINDING, ids=lambda body: body.__name__)
def test_behind_launched_calls_it_is_right_or_an_error(body):
    """Never a part of itself."""
    jitted = mo.jit(body)
    for number in range(5):
        y = []
        for fn in (body, jitted):
            x = leaf(number)
            made = fn(x)
            loss = (made[0] + made[1] if isinstance(made, tuple) else made).sum()
            try:
                y.append(mo.grad(loss, x).numpy())
            except RuntimeError as error:
                assert "test_targets.py" in str(error)
                assert fn is jitted
        if len(y) == 2:
            np.testing.assert_allclose(y[1], y[0])


# --- Tensors that are made of each other outside


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("which", range(7))
@pytest.mark.parametrize("name", ["jit", "jit in jit"])
def test_gradients_inside_go_around_through_what_was_made_outside(name, which, look):
    def program(wrap):
        base = leaf(11)
        made = base * base
        if look:
            made.numpy()

        def captured(x):
            return mo.grad((x * base * made).sum(), base)

        def given(x, y):
            return mo.grad((x * y).sum(), x)

        def unused(x, y):
            return mo.grad((y * y).sum(), x, allow_unused=True)

        def moved(x, y):
            return mo.jvp([x * y], [x], [mo.ones(3, "float64")])[0]

        fn, args = [
            (captured, (leaf(12),)),
            (given, (base, made)),
            (given, (made, base)),
            (unused, (base, made)),
            (moved, (base, made)),
            (
                lambda x: mo.grad(mo.checkpoint(lambda y: x * y * made)(base).sum(), base),
                (leaf(1),),
            ),
            (lambda x: mo.checkpoint(captured)(x), (leaf(13),)),
        ][which]
        fn = wrap(fn)
        return [fn(*args), fn(*args), fn(*args)]

    # A checkpoint itself says that it cannot; a recorded function around it goes the same way.
    if which == 6:
        for wrap in (plain, WRAPPERS[name]):
            with pytest.raises(RuntimeError, match="of which another one that is used there is"):
                program(wrap)
        return
    assert_as_plain(program, WRAPPERS[name])


def test_a_step_whose_input_was_made_of_the_parameters():
    def run(wrap):
        mo.seed(0)
        w = leaf(14)
        optimizer = mo.optim.SGD([w], 0.1)
        losses = []

        def step(h):
            loss = ((h * w - 1) ** 2).sum()
            optimizer.step(loss)
            return loss

        step = wrap(step)
        for number in range(6):
            # Every second input has a history through the parameter.
            losses.append(step(mo.sin(w) if number % 2 else leaf(number)).item())
        assert optimizer.steps == 6
        return [mo.array(losses), w]

    assert_as_plain(run, mo.jit)


def test_a_checkpoint_in_a_recorded_function_returns_arguments_themselves() -> None:
    def step(a: mo.Var) -> mo.Var:
        y = mo.checkpoint(lambda b: b)(a)
        y += 1
        return a * 1

    plain = step(mo.array([1.0, 2.0])).numpy().tolist()
    jitted = mo.jit(step)
    for _ in range(3):
        assert jitted(mo.array([1.0, 2.0])).numpy().tolist() == plain == [2, 3]
    x = mo.array([1.0, 2.0])
    y, z = mo.jit(mo.checkpoint(lambda a: (a, a * 2)))(x)
    (gradient,) = mo.grad((x * z).sum(), [y])
    assert gradient.numpy().tolist() == [4, 8]
