# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Donated arguments: those that calls of a recorded function may write over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core import Var
from .._errors import at_line
from .._typing import shown
from .arguments import flatten

__all__ = ["check_apart", "check_names", "find_donated"]


def check_names(given: Any, name: str, parameters: Sequence[str]) -> tuple[str, ...]:
    """Return the names of parameters that are donated.

    Parameters
    ----------
    given
        A name or several, as `jit` was given them.
    name, parameters
        What the function is called, and its parameters.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If there is no such parameter.
    """
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Iterable) or not all(isinstance(each, str) for each in names):
        raise at_line(TypeError(f"jit: donate is {shown(given)}, expected names of parameters"))
    result = tuple(names)
    for each in result:
        if each not in parameters:
            known = ", ".join(parameters) or "none with a name"
            raise at_line(
                ValueError(
                    f"jit: donate has {each!r}, which is no parameter of {name}; these are {known}"
                )
            )
    return result


def find_donated(
    donated: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]
) -> list[int]:
    """Return the places, among the leaves of a call, of those that are donated.

    Parameters
    ----------
    donated
        The names of the parameters.
    args, kwargs
        What the function is called with.
    names
        Its parameters by position.
    """
    labels = [*names[: len(args)], *[""] * (len(args) - len(names)), *sorted(kwargs)]
    values = [*args, *(kwargs[name] for name in sorted(kwargs))]
    places: list[int] = []
    count = 0
    for label, value in zip(labels, values, strict=True):
        leaves: list[Any] = []
        flatten(value, leaves, [], [])
        if label in donated:
            places += range(count, count + len(leaves))
        count += len(leaves)
    return places


def check_apart(
    donated: Sequence[int], first: Sequence[int], aliased: Iterable[int], leaves: Sequence[Var]
) -> None:
    """Raise ValueError where a donated tensor is something else in a call, too.

    Parameters
    ----------
    donated
        The places of the donated leaves.
    first
        Of each leaf the place at which the same tensor is first.
    aliased
        The places of leaves that the function uses from outside.
    leaves
        The leaves.
    """
    outside = {first[place] for place in aliased}
    for place in donated:
        own = first[place]
        if first.count(own) > 1:
            what = "is given twice"
        elif own in outside:
            what = "is used from outside, too"
        else:
            continue
        raise at_line(
            ValueError(
                f"jit: a donated tensor of shape {leaves[place].shape} {what}; expected one that"
                " is nothing but this argument: give x.copy()"
            )
        )
