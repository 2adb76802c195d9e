# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints anywhere in random functions: values and gradients are those without them."""

import random
from collections import Counter

import metaops as mo
import numpy as np
import pytest
from random_programs import FIRST_SEED

LEAVES = {
    "scale": lambda x, w: x * w * 0.5,
    "product": lambda x, w: mo.tanh(x @ w),
    "exponential": lambda x, w: mo.exp(-x * x),
    "noise": lambda x, w: x * mo.random.uniform(shape=(4, 4), dtype="float64"),
    "sort": lambda x, w: mo.sort(x, dim=1),
    "sums": lambda x, w: mo.tanh(mo.cumsum(x, dim=0)),
    "maximum": lambda x, w: x - x.max(dim=0, keepdims=True),
    "detached": lambda x, w: x * mo.sigmoid(x.detach()),
    "rows": lambda x, w: mo.vmap(lambda row: mo.tanh(row * w[0]) * row)(x),
}


class Program:
    """A random function of a matrix, some parts of which are wrapped.

    Parameters
    ----------
    seed
        Of all choices.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.weights = [mo.array(rng.standard_normal((4, 4))) for _ in range(2)]
        self.x = mo.array(rng.standard_normal((4, 4)))
        self.counts = Counter()
        self.function = self.chain(3, in_body=False)
        self.is_looked_at = self.rng.random() < 0.5
        self.is_recorded = self.rng.random() < 0.3
        self.order = self.rng.choice([1, 1, 2])

    def part(self, depth, in_body):
        """Return a function of what wraps functions, and of a matrix."""
        kinds = list(LEAVES)
        if depth > 0:
            kinds += ["chain"] * 6 + ["branch", "loop"] * 2 + ["update"] * (not in_body)
        kind = self.rng.choice(kinds)
        is_checkpoint = self.rng.random() < 0.5
        self.counts[kind] += 1
        self.counts["checkpoint"] += is_checkpoint
        made = self.leaf(kind) if kind in LEAVES else getattr(self, kind)(depth - 1, in_body)
        if not is_checkpoint:
            return made
        return lambda wrap, x: wrap(lambda x: made(wrap, x))(x)

    def leaf(self, kind):
        w = self.rng.choice(self.weights)
        return lambda wrap, x: LEAVES[kind](x, w)

    def chain(self, depth, in_body):
        parts = [self.part(depth, in_body) for _ in range(self.rng.randrange(2, 4))]

        def call(wrap, x):
            for part in parts:
                x = x + 0.5 * part(wrap, x)
            return x

        return call

    def branch(self, depth, in_body):
        first, second = self.part(depth, True), self.part(depth, True)
        return lambda wrap, x: mo.cond(
            x.sum() > 0.3, lambda x: first(wrap, x), lambda x: second(wrap, x), x
        )

    def loop(self, depth, in_body):
        trip = self.part(depth, True)
        length, unroll = self.rng.randrange(2, 5), self.rng.choice([1, True, False])
        return lambda wrap, x: mo.scan(
            lambda h, _: (mo.tanh(trip(wrap, h)), None), x, length=length, unroll=unroll
        )[0]

    def update(self, depth, in_body):
        rest = self.part(depth, in_body)

        def call(wrap, x):
            self.state.update(self.state * 0.5 + x.mean())
            return rest(wrap, x)

        return call

    def run(self, wrap):
        """Return a loss, its gradients, the state and what is drawn behind."""
        mo.seed(self.seed)
        self.state = mo.zeros((), "float64")

        def step(x):
            y = self.function(wrap, x)
            loss = (y * y).sum() if self.seed % 3 else y.sum()
            if self.is_looked_at and not self.is_recorded:
                loss.item()
            results = [loss]
            for _ in range(self.order):
                results += mo.grad(loss, [x, *self.weights], allow_unused=True)
                loss = sum(((each * each).sum() for each in results[1:]), mo.zeros((), "float64"))
            return results

        results = (mo.jit(step) if self.is_recorded else step)(self.x)
        return [each.numpy() for each in (*results, self.state, mo.random.uniform(shape=(2,)))]


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_checkpoints(first):
    counts = Counter()
    for seed in range(FIRST_SEED + first, FIRST_SEED + first + 10):
        program = Program(seed)
        counts += program.counts
        for plain, checked in zip(
            program.run(lambda fn: fn), program.run(mo.checkpoint), strict=True
        ):
            np.testing.assert_allclose(checked, plain, rtol=1e-8, atol=1e-8, err_msg=f"{seed}")
    # A test of programs without any of these tests nothing.
    kinds = ("checkpoint", "chain", "branch", "loop")
    assert FIRST_SEED or all(counts[kind] for kind in kinds), counts
