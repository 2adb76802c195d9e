# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of steps: of an optimiser, and of each of its parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeAlias

from .._core import StepOutcome
from ..tracing.effects import forbid, note_read
from .keeping import Group, Keeper

__all__ = ["Begun", "Counter", "Counts", "Kind"]

#: Parameters that move by the same numbers: their group, which of their steps it is, and
#: a number for those that have moved together.
Kind: TypeAlias = tuple[int, int, int]

#: The number of steps that are waited for to be known to have been taken.
_MOST_OUTCOMES = 64


@dataclass
class Begun:
    """A step of which it may not be known whether it has been taken."""

    outcome: StepOutcome
    #: The parameters that it moves, by their numbers.
    moving: Sequence[int]
    #: True when its updates are recorded; before, nothing is known of it.
    is_recorded: bool = True


#: The number of steps, those that are not known of, and of each parameter the steps and
#: the set.
Counts: TypeAlias = tuple[int, list[Begun], "list[int] | None", "list[int] | None"]


class Counter(Keeper):
    """Counts steps, and takes back those whose programs have failed."""

    _steps: int
    #: The last steps, as far as it is not known whether they have been taken.
    _outcomes: list[Begun]
    #: The steps that each parameter has taken; None while each has taken all since
    #: it was added.
    _counts: list[int] | None = None
    #: Of each parameter a number, the same for those of a group that have always moved
    #: together.
    _sets: list[int] | None = None
    #: The numbers of all parameters, and of the kind of each, while all move together.
    _all: tuple[tuple[int, ...], tuple[int, ...]] = (), ()

    @property
    def steps(self) -> int:
        """Number of steps that were taken."""
        self._settle()
        note_read(self, lambda own: own.steps)
        return self._steps

    @steps.setter
    def steps(self, count: int) -> None:
        forbid("steps is set")
        self._steps, self._outcomes, self._counts, self._sets = count, [], None, None

    @abstractmethod
    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        """Return the numbers of a group's step, the first of which is 1, by name.

        Which ones there are says which formula `_update` records: a step with the
        same names may be the program of an earlier one, with other numbers.
        """

    def _settle(self) -> None:
        """Take back the steps that are known to have failed by now."""
        waiting = []
        for begun in self._outcomes:
            if not begun.is_recorded or not begun.outcome.is_known():
                waiting.append(begun)
            elif begun.outcome.failed():
                self._steps -= 1
                if self._counts is not None:
                    self._counts = [n - (k in begun.moving) for k, n in enumerate(self._counts)]
        self._outcomes[:] = waiting[-_MOST_OUTCOMES:]

    def _save_counts(self) -> Counts:
        """Return the counts as they are, for `_restore_counts`.

        Steps that are found to have failed later are among those that are not known of,
        so that they are taken back from what is restored.
        """
        return self._steps, self._outcomes.copy(), self._counts, self._sets

    def _restore_counts(self, counts: Counts) -> None:
        """Have the counts be as they were."""
        steps, outcomes, of_parameters, sets = counts
        vars(self).update(
            _steps=steps, _outcomes=outcomes.copy(), _counts=of_parameters, _sets=sets
        )

    def _begin_counts(self) -> tuple[list[int], list[int]]:
        """Return the steps of each parameter and its set, kept from now on."""
        if self._counts is None:
            starts = [group["start"] for group in self.param_groups]
            self._counts = [self._steps - starts[k] for k in self._group_of]
        if self._sets is None:
            self._sets = list(self._group_of)
        return self._counts, self._sets

    def _add_counts(self, number: int) -> None:
        """Count no steps of parameters that are about to be added."""
        if self._outcomes or self._counts is not None:
            # Earlier steps, of which some may fail, are not of the new parameters.
            counts, sets = self._begin_counts()
            self._counts = [*counts, *[0] * number]
            self._sets = [*sets, *[max(sets, default=-1) + 1] * number]

    def _count(self, given: list[bool]) -> tuple[tuple[int, ...], tuple[int, ...], list[Kind]]:
        """Count the step of each parameter that has a gradient.

        Returns
        -------
        The parameters' numbers, the number of the kind of each, and the kinds.
        """
        if self._counts is None and all(given):
            self._steps += 1
            if len(self._all[0]) != len(given):
                self._all = tuple(range(len(given))), tuple(self._group_of)
            kinds = [
                (k, self._steps - group["start"], k) for k, group in enumerate(self.param_groups)
            ]
            return *self._all, kinds
        counts, sets = self._begin_counts()
        self._steps += 1
        self._counts = counts = [n + moves for n, moves in zip(counts, given, strict=True)]
        split = list(zip(sets, given, strict=True))
        numbers = {each: number for number, each in enumerate(dict.fromkeys(split))}
        self._sets = sets = [numbers[each] for each in split]
        moving = tuple(compress(range(len(given)), given))
        steps = [(self._group_of[i], counts[i], sets[i]) for i in moving]
        places = {kind: place for place, kind in enumerate(dict.fromkeys(steps))}
        return moving, tuple([places[step] for step in steps]), list(places)

    def _numbers_by_failures(
        self,
        moving: Sequence[int],
        of_kinds: Sequence[int],
        kinds: list[Kind],
        numbers: list[list[float]],
        numbers_of: Callable[[Group, int], dict[str, float]],
    ) -> list[tuple[list[StepOutcome], list[list[float]]]]:
        """Return the numbers of a step that is begun when earlier ones may still fail.

        Returns
        -------
        Of each kind the steps that may, and its numbers if none of them does, if one
        does, and so on.
        """
        groups = []
        for place, (k, step, _) in enumerate(kinds):
            one = moving[of_kinds.index(place)]
            earlier = [begun.outcome for begun in self._outcomes if one in begun.moving]
            others = [
                list(numbers_of(self.param_groups[k], step - failed).values())
                for failed in range(1, len(earlier) + 1)
            ]
            groups.append((earlier, [numbers[place], *others]))
        return groups

    def _counts_state(self) -> dict[str, Any]:
        """Return how many steps each parameter has taken, if that is to be saved."""
        return {} if self._counts is None else {"counts": list(self._counts)}
