# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of optimisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from .._core import Var, grad, recorded_at, used_gradients
from .._domains import DEVIATION, FINITE
from .._errors import at_line
from .._typing import as_number, shown
from ..compat._names import Absent
from ..complex_numbers.pair import Complex, separated
from ..nn.module import Module
from ..tracing.effects import forbid, note_read, perform, recording
from .accumulating import bounded, check_bounds
from .keeping import WIDER, Group
from .matching import Gradients, in_order
from .moving import COMMON, Mover
from .recorded_steps import SetOption
from .skipping import Numbers

__all__ = ["Group", "Numbers", "Optimizer"]

#: The number of losses that are remembered, to tell that one is stepped by again.
_MOST_LOSSES = 64


class Optimizer(Mover):
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
        them as `add_param_group` takes. The halves of a `Complex` are two parameters.
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

    lr: float

    #: Options of which a negative number makes no sense, those of any sign, and in [0, 1).
    _NOT_NEGATIVE = frozenset(
        {"lr", "eps", "weight_decay", "momentum", "lr_decay", "momentum_decay"}
        | {"initial_accumulator_value"}
    )
    _SIGNED = frozenset({"dampening"})
    _FRACTIONS = frozenset({"alpha", "rho"})

    #: The names of attributes that steps change, and compare by themselves.
    _changes_by_effect = frozenset(
        {
            "_steps",
            "_outcomes",
            "_counts",
            "_sets",
            "_all",
            "_stepped",
            "_plan",
            "_recorded",
            "_may_skip",
            "_skip",
            "_sums",
            "_lent",
        }
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
        if isinstance(parameters, (Var, Complex, Mapping)) or not isinstance(parameters, Iterable):
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
        self._sums, self._lent = {}, {}
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
        new = separated([params] if isinstance(params, Var | Complex) else list(params))
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
        """Raise an error unless a group's options are numbers that make sense.

        Raises
        ------
        TypeError
            If one is no number.
        ValueError
            If one makes no sense.
        """
        name = type(self).__name__
        for domain, options in ((DEVIATION, self._NOT_NEGATIVE), (FINITE, self._SIGNED)):
            for option in sorted(options & group.keys()):
                number = as_number(name, option, group[option])
                domain.check(name, **{option: number})
        for option in sorted(self._FRACTIONS & group.keys()):
            if not 0.0 <= as_number(name, option, group[option]) < 1.0:
                raise at_line(
                    ValueError(f"{name}: {option} is {shown(group[option])}, expected it in [0, 1)")
                )
        betas = group.get("betas", ())
        if not isinstance(betas, tuple | list):
            raise at_line(
                TypeError(f"{name}: betas are {shown(betas)}, expected a tuple of numbers")
            )
        if not all(0.0 <= as_number(name, "a beta", beta) < 1.0 for beta in betas):
            raise at_line(
                ValueError(f"{name}: betas are {shown(group['betas'])}, expected them in [0, 1)")
            )

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        state = {**self.__dict__, "_outcomes": []}
        # What is of this session.
        for name in ("_recorded", "_plan", "_stepped", "_lent"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # As optimisers were pickled that had no count of steps for each parameter.
        steps = state.pop("steps", None)
        self._forget_plan()
        self._sums, self._lent = {}, {}
        self.__dict__.update(state)
        if steps is not None:
            self.__dict__.update(_steps=steps, _outcomes=[])
        # As they were without these options, and with state in halves.
        for group in (self.defaults, *self.param_groups):
            group.update({name: False for name in COMMON if name not in group})
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

    def step(
        self,
        loss: Var | Sequence[Var],
        *,
        accumulate: bool = False,
        clip_norm: float | None = None,
        clip_value: float | None = None,
    ) -> None:
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
        accumulate
            Whether the gradients are added to those of the next step, and nothing moves:
            no step is counted. What is added up is in `state_dict`.
        clip_norm, clip_value
            Bounds of the gradients of the step, as of `clip_grad_norm` and
            `clip_grad_value`; those of each number are the first. Where gradients are
            only added up, they bound nothing yet.

        Raises
        ------
        TypeError
            If the loss is not of floats.
        ValueError
            If the loss depends on no parameter, or has been given to `step` before; if a
            bound is negative.
        RuntimeError
            If a gradient needs a value that an update has written over.
        """
        self._step(loss, accumulate, clip_norm, clip_value)

    def _step(
        self,
        loss: Var | Sequence[Var],
        accumulate: bool,
        clip_norm: float | None,
        clip_value: float | None,
        change: Callable[[list[Var | None]], list[Var | None]] | None = None,
    ) -> None:
        """Take a step by a loss, whose gradients are changed first if it may be skipped."""
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
        check_bounds(clip_norm, clip_value)
        gradients = used_gradients(whole, self.parameters)
        if all(gradient is None for gradient in gradients):
            grad(whole, self.parameters)  # for its error
        if change is not None:
            gradients = change(gradients)
        if accumulate:
            self._add_to_sums(gradients)
            # A function that is recorded would leave numbers of its own behind.
            if recording() is not None:
                return
        else:
            may_skip = change is not None
            gradients = bounded(self._with_sums(gradients, may_skip), clip_norm, clip_value)
            self._apply(gradients, may_skip)
            self._change_sums({})
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

            Those that `step` has added up are not among them: they stay for the next
            `step`.

        Raises
        ------
        ValueError
            If there are more or fewer, a shape differs, one is known to be by another
            parameter than the one that it is given for, or nothing tells the order.
        """
        self._apply_given(gradients)

    def _apply_given(self, gradients: Gradients, may_skip: bool = False) -> None:
        self._apply(in_order(gradients, self.parameters, self._group_of), may_skip)

    def state_dict(self) -> dict[str, Any]:
        """Return the groups' options, the number of steps and the state's tensors."""
        self._complete_state()  # for options that were set since the last step
        groups = [
            {name: option for name, option in group.items() if name != "params"}
            for group in self.param_groups
        ]
        state: dict[str, Any] = {"steps": self.steps, "param_groups": groups}
        return state | self._counts_state() | self._tensors() | self._sums_state()

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
        before, self._may_skip = self._may_skip, self._knows_skips(state)
        try:
            sums = self._loaded_sums(state)
            self._kept = self._loaded(state, [{**group, **options} for group, options in pairs])
        except BaseException:
            self._may_skip = before
            raise
        self._sums = sums
        for group, options in zip(self.param_groups, groups, strict=True):
            group.update(options)
        self._steps, self._outcomes = steps, []
        self._counts = None if counts is None else [int(n) for n in counts]
        self._sets = None if counts is None else list(self._group_of)
