# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules: what all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any
from weakref import ref

from .._domains import DEVIATION
from .._errors import at_line
from .._typing import as_number, shown
from ..tracing.effects import Effect, forbid, note_read, perform
from .optimizer import Optimizer

__all__ = ["LRScheduler", "check_factors", "check_optimizer", "check_positive", "rates_of"]


def check_positive(name: str, what: str, number: Any) -> None:
    """Raise ValueError unless a count is positive."""
    if not number >= 1:
        raise at_line(ValueError(f"{name}: {what} is {shown(number)}, expected a positive number"))


def check_factors(name: str, **factors: Any) -> None:
    """Raise an error unless rates, and what they are multiplied by, are 0 or more, and finite."""
    for what, number in factors.items():
        DEVIATION.check(name, **{what: as_number(name, what, number)})


def check_optimizer(name: str, optimizer: Any) -> None:
    """Raise TypeError unless it is an optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise at_line(TypeError(f"{name}: optimizer is {shown(optimizer)}, expected an Optimizer"))


def rates_of(optimizer: Optimizer) -> list[float]:
    """Return the present rates of an optimiser, one for each group."""
    note_read(optimizer, rates_of)
    return [group["lr"] for group in optimizer.param_groups]


def _base_of(group: dict[str, Any]) -> float:
    """Return the rate by which a schedule of a group goes that is made now."""
    is_scheduled = group["lr"] == group.get("scheduled_lr", group["lr"])
    return float(group["initial_lr"] if "initial_lr" in group and is_scheduled else group["lr"])


class _Step(Effect):
    """A step of a schedule: all that it sets of itself and of its optimiser's groups."""

    def __init__(self, schedule: LRScheduler) -> None:
        # Its steps read what is set.
        super().__init__(schedule.optimizer)
        self._schedule = ref(schedule)
        self._before: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def advance(self) -> list[float] | None:
        """Begin the schedule's next epoch; if that fails, nothing has changed."""
        schedule = self._schedule()
        if schedule is None:
            return None
        changed = [vars(schedule), *schedule.optimizer.param_groups]
        self._before = [(each, each.copy()) for each in changed]
        try:
            schedule.epoch += 1
            schedule.begin()
        except BaseException:
            self.take_back()
            raise
        return []

    def take_back(self) -> None:
        """Have everything be as it was before the step."""
        for each, before in self._before:
            each.clear()
            each.update(before)
        self._before = []

    def finish(self) -> None:
        """Let go of what was before."""
        self._before = []


class LRScheduler(ABC):
    """A learning rate that is a function of the epoch.

    A schedule sets the rates of its first epoch when it is made: the constructor of a
    subclass ends with a call of `begin`.

    Parameters
    ----------
    optimizer
        The rates of its groups are those by which the schedule goes. A rate that a
        schedule before has set does not count: the new one goes by what that went by.

    Attributes
    ----------
    base_lrs : list of float
        The rates, one for each group, by which the schedule goes.
    """

    _changes_by_effect = frozenset({"epoch"})
    #: The rates of an epoch follow from those that the groups have.
    _goes_by_present_rates = False
    _has_begun = False

    def __init__(self, optimizer: Optimizer) -> None:
        check_optimizer(type(self).__name__, optimizer)
        forbid(f"{type(self).__name__} is made")
        self.optimizer = optimizer
        self.base_lrs = [_base_of(group) for group in optimizer.param_groups]
        self.epoch = 0

    @property
    def epoch(self) -> int:
        """The number of calls of `step`."""
        note_read(self, lambda own: own.epoch, self.optimizer)
        epoch: int = vars(self)["epoch"]
        return epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        vars(self)["epoch"] = epoch

    @abstractmethod
    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch, for a group whose rate was `base_lr`."""

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, one for each group."""
        return [float(self.rate(epoch, base_lr)) for base_lr in self.base_lrs]

    def begin(self) -> None:
        """Set the rates of the present epoch."""
        groups, rates = self.optimizer.param_groups, self.rates(self.epoch)
        if not self._has_begun:
            # Not before: a constructor that raises sets nothing.
            for group, base in zip(groups, self.base_lrs, strict=False):
                group["initial_lr"] = base
            self._has_begun = True
        for group, rate in zip(groups, rates, strict=False):
            group["lr"] = group["scheduled_lr"] = rate

    def step(self) -> None:
        """Begin the next epoch."""
        perform(_Step(self))

    def get_last_lr(self) -> list[float]:
        """Return the present rates, one for each group."""
        return rates_of(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """Return where the schedule is."""
        return {"epoch": self.epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where another schedule of the kind was, by the rates of that epoch."""
        forbid(f"{type(self).__name__}.load_state_dict is called")
        self.epoch = int(state["epoch"])
        self.base_lrs = list(state["base_lrs"])
        self.begin()
