# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps whose programs fail, which may come to light when later ones have begun: values,
state and counts are then those of the steps that were taken, bit for bit.
"""

from __future__ import annotations

import contextlib

import metaops as mo
import numpy as np
import pytest

STEPS, BAD = 24, {0, 4, 11, 12, 19}
OPTIMISERS = {
    "SGD": lambda p: mo.optim.SGD(p, 0.1, 0.9, dampening=0.5),
    "Adam": lambda p: mo.optim.Adam(p, 0.05),
    "AdamW": lambda p: mo.optim.AdamW(p, 0.05, (0.7, 0.9), amsgrad=True),
    "Adamax": lambda p: mo.optim.Adamax(p, 0.05),
    "NAdam": lambda p: mo.optim.NAdam(p, 0.05),
    "RAdam": lambda p: mo.optim.RAdam(p, 0.05),
    "Adagrad": lambda p: mo.optim.Adagrad(p, 0.1, lr_decay=0.1),
    "Adadelta": lambda p: mo.optim.Adadelta(p, 1.0),
    "ASGD": lambda p: mo.optim.ASGD(p, 0.1, t0=3),
    "Adafactor": lambda p: mo.optim.Adafactor(p, 0.1),
    "groups": lambda p: mo.optim.Adam([{"params": [p[0]], "lr": 0.1}, {"params": p[1:]}], 0.05),
}


class Loop:
    """Parameters, an optimiser of them, and batches of row numbers."""

    def __init__(self, make, dtype="float32", bad=BAD):
        self.bad = bad
        rng = np.random.default_rng(11)
        arrays = rng.standard_normal((12, 6)), rng.standard_normal((6, 4)) * 0.5
        self.parameters = [mo.array(array.astype("float32")).cast(dtype) for array in arrays]
        mo.sync_all()
        self.optimizer = make(self.parameters)
        self.batches = rng.integers(0, 12, (STEPS, 5))

    def loss(self, i):
        rows = self.batches[i].copy()
        if i in self.bad:
            rows[2] = 40
        table, weight = self.parameters
        return (mo.tanh(table[mo.array(rows)] @ weight) ** 2).sum()

    def state(self):
        tensors = {k: v for k, v in self.optimizer.state_dict().items() if isinstance(v, mo.Var)}
        kept = {name: tensor.numpy() for name, tensor in tensors.items()}
        return [parameter.numpy() for parameter in self.parameters], kept


def run(loop, steps, step, asynchronous, asks=False):
    """Take steps; return those that have raised an error."""
    raised = set()
    with mo.flag_scope(asynchronous=asynchronous):
        for i in steps:
            try:
                step(loop, i)
                if asks:
                    mo.sync_all()
            except IndexError as error:
                assert "index 40 is out of range" in str(error)
                raised.add(i)
        with contextlib.suppress(IndexError):
            mo.sync_all()
    return raised


def plain(loop, i):
    loop.optimizer.step(loop.loss(i))


def check_same(loop, other):
    """Parameters, state and counts are equal, bit for bit."""
    assert loop.optimizer.steps == other.optimizer.steps
    (values, kept), (expected, others) = loop.state(), other.state()
    for value, one in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, one)
    assert kept.keys() == others.keys()
    for name, value in kept.items():
        np.testing.assert_array_equal(value, others[name], err_msg=name)


def check(make, step=plain, dtype="float32", bad=BAD):
    """Compare a loop of which nobody asks for anything with its good steps alone."""
    loop, other = Loop(make, dtype, bad), Loop(make, dtype, bad)
    raised = run(loop, range(STEPS), step, asynchronous=True)
    taken = [i for i in range(STEPS) if i not in raised | bad]
    assert len(taken) > STEPS // 2
    assert not run(other, taken, step, asynchronous=False, asks=True)
    check_same(loop, other)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_later_steps_are_those_of_the_steps_that_were_taken(name):
    check(OPTIMISERS[name])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_types(dtype):
    check(lambda p: mo.optim.Adam(p, 0.05, master=True), dtype=dtype)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_failure_that_is_caught_at_once(asynchronous):
    loop, other = Loop(OPTIMISERS["Adam"]), Loop(OPTIMISERS["Adam"])
    taken = 0
    with mo.flag_scope(asynchronous=asynchronous):
        for i in range(STEPS):
            plain(loop, i)
            if i in BAD:
                with pytest.raises(IndexError, match="index 40 is out of range"):
                    mo.sync_all()
            else:
                mo.sync_all()
                taken += 1
            assert loop.optimizer.steps == taken
    run(other, sorted(set(range(STEPS)) - BAD), plain, asynchronous=False, asks=True)
    check_same(loop, other)


def test_a_schedule():
    def step(loop, i):
        loop.optimizer.lr = 0.1 / (1 + i)
        plain(loop, i)

    check(OPTIMISERS["NAdam"], step)


def test_parameters_that_move_in_turn_and_together():
    def step(loop, i):
        gradients = mo.grad(loop.loss(i), loop.parameters)
        chosen = [(0, 1), (0,), (1,)][i % 3]
        loop.optimizer.apply({loop.parameters[k]: gradients[k] for k in chosen})

    # Steps of other parameters are one program, which fails as a whole.
    check(OPTIMISERS["Adam"], step, bad={0, 12, 15})
    check(OPTIMISERS["groups"], step, bad={0, 12, 15})


def test_parameters_that_are_added_while_a_step_may_fail():
    def step(loop, i):
        if i == 5:
            loop.optimizer.add_param_group({"params": [loop.parameters[1]], "lr": 0.2})
        plain(loop, i)

    check(lambda p: mo.optim.Adam(p[:1], 0.05), step)


def test_repeated_steps(compiled):
    """Gradients are in memory, or lost there; a slow step holds up one that fails."""
    rng = np.random.default_rng(5)
    start = rng.standard_normal((8, 6)).astype("float32")
    rows = mo.array(rng.standard_normal((3, 6)).astype("float32"))

    def take(indices, asynchronous):
        with mo.flag_scope(asynchronous=asynchronous):
            w, large = mo.array(start), mo.zeros((2000, 2000)).sync()
            optimizer, slow = mo.optim.Adam([w], 0.1), mo.optim.Adam([large], 0.1)
            slope = mo.ones((2000, 2000)).sync()
            gradients = []
            for index in indices:
                gradients.append(mo.take(rows, mo.array([index] * 8), 0) * 0.5)
                with contextlib.suppress(IndexError):
                    gradients[-1].sync()
            for gradient, index in zip(gradients, indices, strict=True):
                with contextlib.suppress(IndexError):
                    slow.apply([slope])
                    if index != 7:
                        mo.sync_all()
                with contextlib.suppress(IndexError):
                    optimizer.apply([gradient])
                    if index == 7:
                        optimizer.apply([gradients[0]])
            with contextlib.suppress(IndexError):
                mo.sync_all()
            return w.numpy(), optimizer.steps

    value, steps = take([0, 1, 2, 0, 7, 1, 2], asynchronous=True)
    expected, count = take([0, 1, 2, 0, 0, 1, 2], asynchronous=False)
    assert steps == count == 7
    np.testing.assert_array_equal(value, expected)


# Values that are computed along


def tables(rng):
    return mo.array(rng.standard_normal((6, 4))), mo.array(rng.standard_normal((4, 4)))


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_what_did_not_fail_is_computed_again(rng, asynchronous, later):
    """A held value that was in one program with a bad batch, and what is made of it."""
    table, weight = tables(rng)
    with mo.flag_scope(asynchronous=asynchronous):
        norms = (table @ weight).exp().sum(1)
        scaled = norms * 2.0
        picked = table[mo.array([1, 40, 2])] @ weight
        loss = (picked * norms[:3].reshape((3, 1))).sum()
        follows = norms.sum() if later else None
        with pytest.raises(IndexError, match="index 40 is out of range"):
            loss.item()
        expected = np.exp(table.numpy() @ weight.numpy()).sum(1)
        np.testing.assert_allclose(norms.numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(scaled.numpy(), 2 * expected, rtol=1e-12)
        if later:
            np.testing.assert_allclose(follows.numpy(), expected.sum(), rtol=1e-12)
        # Values that depend on the batch have failed, and say so each time.
        for lost in (loss, picked, loss + 1.0, loss):
            with pytest.raises(IndexError, match="index 40 is out of range"):
                lost.numpy()
        gradient = mo.grad(norms.sum(), weight).numpy()
        powers = np.exp(table.numpy() @ weight.numpy())
        np.testing.assert_allclose(gradient, table.numpy().T @ powers, rtol=1e-12)


def test_programs_behind_the_failed_one(rng):
    """A value of a later program, begun before the failure came to light, fails as well."""
    table, weight = tables(rng)
    norms = (table @ weight).exp().sum(1)
    loss = (table[mo.array([40])] * norms.sum()).sum()
    weight.update(weight * 1.0)
    state = mo.zeros((4, 4), "float64")
    with contextlib.suppress(IndexError):
        mo.sync([loss, norms])
    later = (norms * 3.0).max()
    state.update(state + later)
    expected = np.exp(table.numpy() @ weight.numpy()).sum(1)
    np.testing.assert_allclose(later.numpy(), 3 * expected.max(), rtol=1e-12)
    np.testing.assert_allclose(state.numpy(), np.full((4, 4), 3 * expected.max()), rtol=1e-12)


def test_what_an_update_was_to_write_over(rng):
    """Updates of the failed program do not happen because somebody asks again."""
    table, weight = tables(rng)
    before = weight.numpy()
    norms = (table @ weight).exp().sum(1)
    loss = (table[mo.array([40, 1])] @ weight).sum() + norms.sum()
    weight.update(weight - 0.1 * mo.grad(loss, weight))
    with pytest.raises(IndexError, match="index 40 is out of range"):
        mo.sync_all()
    np.testing.assert_array_equal(weight.numpy(), before)
    expected = np.exp(table.numpy() @ before).sum(1)
    # It is made of what the update was to write over.
    with pytest.raises(IndexError, match="index 40 is out of range"):
        norms.numpy()
    np.testing.assert_allclose((table @ weight).exp().sum(1).numpy(), expected, rtol=1e-12)


def test_a_loop_with_bad_batches_does_not_grow(rng):
    """Values that wait for a run's end are let go, whichever way it ends."""
    table, weight = tables(rng)
    sizes = []
    for i in range(40):
        norms = (table @ weight).exp().sum(1)
        loss = (table[mo.array([i % 8])] * norms.sum()).sum()
        if i % 8 < 6:
            loss.item()
        else:
            with pytest.raises(IndexError):
                loss.item()
        norms.numpy()
        del norms, loss
        mo.sync_all()
        sizes.append((mo.stats()["ops_in_block"], mo.stats()["bytes_in_use"]))
    assert sizes[-1] == sizes[15]
