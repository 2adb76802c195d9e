# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state of the session's generator is taken and given back."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import nn


def draw():
    """Return numbers of several distributions."""
    return [mo.rand(5).numpy(), mo.normal((3, 2)).numpy(), mo.permutation(7).numpy()]


def test_numbers_go_on_where_the_state_was_taken():
    mo.seed(7)
    draw()
    state = mo.get_rng_state()
    expected = draw()
    assert state["seed"] == 7 and state["drawn"] > 0
    mo.seed(3)
    draw()
    mo.set_rng_state(state)
    assert mo.get_rng_state() == state
    for value, other in zip(expected, draw(), strict=True):
        np.testing.assert_array_equal(value, other)


def test_a_state_is_saved_in_a_file(tmp_path):
    mo.seed(-(2**62))
    draw()
    mo.save({"generator": mo.get_rng_state()}, tmp_path / "state")
    expected = draw()
    mo.set_rng_state(mo.load(tmp_path / "state")["generator"])
    for value, other in zip(expected, draw(), strict=True):
        np.testing.assert_array_equal(value, other)


def test_a_recorded_function_draws_from_the_state():
    @mo.jit
    def dropped(x):
        return nn.dropout(x, 0.5)

    values = [dropped(mo.ones((64,))).numpy() for _ in range(4)]
    mo.seed(0)
    dropped(mo.ones((64,)))
    state = mo.get_rng_state()
    for _ in range(2):
        mo.set_rng_state(state)
        for value in values[1:]:
            np.testing.assert_array_equal(dropped(mo.ones((64,))).numpy(), value)


def test_a_state_in_a_recorded_function_is_refused():
    for function in (mo.get_rng_state, lambda: mo.set_rng_state({"seed": 0, "drawn": 0})):
        with pytest.raises(RuntimeError, match="while a function is recorded"):
            mo.jit(lambda x, function=function: [x + 1, function()])(mo.ones(2))


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (3, TypeError, "given 3, expected a dict with the integers 'seed' and 'drawn'"),
        ({}, TypeError, "given a dict"),
        ({"seed": 1.0, "drawn": 0}, TypeError, "given a dict"),
        ({"seed": True, "drawn": 0}, TypeError, "given a dict"),
        ({"seed": 2**63, "drawn": 0}, ValueError, "seed is 9223372036854775808"),
        ({"seed": 0, "drawn": -(2**63) - 1}, ValueError, "drawn is -9223372036854775809"),
    ],
)
def test_what_is_no_state_is_refused(state, error, message):
    before = mo.get_rng_state()
    with pytest.raises(error, match=message):
        mo.set_rng_state(state)
    assert mo.get_rng_state() == before
