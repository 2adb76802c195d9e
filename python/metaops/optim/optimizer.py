# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of optimisers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

from .._core import RepeatedUpdate, Var, array, full, grad, make_repeated_update
from .._errors import at_line
from .._names import Absent
from .._typing import as_var
from ..nn.module import Module

__all__ = ["Numbers", "Optimizer"]

#: The numbers of a step as 0-d tensors of a parameter's dtype.
Numbers: TypeAlias = dict[str, Var]


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

    #: The last step that may be repeated, behind the names of its numbers.
    _repeated: tuple[tuple[str, ...] | None, RepeatedUpdate] = None, make_repeated_update()

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
        self.steps += 1
        try:
            self._take(gradients)
        except (TypeError, ValueError):
            self.steps -= 1
            raise

    def _take(self, gradients: list[Var]) -> None:
        """Run the step as the one before was run, or record it."""
        numbers = self._numbers()
        targets = [*self.parameters, *chain.from_iterable(self._state().values())]
        names = tuple(numbers)
        last, repeated = self._repeated
        if last == names and repeated.repeat(targets, gradients, list(numbers.values())):
            return
        gradients = [as_var(gradient) for gradient in gradients]
        self._check(gradients)
        repeated = make_repeated_update()
        may_repeat = repeated.begin(targets, gradients)
        scalars: dict[str, Numbers] = {}
        for index, (parameter, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            dtype = parameter.dtype
            if dtype not in scalars:
                scalars[dtype] = {name: array(n, dtype) for name, n in numbers.items()}
            self._update(index, parameter, gradient, scalars[dtype])
        if may_repeat:
            given = [scalar for of_dtype in scalars.values() for scalar in of_dtype.values()]
            repeated.end(targets, given, len(numbers))
            self._repeated = names, repeated

    def _check(self, gradients: list[Var]) -> None:
        """Raise ValueError unless there is a gradient of its shape for each parameter."""
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

    @abstractmethod
    def _numbers(self) -> dict[str, float]:
        """Return the numbers of step number `steps`, by name.

        Which ones there are says which formula `_update` records: a step with the
        same names may be the program of an earlier one, with other numbers.
        """

    @abstractmethod
    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> None:
        """Move parameter number `index`, by no other numbers than `n`.

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
