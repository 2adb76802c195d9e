# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loader: batches of a data set, epoch by epoch."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._errors import at_line
from .._typing import as_integer, as_number, shown, whole_number
from .dataset import is_stream
from .epochs import LocalMaps, LocalStream
from .pool import Pool
from .randomness import draw_seed
from .sampler import BatchSampler, RandomSampler, SequentialSampler, count_batches
from .worker import Job
from .worker_epochs import WorkerEpoch

__all__ = ["DataLoader"]

_KEYS = ("seed", "epoch", "batches")


class DataLoader:
    """Batches of a data set's items, as Vars.

    Each ``for batch in loader`` is an epoch. The order of the items and their random numbers
    (`rng`) follow from the seed, the epoch and an item's place in it, whatever the number of
    workers is. `state_dict` tells how far the loader is, and another one goes on there.

    Parameters
    ----------
    dataset
        What has items by index (`Dataset`) or gives a stream of them (`IterableDataset`);
        PyTorch's and Hugging Face's data sets are such objects, and so are lists and arrays.
    batch_size
        The items of a batch. With None items are not batched, but come one by one.
    shuffle
        Whether the order is drawn anew in each epoch (`RandomSampler`).
    sampler
        An iterable of indices, in the place of `shuffle`.
    batch_sampler
        An iterable of lists of indices, in the place of `batch_size`, `shuffle`, `sampler` and
        `drop_last`.
    num_workers
        The processes that make batches; none by default.
    collate_fn
        Makes a batch of a list of items; `default_collate` by default. Arrays in what it
        returns become Vars.
    pin_memory
        Taken for the sake of programs for PyTorch; it changes nothing.
    drop_last
        Whether a last batch of fewer items is left out.
    timeout
        The seconds after which a worker that has not made its batch is an error; 0 for never.
    worker_init_fn
        Called in each worker, at its start, with its number.
    multiprocessing_context
        How workers are started: "fork", the default, or "spawn".
    prefetch_factor
        How many batches each worker makes ahead; 2 by default.
    persistent_workers
        Whether workers stay for the next epoch, and make its first batches ahead.
    as_arrays
        Whether batches have arrays of NumPy in the place of Vars.
    seed
        What order and random numbers follow from. By default it is drawn from the session's
        random numbers, which `metaops.seed` starts, when the loader is first used: so loaders
        of one session differ, and a program that is run again has the same ones.

    Raises
    ------
    TypeError
        If a parameter is of another kind.
    ValueError
        If parameters exclude each other, or a number is out of range.

    Examples
    --------
    >>> import metaops as mo, numpy as np
    >>> data = mo.data.TensorDataset(np.zeros((10, 3), "float32"), np.arange(10))
    >>> loader = mo.data.DataLoader(data, batch_size=4, shuffle=True)
    >>> [x.shape for x, y in loader]
    [(4, 3), (4, 3), (2, 3)]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = True,
        as_arrays: bool = False,
        seed: int | None = None,
    ) -> None:
        self.dataset = dataset
        self.is_stream = is_stream(dataset)
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.worker_init_fn = worker_init_fn
        self.persistent_workers = persistent_workers
        self.as_arrays = as_arrays
        self.num_workers = whole_number("DataLoader", "num_workers", num_workers)
        self.timeout = as_number("DataLoader", "timeout", timeout)
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.multiprocessing_context = _read_context(multiprocessing_context)
        self._check_numbers(batch_size)
        self._check_dataset(shuffle, sampler, batch_sampler)
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                _refuse("batch_sampler takes the place of batch_size, shuffle, sampler, drop_last")
            batch_size = None
        elif sampler is not None and shuffle:
            _refuse("sampler takes the place of shuffle; give one of them")
        elif batch_size is None and drop_last:
            _refuse("drop_last is given, but without a batch_size there are no batches to drop")
        self.batch_size = batch_size
        #: True of orders that this package has drawn.
        self.has_own_order = sampler is None and batch_sampler is None
        self.sampler = sampler
        if sampler is None and not self.is_stream:
            self.sampler = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None and self.sampler is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self._seed = None if seed is None else as_integer("DataLoader", "seed", seed)
        #: The epoch that is under way, or the next one, and how many batches of it were given.
        self._position = (0, 0)
        #: Those of the next iterator.
        self._next = (0, 0)
        self._newest: weakref.ref[Any] | None = None
        #: The workers that there are: those that stay, or those of each epoch that is under way.
        self._pools: weakref.WeakSet[Pool] = weakref.WeakSet()
        #: The next epoch, which the workers have begun.
        self._ahead: WorkerEpoch | None = None

    def _check_numbers(self, batch_size: int | None) -> None:
        if batch_size is not None and as_integer("DataLoader", "batch_size", batch_size) < 1:
            _refuse(f"batch_size is {batch_size}, expected 1 or more, or None")
        if not self.timeout >= 0:
            _refuse(f"timeout is {self.timeout}, expected 0 or more seconds")
        if as_integer("DataLoader", "prefetch_factor", self.prefetch_factor) < 1:
            _refuse(f"prefetch_factor is {self.prefetch_factor}, expected 1 or more")

    def _check_dataset(self, shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
        if self.is_stream:
            if shuffle or sampler is not None or batch_sampler is not None:
                _refuse("a stream of items has its own order; it takes no shuffle and no sampler")
        elif not hasattr(self.dataset, "__getitem__"):
            raise at_line(
                TypeError(
                    f"DataLoader: dataset is {shown(self.dataset)}, expected an object that has "
                    "__getitem__ and __len__, or __iter__"
                )
            )
        elif not hasattr(self.dataset, "__len__") and sampler is None and batch_sampler is None:
            raise at_line(
                TypeError(
                    f"DataLoader: dataset is {shown(self.dataset)}, which has no __len__; "
                    "give a sampler"
                )
            )

    @property
    def seed(self) -> int:
        """The number that the items' order and their random numbers follow from."""
        if self._seed is None:
            self._seed = draw_seed()
        return self._seed

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        if not self.is_stream:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count_batches(count, self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        epoch, skipped = self._next
        made: Iterator[Any]
        if self.num_workers:
            made = self._begin_with_workers(epoch, skipped)
        else:
            made = (LocalStream if self.is_stream else LocalMaps)(self, epoch, skipped)
        self._position, self._next = (epoch, skipped), (epoch + 1, 0)
        self._newest = weakref.ref(made)
        return made

    # Workers

    def _begin_with_workers(self, epoch: int, skipped: int) -> WorkerEpoch:
        """Return an epoch, which workers may have begun."""
        ahead, self._ahead = self._ahead, None
        pool = self._get_pool(epoch)
        if ahead is None or ahead.position != (epoch, skipped) or ahead.pool is not pool:
            try:
                ahead = WorkerEpoch(self, pool, epoch, skipped)
            except BaseException:
                if not self.persistent_workers:
                    pool.close()
                raise
        ahead.loader = self
        if not self.persistent_workers:
            pool.end_with(ahead)
        return ahead

    def _get_pool(self, epoch: int) -> Pool:
        """Return the workers of an epoch, started now unless they have stayed."""
        for pool in self._pools:
            is_open = not pool.is_closed and pool.owner == os.getpid()
            if is_open and self.persistent_workers:
                return pool
        job = Job(
            self.dataset,
            self.is_stream,
            self.collate_fn,
            self.worker_init_fn,
            self.batch_sampler is not None,
            self.batch_size,
            self.drop_last,
            self.seed,
            epoch,
            self.prefetch_factor,
            0,
            self.num_workers,
        )
        pool = Pool(job, self.multiprocessing_context == "spawn", self.timeout)
        if self.persistent_workers:
            pool.end_with(self)
        self._pools.add(pool)
        return pool

    def fill_ahead(self, epoch: WorkerEpoch) -> None:
        """Have the workers be asked for batches of an epoch, and then of the next one."""
        most = self.prefetch_factor * self.num_workers
        if epoch.fill(most) or epoch.pending >= most or not self.persistent_workers:
            return
        is_newest = self._newest is not None and self._newest() is epoch
        # Others' samplers may be set up between two epochs.
        if not is_newest or not self.has_own_order or epoch.pool.is_closed:
            return
        if self._ahead is None:
            self._ahead = WorkerEpoch(self, epoch.pool, *self._next)
        self._ahead.fill(most - epoch.pending)

    def end_epoch(self, epoch: WorkerEpoch) -> None:
        """End workers that are not to stay for the next epoch."""
        if not self.persistent_workers:
            epoch.pool.close()

    def close(self) -> None:
        """End the workers, if there are any.

        The next epoch starts others, with the data set as it is then. Without this call they
        end with the loader, or with the program.
        """
        self._ahead = None
        for pool in list(self._pools):
            pool.close()
        self._pools.clear()

    def note(self, iterator: object, epoch: int, given: int) -> None:
        """Take note of how far an iterator is; only the newest one counts."""
        if self._newest is not None and self._newest() is iterator:
            self._position = (epoch, given)

    def state_dict(self) -> dict[str, int]:
        """Return how far the loader is: its seed, the epoch and the batches given in it."""
        epoch, given = self._position
        return dict(zip(_KEYS, (self.seed, epoch, given), strict=True))

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Have the next ``for batch in loader`` go on where a state was taken.

        Parameters
        ----------
        state
            What `state_dict` has returned, of a loader of the same data set and parameters.

        Raises
        ------
        TypeError, ValueError
            If it is no such state.
        """
        if not isinstance(state, Mapping) or set(state) != set(_KEYS):
            raise at_line(
                TypeError(
                    f"load_state_dict: given {shown(state)}, expected a dict with the keys "
                    f"{', '.join(_KEYS)}, which state_dict returns"
                )
            )
        seed = as_integer("load_state_dict", "seed", state["seed"])
        epoch = whole_number("load_state_dict", "epoch", state["epoch"])
        given = whole_number("load_state_dict", "batches", state["batches"])
        if seed != self._seed:
            self.close()
        self._seed = seed
        self._ahead = None
        self._position = self._next = (epoch, given)
        self._newest = None


def _refuse(text: str) -> None:
    raise at_line(ValueError(f"DataLoader: {text}"))


def _read_context(context: Any) -> str:
    """Return how workers are started."""
    name = context if isinstance(context, str) else getattr(context, "_name", None)
    if context is None:
        return "fork"
    if name not in ("fork", "spawn"):
        _refuse(
            f"multiprocessing_context is {shown(context)}, expected 'fork' or 'spawn'",
        )
    return str(name)
