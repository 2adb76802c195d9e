# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Side effects of steps in recorded functions: counts, and numbers that calls have anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._devices import device
from ..tracing.effects import Effect, Recording, Step, advance
from .keeping import Numeric

if TYPE_CHECKING:
    from .counting import Begun, Counts
    from .moving import Mover
    from .plans import Formula, Scalars

__all__ = ["RecordedStep", "SetOption"]


class RecordedStep(Effect):
    """A step of an optimiser that is an effect of a recorded function.

    Calls count it, and are given its numbers of then. What it is by is compared: names
    of numbers, which parameters have the same, and which tensors are kept.

    Parameters
    ----------
    owner
        The optimiser. The step is counted until it is taken back.
    given
        Which of its parameters have gradients.
    may_skip
        Whether the gradients may say that the step is skipped.
    """

    formula: Formula
    #: The numbers of each kind of parameters, and what is counted.
    _numbers: list[list[float]]
    _begun: Begun
    _before: Counts

    def __init__(self, owner: Mover, given: list[bool], may_skip: bool) -> None:
        super().__init__(owner)
        self._given = given
        self._may_skip = may_skip
        self._loads = owner._loads
        #: Set where steps count what they take in the program.
        self._counts = owner._may_skip
        #: In how many dtypes numbers are needed.
        self._num_types = 1
        self._is_cancelled = False
        self._stepped = owner._stepped
        advance(self)

    @contextmanager
    def registered(self, current: Recording, numerics: list[Numeric]) -> Iterator[Scalars]:
        """Register the step as an effect, unless what is recorded in the scope fails.

        Returns
        -------
        What stands for its numbers, by what they are needed in.
        """
        kinds = list(dict.fromkeys(numerics))
        self._num_types = len(kinds)
        numbers = self._all_numbers()
        dtypes = [dtype for dtype, _ in kinds for _ in range(len(numbers) // len(kinds))]
        with device(kinds[0][1]):
            made = iter(current.add_effect(self, numbers, dtypes))
        try:
            yield {kind: [[next(made) for _ in own] for own in self._numbers] for kind in kinds}
        except BaseException:
            # The user may go on with the function.
            self._is_cancelled = True
            raise

    def _all_numbers(self) -> list[float]:
        return list(chain.from_iterable(self._numbers)) * self._num_types

    def advance(self) -> list[float] | None:
        """Count the step, and return its numbers; None if it is by another formula."""
        if self._is_cancelled:
            return self._all_numbers()
        owner = self.owner
        if (
            owner is None
            or owner._loads != self._loads
            or owner._may_skip != self._counts
            or len(owner.parameters) != len(self._given)
        ):
            return None
        owner._settle()
        self._before = owner._save_counts()
        try:
            formula, self._numbers, self._begun = owner._begin(
                self._given, self._may_skip, is_recorded=False
            )
        except BaseException:
            owner._restore_counts(self._before)
            raise
        if self.__dict__.setdefault("formula", formula) != formula:
            owner._restore_counts(self._before)
            return None
        return self._all_numbers()

    def take_back(self) -> None:
        """Have the counts be as they were before the step."""
        owner = self.owner
        if owner is not None and not self._is_cancelled:
            owner._restore_counts(self._before)
            owner._stepped = self._stepped

    def get_step(self, numbers: list[float]) -> Step | None:
        """Return the outcome of the step, which its updates tell."""
        if self._is_cancelled:
            return None
        return self._begun.outcome, len(numbers) // self._num_types

    def finish(self) -> None:
        """Take note that the outcome is told from now on."""
        self._begun.is_recorded = True


class SetOption(Effect):
    """An option of all groups of an optimiser that is set."""

    def __init__(self, owner: Mover, name: str, value: Any) -> None:
        super().__init__(owner)
        self._name = name
        self._value = value
        self._before: list[Any] = []

    def advance(self) -> list[float] | None:
        """Set the option."""
        owner = self.owner
        if owner is None:
            return None
        self._before = [group[self._name] for group in owner.param_groups]
        for group in owner.param_groups:
            group[self._name] = self._value
        return []

    def take_back(self) -> None:
        """Have the options be as they were."""
        groups = [] if self.owner is None else self.owner.param_groups
        for group, value in zip(groups, self._before, strict=False):
            group[self._name] = value
