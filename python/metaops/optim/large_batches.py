# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers for large batches, whose steps do not grow with gradients: LAMB and Lion."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var
from ..ops.elementwise.elementwise import sign, where
from ..ops.elementwise.functions import rsqrt, sqrt
from .adam import moments
from .optimizer import Group, Numbers, Optimizer
from .skipping import logarithm, rest_of_power

__all__ = ["LAMB", "Lion"]


class LAMB(Optimizer):
    """Adam whose step of a tensor is as long as the tensor (You et al., 2020).

    Parameters
    ----------
    parameters, lr, betas, eps
        As in `Adam`.
    weight_decay
        The weight of the parameters in the direction of the step.
    maximize, master
        As in `Optimizer`.

    Raises
    ------
    ValueError
        As `Adam`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        beta1, beta2 = group["betas"]
        return {
            "beta1": beta1,
            "rest1": 1.0 - beta1,
            "beta2": beta2,
            "rest2": 1.0 - beta2,
            "of_mean": 1.0 / (1.0 - beta1**step),
            "scale": 1.0 / math.sqrt(1.0 - beta2**step),
            "rate": group["lr"],
            "eps": group["eps"],
            "decay": group["weight_decay"],
        }

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        log1, log2 = map(logarithm, group["betas"])
        return {"log1": log1, "log2": log2}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        of_mean = 1.0 / rest_of_power(n["log1"], count)
        return {**n, "of_mean": of_mean, "scale": rsqrt(rest_of_power(n["log2"], count))}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        mean, square = moments(self, index, gradient, n)
        direction = n["of_mean"] * mean / (square.sqrt() * n["scale"] + n["eps"])
        direction = direction + n["decay"] * parameter
        length, own = (sqrt((x * x).sum()) for x in (direction, parameter))
        has_both = (length > 0) & (own > 0)
        ratio = where(has_both, own / where(has_both, length, 1.0), 1.0)
        return parameter - n["rate"] * ratio * direction

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0}


class Lion(Optimizer):
    """Steps by the sign of a momentum (Chen et al., 2023), which is all that is kept.

    Parameters
    ----------
    parameters
        As in `Optimizer`.
    lr
        The learning rate: a third to a tenth of Adam's.
    betas
        How much of the momentum is in a step, and how much of it is kept.
    weight_decay
        Each step multiplies the parameters by ``1 - lr * weight_decay``.
    maximize, master
        As in `Optimizer`.

    Raises
    ------
    ValueError
        As `Optimizer`, or if a beta is not in [0, 1).
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            betas=betas,
            weight_decay=weight_decay,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        beta1, beta2 = group["betas"]
        return {
            "beta1": beta1,
            "rest1": 1.0 - beta1,
            "beta2": beta2,
            "rest2": 1.0 - beta2,
            "rate": group["lr"],
            "shrink": 1.0 - group["lr"] * group["weight_decay"],
        }

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        mean = self._kept["mean"][index]
        direction = sign(n["beta1"] * mean + n["rest1"] * gradient)
        self._keep("mean", index, n["beta2"] * mean + n["rest2"] * gradient)
        return n["shrink"] * parameter - n["rate"] * direction

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0}
