# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..ops.elementwise.elementwise import where
from .optimizer import Group, Numbers, Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    With g the gradient plus ``weight_decay * p``, the velocity v becomes
    ``momentum * v + (1 - dampening) * g`` (in the first step g) and the parameter p
    becomes ``p - lr * v``, or ``p - lr * (g + momentum * v)`` with Nesterov's
    momentum.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    momentum
        How much of the velocity is kept.
    dampening
        How much of the gradient does not get into the velocity.
    weight_decay
        The weight of the squared parameters' half in the loss.
    nesterov
        Whether the momentum is Nesterov's.
    maximize, master
        As in `Optimizer`.

    Raises
    ------
    ValueError
        As `Optimizer`, or if Nesterov's momentum is asked for without momentum, or
        with dampening.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            master=master,
        )

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        momentum, dampening = group["momentum"], group["dampening"]
        if group["nesterov"] and (momentum <= 0 or dampening != 0):
            raise at_line(
                ValueError(
                    f"SGD: nesterov needs a positive momentum, which is {shown(momentum)}, and no"
                    f" dampening, which is {shown(dampening)}"
                )
            )

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        numbers = {"lr": group["lr"]}
        if group["weight_decay"]:
            numbers["decay"] = group["weight_decay"]
        if group["momentum"]:
            numbers["momentum"] = group["momentum"]
            if group["nesterov"]:
                numbers["nesterov"] = group["momentum"]
            if group["dampening"]:
                numbers["rest"] = 1.0 if step == 1 else 1.0 - group["dampening"]
        return numbers

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        return {"dampening": group["dampening"]} if group["dampening"] else {}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        return n | ({"rest": where(count == 1, 1.0, 1.0 - n["dampening"])} if "rest" in n else {})

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        if "decay" in n:
            gradient = gradient + n["decay"] * parameter
        if "momentum" in n:
            added = gradient * n["rest"] if "rest" in n else gradient
            velocity = n["momentum"] * self._kept["velocity"][index] + added
            self._keep("velocity", index, velocity)
            gradient = gradient + n["nesterov"] * velocity if "nesterov" in n else velocity
        return parameter - n["lr"] * gradient

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"velocity": 0.0} if group["momentum"] else {}
