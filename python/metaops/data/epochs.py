# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An epoch of a loader without workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .collate import Batch, convert
from .making import MapMaker, StreamMaker, Task
from .randomness import Draws

if TYPE_CHECKING:
    from .loader import DataLoader

__all__ = ["LocalMaps", "LocalStream", "Order", "begin_stream"]


class Order:
    """The tasks of an epoch: what its sampler gives, batch by batch.

    Parameters
    ----------
    loader
        Whose sampler it is.
    epoch
        The number of the epoch.
    skipped
        How many batches are left out.
    """

    def __init__(self, loader: DataLoader, epoch: int, skipped: int) -> None:
        self.epoch = epoch
        self._draws = Draws(loader.seed, epoch)
        self._is_batched = loader.batch_sampler is not None
        sampler: Any = loader.batch_sampler if self._is_batched else loader.sampler
        #: The number of the next task: what has failed counts, too.
        self.number = 0
        self._first = 0
        with self._draws:
            self._indices: Iterator[Any] = iter(sampler)
        is_over = False
        while self.number < skipped and not is_over:
            with suppress(Exception):
                is_over = self.next() is None

    def next(self) -> Task | None:
        """Return the next task; None at the end of the epoch.

        Raises
        ------
        Exception
            What the sampler raises.
        """
        try:
            with self._draws:
                indices = next(self._indices, None)
            if indices is None:
                return None
            if self._is_batched:
                indices = indices if type(indices) is list else list(indices)
        except Exception:
            self.number += 1
            raise
        task = Task(self.epoch, self.number, self._first, indices)
        self.number += 1
        self._first += len(indices) if self._is_batched else 1
        return task


def finish(batch: Batch, as_arrays: bool) -> Any:
    """Return a batch as its user gets it, with its arrays in memory of their own."""
    arrays = [part.make() for part in batch.parts]
    weak = [part.is_weak for part in batch.parts]
    return convert(batch.structure, arrays, weak, as_arrays=as_arrays)


class LocalMaps:
    """Batches of a data set that has items by index, made when they are asked for."""

    def __init__(self, loader: DataLoader, epoch: int, skipped: int) -> None:
        self._loader = loader
        self._order = Order(loader, epoch, skipped)
        self._maker = MapMaker(
            loader.dataset, loader.collate_fn, loader.batch_sampler is not None, loader.seed
        )

    def __iter__(self) -> LocalMaps:
        return self

    def __next__(self) -> Any:
        try:
            task = self._order.next()
            result = None
            if task is not None:
                result = finish(self._maker.make(task), self._loader.as_arrays)
        except Exception:
            # The next one is behind what has failed.
            self._loader.note(self, self._order.epoch, self._order.number)
            raise
        if task is None:
            self._loader.note(self, self._order.epoch + 1, 0)
            raise StopIteration
        self._loader.note(self, self._order.epoch, self._order.number)
        return result


def begin_stream(loader: DataLoader, epoch: int) -> StreamMaker:
    """Return what makes the batches of an epoch of a stream."""
    draws = Draws(loader.seed, epoch)
    with draws:
        items = iter(loader.dataset)
    return StreamMaker(items, loader.collate_fn, loader.batch_size, loader.drop_last, draws)


class LocalStream:
    """Batches of a stream, made when they are asked for."""

    def __init__(self, loader: DataLoader, epoch: int, skipped: int) -> None:
        self._loader = loader
        self._epoch = epoch
        self._maker = begin_stream(loader, epoch)
        self._number = 0
        is_over = False
        while self._number < skipped and not is_over:
            # Of what has failed, only the number matters here.
            with suppress(Exception):
                is_over = not self._maker.take()
            self._number += not is_over

    def __iter__(self) -> LocalStream:
        return self

    def __next__(self) -> Any:
        result = None
        try:
            items = self._maker.take()
            if items:
                result = finish(self._maker.make(items), self._loader.as_arrays)
        except Exception:
            # The next one is behind what has failed.
            self._number += 1
            self._loader.note(self, self._epoch, self._number)
            raise
        if not items:
            self._loader.note(self, self._epoch + 1, 0)
            raise StopIteration
        self._number += 1
        self._loader.note(self, self._epoch, self._number)
        return result
