# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of loops whose trips are only known when they have run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import metaops as mo
import numpy as np
import pytest

F64 = "float64"


def numbers(*shape: int, seed: int = 0) -> mo.Var:
    return mo.array(np.random.default_rng(seed).normal(size=shape))


def unrolled(cond: Callable, body: Callable, carry: Any, max_trips: int | None = None) -> Any:
    """Run a loop by one of Python."""
    while cond(carry).item():
        carry = body(carry)
    return carry


def counted(
    lower: Any, upper: Any, body: Callable, carry: Any, max_trips: int | None = None
) -> Any:
    """Run a loop that counts by one of Python."""
    for i in range(int(lower), int(upper)):
        carry = body(mo.array(i), carry)
    return carry


def derive(loss: mo.Var, inputs: list[mo.Var]) -> list[mo.Var]:
    """Return a value, its gradients, those of their squares, and tangents of both."""
    tangents = [mo.cos(x).detach() for x in inputs]
    first = mo.grad(loss, inputs, allow_unused=True)
    moved = mo.jvp([loss], inputs, tangents)
    second = mo.grad(sum((g * g).sum() for g in first) + moved[0], inputs, allow_unused=True)
    return [loss, *first, *moved, *second, *mo.jvp([first[0]], inputs, tangents)]


def compare(run: Callable, inputs: list[mo.Var], *loops: Callable) -> None:
    """Compare a function of loops with the same of Python's, eagerly and under jit."""
    expected = [x.numpy() for x in derive(run(inputs, *loops), inputs)]
    given = [mo.while_loop if loop is unrolled else mo.fori_loop for loop in loops]
    jitted = mo.jit(lambda *inputs: derive(run(list(inputs), *given), list(inputs)))
    for results in (derive(run(inputs, *given), inputs), jitted(*inputs), jitted(*inputs)):
        for result, value in zip(results, expected, strict=True):
            np.testing.assert_allclose(result.numpy(), value, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("trips", [0, 1, 2, 7, 10])
def test_a_while_loop_has_the_gradients_of_the_unrolled_one(trips: int) -> None:
    def run(inputs: list[mo.Var], loop: Callable) -> mo.Var:
        x, w, b = inputs

        def body(carry: dict) -> dict:
            y = mo.tanh(carry["y"] @ w + b)
            return {
                "count": carry["count"] + 1,
                "flag": ~carry["flag"],
                "y": mo.where(carry["flag"], y, y * carry["scale"]),
                "scale": carry["scale"] * 0.9 + y.mean(),
            }

        start = {
            "count": mo.array(0),
            "flag": mo.array(False),
            "y": x,
            "scale": mo.array(1.5, F64) + b.sum(),
        }
        last = loop(lambda carry: carry["count"] < trips, body, start, max_trips=10)
        return (last["y"] ** 2).sum() * last["scale"] + last["count"]

    compare(run, [numbers(2, 3), numbers(3, 3, seed=1), numbers(3, seed=2)], unrolled)


@pytest.mark.parametrize("bounds", [(0, 0), (3, 1), (-2, -1), (2, 8), (-3, 5)])
def test_a_loop_with_bounds_from_tensors_has_gradients(bounds: tuple[int, int]) -> None:
    def run(inputs: list[mo.Var], loop: Callable) -> mo.Var:
        x, w = inputs
        lower, upper = (mo.array(bound) for bound in bounds)
        y, z = loop(
            lower,
            upper,
            lambda i, c: (mo.sin(c[0] * w) + i * 0.1, c[1] + c[0].sum()),
            (x, mo.array(0.5, F64)),
            max_trips=8,
        )
        return (y * y * w).sum() * z

    compare(run, [numbers(4), numbers(4, seed=1)], counted)


def test_a_counter_that_nobody_reads_takes_no_kernel() -> None:
    calls = []

    def body(_: mo.Var, c: mo.Var) -> mo.Var:
        calls.append(1)
        return mo.sin(c)

    x, n = mo.array(np.ones(5, "float32")), mo.array(3)
    result = mo.fori_loop(0, n, body, x)
    np.testing.assert_allclose(result.numpy(), np.sin(np.sin(np.sin(1.0))), rtol=1e-6)
    assert len(calls) == 1
    assert [kernel.name for kernel in mo.last_program().kernels if "for" not in kernel.name]
    assert len(mo.last_program().kernels) == 2


def test_extreme_bounds() -> None:
    least, most = -(2**63), 2**63 - 1
    for lower, upper, trips in (
        (1, least, 0),
        (most, least, 0),
        (most - 2, most, 2),
        (least, least + 3, 3),
    ):
        for given in (
            (mo.array(lower), mo.array(upper)),
            (mo.array(lower), upper),
            (lower, mo.array(upper)),
        ):
            assert mo.fori_loop(*given, lambda _, c: c + 1, 0).item() == trips


def test_random_numbers_of_bounds_from_tensors_are_of_a_stream_of_their_own() -> None:
    def draw(trips: int) -> tuple[np.ndarray, np.ndarray]:
        mo.seed(7)
        rows = mo.fori_loop(
            0, mo.array(trips), lambda i, c: mo.random.uniform(shape=(2,)) + 0 * c, mo.zeros(2)
        )
        return rows.numpy(), mo.random.uniform(shape=(3,)).numpy()

    rows, behind = zip(*(draw(trips) for trips in (1, 2, 3, 3)), strict=True)
    assert len({row.tobytes() for row in rows}) == 3
    np.testing.assert_array_equal(rows[2], rows[3])
    for each in behind:
        np.testing.assert_array_equal(each, behind[0])


@pytest.mark.parametrize("kind", ["while", "fori"])
def test_random_numbers_are_the_same_for_the_gradient(kind: str) -> None:
    x = numbers(3)

    def run(x: mo.Var, trips: int) -> mo.Var:
        mo.seed(3)

        def body(c: mo.Var) -> mo.Var:
            return c * mo.random.uniform(shape=(3,), dtype=F64)

        if kind == "fori":
            return mo.fori_loop(0, mo.array(trips), lambda _, c: body(c), x, max_trips=6)
        carry = (x, mo.array(0))
        return mo.while_loop(
            lambda c: c[1] < trips, lambda c: (body(c[0]), c[1] + 1), carry, max_trips=6
        )[0]

    y = run(x, 4)
    gradient = mo.grad(y.sum(), [x])[0]
    np.testing.assert_allclose(gradient.numpy(), (run(x, 4) / x).numpy(), rtol=1e-12)


def test_loops_in_scans_branches_and_loops() -> None:
    def run(inputs: list[mo.Var], loop: Callable, count: Callable) -> mo.Var:
        x, w = inputs
        is_program = loop is mo.while_loop
        scan = mo.scan if is_program else scan_unrolled
        cond = mo.cond if is_program else lambda c, f, g: f() if c.item() else g()

        def shrink(y: mo.Var) -> mo.Var:
            return loop(
                lambda c: (c * c).sum() > 0.3, lambda c: c * mo.tanh(w) * 0.9, y, max_trips=40
            )

        def step(h: mo.Var, row: mo.Var) -> tuple[mo.Var, mo.Var]:
            h = mo.sin(h + row)
            y = cond(h.sum() > 0, lambda: shrink(h), lambda: h * w)
            trips = (row.sum() * 2).abs().cast("int64") % 4
            z = count(0, trips, lambda i, c: mo.sin(c) + shrink(c) * w, y, max_trips=4)
            return h + y, z

        last, rows = scan(step, x, mo.stack([x * (k + 1) for k in range(4)]))
        return (rows * rows).sum() + last.sum()

    compare(run, [numbers(3), numbers(3, seed=1)], unrolled, counted)


def scan_unrolled(step: Callable, init: Any, rows: mo.Var) -> Any:
    made = []
    for row in rows:
        init, y = step(init, row)
        made.append(y)
    return init, mo.stack(made)


def test_gradients_are_finite_differences() -> None:
    def run(x: mo.Var) -> mo.Var:
        last = mo.while_loop(
            lambda c: c[1] < 4, lambda c: (mo.sin(c[0]) * x + c[0], c[1] + 1), (x, 0), max_trips=9
        )
        return (last[0] ** 3).sum()

    x = numbers(3)
    gradient = mo.grad(run(x), [x])[0]
    steps = 1e-5 * np.eye(3)
    for k in range(3):
        moved = [run(x + mo.array(sign * steps[k])).item() for sign in (1, -1)]
        np.testing.assert_allclose(gradient[k].item(), (moved[0] - moved[1]) / 2e-5, rtol=1e-7)


def solve(f: Callable, y: mo.Var, end: float, tolerance: float) -> tuple[mo.Var, mo.Var]:
    """Solve an equation from 0 to `end` by Heun's method, with steps as its error allows."""

    def step(carry: tuple) -> tuple:
        t, h, y, trips = carry
        h = mo.minimum(h, end - t)
        slope = f(y)
        euler = y + h * slope
        heun = y + 0.5 * h * (slope + f(euler))
        error = mo.abs(heun - euler).max()
        accepted = error <= tolerance
        factor = mo.clip(0.9 * mo.sqrt(tolerance / (error.detach() + 1e-12)), 0.2, 4.0)
        return (
            mo.where(accepted, t + h, t),
            h * factor,
            mo.where(accepted, heun, y),
            trips + 1,
        )

    start = (mo.array(0.0, F64), mo.array(0.5, F64), y, 0)
    _, _, y, trips = mo.while_loop(lambda c: c[0] < end, step, start, max_trips=3000)
    return y, trips


def test_an_equation_with_adaptive_steps() -> None:
    rate = mo.array(np.array([0.5, 1.5]))
    y, trips = solve(lambda y: -rate * y, mo.array(np.array([1.0, 2.0])), 2.0, 1e-5)
    assert 20 < trips.item() < 3000
    exact = np.array([1.0, 2.0]) * np.exp(-2.0 * rate.numpy())
    np.testing.assert_allclose(y.numpy(), exact, rtol=1e-3)
    gradient = mo.grad(y.sum(), [rate])[0]
    np.testing.assert_allclose(gradient.numpy(), -2.0 * exact, rtol=1e-2)
    hessian = mo.grad(gradient.sum(), [rate])[0]
    np.testing.assert_allclose(hessian.numpy(), 4.0 * exact, rtol=2e-2)


@pytest.mark.parametrize("kind", ["while", "fori"])
def test_a_gradient_costs_the_trips_that_were_made(kind: str) -> None:
    x = numbers(4)

    def run(trips: int, most: int) -> tuple[np.ndarray, int]:
        n = mo.array(trips)
        with mo.profile_scope() as report:
            if kind == "fori":
                y = mo.fori_loop(0, n, lambda _, c: mo.sin(c) * x, x, max_trips=most)
            else:
                start = (x, mo.array(0))
                y, _ = mo.while_loop(
                    lambda c: c[1] < n,
                    lambda c: (mo.sin(c[0]) * x, c[1] + 1),
                    start,
                    max_trips=most,
                )
            first = mo.grad(y.sum(), [x])[0]
            value = mo.grad(first.sum(), [x])[0].numpy()
        return value, sum(kernel.calls for kernel in report.kernels)

    for trips in (0, 3, 30):
        value, calls = run(trips, trips + 2)
        more, same = run(trips, 100_000)
        np.testing.assert_array_equal(more, value)
        assert same == calls


def test_an_integer_carry_decides_what_is_read() -> None:
    table = numbers(6, 2)

    def run(table: mo.Var, loop: Callable) -> mo.Var:
        place, total = loop(
            lambda c: c[0] < 5,
            lambda c: (c[0] + 2, c[1] * table[c[0]] + 1.0),
            (mo.array(0), table[5]),
            max_trips=9,
        )
        return total.sum() + place

    compare(lambda inputs, loop: run(inputs[0], loop), [table], unrolled)


def test_gradients_are_exported(tmp_path: Path) -> None:
    w = numbers(3)

    def run(x: mo.Var, n: mo.Var) -> list[mo.Var]:
        y = mo.fori_loop(0, n, lambda i, c: mo.tanh(c * w) + i, x, max_trips=5)
        z, _ = mo.while_loop(
            lambda c: c[1] < n, lambda c: (mo.tanh(c[0]) * w, c[1] + 1), (y, 0), max_trips=5
        )
        return mo.grad((z * z).sum(), [x, w])

    x = numbers(3, seed=1)
    path = tmp_path / "gradient.mop"
    mo.export(run, [x, mo.array(1)], path)
    program = mo.load_program(str(path))
    for trips in (0, 1, 5):
        expected = run(x, mo.array(trips))
        for given, value in zip(program(x.numpy(), np.int64(trips)), expected, strict=True):
            np.testing.assert_allclose(given, value.numpy(), rtol=1e-12)
    with pytest.raises(RuntimeError, match="a loop is to make 6 trips, but its max_trips is 5"):
        program(x.numpy(), np.int64(6))


# --- Loops without a bound ---------------------------------------------------------------


def halve(x: mo.Var) -> mo.Var:
    return mo.while_loop(lambda c: c.sum() > 1, lambda c: c / 2, x)


def test_gradients_beside_loops_without_a_bound() -> None:
    x, w = numbers(4, 3) + 5.0, numbers(3, seed=1)

    def step(h: mo.Var, row: mo.Var) -> tuple[mo.Var, mo.Var]:
        scale = halve(row)
        trips = mo.while_loop(
            lambda c: c[1] > 0.1, lambda c: (c[0] + 1, c[1] / 2), (0, h.sum() ** 2)
        )[0]
        h = mo.sin(h * w + scale) + trips * w
        return h, halve(h).detach() * h

    def unrolled_step(h: mo.Var, row: mo.Var) -> tuple[mo.Var, mo.Var]:
        scale = unrolled(lambda c: c.sum() > 1, lambda c: c / 2, row.detach())
        trips = unrolled(lambda c: c[1] > 0.1, lambda c: (c[0] + 1, c[1] / 2), (0, h.sum() ** 2))[0]
        h = mo.sin(h * w + scale) + trips * w
        return h, unrolled(lambda c: c.sum() > 1, lambda c: c / 2, h.detach()) * h

    def loss(made: tuple[mo.Var, mo.Var]) -> mo.Var:
        return (made[0] * w).sum() + made[1].sum()

    given = mo.grad(loss(mo.scan(step, mo.zeros(3, F64), x)), [w])[0]
    expected = mo.grad(loss(scan_unrolled(unrolled_step, mo.zeros(3, F64), x)), [w])[0]
    np.testing.assert_allclose(given.numpy(), expected.numpy(), rtol=1e-10)
    # By the rows, a gradient would flow through one.
    with pytest.raises(RuntimeError, match=r"say how many there are at most \(max_trips\)"):
        mo.grad(loss(mo.scan(step, mo.zeros(3, F64), x)), [x])


def test_a_gradient_comes_to_a_loop_by_way_of_a_carry() -> None:
    w = numbers(3)

    def step(carry: tuple, _: None) -> tuple:
        a, b = carry
        # In the second trip, b depends on w.
        return (a * w, a), halve(b)

    _, rows = mo.scan(step, (mo.ones(3, F64), mo.ones(3, F64)), length=3)
    with pytest.raises(RuntimeError, match="a loop whose number of trips is only known"):
        mo.grad(rows.sum(), [w])


# --- Bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize("asks", [False, True])
def test_more_trips_than_there_may_be_are_an_error(asks: bool) -> None:
    def last(make: Callable) -> None:
        x = mo.array(np.ones(3))
        y = make(x)
        (mo.grad(y.sum(), [x])[0] if asks else y).numpy()

    def count(x: mo.Var, trips: int) -> mo.Var:
        return mo.while_loop(
            lambda c: c[0] < trips, lambda c: (c[0] + 1, c[1] * x), (0, x), max_trips=4
        )[1]

    last(lambda x: count(x, 4))
    with pytest.raises(
        IndexError, match="a loop is to make 5 trips, but its max_trips is 4"
    ) as caught:
        last(lambda x: count(x, 5))
    assert "test_bounded_loops.py" in str(caught.value)
    last(lambda x: mo.fori_loop(0, mo.array(4), lambda _, c: c * x, x, max_trips=4))
    with pytest.raises(
        IndexError, match="a loop is to make 9 trips, but its max_trips is 4"
    ) as caught:
        last(lambda x: mo.fori_loop(0, mo.array(9), lambda _, c: c * x, x, max_trips=4))
    assert "test_bounded_loops.py" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: mo.fori_loop(0, 5, lambda i, c: c, x, max_trips=4),
            ValueError,
            "there are 5 trips",
        ),
        (
            lambda x: mo.fori_loop(0, 5, lambda i, c: c, x, max_trips=-1),
            ValueError,
            "max_trips is -1",
        ),
        (
            lambda x: mo.while_loop(lambda c: True, lambda c: c, x, max_trips=2**31),
            ValueError,
            "from 0 to",
        ),
        (
            lambda x: mo.while_loop(lambda c: True, lambda c: c, x, max_trips=2.5),
            TypeError,
            "is 2.5",
        ),
    ],
)
def test_errors_say_what_was_given(call: Callable, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call(mo.zeros(3))
    assert "test_bounded_loops.py:" in str(caught.value)
