# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of optimisers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, compress
from operator import add, is_not, itemgetter
from typing import Any, TypeAlias

from .._core import (
    RepeatedUpdate,
    StepOutcome,
    Var,
    array,
    grad,
    make_repeated_update,
    make_step_outcome,
    recorded_at,
    used_gradients,
)
from .._core import device_of as name_of_device
from .._devices import device_of
from .._errors import at_line
from .._typing import as_var, shown
from ..compat._names import Absent
from ..nn.module import Module
from ..ops.elementwise.elementwise import where
from .keeping import WIDER, Group, Keeper
from .matching import Gradients, in_order

__all__ = ["Group", "Numbers", "Optimizer"]

#: The numbers of a step as 0-d tensors of the dtype that it is computed in.
Numbers: TypeAlias = dict[str, Var]
#: Parameters that move by the same numbers: their group, which of their steps it is, and
#: a number for those that have moved together.
Kind: TypeAlias = tuple[int, int, int]
#: The names of a step's numbers, by kind of parameter; the parameters that move, and
#: the kind of each; and what all optimisers take of each group. The parameters
#: of a kind move by the same numbers.
Formula: TypeAlias = tuple[
    tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...], tuple[Any, ...]
]
#: The options of all optimisers that say which program a step is.
_COMMON = ("maximize", "master")
#: Returns those of a group: a step makes no call for each group.
_COMMON_OF = itemgetter(*_COMMON)
#: Says whether there is a gradient: a step on many parameters makes no call for each.
_IS_GIVEN = partial(is_not, None)
#: The number of steps that are waited for to be known to have been taken.
_MOST_OUTCOMES = 64
#: The number of losses that are remembered, to tell that one is stepped by again.
_MOST_LOSSES = 64


class Optimizer(Keeper):
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

    #: The last step that may be repeated, behind what makes it another one.
    _repeated: tuple[Formula | None, RepeatedUpdate] = (None, make_repeated_update())
    #: The values, by their numbers in the session, of the last losses that were stepped
    #: by.
    _stepped: tuple[int, ...] = ()
    #: The steps that each parameter has taken; None while each has taken all since
    #: it was added.
    _counts: list[int] | None = None
    #: Of each parameter a number, the same for those of a group that have always moved
    #: together.
    _sets: list[int] | None = None

    lr: float

    #: Options of which a negative number makes no sense, and those in [0, 1).
    _NOT_NEGATIVE = frozenset({"lr", "eps", "weight_decay", "momentum", "lr_decay"})
    _FRACTIONS = frozenset({"alpha", "rho"})

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
        given: list[Any] = list(parameters)
        if not given:
            raise at_line(ValueError(f"{name}: no parameters given"))
        self.defaults: Group = {"lr": lr, **options, "maximize": maximize, "master": master}
        self.param_groups = []
        self.parameters = []
        self._steps = 0
        self._group_of = []
        #: The last steps, as far as it is not known whether they have been taken, and
        #: the parameters that they move.
        self._outcomes: list[tuple[StepOutcome, list[int]]] = []
        self._kept = {}
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
        if self._outcomes or self._counts is not None:
            # Earlier steps, of which some may fail, are not of the new parameters.
            counts, sets = self._begin_counts()
            self._counts = [*counts, *[0] * len(new)]
            self._sets = [*sets, *[max(sets, default=-1) + 1] * len(new)]
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

    @property
    def steps(self) -> int:
        """Number of steps that were taken."""
        self._settle()
        return self._steps

    @steps.setter
    def steps(self, count: int) -> None:
        self._steps, self._outcomes, self._counts, self._sets = count, [], None, None

    def _settle(self) -> None:
        """Take back the steps that are known to have failed by now."""
        waiting = []
        for outcome, moving in self._outcomes:
            if not outcome.is_known():
                waiting.append((outcome, moving))
            elif outcome.failed():
                self._steps -= 1
                if self._counts is not None:
                    self._counts = [n - (k in moving) for k, n in enumerate(self._counts)]
        self._outcomes[:] = waiting[-_MOST_OUTCOMES:]

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        state = {**self.__dict__, "_outcomes": []}
        # What is of this session.
        state.pop("_repeated", None)
        state.pop("_stepped", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # As optimisers were pickled that had no count of steps for each parameter.
        steps = state.pop("steps", None)
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
            return self.param_groups[0][name]
        return object.__getattribute__(self, name)  # for its message

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("defaults", ()):
            for group in self.param_groups:
                group[name] = value
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
        numbers = [recorded_at(each) for each in losses]
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
        before, outcomes = (self._steps, self._counts, self._sets), len(self._outcomes)
        try:
            self._take(gradients)
        except BaseException:
            # Its own mistake, or the failure of an earlier step, which comes to light.
            self._steps, self._counts, self._sets = before
            del self._outcomes[outcomes:]
            raise

    def _begin_counts(self) -> tuple[list[int], list[int]]:
        """Return the steps of each parameter and its set, kept from now on."""
        if self._counts is None:
            starts = [group["start"] for group in self.param_groups]
            self._counts = [self._steps - starts[k] for k in self._group_of]
        if self._sets is None:
            self._sets = list(self._group_of)
        return self._counts, self._sets

    def _count(self, gradients: list[Var | None]) -> tuple[list[int], list[Kind]]:
        """Count the step of each parameter that has a gradient.

        Returns
        -------
        The parameters' numbers, and the kind of each.
        """
        if self._counts is None and all(map(_IS_GIVEN, gradients)):
            self._steps += 1
            kinds = [
                (k, self._steps - group["start"], k) for k, group in enumerate(self.param_groups)
            ]
            return list(range(len(self.parameters))), [kinds[k] for k in self._group_of]
        counts, sets = self._begin_counts()
        self._steps += 1
        given = list(map(_IS_GIVEN, gradients))
        self._counts = counts = [n + moves for n, moves in zip(counts, given, strict=True)]
        split = list(zip(sets, given, strict=True))
        numbers = {each: number for number, each in enumerate(dict.fromkeys(split))}
        self._sets = sets = [numbers[each] for each in split]
        moving = list(compress(range(len(given)), given))
        return moving, [(self._group_of[i], counts[i], sets[i]) for i in moving]

    def _numbers_by_failures(
        self, numbers: Mapping[Kind, list[float]], moving: list[int], steps: list[Kind]
    ) -> list[tuple[list[StepOutcome], list[list[float]]]]:
        """Return the numbers of a step that is begun when earlier ones may still fail.

        Returns
        -------
        Of each kind the steps that may, and its numbers if none of them does, if one
        does, and so on.
        """
        groups = []
        for kind, of_kind in numbers.items():
            k, step, _ = kind
            one = moving[steps.index(kind)]
            earlier = [outcome for outcome, moved in self._outcomes if one in moved]
            others = [
                list(self._numbers(self.param_groups[k], step - failed).values())
                for failed in range(1, len(earlier) + 1)
            ]
            groups.append((earlier, [of_kind, *others]))
        return groups

    def _take(self, given: list[Var | None]) -> None:
        """Run the step as the one before was run, or record it."""
        moving, steps = self._count(given)
        gradients = [gradient for gradient in given if gradient is not None]
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(steps))}
        by_kind = {kind: self._numbers(self.param_groups[kind[0]], kind[1]) for kind in kinds}
        numbers = [number for own in by_kind.values() for number in own.values()]
        of_kinds = tuple([kinds[step] for step in steps])
        common = tuple(map(_COMMON_OF, self.param_groups))
        formula = tuple(map(tuple, by_kind.values())), tuple(moving), of_kinds, common
        last, repeated = self._repeated
        if last != formula:
            self._complete_state()
        states = [[kept[i] for i in moving if i in kept] for kept in self._kept.values()]
        targets = [*[self.parameters[i] for i in moving], *chain.from_iterable(states)]
        outcome = make_step_outcome()
        if self._outcomes:
            present = {kind: list(of_kind.values()) for kind, of_kind in by_kind.items()}
            outcome.set_numbers(self._numbers_by_failures(present, moving, steps))
        self._outcomes.append((outcome, moving))
        if last == formula:
            if repeated.repeat(targets, gradients, numbers, outcome):
                return
            self._complete_state()  # for parameters that are of another dtype by now
        gradients = [as_var(gradient) for gradient in gradients]
        self._check_shapes(moving, gradients)
        repeated = make_repeated_update()
        may_repeat = repeated.begin(targets, gradients)
        #: Of each dtype and place, the numbers of each kind of parameters.
        scalars: dict[tuple[str, str], list[Numbers]] = {}
        for index, gradient, of_kind in zip(moving, gradients, of_kinds, strict=True):
            parameter = self.parameters[index]
            dtype = parameter.dtype
            wider = WIDER.get(dtype, dtype)
            numeric = wider, name_of_device(parameter)
            if numeric not in scalars:
                with device_of(parameter):
                    scalars[numeric] = [
                        {name: array(n, wider) for name, n in own.items()}
                        for own in by_kind.values()
                    ]
            if gradient.dtype in WIDER:
                gradient = gradient.cast(wider)
            if self.param_groups[self._group_of[index]]["maximize"]:
                gradient = -gradient
            update = self._update_half if dtype in WIDER else self._update
            parameter.update(update(index, parameter, gradient, scalars[numeric][of_kind]))
        scalar_values = [n for all_of in scalars.values() for own in all_of for n in own.values()]
        outcome.watch_updates(scalar_values, len(numbers))
        if may_repeat:
            repeated.end(targets, scalar_values, len(numbers))
            self._repeated = formula, repeated

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

    def _check_shapes(self, moving: list[int], gradients: list[Var]) -> None:
        """Raise ValueError unless gradients have their parameters' shapes."""
        for index, gradient in zip(moving, gradients, strict=True):
            parameter = self.parameters[index]
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
        if self._counts is not None:
            state["counts"] = list(self._counts)
        return state | self._tensors()

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
        self._kept = self._loaded(state, [{**group, **options} for group, options in pairs])
        for group, options in zip(self.param_groups, groups, strict=True):
            group.update(options)
        self._steps, self._outcomes = steps, []
        self._counts = None if counts is None else [int(n) for n in counts]
        self._sets = None if counts is None else list(self._group_of)
