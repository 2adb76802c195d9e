# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules that go up and down."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from .._domains import POSITIVE_FINITE, check_rising
from .._errors import at_line
from .._typing import as_number, shown
from .optimizer import Group, Optimizer
from .schedule import LRScheduler, check_factors, check_positive

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines from the first rate to `eta_min` (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    optimizer
        Whose rates are set.
    t_0
        The epochs of the first half cosine.
    t_mult
        How many times as long each is as the one before.
    eta_min
        The lowest rate.
    """

    def __init__(
        self, optimizer: Optimizer, t_0: int, t_mult: int = 1, eta_min: float = 0.0
    ) -> None:
        super().__init__(optimizer)
        check_positive("CosineAnnealingWarmRestarts", "t_0", t_0)
        check_positive("CosineAnnealingWarmRestarts", "t_mult", t_mult)
        check_factors("CosineAnnealingWarmRestarts", eta_min=eta_min)
        self.t_0 = t_0
        self.t_mult = t_mult
        self.eta_min = eta_min
        self.begin()

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of an epoch."""
        length = self.t_0
        if self.t_mult == 1:
            epoch %= length
        while epoch >= length:
            epoch -= length
            length *= self.t_mult
        half = 0.5 * (1.0 + math.cos(math.pi * epoch / length))
        return self.eta_min + (base_lr - self.eta_min) * half


def _set_momentum(group: Group, momentum: float) -> None:
    """Set the momentum of a group, which of Adam and its kin is the first beta."""
    if "betas" in group:
        group["betas"] = (momentum, group["betas"][1])
    else:
        group["momentum"] = momentum


def _check_momentum(name: str, optimizer: Optimizer) -> None:
    """Raise ValueError unless the optimiser has such an option; it may be 0."""
    if not {"betas", "momentum"} & optimizer.defaults.keys():
        raise at_line(
            ValueError(
                f"{name}: cycle_momentum needs an optimizer with momentum, which"
                f" {type(optimizer).__name__} has not; expected cycle_momentum=False"
            )
        )


class CyclicLR(LRScheduler):
    """Rates between two bounds, up and down (Smith, 2017); `step` follows each batch.

    Parameters
    ----------
    optimizer
        Whose rates are set.
    base_lr, max_lr
        The bounds.
    step_size_up, step_size_down
        How many steps up and, by default as many, down.
    mode
        "triangular", "triangular2" (each cycle half as high as the one before) or
        "exp_range" (``gamma**step`` times as high).
    gamma
        Of "exp_range".
    cycle_momentum
        Whether the momentum goes from `max_momentum` to `base_momentum` while the
        rate goes up. It is the optimiser's momentum, also one that was 0, or the first
        beta.
    base_momentum, max_momentum
        The momentum's bounds.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float,
        max_lr: float,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        *,
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
    ) -> None:
        super().__init__(optimizer)
        check_factors("CyclicLR", base_lr=base_lr, max_lr=max_lr, gamma=gamma)
        check_rising("CyclicLR", base_lr=base_lr, max_lr=max_lr)
        given: Any = mode
        if given not in ("triangular", "triangular2", "exp_range"):
            raise at_line(
                ValueError(
                    f"CyclicLR: mode is {shown(given)}, expected 'triangular', 'triangular2' or"
                    " 'exp_range'"
                )
            )
        check_positive("CyclicLR", "step_size_up", step_size_up)
        self.step_size_up = step_size_up
        self.step_size_down = step_size_up if step_size_down is None else step_size_down
        check_positive("CyclicLR", "step_size_down", self.step_size_down)
        if cycle_momentum:
            check_factors("CyclicLR", base_momentum=base_momentum, max_momentum=max_momentum)
            _check_momentum("CyclicLR", optimizer)
        self.low, self.high = base_lr, max_lr
        self.mode = mode
        self.gamma = gamma
        self.momenta = (base_momentum, max_momentum) if cycle_momentum else None
        self.begin()

    def _height(self, epoch: int) -> float:
        """Return where between the bounds a step is, 0 to 1."""
        cycle, place = divmod(epoch, self.step_size_up + self.step_size_down)
        if place <= self.step_size_up:
            height = place / self.step_size_up
        else:
            height = 1.0 - (place - self.step_size_up) / self.step_size_down
        if self.mode == "triangular":
            return height
        return height * (0.5**cycle if self.mode == "triangular2" else float(self.gamma**epoch))

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of a step."""
        return self.low + (self.high - self.low) * self._height(epoch)

    def begin(self) -> None:
        """Set the rates and momenta of the present step."""
        super().begin()
        if self.momenta is not None:
            low, high = self.momenta
            for group in self.optimizer.param_groups:
                _set_momentum(group, high - (high - low) * self._height(self.epoch))


class OneCycleLR(LRScheduler):
    """One cycle up and far down (Smith and Topin, 2019); `step` follows each batch.

    Parameters
    ----------
    optimizer
        Whose rates are set.
    max_lr
        The highest rate.
    total_steps
        How many steps there are; or else `epochs` times `steps_per_epoch`.
    epochs, steps_per_epoch
        Instead of `total_steps`.
    pct_start
        The share of the steps that go up.
    anneal_strategy
        "cos" or "linear".
    cycle_momentum
        Whether the momentum goes the other way, as in `CyclicLR`.
    base_momentum, max_momentum
        The momentum's bounds.
    div_factor
        The first rate is `max_lr` divided by this.
    final_div_factor
        The last rate is the first divided by this.
    three_phase
        Whether the rate goes back to the first one as fast as it came, and down to
        the last in the rest of the steps.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        super().__init__(optimizer)
        name = "OneCycleLR"
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise at_line(
                    ValueError(f"{name}: expected total_steps, or epochs and steps_per_epoch")
                )
            total_steps = epochs * steps_per_epoch
        check_positive(name, "total_steps", total_steps)
        check_factors(name, max_lr=max_lr)
        for what, factor in (("div_factor", div_factor), ("final_div_factor", final_div_factor)):
            POSITIVE_FINITE.check(name, **{what: as_number(name, what, factor)})
        if not 0.0 <= pct_start <= 1.0:
            raise at_line(
                ValueError(f"{name}: pct_start is {shown(pct_start)}, expected it in [0, 1]")
            )
        if anneal_strategy not in ("cos", "linear"):
            raise at_line(
                ValueError(
                    f"{name}: anneal_strategy is {shown(anneal_strategy)}, expected 'cos' or"
                    " 'linear'"
                )
            )
        if cycle_momentum:
            check_factors(name, base_momentum=base_momentum, max_momentum=max_momentum)
            _check_momentum(name, optimizer)
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        first = max_lr / div_factor
        last = first / final_div_factor
        top, end = pct_start * total_steps - 1.0, total_steps - 1.0
        self._rates = [(0.0, first), (top, max_lr)]
        self._rates += [(2.0 * top, first), (end, last)] if three_phase else [(end, last)]
        self._momenta = [(0.0, max_momentum), (top, base_momentum)]
        self._momenta += [(2.0 * top, max_momentum)] if three_phase else []
        self._momenta += [(end, max_momentum)]
        self.cycle_momentum = cycle_momentum
        self.begin()

    def _between(self, points: list[tuple[float, float]], epoch: int) -> float:
        """Return the height at a step of a line through points."""
        for (left, start), (right, end) in pairwise(points):
            if epoch <= right or right == points[-1][0]:
                share = (epoch - left) / (right - left) if right > left else 1.0
                if self.anneal_strategy == "cos":
                    return end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * share))
                return start + (end - start) * share
        return points[-1][1]

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the learning rate of a step.

        Raises
        ------
        ValueError
            If the cycle has ended before it.
        """
        if epoch >= self.total_steps:
            raise at_line(
                ValueError(
                    f"OneCycleLR: step {epoch} is beyond total_steps, which is {self.total_steps}"
                )
            )
        return self._between(self._rates, epoch)

    def begin(self) -> None:
        """Set the rates and momenta of the present step."""
        super().begin()
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                _set_momentum(group, self._between(self._momenta, self.epoch))
