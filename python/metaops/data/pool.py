# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workers of a loader, from the loader's side."""

from __future__ import annotations

import errno
import os
import pickle
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._errors import at_line
from .making import Task
from .processes import SECONDS, WorkerProcess
from .slots import Lease, Slot
from .worker import Job, Request, Result

__all__ = ["Made", "Pool"]

#: Arrays of fewer bytes are copied, so that labels that somebody keeps keep no images.
_SMALL = 1 << 13


class Made(NamedTuple):
    """A batch that a worker has made; without arrays where it was skipped."""

    structure: Any
    arrays: list[npt.NDArray[Any]]
    weak: list[bool]


class _Member:
    """A worker, and what is on its way from and to it."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self.slots: dict[int, Slot] = {}
        self.freed: deque[tuple[int, bool]] = deque()
        #: Iterators that nobody has any more.
        self.over: deque[int] = deque()
        self.tasks: dict[int, Task] = {}
        self.results: dict[int, tuple[Result, list[npt.NDArray[Any]], Task]] = {}

    def make_request(self, number: int, run: int, task: Task, *, is_skipped: bool) -> Request:
        """Return a request for a batch, with the news since the last one."""
        freed: tuple[list[int], list[int]] = [], []
        while self.freed:
            slot, is_lost = self.freed.popleft()
            freed[is_lost].append(slot)
        for slot in freed[True]:
            del self.slots[slot]
        over = [self.over.popleft() for _ in range(len(self.over))]
        return Request(number, run, task, is_skipped, *freed, over)

    def receive(self) -> bool:
        """Take in a result that is there; return False where the worker has ended.

        Raises
        ------
        BlockingIOError
            If there is none.
        """
        received = self.process.channel.receive(waits=False)
        if received is not None:
            self._accept(*received)
        return received is not None

    def _accept(self, message: bytes, descriptors: list[int]) -> None:
        """Take a result in."""
        result = Result(*pickle.loads(message))
        for number in result.dropped:
            del self.slots[number]
        arrays: list[npt.NDArray[Any]] = []
        if result.slot is not None:
            if result.size and not descriptors:
                raise OSError(errno.EMFILE, "no descriptor is left for the memory of a batch")
            if descriptors:
                self.slots[result.slot] = Slot(result.slot, descriptors[0], result.size)
            memory = np.asarray(Lease(self.slots[result.slot], self.freed))
            for offset, dtype, shape, _ in result.arrays:
                array = np.ndarray(shape, dtype, memory, offset)
                arrays.append(array.copy() if array.nbytes <= _SMALL else array)
        elif result.arrays:
            arrays = [np.empty(shape, dtype) for _, dtype, shape, _ in result.arrays]
        # A result that nobody waits for any more is dropped, with its slot.
        if (task := self.tasks.pop(result.number, None)) is not None:
            self.results[result.number] = result, arrays, task


class Pool:
    """Workers, which make batches in the order in which these are asked for.

    Parameters
    ----------
    job
        What all of them are to know.
    is_spawned
        Whether they are new processes, and no copies of this one.
    timeout
        The seconds that a batch may take; 0 for any number.
    """

    def __init__(self, job: Job, is_spawned: bool, timeout: float) -> None:
        # A worker is to find that the session is its parent's, not none.
        _core.random_state()
        self.owner = os.getpid()
        self.num_workers = job.num_workers
        self._timeout = timeout
        self._requests = 0
        self._runs = 0
        self.is_closed = False
        #: Held by who takes a batch.
        self.turn = threading.Lock()
        self._finalizer: Any = None
        self._members: list[_Member] = []
        try:
            for worker in range(job.num_workers):
                process = WorkerProcess(job._replace(worker=worker), is_spawned)
                self._members.append(_Member(process))
        except BaseException:
            self.close()
            raise

    def end_with(self, owner: object) -> None:
        """Have the workers end with an object, or with the program."""
        self._finalizer = weakref.finalize(owner, self.close)

    def begin_run(self) -> int:
        """Return a number for an iterator."""
        self._runs += 1
        return self._runs

    def end_run(self, run: int) -> None:
        """Take note that an iterator is gone: workers need not keep its streams."""
        for member in self._members:
            member.over.append(run)

    def submit(self, worker: int, run: int, task: Task, *, is_skipped: bool = False) -> int:
        """Ask a worker for a batch, and return the number of the request."""
        self._check_open()
        member = self._members[worker]
        self._requests += 1
        number = self._requests
        member.tasks[number] = task
        request = member.make_request(number, run, task, is_skipped=is_skipped)
        try:
            # The end of the worker is told where its batch is waited for.
            with suppress(ConnectionError):
                self._send(member, request.pack())
        except BaseException:
            # Half of a message may be on its way.
            self.close(at_once=True)
            raise
        return number

    def _send(self, member: _Member, message: bytes) -> None:
        """Send a message; where there is no room for it, results are taken in first."""
        channel = member.process.channel
        for packet in channel.split(message):
            end = self._find_end()
            while True:
                try:
                    channel.send_packet(packet, waits=False)
                    break
                except BlockingIOError:
                    with suppress(BlockingIOError):
                        if not self._take_in(member, end, is_full=True):
                            return

    def take(self, worker: int, number: int) -> Made | None:
        """Return the batch of a request; None at the end of a stream.

        Raises
        ------
        Exception
            What the worker has raised.
        RuntimeError
            If the worker has ended, or all were ended before.
        TimeoutError
            If it takes too long.
        """
        self._check_open()
        member = self._members[worker]
        try:
            while number not in member.results:
                self._wait(member)
        except BaseException:
            # Messages that were on their way may be lost.
            self.close(at_once=True)
            raise
        result, arrays, task = member.results.pop(number)
        if result.failure is not None:
            where = f"in worker {worker}, which made {_name(task)}"
            error, cause = result.failure.make(where)
            raise error from cause
        if result.is_end:
            return None
        weak = [is_weak for *_, is_weak in result.arrays]
        structure = result.structure
        if result.is_long:
            structure = arrays.pop()
            weak.pop()
        return Made(None if structure is None else pickle.loads(structure), arrays, weak)

    def _check_open(self) -> None:
        if self.is_closed:
            raise at_line(
                RuntimeError("the workers of this epoch have ended; begin another iteration")
            )

    def _find_end(self) -> float | None:
        """Return when the time for what begins now will be over."""
        return time.monotonic() + self._timeout if self._timeout else None

    def _take_in(self, member: _Member, end: float | None, *, is_full: bool = False) -> bool:
        """Wait for a result and take it in; return False where the worker has ended.

        Raises
        ------
        BlockingIOError
            If there is none: only a part of one, or only room for a message.
        """
        left = None if end is None else end - time.monotonic()
        is_there = member.process.wait(left, is_full=is_full)
        if is_there is None:
            if end is not None and time.monotonic() >= end:
                self._tell_slow(member)
            raise BlockingIOError
        return bool(is_there) and member.receive()

    def _wait(self, member: _Member) -> None:
        """Take in the next result of a worker."""
        end = self._find_end()
        is_taken: bool | None = None
        with suppress(ConnectionError):
            # A result is often there, and need not be waited for.
            with suppress(BlockingIOError):
                is_taken = member.receive()
            while is_taken is None:
                with suppress(BlockingIOError):
                    is_taken = self._take_in(member, end)
        if not is_taken:
            self._tell_end(member)

    def _tell_slow(self, member: _Member) -> None:
        index, stack = member.process.get_index(), member.process.read_stack()
        raise at_line(
            TimeoutError(
                f"worker {member.process.number} has not made {self._name_work(member, index)} "
                f"within {self._timeout} s; it is at\n{stack.rstrip()}\n"
            )
        )

    def _tell_end(self, member: _Member) -> None:
        index = member.process.get_index()
        member.process.wait_for_end(SECONDS)
        how = member.process.reap()
        raise at_line(
            RuntimeError(
                f"worker {member.process.number} (process {member.process.pid}) {how} "
                f"while it made {self._name_work(member, index)}"
            )
        )

    @staticmethod
    def _name_work(member: _Member, index: int | None) -> str:
        """Return what messages call what a worker does: the first task that it has not done."""
        task = next(iter(member.tasks.values()), None)
        name = "a batch" if task is None else _name(task)
        return name + ("" if index is None else f", at item {index}")

    def abandon(self, worker: int, number: int) -> None:
        """Take note that nobody waits for a request any more."""
        if not self.is_closed:
            member = self._members[worker]
            member.tasks.pop(number, None)
            member.results.pop(number, None)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, behind the item that they make or `at_once`. Given batches stay."""
        if self.is_closed or os.getpid() != self.owner:
            return
        self.is_closed = True
        if self._finalizer is not None:
            self._finalizer.detach()
        processes = [member.process for member in self._members]
        self._members.clear()
        end = time.monotonic() + (0 if at_once else SECONDS)
        try:
            for process in processes:
                process.channel.end()
            for process in processes:
                process.wait_for_end(end - time.monotonic())
        finally:
            # Those that take longer, or all where somebody does not wait.
            for process in processes:
                process.kill()
            for process in processes:
                process.reap()


def _name(task: Task) -> str:
    """Return what messages call a task."""
    items = task.indices
    if items is None:
        return f"batch {task.number} of epoch {task.epoch}"
    if isinstance(items, list):
        shown = ", ".join(map(repr, items[:4])) + (", ..." if len(items) > 4 else "")
        return f"batch {task.number} of epoch {task.epoch} (items {shown})"
    return f"item {items!r} of epoch {task.epoch}"
