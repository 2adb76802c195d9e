# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How workers begin and end, and what becomes of memory that other processes have."""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest
from data_checks import all_end, pids
from metaops import data
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


def test_a_connection_that_is_full_holds_up_no_end():
    """Requests fill it while the worker makes the first batch."""

    class Sampler:
        def __iter__(self):
            for number in range(40):
                # The first one is on its way before the others follow.
                time.sleep(0.3 if number == 1 else 0)
                yield [0] * 12_000

    loader = data.DataLoader(
        Calling(lambda index: time.sleep(30), 1),
        batch_sampler=Sampler(),
        num_workers=1,
        prefetch_factor=40,
        timeout=0.3,
    )
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="worker 0 has not made batch 0"):
        next(iter(loader))
    assert time.monotonic() - start < 10


def test_workers_that_hang_are_waited_for_together():
    loader = data.DataLoader(
        Calling(lambda index: time.sleep(60)), num_workers=4, prefetch_factor=1
    )
    iterator = iter(loader)
    loader.fill_ahead(iterator)
    processes = pids(loader)
    time.sleep(0.2)
    start = time.monotonic()
    loader.close()
    assert time.monotonic() - start < 2.5 and all_end(processes)


def test_an_end_that_is_interrupted_leaves_no_process():
    loader = data.DataLoader(
        Calling(lambda index: time.sleep(60)), num_workers=3, prefetch_factor=1
    )
    iterator = iter(loader)
    loader.fill_ahead(iterator)
    processes = pids(loader)
    time.sleep(0.2)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        loader.close()
    assert len(processes) == 3 and all_end(processes)


def test_a_connection_that_a_data_set_closes_is_told():
    def close(index):
        os.closerange(3, 200)
        time.sleep(20)

    with pytest.raises(RuntimeError, match=r"worker 0 .* has (closed its conn|ended with code 0)"):
        next(iter(data.DataLoader(Calling(close), num_workers=1)))


@pytest.mark.parametrize("timeout", [float("inf"), 1e9])
def test_long_timeouts(timeout):
    loader = data.DataLoader(Calling(lambda index: index, 4), 2, num_workers=1, timeout=timeout)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]


def test_a_program_that_prints_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    loader = data.DataLoader(np.arange(4), 2, num_workers=1)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]


def test_descriptors_that_are_not_there_are_told():
    def slow(index):
        time.sleep(0.3)
        return np.zeros(5000)

    loader = data.DataLoader(Calling(slow), num_workers=1)
    iterator = iter(loader)
    loader.fill_ahead(iterator)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
        with pytest.raises(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(OSError, match="no descriptor is left for the memory of a batch"):
            next(iterator)
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert next(iter(loader)).shape == (1, 5000)


def test_arrays_that_a_forked_process_has_do_not_change():
    rows = np.repeat(np.arange(12.0), 5000).reshape(12, 5000)
    options = {"num_workers": 1, "prefetch_factor": 1, "as_arrays": True}
    loader = data.DataLoader(rows, 2, shuffle=True, seed=1, **options)
    kept = list(loader)
    expected = [float(batch[1, 7]) for batch in kept]
    come, go = os.pipe()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.read(come, 1)
            code = int([float(batch[1, 7]) for batch in kept] != expected)
        finally:
            os._exit(code)
    try:
        kept.clear()
        for _ in range(3):
            assert sorted(row[7] for batch in loader for row in batch) == [*range(12)]
    finally:
        os.write(go, b"x")
        _, status = os.waitpid(child, 0)
        os.close(come)
        os.close(go)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("seed", draws([None, 7]))
def test_generators_that_a_start_seeds_are_left(seed):
    def start(worker):
        if seed is not None:
            np.random.seed(seed)

    def draw(index):
        return np.float64(random.random()), np.float64(np.random.random())

    def epochs(start):
        loader = data.DataLoader(
            Calling(draw, 2), 2, num_workers=1, worker_init_fn=start, as_arrays=True, seed=1
        )
        return [np.stack(batch).tolist() for _ in range(2) for batch in loader]

    (own, first), (own_next, second) = epochs(start)
    (plain, plain_first), (plain_next, plain_second) = epochs(None)
    assert (own, own_next) == (plain, plain_next)
    if seed is None:
        assert (first, second) == (plain_first, plain_second)
    else:
        expected = np.random.RandomState(seed).random(4).tolist()
        assert first + second == expected


def test_a_resumed_loader_seeds_generators_as_another():
    def make():
        def draw(index):
            return random.random() + np.random.random()

        start = lambda worker: None  # noqa: E731
        return data.DataLoader(
            Calling(draw, 2), 2, num_workers=1, worker_init_fn=start, as_arrays=True, seed=1
        )

    loader = make()
    (first,) = loader
    state = loader.state_dict()
    (second,) = loader
    other = make()
    other.load_state_dict(state)
    (again,) = other
    assert again.tolist() == second.tolist() != first.tolist()


def test_a_start_may_divide_a_stream():
    """As programs for PyTorch do."""

    class Part(data.IterableDataset):
        first, last = 0, 8

        def __iter__(self):
            return iter(range(self.first, self.last))

    def divide(worker):
        info = data.get_worker_info()
        size = 8 // info.num_workers
        info.dataset.first, info.dataset.last = info.id * size, (info.id + 1) * size

    loader = data.DataLoader(Part(), 2, num_workers=2, worker_init_fn=divide)
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[0, 1], [4, 5], [2, 3], [6, 7]]
    with pytest.raises(TypeError, match="each of 2 workers would give all items of the Part"):
        next(iter(data.DataLoader(Part(), num_workers=2, worker_init_fn=lambda worker: None)))
