# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var
from ..ops.elementwise.elementwise import maximum
from ..ops.elementwise.functions import rsqrt
from .optimizer import Group, Numbers, Optimizer
from .skipping import logarithm, rest_of_power

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with bias correction.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    betas
        How much of the means of gradients and of squared gradients is kept.
    eps
        Added to the square root of the squared gradients' mean.
    weight_decay
        The weight of the squared parameters' half in the loss.
    amsgrad
        Whether each step divides by the largest mean of squared gradients so far (Reddi
        et al., 2018), which is "largest" in `state_dict`.
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
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
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
            amsgrad=amsgrad,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        beta1, beta2 = group["betas"]
        numbers = {
            "beta1": beta1,
            "rest1": 1.0 - beta1,
            "beta2": beta2,
            "rest2": 1.0 - beta2,
            # Corrected for the means' start at 0.
            "rate": group["lr"] / (1.0 - beta1**step),
            "scale": 1.0 / math.sqrt(1.0 - beta2**step),
            "eps": group["eps"],
        }
        if group["weight_decay"]:
            numbers["decay"] = self._decay(group)
        if group.get("amsgrad"):
            numbers["amsgrad"] = 0.0  # The name tells formulas apart.
        return numbers

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        log1, log2 = map(logarithm, group["betas"])
        return {"lr": group["lr"], "log1": log1, "log2": log2}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        rate = n["lr"] / rest_of_power(n["log1"], count)
        return {**n, "rate": rate, "scale": rsqrt(rest_of_power(n["log2"], count))}

    def _decay(self, group: Group) -> float:
        """Return the number by which `_decayed` multiplies the parameter."""
        decay: float = group["weight_decay"]
        return decay

    def _decayed(self, n: Numbers, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        """Return the parameter and the gradient after weight decay."""
        return parameter, gradient + n["decay"] * parameter

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        decayed = parameter
        if "decay" in n:
            decayed, gradient = self._decayed(n, parameter, gradient)
        mean, square = moments(self, index, gradient, n)
        if "amsgrad" in n:
            square = maximum(self._kept["largest"][index], square)
            self._keep("largest", index, square)
        return decayed - n["rate"] * mean / (square.sqrt() * n["scale"] + n["eps"])

    def _new_state(self, group: Group) -> dict[str, float]:
        names = ["mean", "square"] + (["largest"] if group.get("amsgrad") else [])
        return dict.fromkeys(names, 0.0)


def moments(optimizer: Optimizer, index: int, gradient: Var, n: Numbers) -> tuple[Var, Var]:
    """Return the means of gradients and of squared gradients after this one."""
    kept = optimizer._kept
    mean = n["beta1"] * kept["mean"][index] + n["rest1"] * gradient
    square = n["beta2"] * kept["square"][index] + n["rest2"] * gradient * gradient
    return optimizer._keep("mean", index, mean), optimizer._keep("square", index, square)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    Each step multiplies the parameters by ``1 - lr * weight_decay`` and leaves
    the gradient alone.

    Parameters
    ----------
    parameters, lr, betas, eps, weight_decay, amsgrad
        As in `Adam`; the decay is 0.01 by default.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, master=master
        )

    def _decay(self, group: Group) -> float:
        rate: float = group["lr"] * group["weight_decay"]
        return 1.0 - rate

    def _decayed(self, n: Numbers, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        return parameter * n["decay"], gradient
