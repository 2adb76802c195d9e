# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of optimisers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from .._core import Var, array, full, grad
from .._errors import at_line
from .._names import Absent
from ..nn.module import Module

__all__ = ["Optimizer"]


class Optimizer(ABC):
    """Moves parameters against the gradient of a loss.

    Numbers that change from step to step, such as the learning rate, are
    operands of the compiled program, so they may change freely.

    Parameters
    ----------
    parameters
        Float Vars, each once, such as those of `Module.parameters`.
    lr
        The learning rate.

    Attributes
    ----------
    lr : float
        The learning rate; may be set at any time.
    steps : int
        How many steps were taken.

    Raises
    ------
    ValueError
        If there are no parameters, one is given twice or the rate is negative.
    TypeError
        If a parameter is not a float Var.
    """

    zero_grad = Absent(
        "gradients are not added up: step(loss) computes them and moves the parameters"
    )

    def __init__(self, parameters: Iterable[Var], lr: float) -> None:
        name = type(self).__name__
        if isinstance(parameters, Module):
            raise at_line(
                TypeError(
                    f"{name}: given the module {type(parameters).__name__}, expected its"
                    f" parameters, as in {name}(module.parameters())"
                )
            )
        if isinstance(parameters, Var) or not isinstance(parameters, Iterable):
            raise at_line(
                TypeError(
                    f"{name}: given a {type(parameters).__name__}, expected a sequence of Vars"
                )
            )
        self.parameters = list(parameters)
        if not self.parameters:
            raise at_line(ValueError(f"{name}: no parameters given"))
        for parameter in self.parameters:
            if not isinstance(parameter, Var):
                raise at_line(
                    TypeError(
                        f"{name}: a parameter is {type(parameter).__name__}, expected a float Var"
                    )
                )
            if "float" not in parameter.dtype:
                raise at_line(
                    TypeError(f"{name}: a parameter is {parameter.dtype}, expected floats")
                )
        if len({id(parameter) for parameter in self.parameters}) != len(self.parameters):
            raise at_line(ValueError(f"{name}: a parameter is given twice"))
        if lr < 0:
            raise at_line(ValueError(f"{name}: lr is {lr}, expected a number that is not negative"))
        self.lr = lr
        self.steps = 0

    def step(self, loss: Var) -> None:
        """Compute the gradients of a loss and move the parameters.

        Parameters
        ----------
        loss
            A float tensor computed from the parameters; its elements are summed.

        Raises
        ------
        TypeError
            If the loss is not of floats.
        """
        self.apply(grad(loss, self.parameters))

    def apply(self, gradients: Iterable[Var]) -> None:
        """Move the parameters by gradients that were computed elsewhere.

        Parameters
        ----------
        gradients
            One per parameter, of its shape.

        Raises
        ------
        ValueError
            If there are more or fewer, or a shape differs.
        """
        gradients = list(gradients)
        if len(gradients) != len(self.parameters):
            raise at_line(
                ValueError(f"{len(gradients)} gradients given, expected {len(self.parameters)}")
            )
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            if gradient.shape != parameter.shape:
                raise at_line(
                    ValueError(
                        f"a gradient has shape {gradient.shape}, its parameter {parameter.shape}"
                    )
                )
        self.steps += 1
        for index, (parameter, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            self._update(index, parameter, gradient)

    @abstractmethod
    def _update(self, index: int, parameter: Var, gradient: Var) -> None:
        """Move parameter number `index`.

        New state is used as the plain value that it is updated with, not read
        back from the state's Var: so all updates of a step are one program.
        """

    def _state(self) -> dict[str, list[Var]]:
        """Return the tensors that the optimiser keeps, one per parameter, by name."""
        return {}

    def _zeros(self) -> list[Var]:
        """Return a zero tensor per parameter."""
        return [full(parameter.shape, 0, parameter.dtype) for parameter in self.parameters]

    def state_dict(self) -> dict[str, Any]:
        """Return the learning rate, the number of steps and the state's tensors."""
        state: dict[str, Any] = {"lr": self.lr, "steps": self.steps}
        for name, tensors in self._state().items():
            state.update({f"{name}.{k}": tensor for k, tensor in enumerate(tensors)})
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take what `state_dict` returned, or what was saved of it.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If a tensor's shape differs.
        """
        for name, own in list(self.state_dict().items()):
            if not isinstance(own, Var):
                continue
            given = state[name]
            value = array(given.numpy() if isinstance(given, Var) else given, own.dtype)
            if value.shape != own.shape:
                raise at_line(ValueError(f"{name!r} has shape {value.shape}, expected {own.shape}"))
            own.assign(value)
        self.lr = float(state["lr"])
        self.steps = int(state["steps"])
