# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samplers of batches by length, and of the parts that processes read."""

from __future__ import annotations

import itertools

import metaops as mo
import numpy as np
import pytest
from data_checks import assert_equal, read
from metaops import data

pytestmark = pytest.mark.processor


def joined(lists):
    """Return the elements of several lists."""
    return list(itertools.chain.from_iterable(lists))


def orders_of(count, replicas, **options):
    """Return the indices of each process."""
    return [
        list(data.DistributedSampler(range(count), replicas, rank, **options))
        for rank in range(replicas)
    ]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(("count", "replicas"), [(10, 3), (9, 3), (2, 5), (5, 1), (0, 2)])
def test_parts_without_a_shuffle_are_pytorchs(count, replicas, drop_last):
    """Every n-th index; the first ones come again, or the last ones are left out."""
    most = count // replicas * replicas if drop_last else -(-count // replicas) * replicas
    whole = (list(range(count)) * replicas)[:most]
    found = orders_of(count, replicas, shuffle=False, drop_last=drop_last)
    assert found == [whole[rank::replicas] for rank in range(replicas)]
    sampler = data.DistributedSampler(range(count), replicas, 0, drop_last=drop_last)
    assert (len(sampler), sampler.num_samples) == (most // replicas, most // replicas)
    assert sampler.total_size == most


def test_parts_have_each_item_once():
    for seed in (0, 7):
        parts = orders_of(20, 4, seed=seed)
        assert sorted(joined(parts)) == list(range(20))
        assert parts == orders_of(20, 4, seed=seed)
    assert orders_of(20, 4, seed=0) != orders_of(20, 4, seed=7)


def test_orders_of_parts_follow_from_seed_and_epoch_alone():
    def read_epochs(rank, loader_seed, **options):
        sampler = data.DistributedSampler(range(12), 2, rank, seed=3)
        loader = data.DataLoader(range(12), 3, sampler=sampler, seed=loader_seed, **options)
        return loader, [[x.tolist() for x in loader] for _ in range(3)]

    _, first = read_epochs(0, 1)
    _, second = read_epochs(1, 2)
    for own, other in zip(first, second, strict=True):
        assert sorted(joined(own + other)) == list(range(12))
    assert len({str(epoch) for epoch in first}) == 3
    loader, again = read_epochs(0, 5, num_workers=2)
    assert again == first
    # A loader goes on in the middle.
    loader.load_state_dict({**loader.state_dict(), "epoch": 1, "batches": 1})
    assert [x.tolist() for x in loader] == first[1][1:]
    # Epochs may be told, as to PyTorch's.
    sampler = data.DistributedSampler(range(12), 2, 0, seed=3)
    assert list(sampler) == joined(first[0])
    sampler.set_epoch(2)
    assert list(sampler) == joined(first[2])
    loader = data.DataLoader(range(12), 3, sampler=sampler)
    assert [[x.tolist() for x in loader] for _ in range(2)] == [first[2]] * 2


def test_processes_are_told_by_the_environment(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match=r"num_replicas is not given, .* no WORLD_SIZE"):
        data.DistributedSampler(range(4))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"rank is not given, .* no RANK"):
        data.DistributedSampler(range(4))
    monkeypatch.setenv("RANK", "1")
    assert list(data.DistributedSampler(range(4), shuffle=False)) == [1, 3]
    assert list(data.DistributedSampler(range(4), 4, 2, shuffle=False)) == [2]
    monkeypatch.setenv("RANK", "one")
    with pytest.raises(ValueError, match="RANK is 'one' in the environment, expected a number"):
        data.DistributedSampler(range(4))
    monkeypatch.setenv("RANK", "-1")
    with pytest.raises(ValueError, match="RANK is '-1' in the environment, expected a number of 0"):
        data.DistributedSampler(range(4))
    for given, text in [
        ({"num_replicas": 0, "rank": 0}, "num_replicas is 0, expected an integer of at least 1"),
        ({"num_replicas": 2, "rank": 2}, "rank is 2, expected 0 to 1, as num_replicas is 2"),
        ({"num_replicas": 2, "rank": -1}, "rank is -1"),
        ({"num_replicas": 2, "rank": 0, "seed": -1}, "seed is -1"),
    ]:
        with pytest.raises(ValueError, match=text):
            data.DistributedSampler(range(4), **given)
    for given, text in [
        ({"num_replicas": True}, "num_replicas is True, expected an integer"),
        ({"rank": False}, "rank is False, expected an integer"),
        ({"drop_last": "no"}, "drop_last is 'no', expected a bool"),
        ({"shuffle": None}, "shuffle is None, expected a bool"),
        ({"dataset": iter(range(4))}, "dataset is .*, expected one with a length"),
    ]:
        with pytest.raises(TypeError, match=text):
            data.DistributedSampler(**{"dataset": range(4), "num_replicas": 2, "rank": 0, **given})
    with pytest.raises(ValueError, match="epoch is -1"):
        data.DistributedSampler(range(4), 1, 0).set_epoch(-1)


LENGTHS = np.random.default_rng(0).integers(1, 200, 103)


def test_batches_by_length_have_each_item_once():
    sampler = data.BucketBatchSampler(LENGTHS, 8, bucket_size=4)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 13
    assert sorted(joined(batches)) == list(range(103))
    assert sorted(map(len, batches)) == [7] + [8] * 12
    dropped = data.BucketBatchSampler(LENGTHS, 8, drop_last=True)
    assert list(map(len, dropped)) == [8] * len(dropped) == [8] * 12


def test_batches_by_length_are_of_about_one_length():
    def padding(batches):
        return sum(sum(LENGTHS[batch].max() - LENGTHS[batch]) for batch in batches)

    mo.seed(0)
    at_random = list(data.BatchSampler(data.RandomSampler(LENGTHS), 8))
    few, many = (
        padding(data.BucketBatchSampler(LENGTHS, 8, bucket_size=size)) for size in (3, 100)
    )
    assert many < few < padding(at_random) / 2
    # One bucket has all: no batch's lengths overlap with another's.
    spans = sorted(
        (LENGTHS[b].min(), LENGTHS[b].max()) for b in data.BucketBatchSampler(LENGTHS, 8)
    )
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@pytest.mark.parametrize("bucket_size", [4, 100])
def test_items_that_are_left_out_are_drawn(bucket_size):
    lengths = np.arange(103)
    mo.seed(0)
    sampler = data.BucketBatchSampler(lengths, 8, drop_last=True, bucket_size=bucket_size)
    out = [sorted(set(range(103)) - set(joined(sampler))) for _ in range(5)]
    assert all(len(epoch) == 7 for epoch in out)
    assert len(set(map(tuple, out))) == 5
    # The longest ones are in most epochs.
    assert sum(102 in epoch for epoch in out) <= 2


def test_flags_of_batches_by_length():
    with pytest.raises(TypeError, match="drop_last is 'no', expected a bool"):
        data.BucketBatchSampler([1], 1, drop_last="no")
    with pytest.raises(TypeError, match="shuffle is 3, expected a bool"):
        data.BucketBatchSampler([1], 1, shuffle=3)


def test_batches_by_length_in_their_order():
    sampler = data.BucketBatchSampler([3, 1, 2, 1, 3], 2, shuffle=False)
    assert list(sampler) == list(sampler) == [[1, 3], [2, 0], [4]]
    assert list(data.BucketBatchSampler([], 2)) == []


def test_loaders_of_batches_by_length_go_on_in_the_middle():
    def make(workers=0):
        sampler = data.BucketBatchSampler(LENGTHS, 8, bucket_size=3)
        return data.DataLoader(range(103), batch_sampler=sampler, seed=4, num_workers=workers)

    whole = make()
    epochs = [read(whole) for _ in range(2)]
    assert len({str([batch.tolist() for batch in epoch]) for epoch in epochs}) == 2
    for workers in (0, 2):
        loader = make(workers)
        iterator = iter(loader)
        for _ in range(5):
            next(iterator)
        state = loader.state_dict()
        again = make(workers)
        again.load_state_dict(state)
        assert_equal(read(again), epochs[0][5:])
        assert_equal(read(again), epochs[1])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([1, -1], 2), "lengths is .*, expected finite numbers"),
        (([1, np.inf], 2), "lengths is .*, expected finite numbers"),
        (([[1]], 2), "lengths is .*, expected finite numbers"),
        (([[1], [1, 2]], 2), "lengths is .*, expected finite numbers"),
        ((["a"], 2), "lengths is .*, expected finite numbers"),
        (([1 + 2j], 2), "lengths is .*, expected finite numbers"),
        (([None], 2), "lengths is .*, expected finite numbers"),
        ((3, 2), "lengths is 3, expected finite numbers"),
        (([1], 0), "batch_size is 0, expected an integer of at least 1"),
        (([1], 1, True, False, 0), "bucket_size is 0, expected an integer of at least 1"),
    ],
)
def test_batches_by_length_that_cannot_be(arguments, text):
    with pytest.raises(ValueError, match=text):
        data.BucketBatchSampler(*arguments)
