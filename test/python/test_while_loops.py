# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops in programs: while_loop and fori_loop."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def collatz(number: int) -> int:
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


@pytest.mark.parametrize("number", [1, 2, 7, 27])
def test_a_loop_runs_until_its_condition_is_false(number: int) -> None:
    def body(carry: dict) -> dict:
        n = carry["n"]
        return {
            "n": mo.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1),
            "steps": carry["steps"] + 1,
        }

    start = {"n": mo.array(number), "steps": 0}
    result = mo.while_loop(lambda carry: carry["n"] != 1, body, start)
    assert result["steps"].item() == collatz(number)
    assert result["n"].item() == 1


def test_carries_of_several_types_and_captures() -> None:
    a, b = numbers(3, 4), numbers(4, seed=1)
    x, w = mo.array(a), mo.array(b)

    def body(carry: tuple) -> tuple:
        count, flag, values = carry
        return count + 1, ~flag, [values[0] * w + x.sum(), values[1] + values[0].max()]

    count, flag, (y, z) = mo.while_loop(
        lambda carry: carry[0] < 5, body, (0, mo.array(False), [x, mo.array(0.0, "float64")])
    )
    expected, total = a, 0.0
    for _ in range(5):
        expected, total = expected * b + a.sum(), total + expected.max()
    assert count.item() == 5
    assert flag.item()
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(z.item(), total, rtol=1e-5)
    assert z.dtype == "float64"


def test_a_number_takes_the_type_that_the_body_yields() -> None:
    x = mo.array(numbers(3))
    result = mo.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x.sum()), (0, 0))
    np.testing.assert_allclose(result[1].item(), 3 * x.numpy().sum(), rtol=1e-6)
    # One type waits for another.
    chained = mo.fori_loop(0, 3, lambda _, c: (c[1], c[2], c[2] + 0.5), (0, 0, 0))
    assert [each.item() for each in chained] == [0.5, 1.0, 1.5]


def test_no_trip_gives_the_first_values() -> None:
    x = mo.array(numbers(3))
    result = mo.while_loop(lambda c: c.sum() > 1e9, lambda c: c * 2, x)
    np.testing.assert_array_equal(result.numpy(), x.numpy())
    assert mo.fori_loop(5, 5, lambda i, c: c + i, 7).item() == 7
    assert mo.fori_loop(5, -2, lambda i, c: c + i, 7).item() == 7


@pytest.mark.parametrize("bounds", [(0, 6), (-3, 4), (2, 3)])
def test_a_counting_loop_is_a_range(bounds: tuple[int, int]) -> None:
    lower, upper = bounds
    x = numbers(8)
    expected = x.copy()
    for i in range(lower, upper):
        expected = expected * np.float32(0.5) + i
    for given in (bounds, (mo.array(lower), mo.array(upper)), (lower, mo.array(upper, "int32"))):
        result = mo.fori_loop(*given, lambda i, c: c * 0.5 + i, mo.array(x))
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


def test_the_size_does_not_depend_on_the_trips() -> None:
    x = mo.array(numbers(4))
    step = mo.jit(lambda x, n: mo.fori_loop(0, n, lambda _, c: mo.sin(c) + x, x))
    step(x, mo.array(3)).numpy()
    compiled = mo.stats()["programs_compiled"]
    for trips in (10, 1000):
        expected = x.numpy()
        for _ in range(trips):
            expected = np.sin(expected) + x.numpy()
        np.testing.assert_allclose(step(x, mo.array(trips)).numpy(), expected, rtol=1e-4)
    assert mo.stats()["programs_compiled"] == compiled


def test_loops_in_loops_see_what_is_around_both() -> None:
    a = numbers(4)
    x = mo.array(a)

    def outer(i: mo.Var, total: mo.Var) -> mo.Var:
        return mo.fori_loop(0, i + 1, lambda j, t: t * 0.5 + x * j + i, total)

    expected = np.zeros(4, "float32")
    for i in range(4):
        for j in range(i + 1):
            expected = expected * np.float32(0.5) + a * j + i
    result = mo.fori_loop(0, 4, outer, mo.zeros(4))
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)


def test_captures_are_the_calls_values() -> None:
    x = mo.array(numbers(3))
    before = x.numpy()
    result = mo.fori_loop(0, 3, lambda _, c: c + x, mo.zeros(3))
    x.update(x + 100)
    np.testing.assert_allclose(result.numpy(), 3 * before, rtol=1e-6)


def test_in_place_on_a_carry_is_the_bodys_own() -> None:
    x = mo.array(numbers(5))

    def body(i: mo.Var, c: mo.Var) -> mo.Var:
        c[0] = i
        c *= 2
        return c

    expected = x.numpy()
    for i in range(3):
        expected[0] = i
        expected *= 2
    np.testing.assert_allclose(mo.fori_loop(0, 3, body, x).numpy(), expected, rtol=1e-6)


def test_an_update_of_a_carry_is_the_bodys_own() -> None:
    x = mo.array(numbers(5))
    before = x.numpy()

    def body(_: mo.Var, c: mo.Var) -> mo.Var:
        c.update(c * 2)
        return c

    np.testing.assert_allclose(mo.fori_loop(0, 3, body, x).numpy(), before * 8, rtol=1e-6)
    np.testing.assert_array_equal(x.numpy(), before)


def test_random_numbers_are_of_a_stream_of_their_own() -> None:
    def draw(trips: int) -> tuple[np.ndarray, np.ndarray]:
        mo.seed(7)
        _, rows = mo.while_loop(
            lambda c: c[0] < trips,
            lambda c: (c[0] + 1, mo.random.uniform(shape=(2,)) + 0 * c[1]),
            (0, mo.zeros(2)),
        )
        return rows.numpy(), mo.random.uniform(shape=(3,)).numpy()

    rows, behind = zip(*(draw(trips) for trips in (1, 2, 3, 3)), strict=True)
    # Each trip has other numbers, and those behind do not depend on the trips.
    assert len({row.tobytes() for row in rows}) == 3
    np.testing.assert_array_equal(rows[2], rows[3])
    for each in behind:
        np.testing.assert_array_equal(each, behind[0])
    # Another loop, and another seed, have other numbers.
    mo.seed(8)
    other = mo.while_loop(
        lambda c: c.sum() == 0, lambda _: mo.random.uniform(shape=(2,)), mo.zeros(2)
    )
    more = mo.while_loop(
        lambda c: c.sum() == 0, lambda _: mo.random.uniform(shape=(2,)), mo.zeros(2)
    )
    assert len({row.tobytes() for row in (rows[0], other.numpy(), more.numpy())}) == 3


def test_a_body_may_draw_no_random_numbers() -> None:
    def body(c: tuple) -> tuple:
        return c[0] + 1, mo.concat([mo.random.uniform(shape=(0,)), c[1] + 1])

    def count(_: mo.Var, c: mo.Var) -> mo.Var:
        return c + mo.random.uniform(shape=(0,)).sum() + 1

    _, ones = mo.while_loop(lambda c: c[0] < 4, body, (0, mo.zeros(2)))
    np.testing.assert_array_equal(ones.numpy(), [4, 4])
    bounded = mo.while_loop(
        lambda c: (c < 4) & (mo.random.uniform(shape=(0,)).sum() == 0),
        lambda c: c + 1,
        0,
        max_trips=9,
    )
    assert bounded.item() == 4
    assert mo.fori_loop(0, mo.array(5), count, 0.0).item() == 5


def test_indices_out_of_range_name_the_trip_and_the_line() -> None:
    table = mo.array(numbers(4))
    result = mo.fori_loop(0, 10, lambda i, c: c + table.take(i.reshape(1), axis=0).sum(), 0.0)
    with pytest.raises(IndexError, match=r"test_while_loops.py") as caught:
        result.item()
    assert "trip 4" in str(caught.value)


def test_forward_mode_of_a_loop_whose_trips_nobody_counts() -> None:
    def root(a: mo.Var) -> mo.Var:
        """Newton's method."""
        return mo.while_loop(
            lambda y: mo.abs(y * y - a) > 1e-12, lambda y: 0.5 * (y + a / y), a * 0 + 3.0
        )

    a = mo.array(7.0, "float64")
    y = root(a)
    moved = mo.jvp([y], [a], [mo.array(1.0, "float64")])[0]
    np.testing.assert_allclose(moved.item(), 0.5 / np.sqrt(7.0), rtol=1e-9)
    twice = mo.jvp([moved], [a], [mo.array(1.0, "float64")])[0]
    np.testing.assert_allclose(twice.item(), -0.25 * 7.0**-1.5, rtol=1e-8)
    with pytest.raises(RuntimeError, match="a loop whose number of trips is only known"):
        mo.grad(y, [a])
    # Detached results stop gradients, and say so.
    np.testing.assert_allclose(mo.grad(y.detach() * a, [a])[0].item(), np.sqrt(7.0), rtol=1e-9)


def test_greedy_decoding_with_a_cache_in_place() -> None:
    table = mo.array(numbers(11, 6))
    weights = mo.array(numbers(6, 11, seed=1))

    def decode(first: mo.Var, length: int) -> mo.Var:
        def body(carry: tuple) -> tuple:
            place, token, cache, tokens = carry
            row = table[token]
            cache = mo.where((mo.arange(length) == place).reshape(-1, 1), row, cache)
            scores = (cache.sum(axis=0) / (place + 1)) @ weights
            token = scores.argmax()
            tokens = mo.where(mo.arange(length) == place, token, tokens)
            return place + 1, token, cache, tokens

        start = (0, first, mo.zeros((length, 6)), mo.zeros(length, dtype="int64"))
        return mo.while_loop(lambda c: c[0] < length, body, start)[3]

    expected, cache, token = [], [], 3
    for _ in range(9):
        cache.append(table.numpy()[token])
        token = int((np.sum(cache, axis=0) / len(cache) @ weights.numpy()).argmax())
        expected.append(token)
    np.testing.assert_array_equal(decode(mo.array(3), 9).numpy(), expected)
    jitted = mo.jit(lambda token: decode(token, 9))
    for _ in range(4):
        np.testing.assert_array_equal(jitted(mo.array(3)).numpy(), expected)


@pytest.mark.parametrize("trips", [0, 1, 2, 9])
@pytest.mark.parametrize("reads", [False, True])
def test_a_branch_inserts_in_place(trips: int, reads: bool) -> None:
    """A carry that a branch passes through is not copied, unless it is read behind that."""
    cache = numbers(8, 16, dtype="float64")
    xs = numbers(9, 16, seed=1, dtype="float64")

    def body(c: tuple) -> tuple:
        i, old, total = c
        row = mo.array(xs)[i]
        new = mo.cond(i % 3 != 1, lambda: old.at[i % 8].set(row), lambda: old)
        return i + 1, new, total + (old * new).sum() if reads else total

    _, last, total = mo.while_loop(
        lambda c: c[0] < trips, body, (0, mo.array(cache), mo.array(0.0, "float64"))
    )
    mo.sync([last, total])
    steps = [(k.name, k.bytes_written) for k in mo.last_program().kernels]
    inside = steps[[name for name, _ in steps].index("while") :]
    assert (("copy", cache.nbytes) in inside) == reads
    expected, sums = cache.copy(), 0.0
    for i in range(trips):
        old = expected.copy()
        if i % 3 != 1:
            expected[i % 8] = xs[i]
        sums += (old * expected).sum() if reads else 0
    np.testing.assert_allclose(last.numpy(), expected)
    np.testing.assert_allclose(total.item(), sums)


def test_a_loop_is_exported(tmp_path) -> None:
    w = mo.array(numbers(4))
    path = tmp_path / "loop.mop"

    def run(x: mo.Var, n: mo.Var) -> mo.Var:
        return mo.fori_loop(0, n, lambda i, c: mo.cond(i % 2 == 0, lambda: c * w, lambda: c + i), x)

    x = mo.array(numbers(4, seed=1))
    mo.export(run, [x, mo.array(3)], path)
    program = mo.load_program(str(path))
    for trips in (0, 1, 6):
        given = program(x.numpy(), np.int64(trips))
        np.testing.assert_allclose(given, run(x, mo.array(trips)).numpy(), rtol=1e-6)


# --- Bad input ---------------------------------------------------------------------------


X = mo.zeros(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: mo.while_loop(lambda c: c, lambda c: c, X),
            TypeError,
            r"returns float32 of shape",
        ),
        (lambda: mo.while_loop(lambda c: 1, lambda c: c, X), TypeError, "expected a boolean"),
        (lambda: mo.while_loop(lambda c: (c, c), lambda c: c, X), TypeError, "expected a boolean"),
        (lambda: mo.while_loop(lambda c: True, lambda c: c, None), TypeError, "None is to be carr"),
        (lambda: mo.while_loop(lambda c: True, lambda c: c, "a"), TypeError, "carry is 'a'"),
        (lambda: mo.while_loop(lambda c: True, 3, X), TypeError, "body_fun is 3"),
        (
            lambda: mo.while_loop(lambda c: c.sum() < 1, lambda c: (c, c), X),
            TypeError,
            "expected those of the carry at result",
        ),
        (
            lambda: mo.while_loop(
                lambda c: c["a"].sum() < 1, lambda c: {"a": X.cast("int32")}, {"a": X}
            ),
            TypeError,
            r"returns int32 of shape \(3,\) for carry\['a'\], which is float32 of shape \(3,\)",
        ),
        (
            lambda: mo.while_loop(lambda c: c.sum() < 1, lambda c: mo.zeros((3, 1)), X),
            TypeError,
            r"returns float32 of shape \(3, 1\) for carry, which is float32 of shape \(3,\)",
        ),
        (lambda: mo.fori_loop(0, mo.array(3), lambda i, c: i, 2.5), TypeError, "number 2.5 is to"),
        (lambda: mo.fori_loop(0, 3.5, lambda i, c: c, X), TypeError, "upper is float32"),
        (lambda: mo.fori_loop(X, 3, lambda i, c: c, X), TypeError, "lower is float32"),
        (lambda: mo.fori_loop(0, 3, lambda i, c: X.update(c) or c, X), RuntimeError, "rebinds"),
        (lambda: mo.fori_loop(0, 3, lambda i, c: c * c.sum().item(), X), RuntimeError, "numbers"),
    ],
)
def test_errors_say_what_was_given(call, error, message) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "test_while_loops.py:" in str(caught.value)
    np.testing.assert_array_equal((X + 1).numpy(), [1, 1, 1])
