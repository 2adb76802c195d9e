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
from .._devices import device_of
from .._errors import at_line
from .._names import Absent
from .._typing import as_var, shown
from ..nn.module import Module

__all__ = ["Group", "Numbers", "Optimizer"]

#: The numbers of a step as 0-d tensors of a parameter's dtype.
Numbers: TypeAlias = dict[str, Var]
#: Parameters as "params", and options by name.
Group: TypeAlias = dict[str, Any]


class Optimizer(ABC):
    """Moves parameters against the gradient of a loss.

    Numbers that change from step to step, such as the learning rate, are
    operands of the compiled program, so they may change freely.

    Parameters
    ----------
    parameters
        Float Vars, each once, such as those of `Module.parameters`; or groups of
        them as `add_param_group` takes.
    lr
        The learning rate.

    Attributes
    ----------
    param_groups : list of dict
        The groups' options, which may be set at any time, beside their parameters.
    lr : float
        The learning rate of the first group; setting it sets that of all. So it is
        with the other options, by their names.
    steps : int
        How many steps were taken.

    Raises
    ------
    ValueError
        If there are no parameters, one is given twice or an option makes no sense.
    TypeError
        If a parameter is not a float Var.
    """

    #: The last step that may be repeated, behind the names of its numbers.
    _repeated: tuple[tuple[tuple[int, str], ...] | None, RepeatedUpdate] = (
        None,
        make_repeated_update(),
    )

    lr: float

    #: Options of which a negative number makes no sense, and those in [0, 1).
    _NOT_NEGATIVE = frozenset({"lr", "eps", "weight_decay", "momentum", "lr_decay"})
    _FRACTIONS = frozenset({"alpha", "rho"})

    zero_grad = Absent(
        "gradients are not added up: step(loss) computes them and moves the parameters"
    )

    def __init__(
        self, parameters: Iterable[Var] | Iterable[Group], lr: float, **options: Any
    ) -> None:
        name = type(self).__name__
        if isinstance(parameters, Module):
            raise at_line(
                TypeError(
                    f"{name}: given the module {type(parameters).__name__}, expected its"
                    f" parameters, as in {name}(module.parameters())"
                )
            )
        if isinstance(parameters, (Var, Mapping)) or not isinstance(parameters, Iterable):
            raise at_line(
                TypeError(
                    f"{name}: given a {type(parameters).__name__}, expected a sequence of Vars"
                    " or of groups"
                )
            )
        given: list[Any] = list(parameters)
        if not given:
            raise at_line(ValueError(f"{name}: no parameters given"))
        self.defaults: Group = {"lr": lr, **options}
        self.param_groups: list[Group] = []
        self.parameters: list[Var] = []
        self.steps = 0
        #: Of each parameter, the number of its group.
        self._group_of: list[int] = []
        #: The tensors that are kept, by name and by the parameter's number.
        self._kept: dict[str, dict[int, Var]] = {}
        for group in given if isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, group: Group) -> None:
        """Move more parameters from the next step on.

        Parameters
        ----------
        group
            The parameters as "params", and options that differ from the
            optimiser's, such as "lr".

        Raises
        ------
        ValueError, TypeError
            As the optimiser. Nothing is changed then.
        """
        name = type(self).__name__
        if not isinstance(group, Mapping) or "params" not in group:
            raise at_line(
                TypeError(f"{name}: a group is {shown(group)}, expected a dict with 'params'")
            )
        unknown = sorted(map(str, group.keys() - self.defaults.keys() - {"params"}))
        if unknown:
            raise at_line(
                ValueError(
                    f"{name}: a group has {', '.join(map(repr, unknown))}, the options are"
                    f" {', '.join(self.defaults)}"
                )
            )
        params = group["params"]
        new = [params] if isinstance(params, Var) else list(params)
        self._check_parameters(new)
        added = {**self.defaults, **group, "params": new, "start": self.steps}
        self._check_options(added)
        self._group_of += [len(self.param_groups)] * len(new)
        self.parameters += new
        self.param_groups.append(added)
        self._complete_state()

    def _complete_state(self) -> None:
        """Make the state that parameters lack, for the options that there are now."""
        new = [self._new_state(group) for group in self.param_groups]
        for index, (parameter, group) in enumerate(
            zip(self.parameters, self._group_of, strict=True)
        ):
            for name, first in new[group].items():
                kept = self._kept.setdefault(name, {})
                if index not in kept:
                    shape = self._state_shape(name, parameter)
                    with device_of(parameter):
                        kept[index] = full(shape, first, parameter.dtype)

    def _check_parameters(self, new: list[Any]) -> None:
        """Raise an error unless these are float Vars that are not there yet."""
        name = type(self).__name__
        if not new:
            raise at_line(ValueError(f"{name}: no parameters given"))
        for parameter in new:
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
        ids = [id(parameter) for parameter in (*self.parameters, *new)]
        if len(set(ids)) != len(ids):
            raise at_line(ValueError(f"{name}: a parameter is given twice"))

    def _check_options(self, group: Group) -> None:
        """Raise ValueError unless a group's options make sense."""
        name = type(self).__name__
        for option in self._NOT_NEGATIVE & group.keys():
            if not group[option] >= 0:
                raise at_line(
                    ValueError(
                        f"{name}: {option} is {shown(group[option])}, expected a number that is not"
                        " negative"
                    )
                )
        for option in self._FRACTIONS & group.keys():
            if not 0.0 <= group[option] < 1.0:
                raise at_line(
                    ValueError(f"{name}: {option} is {shown(group[option])}, expected it in [0, 1)")
                )
        if not all(0.0 <= beta < 1.0 for beta in group.get("betas", ())):
            raise at_line(
                ValueError(f"{name}: betas are {shown(group['betas'])}, expected them in [0, 1)")
            )

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("defaults", ()):
            return self.param_groups[0][name]
        return object.__getattribute__(self, name)  # for its message

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("defaults", ()):
            for group in self.param_groups:
                group[name] = value
        else:
            super().__setattr__(name, value)

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
        numbers = {
            (k, name): number
            for k, group in enumerate(self.param_groups)
            for name, number in self._numbers(group, self.steps - group["start"]).items()
        }
        names = tuple(numbers)
        last, repeated = self._repeated
        if last != names:
            self._complete_state()
        targets = [*self.parameters, *chain.from_iterable(s.values() for s in self._kept.values())]
        if last == names and repeated.repeat(targets, gradients, list(numbers.values())):
            return
        gradients = [as_var(gradient) for gradient in gradients]
        self._check(gradients)
        repeated = make_repeated_update()
        may_repeat = repeated.begin(targets, gradients)
        scalars: dict[tuple[str, str], dict[tuple[int, str], Var]] = {}
        for index, (parameter, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            own, place = self._group_of[index], device_of(parameter)
            kind = parameter.dtype, place
            if kind not in scalars:
                with place:
                    scalars[kind] = {name: array(n, kind[0]) for name, n in numbers.items()}
            of_group = {name: n for (k, name), n in scalars[kind].items() if k == own}
            self._update(index, parameter, gradient, of_group)
        if may_repeat:
            given = [scalar for of_kind in scalars.values() for scalar in of_kind.values()]
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
    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        """Return the numbers of a group's step, the first of which is 1, by name.

        Which ones there are says which formula `_update` records: a step with the
        same names may be the program of an earlier one, with other numbers.
        """

    @abstractmethod
    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> None:
        """Move parameter number `index`, by no other numbers than `n`.

        New state is used as the plain value that it is updated with, not read
        back from the state's Var: so all updates of a step are one program.
        """

    def _new_state(self, group: Group) -> dict[str, float]:
        """Return what is kept for each parameter of a group, and its first value."""
        return {}

    def _state_shape(self, name: str, parameter: Var) -> tuple[int, ...]:
        """Return the shape of what is kept by a name for a parameter."""
        return parameter.shape

    def _keep(self, state: str, index: int, value: Var) -> Var:
        """Make a value the state of a parameter; return the value."""
        self._kept[state][index].update(value)
        return value

    def state_dict(self) -> dict[str, Any]:
        """Return the groups' options, the number of steps and the state's tensors."""
        groups = [
            {name: option for name, option in group.items() if name != "params"}
            for group in self.param_groups
        ]
        state: dict[str, Any] = {"steps": self.steps, "param_groups": groups}
        for name, tensors in self._kept.items():
            state.update({f"{name}.{k}": tensor for k, tensor in tensors.items()})
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take what `state_dict` returned, or what was saved of it.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If a tensor's shape or the number of groups differs. Nothing is changed
            by a call that raises.
        """
        groups, steps = state["param_groups"], int(state["steps"])
        if len(groups) != len(self.param_groups):
            raise at_line(
                ValueError(
                    f"load_state_dict: {len(groups)} groups given, expected"
                    f" {len(self.param_groups)}"
                )
            )
        values: list[tuple[Var, Var]] = []
        for name, own in self.state_dict().items():
            if not isinstance(own, Var):
                continue
            given = state[name]
            with device_of(own):
                value = array(given.numpy() if isinstance(given, Var) else given, own.dtype)
            if value.shape != own.shape:
                raise at_line(ValueError(f"{name!r} has shape {value.shape}, expected {own.shape}"))
            values.append((own, value))
        for own, value in values:
            own.assign(value)
        for group, options in zip(self.param_groups, groups, strict=True):
            group.update(options)
        self.steps = steps
