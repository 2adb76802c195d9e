# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are loops: decoding, integration, filters and searches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import metaops as mo
import numpy as np
import pytest
from decoders import LENGTH, TOKENS, Decoder, empty_cache, make_decoder, read_text

# --- Greedy decoding ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return make_decoder()


def test_decoding_is_a_loop_of_python(decoder: Decoder) -> None:
    """As one loop, by mo.jit, and by a step that Python repeats."""
    jitted, step = mo.jit(decoder.decode), mo.jit(decoder.step)
    texts = [read_text(decoder, first) for first in range(1, TOKENS)]
    # Some of them end early, and they differ.
    assert len(set(map(tuple, texts))) > 3
    assert any(text[-1] == 0 for text in texts) and any(text[-1] != 0 for text in texts)
    for first, text in enumerate(texts, 1):
        assert decoder.decode(mo.array(first)).tolist() == text
        assert jitted(mo.array(first)).tolist() == text
        token, cache, found = mo.array(first), empty_cache(), []
        for place in range(LENGTH):
            token, cache = step(token, mo.array(place), cache)
            found.append(token.item())
            if found[-1] == 0:
                break
        assert found + [0] * (LENGTH - len(found)) == text


def test_decoding_is_exported(decoder: Decoder, tmp_path: Path) -> None:
    """A program that is loaded has neither the session nor a compiler."""
    path = tmp_path / "decode.metaops"
    mo.export(decoder.decode, [mo.array(1)], path)
    code = f"""
import sys
import numpy as np
from metaops import execute
program = execute.load_program({str(path)!r})
for first in range(1, {TOKENS}):
    print(*program(np.int64(first)).tolist())
assert "metaops._core" not in sys.modules
assert "libLLVM" not in open("/proc/self/maps").read()
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [[int(token) for token in line.split()] for line in done.stdout.splitlines()]
    assert found == [read_text(decoder, first) for first in range(1, TOKENS)]


# --- An equation whose solution is stepped along ------------------------------------------


def solve(slope: Any, y: Any, end: float, loop: Any, where: Any) -> tuple[Any, Any]:
    """Return y(end) and the number of trips, by steps that depend on their error.

    Heun's method with Euler's in it: a step whose error is too large is tried again.
    """
    tolerance = 1e-4

    def body(carry: tuple) -> tuple:
        t, step, y, trips = carry
        step = where(step < end - t, step, end - t)
        first = slope(y)
        second = slope(y + step * first)
        error = abs(step * (second - first)).max() / (2 * tolerance)
        is_good = error <= 1
        # Between a fifth and five times the step.
        factor = 0.9 / (error + 1e-12) ** 0.5
        factor = where(factor > 5.0, 5.0, where(factor < 0.2, 0.2, factor))
        following = y + step * (first + second) / 2
        return (
            where(is_good, t + step, t),
            step * factor,
            where(is_good, following, y),
            trips + 1,
        )

    result = loop(lambda carry: carry[0] < end, body, (0.0 * y.sum(), 1.0 + 0.0 * y.sum(), y, 0))
    return result[2], result[3]


def python_loop(condition: Any, body: Any, carry: Any) -> Any:
    while condition(carry):
        carry = body(carry)
    return carry


def spin(rate: Any, y: Any, module: Any) -> Any:
    """Return the slope of a pendulum with friction."""
    return module.stack([y[1], -rate * module.sin(y[0]) - 0.3 * y[1]])


def test_steps_of_an_equation_are_numpys() -> None:
    start, rate, end = np.array([2.0, 0.5]), 4.0, 3.0
    expected, trips = solve(lambda y: spin(rate, y, np), start, end, python_loop, np.where)
    y, made = solve(
        lambda y: spin(mo.array(rate, "float64"), y, mo),
        mo.array(start),
        end,
        mo.while_loop,
        mo.where,
    )
    assert made.item() == trips > 50
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-10)


def test_an_equation_moves_with_its_rate() -> None:
    """In forward mode, which differentiates the steps' lengths as well."""
    start, end = np.array([2.0, 0.5]), 1.0

    def run(rate: Any, module: Any, loop: Any, where: Any) -> Any:
        y = mo.array(start) if module is mo else start
        return solve(lambda y: spin(rate, y, module), y, end, loop, where)[0]

    rate = mo.array(4.0, "float64")
    (moved,) = mo.jvp([run(rate, mo, mo.while_loop, mo.where)], [rate], [mo.ones((), "float64")])
    eps = 1e-7
    both = [run(4.0 + step, np, python_loop, np.where) for step in (eps, -eps)]
    np.testing.assert_allclose(moved.numpy(), (both[0] - both[1]) / (2 * eps), rtol=1e-5)


# --- A filter ----------------------------------------------------------------------------


def filter_rows(rows: Any, scan: Any, drift: mo.Var, noise: mo.Var) -> tuple[mo.Var, mo.Var]:
    """Return the means that a Kalman filter has of a path, and the rows' log-likelihood."""
    seen = mo.array([1.0, 0.3], "float64")
    start = (mo.zeros(2, "float64"), mo.array(np.eye(2)), mo.zeros((), "float64"))

    def trip(carry: tuple, row: mo.Var) -> tuple:
        mean, spread, total = carry
        mean = drift @ mean
        spread = drift @ spread @ drift.T + noise * noise * mo.array(np.eye(2))
        along = spread @ seen
        variance = (seen * along).sum() + 0.5
        surprise = row - (seen * mean).sum()
        gain = along / variance
        mean = mean + gain * surprise
        spread = spread - gain.reshape(2, 1) * along.reshape(1, 2)
        total = total - 0.5 * (surprise * surprise / variance + mo.log(2 * np.pi * variance))
        return (mean, spread, total), mean

    (_, _, total), means = scan(trip, start, rows)
    return means, total


def unrolled(body: Any, carry: Any, rows: mo.Var) -> tuple[Any, mo.Var]:
    made = []
    for k in range(rows.shape[0]):
        carry, row = body(carry, rows[k])
        made.append(row)
    return carry, mo.stack(made)


@pytest.mark.parametrize("wrap", [lambda f: f, mo.jit], ids=["eager", "jit"])
def test_a_kalman_filter(wrap: Any) -> None:
    rows = mo.array(np.random.default_rng(0).normal(size=12))
    drift = mo.array([[0.9, 0.2], [-0.1, 0.8]], "float64")
    noise = mo.array(0.4, "float64")

    def derive(scan: Any) -> Any:
        def run(rows: mo.Var, drift: mo.Var, noise: mo.Var) -> list[mo.Var]:
            means, total = filter_rows(rows, scan, drift, noise)
            first = mo.grad(total, [drift, noise, rows])
            second = mo.grad(sum((g * g).sum() for g in first), [drift, noise, rows])
            return [means, total, *first, *second]

        return run

    expected = derive(unrolled)(rows, drift, noise)
    for mine, value in zip(wrap(derive(mo.scan))(rows, drift, noise), expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-9, atol=1e-12)
    # By the normal distribution of all rows together.
    total, (by_noise,) = expected[1].item(), expected[3].numpy().reshape(1)
    density = joint_density(rows.numpy(), drift.numpy(), 0.4)
    assert total == pytest.approx(density, rel=1e-9)
    eps = 1e-5
    both = [joint_density(rows.numpy(), drift.numpy(), 0.4 + step) for step in (eps, -eps)]
    assert by_noise == pytest.approx((both[0] - both[1]) / (2 * eps), rel=1e-6)


def joint_density(rows: np.ndarray, drift: np.ndarray, noise: float) -> float:
    """Return the logarithm of the density of rows that a path is seen through."""
    count, seen = len(rows), np.array([1.0, 0.3])
    spreads, spread = [], np.eye(2)
    for _ in range(count):
        spread = drift @ spread @ drift.T + noise**2 * np.eye(2)
        spreads.append(spread)
    covariance = 0.5 * np.eye(count)
    for early in range(count):
        moved = spreads[early]
        for late in range(early, count):
            covariance[late, early] += seen @ moved @ seen
            covariance[early, late] = covariance[late, early]
            moved = drift @ moved
    _, logarithm = np.linalg.slogdet(2 * np.pi * covariance)
    return float(-0.5 * (rows @ np.linalg.solve(covariance, rows) + logarithm))


# --- A search ----------------------------------------------------------------------------

BEAMS, STEPS = 3, 7


def search(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best texts and their scores; a token's score depends on the one before."""
    texts, scores = [[0]], [0.0]
    for _ in range(STEPS):
        found = [
            (score + table[text[-1], token], [*text, token])
            for text, score in zip(texts, scores, strict=True)
            for token in range(len(table))
        ]
        found.sort(key=lambda each: -each[0])
        scores, texts = map(list, zip(*found[:BEAMS], strict=True))
    return np.array([text[1:] for text in texts]), np.array(scores)


def search_by_loop(table: mo.Var) -> tuple[mo.Var, mo.Var]:
    tokens = table.shape[0]

    def body(place: mo.Var, carry: tuple) -> tuple:
        scores, last, texts = carry
        every = (scores.reshape(BEAMS, 1) + table[last]).reshape(-1)
        scores, chosen = mo.topk(every, BEAMS)
        last = chosen % tokens
        return scores, last, texts[chosen // tokens].at[:, place].set(last)

    # There is one text to begin with.
    scores = mo.where(mo.arange(BEAMS) == 0, 0.0, -np.inf).cast("float64")
    start = (scores, mo.zeros(BEAMS, "int64"), mo.zeros((BEAMS, STEPS), "int64"))
    scores, _, texts = mo.fori_loop(0, STEPS, body, start)
    return texts, scores


def test_a_beam_search() -> None:
    for seed in range(3):
        table = np.random.default_rng(seed).normal(size=(6, 6))
        texts, scores = search(table)
        for run in (search_by_loop, mo.jit(search_by_loop)):
            found = run(mo.array(table))
            np.testing.assert_array_equal(found[0].numpy(), texts)
            np.testing.assert_allclose(found[1].numpy(), scores, rtol=1e-12)
