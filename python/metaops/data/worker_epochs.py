# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An epoch of a loader with workers.

Requests go to the workers in turn, some ahead of the batch that is asked for. When all of an
epoch have gone, those of the next one follow, so that the workers do not wait between two.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import at_line
from .collate import convert
from .epochs import Order
from .making import Task

if TYPE_CHECKING:
    from .loader import DataLoader
    from .pool import Made, Pool

__all__ = ["WorkerEpoch"]


class _Request(NamedTuple):
    """A request that is on its way."""

    worker: int
    number: int


class WorkerEpoch:
    """Batches that workers make, in the order of the epoch.

    Parameters
    ----------
    loader
        Whose epoch it is.
    pool
        The workers.
    epoch, skipped
        The number of the epoch, and of the batches that are left out.
    """

    def __init__(self, loader: DataLoader, pool: Pool, epoch: int, skipped: int) -> None:
        self.position = (epoch, skipped)
        self.pool = pool
        #: Whose epoch it is, once it has begun: the loader has the one that is made ahead.
        self.loader: Any = None
        self._run = pool.begin_run()
        #: Requests, and what the sampler has raised in the place of one.
        self._pending: deque[_Request | Exception] = deque()
        self._tasks: Order | _Stream
        if loader.is_stream:
            self._tasks = _Stream(epoch)
        else:
            self._tasks = Order(loader, epoch, skipped)
        #: Batches that are left out: those still to be asked for, and those to come. Where a
        #: worker's part of a stream ends among them, one that was made is left out.
        self._unasked = self._left_out = skipped if loader.is_stream else 0
        self._asked = 0
        self._given = skipped
        #: Workers whose part of a stream has an end that was seen.
        self._ended: set[int] = set()
        self._is_asked = False

    def __iter__(self) -> WorkerEpoch:
        return self

    def __next__(self) -> Any:
        if not self.pool.turn.acquire(blocking=False):
            raise at_line(
                RuntimeError(
                    "another thread takes a batch of this loader's workers: "
                    "give each thread a loader of its own, or have them take turns"
                )
            )
        try:
            return self._take_next()
        finally:
            self.pool.turn.release()

    def _take_next(self) -> Any:
        if not self._pending:
            self.loader.fill_ahead(self)
        while self._pending:
            made = self._take(self._pending.popleft())
            self.loader.fill_ahead(self)
            if made is not None:
                return convert(
                    made.structure, made.arrays, made.weak, as_arrays=self.loader.as_arrays
                )
        self.loader.note(self, self.position[0] + 1, 0)
        self.loader.end_epoch(self)
        raise StopIteration

    def _take(self, request: _Request | Exception) -> Made | None:
        """Return the batch of a request; None where it is left out, or there is none."""
        try:
            if isinstance(request, Exception):
                raise request
            if request.worker in self._ended:
                self.pool.abandon(request.worker, request.number)
                return None
            made = self.pool.take(request.worker, request.number)
        except Exception:
            # The next one is behind what has failed, if there are workers to make it.
            if not self.pool.is_closed and self._count():
                return None
            raise
        if made is None:
            self._ended.add(request.worker)
        return None if made is None or self._count() else made

    def _count(self) -> bool:
        """Count a batch that has come; return whether it is left out."""
        if self._left_out:
            self._left_out -= 1
            return True
        self._given += 1
        self.loader.note(self, self.position[0], self._given)
        return False

    def fill(self, most: int) -> bool:
        """Send requests until so many are on their way; return whether there may be more."""
        count = self.pool.num_workers
        while not self._is_asked and len(self._pending) < most:
            if len(self._ended) == count:
                self._is_asked = True
                break
            worker = self._asked % count
            self._asked += 1
            if worker in self._ended:
                continue
            try:
                task = self._tasks.next()
            except Exception as error:
                # The batches before it come first.
                self._pending.append(error)
                continue
            if task is None:
                self._is_asked = True
                break
            is_skipped = self._unasked > 0
            self._unasked -= is_skipped
            number = self.pool.submit(worker, self._run, task, is_skipped=is_skipped)
            self._pending.append(_Request(worker, number))
        return not self._is_asked

    @property
    def pending(self) -> int:
        """The number of requests that are on their way."""
        return len(self._pending)

    def __del__(self) -> None:
        for request in getattr(self, "_pending", ()):
            if isinstance(request, _Request):
                self.pool.abandon(request.worker, request.number)
        if hasattr(self, "_run"):
            self.pool.end_run(self._run)


class _Stream:
    """The tasks of a stream, which has no order but its own."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._number = 0

    def next(self) -> Task:
        """Return a task for the worker whose turn it is."""
        task = Task(self._epoch, self._number, 0, None)
        self._number += 1
        return task
