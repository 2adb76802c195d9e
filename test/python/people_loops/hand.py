# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A hand that loops are given, and the list of loops.

Each loop is a function that is given a `Hand` and returns its step: that takes the number
of the iteration, and returns what the loop asks for, as numbers. Names of a step are kept
in `hand.names`, so that a test can drop them before the loop asks, or keep them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import metaops as mo
import numpy as np

Step = Callable[[int], list[Any]]


class Hand:
    """What a loop is given: numbers, and its names.

    Attributes
    ----------
    rng : numpy.random.Generator
        Of a fixed seed.
    keeps : bool
        Whether names of a step stay until the next one.
    """

    def __init__(self, seed: int, keeps: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.keeps = keeps
        self.names = SimpleNamespace()

    def array(self, *shape: int, scale: float = 1.0) -> Any:
        """Return a Var of normal numbers."""
        return mo.array((self.rng.standard_normal(shape) * scale).astype("float32")).sync()

    def indices(self, most: int, *shape: int) -> Any:
        """Return a Var of integers below `most`."""
        return mo.array(self.rng.integers(0, most, shape))

    def begin(self) -> SimpleNamespace:
        """Begin a step: the names of the last one go."""
        self.names.__dict__.clear()
        return self.names

    def drop(self) -> None:
        """Forget the names of the step, unless they are to be kept."""
        if not self.keeps:
            self.names.__dict__.clear()


@dataclass(frozen=True)
class Loop:
    """A loop, and what each of its steps may cost when it has gone on for a while.

    Attributes
    ----------
    programs : float
        Programs that a step runs, at most, in the mean.
    repeated : float
        Operators that are computed again for values that were live.
    block : float
        Operators by which the block grows in a step: those of lists of pending values.
    """

    make: Callable[[Hand], Step]
    programs: float = 1
    repeated: float = 0
    block: float = 0


LOOPS: dict[str, Loop] = {}


def loop(**bounds: Any) -> Callable[[Callable[[Hand], Step]], Callable[[Hand], Step]]:
    """Add a loop to the list."""

    def add(make: Callable[[Hand], Step]) -> Callable[[Hand], Step]:
        LOOPS[make.__name__] = Loop(make, **bounds)
        return make

    return add


def classifier(hand: Hand) -> Any:
    return mo.nn.Sequential(
        mo.nn.Linear(8, 16), mo.nn.BatchNorm1d(16), mo.nn.ReLU(), mo.nn.Linear(16, 4)
    )


def seeded(hand: Hand, module: Any) -> Any:
    """Give a module's parameters the hand's numbers."""
    for parameter in module.parameters():
        parameter.assign(hand.array(*parameter.shape, scale=0.3))
    return module
