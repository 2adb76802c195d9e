# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The learning rate of stochastic weight averaging."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._domains import DEVIATION
from .._errors import at_line
from .._typing import as_number, shown, whole_number
from ..tracing.effects import forbid
from .optimizer import Optimizer
from .schedule import LRScheduler

__all__ = ["SWALR"]


class SWALR(LRScheduler):
    """Goes from the present rate to one that then stays (Izmailov et al., 2018).

    It takes the rates as it finds them in its first steps, which another schedule may have
    set since it was made::

        schedule = mo.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
        later = mo.optim.SWALR(optimizer, swa_lr=0.05)
        for epoch in range(120):
            ...
            (schedule if epoch < 75 else later).step()

    Parameters
    ----------
    optimizer
        Whose rates are set.
    swa_lr
        The rate that stays, or one for each group.
    anneal_epochs
        How many steps it takes to get there.
    anneal_strategy
        "cos" or "linear".

    Raises
    ------
    ValueError
        If a number is negative or not finite, there are others than groups, or the strategy is
        another one.
    """

    _goes_by_present_rates = True

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float] | npt.NDArray[np.floating],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
    ) -> None:
        super().__init__(optimizer)
        count = len(self.base_lrs)
        found = _as_list(swa_lr)
        given = [swa_lr] * count if found is None else found
        if len(given) != count:
            raise at_line(
                ValueError(f"SWALR: {len(given)} swa_lr given, expected {count}, one per group")
            )
        self.swa_lrs = [float(as_number("SWALR", "swa_lr", rate)) for rate in given]
        DEVIATION.check("SWALR", swa_lr=self.swa_lrs)
        self.anneal_epochs = whole_number("SWALR", "anneal_epochs", anneal_epochs)
        if anneal_strategy not in ("cos", "linear"):
            raise at_line(
                ValueError(
                    f"SWALR: anneal_strategy is {shown(anneal_strategy)}, expected 'cos' or"
                    " 'linear'"
                )
            )
        self.anneal_strategy = anneal_strategy
        self.begin()

    def _share(self, epoch: int) -> float:
        """Return how far an epoch is on the way, from 0 to 1."""
        if self.anneal_epochs == 0:
            return 1.0
        t = max(0.0, min(1.0, epoch / self.anneal_epochs))
        return t if self.anneal_strategy == "linear" else (1.0 - math.cos(math.pi * t)) / 2.0

    def rate(self, epoch: int, base_lr: float) -> float:
        """Return the first group's rate of an epoch, if no other schedule sets it."""
        share = self._share(epoch)
        return self.swa_lrs[0] * share + base_lr * (1.0 - share)

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of an epoch, by those of the epoch before."""
        before, share = self._share(epoch - 1), self._share(epoch)
        result = []
        # Groups that were added later have none.
        for rate, last in zip(self.get_last_lr(), self.swa_lrs, strict=False):
            first = last if before == 1.0 else (rate - before * last) / (1.0 - before)
            result.append(last * share + first * (1.0 - share))
        return result

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where another schedule of the kind was; rates are the optimiser's."""
        forbid("SWALR.load_state_dict is called")
        self.epoch = int(state["epoch"])
        self.base_lrs = list(state["base_lrs"])


def _as_list(rates: Any) -> list[Any] | None:
    """Return the rates of groups; None if there is one of all."""
    if isinstance(rates, np.ndarray) and rates.ndim == 1:
        return list(rates)
    return list(rates) if isinstance(rates, Sequence) and not isinstance(rates, str) else None
