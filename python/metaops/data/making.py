# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Making batches of a data set's items, here or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._typing import shown
from .collate import Batch, Collate, Gathered, collate, find_parts
from .dataset import Subset, TensorDataset
from .randomness import Draws, Use

__all__ = ["MapMaker", "StreamMaker", "Task", "tell"]

#: Is told of the item that is made next.
Watch = Callable[[Any], object]


class Task(NamedTuple):
    """A batch that is to be made.

    Of a stream, there are no indices: it is the next one.
    """

    epoch: int
    #: The number of the batch in its epoch, and of its first item.
    number: int
    first: int
    #: The indices of its items; a single one, where items are not batched.
    indices: Any


def tell(error: BaseException, text: str) -> None:
    """Have an exception say more, below its message."""
    if hasattr(error, "add_note"):
        error.add_note(text)


def _ended(what: str) -> RuntimeError:
    """Return what is raised where a StopIteration would end the epoch."""
    return RuntimeError(f"{what} raised StopIteration, which would end the epoch")


class _Arrays(NamedTuple):
    """Arrays of whose rows items are made, and which row is which item."""

    rows: tuple[npt.NDArray[Any], ...]
    places: npt.NDArray[np.intp] | None
    is_tuple: bool

    @property
    def num_items(self) -> int:
        """The number of items."""
        return len(self.rows[0] if self.places is None else self.places)


def _find_arrays(dataset: Any) -> _Arrays | None:
    """Return the arrays whose rows are a data set's items, if they are."""
    kind = type(dataset)
    if kind is np.ndarray and dataset.ndim and dataset.dtype.kind in "biuf":
        return _Arrays((dataset,), None, is_tuple=False)
    if isinstance(dataset, TensorDataset):
        rows = dataset.get_rows()
        if rows is None or any(array.dtype.kind not in "biuf" for array in rows):
            return None
        return _Arrays(rows, None, is_tuple=True)
    if isinstance(dataset, Subset):
        is_own = kind.__getitem__ is Subset.__getitem__
        inner = _find_arrays(dataset.dataset) if is_own else None
        if inner is None or kind.__getitems__ is not Subset.__getitems__:
            return None
        places = np.asarray(dataset.indices)
        if places.dtype.kind not in "iu" or places.ndim != 1:
            return None
        if len(places) and _find_outside(places.min(), places.max(), inner.num_items) is not None:
            return None
        places = _count_from_start(places, inner.num_items)
        if inner.places is not None:
            places = inner.places[places]
        return _Arrays(inner.rows, places, inner.is_tuple)
    return None


def _find_outside(least: Any, most: Any, count: int) -> Any:
    """Return an index that is out of range of so many items; None where none is."""
    return least if least < -count else most if most >= count else None


def _count_from_start(places: npt.NDArray[Any], count: int) -> npt.NDArray[np.intp]:
    """Return places within so many items, of which some may be counted from the end."""
    places = places.astype(np.intp, copy=False)
    return np.where(places < 0, places + count, places)


def _check_range(least: Any, most: Any, count: int, task: Task) -> None:
    """Raise an error where the indices of a task are not all within so many items."""
    wrong = _find_outside(least, most, count)
    if wrong is not None:
        raise IndexError(
            f"the sampler has given index {wrong}, but the data set has {count} items "
            f"(batch {task.number} of epoch {task.epoch})"
        )


class MapMaker:
    """Makes batches of a data set that has items by index.

    Parameters
    ----------
    dataset
        The data set.
    collate_fn
        The user's function that makes a batch of a list of items, or None.
    is_batched
        Whether tasks have a list of indices.
    seed
        What random numbers follow from.
    watch
        Is told each index before its item is made.
    """

    def __init__(
        self,
        dataset: Any,
        collate_fn: Collate | None,
        is_batched: bool,
        seed: int,
        watch: Watch | None = None,
    ) -> None:
        self.dataset = dataset
        self.collate_fn = collate_fn
        self.is_batched = is_batched
        self.seed = seed
        self.watch = watch
        self.arrays = _find_arrays(dataset) if collate_fn is None and is_batched else None
        #: The length of the data set, if it has one, in the epoch that it was last asked for.
        self._count: int | None = None
        self._epoch: int | None = None

    def make(self, task: Task) -> Batch:
        """Return the batch of a task.

        Raises
        ------
        IndexError
            If an integer of it is no index of the data set.
        """
        if self.arrays is not None:
            return self._gather(self.arrays, task)
        if self.is_batched and not task.indices:
            raise ValueError(f"batch {task.number} has no items: the sampler has given no indices")
        self._check(task.indices if self.is_batched else [task.indices], task)
        draws = Draws(self.seed, task.epoch)
        with draws:
            if not self.is_batched:
                (item,) = self._get_each(task._replace(indices=[task.indices]), draws)
                return find_parts(item if self.collate_fn is None else self.collate_fn(item))
            if hasattr(self.dataset, "__getitems__"):
                draws.move(task.first, Use.BATCH)
                items = self._get_all(task.indices)
            else:
                items = self._get_each(task, draws)
            draws.move(task.first, Use.BATCH)
            if self.collate_fn is not None:
                return find_parts(self.collate_fn(items))
            return collate(items, task.indices)

    def _check(self, indices: list[Any], task: Task) -> None:
        if task.epoch != self._epoch:
            self._epoch, self._count = task.epoch, None
            with suppress(TypeError, NotImplementedError):
                self._count = len(self.dataset)
        if self._count is not None and type(indices[0]) is int:
            _check_range(min(indices), max(indices), self._count, task)

    def _gather(self, arrays: _Arrays, task: Task) -> Batch:
        places = np.asarray(task.indices)
        if not len(places):
            places = np.empty(0, np.intp)
        elif places.dtype.kind not in "iu" or places.ndim != 1:
            raise TypeError(
                f"the sampler has given indices {shown(task.indices)}, expected integers "
                f"(batch {task.number} of epoch {task.epoch})"
            )
        else:
            _check_range(places.min(), places.max(), arrays.num_items, task)
        places = _count_from_start(places, arrays.num_items)
        if arrays.places is not None:
            places = arrays.places[places]
        batch = Batch()
        parts = tuple(batch.add(Gathered(rows, places)) for rows in arrays.rows)
        batch.structure = parts if arrays.is_tuple else parts[0]
        return batch

    def _get_each(self, task: Task, draws: Draws) -> list[Any]:
        """Return the items of a task, each made with random numbers of its own."""
        items: list[Any] = []
        dataset, watch, index = self.dataset, self.watch, None
        try:
            for place, index in enumerate(task.indices, task.first):
                draws.move(place)
                if watch is not None:
                    watch(index)
                items.append(dataset[index])
        except StopIteration as error:
            raise _ended(f"item {index}") from error
        except Exception as error:
            tell(error, f"in item {index!r} of the data set")
            raise
        return items

    def _get_all(self, indices: Sequence[Any]) -> list[Any]:
        if self.watch is not None:
            self.watch(indices[0])
        try:
            items = list(self.dataset.__getitems__(indices))
        except StopIteration as error:
            raise _ended(f"__getitems__({indices})") from error
        except Exception as error:
            tell(error, f"in __getitems__({indices}) of the data set")
            raise
        if len(items) != len(indices):
            raise ValueError(f"__getitems__ of {len(indices)} indices has returned {len(items)}")
        return items


class StreamMaker:
    """Makes batches of a stream of items.

    Parameters
    ----------
    items
        The items.
    collate_fn
        The user's function that makes a batch of a list of items, or None.
    batch_size
        The items of a batch; None where they are not batched.
    drop_last
        Whether a last batch of fewer items is left out.
    draws
        The random numbers of the epoch.
    shard, count
        Which part of the stream this is, of how many. Item ``k`` has the random numbers of the
        place ``shard + count * k``, as if parts had every so many items of the stream.
    watch
        Is told the place of each item before it is made.
    """

    def __init__(
        self,
        items: Iterator[Any],
        collate_fn: Collate | None,
        batch_size: int | None,
        drop_last: bool,
        draws: Draws,
        shard: int = 0,
        count: int = 1,
        watch: Watch | None = None,
    ) -> None:
        self.items = items
        self.collate_fn = collate_fn
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.draws = draws
        self.step = count
        self.watch = watch
        #: The place of the next item.
        self.place = shard

    def take(self) -> list[Any]:
        """Return the items of the next batch; none at the end of the stream."""
        items: list[Any] = []
        count = self.batch_size or 1
        with self.draws:
            while len(items) < count:
                if self.watch is not None:
                    self.watch(self.place)
                self.draws.move(self.place)
                try:
                    items.append(next(self.items))
                except StopIteration:
                    break
                except Exception as error:
                    tell(error, f"in item {self.place} of the stream")
                    raise
                self.place += self.step
        return [] if len(items) < count and self.drop_last else items

    def make(self, items: list[Any]) -> Batch:
        """Return the batch of some items."""
        first = self.place - self.step * len(items)
        self.draws.move(first, Use.BATCH)
        with self.draws:
            if self.batch_size is None:
                item = items[0]
                return find_parts(item if self.collate_fn is None else self.collate_fn(item))
            if self.collate_fn is not None:
                return find_parts(self.collate_fn(items))
            return collate(items, range(first, self.place, self.step))
