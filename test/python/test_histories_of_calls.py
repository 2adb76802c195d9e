# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls in a loop keep from step to step what the loop keeps without them.

docs/History.md: of a call each result keeps the history that it has itself.
"""

import metaops as mo
import numpy as np
import pytest

pytestmark = pytest.mark.processor

SIZE = 512


def added(t, w, c):
    c += t * 0.5
    return t * w


def added_without_gradient(t, w, c):
    c += (t * w).detach()
    return t * w


def in_checkpoint(function):
    return lambda t, w, c: mo.checkpoint(lambda x: function(x, w, c))(t)


def in_branch(function):
    """A branch returns what is rebound behind it."""

    def call(t, w, c):
        new, result = mo.cond(
            mo.sum(t) > 0, lambda: (c + t * 0.5, t * w), lambda: (c - t * 0.5, t * w)
        )
        c.assign(new)
        return result

    return call


def in_scan(function):
    def call(t, w, c):
        def step(carry, _):
            return (carry[0] + t * 0.5, t * w), None

        (new, result), _ = mo.scan(step, (c, t), None, length=2)
        c.assign(new)
        return result

    return call


LOOKS = {
    "at the result": lambda result, w, c: result.sum().numpy(),
    "at what is rebound": lambda result, w, c: c.sum().numpy(),
    "at a gradient": lambda result, w, c: mo.grad(result.sum(), w).numpy(),
}


def kept(call, look, steps):
    """Return the operations and the bytes of histories after some steps and after all."""
    mo.sync_all()
    w, c = mo.array(np.ones(SIZE)), mo.array(np.zeros(SIZE))
    mo.sync([w, c])
    counts = []
    for _ in range(steps):
        t = mo.array(np.ones(SIZE))
        result = call(t, w, c)
        look(result, w, c)
        del t, result
        counts.append((mo.stats()["ops_in_block"], mo.stats()["history_bytes"]))
    return max(counts[5:10]), max(counts[-5:])


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("wrap", [in_checkpoint, in_branch, in_scan])
@pytest.mark.parametrize("function", [added, added_without_gradient])
def test_a_loop_of_calls_is_flat(function, wrap, look):
    early, late = kept(function, LOOKS[look], 40)
    assert late <= early
    early, late = kept(wrap(function), LOOKS[look], 40)
    assert late <= early


def test_gradients_of_a_result_whose_neighbour_has_no_history():
    """The operation goes with the last result that keeps its history."""
    w, c = mo.array(np.full(3, 2.0)), mo.array(np.zeros(3))
    losses = []
    for step in range(4):
        t = mo.array(np.full(3, step + 1.0))
        losses.append(in_checkpoint(added)(t, w, c).sum())
        del t
        c.numpy()
    np.testing.assert_allclose(c.numpy(), 5)
    for step, loss in enumerate(losses):
        np.testing.assert_allclose(mo.grad(loss, w).numpy(), step + 1)


@pytest.mark.parametrize("holds", [False, True])
def test_what_was_detached_keeps_no_history(holds):
    """Neither what it was made of, nor bytes that count."""
    w = mo.array(np.ones(SIZE))
    mo.sync_all()
    held, counts = [], []
    y = w * 1
    for _ in range(40):
        y = mo.tanh(mo.array(np.ones(SIZE)) * y * w).detach()
        y.sync()
        held += [y] * holds
        stats = mo.stats()
        counts.append((stats["ops_in_block"], stats["history_bytes"], stats["bytes_in_use"]))
    (ops, history, size), (last_ops, last_history, last_size) = counts[9], counts[-1]
    assert last_history <= history
    assert last_ops <= ops + 30 * holds
    assert last_size <= size + 30 * holds * (SIZE * 8 + 64)
