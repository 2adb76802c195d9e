# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: effects that are taken back, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops.tracing.effects import recording
from recorded_functions import Counter, leaf, recorded

# A warning that no test expects is an error.
pytestmark = pytest.mark.filterwarnings("error")


# Effects


def test_effects_give_each_call_a_number() -> None:
    first, second = Counter(), Counter()
    second.value = 10.0

    def f(x: mo.Var) -> mo.Var:
        return first.scaled(x) + second.scaled(x)

    jitted = mo.jit(f)
    for i in range(1, 9):
        assert jitted(leaf(1)).numpy().tolist() == [11 * 2.0**i]
    assert first.launches == 8
    assert recorded(jitted) == 1


def test_effects_are_taken_back() -> None:
    first, second = Counter(), Counter()
    jitted = mo.jit(lambda x: first.scaled(x) + second.scaled(x))
    for _ in range(3):
        jitted(leaf(1))
    second.fails = True
    with pytest.raises(ValueError, match="no number"):
        jitted(leaf(1))
    assert (first.value, second.value) == (8, 8)
    second.fails = False
    assert jitted(leaf(1)).numpy().tolist() == [32]


# Errors


def test_what_is_no_function() -> None:
    def numbers(x: mo.Var) -> Iterator[mo.Var]:
        yield x

    async def later(x: mo.Var) -> mo.Var:
        return x

    with pytest.raises(TypeError, match=r"jit: given 3, expected a function.*\.py"):
        mo.jit(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="numbers is a generator"):
        mo.jit(numbers)
    with pytest.raises(TypeError, match="later is a coroutine"):
        mo.jit(later)
    with pytest.raises(TypeError, match="whose body runs after"):
        mo.jit(lambda x: (y for y in [x]))(leaf(1))
    with pytest.raises(TypeError, match="recheck is 3, expected a bool"):
        mo.jit(lambda x: x, recheck=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="jit_info: given"):
        mo.jit_info(len)


def test_endless_recursion() -> None:
    @mo.jit
    def f(x: mo.Var) -> mo.Var:
        return f(x + 1)

    with pytest.raises(RecursionError):
        f(leaf(1))
    assert (leaf(1) + 1).numpy().tolist() == [2]
    assert not _core.is_tracing()


def test_exceptions_leave_all_as_it_was() -> None:
    weight = leaf(1)
    fails = True

    def f(x: mo.Var) -> mo.Var:
        weight.update(weight + x)
        if fails:
            raise ValueError("not now")
        return weight * 2

    jitted = mo.jit(f)
    with pytest.raises(ValueError, match="not now"):
        jitted(leaf(1))
    assert weight.numpy().tolist() == [1]
    fails = False
    assert jitted(leaf(1)).numpy().tolist() == [4]
    assert not _core.is_tracing()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("call", [1, 2, 4])
def test_exceptions_at_each_step_of_a_recording(error: type[BaseException], call: int) -> None:
    weight, counter = leaf(1), Counter()
    # Guards see no changes within an array.
    left = np.array([-1])

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise error("here")

    def f(x: mo.Var) -> mo.Var:
        step()
        weight.update(weight + x)
        step()
        y = counter.scaled(x)
        step()
        weight.update(weight * 2)
        step()
        return y

    for steps in range(1, 5):
        weight.assign(leaf(1))
        counter.value = 1.0
        left[0] = -1
        jitted = mo.jit(f)
        for _ in range(call - 1):
            jitted(leaf(1))
        before, value = weight.numpy().tolist()[0], counter.value
        left[0] = steps
        with pytest.raises(error, match="here"):
            jitted(leaf(1))
        assert (weight.numpy().tolist(), counter.value) == ([before], value)
        assert not _core.is_tracing()
        assert recording() is None
        left[0] = -1
        assert jitted(leaf(1)).numpy().tolist() == [2 * value]
        assert weight.numpy().tolist() == [2 * (before + 1)]
        assert recorded(jitted) == 1


@pytest.mark.parametrize(
    "inside",
    [
        lambda x: mo.seed(1),
        lambda x: setattr(mo.flags, "rules", "paper"),
        lambda x: x.numpy(),
        lambda x: bool(mo.sum(x) > 0),
        lambda x: mo.sync(x),
        lambda x: mo.export(lambda y: y, [x], "/tmp/never_written.metaops"),
    ],
    ids=["seed", "flags", "numpy", "bool", "sync", "export"],
)
def test_what_is_refused_inside(inside: Any) -> None:
    def f(x: mo.Var) -> mo.Var:
        inside(x)
        return x

    with pytest.raises((RuntimeError, ValueError), match=r"\.py:\d+"):
        mo.jit(f)(leaf(1))
    assert mo.flags.rules == "extended"
    assert not _core.is_tracing()
