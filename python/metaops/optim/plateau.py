# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A learning rate that depends on how training goes."""

from __future__ import annotations

import math
from typing import Any

from .._core import Var
from .._domains import FINITE
from .._errors import at_line
from .._typing import as_number, shown, whole_number
from ..tracing.effects import forbid
from .optimizer import Optimizer
from .schedule import check_factors, check_optimizer, rates_of

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau:
    """Lowers the rates when a figure has not improved for more than `patience` epochs.

    Parameters
    ----------
    optimizer
        Whose rates are lowered.
    mode
        "min" or "max": which figures are better.
    factor
        What the rates are multiplied by.
    patience
        How many epochs without improvement are passed over.
    threshold
        By how much a figure has to be better than the best.
    threshold_mode
        "rel", a share of the best, or "abs".
    cooldown
        How many epochs after a change do not count.
    min_lr
        The lowest rate.
    eps
        A smaller change is not made.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        name = "ReduceLROnPlateau"
        check_optimizer(name, optimizer)
        for what, given, known in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if given not in known:
                raise at_line(
                    ValueError(
                        f"{name}: {what} is {shown(given)}, expected {known[0]!r} or {known[1]!r}"
                    )
                )
        if not factor < 1.0:
            raise at_line(ValueError(f"{name}: factor is {shown(factor)}, expected it below 1"))
        check_factors(name, factor=factor, min_lr=min_lr, eps=eps)
        FINITE.check(name, threshold=as_number(name, "threshold", threshold))
        for what, epochs in (("patience", patience), ("cooldown", cooldown)):
            whole_number(name, what, epochs)
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.bad_epochs = 0
        self.cooldown_left = 0
        self.epoch = 0

    def step(self, metrics: Var | float) -> None:
        """Begin the next epoch, after one whose figure is `metrics`.

        Raises
        ------
        RuntimeError
            If it is called within a function that is recorded, where figures have no
            values.
        """
        forbid("ReduceLROnPlateau.step is called")
        figure = float(metrics.item() if isinstance(metrics, Var) else metrics)
        self.epoch += 1
        if self._is_better(figure):
            self.best = figure
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        if self.cooldown_left > 0:
            self.cooldown_left -= 1
            self.bad_epochs = 0
        if self.bad_epochs > self.patience:
            self._reduce()
            self.cooldown_left = self.cooldown
            self.bad_epochs = 0

    def _is_better(self, figure: float) -> bool:
        sign = 1.0 if self.mode == "max" else -1.0
        if math.isinf(self.best):
            return sign * figure > sign * self.best
        by = self.best if self.threshold_mode == "rel" else 1.0
        return sign * figure > sign * (self.best + sign * self.threshold * by)

    def _reduce(self) -> None:
        for group in self.optimizer.param_groups:
            rate = max(group["lr"] * self.factor, self.min_lr)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate

    def get_last_lr(self) -> list[float]:
        """Return the present rates, one for each group."""
        return rates_of(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """Return where the schedule is."""
        names = ("best", "bad_epochs", "cooldown_left", "epoch")
        return {name: getattr(self, name) for name in names}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where another schedule of the kind was."""
        for name in self.state_dict():
            setattr(self, name, state[name])
