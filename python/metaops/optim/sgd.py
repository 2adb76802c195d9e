# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import Var
from .._errors import at_line
from .optimizer import Numbers, Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    With g the gradient plus ``weight_decay * p``, the velocity v becomes
    ``momentum * v + g`` and the parameter p becomes ``p - lr * v``, or
    ``p - lr * (g + momentum * v)`` with Nesterov's momentum.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    momentum
        How much of the velocity is kept.
    weight_decay
        The weight of the squared parameters' half in the loss.
    nesterov
        Whether the momentum is Nesterov's.

    Raises
    ------
    ValueError
        As `Optimizer`, or if Nesterov's momentum is asked for without momentum.
    """

    def __init__(
        self,
        parameters: Iterable[Var],
        lr: float,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(parameters, lr)
        if nesterov and momentum <= 0:
            raise at_line(
                ValueError(f"SGD: nesterov needs a positive momentum, which is {momentum}")
            )
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self._velocities = self._zeros() if momentum else []

    def _numbers(self) -> dict[str, float]:
        numbers = {"lr": self.lr}
        if self.weight_decay:
            numbers["decay"] = self.weight_decay
        if self.momentum:
            numbers["momentum"] = self.momentum
            if self.nesterov:
                numbers["nesterov"] = self.momentum
        return numbers

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> None:
        if "decay" in n:
            gradient = gradient + n["decay"] * parameter
        if "momentum" in n:
            velocity = n["momentum"] * self._velocities[index] + gradient
            self._velocities[index].update(velocity)
            gradient = gradient + n["nesterov"] * velocity if "nesterov" in n else velocity
        parameter.update(parameter - n["lr"] * gradient)

    def _state(self) -> dict[str, list[Var]]:
        return {"velocity": self._velocities}
