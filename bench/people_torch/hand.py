# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A hand that loops are given, the list of loops, and what several of them share.

As in people_loops, a loop is a function that is given a `Hand` and returns its step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

Step = Callable[[int], list[Any]]
Make = Callable[["Hand"], Step]


class Hand:
    """What a loop is given: the numbers that the `Hand` of people_loops gives.

    Attributes
    ----------
    rng : numpy.random.Generator
        Of a fixed seed.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def array(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Return a tensor of normal numbers."""
        return torch.from_numpy((self.rng.standard_normal(shape) * scale).astype("float32"))

    def parameter(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Return a tensor of normal numbers that is trained."""
        return self.array(*shape, scale=scale).requires_grad_()

    def indices(self, most: int, *shape: int) -> Tensor:
        """Return a tensor of integers below `most`."""
        return torch.from_numpy(self.rng.integers(0, most, shape))


LOOPS: dict[str, Make] = {}


def loop(make: Make) -> Make:
    """Add a loop to the list."""
    LOOPS[make.__name__] = make
    return make


def classifier() -> nn.Sequential:
    """Return the classifier that many loops train."""
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


def seeded(hand: Hand, module: nn.Sequential) -> nn.Sequential:
    """Give a module's parameters the hand's numbers."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(hand.array(*parameter.shape, scale=0.3))
    return module


def move(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """Take a step of training."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def apply(optimizer: torch.optim.Optimizer, parameter: Tensor, gradient: Tensor) -> None:
    """Take a step by a gradient that is given."""
    parameter.grad = gradient
    optimizer.step()
