# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kin of Adam: Adamax, NAdam and RAdam."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var
from ..ops.elementwise.elementwise import abs, maximum, where
from ..ops.elementwise.functions import exp, rsqrt, sqrt
from .adam import moments
from .optimizer import Group, Numbers, Optimizer
from .skipping import logarithm, rest_of_power

__all__ = ["Adamax", "NAdam", "RAdam"]


def _means(group: Group) -> dict[str, float]:
    """Return the numbers that all take of the betas, and of weight decay."""
    beta1, beta2 = group["betas"]
    numbers = {
        "beta1": beta1,
        "rest1": 1.0 - beta1,
        "beta2": beta2,
        "rest2": 1.0 - beta2,
        "eps": group["eps"],
    }
    if group["weight_decay"]:
        if group.get("decoupled_weight_decay"):
            numbers["shrink"] = 1.0 - group["lr"] * group["weight_decay"]
        else:
            numbers["decay"] = group["weight_decay"]
    return numbers


def _decayed(parameter: Var, gradient: Var, n: Numbers) -> tuple[Var, Var]:
    """Return the parameter and the gradient after weight decay."""
    if "shrink" in n:
        return parameter * n["shrink"], gradient
    return parameter, gradient + n["decay"] * parameter if "decay" in n else gradient


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the squares' mean (Kingma and Ba, 2015).

    Parameters
    ----------
    parameters, lr, betas, eps, weight_decay
        As in `Adam`.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
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
        numbers = _means(group)
        del numbers["rest2"]
        return {**numbers, "rate": group["lr"] / (1.0 - numbers["beta1"] ** step)}

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        return {"lr": group["lr"], "log1": logarithm(group["betas"][0])}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        return {**n, "rate": n["lr"] / rest_of_power(n["log1"], count)}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        _, gradient = _decayed(parameter, gradient, n)
        mean = n["beta1"] * self._kept["mean"][index] + n["rest1"] * gradient
        largest = maximum(n["beta2"] * self._kept["largest"][index], abs(gradient) + n["eps"])
        self._keep("mean", index, mean)
        self._keep("largest", index, largest)
        return parameter - n["rate"] * mean / largest

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0, "largest": 0.0}


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, 2016).

    Parameters
    ----------
    parameters, lr, betas, eps, weight_decay
        As in `Adam`.
    momentum_decay
        How fast the momentum grows to the first beta.
    decoupled_weight_decay
        Whether the decay is that of `AdamW`.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    _changes_by_effect = Optimizer._changes_by_effect | {"_products"}

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
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
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            master=master,
        )

    @staticmethod
    def _momentum(group: Group, step: int) -> float:
        beta: float = group["betas"][0]
        return beta * (1.0 - 0.5 * 0.96 ** (step * float(group["momentum_decay"])))

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        now, later = self._momentum(group, step), self._momentum(group, step + 1)
        # The product of all momenta so far, by that of the step before.
        key = group["betas"][0], group["momentum_decay"]
        products: dict[int, float] = self.__dict__.setdefault("_products", {}).setdefault(key, {})
        if step - 1 not in products:
            products[step - 1] = math.prod(self._momentum(group, k) for k in range(1, step))
        product = products[step] = products[step - 1] * now
        products.pop(step - 2, None)
        lr = group["lr"]
        return {
            **_means(group),
            "of_gradient": lr * (1.0 - now) / (1.0 - product),
            "of_mean": lr * later / (1.0 - product * later),
            "scale": 1.0 / math.sqrt(1.0 - group["betas"][1] ** step),
        }

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        log = group["momentum_decay"] * math.log(0.96)
        return {"lr": group["lr"], "log": log, "log2": logarithm(group["betas"][1])}

    def _counted_state(self, group: Group, count: int) -> dict[str, float]:
        return {"product": math.prod(self._momentum(group, k) for k in range(1, count + 1))}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        now, later = (n["beta1"] * (1.0 - 0.5 * exp(n["log"] * k)) for k in (count, count + 1))
        product = self._keep("product", index, self._kept["product"][index] * now)
        return {
            **n,
            "of_gradient": n["lr"] * (1.0 - now) / (1.0 - product),
            "of_mean": n["lr"] * later / (1.0 - product * later),
            "scale": rsqrt(rest_of_power(n["log2"], count)),
        }

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        decayed, gradient = _decayed(parameter, gradient, n)
        mean, square = moments(self, index, gradient, n)
        ahead = n["of_gradient"] * gradient + n["of_mean"] * mean
        return decayed - ahead / (square.sqrt() * n["scale"] + n["eps"])

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0}


class RAdam(Optimizer):
    """Adam whose first steps have a rectified variance (Liu et al., 2020).

    Parameters
    ----------
    parameters, lr, betas, eps, weight_decay
        As in `Adam`.
    decoupled_weight_decay
        Whether the decay is that of `AdamW`.
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
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
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
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        beta1, beta2 = group["betas"]
        rate = group["lr"] / (1.0 - beta1**step)
        rest = 1.0 - beta2**step
        # The length of the mean, at the end and now.
        end = 2.0 / (1.0 - beta2) - 1.0
        length = end - 2.0 * step * beta2**step / rest
        adaptive = 0.0
        if length > 5.0:
            share = (length - 4) * (length - 2) * end / ((end - 4) * (end - 2) * length)
            adaptive = rate * math.sqrt(share * rest)
        # One of the two is 0, so that all steps are one program.
        plain = 0.0 if length > 5.0 else rate
        return {**_means(group), "adaptive": adaptive, "plain": plain}

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        log1, log2 = map(logarithm, group["betas"])
        end = 2.0 / (1.0 - group["betas"][1]) - 1.0
        return {"lr": group["lr"], "log1": log1, "log2": log2, "end": end}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        rate, end = n["lr"] / rest_of_power(n["log1"], count), n["end"]
        rest = rest_of_power(n["log2"], count)
        length = end - 2.0 * count * (1.0 - rest) / rest
        share = (length - 4) * (length - 2) * end / ((end - 4) * (end - 2) * length)
        is_long = length > 5.0
        adaptive = where(is_long, rate * sqrt(where(is_long, share * rest, 1.0)), 0.0)
        return {**n, "adaptive": adaptive, "plain": where(is_long, 0.0, rate)}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        decayed, gradient = _decayed(parameter, gradient, n)
        mean, square = moments(self, index, gradient, n)
        rate = n["adaptive"] / (square.sqrt() + n["eps"]) + n["plain"]
        return decayed - mean * rate

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0}
