# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var
from .._errors import at_line
from .optimizer import Optimizer

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

    def _decayed(self, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        """Return the parameter and the gradient after weight decay."""
        if self.weight_decay:
            gradient = gradient + self.weight_decay * parameter
        return parameter, gradient

    def _update(self, index: int, parameter: Var, gradient: Var) -> None:
        decayed, gradient = self._decayed(parameter, gradient)
        beta1, beta2 = self.betas
        mean = beta1 * self._means[index] + (1.0 - beta1) * gradient
        square = beta2 * self._squares[index] + (1.0 - beta2) * gradient * gradient
        self._means[index].update(mean)
        self._squares[index].update(square)
        # Corrections for the means' start at 0, as numbers beside the program.
        rate = self.lr / (1.0 - beta1**self.steps)
        scale = 1.0 / math.sqrt(1.0 - beta2**self.steps)
        parameter.update(decayed - rate * mean / (square.sqrt() * scale + self.eps))

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

    def _decayed(self, parameter: Var, gradient: Var) -> tuple[Var, Var]:
        if self.weight_decay:
            parameter = parameter * (1.0 - self.lr * self.weight_decay)
        return parameter, gradient
