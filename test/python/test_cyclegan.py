# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CycleGAN's sizes, its loss, and both ways' training; test_models.py has its numbers."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import models

pytestmark = pytest.mark.processor


def test_sizes_are_those_that_junyanz_prints():
    for model, millions in (
        (models.CycleGANGenerator(), 11.378),
        (models.CycleGANDiscriminator(), 2.765),
    ):
        count = sum(p.size for p in model.parameters())
        assert round(count / 1e6, 3) == millions
        weight = max(model.parameters(), key=lambda p: p.size).numpy()
        assert abs(weight.std() - 0.02) < 1e-4
    names = [name for name, _ in models.CycleGANGenerator(features=4).named_parameters()]
    assert names[0] == "model.1.weight" and names[-1] == "model.26.bias"
    assert {"model.10.conv_block.1.weight", "model.18.conv_block.5.bias"} < set(names)


def test_shapes_are_told_by_a_trace():
    told = mo.summary(models.CycleGANGenerator(1, 3, 8, 2), mo.zeros((2, 1, 16, 24)))
    assert told.layers[0].outputs == [(2, 3, 16, 24)]
    told = mo.summary(models.CycleGANDiscriminator(3, 8), mo.zeros((1, 3, 256, 256)))
    assert told.layers[0].outputs == [(1, 1, 30, 30)]


def test_the_cycle_loss_is_the_mean_distance(rng):
    x, back = rng.normal(size=(2, 3, 4, 4)), rng.normal(size=(2, 3, 4, 4))
    found = models.cycle_consistency_loss(mo.array(x), mo.array(back)).item()
    np.testing.assert_allclose(found, np.abs(back - x).mean())
    with pytest.raises(TypeError, match=r"cycle_consistency_loss: back is .*, expected a Var"):
        models.cycle_consistency_loss(mo.array(x), back)


@pytest.mark.rest
def test_both_ways_are_learnt(rng):
    """Images of bright pixels, and of dark ones."""
    mo.seed(0)
    there, back = (models.CycleGANGenerator(1, 1, 4, 1) for _ in range(2))
    judge = models.CycleGANDiscriminator(1, 4)
    of_generators = mo.optim.Adam(there.parameters() + back.parameters(), 2e-3, betas=(0.5, 0.999))
    of_judge = mo.optim.Adam(judge.parameters(), 2e-4, betas=(0.5, 0.999))

    @mo.jit
    def step(x, y):
        made = there(x)
        scores = models.least_squares_loss(judge(y), True)
        of_judge.step(scores + models.least_squares_loss(judge(made.detach()), False))
        cycle = models.cycle_consistency_loss(x, back(made))
        of_generators.step(models.least_squares_loss(judge(made), True) + 10 * cycle)
        return cycle

    dark = mo.array(rng.uniform(-1, -0.2, (4, 1, 24, 24)).astype("float32"))
    bright = mo.array(rng.uniform(0.2, 1, (4, 1, 24, 24)).astype("float32"))
    losses = [step(dark, bright).item() for _ in range(25)]
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: models.CycleGANGenerator(0), "CycleGANGenerator: inputs is 0"),
        (lambda: models.CycleGANGenerator(blocks=0), "CycleGANGenerator: blocks is 0"),
        (lambda: models.CycleGANDiscriminator(features=0), "Discriminator: features is 0"),
        (
            lambda: models.CycleGANGenerator(features=4)(mo.zeros((1, 3, 16, 18))),
            r"images have shape \(1, 3, 16, 18\), expected \(N, 3, H, W\) of multiples of 4",
        ),
        (
            lambda: models.CycleGANGenerator(features=4)(mo.zeros((1, 2, 16, 16))),
            r"images have shape \(1, 2, 16, 16\), expected \(N, 3, H, W\)",
        ),
    ],
)
def test_bad_input(make, text):
    with pytest.raises(ValueError, match=text):
        make()
