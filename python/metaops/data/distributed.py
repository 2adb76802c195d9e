# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of a data set for processes that read it together: each has its own items."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sized

from .._errors import at_line
from .._typing import as_count, as_flag, shown, whole_number
from .randomness import current_epoch, shared_rng
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """The part of a data set that one of several processes reads.

    All processes have as many items. The order of the whole follows from the sampler's seed
    and the epoch alone, so that of all processes' parts each item is in one: it is not the
    loader's seed, which differs between them.

    Parameters
    ----------
    dataset
        The data set, which is the same in all processes.
    num_replicas, rank
        How many processes there are, and which one this is. Without them, they are what
        ``WORLD_SIZE`` and ``RANK`` say in the environment.
    shuffle
        Whether the order is another one in each epoch.
    seed
        The order's seed, the same in all processes.
    drop_last
        Whether items are left out that do not suffice for all processes. Else the first ones
        come again.

    Attributes
    ----------
    num_samples : int
        The number of items of a process.
    total_size : int
        That of all processes.

    Raises
    ------
    ValueError
        If there is no such process, or nothing tells which one this is.
    TypeError
        If the data set has no length, or `shuffle` or `drop_last` is no bool.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        name = type(self).__name__
        if not isinstance(dataset, Sized):
            raise at_line(
                TypeError(f"{name}: dataset is {shown(dataset)}, expected one with a length")
            )
        self.dataset = dataset
        self.num_replicas = as_count(
            f"{name}: num_replicas", _known(name, "num_replicas", num_replicas, "WORLD_SIZE")
        )
        self.rank = whole_number(name, "rank", _known(name, "rank", rank, "RANK"))
        if self.rank >= self.num_replicas:
            raise at_line(
                ValueError(
                    f"{name}: rank is {self.rank}, expected 0 to {self.num_replicas - 1}, as"
                    f" num_replicas is {self.num_replicas}"
                )
            )
        self.shuffle = as_flag(name, "shuffle", shuffle)
        self.seed = whole_number(name, "seed", seed)
        self.drop_last = as_flag(name, "drop_last", drop_last)
        self._epoch: int | None = None

    @property
    def num_samples(self) -> int:
        """Number of items of this process."""
        count = len(self.dataset)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)

    @property
    def total_size(self) -> int:
        """Number of items of all processes."""
        return self.num_samples * self.num_replicas

    def set_epoch(self, epoch: int) -> None:
        """Have the next orders be those of an epoch, whatever the loader's epoch is.

        Without this call they are those of the loader's epochs, also of one that goes on in
        the middle; and of the first one where there is no loader. What is set here is no part
        of a loader's state: set it again before a loader goes on.

        Parameters
        ----------
        epoch
            The number of the epoch, from 0.
        """
        self._epoch = whole_number(type(self).__name__, "epoch", epoch)

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if not count:
            return
        epoch = current_epoch() if self._epoch is None else self._epoch
        order = shared_rng(self.seed, epoch).permutation(count) if self.shuffle else range(count)
        for place in range(self.rank, self.total_size, self.num_replicas):
            yield int(order[place % count])


def _known(name: str, parameter: str, given: int | None, variable: str) -> object:
    """Return a parameter, or what the environment says in its place."""
    if isinstance(given, bool):
        raise at_line(TypeError(f"{name}: {parameter} is {given}, expected an integer"))
    if given is not None:
        return given
    text = os.environ.get(variable)
    if text is None:
        raise at_line(
            ValueError(
                f"{name}: {parameter} is not given, and the environment has no {variable}; expected"
                " one of both"
            )
        )
    if not text.strip().isdecimal():
        raise at_line(
            ValueError(
                f"{name}: {variable} is {shown(text)} in the environment, expected a number of 0"
                " or more"
            )
        )
    return int(text)
