# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches that programs choose: cond and switch."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_branch_of_the_condition_is_run(sign: int) -> None:
    a, b = numbers(3, 4), numbers(3, 4, seed=1)
    x, y = mo.array(sign * np.abs(a)), mo.array(b)
    result = mo.cond(x.sum() > 0, lambda x: x * y, lambda x: x - y, x)
    expected = sign * np.abs(a) * b if sign > 0 else -np.abs(a) - b
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


def test_structures_are_returned() -> None:
    x = mo.array(numbers(3))

    def first(x: mo.Var) -> dict:
        return {"a": (x + 1, None), "b": [x.sum(), 2]}

    def other(x: mo.Var) -> dict:
        return {"a": (x - 1, None), "b": [x.max(), x.size]}

    for positive in (True, False):
        result = mo.cond(mo.array(positive), first, other, x)
        expected = (first if positive else other)(x)
        assert result["a"][1] is None
        assert result["b"][1].item() == expected["b"][1]
        np.testing.assert_array_equal(result["a"][0].numpy(), expected["a"][0].numpy())
        np.testing.assert_allclose(result["b"][0].item(), expected["b"][0].item())


@pytest.mark.parametrize("sign", [1, -1])
def test_dicts_may_have_their_keys_in_another_order(sign: int) -> None:
    """The first branch's is that of the result."""
    x = mo.array([3.0, 4.0])
    result = mo.cond(
        sign * x.sum() > 0,
        lambda: {"a": x, "b": {"c": 1, "d": x * 2}},
        lambda: {"b": {"d": x * 3, "c": 2.5}, "a": -x},
    )
    assert list(result) == ["a", "b"]
    assert list(result["b"]) == ["c", "d"]
    assert result["a"].tolist() == [3 * sign, 4 * sign]
    assert result["b"]["c"].item() == (1 if sign > 0 else 2.5)
    assert result["b"]["d"].tolist() == ([6, 8] if sign > 0 else [9, 12])
    with pytest.raises(TypeError, match=r"result\['b'\]"):
        mo.cond(x.sum() > 0, lambda: {"a": x, "b": x}, lambda: {"a": x, "c": x})


def test_a_number_takes_the_type_of_the_other_branch() -> None:
    x = mo.array(numbers(), dtype="float64")
    assert mo.cond(x > 0, lambda: x, lambda: 0).dtype == "float64"
    assert mo.cond(x > 0, lambda: 1, lambda: 0.5).dtype == "float32"
    assert mo.cond(x > 0, lambda: True, lambda: 3).dtype == "int64"


def test_a_condition_of_python_chooses_at_once() -> None:
    ran = []
    assert mo.cond(True, lambda: ran.append(1) or 4, lambda: ran.append(2)) == 4
    assert ran == [1]


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 4, 7])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_switch_clamps_its_index(index: int, count: int) -> None:
    x = numbers(5)
    branches = [lambda x, k=k: x * k + 1 for k in range(count)]
    expected = x * np.float32(min(max(index, 0), count - 1)) + 1
    for given in (index, mo.array(index), mo.array(index, "int8")):
        result = mo.switch(given, branches, mo.array(x))
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


def test_switch_by_a_small_integer_type() -> None:
    branches = [lambda k=k: mo.array(k) for k in range(200)]
    for index, expected in ((-1, 0), (100, 100), (127, 127)):
        assert mo.switch(mo.array(index, "int8"), branches).item() == expected


def test_the_value_of_a_captured_tensor_is_the_calls() -> None:
    x = mo.array(numbers(3))
    before = x.numpy()
    result = mo.cond(mo.array(True), lambda: x * 2, lambda: x)
    x.update(x + 100)
    x += 1
    np.testing.assert_allclose(result.numpy(), before * 2)


def test_random_numbers_begin_where_they_would_without_the_branch() -> None:
    def draw(branch: bool) -> tuple[np.ndarray, np.ndarray]:
        mo.seed(5)
        inside = mo.cond(
            mo.array(branch),
            lambda: mo.random.uniform(shape=(3,)),
            lambda: mo.random.uniform(shape=(7,))[:3],
        )
        return inside.numpy(), mo.random.uniform(shape=(4,)).numpy()

    mo.seed(5)
    expected = mo.random.uniform(shape=(7,)).numpy()[:3]
    behind = mo.random.uniform(shape=(4,)).numpy()
    for branch in (True, False):
        inside, after = draw(branch)
        np.testing.assert_array_equal(inside, expected)
        np.testing.assert_array_equal(after, behind)


def test_it_is_chosen_anew_under_jit() -> None:
    y = mo.array(numbers(3, seed=1))

    @mo.jit
    def step(x: mo.Var) -> mo.Var:
        return mo.cond(x.sum() > 0, lambda: x * y, lambda: -x)

    for seed in range(8):
        x = numbers(3, seed=seed)
        expected = x * y.numpy() if x.sum() > 0 else -x
        np.testing.assert_allclose(step(mo.array(x)).numpy(), expected, rtol=1e-6)
    y.update(y * 3)
    x = np.abs(x)
    np.testing.assert_allclose(step(mo.array(x)).numpy(), x * y.numpy(), rtol=1e-6)


# --- Derivatives -------------------------------------------------------------------------


def nested(x: mo.Var, w: mo.Var) -> mo.Var:
    """Branches in branches, a captured value in each, and a value that is handed on."""

    def positive(x: mo.Var) -> tuple[mo.Var, mo.Var]:
        inner = mo.cond(w.sum() > 0, lambda: mo.sin(x * w), lambda: x * x * w)
        return inner * w, x

    def negative(x: mo.Var) -> tuple[mo.Var, mo.Var]:
        return mo.exp(x) * w, w * w

    a, b = mo.cond((x * w).sum() > 0.1, positive, negative, x)
    return (a * b).sum()


@pytest.mark.parametrize("signs", [(1, 1), (-1, -1), (1, -1)])
def test_gradients_of_all_orders(signs: tuple[int, int]) -> None:
    a = signs[0] * np.abs(numbers(4, dtype="float64")) - 0.1
    b = signs[1] * np.abs(numbers(4, seed=1, dtype="float64")) + 0.05
    x, w = mo.array(a), mo.array(b)

    def plain(x: mo.Var, w: mo.Var) -> mo.Var:
        if (x * w).sum().item() > 0.1:
            inner = mo.sin(x * w) if w.sum().item() > 0 else x * x * w
            return (inner * w * x).sum()
        return (mo.exp(x) * w * w * w).sum()

    def orders(function) -> list[mo.Var]:
        first = mo.grad(function(x, w), [x, w])
        squares = sum((g * g).sum() for g in first)
        second = mo.grad(squares, [x, w])
        third = mo.grad(sum((g * g * g).sum() for g in second), [x, w])
        return [*first, *second, *third]

    for mine, expected in zip(orders(nested), orders(plain), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected.numpy(), rtol=1e-9)
    moved = mo.jvp([nested(x, w)], [x], [w])[0]
    np.testing.assert_allclose(
        moved.item(), (mo.grad(plain(x, w), [x])[0] * w).sum().item(), rtol=1e-9
    )


def test_gradients_equal_finite_differences() -> None:
    a, b = numbers(4, dtype="float64"), numbers(4, seed=3, dtype="float64")
    x, w = mo.array(a), mo.array(b)
    gradient = mo.grad(nested(x, w), [x])[0].numpy()
    for place in range(4):
        moved = []
        for step in (1e-5, -1e-5):
            other = a.copy()
            other[place] += step
            moved.append(nested(mo.array(other), w).item())
        np.testing.assert_allclose(gradient[place], (moved[0] - moved[1]) / 2e-5, rtol=1e-6)


def test_the_other_branch_leaves_no_trace_in_gradients() -> None:
    x = mo.array([0.0, 0.0])
    loss = mo.cond(x.sum() > 0, lambda: mo.sqrt(x).sum(), lambda: (3 * x).sum())
    np.testing.assert_array_equal(mo.grad(loss, [x])[0].numpy(), [3.0, 3.0])


def test_stopped_gradients_stay_stopped_in_branches() -> None:
    x = mo.array(numbers(3))

    def stopped() -> mo.Var:
        with mo.no_grad():
            y = x * x
        return (y * x + x.detach() * x).sum()

    loss = mo.cond(mo.array(True), stopped, lambda: x.sum())
    expected = mo.grad(stopped(), [x])[0]
    np.testing.assert_allclose(mo.grad(loss, [x])[0].numpy(), expected.numpy(), rtol=1e-6)


def test_gradients_after_the_loss_has_been_looked_at() -> None:
    x = mo.array(numbers(3))
    loss = mo.cond(x.sum() > 100, lambda: x.sum(), lambda: (x * x).sum())
    loss.item()
    np.testing.assert_allclose(mo.grad(loss, [x])[0].numpy(), 2 * x.numpy(), rtol=1e-6)


# --- Bad input ---------------------------------------------------------------------------


X = mo.zeros(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mo.cond(X, lambda: 1, lambda: 2), TypeError, r"pred is float32 of shape \(3,\)"),
        (lambda: mo.cond(mo.array(1), lambda: 1, lambda: 2), TypeError, "pred is int64"),
        (lambda: mo.cond(mo.array(True), 3, lambda: 2), TypeError, "true_fun is 3, expected a fun"),
        (
            lambda: mo.cond(mo.array(True), lambda: X, lambda: mo.zeros(4)),
            TypeError,
            r"float32 of shape \(3,\) and float32 of shape \(4,\) as result",
        ),
        (
            lambda: mo.cond(mo.array(True), lambda: {"a": [X]}, lambda: {"a": [X.cast("int32")]}),
            TypeError,
            r"return float32 of shape \(3,\) and int32 of shape \(3,\) as result\['a'\]\[0\]",
        ),
        (
            lambda: mo.cond(mo.array(True), lambda: (X, X), lambda: [X]),
            TypeError,
            r"other structures, with tensors at result\[0\], result\[1\] and result\[0\]",
        ),
        (lambda: mo.cond(mo.array(True), lambda: "a", lambda: X), TypeError, "result is 'a'"),
        (lambda: mo.cond(mo.array(True), lambda: X.sum().item(), lambda: 1), None, "needs numbers"),
        (lambda: mo.cond(mo.array(True), lambda: X.update(X), lambda: 1), None, "rebinds a Var"),
        (lambda: mo.cond(mo.array(True), lambda: mo.seed(3), lambda: 1), None, "seed"),
        (
            lambda: mo.cond(mo.array(True), lambda: mo.fetch(X, print), lambda: 1),
            None,
            "fetches values",
        ),
        (lambda: mo.cond(mo.array(True), lambda: mo.array(1), lambda: 2.5), TypeError, "2.5 is to"),
        (lambda: mo.switch(0.5, [lambda: 1]), TypeError, "index is float32"),
        (lambda: mo.switch(mo.array(0), []), ValueError, "no functions are given"),
        (lambda: mo.switch(mo.array(0), [1]), TypeError, r"branches\[0\] is 1"),
    ],
)
def test_errors_say_what_was_given(call, error, message) -> None:
    with pytest.raises(error or RuntimeError, match=message) as caught:
        call()
    assert "test_branches.py:" in str(caught.value)
    # The session is as before.
    np.testing.assert_array_equal((X + 1).numpy(), [1, 1, 1])


def test_a_tensor_that_lives_on_is_an_error() -> None:
    kept = []
    with pytest.raises(RuntimeError, match=r"leaves a tensor of .*test_branches.py"):
        mo.cond(mo.array(True), lambda: kept.append(X + 1) or X, lambda: X)


def test_a_branch_that_raises_leaves_the_session_as_it_was() -> None:
    model = mo.nn.Linear(3, 2)
    optimizer = mo.optim.Adam(model.parameters(), lr=0.1)

    def fails(x: mo.Var) -> mo.Var:
        model(x)
        raise KeyError("mine")

    before = [p.numpy() for p in model.parameters()]
    with pytest.raises(KeyError, match="mine"):
        mo.cond(mo.array(True), lambda: X, lambda: fails(X))
    with pytest.raises(RuntimeError):
        mo.cond(mo.array(True), lambda: optimizer.step(model(X).sum()) or X, lambda: X)
    for parameter, value in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.numpy(), value)
    optimizer.step(model(X + 1).sum())
    other = mo.nn.Linear(3, 2)
    for parameter, value in zip(other.parameters(), before, strict=True):
        parameter.update(mo.array(value))
    mo.optim.Adam(other.parameters(), lr=0.1).step(other(X + 1).sum())
    for mine, expected in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(mine.numpy(), expected.numpy())
