# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var
from .._errors import at_line
from .optimizer import Numbers, Optimizer

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

    Raises
    ------
    ValueError
        As `Optimizer`, or if a beta is not in [0, 1).
    """

    def __init__(
        self,
        parameters: Iterable[Var],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr)
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise at_line(
                ValueError(f"{type(self).__name__}: betas are {betas}, expected them in [0, 1)")
            )
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self._means = self._zeros()
        self._squares = self._zeros()

    def _numbers(self) -> dict[str, float]:
        beta1, beta2 = self.betas
        numbers = {
            "beta1": beta1,
            "rest1": 1.0 - beta1,
            "beta2": beta2,
            "rest2": 1.0 - beta2,
            # Corrected for the means' start at 0.
            "rate": self.lr / (1.0 - beta1**self.steps),
            "scale": 1.0 / math.sqrt(1.0 - beta2**self.steps),
            "eps": self.eps,
        }
        if self.weight_decay:
            numbers["decay"] = self._decay()
        return numbers

    def _decay(self) -> float:
        """Return the number by which `_decayed` multiplies the parameter."""
        return self.weight_decay

    def _decayed(self, n: Numbers, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        """Return the parameter and the gradient after weight decay."""
        return parameter, gradient + n["decay"] * parameter

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> None:
        decayed = parameter
        if "decay" in n:
            decayed, gradient = self._decayed(n, parameter, gradient)
        mean = n["beta1"] * self._means[index] + n["rest1"] * gradient
        square = n["beta2"] * self._squares[index] + n["rest2"] * gradient * gradient
        self._means[index].update(mean)
        self._squares[index].update(square)
        parameter.update(decayed - n["rate"] * mean / (square.sqrt() * n["scale"] + n["eps"]))

    def _state(self) -> dict[str, list[Var]]:
        return {"mean": self._means, "square": self._squares}


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    Each step multiplies the parameters by ``1 - lr * weight_decay`` and leaves
    the gradient alone.

    Parameters
    ----------
    parameters, lr, betas, eps, weight_decay
        As in `Adam`; the decay is 0.01 by default.
    """

    def __init__(
        self,
        parameters: Iterable[Var],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(parameters, lr, betas, eps, weight_decay)

    def _decay(self) -> float:
        return 1.0 - self.lr * self.weight_decay

    def _decayed(self, n: Numbers, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        return parameter * n["decay"], gradient
