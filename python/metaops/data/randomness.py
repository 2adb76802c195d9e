# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of items: they follow from a seed, an epoch and a place in it.

So it does not matter who makes an item, and when. A place has a generator of its own,
Philox4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), whose key
is (seed, epoch), and whose counter begins at (0, 0, place, use).
"""

from __future__ import annotations

import enum
import threading

import numpy as np

from .. import _core

__all__ = ["Draws", "Use", "current_epoch", "draw_seed", "is_loading", "rng", "shared_rng"]

_WORD = 2**64


class Use(enum.IntEnum):
    """Uses of generators: those of one place in an epoch have nothing in common."""

    ITEM = 0
    BATCH = 1
    ORDER = 2
    WORKER = 3
    OUTSIDE = 4
    SPLIT = 5
    SHARED = 6


def _make(seed: int, epoch: int, place: int, use: Use) -> np.random.Generator:
    counter = np.array((0, 0, place, use), np.uint64)
    return np.random.Generator(
        np.random.Philox(counter=counter, key=np.array((seed % _WORD, epoch), np.uint64))
    )


class _Current(threading.local):
    """The random numbers that are current in a thread: None outside of a loader's work."""

    draws: Draws | None = None


_current = _Current()


class Draws:
    """The random numbers of an epoch: `rng` is the generator of the place that is current.

    As a context it has `rng` be of these numbers, in this thread.

    Parameters
    ----------
    seed, epoch
        What the numbers follow from, with the place and its use.
    """

    __slots__ = ("_before", "_generator", "_place", "_use", "epoch", "seed")

    def __init__(self, seed: int, epoch: int) -> None:
        self.seed = seed
        self._before: Draws | None = None
        self.epoch = epoch
        self.move(0, Use.ORDER)

    def move(self, place: int, use: Use = Use.ITEM) -> None:
        """Go to a place, whose generator is made when it is first asked for."""
        self._place = place
        self._use = use
        self._generator: np.random.Generator | None = None

    def get(self) -> np.random.Generator:
        """Return the generator of the place."""
        if self._generator is None:
            self._generator = _make(self.seed, self.epoch, self._place, self._use)
        return self._generator

    def __enter__(self) -> None:
        self._before = _current.draws
        _current.draws = self

    def __exit__(self, *error: object) -> None:
        _current.draws = self._before


def is_loading() -> bool:
    """Return whether numbers are those of what a loader makes, in this thread."""
    return _current.draws is not None


def current_epoch() -> int:
    """Return the epoch of what a loader makes in this thread; outside of one, the first."""
    return 0 if _current.draws is None else _current.draws.epoch


def shared_rng(seed: int, epoch: int) -> np.random.Generator:
    """Return a generator of an epoch that is the same in all processes with a seed."""
    return _make(seed, epoch, 0, Use.SHARED)


def rng() -> np.random.Generator:
    """Return the random numbers of the item that is being made.

    In a data set's ``__getitem__``, and in what it calls, such as a transform, these follow
    from the loader's seed, the epoch and the item's place in it, whatever the number of
    workers. In ``__getitems__`` and in ``collate_fn`` they are those of the batch, in a
    sampler those of the epoch. All calls for one item return the same generator.

    Elsewhere it is a new generator each time, which follows from the session's: from
    `metaops.seed`, and from what has been drawn since.

    Raises
    ------
    RuntimeError
        If a function is being recorded, outside of an item.

    Examples
    --------
    >>> import metaops as mo
    >>> is_flipped = mo.data.rng().random() < 0.5
    """
    draws = _current.draws
    if draws is not None:
        return draws.get()
    return _draw_outside("mo.data.rng is called")


def draw_seed() -> int:
    """Return a seed that follows from the session's, another one each time."""
    return int(_draw_outside("the seed of a data loader is drawn").integers(2**63))


def _draw_outside(what: str) -> np.random.Generator:
    """Return a new generator, which takes a number of the session's for its place."""
    from .._errors import refuse_recorded

    refuse_recorded(what)
    seed, place = _core.take_random_number()
    return _make(seed, 0, place % _WORD, Use.OUTSIDE)
