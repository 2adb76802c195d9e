# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iterators of loaders: behind failures, behind a state, several at once, and left."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref

import numpy as np
import pytest
from data_checks import all_end, is_alive, pids
from metaops import data
from metaops.data import processes
from tiers import draws

pytestmark = pytest.mark.processor


class Calling(data.Dataset):
    """Items that a function makes."""

    def __init__(self, function, count=8):
        self.function = function
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.function(index)


class Uneven(data.IterableDataset):
    """A stream whose parts have given lengths."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __iter__(self):
        return iter(range(sum(self.lengths)))

    def shard(self, index, count):
        return iter(range(100 * index, 100 * index + self.lengths[index]))


class Failing(data.IterableDataset):
    """A stream that goes on behind items that raise."""

    def __iter__(self):
        return Numbers({3, 4, 7}, 12)


class Numbers:
    """Numbers, of which some raise."""

    def __init__(self, wrong, count):
        self.wrong, self.count, self.number = wrong, count, -1

    def __iter__(self):
        return self

    def __next__(self):
        self.number += 1
        if self.number in self.wrong:
            raise ValueError(f"{self.number} is wrong")
        if self.number >= self.count:
            raise StopIteration
        return self.number


def take(iterator, count=1000):
    """Return what so many steps of an iterator give: batches, and names of what is raised."""
    taken = []
    for _ in range(count):
        try:
            batch = next(iterator, None)
        except (ValueError, IndexError) as error:
            taken.append(type(error).__name__)
            continue
        if batch is None:
            break
        taken.append(batch.tolist())
    return taken


@pytest.mark.parametrize("lengths", draws([(5, 1), (1, 5), (0, 4), (4, 0), (2, 2), (3, 1, 2)]))
def test_a_stream_whose_parts_differ_goes_on(lengths):
    def make():
        return data.DataLoader(Uneven(lengths), num_workers=len(lengths), seed=0)

    loader = make()
    whole = take(iter(loader))
    assert len(whole) == sum(lengths)
    for given in range(len(whole) + 1):
        iterator = iter(loader)
        assert take(iterator, given) == whole[:given]
        other = make()
        other.load_state_dict(loader.state_dict())
        assert take(iter(other)) == whole[given:]


def wrong_at_three(index):
    if index == 3:
        raise ValueError("3 is wrong")
    return index


FAILING = {
    "items": (
        lambda n: data.DataLoader(Calling(wrong_at_three), 2, num_workers=n, seed=0),
        [[0, 1], "ValueError", [4, 5], [6, 7]],
    ),
    "stream": (
        lambda n: data.DataLoader(Failing(), 2, num_workers=n, seed=0),
        [[0, 1], "ValueError", "ValueError", [5, 6], "ValueError", [8, 9], [10, 11]],
    ),
    "indices": (
        lambda n: data.DataLoader(
            range(4), batch_sampler=[[0], [1], [9, 1], [2], [-5], [3]], num_workers=n, seed=0
        ),
        [[0], [1], "IndexError", [2], "IndexError", [3]],
    ),
    "rows": (
        lambda n: data.DataLoader(
            np.arange(4), batch_sampler=[[0], [1], [9, 1], [2]], num_workers=n, seed=0
        ),
        [[0], [1], "IndexError", [2]],
    ),
    "sampler": (
        lambda n: data.DataLoader(range(9), sampler=AtLast(), num_workers=n, seed=0),
        [[0], [1], [2], "ValueError"],
    ),
}


class AtLast:
    """A sampler that fails at last."""

    def __iter__(self):
        yield from range(3)
        raise ValueError("no more")


@pytest.mark.parametrize("workers", draws([1, 0, 2]))
@pytest.mark.parametrize("case", FAILING)
def test_what_fails_comes_in_its_turn_and_counts(case, workers):
    if case == "stream":
        # Each of several workers would give the whole of it.
        workers = min(workers, 1)
    make, whole = FAILING[case]
    for given in range(len(whole) + 1):
        loader = make(workers)
        iterator = iter(loader)
        assert take(iterator, given) == whole[:given]
        assert loader.state_dict() == {"seed": 0, "epoch": 0, "batches": given}
        other = make(workers)
        other.load_state_dict(loader.state_dict())
        assert take(iter(other)) == take(iterator) == whole[given:]


def test_streams_of_many_iterators():
    class Count(data.IterableDataset):
        def __iter__(self):
            return iter(range(30))

    loader = data.DataLoader(Count(), num_workers=1)
    iterators = [iter(loader) for _ in range(12)]
    firsts = [take(iterator, 5) for iterator in iterators]
    assert [first + take(iterator) for first, iterator in zip(firsts, iterators, strict=True)] == [
        [[number] for number in range(30)]
    ] * 12


def test_loops_whose_workers_do_not_stay():
    dataset = Calling(lambda index: index * dataset.factor)
    dataset.factor = 1
    loader = data.DataLoader(dataset, 2, num_workers=1, persistent_workers=False)
    pairs = [(a.tolist(), b.tolist()) for a in loader for b in loader]
    assert len(pairs) == 16 and pairs[5] == ([2, 3], [2, 3])
    gc.collect()
    finalizers = len(weakref.finalize._registry)
    processes = []
    for factor in (10, 100):
        dataset.factor = factor
        iterator = iter(loader)
        assert next(iterator).tolist() == [0, factor]
        processes += pids(loader)
        del iterator
        assert all_end(processes)
    assert len(processes) == 2 and pids(loader) == []
    for _ in range(3):
        assert [batch.tolist() for batch in loader][-1] == [600, 700]
    gc.collect()
    assert len(weakref.finalize._registry) <= finalizers
    kept = iter(loader)
    next(kept)
    processes = pids(loader)
    loader.close()
    assert all_end(processes)


def test_a_start_that_fails_is_no_epoch_and_leaves_nothing(monkeypatch):
    loader = data.DataLoader(range(9), 9, shuffle=True, num_workers=2, seed=3)
    started = []

    def fork():
        if len(started) % 2:
            started.append(0)
            raise BlockingIOError(11, "no process is left")
        started.append(os.getpid())
        return real()

    real = os.fork
    monkeypatch.setattr(processes.os, "fork", fork)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(BlockingIOError):
            iter(loader)
    monkeypatch.undo()
    gc.collect()
    assert len(started) == 6 and len(os.listdir("/proc/self/fd")) == before
    assert loader.state_dict() == {"seed": 3, "epoch": 0, "batches": 0}
    expected = data.DataLoader(range(9), 9, shuffle=True, seed=3)
    assert [batch.tolist() for batch in loader] == [batch.tolist() for batch in expected]


def test_a_spawn_that_is_refused_leaves_nothing():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        loader = data.DataLoader(
            Calling(lambda index: index), num_workers=1, multiprocessing_context="spawn"
        )
        with pytest.raises(TypeError, match="have to be pickled for spawned workers"):
            iter(loader)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_two_threads_do_not_take_at_once():
    loader = data.DataLoader(Calling(lambda index: time.sleep(0.3) or index, 2), num_workers=1)
    iterators, taken = [iter(loader), iter(loader)], []
    thread = threading.Thread(target=lambda: taken.append(next(iterators[0]).item()))
    thread.start()
    (pool,) = loader._pools
    while not pool.turn.locked() and thread.is_alive():
        time.sleep(0.001)
    with pytest.raises(RuntimeError, match="another thread takes a batch"):
        next(iterators[1])
    thread.join()
    assert taken == [0]
    assert [batch.item() for batch in iterators[1]] == [0, 1]
    assert all(map(is_alive, pids(loader)))
