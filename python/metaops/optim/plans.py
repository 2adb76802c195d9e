# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: what the steps of an optimiser work on while their formula stays the same.

Where gradients are in memory, a step is one recorded function of all parameters, which is
called: its program is launched, and nothing is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from .._core import RecordedFunction, StepOutcome, Var, are_in_memory, begin_trace, replay
from .._devices import device
from .keeping import Numeric, numeric_of

__all__ = ["Formula", "Plan", "Scalars", "arguments_of"]

#: The names of a step's numbers, by kind of parameter; the parameters that move, and
#: the kind of each; and what all optimisers take of each group. The parameters
#: of a kind move by the same numbers.
Formula: TypeAlias = tuple[
    tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...], tuple[object, ...]
]
#: By what they are needed in, the numbers of each kind of parameters as 0-d tensors.
Scalars: TypeAlias = dict[Numeric, list[list[Var]]]


@dataclass
class Plan:
    """What the steps of an optimiser work on while their formula stays the same."""

    formula: Formula
    #: The tensors that are kept, which `load_state_dict` replaces.
    kept: dict[str, dict[int, Var]]
    #: The parameters that move, and what is kept for each by name.
    parameters: list[Var]
    states: list[dict[str, Var]]
    #: The mode of gradients that updates are recorded in.
    has_gradients: bool
    #: The update of each parameter, where it is recorded once.
    functions: list[RecordedFunction] = field(default_factory=list)
    #: The whole step as a function of `targets`, gradients and numbers, once gradients
    #: were in memory; and in how many dtypes it needs each number.
    whole: RecordedFunction | None = None
    num_types: int = 1
    #: True once the step that is being taken has called the whole.
    is_called: bool = False
    #: The parameters, and then what is kept for each of them.
    targets: list[Var] = field(default_factory=list)

    def launch(
        self, gradients: list[Var], numbers: list[list[float]], outcome: StepOutcome
    ) -> bool:
        """Take a step as a call of the whole, of which the outcome is told.

        Returns
        -------
        False, with nothing done, where it is to be recorded.
        """
        if self.whole is None:
            self._record_whole(gradients, numbers)
        if self.whole is None:
            return False
        own = list(chain.from_iterable(numbers))
        given = own * self.num_types
        self.whole.begin_call()
        self.is_called = True
        return self.whole.call_alone(
            [*self.targets, *gradients], given, [(outcome, 0, len(given), len(own))]
        )

    def counts(self) -> bool:
        """Return whether the step has been called, and its updates are made or pending."""
        return self.is_called and self.whole is not None and self.whole.counts()

    def _record_whole(self, gradients: list[Var], numbers: list[list[float]]) -> None:
        """Record the whole, if its parts are recorded, and gradients are in memory."""
        if not self.functions or not are_in_memory(gradients):
            return
        numerics = list(map(numeric_of, self.parameters))
        kinds = list(dict.fromkeys(numerics))
        if len({place for _, place in kinds}) > 1:
            return
        self.num_types = len(kinds)
        self.targets = [*self.parameters, *chain.from_iterable(map(dict.values, self.states))]
        with device(kinds[0][1]):
            trace = begin_trace([*self.targets, *gradients])
            with trace:
                made = iter(trace.arguments)
                parameters = [next(made) for _ in self.parameters]
                states = [{name: next(made) for name in own} for own in self.states]
                scalars = {
                    kind: [[trace.number(kind[0]) for _ in own] for own in numbers]
                    for kind in kinds
                }
                rows = arguments_of(self.formula, parameters, [*made], states, numerics, scalars)
                is_recorded = replay(self.functions, rows)
            whole = trace.finish([])
        if is_recorded:
            self.whole = whole


def arguments_of(
    formula: Formula,
    parameters: list[Var],
    gradients: list[Var],
    states: list[dict[str, Var]],
    numerics: list[Numeric],
    scalars: Scalars,
) -> list[list[Var]]:
    """Return what the update of each parameter is given, `numerics` being theirs."""
    rows = zip(parameters, gradients, states, numerics, formula[2], strict=True)
    return [
        [parameter, gradient, *own.values(), *scalars[numeric][kind]]
        for parameter, gradient, own, numeric, kind in rows
    ]
