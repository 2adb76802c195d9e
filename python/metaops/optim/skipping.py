# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that a program may skip, as those by gradients of float16 that are infinite.

Nobody reads whether a step is skipped. Its gradients are NaN throughout then, as
`metaops.amp.GradScaler` makes them, and each parameter and all that is kept for it becomes
what it was. How many steps were taken is kept for each parameter, too, as "taken", and
numbers that depend on the step follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from .._core import Var
from ..ops.elementwise.elementwise import isnan, where
from ..ops.elementwise.functions import expm1
from .counting import Counter
from .keeping import Group, lasting

__all__ = ["Numbers", "Skipper", "logarithm", "rest_of_power"]

#: The numbers of a step as 0-d tensors of the dtype that it is computed in.
Numbers: TypeAlias = dict[str, Var]


#: The first number of a step that may be skipped, and of others once there was one.
_MAY_SKIP, _COUNTED = "may skip", "counted"


def logarithm(number: float) -> float:
    """Return the logarithm of a number that is not negative."""
    return math.log(number) if number else -math.inf


def rest_of_power(log: Var, count: Var) -> Var:
    """Return 1 - x ** count without a loss of digits, of which x is given as its logarithm."""
    return -expm1(log * count)


class Skip:
    """Tells by the gradient of a parameter whether its step is skipped."""

    def __init__(self, gradient: Var) -> None:
        self._gradient = gradient

    def choose(self, old: Var, new: Var) -> Var:
        """Return the old value where the step is skipped."""
        gradient = self._gradient
        if not gradient.size:
            return old
        if old.shape != gradient.shape:
            gradient = gradient.reshape((-1,))[0]
        return where(isnan(gradient), old, new)


class Skipper(Counter):
    """Keeps what steps need that may be skipped, once there was one."""

    #: True once there was such a step.
    _may_skip: bool = False
    #: Tells whether the step of a parameter that is being recorded is skipped.
    _skip: Skip | None = None

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        """Return the numbers that `_at_count` needs beside those of a step."""
        return {}

    def _counted_state(self, group: Group, count: int) -> dict[str, float]:
        """Return what `_at_count` keeps for a parameter, and its value after some steps."""
        return {}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        """Return a step's numbers for a count of steps that is a value.

        To be overridden where `_numbers` depend on the step.
        """
        return n

    def _numbers_with_counts(self, may_skip: bool, group: Group, step: int) -> dict[str, float]:
        """Return the numbers of a group's step, as `_numbers` does.

        Once a step might be skipped, those of others follow counts that are values, too.
        """
        numbers = self._numbers(group, step)
        if not self._may_skip:
            return numbers
        # The first name tells formulas apart.
        return {_MAY_SKIP if may_skip else _COUNTED: 0.0, **numbers, **self._counted_numbers(group)}

    def _begin_skipping(self) -> None:
        """Keep what steps need that may be skipped, if nothing is kept yet."""
        if not self._may_skip:
            self._may_skip = True
            self._complete_state()

    def _states(self, groups: list[Group]) -> Iterator[tuple[str, int, float]]:
        yield from super()._states(groups)
        if not self._may_skip:
            return
        for index, k in enumerate(self._group_of):
            if self._counts is None:
                count = self._steps - groups[k].get("start", 0)
            else:
                count = self._counts[index]
            yield "taken", index, float(count)
            for name, first in self._counted_state(groups[k], count).items():
                yield name, index, first

    def _state_type(self, name: str, index: int) -> tuple[int, ...]:
        """Return the shape of what is kept by a name for a parameter."""
        group = self.param_groups[self._group_of[index]]
        if name == "taken" or name in self._counted_state(group, 0):
            return ()
        return self._state_shape(name, self.parameters[index])

    def _counted(self, index: int, gradient: Var, n: Numbers) -> Numbers:
        """Return the numbers of a parameter's step, which is skipped by its gradient."""
        if index not in self._kept.get("taken", {}):
            return n
        count = self._kept["taken"][index] + 1
        if _MAY_SKIP in n:
            self._skip = Skip(gradient)
        n = self._at_count(index, n, count)
        self._keep("taken", index, count)
        return n

    def _chosen(self, old: Var, new: Var) -> Var:
        """Return the old value if the step is skipped."""
        return new if self._skip is None else self._skip.choose(old, new)

    def _keep(self, state: str, index: int, value: Var) -> Var:
        kept = self._kept[state][index]
        kept.update(self._chosen(kept, lasting(state, value)))
        return value

    def _knows_skips(self, state: Mapping[str, Any]) -> bool:
        """Tell whether a state that is to be loaded has counts of steps that were taken."""
        return any(name.startswith("taken.") for name in state)
