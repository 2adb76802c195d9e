# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules: each sets its optimiser's rates at every `step`."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import at_line
from .._typing import shown, whole_number
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, check_factors, check_positive

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


class LambdaLR(LRScheduler):
    """Multiplies the first rate by a function of the epoch.

    Parameters
    ----------
    optimizer
        Whose rates are set.
    lr_lambda
        A function of the epoch, or one for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
    ) -> None:
        super().__init__(optimizer)
        self.lr_lambdas = _for_groups(type(self).__name__, lr_lambda, len(self.base_lrs))
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the rate by the first group's function."""
        return base_lr * self.lr_lambdas[0](epoch)

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, one for each group."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [float(base_lr * factor(epoch)) for base_lr, factor in pairs]


def _for_groups(
    name: str, given: Callable[[int], float] | Sequence[Callable[[int], float]], count: int
) -> list[Callable[[int], float]]:
    """Return one function for each group."""
    if callable(given):
        return [given] * count
    functions = list(given)
    if len(functions) != count:
        raise at_line(
            ValueError(f"{name}: {len(functions)} functions given, expected {count}, one per group")
        )
    return functions


class MultiplicativeLR(LambdaLR):
    """Multiplies the rate of the epoch before by a function of the epoch.

    Parameters
    ----------
    optimizer, lr_lambda
        As in `LambdaLR`.
    """

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the rate by the first group's function."""
        return base_lr * math.prod(self.lr_lambdas[0](k) for k in range(1, epoch + 1))

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, one for each group."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [
            float(base_lr * math.prod(factor(k) for k in range(1, epoch + 1)))
            for base_lr, factor in pairs
        ]


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        check_positive("StepLR", "step_size", step_size)
        check_factors("StepLR", gamma=gamma)
        self.step_size = step_size
        self.gamma = gamma
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        return float(base_lr * self.gamma ** (epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """Multiplies the rate by `gamma` at each of the epochs `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        check_factors("MultiStepLR", gamma=gamma)
        self.milestones = sorted(whole_number("MultiStepLR", "a milestone", k) for k in milestones)
        self.gamma = gamma
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        return float(base_lr * self.gamma ** bisect_right(self.milestones, epoch))


class ConstantLR(LRScheduler):
    """Multiplies the rate by `factor` in the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3.0, total_iters: int = 5
    ) -> None:
        super().__init__(optimizer)
        check_factors("ConstantLR", factor=factor)
        self.factor = factor
        self.total_iters = total_iters
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        return base_lr * self.factor if epoch < self.total_iters else base_lr


class LinearLR(LRScheduler):
    """Multiplies the rate by a factor that grows evenly over `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3.0,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        super().__init__(optimizer)
        check_positive("LinearLR", "total_iters", total_iters)
        check_factors("LinearLR", start_factor=start_factor, end_factor=end_factor)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        share = min(epoch, self.total_iters) / self.total_iters
        return base_lr * (self.start_factor + (self.end_factor - self.start_factor) * share)


class PolynomialLR(LRScheduler):
    """Lowers the rate to 0 over `total_iters` epochs by a power of what is left."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0) -> None:
        super().__init__(optimizer)
        check_positive("PolynomialLR", "total_iters", total_iters)
        check_factors("PolynomialLR", power=power)
        self.total_iters = total_iters
        self.power = power
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        left = 1.0 - min(epoch, self.total_iters) / self.total_iters
        return float(base_lr * left**self.power)


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer)
        check_factors("ExponentialLR", gamma=gamma)
        self.gamma = gamma
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        return float(base_lr * self.gamma**epoch)


class CosineAnnealingLR(LRScheduler):
    """Lowers the rate to `eta_min` over `t_max` epochs along half a cosine."""

    def __init__(self, optimizer: Optimizer, t_max: int, eta_min: float = 0.0) -> None:
        super().__init__(optimizer)
        check_positive("CosineAnnealingLR", "t_max", t_max)
        check_factors("CosineAnnealingLR", eta_min=eta_min)
        self.t_max = t_max
        self.eta_min = eta_min
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        half = 0.5 * (1.0 + math.cos(math.pi * epoch / self.t_max))
        return self.eta_min + (base_lr - self.eta_min) * half


def _of_one_optimizer(
    name: str, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None
) -> list[LRScheduler]:
    """Return the schedules; raise ValueError unless they are of one optimiser."""
    result: list[Any] = list(schedulers)
    if not result or not all(isinstance(scheduler, LRScheduler) for scheduler in result):
        raise at_line(
            TypeError(f"{name}: schedulers are {shown(schedulers)}, expected LRSchedulers")
        )
    optimizer = optimizer or result[0].optimizer
    if any(scheduler.optimizer is not optimizer for scheduler in result):
        raise at_line(ValueError(f"{name}: expected schedulers that are all of one optimizer"))
    return result


class SequentialLR(LRScheduler):
    """One schedule after the other, each of which begins at its epoch 0.

    Parameters
    ----------
    optimizer
        Whose rates are set.
    schedulers
        Schedules of this optimiser. Their own `step` is not called.
    milestones
        The epochs at which the second and all others begin, rising.

    Raises
    ------
    ValueError
        If there are other than one milestone fewer than schedules.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]
    ) -> None:
        super().__init__(optimizer)
        self.schedulers = _of_one_optimizer("SequentialLR", schedulers, optimizer)
        self.milestones = list(milestones)
        if len(self.milestones) != len(self.schedulers) - 1:
            raise at_line(
                ValueError(
                    f"SequentialLR: {len(self.milestones)} milestones for"
                    f" {len(self.schedulers)} schedulers, expected one fewer"
                )
            )
        self._goes_by_present_rates = any(
            scheduler._goes_by_present_rates for scheduler in self.schedulers
        )
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        scheduler, own = self._place(epoch)
        return scheduler.rate(own, base_lr)

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, one for each group."""
        scheduler, own = self._place(epoch)
        return scheduler.rates(own)

    def _place(self, epoch: int) -> tuple[LRScheduler, int]:
        """Return the schedule of an epoch, and which one it is of that."""
        k = bisect_right(self.milestones, epoch)
        return self.schedulers[k], epoch - (self.milestones[k - 1] if k else 0)


class ChainedScheduler(LRScheduler):
    """The product of schedules: each multiplies the rate by what it would alone.

    Parameters
    ----------
    schedulers
        Schedules of one optimiser. Their own `step` is not called.

    Raises
    ------
    ValueError
        If one goes by the present rates, as `SWALR` does, and so has no factor of its own.
    """

    def __init__(self, schedulers: Sequence[LRScheduler]) -> None:
        self.schedulers = _of_one_optimizer("ChainedScheduler", schedulers, None)
        for scheduler in self.schedulers:
            if scheduler._goes_by_present_rates:
                raise at_line(
                    ValueError(
                        f"ChainedScheduler: a {type(scheduler).__name__} goes by the rates that"
                        " others set; expected schedules that multiply the first rate. Step it by"
                        " itself, after the others, or in a SequentialLR"
                    )
                )
        super().__init__(self.schedulers[0].optimizer)
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        if not base_lr:
            return 0.0
        factors = (scheduler.rate(epoch, base_lr) / base_lr for scheduler in self.schedulers)
        return base_lr * math.prod(factors)

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, one for each group."""
        result = list(self.base_lrs)
        for scheduler in self.schedulers:
            pairs = zip(result, scheduler.rates(epoch), self.base_lrs, strict=True)
            result = [rate * own / base if base else 0.0 for rate, own, base in pairs]
        return result
