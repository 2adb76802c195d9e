# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules: each sets its optimiser's rate at every `step`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from .._errors import at_line
from .._typing import shown
from .optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "StepLR"]


class LRScheduler(ABC):
    """A learning rate that is a function of the epoch.

    Parameters
    ----------
    optimizer
        Its present rate is that of epoch 0.

    Attributes
    ----------
    epoch : int
        How often `step` was called.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        given: Any = optimizer
        if not isinstance(given, Optimizer):
            name = type(self).__name__
            raise at_line(TypeError(f"{name}: optimizer is {shown(given)}, expected an Optimizer"))
        self.optimizer = optimizer
        self.base_lr = optimizer.lr
        self.epoch = 0

    @abstractmethod
    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""

    def step(self) -> None:
        """Begin the next epoch."""
        self.epoch += 1
        self.optimizer.lr = self.rate(self.epoch)


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        if step_size < 1:
            raise at_line(
                ValueError(f"StepLR: step_size is {step_size}, expected a positive number")
            )
        self.step_size = step_size
        self.gamma = gamma

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        return float(self.base_lr * self.gamma ** (epoch // self.step_size))


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer)
        self.gamma = gamma

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        return float(self.base_lr * self.gamma**epoch)


class CosineAnnealingLR(LRScheduler):
    """Lowers the rate to `eta_min` over `t_max` epochs along half a cosine."""

    def __init__(self, optimizer: Optimizer, t_max: int, eta_min: float = 0.0) -> None:
        super().__init__(optimizer)
        if t_max < 1:
            raise at_line(
                ValueError(f"CosineAnnealingLR: t_max is {t_max}, expected a positive number")
            )
        self.t_max = t_max
        self.eta_min = eta_min

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        half = 0.5 * (1.0 + math.cos(math.pi * epoch / self.t_max))
        return self.eta_min + (self.base_lr - self.eta_min) * half
