# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which gradient is whose: a step never moves a parameter by the gradient of another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import is_not
from typing import Any, TypeAlias

from .._core import Var
from .._errors import at_line
from .._targets import noted, target_of
from .._typing import shown

__all__ = ["Gradients", "in_order"]

#: What a step is given: of each parameter its gradient, or gradients in some order.
Gradients: TypeAlias = "Mapping[Var, Var | None] | Iterable[Var | None]"

#: Says whether there is a gradient.
_IS_GIVEN = partial(is_not, None)
#: What to do where the order of gradients cannot be told.
_SAY_WHOSE = "give a dict of them: apply(dict(zip(parameters, gradients)))"


def in_order(
    given: Gradients, parameters: Sequence[Var], group_of: Sequence[int]
) -> list[Var | None]:
    """Return a gradient, or None, for each parameter.

    Parameters
    ----------
    given
        A gradient for each parameter: by the parameter, or in an order.
    parameters
        The parameters, which are the keys of a mapping.
    group_of
        The group of each, by number; the last one is of the last group.

    Raises
    ------
    ValueError
        If there are more or fewer, if one is known to be by another parameter, or if
        nothing tells the order.
    """
    if not isinstance(given, list) and isinstance(given, Mapping):
        return _by_parameter(given, parameters)
    gradients = list(given)
    if len(gradients) != len(parameters):
        raise at_line(
            ValueError(
                f"apply: {len(gradients)} gradients given, expected {len(parameters)}, one for"
                " each of optimizer.parameters, or a dict of some of these"
            )
        )
    if any(map(noted, map(id, gradients))):
        return _by_target(gradients, parameters, group_of)
    if group_of[-1]:
        _check_groups(range(len(parameters)), parameters, group_of)
    return gradients


def _numbers(parameters: Sequence[Var]) -> dict[int, int]:
    """Return the number of each parameter, by its `id`."""
    return {id(parameter): number for number, parameter in enumerate(parameters)}


def _by_parameter(given: Mapping[Any, Var | None], parameters: Sequence[Var]) -> list[Var | None]:
    """Return the gradients of a mapping; None for parameters that it does not have."""
    numbers = _numbers(parameters)
    gradients: list[Var | None] = [None] * len(parameters)
    for parameter, gradient in given.items():
        own = numbers.get(id(parameter))
        if own is None:
            raise at_line(
                ValueError(
                    f"apply: a gradient is given for {shown(parameter)}, which is none of"
                    " optimizer.parameters"
                )
            )
        known = numbers.get(id(target_of(gradient)), own)
        if known != own:
            raise at_line(
                ValueError(
                    f"apply: the gradient given for parameter {own} of optimizer.parameters is by"
                    f" parameter {known}"
                )
            )
        gradients[own] = gradient
    return gradients


def _by_target(
    gradients: list[Var | None], parameters: Sequence[Var], group_of: Sequence[int]
) -> list[Var | None]:
    """Return the gradients by parameter, where it is known by what some of them are."""
    numbers = _numbers(parameters)
    targets = list(map(target_of, gradients))
    # By no parameter of these: -1.
    by = [None if target is None else numbers.get(id(target), -1) for target in targets]
    own = [number for number in by if number is not None and number >= 0]
    if len(own) == len(set(own)) == len(list(filter(_IS_GIVEN, gradients))):
        result: list[Var | None] = [None] * len(parameters)
        for gradient, number in zip(gradients, by, strict=True):
            if number is not None:
                result[number] = gradient
        return result
    # Places count, and what is known has to agree with them.
    for place, number in enumerate(by):
        if own and number is not None and number != place:
            what = "no parameter" if number < 0 else f"parameter {number}"
            raise at_line(
                ValueError(
                    f"apply: gradient {place} is by {what} of optimizer.parameters, whose order"
                    f" the gradients are not in; {_SAY_WHOSE}"
                )
            )
    if group_of[-1]:
        _check_groups([k for k, number in enumerate(by) if number != k], parameters, group_of)
    return gradients


def _check_groups(
    places: Iterable[int], parameters: Sequence[Var], group_of: Sequence[int]
) -> None:
    """Raise ValueError where gradients of two groups could be mistaken for each other."""
    first: dict[tuple[int, ...], int] = {}
    for place in places:
        shape, group = parameters[place].shape, group_of[place]
        if first.setdefault(shape, group) != group:
            raise at_line(
                ValueError(
                    f"apply: nothing tells the order of these gradients, and parameters of groups"
                    f" {first[shape]} and {group} have one shape, {shape}; {_SAY_WHOSE}"
                )
            )
