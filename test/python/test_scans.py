# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans: loops over rows, with gradients of any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import metaops as mo
import numpy as np
import pytest


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> mo.Var:
    return mo.array(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def unrolled(f: Callable, init: Any, xs: Any, trips: int, reverse: bool = False) -> tuple:
    """Return what a scan does, by a loop of Python."""
    made = []
    order = range(trips)[::-1] if reverse else range(trips)
    for t in order:
        init, y = f(init, mo.tree_map(lambda x, t=t: x[t], xs))
        made.append(y)
    if reverse:
        made.reverse()
    return init, mo.tree_map(lambda *ys: mo.stack(ys), *made) if made else None


W = 0.5 * numbers(3, 3, seed=10)
B = numbers(3, seed=11)


def cell(h: mo.Var, x: mo.Var) -> tuple:
    h = mo.tanh(x + h @ W + B)
    return h, h


def many(carry: dict, x: dict) -> tuple:
    """Carries of several types, one that stays, rows used twice, and a branch."""
    h, count = carry["h"], carry["count"]
    h = mo.cond(h.sum() > 0, lambda: h * x["a"] + B, lambda: mo.sin(h) + x["a"] * x["a"])
    stays = carry["stays"]
    y = {"y": h * stays, "pair": (count, h.sum())}
    return {"h": h, "count": count + 1, "stays": stays}, y


def nested(h: mo.Var, x: mo.Var) -> tuple:
    """A scan in a scan, over what is outside, and over what is inside."""
    inner, rows = mo.scan(lambda c, w: (c * w + x, c.sum()), h, W)
    return inner * 0.5, rows * x


def squared(total: mo.Var, x: mo.Var) -> tuple:
    """Rows that only the carry reads."""
    return total + (x * x).sum(), None


CASES = {
    "cell": (cell, lambda: numbers(2, 3), lambda t: numbers(t, 2, 3, seed=1)),
    "many": (
        many,
        lambda: {"h": numbers(3), "count": 0, "stays": numbers(3, seed=2)},
        lambda t: {"a": numbers(t, 3, seed=1)},
    ),
    "nested": (nested, lambda: numbers(3), lambda t: numbers(t, 3, seed=1)),
    "squared": (squared, lambda: numbers(), lambda t: numbers(t, 5, seed=1)),
}


def compare(mine: Any, expected: Any, rtol: float = 1e-9) -> None:
    for a, b in zip(mo.tree_leaves(mine), mo.tree_leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("trips", [0, 1, 2, 7])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unroll", [False, None, 3])
def test_it_is_the_loop_unrolled(name: str, reverse: bool, trips: int, unroll: Any) -> None:
    f, init, rows = CASES[name]
    xs = rows(trips)
    last, ys = mo.scan(f, init(), xs, reverse=reverse, unroll=unroll)
    start = mo.tree_map(lambda x: x if isinstance(x, mo.Var) else mo.array(x), init())
    expected_last, expected = unrolled(f, start, xs, trips, reverse)
    compare(last, expected_last)
    if trips:
        compare(ys, expected)
    for y in mo.tree_leaves(ys):
        assert y.shape[0] == trips


def loss_of(last: Any, ys: Any) -> mo.Var:
    leaves = [x for x in mo.tree_leaves([last, ys]) if "float" in x.dtype]
    return sum((x * x * (k + 1)).sum() for k, x in enumerate(leaves))


@pytest.mark.parametrize(
    ("trips", "unroll"), [(0, False), (1, False), (4, False), (4, True), (4, 3)]
)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("looked_at", [False, True])
def test_gradients_of_three_orders(
    name: str, reverse: bool, trips: int, unroll: Any, looked_at: bool
) -> None:
    f, make_init, rows = CASES[name]
    init, xs = make_init(), rows(trips)
    targets = [x for x in mo.tree_leaves([init, xs]) if isinstance(x, mo.Var)] + [W, B]

    def orders(run: Callable) -> list[mo.Var]:
        loss = loss_of(*run())
        if looked_at:
            loss.item()
        found = []
        for _ in range(3):
            gradients = mo.grad(loss, targets, allow_unused=True)
            found += gradients
            loss = sum((g * g).sum() for g in gradients)
        return found

    start = mo.tree_map(lambda x: x if isinstance(x, mo.Var) else mo.array(x), init)
    mine = orders(lambda: mo.scan(f, init, xs, reverse=reverse, unroll=unroll))
    compare(mine, orders(lambda: unrolled(f, start, xs, trips, reverse)), rtol=1e-7)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unroll", [False, 3])
def test_forward_mode_of_two_orders(name: str, unroll: Any) -> None:
    f, make_init, rows = CASES[name]
    init, xs = make_init(), rows(4)
    inputs = [x for x in mo.tree_leaves([init, xs]) if isinstance(x, mo.Var)] + [W]
    tangents = [numbers(*x.shape, seed=20 + k) for k, x in enumerate(inputs)]

    def orders(run: Callable) -> list[mo.Var]:
        first = mo.jvp([loss_of(*run())], inputs, tangents)
        return first + mo.jvp(first, inputs, tangents) + mo.grad(first[0], inputs)

    start = mo.tree_map(lambda x: x if isinstance(x, mo.Var) else mo.array(x), init)
    mine = orders(lambda: mo.scan(f, init, xs, unroll=unroll))
    compare(mine, orders(lambda: unrolled(f, start, xs, 4)), rtol=1e-7)


def test_gradients_equal_finite_differences() -> None:
    h, xs = numbers(2, 3), numbers(5, 2, 3, seed=1)
    gradient = mo.grad(loss_of(*mo.scan(cell, h, xs)), [xs])[0].numpy()
    values = xs.numpy()
    for place in [(0, 0, 0), (2, 1, 2), (4, 0, 1)]:
        moved = []
        for step in (1e-5, -1e-5):
            other = values.copy()
            other[place] += step
            moved.append(loss_of(*mo.scan(cell, h, mo.array(other))).item())
        np.testing.assert_allclose(gradient[place], (moved[0] - moved[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("factor", [1.0, 0.5], ids=["kept", "changed"])
@pytest.mark.parametrize("rows", [64, 513])
def test_products_with_weights_that_a_scan_carries(rows: int, factor: float) -> None:
    """Weights are packed before the loop only where all trips have the same."""
    h = numbers(rows, 256, seed=1, dtype="float32")
    w = numbers(256, 256, seed=2, dtype="float32") / 16

    def step(carry: tuple, _: Any) -> tuple:
        h, w = carry
        return (mo.tanh(h @ w.T), w if factor == 1 else w * factor), None

    made, _ = mo.scan(step, (h, w), None, length=3)
    state, weights = h.numpy().astype("float64"), w.numpy().astype("float64")
    for _ in range(3):
        state, weights = np.tanh(state @ weights.T), weights * factor
    np.testing.assert_allclose(made[0].numpy(), state, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(made[1].numpy(), weights, rtol=1e-6)


def test_one_value_may_be_all_that_a_scan_takes() -> None:
    w = numbers(3, 3, seed=4)

    def f(c: mo.Var, x: mo.Var) -> tuple:
        return mo.sin(c @ w) + x, c.sum()

    mine = mo.grad(loss_of(*mo.scan(f, w, w)), [w])
    compare(mine, mo.grad(loss_of(*unrolled(f, w, w, 3)), [w]))


def first_numbers(seed: int) -> mo.Var:
    """Return the first random numbers behind a seed."""
    mo.seed(seed)
    return mo.random.uniform(shape=(3,)).sync()


def test_random_numbers_are_those_of_the_loop() -> None:
    def f(c: mo.Var, x: mo.Var) -> tuple:
        y = mo.random.uniform(shape=(2,)) + x
        return c + y * mo.random.uniform(shape=(2,)), y

    xs = numbers(5, 2, seed=1, dtype="float32")
    for reverse in (False, True):
        mo.seed(9)
        mine = [*mo.scan(f, mo.zeros(2), xs, reverse=reverse), mo.random.uniform(shape=(3,))]
        mo.seed(9)
        expected = [*unrolled(f, mo.zeros(2), xs, 5, reverse), mo.random.uniform(shape=(3,))]
        compare(mine, expected, rtol=1e-6)


def test_a_body_may_draw_no_random_numbers() -> None:
    """Neither those of an empty tensor, nor those of a loop that makes no trips."""

    def draw_none(c: mo.Var, x: mo.Var) -> tuple:
        return c + x, mo.random.uniform(shape=(0, 2))

    def draw_never(c: mo.Var, x: mo.Var) -> tuple:
        rows = mo.map(lambda y: mo.random.uniform(shape=(2,)) + y, mo.zeros(0))
        return c + x, rows

    def in_checkpoint(c: mo.Var, x: mo.Var) -> tuple:
        return mo.checkpoint(draw_none)(c, x)

    xs = numbers(5, dtype="float32")
    for f in (draw_none, draw_never, in_checkpoint):
        for loop in (partial(mo.scan, f), partial(unrolled, f, trips=5)):
            mo.seed(9)
            total, rows = loop(mo.zeros(()), xs)
            compare([total, mo.random.uniform(shape=(3,))], [xs.sum(), first_numbers(9)], rtol=1e-6)
            assert rows.shape == (5, 0, 2)
            assert rows.numpy().shape == (5, 0, 2)


def test_a_counting_loop_has_gradients() -> None:
    w, x = numbers(3), numbers(3, seed=1)

    def run(loop: Callable) -> mo.Var:
        return (loop(1, 6, lambda i, c: mo.sin(c * w) + i * x, x) ** 2).sum()

    def python(lower: int, upper: int, f: Callable, c: mo.Var) -> mo.Var:
        for i in range(lower, upper):
            c = f(mo.array(i), c)
        return c

    compare(mo.grad(run(mo.fori_loop), [w, x]), mo.grad(run(python), [w, x]))


def test_map_is_a_stack() -> None:
    xs = {"a": numbers(4, 3), "b": numbers(4, 2, seed=1)}
    mine = mo.map(lambda x: (x["a"] * 2, x["b"].sum() * x["a"].max()), xs)
    compare(mine, (xs["a"] * 2, xs["b"].sum(axis=1) * xs["a"].max(axis=1)))


def test_dicts_may_have_their_keys_in_another_order() -> None:
    """The first carry's is that of the result."""
    w = numbers(2)
    xs = numbers(3, 2, seed=1)

    def body(c: dict, x: mo.Var) -> tuple:
        return {"b": c["b"] + 1, "a": [c["a"][0] * w + x]}, {"y": c["b"], "x": x}

    def run(f: Callable) -> tuple:
        return mo.scan(f, {"a": [mo.ones(2, "float64")], "b": 0}, xs)

    def ordered(c: dict, x: mo.Var) -> tuple:
        made, ys = body(c, x)
        return {"a": made["a"], "b": made["b"]}, ys

    mine, expected = run(body), run(ordered)
    assert list(mine[0]) == ["a", "b"]
    assert list(mine[1]) == ["y", "x"]
    compare(mine, expected)
    compare(mo.grad(loss_of(*mine), [w, xs]), mo.grad(loss_of(*expected), [w, xs]))
    turned = mo.while_loop(
        lambda c: c["n"] < 3,
        lambda c: {"x": c["x"] * 2, "n": c["n"] + 1},
        {"n": 0, "x": mo.ones(2)},
    )
    assert list(turned) == ["n", "x"]
    assert turned["x"].tolist() == [8, 8]
    counted = mo.fori_loop(0, 3, lambda i, c: {"b": c["a"], "a": c["b"]}, {"a": 1, "b": 2})
    assert (counted["a"].item(), counted["b"].item()) == (2, 1)


def test_no_rows_but_a_length() -> None:
    last, ys = mo.scan(lambda c, _: (c * 2, c), 1.0, length=5)
    assert last.item() == 32
    assert ys.tolist() == [1, 2, 4, 8, 16]


def test_the_size_does_not_depend_on_the_trips() -> None:
    def step(xs: mo.Var) -> mo.Var:
        return mo.grad(loss_of(*mo.scan(cell, mo.zeros((2, 3), "float64"), xs)), [W])[0]

    recorded = []
    for trips in (4, 64):
        before = mo.stats()["values_recorded"]
        step(numbers(trips, 2, 3, seed=1)).numpy()
        recorded.append(mo.stats()["values_recorded"] - before)
    assert recorded[0] == recorded[1]


def test_it_trains_under_jit_as_it_does_without() -> None:
    def train(wrap: Callable) -> list[float]:
        w = mo.array(0.5 * np.random.default_rng(0).normal(size=(3, 3)).astype("float32"))
        optimizer = mo.optim.Adam([w], lr=0.05)

        def step(xs: mo.Var) -> mo.Var:
            h, _ = mo.scan(lambda h, x: (mo.tanh(x + h @ w), None), mo.zeros((2, 3)), xs)
            loss = ((h - 0.3) ** 2).sum()
            optimizer.step(loss)
            return loss

        run = wrap(step)
        rows = [numbers(6, 2, 3, seed=k, dtype="float32") for k in range(3)]
        return [run(rows[k % 3]).item() for k in range(9)]

    np.testing.assert_allclose(train(mo.jit), train(lambda f: f), rtol=1e-5)


def test_rows_that_nobody_uses_have_no_part_in_a_gradient() -> None:
    w, x = numbers(3), numbers(3, seed=1)

    def outer(c: mo.Var, _: None) -> tuple:
        last, _rows = mo.scan(lambda a, _: (a * 2, W @ w), c, length=3)
        return last, None

    last, _ = mo.scan(outer, x, length=3)
    by_x, by_w = mo.grad(last.sum(), [x, w], allow_unused=True)
    np.testing.assert_allclose(by_x.numpy(), np.full(3, 512.0))
    np.testing.assert_array_equal(by_w.numpy(), np.zeros(3))


def deep(carry: mo.Var, row: mo.Var) -> tuple:
    """Return a trip with products, a maximum, a sort, a loop and a branch in it."""
    mixed = mo.tanh(carry @ W + row)
    best = mo.exp(mixed - mixed.max(-1, keepdims=True))
    scores = best / best.sum(-1, keepdims=True)
    inner, _ = mo.scan(lambda a, b: (mo.sin(a @ W) * b, None), mixed, mo.stack([mixed, scores]))
    chosen = mo.cond(scores.sum() > 0, lambda: mixed * (scores @ W), lambda: mixed)
    return chosen + 0.3 * inner, mo.sort(scores * mixed, -1)


@pytest.mark.parametrize("budget", [0, 300, 2**30])
def test_what_is_saved_changes_no_gradient(budget: int) -> None:
    first, rows = numbers(2, 3), numbers(4, 2, 3, seed=1)

    def gradients(scan: Any) -> list:
        last, ys = scan(deep, first, rows)
        loss = (last * last).sum() + (ys * numbers(4, 2, 3, seed=2)).sum()
        by = mo.grad(loss, [first, rows, W])
        return [*by, *mo.grad(sum((g * g).sum() for g in by), [first, W])]

    with mo.flag_scope(saved_values_budget=budget):
        compare(gradients(mo.scan), gradients(partial(unrolled, trips=4)))


@pytest.mark.parametrize("budget", [0, 2**30])
@pytest.mark.parametrize("width", [64, 65])
def test_maxima_of_products_have_their_gradients(budget: int, width: int) -> None:
    # A maximum is compared with the elements that it is of, to the last bit.
    weight, shift = numbers(32, width, seed=3), numbers(width, seed=4)
    first, rows = numbers(5, 32), numbers(6, 5, 32, seed=1)

    def f(h: mo.Var, x: mo.Var) -> tuple:
        mixed = mo.tanh((x @ weight) @ weight.transpose(1, 0) * 0.1 + h)
        return mixed, ((h @ weight) + shift).max(1) * (x - 0.3 * h).max(0).sum()

    def gradients() -> list:
        last, ys = mo.scan(f, first, rows)
        by = mo.grad((ys * ys).sum() + last.sum(), [first, rows, weight, shift])
        return [*by, *mo.grad(sum((g * g).sum() for g in by), [rows, weight])]

    with mo.flag_scope(backend="interpreter"):
        expected = [g.numpy() for g in gradients()]
    with mo.flag_scope(saved_values_budget=budget):
        for got, wanted in zip(gradients(), expected, strict=True):
            largest = np.abs(wanted).max()
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize("budget", [0, 2**30])
def test_products_are_computed_again_only_without_a_budget(budget: int) -> None:
    def f(carry: mo.Var, row: mo.Var) -> tuple:
        carry = mo.tanh(carry @ W + row)
        return carry, None

    with mo.flag_scope(saved_values_budget=budget):
        last, _ = mo.scan(f, numbers(5, 3), numbers(4, 5, 3, seed=1))
        mo.grad(last.sum(), W).sync()
        (text,) = mo.last_program().explain().ir("graph")
    # Forward, backward, the weight's gradient behind the loop, and the sum of the loss.
    products = text.count("metaop.reindex_reduce add") + text.count("metaop.reduce add")
    assert products == (3 if budget else 4)


@pytest.mark.parametrize("looks", [False, True])
def test_a_loss_that_was_looked_at_runs_no_scan_again(looks: bool) -> None:
    def f(carry: tuple, row: mo.Var) -> tuple:
        h, count = carry
        h = mo.erf(h @ W + row * count)
        return (h, count + 1), h.sum()

    (last, _), sums = mo.scan(f, (numbers(2, 3), 0), numbers(40, 2, 3), unroll=False)
    loss = last.sum() + sums.sum()
    text = ""
    if looks:
        loss.sync()
        text = mo.last_program().ir("graph")
    mo.grad(loss, W).sync()
    text += mo.last_program().ir("graph")
    assert text.count("metaop.erf") == 1


def test_rows_that_only_a_gradient_reads_are_kept_where_one_may_come() -> None:
    rows = numbers(40, 2, 3)

    def keeps_rows() -> bool:
        last, _ = mo.scan(lambda h, x: (mo.sin(h + x), None), numbers(2, 3), rows, unroll=False)
        return (40, 2, 3) in [kept.shape for kept in mo.explain(last.sum()).kept]

    assert keeps_rows()
    with mo.no_grad():
        assert not keeps_rows()


def test_bodies_of_many_operations_that_repeat_a_number() -> None:
    x, s = numbers(3), numbers()

    def f(c: mo.Var, _: None) -> tuple:
        h = c * s
        for _ in range(40):
            h = mo.tanh(h) * h
        return h + c, None

    mine = mo.grad(mo.scan(f, x, length=2)[0].sum(), [s, x])
    compare(mine, mo.grad(unrolled(f, x, None, 2)[0].sum(), [s, x]))


def test_gradients_inside_of_a_body() -> None:
    w = numbers(3)
    y = w * w
    inside = mo.scan(lambda c, _: (c, mo.grad((w * w * c).sum(), [w])[0]), w, length=2)[1]
    np.testing.assert_allclose(inside.numpy(), np.stack([2 * y.numpy()] * 2))
    with pytest.raises(RuntimeError, match="a gradient inside of a body"):
        mo.scan(lambda c, _: (c, mo.grad((y + w).sum(), [w])[0]), w, length=2)


# --- Bad input ---------------------------------------------------------------------------


X = mo.zeros((4, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: mo.scan(lambda c, x: (c, x), 0, {"a": X, "b": X[1:]}),
            ValueError,
            "3 rows, and x",
        ),
        (lambda: mo.scan(lambda c, x: (c, x), 0, X, length=3), ValueError, "length says 3"),
        (lambda: mo.scan(lambda c, x: (c, x), 0), ValueError, "no rows and no length"),
        (lambda: mo.scan(lambda c, x: (c, x), 0, length=-1), ValueError, "length is -1"),
        (lambda: mo.scan(lambda c, x: (c, x), 0, length=1.5), TypeError, "length is 1.5"),
        (lambda: mo.scan(lambda c, x: (c, x), 0, [X, 1.0]), TypeError, r"xs\[1\] is the number 1"),
        (lambda: mo.scan(lambda c, x: c, 0, X), TypeError, "expected a pair"),
        (lambda: mo.scan(lambda c, x: (x, c), 0.0, X), TypeError, r"shape \(3,\) for carry"),
        (lambda: mo.scan(lambda c, x: ((c, c), x), 0, X), TypeError, r"result\[0\]\[1\]"),
        (lambda: mo.scan(3, 0, X), TypeError, "f is 3"),
        (lambda: mo.map(lambda x: X.update(x), X), RuntimeError, "rebinds"),
        (lambda: mo.map(lambda x: "a", X), TypeError, "is 'a'"),
    ],
)
def test_errors_say_what_was_given(call, error, message) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "test_scans.py:" in str(caught.value)
    np.testing.assert_array_equal((X + 1).numpy(), np.ones((4, 3)))
