# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check the indices that they read by."""

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same


def computed(indices, dtype="int64"):
    """Return indices of which nothing is known before a program has computed them."""
    return mo.array(np.asarray(indices, dtype)) + 0


def programs(body):
    """Return how many programs run while `body` is called, and until all is done."""
    mo.sync_all()
    before = mo.stats()["programs_run"]
    body()
    mo.sync_all()
    return mo.stats()["programs_run"] - before


def checks():
    """Return how many checks the last program has."""
    return str(mo.last_program()).count("\ncheck ")


def test_an_update_checks_what_it_reads_by(rng):
    table, weight = mo.array(floats(rng, (50, 8))), mo.array(floats(rng, (8, 4)))
    descent = mo.optim.SGD([table, weight], lr=0.1)

    def step():
        rows, labels = computed(rng.integers(0, 50, 16)), computed(rng.integers(0, 4, 16), "int32")
        descent.step(mo.nn.cross_entropy_loss(mo.take(table, rows, 0) @ weight, labels))

    step()
    assert programs(lambda: [step() for _ in range(3)]) == 3


def test_what_was_checked_is_not_checked_again(rng, compiled):
    x, rows = floats(rng, (20, 3)), rng.integers(-20, 20, 200_000)
    index = mo.array(rows)
    y = mo.take(mo.array(x), index, 0)
    same(y.sum(0, keepdims=True) * 0, np.zeros((1, 3), "float32"))
    assert checks() == 1
    same(y, x[rows])
    assert checks() == 0
    # Of other indices nothing is known.
    same(mo.take(mo.array(x), index, 0), x[rows])
    assert checks() == 1


def test_equal_checks_are_one(rng, compiled):
    x, rows = floats(rng, (20, 3)), rng.integers(-20, 20, 30)
    index = computed(rows)
    total = mo.take(mo.array(x), index, 0) + mo.take(mo.array(x) * 2, index, 0)
    same(total, x[rows] + np.float32(2) * x[rows])
    assert checks() == 1


def test_a_value_that_was_checked_in_vain_is_lost(rng):
    x, index = mo.array(floats(rng, (20, 3))), mo.array(rng.integers(0, 20, 70_000))
    index = mo.concat([index, mo.array(np.array([20]))])
    index.sync()
    y = mo.take(x, index, 0)
    total = y.sum()
    for value in (total, y, total + 1):
        with pytest.raises(IndexError, match=r"index 20 is out of range .*test_checks"):
            value.numpy()
    # The indices themselves are there.
    assert index.numpy().max() == 20
    same(mo.take(mo.zeros((21, 2)), index, 0), np.zeros((70_001, 2), "float32"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_labels_of_all_types(rng, dtype):
    scores, labels = floats(rng, (6, 5)), rng.integers(0, 5, 6).astype(dtype)
    same(mo.one_hot(computed(labels, dtype), 5), np.eye(5, dtype="float32")[labels])
    labels[3] = 5
    with pytest.raises(IndexError, match="label 5 is out of range for 5 classes"):
        mo.nn.cross_entropy_loss(mo.array(scores), computed(labels, dtype)).numpy()


class Model:
    """Two tables and a weight, here and in NumPy; a step changes what it reads."""

    def __init__(self, rng):
        self.rng = rng
        self.expected = [floats(rng, (9, 4)), floats(rng, (5, 4)), floats(rng, (4,))]
        self.parameters = [mo.array(value) for value in self.expected]

    def draw(self):
        """Return indices for both tables, how they are given, and whether all are in range."""
        rows = [self.rng.integers(0, extent, 6) for extent in (9, 5)]
        if bad := self.rng.random() < 0.4:
            table = self.rng.integers(0, 2)
            rows[table][self.rng.integers(0, 6)] = self.rng.choice([9, -10, 1000])
        given = []
        for indices in rows:
            kind = self.rng.integers(0, 3)
            dtype = self.rng.choice(["int16", "int32", "int64"])
            var = mo.array(indices.astype(dtype)) if kind == 0 else computed(indices, dtype)
            given.append(mo.take(var, mo.arange(6)) if kind == 2 else var)
        return rows, given, not bad

    def step(self, rows, given):
        """Record a step, and return its loss, and what NumPy makes of everything."""
        first, second, weight = self.parameters
        sums = mo.take(first, given[0], 0) + mo.take(second, given[1], 0)
        loss = (sums * weight).sum()
        for parameter, gradient in zip(
            self.parameters, mo.grad(loss, self.parameters), strict=True
        ):
            parameter.update(parameter - 0.5 * gradient)
        expected = [value.copy() for value in self.expected]
        if all((-n <= r).all() and (r < n).all() for r, n in zip(rows, (9, 5), strict=True)):
            for table, indices in zip(expected[:2], rows, strict=True):
                np.add.at(table, indices, -0.5 * self.expected[2])
            sums = self.expected[0][rows[0]] + self.expected[1][rows[1]]
            expected[2] -= 0.5 * sums.sum(0)
        return loss, expected


@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_random_updates(seed, asynchronous):
    """Steps with indices in range are made, and all others leave everything as it was."""
    rng = np.random.default_rng(seed)
    counts = [0, 0]
    with mo.flag_scope(asynchronous=asynchronous):
        model = Model(rng)
        for _ in range(12):
            rows, given, is_fine = model.draw()
            counts[is_fine] += 1
            if is_fine:
                loss, model.expected = model.step(rows, given)
                if rng.random() < 0.5:
                    loss.sync()
                mo.sync_all()
            else:
                loss, _ = model.step(rows, given)
                # The step is one program, and its failure is told once.
                ask = loss.sync if rng.random() < 0.5 else mo.sync_all
                with pytest.raises(IndexError, match=r"is out of range .*test_checks"):
                    ask()
                mo.sync_all()
            for parameter, value in zip(model.parameters, model.expected, strict=True):
                close(parameter, value, rtol=1e-4, atol=1e-4)
    assert min(counts) > 0


@pytest.mark.parametrize("ask", ["numpy", "sync", "sync_all", "fetch"])
def test_a_first_batch_out_of_range_leaves_the_weights(ask):
    """They were pending when the program failed that was to compute them, too."""
    mo.seed(3)
    layer = mo.nn.Sequential(mo.nn.Embedding(5, 3), mo.nn.Linear(3, 2))
    bad = layer(mo.array([1, 7]))
    with pytest.raises(IndexError, match="index 7"):
        if ask == "fetch":
            bad.fetch(lambda value: None)
        if ask in ("fetch", "sync_all"):
            mo.sync_all()
        else:
            getattr(bad, ask)()
            mo.sync_all()
    # What was asked for fails for good, and is nobody else's affair.
    mo.sync_all()
    with pytest.raises(IndexError, match="index 7"):
        bad.numpy()
    mo.seed(3)
    same = mo.nn.Sequential(mo.nn.Embedding(5, 3), mo.nn.Linear(3, 2))
    batch = mo.array([[1, 4], [0, 2]])
    np.testing.assert_array_equal(layer(batch).numpy(), same(batch).numpy())
    for value, expected in zip(layer.parameters(), same.parameters(), strict=True):
        np.testing.assert_array_equal(value.numpy(), expected.numpy())
