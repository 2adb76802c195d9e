# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matches parameters with gradients and options: whose gradient is whose, groups by names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_not
from typing import Any, TypeAlias

from .._core import Var
from .._errors import at_line
from .._targets import noted, target_of
from .._typing import shown
from ..complex_numbers.pair import Complex, separated

__all__ = ["Gradients", "groups_by_name", "in_order"]

#: Gradients that a step is given: one of each parameter, or all in some order.
Gradients: TypeAlias = "Mapping[Var, Var | None] | Iterable[Var | None]"

#: Says whether there is a gradient.
_IS_GIVEN = partial(is_not, None)
#: Advice where the order of gradients cannot be told.
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
    gradients = separated(list(given))
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


def _of_halves(given: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield parameters and gradients, those of the halves for a Complex."""
    for parameter, gradient in given.items():
        if isinstance(parameter, Complex):
            halves = (None, None) if gradient is None else (gradient.real, gradient.imag)
            yield from zip((parameter.real, parameter.imag), halves, strict=True)
        else:
            yield parameter, gradient


def _by_parameter(given: Mapping[Any, Var | None], parameters: Sequence[Var]) -> list[Var | None]:
    """Return the gradients of a mapping; None for parameters that it does not have."""
    numbers = _numbers(parameters)
    gradients: list[Var | None] = [None] * len(parameters)
    for parameter, gradient in _of_halves(given):
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


def groups_by_name(
    named_parameters: Iterable[tuple[str, Var]] | Any, patterns: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return groups of parameters with options by their names.

    Biases and norms without weight decay, for example::

        groups = mo.optim.groups_by_name(model, {r"bias$|norm": {"weight_decay": 0.0}})
        optimizer = mo.optim.AdamW(groups, lr=1e-3, weight_decay=0.1)

    Parameters
    ----------
    named_parameters
        A module, or what its `named_parameters` returns.
    patterns
        Options by regular expressions, which are searched for in names. A parameter has
        the options of the first that is found, in the order of the dict.

    Returns
    -------
    list of dict
        A group for each expression, and before them that of all other parameters, if there
        are any. All are as optimisers take them.

    Raises
    ------
    ValueError
        If an expression is none, or finds no parameter that is left.
    TypeError
        If what is given is no module and no pairs of a name and a parameter, or the
        patterns are no dict of dicts by texts.
    """
    named = getattr(named_parameters, "named_parameters", None)
    given = named() if callable(named) else named_parameters
    is_list = isinstance(given, Iterable) and not isinstance(given, Var)
    pairs: list[Any] = list(given) if is_list else [None]
    if not all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], Var)
        for pair in pairs
    ):
        raise at_line(
            TypeError(
                f"groups_by_name: named_parameters is {shown(named_parameters)}, expected a module"
                " or pairs of a name and a Var"
            )
        )
    if not isinstance(patterns, Mapping) or not all(
        isinstance(pattern, str) and isinstance(options, Mapping)
        for pattern, options in patterns.items()
    ):
        raise at_line(
            TypeError(f"groups_by_name: patterns are {shown(patterns)}, expected dicts by texts")
        )
    groups: list[dict[str, Any]] = []
    for pattern, options in patterns.items():
        try:
            expression = re.compile(pattern)
        except re.error as error:
            raise at_line(
                ValueError(f"groups_by_name: {pattern!r} is no regular expression: {error}")
            ) from None
        found = [parameter for name, parameter in pairs if expression.search(name)]
        if not found:
            names = ", ".join(name for name, _ in pairs[:8])
            raise at_line(
                ValueError(f"groups_by_name: {pattern!r} finds none of the parameters {names}")
            )
        pairs = [(name, own) for name, own in pairs if not expression.search(name)]
        groups.append({"params": found, **options})
    rest = [{"params": [parameter for _, parameter in pairs]}] if pairs else []
    return rest + groups
