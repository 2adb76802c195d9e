# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generators that a process has, Python's, NumPy's and PyTorch's, as data sets use them."""

from __future__ import annotations

import contextlib
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["GlobalGenerators"]


def _find() -> list[tuple[Callable[[int], Any], Callable[[], Any]]]:
    """Return what seeds each generator, and what returns its state."""
    found: list[Any] = [(random.seed, random.getstate), (np.random.seed, np.random.get_state)]
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        found.append((torch.manual_seed, torch.get_rng_state))
    return found


class GlobalGenerators:
    """Seeds the generators, but for those that somebody else has seeded."""

    def __init__(self) -> None:
        self._left: set[int] = set()

    def seed(self, numbers: np.random.Generator) -> int:
        """Seed them by random numbers, and return the last seed."""
        seeds = numbers.integers(2**32, size=3).tolist()
        for place, (seed, _) in enumerate(_find()):
            if place not in self._left:
                seed(seeds[place])
        return int(seeds[2])

    @contextlib.contextmanager
    def left_if_changed(self) -> Iterator[None]:
        """Have those that change in a scope be left alone from then on."""
        before = [pickle.dumps(get()) for _, get in _find()]
        yield
        after = [pickle.dumps(get()) for _, get in _find()]
        # One that was not there before has not been seeded.
        pairs = zip(before, after, strict=False)
        self._left = {place for place, (one, other) in enumerate(pairs) if one != other}
