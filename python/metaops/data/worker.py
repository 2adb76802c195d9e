# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A worker: a process that makes batches for a loader, one after another."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import pickle
import select
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .channel import Channel
from .collate import Batch, Collate, Ready
from .failures import Failure, pack_failure
from .global_generators import GlobalGenerators
from .making import MapMaker, StreamMaker, Task, tell
from .randomness import Draws, Use
from .slots import WorkerSlots
from .worker_info import WorkerInfo, set_worker_info

__all__ = ["NO_INDEX", "Job", "Request", "Result", "work"]

#: Stands in the page of a worker where the index is no integer.
NO_INDEX = -(2**63)
#: A structure that is longer goes through shared memory.
_LONG = 1 << 14
_ALIGNMENT = 64


class Job(NamedTuple):
    """A loader's parameters, as a worker is given them."""

    dataset: Any
    is_stream: bool
    collate_fn: Collate | None
    worker_init_fn: Callable[[int], Any] | None
    is_batched: bool
    batch_size: int | None
    drop_last: bool
    seed: int
    #: The first one.
    epoch: int
    prefetch_factor: int
    worker: int
    num_workers: int


class Request(NamedTuple):
    """A batch that is asked for.

    Parameters
    ----------
    number
        That of the request.
    run
        That of the iterator which asks.
    task
        The batch.
    is_skipped
        Whether its items are passed over.
    freed
        The slots that are free again.
    lost
        Those that are not used any more, and are not to be.
    over
        Iterators that are gone.
    """

    number: int
    run: int
    task: Task
    is_skipped: bool
    freed: list[int]
    lost: list[int]
    over: list[int]

    def pack(self) -> bytes:
        """Return the request as bytes: plain tuples are fewer of them."""
        number, run, task, *others = self
        return pickle.dumps((number, run, tuple(task), *others))

    @classmethod
    def unpack(cls, message: bytes) -> Request:
        """Return the request of some bytes."""
        number, run, task, *others = pickle.loads(message)
        return cls(number, run, Task(*task), *others)


class Result(NamedTuple):
    """The outcome of a request.

    Of a batch it is a structure, or with `is_long` the one that is pickled in the last of its
    arrays, and where these are in a slot: offset, dtype, shape and whether Python's floats
    were there. Of a stream's end it is nothing.
    """

    number: int
    failure: Failure | None
    is_end: bool
    structure: Any
    is_long: bool
    arrays: list[tuple[int, str, tuple[int, ...], bool]]
    slot: int | None
    #: The bytes of a slot that is new, whose descriptor comes with the message.
    size: int
    dropped: list[int]


def work(channel: Channel, page: mmap.mmap, parent: int, load: Callable[[], Job]) -> None:
    """Make batches until the loader ends, or ends the connection.

    Parameters
    ----------
    channel
        The connection to the loader.
    page
        Memory that says which item is being made.
    parent
        A descriptor of the loader's process.
    load
        Returns the job.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _use_one_thread()
    made: _Worker | Failure
    try:
        made = _Worker(load(), page)
    except BaseException as error:  # told with the first batch that is asked for
        made = pack_failure(error)
    # The loader may be gone in the middle of a message.
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while (message := channel.receive()) is not None:
            request = Request.unpack(message[0])
            if isinstance(made, Failure):
                result = Result(request.number, made, False, None, False, [], None, 0, [])
                channel.send(pickle.dumps(tuple(result)))
            else:
                made.answer(channel, request)


def _end_with(process: int) -> None:
    """End this process with another one."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll()
    os._exit(0)


def _use_one_thread() -> None:
    """Have libraries of linear algebra use one thread: workers are what is parallel."""
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    names = [
        f"{kind}openblas_set_num_threads{end}" for kind in ("scipy_", "") for end in ("64_", "")
    ]
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line}
    for path in paths:
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            for name in names:
                if hasattr(library, name):
                    getattr(library, name)(1)


class _Worker:
    """Makes what is asked for, and puts it into slots."""

    def __init__(self, job: Job, page: mmap.mmap) -> None:
        self._job = job
        self._current = np.frombuffer(page, np.int64, 1)
        self._slots = WorkerSlots(job.prefetch_factor + 2)
        self._epoch = job.epoch
        self._streams: dict[int, StreamMaker | None] = {}
        self._globals = GlobalGenerators()
        seed = self._globals.seed(self._draws(job.epoch).get())
        self._info = WorkerInfo(job.worker, job.num_workers, seed, job.dataset)
        set_worker_info(self._info)
        self._maps = None
        if not job.is_stream:
            self._maps = MapMaker(
                job.dataset, job.collate_fn, job.is_batched, job.seed, self._watch
            )
        if job.worker_init_fn is not None:
            with self._globals.left_if_changed(), self._draws(job.epoch):
                job.worker_init_fn(job.worker)
        #: True where the function may have set which part of the data set is this worker's.
        self._is_divided = self._info.dataset_was_read

    def _watch(self, index: Any) -> None:
        self._current[0] = index if type(index) is int and abs(index) < 2**63 else NO_INDEX

    def _draws(self, epoch: int) -> Draws:
        """Return random numbers of this worker, outside of items."""
        draws = Draws(self._job.seed, epoch)
        draws.move(self._job.worker, Use.WORKER)
        return draws

    def answer(self, channel: Channel, request: Request) -> None:
        """Send the result of a request."""
        self._slots.release(request.freed, request.lost)
        for run in request.over:
            self._streams.pop(run, None)
        result, descriptor = self._make_result(request)
        channel.send(pickle.dumps(tuple(result)), () if descriptor is None else (descriptor,))
        if descriptor is not None:
            os.close(descriptor)

    def _make_result(self, request: Request) -> tuple[Result, int | None]:
        failure, batch = None, None
        self._current[0] = NO_INDEX
        try:
            batch = self._make(request)
            if batch is not None and not request.is_skipped:
                return self._store(request.number, batch)
        except BaseException as error:
            failure = pack_failure(error)
        is_end = failure is None and batch is None
        dropped, self._slots.dropped = self._slots.dropped, []
        return Result(request.number, failure, is_end, None, False, [], None, 0, dropped), None

    def _make(self, request: Request) -> Batch | None:
        """Return the batch of a request; None at the end of a stream."""
        if request.task.epoch != self._epoch:
            self._epoch = request.task.epoch
            self._globals.seed(self._draws(self._epoch).get())
        if self._maps is not None:
            return self._maps.make(request.task)
        if request.run not in self._streams:
            self._streams[request.run] = self._begin_stream(request.task.epoch)
        stream = self._streams[request.run]
        items = stream.take() if stream is not None else []
        if stream is None or not items:
            self._streams[request.run] = None
            return None
        return Batch() if request.is_skipped else stream.make(items)

    def _begin_stream(self, epoch: int) -> StreamMaker:
        job = self._job
        draws = Draws(job.seed, epoch)
        draws.move(job.worker, Use.WORKER)
        self._info.was_read = self._is_divided
        with draws:
            is_whole = job.num_workers == 1 or not hasattr(job.dataset, "shard")
            if is_whole:
                items = iter(job.dataset)
            else:
                items = iter(job.dataset.shard(job.worker, job.num_workers))
        if is_whole and job.num_workers > 1:
            items = self._check_sharing(items)
        return StreamMaker(
            items,
            job.collate_fn,
            job.batch_size,
            job.drop_last,
            draws,
            job.worker,
            job.num_workers,
            self._watch,
        )

    def _check_sharing(self, items: Any) -> Any:
        """Raise an error where each worker would give all items of a stream."""
        for item in items:
            if not self._info.was_read:
                kind = type(self._job.dataset).__name__
                raise TypeError(
                    f"each of {self._job.num_workers} workers would give all items of the "
                    f"{kind}: it needs shard(index, count), or reads get_worker_info(), or a "
                    "worker_init_fn that divides get_worker_info().dataset"
                )
            yield item

    def _store(self, number: int, batch: Batch) -> tuple[Result, int | None]:
        """Put a batch into a slot."""
        structure, is_long = self._pickle(batch)
        offsets, size = [], 0
        for part in batch.parts:
            offsets.append(size)
            size += -(-part.size // _ALIGNMENT) * _ALIGNMENT
        slot, descriptor, capacity = None, None, 0
        if size:
            slot, memory, descriptor = self._slots.take(size)
            capacity = len(memory) if descriptor is not None else 0
            for offset, part in zip(offsets, batch.parts, strict=True):
                part.fill(np.ndarray(part.shape, part.dtype, memory, offset))
        arrays = [
            (offset, part.dtype.str, part.shape, part.is_weak)
            for offset, part in zip(offsets, batch.parts, strict=True)
        ]
        dropped, self._slots.dropped = self._slots.dropped, []
        result = Result(number, None, False, structure, is_long, arrays, slot, capacity, dropped)
        return result, descriptor

    @staticmethod
    def _pickle(batch: Batch) -> tuple[bytes | None, bool]:
        """Return a batch's structure as bytes; a long one becomes a part of it."""
        try:
            structure = pickle.dumps(batch.structure)
        except Exception as error:
            tell(error, "in a batch that has to be sent to the loader's process")
            raise
        if len(structure) <= _LONG:
            return structure, False
        batch.add(Ready(np.frombuffer(structure, np.uint8)))
        return None, True
