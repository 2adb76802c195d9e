# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers with a rate of its own for each number: Adadelta, Adagrad, RMSprop."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import Var
from .optimizer import Group, Numbers, Optimizer

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


def _decayed(parameter: Var, gradient: Var, n: Numbers) -> Var:
    """Return the gradient of the loss and of the parameters' squares in it."""
    return gradient + n["decay"] * parameter if "decay" in n else gradient


def _decay(group: Group) -> dict[str, float]:
    return {"decay": group["weight_decay"]} if group["weight_decay"] else {}


class Adagrad(Optimizer):
    """Adagrad (Duchi et al., 2011): rates by the sum of squared gradients.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    lr_decay
        Step t has the rate ``lr / (1 + (t - 1) * lr_decay)``.
    weight_decay
        The weight of the squared parameters' half in the loss.
    initial_accumulator_value
        What the sums begin with.
    eps
        Added to the root of the sums.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        rate = group["lr"] / (1.0 + (step - 1) * group["lr_decay"])
        return {"rate": rate, "eps": group["eps"], **_decay(group)}

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        return {"lr": group["lr"], "lr_decay": group["lr_decay"]}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        return {**n, "rate": n["lr"] / (1.0 + (count - 1) * n["lr_decay"])}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        gradient = _decayed(parameter, gradient, n)
        total = self._keep("sum", index, self._kept["sum"][index] + gradient * gradient)
        return parameter - n["rate"] * gradient / (total.sqrt() + n["eps"])

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"sum": group["initial_accumulator_value"]}


class Adadelta(Optimizer):
    """Adadelta (Zeiler, 2012): rates by the means of squared gradients and steps.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    rho
        How much of the means is kept.
    eps
        Added to the means.
    weight_decay
        The weight of the squared parameters' half in the loss.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            rho=rho,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        rho = group["rho"]
        numbers = {"lr": group["lr"], "rho": rho, "rest": 1.0 - rho, "eps": group["eps"]}
        return {**numbers, **_decay(group)}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        gradient = _decayed(parameter, gradient, n)
        square = n["rho"] * self._kept["square"][index] + n["rest"] * gradient * gradient
        of_steps = self._kept["step_square"][index]
        step = (of_steps + n["eps"]).sqrt() / (square + n["eps"]).sqrt() * gradient
        self._keep("square", index, square)
        self._keep("step_square", index, n["rho"] * of_steps + n["rest"] * step * step)
        return parameter - n["lr"] * step

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"square": 0.0, "step_square": 0.0}


class RMSprop(Optimizer):
    """RMSprop (Tieleman and Hinton, 2012): rates by the mean of squared gradients.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    alpha
        How much of the mean is kept.
    eps
        Added to the root of the mean.
    weight_decay
        The weight of the squared parameters' half in the loss.
    momentum
        How much of the velocity is kept.
    centered
        Whether the mean is of the squared deviations from the mean gradient.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            alpha=alpha,
            eps=eps,
            weight_decay=weight_decay,
            momentum=momentum,
            centered=centered,
            maximize=maximize,
            master=master,
        )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        alpha = group["alpha"]
        numbers = {"lr": group["lr"], "alpha": alpha, "rest": 1.0 - alpha, "eps": group["eps"]}
        if group["momentum"]:
            numbers["momentum"] = group["momentum"]
        return {**numbers, **_decay(group)}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        gradient = _decayed(parameter, gradient, n)
        kept = self._kept
        square = n["alpha"] * kept["square"][index] + n["rest"] * gradient * gradient
        variance = self._keep("square", index, square)
        if index in kept.get("mean", {}):
            mean = n["alpha"] * kept["mean"][index] + n["rest"] * gradient
            variance = square - self._keep("mean", index, mean) * mean
        step = gradient / (variance.sqrt() + n["eps"])
        if "momentum" in n:
            step = n["momentum"] * kept["velocity"][index] + step
            self._keep("velocity", index, step)
        return parameter - n["lr"] * step

    def _new_state(self, group: Group) -> dict[str, float]:
        names = ["square"]
        names += ["mean"] if group["centered"] else []
        names += ["velocity"] if group["momentum"] else []
        return dict.fromkeys(names, 0.0)
