# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recorded functions beside several devices: one at a time, and errors for two."""

from __future__ import annotations

from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from recorded_functions import hits, leaf, recorded

pytestmark = pytest.mark.filterwarnings("error")


def test_each_device_has_a_recording() -> None:
    jitted = mo.jit(lambda x: x * 2 + 1)
    for number in range(5):
        for name in ("cpu:1", "cpu:2"):
            x = leaf(number, 3).to(name).sync()
            with mo.device(name):
                result = jitted(x)
            assert result.device == name
            assert result.numpy().tolist() == [2 * number + 1, 7]
    assert recorded(jitted) == 2
    assert hits(jitted) == 4


def test_tensors_of_another_device_than_the_thread_s() -> None:
    jitted = mo.jit(lambda x: x * 2)
    for number in range(4):
        result = jitted(leaf(number).to("cpu:2").sync())
        assert result.device == "cpu:2"
        assert result.numpy().tolist() == [2 * number]


@pytest.mark.parametrize("how", ["arguments", "captured", "rebound"])
def test_two_devices_are_an_error(how: str) -> None:
    here, there = leaf(1, 2).sync(), leaf(3, 4).to("cpu:2").sync()

    def add(x: mo.Var, y: mo.Var) -> mo.Var:
        return x + y

    def add_captured(x: mo.Var) -> mo.Var:
        return x + there

    def rebind(x: mo.Var, y: mo.Var) -> None:
        x.update(x * 2)
        y.update(x)

    functions: dict[str, Any] = {
        "arguments": (add, (here, there)),
        "captured": (add_captured, (here,)),
        "rebound": (rebind, (here, there)),
    }
    function, given = functions[how]
    jitted = mo.jit(function)
    for _ in range(3):
        with pytest.raises((RuntimeError, ValueError), match=r"cpu:.*test_jit_devices\.py:\d+"):
            jitted(*given)
        assert not _core.is_tracing()
        assert here.numpy().tolist() == [1, 2]
        assert there.numpy().tolist() == [3, 4]
    # The session goes on.
    assert np.array_equal((here * 2).numpy(), [2, 4])
    assert np.array_equal(mo.jit(add)(there, there).numpy(), [6, 8])


def test_values_are_brought_over_outside() -> None:
    def move(x: mo.Var) -> mo.Var:
        return x.to("cpu:3")

    with pytest.raises(RuntimeError, match=r"another device.*test_jit_devices\.py:\d+"):
        mo.jit(move)(leaf(1))


def test_scopes_of_devices_inside() -> None:
    def scoped(x: mo.Var) -> mo.Var:
        with mo.device("cpu:2"):
            return x + mo.ones((1,))

    with pytest.raises((RuntimeError, ValueError), match=r"test_jit_devices\.py:\d+"):
        mo.jit(scoped)(leaf(1))
    assert (leaf(1) + 1).device == mo.zeros((1,)).device
