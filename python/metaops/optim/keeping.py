# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""State of optimisers: what they keep for their parameters from step to step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from .._core import Var, array, full
from .._core import device_of as name_of_device
from .._devices import device_of
from .._errors import at_line
from ..ops.elementwise.elementwise import abs, where
from ..tracing.effects import outside

__all__ = ["WIDER", "Group", "Keeper", "Numeric", "numeric_of"]

#: Parameters as "params", and options by name.
Group: TypeAlias = dict[str, Any]
#: The dtypes of parameters whose steps, and what is kept for them, are in a wider one.
WIDER = {"float16": "float32", "bfloat16": "float32"}
#: The least normal numbers.
_LEAST = {"float32": 2.0**-126, "float64": 2.0**-1022}
#: A dtype and a device.
Numeric: TypeAlias = tuple[str, str]


def numeric_of(parameter: Var) -> Numeric:
    """Return the dtype that the steps of a parameter are computed in, and its device."""
    dtype = parameter.dtype
    return WIDER.get(dtype, dtype), name_of_device(parameter)


#: States that are counts, sizes of steps, or of parameters, and do not decay.
_EXACT = frozenset({"average", "master", "step", "taken"})


def lasting(name: str, state: Var) -> Var:
    """Return a state that decays with 0 for numbers below the normal ones.

    What decays ends there where gradients stay 0, as those of words that do not occur: a
    tenth of the least numbers rounds to nothing, so they would never be 0, and a processor
    takes ten times as long for them.
    """
    if name in _EXACT:
        return state
    return where(abs(state) < _LEAST[state.dtype], 0.0, state)


class Keeper(ABC):
    """Keeps tensors for parameters: those that their groups' options ask for."""

    param_groups: list[Group]
    parameters: list[Var]
    #: Of each parameter, the number of its group.
    _group_of: list[int]
    #: The tensors that are kept, by name and by the parameter's number.
    _kept: dict[str, dict[int, Var]]

    def _new_state(self, group: Group) -> dict[str, float]:
        """Return what is kept for each parameter of a group, and its first value."""
        return {}

    def _state_shape(self, name: str, parameter: Var) -> tuple[int, ...]:
        """Return the shape of what `_new_state` names for a parameter."""
        return parameter.shape

    def _state_type(self, name: str, index: int) -> tuple[int, ...]:
        """Return the shape of what is kept by a name for a parameter."""
        return self._state_shape(name, self.parameters[index])

    def _states(self, groups: list[Group]) -> Iterator[tuple[str, int, float]]:
        """Yield what is kept with these options: name, number of parameter, first value."""
        new = [self._new_state(group) for group in groups]
        for index, k in enumerate(self._group_of):
            for name, first in new[k].items():
                yield name, index, first
            if groups[k]["master"] and self.parameters[index].dtype in WIDER:
                yield "master", index, 0.0

    def _type_of(self, name: str, index: int) -> tuple[tuple[int, ...], str]:
        """Return the shape and the dtype of what is kept by a name for a parameter."""
        parameter = self.parameters[index]
        is_master = name == "master"
        shape = parameter.shape if is_master else self._state_type(name, index)
        return shape, numeric_of(parameter)[0]

    def _complete_state(self) -> bool:
        """Make the state that parameters lack, for the options that there are now.

        Returns
        -------
        Whether some lacked any.
        """
        is_new = False
        for name, index, first in self._states(self.param_groups):
            kept = self._kept.setdefault(name, {})
            if index not in kept:
                shape, dtype = self._type_of(name, index)
                # It is there before a function that is recorded, and goes on behind it.
                with outside(), device_of(self.parameters[index]):
                    kept[index] = full(shape, first, dtype)
                is_new = True
        return is_new

    @abstractmethod
    def _keep(self, state: str, index: int, value: Var) -> Var:
        """Make a value the state of a parameter; return the value."""

    def _tensors(self) -> dict[str, Var]:
        """Return all that is kept, by names and numbers of parameters."""
        return {
            f"{name}.{index}": tensor
            for name, kept in self._kept.items()
            for index, tensor in kept.items()
        }

    def _loaded(self, state: Mapping[str, Any], groups: list[Group]) -> dict[str, dict[int, Var]]:
        """Return what is kept with the options of these groups, as a state has it.

        What an option has left that is off is taken as well, if the state has it.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If a tensor's shape differs.
        """
        needed = {(name, index): True for name, index, _ in self._states(groups)}
        present = {(name, index): False for name, kept in self._kept.items() for index in kept}
        result: dict[str, dict[int, Var]] = {}
        for (name, index), is_needed in {**present, **needed}.items():
            key = f"{name}.{index}"
            if not is_needed and key not in state:
                continue
            given = state[key]
            shape, dtype = self._type_of(name, index)
            with device_of(self.parameters[index]):
                value = array(given.numpy() if isinstance(given, Var) else given, dtype)
            if value.shape != shape:
                raise at_line(ValueError(f"{key!r} has shape {value.shape}, expected {shape}"))
            result.setdefault(name, {})[index] = value
        return result
