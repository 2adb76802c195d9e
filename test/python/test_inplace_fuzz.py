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
from util import close

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


@pytest.mark.parametrize("seed", range(60))
def test_random_updates(seed):
    rng = random.Random(seed)
    size = rng.choice([1, 2, 5, 16, 33])
    start = np.random.default_rng(seed).uniform(-1, 1, (size, size)).astype("float32")
    p, q = mo.array(start), mo.array(start)
    expected_p, expected_q = start.astype("float64"), start.astype("float64")
    update, reference = random_update(rng)
    other, other_reference = random_update(rng)
    reads_both = rng.random() < 0.5
    for _ in range(3):
        # The second parameter may read the first before or after its update.
        new_q = other(q) + (p.transpose() * 0.125 if reads_both else 0)
        p.update(update(p))
        q.update(new_q)
        # What is held is not written over.
        del new_q
        mo.sync([p, q])
        expected_q = other_reference(expected_q) + (expected_p.T * 0.125 if reads_both else 0)
        expected_p = reference(expected_p)
    close(p, expected_p, rtol=1e-4, atol=1e-4)
    close(q, expected_q, rtol=1e-4, atol=1e-4)
