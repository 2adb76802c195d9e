# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors, counts and an effect for tests of recorded functions."""

from __future__ import annotations

from typing import Any

import metaops as mo
import numpy as np
from metaops.tracing.effects import Effect, recording


def leaf(*values: float) -> mo.Var:
    """Return a tensor of numbers."""
    return mo.array(np.array(values, "float32"))


def hits(function: Any) -> int:
    """Return how many calls used a recording as it was."""
    return mo.jit_info(function).hits


def recorded(function: Any) -> int:
    """Return how often a function was recorded for something new."""
    return len(mo.jit_info(function).records)


class Counter(Effect):
    """An effect: a number that each call doubles."""

    def __init__(self) -> None:
        super().__init__(self)
        self.value = 1.0
        self.launches = 0
        self.fails = False

    _changes_by_effect = frozenset({"value", "launches"})

    def advance(self) -> list[float]:
        if self.fails:
            raise ValueError("no number")
        self.value *= 2
        return [self.value]

    def take_back(self) -> None:
        self.value /= 2

    def get_step(self, numbers: list[mo.Var]) -> None:
        assert len(numbers) == 1

    def finish(self) -> None:
        self.launches += 1

    def scaled(self, x: mo.Var) -> mo.Var:
        """Return x times the number of this call."""
        found = recording()
        if found is None:
            return x * self.advance()[0]
        return x * found.add_effect(self, self.advance(), ["float32"])[0]
