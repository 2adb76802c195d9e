# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samplers: the order in which a loader takes the items of a data set.

A sampler is an iterable of indices. Those that draw take `rng`, so that the order follows
from the loader's seed and the epoch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from .._errors import at_line
from .._typing import as_integer, shown, whole_number
from .randomness import rng

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "count_batches",
]

T = TypeVar("T")


class Sampler(Generic[T]):
    """An order of the items of a data set: ``__iter__`` gives their indices.

    One that draws takes `mo.data.rng` for it, so that a loader may go on in the middle of an
    epoch. With ``__len__`` a loader has a length.
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__()")


class SequentialSampler(Sampler[int]):
    """All items in their order.

    Parameters
    ----------
    data_source
        The data set.
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __len__(self) -> int:
        return len(self.data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler[int]):
    """All items in an order that is drawn anew in each epoch.

    Parameters
    ----------
    data_source
        The data set.
    replacement
        Whether each item is drawn from all, so that some come several times.
    num_samples
        How many are drawn; as many as there are by default. Without replacement a longer order
        has all items before one comes again.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._count = (
            None
            if num_samples is None
            else whole_number("RandomSampler", "num_samples", num_samples)
        )

    def __len__(self) -> int:
        count = len(self.data_source)
        # Of nothing no items are drawn.
        return count if self._count is None or not count else self._count

    def __iter__(self) -> Iterator[int]:
        count, left, numbers = len(self.data_source), len(self), rng()
        while left > 0:
            order = numbers.integers(count, size=left) if self.replacement else None
            order = numbers.permutation(count) if order is None else order
            yield from order[:left].tolist()
            left -= len(order)


class SubsetRandomSampler(Sampler[Any]):
    """Given indices in an order that is drawn anew in each epoch.

    Parameters
    ----------
    indices
        The indices.
    """

    def __init__(self, indices: Sequence[Any]) -> None:
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Any]:
        for place in rng().permutation(len(self.indices)).tolist():
            yield self.indices[place]


class WeightedRandomSampler(Sampler[int]):
    """Items that are drawn by weights.

    Parameters
    ----------
    weights
        A weight of each item, at least 0. Their sum need not be 1.
    num_samples
        How many are drawn.
    replacement
        Whether an item may come several times.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, all are 0, or fewer than `num_samples` items
        have one above 0 and none may come again.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True
    ) -> None:
        self.weights = np.asarray(weights, "float64")
        self.num_samples = whole_number("WeightedRandomSampler", "num_samples", num_samples)
        self.replacement = replacement
        given = self.weights
        if given.ndim != 1 or not np.all((given >= 0) & np.isfinite(given)):
            raise at_line(
                ValueError(
                    f"WeightedRandomSampler: weights is {shown(weights)}, "
                    "expected finite numbers that are not negative, one for each item"
                )
            )
        positive = np.count_nonzero(given)
        if self.num_samples > (0 if not positive else np.inf if replacement else positive):
            raise at_line(
                ValueError(
                    f"WeightedRandomSampler: num_samples is {self.num_samples}, "
                    f"but {positive} of {given.size} weights are above 0"
                )
            )

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        if self.num_samples:
            shares = self.weights / self.weights.sum()
            yield from (
                rng().choice(len(shares), self.num_samples, self.replacement, shares).tolist()
            )


def count_batches(count: int, size: int, drop_last: bool) -> int:
    """Return the number of batches that so many items make."""
    return count // size if drop_last else -(-count // size)


class BatchSampler(Sampler[list[Any]]):
    """Lists of indices, one for each batch.

    Parameters
    ----------
    sampler
        What gives the indices.
    batch_size
        How many indices a list has.
    drop_last
        Whether the last list is left out where it has fewer.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        self.sampler = sampler
        self.batch_size = as_integer("BatchSampler", "batch_size", batch_size)
        if self.batch_size < 1:
            raise at_line(
                ValueError(f"BatchSampler: batch_size is {batch_size}, expected 1 or more")
            )
        self.drop_last = drop_last

    def __len__(self) -> int:
        return count_batches(len(self.sampler), self.batch_size, self.drop_last)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[list[Any]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch
