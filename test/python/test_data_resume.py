# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run that is resumed gives the bits of one that was not interrupted."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import data, nn
from tiers import draws

pytestmark = pytest.mark.processor


class Augmented(data.Dataset):
    """Made images with noise, and labels."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.images = rng.random((24, 6), dtype="float32")
        self.labels = rng.integers(0, 3, 24)

    def __len__(self):
        return 24

    def __getitem__(self, index):
        noise = data.rng().normal(0, 0.1, 6).astype("float32")
        return self.images[index] + noise, self.labels[index]


class Run:
    """All that a run of training has."""

    def __init__(self, is_recorded=False, workers=0, **options):
        mo.seed(11)
        self.model = nn.Sequential(
            nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)
        )
        self.optimizer = mo.optim.Adam(self.model.parameters(), 0.01)
        self.schedule = mo.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 5)
        self.loader = data.DataLoader(Augmented(), 5, shuffle=True, num_workers=workers, **options)
        self.batches = iter(self.loader)
        self.step = mo.jit(self.take) if is_recorded else self.take

    def take(self, x, y):
        loss = nn.cross_entropy_loss(self.model(x), y)
        self.optimizer.step(loss)
        return loss

    def go(self, steps):
        """Train for some steps, and return the losses."""
        losses = []
        for _ in range(steps):
            batch = next(self.batches, None)
            if batch is None:
                self.schedule.step()
                self.batches = iter(self.loader)
                batch = next(self.batches)
            losses.append(self.step(*batch).item())
        return losses

    def save(self, path):
        parts = {name: getattr(self, name).state_dict() for name in PARTS}
        mo.save({**parts, "generator": mo.get_rng_state()}, path)

    def load(self, path):
        state = mo.load(path)
        for name in PARTS:
            getattr(self, name).load_state_dict(state[name])
        mo.set_rng_state(state["generator"])
        self.batches = iter(self.loader)

    def weights(self):
        return [value.numpy() for value in self.model.state_dict().values()]


PARTS = ("model", "optimizer", "schedule", "loader")


def check(folder, cuts, **options):
    """Check that runs that are cut after some steps are one that is not."""
    whole = Run(**options)
    expected = whole.go(14)
    losses, run = [], Run(**options)
    for cut in cuts:
        losses += run.go(cut - len(losses))
        run.save(folder / "state")
        run = Run(**options)
        run.go(2)
        run.load(folder / "state")
    losses += run.go(14 - len(losses))
    assert losses == expected
    for value, other in zip(run.weights(), whole.weights(), strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("cuts", draws([[2, 7], [3], [4], [12]]))
def test_a_resumed_run_has_the_same_bits(tmp_path, cuts, is_recorded):
    """Cut in the middle of an epoch, at the end of one, twice, and late."""
    check(tmp_path, cuts, is_recorded=is_recorded, drop_last=True)


@pytest.mark.parametrize("workers", draws([2, 1]))
def test_a_resumed_run_has_the_same_bits_with_workers(tmp_path, workers):
    check(tmp_path, [2, 7], drop_last=True, workers=workers)
    losses = [Run(drop_last=True, workers=number).go(9) for number in (0, workers)]
    assert losses[0] == losses[1]


def test_a_resumed_run_whose_batches_differ_in_length(tmp_path, own_kernels):
    check(tmp_path, [3, 9])
