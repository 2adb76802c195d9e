# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of items: samplers, splits, and the seeds that they follow from."""

from __future__ import annotations

import sys
import threading

import metaops as mo
import numpy as np
import pytest
from data_checks import assert_equal, read
from metaops import data

pytestmark = pytest.mark.processor


class Noisy(data.Dataset):
    """Numbers, with noise."""

    def __len__(self):
        return 20

    def __getitem__(self, index):
        return {"n": index, "r": data.rng().random()}


def test_the_order_follows_from_seed_and_epoch():
    def orders(seed):
        loader = data.DataLoader(range(20), 20, shuffle=True, seed=seed)
        return [next(iter(loader)).tolist() for _ in range(3)]

    first, others = orders(5), orders(6)
    assert first == orders(5)
    assert all(sorted(order) == list(range(20)) for order in first)
    assert len({tuple(order) for order in first + others}) == 6


def test_loaders_of_a_session_differ_and_come_again():
    def run():
        mo.seed(5)
        loaders = [data.DataLoader(Noisy(), 20, shuffle=True) for _ in range(3)]
        return [next(iter(loader)) for loader in loaders for _ in range(2)]

    batches, again = read(run()), read(run())
    assert mo.get_rng_state() == {"seed": 5, "drawn": 3}
    assert_equal(batches, again)
    assert len({tuple(batch["n"].tolist()) for batch in batches}) == 6
    assert len({float(value) for batch in batches for value in batch["r"]}) == 120


def test_a_split_is_no_order_of_a_loader():
    (part,) = data.random_split(range(20), [20], seed=5)
    (batch,) = data.DataLoader(range(20), 20, shuffle=True, seed=5)
    assert sorted(part.indices) == list(range(20)) and part.indices != batch.tolist()


@pytest.mark.rest
def test_threads_draw_other_numbers():
    """Threads change in the middle of what Python does."""
    drawn, interval = [], sys.getswitchinterval()

    def draw():
        for _ in range(1000):
            drawn.append(int(data.rng().integers(2**62)))
            mo.rand(2)

    mo.seed(3)
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=draw) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(set(drawn)) == len(drawn) == 3000
    assert mo.get_rng_state() == {"seed": 3, "drawn": 3000 * 3}


def test_random_split():
    parts = data.random_split(range(10), [0.5, 0.25, 0.25], seed=1)
    assert [len(part) for part in parts] == [6, 2, 2]
    assert sorted(item for part in parts for item in part) == list(range(10))
    again = data.random_split(range(10), [6, 2, 2], seed=1)
    assert [part.indices for part in again] == [part.indices for part in parts]
    mo.seed(1)
    first, second = (data.random_split(range(30), [15, 15])[0].indices for _ in range(2))
    assert first != second


def test_samplers():
    mo.seed(0)
    assert [*data.SequentialSampler(range(3))] == [0, 1, 2]
    assert sorted(data.RandomSampler(range(9))) == list(range(9))
    drawn = [*data.RandomSampler(range(3), replacement=True, num_samples=200)]
    assert len(drawn) == 200 and set(drawn) == {0, 1, 2}
    longer = [*data.RandomSampler(range(3), num_samples=7)]
    assert sorted(longer[:3]) == sorted(longer[3:6]) == [0, 1, 2] and len(longer) == 7
    assert sorted(data.SubsetRandomSampler("abc")) == ["a", "b", "c"]
    weighted = [*data.WeightedRandomSampler([0, 1, 3], 4000)]
    assert set(weighted) == {1, 2} and 0.7 < np.mean(np.array(weighted) == 2) < 0.8
    assert sorted(data.WeightedRandomSampler([0, 1, 3], 2, replacement=False)) == [1, 2]
    batches = data.BatchSampler("abcde", 2)
    assert [*batches] == [["a", "b"], ["c", "d"], ["e"]] and len(batches) == 3
    assert [*data.BatchSampler("abcde", 2, drop_last=True)] == [["a", "b"], ["c", "d"]]
    assert [*data.RandomSampler([])] == []
