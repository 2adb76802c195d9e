# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of items of about the same length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from .._errors import at_line
from .._typing import as_count, as_flag, shown
from .randomness import rng
from .sampler import Sampler, count_batches

__all__ = ["BucketBatchSampler"]


class BucketBatchSampler(Sampler[list[int]]):
    """Lists of indices of items whose lengths are about the same, one for each batch.

    Items are drawn into buckets, which are sorted by length and cut into batches; these come in
    an order that is drawn, too. So batches differ from epoch to epoch.

    Parameters
    ----------
    lengths
        The length of each item of the data set, such as its number of tokens.
    batch_size
        How many indices a list has.
    shuffle
        Whether buckets and batches are drawn anew in each epoch. Else there is one bucket, and
        batches come from the shortest to the longest.
    drop_last
        Whether the list is left out that has fewer: items that are drawn, or the longest ones
        without a shuffle.
    bucket_size
        How many batches a bucket has: the more there are, the less their items differ in
        length, and the less their batches from epoch to epoch.

    Raises
    ------
    ValueError
        If a length is no number, negative or not finite, or a size is less than 1.
    TypeError
        If `shuffle` or `drop_last` is no bool.
    """

    def __init__(
        self,
        lengths: Sequence[float] | npt.NDArray[np.number],
        batch_size: int,
        shuffle: bool = True,
        drop_last: bool = False,
        bucket_size: int = 100,
    ) -> None:
        name = type(self).__name__
        self.lengths = _as_lengths(name, lengths)
        self.batch_size = as_count(f"{name}: batch_size", batch_size)
        self.bucket_size = as_count(f"{name}: bucket_size", bucket_size)
        self.shuffle = as_flag(name, "shuffle", shuffle)
        self.drop_last = as_flag(name, "drop_last", drop_last)

    def __len__(self) -> int:
        return count_batches(len(self.lengths), self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        size, count = self.batch_size, len(self.lengths)
        if not self.shuffle:
            order = np.argsort(self.lengths, kind="stable")
            yield from (order[k * size : (k + 1) * size].tolist() for k in range(len(self)))
            return
        numbers = rng()
        # Those that are left out are drawn, and not the longest ones.
        count = min(count, len(self) * size)
        order = numbers.permutation(len(self.lengths))[:count]
        extent = size * self.bucket_size
        for begin in range(0, count, extent):
            bucket = order[begin : begin + extent]
            order[begin : begin + extent] = bucket[np.argsort(self.lengths[bucket], kind="stable")]
        for k in numbers.permutation(len(self)).tolist():
            yield order[k * size : (k + 1) * size].tolist()


def _as_lengths(name: str, lengths: object) -> npt.NDArray[np.float64]:
    """Return the lengths of items as an array."""
    try:
        found = np.asarray(lengths)
        given = found.astype("float64") if found.size == 0 or found.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        given = None
    if given is None or given.ndim != 1 or not np.all((given >= 0) & np.isfinite(given)):
        raise at_line(
            ValueError(
                f"{name}: lengths is {shown(lengths)}, expected finite numbers that are not"
                " negative, one for each item"
            )
        )
    return given
