# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaders with workers give what those without give; what goes wrong in a worker is told."""

from __future__ import annotations

import gc
import os
import random
import resource
import signal
import threading
import time

import metaops as mo
import numpy as np
import pytest
from data_checks import assert_equal, is_alive, members, pids, read
from metaops import data
from tiers import draws

pytestmark = pytest.mark.processor


class Items(data.Dataset):
    """Items with arrays, numbers, texts and noise."""

    def __init__(self, count=23):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        noise = data.rng().random(2)
        empty = np.zeros((0, 2), "uint8")
        return {"x": np.full((2, 3), index, "int16"), "r": noise, "f": 0.5, "t": "é", "e": empty}


class Counted(data.IterableDataset):
    """A stream whose workers have every so many items."""

    def __init__(self, count=23):
        self.count = count

    def __iter__(self):
        return self.shard(0, 1)

    def shard(self, index, count):
        for number in range(index, self.count, count):
            yield number, data.rng().random()


class Calling(data.Dataset):
    """Items that a function makes."""

    def __init__(self, function, count=8):
        self.function = function
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.function(index)


CASES = {
    "items": lambda n: data.DataLoader(Items(), 4, shuffle=True, num_workers=n, seed=2),
    "rows": lambda n: data.DataLoader(
        data.TensorDataset(np.arange(46.0).reshape(23, 2), np.arange(23)),
        5,
        shuffle=True,
        num_workers=n,
        prefetch_factor=3,
    ),
    "alone": lambda n: data.DataLoader(Items(5), None, num_workers=n, seed=1),
    "sampler": lambda n: data.DataLoader(
        Items(), batch_sampler=[[1], [5, 5, 2], [0, 3], [22]], num_workers=n
    ),
    "function": lambda n: data.DataLoader(
        Items(), 6, collate_fn=lambda items: (len(items), items[0]["x"]), num_workers=n
    ),
    "arrays": lambda n: data.DataLoader(Items(9), 4, as_arrays=True, num_workers=n),
    "nothing": lambda n: data.DataLoader(Items(0), 4, shuffle=True, num_workers=n),
    "not kept": lambda n: data.DataLoader(
        Items(), 4, shuffle=True, num_workers=n, persistent_workers=False
    ),
}


@pytest.mark.parametrize("workers", draws([2, 1, 5]))
@pytest.mark.parametrize("case", CASES)
def test_workers_make_the_same_bits(case, workers):
    loader, expected = CASES[case](workers), CASES[case](0)
    expected.load_state_dict(loader.state_dict())
    for _ in range(3):
        assert_equal(read(loader), read(expected))
        assert loader.state_dict() == expected.state_dict()
    loader.close()


@pytest.mark.parametrize("case", ["items", "sampler", "stream"])
@pytest.mark.parametrize("given", draws([3, 1]))
def test_a_loader_with_workers_goes_on_where_another_was(case, given):
    def make(workers):
        if case == "stream":
            return data.DataLoader(Counted(), 3, num_workers=2, seed=1)
        return CASES[case](workers)

    loader = make(2)
    read(loader)
    iterator = iter(loader)
    for _ in range(given):
        next(iterator)
    # Batches that are made ahead do not count.
    state = loader.state_dict()
    assert state["epoch"] == 1 and state["batches"] == given
    rest, after = read(iterator), read(loader)
    for workers in (0, 1, 2):
        other = make(workers)
        other.load_state_dict(state)
        assert_equal(read(other), rest)
        assert_equal(read(other), after)
    # A loader that has begun the next epoch goes back, too.
    loader.load_state_dict(state)
    assert_equal(read(loader), rest)


def test_a_stream_is_divided():
    def read_numbers(workers, count=23):
        loader = data.DataLoader(Counted(count), 4, num_workers=workers, seed=5)
        batches = read(loader) + read(loader)
        pairs = [(n, r) for one in batches for n, r in zip(*one, strict=True)]
        return pairs, [list(one[0]) for one in batches]

    pairs, batches = read_numbers(2)
    assert batches[:3] == [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14]]
    assert sorted(n for n, _ in pairs) == sorted([*range(23)] * 2)
    # The items' random numbers are those without workers.
    assert sorted(pairs) == sorted(read_numbers(0)[0]) == sorted(read_numbers(3)[0])
    assert sorted(n for n, _ in read_numbers(4, count=2)[0]) == [0, 0, 1, 1]


def test_a_stream_that_every_worker_would_give_is_refused():
    class Whole(data.IterableDataset):
        def __iter__(self):
            yield from range(5)

    class Knowing(data.IterableDataset):
        def __iter__(self):
            info = data.get_worker_info()
            yield from range(info.id if info else 0, 5, info.num_workers if info else 1)

    with pytest.raises(TypeError, match="each of 2 workers would give all items of the Whole"):
        read(data.DataLoader(Whole(), num_workers=2))
    for workers in (1, 2):
        loader = data.DataLoader(Knowing(), num_workers=workers)
        assert sorted(int(batch[0]) for batch in read(loader)) == [0, 1, 2, 3, 4]
    assert len(read(data.DataLoader(Whole(), num_workers=1))) == 5


def test_workers_stay_and_begin_the_next_epoch():
    loader = data.DataLoader(Items(), 4, num_workers=2)
    read(loader)
    first = pids(loader)
    assert loader._ahead is not None and loader._ahead.pending == 4
    read(loader)
    assert pids(loader) == first
    loader.close()
    assert not any(map(is_alive, first))
    read(loader)
    assert not {*pids(loader)} & {*first}
    second = pids(loader)
    del loader
    assert not any(map(is_alive, second))


def test_a_loop_that_is_left_leaves_nothing():
    loader = data.DataLoader(Items(), 2, num_workers=2)
    expected = data.DataLoader(Items(), 2, seed=loader.seed)
    for _ in range(3):
        for batch, other in zip(loader, expected, strict=True):
            assert_equal([mo.tree_map(np.asarray, batch)], [mo.tree_map(np.asarray, other)])
            break
    assert_equal(read(loader), read(expected))
    for member in members(loader):
        assert len(member.tasks) + len(member.results) <= 2


def test_two_iterators_of_a_loader_with_workers():
    loaders = CASES["rows"](2), CASES["rows"](0)
    loaders[0].load_state_dict(loaders[1].state_dict())
    one, other = ([*zip(loader, loader, strict=True)] for loader in loaders)
    assert_equal(read(one), read(other))
    streams = [data.DataLoader(Counted(), 5, num_workers=n, seed=1) for n in (1, 0)]
    one, other = ([*zip(stream, stream, strict=True)] for stream in streams)
    assert_equal(read(one), read(other))


class StrangeError(Exception):
    """Its arguments are not those that it keeps."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def raise_it(error):
    raise error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyError("key"), KeyError, "'key'"),
        (StrangeError(1, 2), RuntimeError, "StrangeError: 1 and 2"),
        (type("Local", (ValueError,), {})("text"), RuntimeError, "Local: text"),
        (SystemExit(3), RuntimeError, "SystemExit: 3"),
        (KeyboardInterrupt(), RuntimeError, "KeyboardInterrupt"),
        (StopIteration(), RuntimeError, "raised StopIteration"),
        (UnicodeDecodeError("utf8", b"x", 0, 1, "bad"), UnicodeDecodeError, "bad"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_worker_raises_is_raised(error, kind, message):
    loader = data.DataLoader(
        Calling(lambda index: raise_it(error) if index == 3 else index), 2, num_workers=2
    )
    iterator = iter(loader)
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(kind, match=message) as told:
        next(iterator)
    assert "in worker 1, which made batch 1 of epoch 0 (items 2, 3)" in told.value.__notes__
    assert "in raise_it" in str(told.value.__cause__)
    # The others are there.
    assert [batch.tolist() for batch in iterator] == [[4, 5], [6, 7]]


def test_items_that_cannot_be_sent_are_told():
    loader = data.DataLoader(
        Calling(lambda index: threading.Lock()), 2, num_workers=1, collate_fn=lambda items: items
    )
    with pytest.raises(TypeError, match="cannot pickle") as told:
        next(iter(loader))
    assert "in a batch that has to be sent to the loader's process" in told.value.__notes__


def test_sessions_are_not_used_in_workers():
    x = mo.ones(3)
    loader = data.DataLoader(Calling(lambda index: x + index), num_workers=1)
    with pytest.raises(RuntimeError, match="forked from the one that made the session"):
        next(iter(loader))
    assert x.sum().item() == 3


def test_a_start_that_fails_is_told():
    loader = data.DataLoader(
        Items(), num_workers=1, worker_init_fn=lambda worker: raise_it(OSError("no start"))
    )
    with pytest.raises(OSError, match="no start"):
        next(iter(loader))


def test_a_worker_that_hangs_is_told_with_its_stack():
    def sleep_at_three(index):
        if index == 3:
            time.sleep(60)
        return index

    loader = data.DataLoader(Calling(sleep_at_three), 2, num_workers=1, timeout=0.3)
    iterator = iter(loader)
    assert next(iterator).tolist() == [0, 1]
    processes = pids(loader)
    with pytest.raises(
        TimeoutError, match=r"worker 0 has not made batch 1 .*at item 3 within 0.3"
    ) as told:
        next(iterator)
    assert "in sleep_at_three" in str(told.value)
    assert not any(map(is_alive, processes))
    with pytest.raises(RuntimeError, match="workers of this epoch have ended"):
        next(iterator)
    # The loader itself goes on, with other workers.
    assert next(iter(loader)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by SIGKILL"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "was killed by SIGTERM"),
        (lambda: os._exit(7), "has ended with code 7"),
    ],
)
def test_a_worker_that_ends_is_told_with_the_index(end, message):
    loader = data.DataLoader(
        Calling(lambda index: end() if index == 5 else index), 2, num_workers=2
    )
    iterator = iter(loader)
    start = time.monotonic()
    assert [next(iterator).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    told = f"worker 0 .* {message}.* batch 2 of epoch 0 .items 4, 5., at item 5"
    with pytest.raises(RuntimeError, match=told):
        next(iterator)
    assert time.monotonic() - start < 2


def test_a_worker_that_others_kill_is_told():
    loader = data.DataLoader(Calling(lambda index: time.sleep(30)), num_workers=2)
    iterator = iter(loader)
    (process, _) = pids(loader)
    start = time.monotonic()
    threading.Timer(0.1, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(RuntimeError, match=f"process {process}. was killed by SIGKILL"):
        next(iterator)
    assert time.monotonic() - start < 2.5


def test_memory_that_is_not_there_is_told():
    def limit(worker):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    loader = data.DataLoader(np.zeros((8, 5000)), 4, num_workers=1, worker_init_fn=limit)
    with pytest.raises(MemoryError, match="no 163,840 bytes of shared memory for a batch"):
        next(iter(loader))
    small = data.DataLoader(np.zeros((8, 50)), 4, num_workers=1, worker_init_fn=limit)
    assert len(read(small)) == 2


def test_many_batches_are_held():
    count, rows = 300, np.repeat(np.arange(1200), 600).reshape(1200, 600)
    loader = data.DataLoader(rows, 4, num_workers=1)
    iterator = iter(loader)
    batches = [next(iterator)]
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    batches += list(iterator)
    assert len(os.listdir("/proc/self/fd")) == before
    (member,) = members(loader)
    assert len(member.slots) >= count
    assert [int(batch[1, 5]) for batch in batches] == [*range(1, 4 * count, 4)]
    kept = batches[7]
    del batches
    mo.sync_all()
    for _ in range(2):
        for _ in loader:
            pass
    # Slots that are free are used again, and few are kept.
    assert len(member.slots) < 20
    assert kept[:, 599].tolist() == [28, 29, 30, 31]
    loader.close()
    assert kept[:, 599].tolist() == [28, 29, 30, 31]
    assert len(os.listdir("/proc/self/fd")) < before


def test_slots_are_free_when_nobody_uses_them():
    rows = np.arange(64000.0).reshape(16, 4000)
    loader = data.DataLoader(rows, 2, num_workers=1, prefetch_factor=1)
    total = mo.zeros(4000, "float64")
    for batch in loader:
        # Nothing is computed before the end: the batches are operands that wait.
        total = total + batch.sum(0)
    np.testing.assert_array_equal(total.numpy(), rows.sum(0))
    # A part of an array keeps all of its batch.
    loader = data.DataLoader(rows, 2, num_workers=1, prefetch_factor=1, as_arrays=True)
    parts = [batch[1, 7:8] for batch in loader]
    assert [float(part[0]) for part in parts] == rows[1::2, 7].tolist()


def test_labels_that_are_kept_keep_no_images():
    dataset = data.TensorDataset(np.zeros((60, 5000)), np.arange(60))
    for as_arrays in (False, True):
        loader = data.DataLoader(dataset, 2, num_workers=1, as_arrays=as_arrays)
        labels = [label for _, label in loader]
        (member,) = members(loader)
        assert len(member.slots) < 12
        assert [int(label[1]) for label in labels] == [*range(1, 60, 2)]


def test_batches_of_many_sizes():
    sizes = [1, 5000, 3, 70000, 70001, 2, 9000, 1, 80000, 0, 12]
    arrays = [np.full(size, size) for size in sizes]
    loader = data.DataLoader(arrays, num_workers=2)
    for _ in range(3):
        assert [batch.shape[1] for batch in loader] == sizes
    for batch, size in zip(read(loader), sizes, strict=True):
        assert np.all(batch == size)


def test_long_texts_and_long_batches():
    texts = [f"{k} " * 9000 for k in range(5)]
    loader = data.DataLoader(texts, 2, num_workers=1)
    assert [text for batch in loader for text in batch] == texts
    numbers = data.DataLoader(np.arange(60000), 30000, shuffle=True, num_workers=2, seed=1)
    assert_equal(
        read(numbers), read(data.DataLoader(np.arange(60000), 30000, shuffle=True, seed=1))
    )


def test_requests_and_results_that_fill_the_connection():
    """The loader takes results in where there is no room for its requests."""
    options = {"num_workers": 1, "prefetch_factor": 30}
    sampler = [[0] * 30_000 for _ in range(30)]
    texts = ["x" * 2000]
    loader = data.DataLoader(
        texts, batch_sampler=sampler, collate_fn=lambda items: items[:7], **options
    )
    batches = list(loader)
    assert len(batches) == 30 and batches[29] == texts * 7
    slow = Calling(lambda index: time.sleep(20), 1)
    loader = data.DataLoader(slow, batch_sampler=sampler, timeout=0.3, **options)
    with pytest.raises(TimeoutError, match=r"worker 0 has not made batch 0 of .*, at item 0"):
        next(iter(loader))


def test_generators_of_a_process_are_seeded():
    def draw(index):
        return random.random(), float(np.random.random())

    def epochs(workers):
        loader = data.DataLoader(Calling(draw), 2, num_workers=workers, seed=4)
        return [np.concatenate([np.stack(b) for b in read(loader)], 1) for _ in range(2)]

    state = random.getstate()
    first, second = epochs(2)
    assert len(set(first.ravel().tolist() + second.ravel().tolist())) == 32
    assert_equal([first, second], epochs(2))
    assert random.getstate() == state


def test_a_program_in_flight_is_waited_for():
    x = mo.rand(400, 400)
    for _ in range(8):
        x.update(mo.matmul(x, x) * 1e-3)
    loader = data.DataLoader(np.arange(6.0), 2, num_workers=2)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]
    assert np.isfinite(x.sum().item())


def test_a_forked_process_has_workers_of_its_own():
    loader = data.DataLoader(Items(), 4, num_workers=1, as_arrays=True)
    read(loader)
    owned = pids(loader)
    if (child := os.fork()) == 0:
        code = 1
        try:
            (pool,) = loader._pools
            assert pool.owner != os.getpid()
            pool.close()
            del loader
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(map(is_alive, owned)) and len(read(loader)) == 6
