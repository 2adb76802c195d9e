# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that calls of recorded functions may write over."""

from __future__ import annotations

import contextlib

import metaops as mo
import numpy as np
import pytest
from util import bytes_in_use, close

N = 1 << 16


def ramp(n: int = N) -> mo.Var:
    return mo.array(np.arange(n, dtype="float32")).sync()


def values_recorded() -> int:
    return mo.stats()["values_recorded"]


@mo.jit(donate="x")
def move(x: mo.Var, by: float) -> mo.Var:
    return x * 0.5 + by


@pytest.mark.parametrize("has_gradients", [False, True])
def test_results_are_written_over_arguments(has_gradients: bool) -> None:
    step = mo.jit(lambda x: x * 0.5 + 1.0, donate="x", recheck=False)
    x, expected = ramp(), np.arange(N, dtype="float32")
    memory = bytes_in_use()
    with contextlib.nullcontext() if has_gradients else mo.no_grad():
        for call in range(6):
            if call == 2:
                mo.reset_peak()
            before = values_recorded()
            x = step(x).sync()
            # The result, and what stands for the argument.
            assert values_recorded() - before == 2 or call < 2
            expected = expected * np.float32(0.5) + np.float32(1)
    assert bytes_in_use() == memory
    assert mo.stats()["peak_bytes"] - memory < N
    close(x, expected)


USES = (
    lambda x, y: x + 1,
    lambda x, y: x.numpy(),
    lambda x, y: move(x, 1.0),
    lambda x, y: x.update(y),
    lambda x, y: x.assign(y),
    lambda x, y: mo.sync([x]),
    lambda x, y: mo.grad(y.sum(), [x]),
)


def test_a_donated_tensor_has_no_value_any_more() -> None:
    for _ in range(4):
        x = ramp(4)
        y = move(x, 1.0)
        assert x.shape == (4,)
        assert x.dtype == "float32"
        assert repr(x) == "Var(donated, shape=(4,), dtype=float32)" == str(x)
        for use in USES:
            with pytest.raises(RuntimeError, match=r"after it was given to the call at .*donate"):
                use(x, y)
        close(y, np.arange(4) * 0.5 + 1)
    mo.sync_all()
    assert "metaop" in mo.dump()


def test_a_donated_tensor_is_not_captured() -> None:
    x = ramp(4)
    move(x, 1.0)
    with pytest.raises(RuntimeError, match="after it was given to the call at"):
        mo.jit(lambda y: x + y)(ramp(4))


def test_tensors_that_are_something_else_too() -> None:
    @mo.jit(donate=["x"])
    def add(x: mo.Var, y: mo.Var) -> mo.Var:
        return x + y

    x = ramp(4)
    with pytest.raises(ValueError, match=r"a donated tensor of shape \(4,\) is given twice"):
        add(x, x)
    captured = mo.jit(lambda y: x * y, donate="y")
    with pytest.raises(ValueError, match="is used from outside, too"):
        captured(x)
    close(captured(ramp(4)), np.arange(4.0) ** 2)
    with pytest.raises(ValueError, match="is used from outside, too"):
        captured(x)
    close(x, np.arange(4))


def test_views() -> None:
    x = ramp(4)
    view = x.reshape(2, 2)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"of shape \(2, 2\) that is a view of another tensor"):
            move(view, 1.0)
        view.sync()
    for _ in range(5):
        x = ramp(4)
        view = x.reshape(2, 2)
        close(move(x, 1.0), [1, 1.5, 2, 2.5])
        close(view, [[0, 1], [2, 3]])


@pytest.mark.parametrize("calls", [1, 4])
def test_values_that_others_see_stay(calls: int) -> None:
    for _ in range(calls):
        x = ramp(4)
        other, pending = x.copy(), x * 2.0
        move(x, 1.0).sync()
        close(other, np.arange(4))
        close(pending, 2.0 * np.arange(4))
        x = ramp(4)
        seen = np.from_dlpack(x)
        move(x, 1.0).sync()
        close(seen, np.arange(4))
        found = []
        x = ramp(4)
        x.fetch(lambda value, found=found: found.append(value.copy()))
        move(x, 1.0).sync()
        mo.sync_all()
        close(found[0], np.arange(4))


def test_gradients_that_need_what_is_gone() -> None:
    w = mo.array(np.float32(3.0))

    @mo.jit(donate="x")
    def scaled(x: mo.Var) -> mo.Var:
        return x * x * w

    for _ in range(5):
        y = scaled(ramp(4))
        with pytest.raises(RuntimeError, match=r"test_jit_donate\.py"):
            mo.grad(y.sum(), [w])
        close(y, 3 * np.arange(4.0) ** 2)
    for _ in range(5):
        x = ramp(4)
        loss = (mo.exp(x) * w).sum()
        move(x, 1.0).sync()
        close(loss, 3 * np.exp(np.arange(4.0)).sum())


def test_containers_and_what_is_changed_in_place() -> None:
    @mo.jit(donate="cache")
    def append(cache: dict[str, mo.Var], value: mo.Var, *, at: int) -> dict[str, mo.Var]:
        cache["k"][at] = value
        return {"k": cache["k"], "v": cache["v"] + value.sum()}

    cache = {"k": ramp(4), "v": mo.array(np.float32(0)).sync()}
    with mo.no_grad():
        for step in range(8):
            last = cache
            cache = append(cache, mo.array(np.float32(step)), at=step % 4)
            assert cache["k"] is not last["k"]
            with pytest.raises(RuntimeError, match="after it was given"):
                last["k"].numpy()
    close(cache["k"], [4, 5, 6, 7])
    close(cache["v"], 28)


def test_an_argument_that_is_returned() -> None:
    same_again = mo.jit(lambda x: (x, x + 1), donate="x")
    for _ in range(5):
        x = ramp(4)
        y, z = same_again(x)
        close(y, np.arange(4))
        close(z, np.arange(4) + 1)
        with pytest.raises(RuntimeError, match="after it was given"):
            x.numpy()


def test_pending_arguments() -> None:
    for step in range(5):
        x = ramp(4) * float(step)
        close(move(x, 1.0), np.arange(4) * step * 0.5 + 1)


def test_a_call_that_fails_takes_nothing() -> None:
    @mo.jit(donate="x")
    def pick(x: mo.Var, y: mo.Var) -> mo.Var:
        return x + y

    x = ramp(4)
    for y in (ramp(3), ramp(5)):
        with pytest.raises(ValueError, match="shape"):
            pick(x, y)
    close(x, np.arange(4))


def test_a_call_without_memory_takes_nothing() -> None:
    widen = mo.jit(lambda x: mo.tile(x, 4), donate="x")
    for _ in range(5):
        x = ramp()
        with mo.flag_scope(memory_limit=bytes_in_use() + N), pytest.raises(MemoryError):
            widen(x)
        close(x, np.arange(N))
        close(widen(x), np.tile(np.arange(N), 4))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_program_that_fails(asynchronous: bool) -> None:
    pick = mo.jit(lambda x, at: x[at] * 2.0, donate="x")
    with mo.flag_scope(asynchronous=asynchronous):
        for _ in range(5):
            x = ramp(4)
            with pytest.raises(IndexError):
                pick(x, mo.array([7])).sync()
            with pytest.raises(RuntimeError, match=r"given to the call|when the update"):
                x.numpy()
        close(pick(ramp(4), mo.array([3])), [6])


def test_every_call_is_compared() -> None:
    x = ramp(4)
    with mo.flag_scope(jit="check"):
        for _ in range(6):
            x = move(x, 0.0)
    close(x, np.arange(4) / 64)


def test_functions_that_are_called_as_they_are() -> None:
    with mo.flag_scope(jit="off"):
        x, y = ramp(4), ramp(4)
        close(move(x, 1.0), np.arange(4) * 0.5 + 1)
        kept = mo.jit(lambda values: values, donate="values")({"y": y})["y"]
        close(kept, np.arange(4))
        for given in (x, y):
            with pytest.raises(RuntimeError, match="after it was given"):
                given.numpy()
    # Recorded in line, it gives away nothing of its own.
    outer = mo.jit(lambda x: move(x, 1.0) + x)
    for _ in range(4):
        x = ramp(4)
        close(outer(x), np.arange(4) * 1.5 + 1)
        close(x, np.arange(4))


def test_names() -> None:
    with pytest.raises(ValueError, match=r"donate has 'z', which is no parameter of .*these are x"):
        mo.jit(lambda x: x, donate="z")
    with pytest.raises(TypeError, match="donate is 3, expected names of parameters"):
        mo.jit(lambda x: x, donate=3)  # type: ignore[call-overload]
    by_keyword = mo.jit(lambda *, x: x + 1, donate=("x",))
    x = ramp(4)
    close(by_keyword(x=x), np.arange(4) + 1)
    with pytest.raises(RuntimeError, match="after it was given"):
        x.numpy()
