# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets: what has items by index, or gives a stream of items."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from .._core import Var
from .._errors import at_line
from .._typing import as_integer, as_integers, shown
from .randomness import Draws, Use, rng

__all__ = [
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "is_stream",
    "random_split",
]

T = TypeVar("T")


class Dataset(Generic[T]):
    """Items by index.

    A data set has ``__getitem__(index)``, and ``__len__()`` unless a sampler is given. One that
    makes several items at less cost has ``__getitems__(indices)``, too, which returns a list
    of them. Any object with these methods is a data set, as a list is: no need to derive it.

    Examples
    --------
    >>> import metaops as mo, numpy as np
    >>> class Squares(mo.data.Dataset):
    ...     def __len__(self):
    ...         return 10
    ...     def __getitem__(self, index):
    ...         return np.float32(index**2)
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__(index)")

    def __add__(self, other: Any) -> ConcatDataset[T]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """A stream of items, which ``__iter__()`` gives once for each epoch.

    With several workers each of them would give all items. So it has to have
    ``shard(index, count)``, which returns an iterable of the items of one worker of several,
    or to read `get_worker_info` in ``__iter__``.

    Examples
    --------
    >>> import metaops as mo
    >>> class Lines(mo.data.IterableDataset):
    ...     def __init__(self, path):
    ...         self.path = path
    ...     def __iter__(self):
    ...         return self.shard(0, 1)
    ...     def shard(self, index, count):
    ...         with open(self.path) as lines:
    ...             yield from itertools.islice(lines, index, None, count)
    """

    def __getitem__(self, index: Any) -> T:
        raise TypeError(f"{type(self).__name__} is iterated over, and has no items by index")

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__()")


def is_stream(dataset: Any) -> bool:
    """Return whether a data set, PyTorch's ones among them, gives its items by `__iter__` alone."""
    # PyTorch's has a __getitem__, which raises.
    if any(base.__name__ == "IterableDataset" for base in type(dataset).__mro__):
        return True
    return not hasattr(dataset, "__getitem__") and hasattr(dataset, "__iter__")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Items that are rows of arrays: item ``i`` is ``(a[i], b[i], ...)``.

    A loader makes a batch of them by one gather for each array.

    Parameters
    ----------
    *tensors
        Arrays, or Vars, of as many rows each. They are not copied; those of bfloat16, which
        NumPy has not, are made float32.

    Raises
    ------
    ValueError
        If they have no rows, or differ in how many they have.

    Examples
    --------
    >>> import metaops as mo, numpy as np
    >>> data = mo.data.TensorDataset(np.zeros((10, 3)), np.arange(10))
    >>> len(data)
    10
    """

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(_as_rows(place, tensor) for place, tensor in enumerate(tensors))
        rows = [len(tensor) for tensor in self.tensors]
        if len(set(rows)) != 1:
            given = f"{rows} rows" if rows else "no tensors"
            raise at_line(ValueError(f"TensorDataset: given {given}, expected as many of each"))

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def get_rows(self) -> tuple[npt.NDArray[Any], ...] | None:
        """Return the arrays whose rows are the items; None where a class makes others."""
        kind = type(self)
        is_own = kind.__getitem__ is TensorDataset.__getitem__
        return self.tensors if is_own and not hasattr(kind, "__getitems__") else None


def _as_rows(place: int, tensor: Any) -> npt.NDArray[Any]:
    is_half = isinstance(tensor, Var) and tensor.dtype == "bfloat16"
    array = tensor.numpy() if is_half else np.asarray(tensor)
    if array.ndim == 0:
        raise at_line(
            ValueError(
                f"TensorDataset: tensor {place} is {shown(tensor)}, expected an array that has rows"
            )
        )
    return array


class ConcatDataset(Dataset[T]):
    """The items of several data sets, one behind the other.

    Parameters
    ----------
    datasets
        Data sets with a length.

    Raises
    ------
    TypeError
        If one has no items by index.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        for place, dataset in enumerate(self.datasets):
            if is_stream(dataset) or not hasattr(dataset, "__len__"):
                raise at_line(
                    TypeError(
                        f"ConcatDataset: data set {place} is {shown(dataset)}, "
                        "expected one that has items by index and a length"
                    )
                )
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1] if self.datasets else 0

    def __getitem__(self, index: Any) -> T:
        place = as_integer("ConcatDataset", "index", index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range of {len(self)} items")
        place %= len(self)
        number = bisect.bisect_right(self.cumulative_sizes, place)
        before = self.cumulative_sizes[number - 1] if number else 0
        item: T = self.datasets[number][place - before]
        return item


class Subset(Dataset[T]):
    """Some items of a data set, in an order.

    Parameters
    ----------
    dataset
        The data set.
    indices
        The places of the items in it.
    """

    def __init__(self, dataset: Any, indices: Sequence[Any]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> T:
        item: T = self.dataset[self.indices[index]]
        return item

    def __getitems__(self, indices: Sequence[int]) -> list[T]:
        """Return several items."""
        chosen = [self.indices[index] for index in indices]
        if hasattr(self.dataset, "__getitems__"):
            items: list[T] = self.dataset.__getitems__(chosen)
            return items
        return [self.dataset[index] for index in chosen]


def random_split(
    dataset: Any, lengths: Sequence[int | float], seed: int | None = None
) -> list[Subset[Any]]:
    """Return parts of a data set, which have its items at random.

    Parameters
    ----------
    dataset
        A data set with a length.
    lengths
        How many items each part has; or shares of all, whose sum is 1. What is left over by
        rounding shares down goes to the first parts, one item each.
    seed
        What the parts follow from; `mo.data.rng` by default, so the session's numbers.

    Raises
    ------
    ValueError
        If the sum of the lengths is another than that of the data set.

    Examples
    --------
    >>> import metaops as mo
    >>> train, test = mo.data.random_split(range(10), [0.8, 0.2], seed=0)
    >>> len(train), len(test)
    (8, 2)
    """
    count = len(dataset)
    given = list(lengths)
    if given and abs(sum(given) - 1) < 1e-6 and all(0 <= length <= 1 for length in given):
        sizes = [int(count * share) for share in given]
        for part in range(count - sum(sizes)):
            sizes[part % len(sizes)] += 1
    else:
        sizes = as_integers("random_split", "lengths", given)
    if sum(sizes) != count or min(sizes, default=0) < 0:
        raise at_line(
            ValueError(
                f"random_split: the lengths {given} have the sum {sum(given)}, "
                f"expected shares of 1, or the length {count} of the data set"
            )
        )
    if seed is None:
        numbers = rng()
    else:
        draws = Draws(as_integer("random_split", "seed", seed), 0)
        # A loader of this seed has another order.
        draws.move(0, Use.SPLIT)
        numbers = draws.get()
    order = numbers.permutation(count).tolist()
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
