# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of optimisers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import add, is_not, itemgetter
from typing import Any, TypeAlias

from .._core import (
    RecordedFunction,
    StepOutcome,
    Var,
    grad,
    is_grad_enabled,
    make_step_outcome,
    record_function,
    recorded_at,
    replay,
    used_gradients,
)
from .._core import scalars as make_scalars
from .._devices import device, device_of
from .._errors import at_line
from .._typing import as_var, shown
from ..compat._names import Absent
from ..nn.module import Module
from ..ops.elementwise.elementwise import where
from ..tracing.effects import Recording, forbid, note_read, perform, recording
from .counting import Begun, Counter
from .keeping import WIDER, Group, Numeric, numeric_of
from .matching import Gradients, in_order
from .plans import Formula, Plan, Scalars, arguments_of
from .recorded_steps import RecordedStep, SetOption

__all__ = ["Group", "Numbers", "Optimizer"]

#: The numbers of a step as 0-d tensors of the dtype that it is computed in.
Numbers: TypeAlias = dict[str, Var]
#: The options of all optimisers that say which program a step is.
_COMMON = ("maximize", "master")
#: Returns those of a group: a step makes no call for each group.
_COMMON_OF = itemgetter(*_COMMON)
#: Says whether there is a gradient: a step on many parameters makes no call for each.
_IS_GIVEN = partial(is_not, None)
#: The number of losses that are remembered, to tell that one is stepped by again.
_MOST_LOSSES = 64


class Optimizer(Counter):
    """Moves parameters against the gradient of a loss.

    Numbers that change from step to step, such as the learning rate, are
    operands of the compiled program, so they may change freely.

    Steps of parameters in float16 and bfloat16 are computed in float32, and what is
    kept for them is float32: small numbers, such as `eps`, would be 0 in halves, and
    squares of gradients 0 or infinite. The parameter that comes out is rounded to its
    dtype, where a step of less than about a 2000th (of bfloat16, a 250th) of it is
    lost. With `master=True` none is: each such parameter has a copy in float32, which
    takes the steps, and the parameter is the copy, rounded.

    Parameters
    ----------
    parameters
        Float Vars, each once, such as those of `Module.parameters`; or groups of
        them as `add_param_group` takes.
    lr
        The learning rate.
    maximize
        Whether the parameters move along the gradient, to where the loss is larger.
    master
        Whether there are copies in float32 of parameters in float16 and bfloat16. A
        parameter that is given another value, as by `Module.load_state_dict`, goes on
        from that. Others have no copies.

    Attributes
    ----------
    param_groups : list of dict
        The groups' options, which may be set at any time, beside their parameters.
    lr : float
        The learning rate of the first group; setting it sets that of all. So it is
        with the other options, by their names.
    steps : int
        How many steps were taken. A step whose program has failed, as by an index
        out of range, has moved nothing, and does not count.

    Raises
    ------
    ValueError
        If there are no parameters, one is given twice or an option makes no sense.
    TypeError
        If a parameter is not a float Var.
    """

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

    lr: float

    #: Options of which a negative number makes no sense, and those in [0, 1).
    _NOT_NEGATIVE = frozenset({"lr", "eps", "weight_decay", "momentum", "lr_decay"})
    _FRACTIONS = frozenset({"alpha", "rho"})

    #: The names of attributes that steps change, and compare by themselves.
    _changes_by_effect = frozenset(
        {"_steps", "_outcomes", "_counts", "_sets", "_all", "_stepped", "_plan", "_recorded"}
    )

    zero_grad = Absent(
        "gradients are not added up: step(loss) computes them and moves the parameters"
    )

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float,
        *,
        maximize: bool = False,
        master: bool = False,
        **options: Any,
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
        forbid(f"{name} is made")
        given: list[Any] = list(parameters)
        if not given:
            raise at_line(ValueError(f"{name}: no parameters given"))
        self.defaults: Group = {"lr": lr, **options, "maximize": maximize, "master": master}
        self.param_groups = []
        self.parameters = []
        self._steps = 0
        self._group_of = []
        self._outcomes = []
        self._kept = {}
        self._forget_plan()
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
        forbid(f"{name}.add_param_group is called")
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
        self._add_counts(len(new))
        self._group_of += [len(self.param_groups)] * len(new)
        self.parameters += new
        self.param_groups.append(added)
        self._complete_state()

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

    def _forget_plan(self) -> None:
        """Have the next step recorded, whatever earlier ones were."""
        self._recorded = {}
        self._plan = Plan(((), (), (), ()), {}, [], [], True)

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        state = {**self.__dict__, "_outcomes": []}
        # What is of this session.
        for name in ("_recorded", "_plan", "_stepped"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # As optimisers were pickled that had no count of steps for each parameter.
        steps = state.pop("steps", None)
        self._forget_plan()
        self.__dict__.update(state)
        if steps is not None:
            self.__dict__.update(_steps=steps, _outcomes=[])
        # As they were without these options, and with state in halves.
        for group in (self.defaults, *self.param_groups):
            group.update({name: False for name in _COMMON if name not in group})
        for kept in self._kept.values():
            for tensor in kept.values():
                if tensor.dtype in WIDER:
                    tensor.assign(tensor.cast(WIDER[tensor.dtype]))

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("defaults", ()):
            note_read(self, lambda own: own.param_groups[0][name])
            return self.param_groups[0][name]
        return object.__getattribute__(self, name)  # for its message

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("defaults", ()):
            perform(SetOption(self, name, value))
        else:
            super().__setattr__(name, value)

    def step(self, loss: Var | Sequence[Var]) -> None:
        """Compute the gradients of a loss and move the parameters.

        The gradients are by the values of the parameters that the loss was made
        of, also where these have moved since. Parameters on which the loss does not
        depend stay where they are, with their state and their count of steps.

        Parameters
        ----------
        loss
            A float tensor computed from the parameters; its elements are summed.
            Of several, the sum is one loss: ``step([a, b])`` is one step, and
            ``step(a); step(b)`` are two.

        Raises
        ------
        TypeError
            If the loss is not of floats.
        ValueError
            If the loss depends on no parameter, or has been given to `step` before.
        RuntimeError
            If a gradient needs a value that an update has written over.
        """
        losses = [loss] if isinstance(loss, Var) else list(loss)
        if not losses:
            raise at_line(ValueError("step: no losses given"))
        # Places in a function that is recorded are none of the session.
        sign = 1 if recording() is None else -1
        numbers = [sign * recorded_at(each) for each in losses]
        if any(number in self._stepped for number in numbers):
            raise at_line(
                ValueError(
                    "step: this loss has been stepped by before; record it anew, of the moved"
                    " parameters (for several steps by gradients at one place, compute them by"
                    " mo.grad, and give them to apply)"
                )
            )
        whole = losses[0] if len(losses) == 1 else reduce(add, [each.sum() for each in losses])
        gradients = used_gradients(whole, self.parameters)
        if all(gradient is None for gradient in gradients):
            grad(whole, self.parameters)  # for its error
        self._apply(gradients)
        self._stepped = (*numbers, *self._stepped)[:_MOST_LOSSES]

    def apply(self, gradients: Gradients) -> None:
        """Move the parameters by gradients that were computed elsewhere.

        Parameters
        ----------
        gradients
            Either a dict of parameters and their gradients, such as
            ``dict(zip(parameters, gradients))``. Or one for each parameter: gradients
            as `metaops.grad` returns them, or clipped, move the parameters that they
            are by, in whatever order they are given; others have to be in the order of
            `parameters`, and in a dict where parameters of several groups have one
            shape.

            None, or no gradient in a dict, leaves a parameter alone, with its state
            and its count of steps.

        Raises
        ------
        ValueError
            If there are more or fewer, a shape differs, one is known to be by another
            parameter than the one that it is given for, or nothing tells the order.
        """
        self._apply(in_order(gradients, self.parameters, self._group_of))

    def _apply(self, gradients: list[Var | None]) -> None:
        """Take a step by the gradients of the parameters, in their order."""
        self._settle()
        before = self._save_counts()
        current = recording()
        self._plan.is_called = False
        try:
            if current is None:
                self._take(gradients)
            else:
                self._trace(gradients, current)
        except BaseException:
            # Its own mistake, or the failure of an earlier step, which comes to light.
            if not self._plan.counts():
                self._restore_counts(before)
            raise

    def _begin(
        self, given: list[bool], *, is_recorded: bool = True
    ) -> tuple[Formula, list[list[float]], Begun]:
        """Count a step of the parameters that have gradients.

        Returns
        -------
        Its formula, the numbers of each kind of parameters, and what is counted.
        """
        moving, of_kinds, kinds = self._count(given)
        by_kind = [self._numbers(self.param_groups[k], step) for k, step, _ in kinds]
        numbers = [list(own.values()) for own in by_kind]
        common = tuple(map(_COMMON_OF, self.param_groups))
        begun = Begun(make_step_outcome(), moving, is_recorded)
        if self._outcomes:
            begun.outcome.set_numbers(self._numbers_by_failures(moving, of_kinds, kinds, numbers))
        self._outcomes.append(begun)
        return (tuple(map(tuple, by_kind)), moving, of_kinds, common), numbers, begun

    def _take(self, given: list[Var | None]) -> None:
        """Run the step as the one before was run, or record it."""
        formula, numbers, begun = self._begin(list(map(_IS_GIVEN, given)))
        gradients = [gradient for gradient in given if gradient is not None]
        plan = self._plan_of(formula)
        if not plan.launch(gradients, numbers, begun.outcome):
            self._record(plan, [as_var(gradient) for gradient in gradients], numbers, begun.outcome)

    def _trace(self, given: list[Var | None], current: Recording) -> None:
        """Record a step that calls of the function that is recorded will take."""
        gradients = [as_var(gradient) for gradient in given if gradient is not None]
        step = RecordedStep(self, list(map(_IS_GIVEN, given)))
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
        parameter.update(update(index, parameter, gradient, n))

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

    def state_dict(self) -> dict[str, Any]:
        """Return the groups' options, the number of steps and the state's tensors."""
        self._complete_state()  # for options that were set since the last step
        groups = [
            {name: option for name, option in group.items() if name != "params"}
            for group in self.param_groups
        ]
        state: dict[str, Any] = {"steps": self.steps, "param_groups": groups}
        return state | self._counts_state() | self._tensors()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take what `state_dict` returned, or what was saved of it.

        The options are taken, too, and the state that these ask for.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If a tensor's shape or the number of groups differs. Nothing is changed
            by a call that raises.
        """
        forbid(f"{type(self).__name__}.load_state_dict is called")
        groups, steps, counts = state["param_groups"], int(state["steps"]), state.get("counts")
        if len(groups) != len(self.param_groups):
            raise at_line(
                ValueError(
                    f"load_state_dict: {len(groups)} groups given, expected"
                    f" {len(self.param_groups)}"
                )
            )
        if counts is not None and len(counts) != len(self.parameters):
            raise at_line(
                ValueError(
                    f"load_state_dict: {len(counts)} counts given, expected {len(self.parameters)}"
                )
            )
        pairs = zip(self.param_groups, groups, strict=True)
        self._loads += 1
        self._kept = self._loaded(state, [{**group, **options} for group, options in pairs])
        for group, options in zip(self.param_groups, groups, strict=True):
            group.update(options)
        self._steps, self._outcomes = steps, []
        self._counts = None if counts is None else [int(n) for n in counts]
        self._sets = None if counts is None else list(self._group_of)
