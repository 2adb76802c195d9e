# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps by gradients: the updates of parameters, recorded, and called again.

A step that is as the one before it is a call of what that has recorded, with other
numbers. In a function that is recorded, it is a side effect of the function's calls.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from operator import is_not, itemgetter
from typing import Any

from .._core import (
    RecordedFunction,
    StepOutcome,
    Var,
    is_grad_enabled,
    make_step_outcome,
    record_function,
    replay,
)
from .._core import scalars as make_scalars
from .._devices import device, device_of
from .._errors import at_line
from .._typing import as_var
from ..ops.elementwise.elementwise import where
from ..tracing.effects import Recording, recording
from .accumulating import Accumulator
from .counting import Begun
from .keeping import WIDER, Numeric, numeric_of
from .plans import Formula, Plan, Scalars, arguments_of
from .recorded_steps import RecordedStep
from .skipping import Numbers

__all__ = ["COMMON", "Mover"]

#: The options of all optimisers that say which program a step is.
COMMON = ("maximize", "master")
#: Returns those of a group: a step makes no call for each group.
_COMMON_OF = itemgetter(*COMMON)
#: Says whether there is a gradient: a step on many parameters makes no call for each.
_IS_GIVEN = partial(is_not, None)


class Mover(Accumulator):
    """Moves parameters by their gradients."""

    #: True where `_update` may be recorded once for all parameters of a shape and dtype:
    #: it depends on nothing but these, the names of its numbers and the Vars that it is
    #: given or keeps. Each class says so for itself.
    is_recorded_once: bool = False

    #: Recorded updates of parameters, by all that they depend on but the types of Vars.
    _recorded: dict[tuple[Any, ...], list[RecordedFunction]]
    #: The Vars and the formula of the last step.
    _plan: Plan
    #: The values, by their numbers in the session, of the last losses that were stepped
    #: by.
    _stepped: tuple[int, ...] = ()
    #: The number of states that were loaded, each of which is other tensors.
    _loads: int = 0

    def _forget_plan(self) -> None:
        """Have the next step recorded, whatever earlier ones were."""
        self._recorded = {}
        self._plan = Plan(((), (), (), ()), {}, [], [], True)

    def _apply(self, gradients: list[Var | None], may_skip: bool = False) -> None:
        """Take a step by the gradients of the parameters, in their order."""
        self._settle()
        if may_skip:
            self._begin_skipping()
        before = self._save_counts()
        current = recording()
        self._plan.is_called = False
        try:
            if current is None:
                self._take(gradients, may_skip)
            else:
                self._trace(gradients, current, may_skip)
        except BaseException:
            # Its own mistake, or the failure of an earlier step, which comes to light.
            if not self._plan.counts():
                self._restore_counts(before)
            raise

    def _begin(
        self, given: list[bool], may_skip: bool, *, is_recorded: bool = True
    ) -> tuple[Formula, list[list[float]], Begun]:
        """Count a step of the parameters that have gradients.

        Returns
        -------
        Its formula, the numbers of each kind of parameters, and what is counted.
        """
        moving, of_kinds, kinds = self._count(given)
        numbers_of = partial(self._numbers_with_counts, may_skip)
        by_kind = [numbers_of(self.param_groups[k], step) for k, step, _ in kinds]
        numbers = [list(own.values()) for own in by_kind]
        common = tuple(map(_COMMON_OF, self.param_groups))
        begun = Begun(make_step_outcome(), moving, is_recorded)
        if self._outcomes:
            others = self._numbers_by_failures(moving, of_kinds, kinds, numbers, numbers_of)
            begun.outcome.set_numbers(others)
        self._outcomes.append(begun)
        return (tuple(map(tuple, by_kind)), moving, of_kinds, common), numbers, begun

    def _take(self, given: list[Var | None], may_skip: bool) -> None:
        """Run the step as the one before was run, or record it."""
        formula, numbers, begun = self._begin(list(map(_IS_GIVEN, given)), may_skip)
        gradients = [gradient for gradient in given if gradient is not None]
        plan = self._plan_of(formula)
        if not plan.launch(gradients, numbers, begun.outcome):
            self._record(plan, [as_var(gradient) for gradient in gradients], numbers, begun.outcome)

    def _trace(self, given: list[Var | None], current: Recording, may_skip: bool) -> None:
        """Record a step that calls of the function that is recorded will take."""
        gradients = [as_var(gradient) for gradient in given if gradient is not None]
        step = RecordedStep(self, list(map(_IS_GIVEN, given)), may_skip)
        plan = self._plan_of(step.formula)
        if not plan.functions and self._complete_state():
            plan = self._plan = self._make_plan(plan.formula)
        self._check_shapes(plan.parameters, gradients)
        numerics = list(map(numeric_of, plan.parameters))
        with step.registered(current, numerics) as scalars:
            if not self._record_moves(plan, self._arguments(plan, gradients, numerics, scalars)):
                plan = self._plan = self._make_plan(plan.formula)
                self._record_moves(plan, self._arguments(plan, gradients, numerics, scalars))

    def _plan_of(self, formula: Formula) -> Plan:
        """Return what a step by a formula works on, which may be that of the last one."""
        plan, has_gradients = self._plan, is_grad_enabled()
        if (
            plan.formula != formula
            or plan.kept is not self._kept
            or plan.has_gradients != has_gradients
        ):
            plan = self._plan = self._make_plan(formula)
        return plan

    def _make_plan(self, formula: Formula) -> Plan:
        """Return what steps by a formula work on."""
        self._complete_state()
        moving = formula[1]
        states = [{name: of[i] for name, of in self._kept.items() if i in of} for i in moving]
        parameters = [self.parameters[i] for i in moving]
        return Plan(formula, self._kept, parameters, states, is_grad_enabled())

    def _record(
        self, plan: Plan, gradients: list[Var], numbers: list[list[float]], outcome: StepOutcome
    ) -> None:
        """Record a step, which its outcome is told of."""
        if not plan.functions and self._complete_state():
            # Of parameters that are of another dtype by now.
            plan = self._plan = self._make_plan(plan.formula)
        scalars: Scalars = {}
        numerics = list(map(numeric_of, plan.parameters))
        for numeric in dict.fromkeys(numerics):
            with device(numeric[1]):
                scalars[numeric] = [make_scalars(own, numeric[0]) for own in numbers]
        arguments = self._arguments(plan, gradients, numerics, scalars)
        if not plan.functions:
            self._record_functions(plan, arguments)
            if plan.launch(gradients, numbers, outcome):
                return
        if not self._record_moves(plan, arguments):
            self._plan = self._make_plan(plan.formula)
            self._record(self._plan, gradients, numbers, outcome)
            return
        scalar_values = [n for all_of in scalars.values() for own in all_of for n in own]
        count = sum(map(len, numbers))
        outcome.watch_updates(scalar_values, count)

    def _arguments(
        self, plan: Plan, gradients: list[Var], numerics: list[Numeric], scalars: Scalars
    ) -> list[list[Var]]:
        """Return what the update of each parameter is given, `numerics` being theirs."""
        own = plan.parameters, gradients, plan.states
        return arguments_of(plan.formula, *own, numerics, scalars)

    def _record_moves(self, plan: Plan, arguments: list[list[Var]]) -> bool:
        """Record the updates of parameters by functions, if that may be, or in line.

        Returns
        -------
        False, with nothing recorded, if a parameter is of another dtype or shape than
        the plan's functions.
        """
        self._record_functions(plan, arguments)
        if plan.functions and replay(plan.functions, arguments):
            return True
        self._check_shapes(plan.parameters, [given[1] for given in arguments])
        calls = zip(plan.functions, arguments, strict=False)
        if not all(function.takes(given) for function, given in calls):
            return False
        names, moving, of_kinds, _ = plan.formula
        for index, given, kind, states in zip(
            moving, arguments, of_kinds, plan.states, strict=True
        ):
            numbers = given[2 + len(states) :]
            self._move(index, given[0], given[1], dict(zip(names[kind], numbers, strict=True)))
        return True

    def _record_functions(self, plan: Plan, arguments: list[list[Var]]) -> None:
        """Record the update of each parameter as a function, if a plan may have some."""
        if plan.functions or not type(self).__dict__.get("is_recorded_once", False):
            return
        self._check_shapes(plan.parameters, [given[1] for given in arguments])
        names, moving, of_kinds, _ = plan.formula
        rows = zip(moving, arguments, of_kinds, plan.states, strict=True)
        plan.functions = [
            self._function(index, given, (*states,), names[kind])
            for index, given, kind, states in rows
        ]

    def _move(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> None:
        """Record the update of a parameter, and of what is kept for it."""
        dtype = parameter.dtype
        if gradient.dtype in WIDER:
            gradient = gradient.cast(WIDER.get(dtype, dtype))
        if self.param_groups[self._group_of[index]]["maximize"]:
            gradient = -gradient
        update = self._update_half if dtype in WIDER else self._update
        try:
            n = self._counted(index, gradient, n)
            parameter.update(self._chosen(parameter, update(index, parameter, gradient, n)))
        finally:
            self._skip = None

    def _function(
        self, index: int, like: list[Var], states: tuple[str, ...], names: tuple[str, ...]
    ) -> RecordedFunction:
        """Return `_move` of a parameter, what is kept for it and numbers, as recorded.

        Parameters
        ----------
        index
            The parameter's number.
        like
            The parameter, its gradient, and then what `states` and `names` name.
        """
        options = _COMMON_OF(self.param_groups[self._group_of[index]])
        same = self._recorded.setdefault((states, names, options, is_grad_enabled()), [])
        for function in same:
            if function.takes(like):
                return function

        def move(given: list[Var]) -> None:
            # A twin, so that whatever happens the optimiser is as it was.
            twin = object.__new__(type(self))
            count = 2 + len(states)
            kept = zip(states, given[2:count], strict=True)
            twin.__dict__.update(self.__dict__, _kept={name: {index: x} for name, x in kept})
            twin._move(index, given[0], given[1], dict(zip(names, given[count:], strict=True)))

        with device_of(like[0]):
            same.append(record_function(move, like))
        return same[-1]

    def _update_half(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        """Return what a parameter in halves becomes by `_update`, in its wider dtype."""
        dtype = parameter.dtype
        value = parameter.cast(WIDER[dtype])
        has_master = self.param_groups[self._group_of[index]]["master"]
        if has_master:
            master = self._kept["master"][index]
            # A parameter that is not its rounded copy has been given another value.
            value = where(master.cast(dtype) == parameter, master, value)
        moved = self._update(index, value, gradient.cast(value.dtype), n)
        if has_master:
            self._keep("master", index, moved)
        return moved.cast(dtype)

    def _check_shapes(self, parameters: list[Var], gradients: list[Var]) -> None:
        """Raise ValueError unless gradients have their parameters' shapes."""
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if gradient.shape != parameter.shape:
                raise at_line(
                    ValueError(
                        f"a gradient has shape {gradient.shape}, its parameter {parameter.shape}"
                    )
                )

    @abstractmethod
    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        """Return what parameter number `index` becomes, by no other numbers than `n`.

        They are in the dtype that the step is computed in: `parameter` has the value
        of the parameter, and is not the Var itself where that is in halves.

        New state is used as the plain value that it is updated with, not read
        back from the state's Var: so all updates of a step are one program.
        """
