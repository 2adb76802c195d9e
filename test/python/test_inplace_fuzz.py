# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random updates of a parameter by what is read from it elsewhere.

The buffer of an updated Var may be written over. Whatever an update reads, through
transpositions, windows, broadcasts and views, the numbers are those of NumPy.
"""

import random

import metaops as mo
import numpy as np
import pytest
from util import close, on_processor

# Each reads a square matrix and gives one of its shape: with MetaOps, with NumPy.
READS = {
    "itself": (lambda p: p, lambda p: p),
    "transposed": (lambda p: p.transpose(), lambda p: p.T),
    "rows reversed": (lambda p: p[::-1], lambda p: p[::-1]),
    "columns reversed": (lambda p: p[:, ::-1], lambda p: p[:, ::-1]),
    "first row": (lambda p: p[0] + p * 0, lambda p: p[0] + p * 0),
    "last column": (lambda p: p[:, -1:] + p * 0, lambda p: p[:, -1:] + p * 0),
    "shifted": (
        lambda p: p.reindex(p.shape, ("i0-1", "i1+1")),
        lambda p: np.pad(p, ((1, 0), (0, 1)))[:-1, 1:],
    ),
    "doubled window": (
        lambda p: p.reindex(p.shape, ("i0/2", "i1")),
        lambda p: p[np.arange(len(p)) // 2],
    ),
    "flat and reversed": (
        lambda p: p.reshape(-1)[::-1].reshape(p.shape),
        lambda p: p.reshape(-1)[::-1].reshape(p.shape),
    ),
    "through another shape": (
        lambda p: p.reshape(-1).reshape(p.shape).transpose(),
        lambda p: p.T,
    ),
    "row means": (lambda p: p.mean(1, True) + p * 0, lambda p: p.mean(1, keepdims=True) + p * 0),
    "column maxima": (lambda p: p.max(0, True) + p * 0, lambda p: p.max(0, keepdims=True) + p * 0),
    "mean": (lambda p: p.mean() + p * 0, lambda p: p.mean() + p * 0),
}


def random_update(rng):
    """Return the same random update for MetaOps and for NumPy."""
    names = rng.choices(list(READS), k=rng.randint(1, 3))
    factors = [rng.choice([0.5, -0.25, 0.125]) for _ in names]
    wraps = rng.random() < 0.4

    def apply(p, side, tanh):
        total = p * 0.25
        for name, factor in zip(names, factors, strict=True):
            total = total + READS[name][side](p) * factor
        return tanh(total) if wraps else total

    return (lambda p: apply(p, 0, mo.tanh)), (lambda p: apply(p, 1, np.tanh))


class Updates:
    """Two parameters, and random updates of them by MetaOps and by NumPy."""

    def __init__(self, seed):
        rng = random.Random(seed)
        size = rng.choice([1, 2, 5, 16, 33])
        start = np.random.default_rng(seed).uniform(-1, 1, (size, size)).astype("float32")
        self.p, self.q = mo.array(start), mo.array(start)
        self.expected_p = self.expected_q = start.astype("float64")
        self.update, self.reference = random_update(rng)
        self.other, self.other_reference = random_update(rng)
        self.reads_both = rng.random() < 0.5

    def step(self):
        # The second parameter may read the first before or after its update.
        p, q = self.p, self.q
        new_q = self.other(q) + (p.transpose() * 0.125 if self.reads_both else 0)
        p.update(self.update(p))
        q.update(new_q)
        # What is held is not written over.
        del new_q
        mo.sync([p, q])

    def step_by_numpy(self):
        p, q = self.expected_p, self.expected_q
        self.expected_q = self.other_reference(q) + (p.T * 0.125 if self.reads_both else 0)
        self.expected_p = self.reference(p)


@pytest.mark.parametrize("seed", range(60))
def test_random_updates(seed):
    updates = Updates(seed)
    for _ in range(3):
        updates.step()
        updates.step_by_numpy()
    close(updates.p, updates.expected_p, rtol=1e-4, atol=1e-4)
    close(updates.q, updates.expected_q, rtol=1e-4, atol=1e-4)


def test_many_updates_are_in_place(compiled):
    """Otherwise nothing would be tested: without reuse, they take more buffers."""

    def taken(seed, reuse):
        with mo.flag_scope(reuse_memory=reuse):
            updates = Updates(seed)
            updates.step()
            before = mo.stats()["allocations"]
            updates.step()
            return mo.stats()["allocations"] - before

    # Threads of a GPU have elements in no order, so fewer reads come before a write.
    fewest = 8 if on_processor(mo.zeros(())) else 6
    assert sum(taken(seed, False) > taken(seed, True) for seed in range(30)) >= fewest
