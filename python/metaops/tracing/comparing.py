# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparing recordings of one function: what guards cannot see shows as a difference."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from .._errors import at_line

if TYPE_CHECKING:
    from .functions import Entry

__all__ = ["find_difference", "warn"]


def _compare_lists(
    first: list[tuple[str, str]], second: list[tuple[str, str]], what: str
) -> str | None:
    for (label, before), (other, after) in zip(first, second, strict=False):
        if label != other:
            return f"{what} {label} was in the place of {other}"
        if before != after:
            return f"{what} {label} was {before}, and is {after}"
    if len(first) != len(second):
        return f"{what} has {len(second)} parts, and had {len(first)}"
    return None


def _describe_effects(entry: Entry) -> list[tuple[str, str]]:
    return [
        (
            f"{place} of a {type(each.effect.owner).__name__}",
            f"{id(each.effect.owner):#x} with {', '.join(each.dtypes) or 'no numbers'}",
        )
        for place, each in enumerate(entry.effects)
    ]


def find_difference(first: Entry, second: Entry, leaves: list[Any]) -> str | None:
    """Return how a later recording differs from an earlier one, or None.

    Numbers of effects do not count. What the later one has changed in Python, of what the
    earlier one has read, does: calls that are not recorded would not change it.
    """
    effects = _compare_lists(_describe_effects(first), _describe_effects(second), "effect")
    if effects is not None:
        return effects
    difference: str = first.function.difference(second.function)
    if difference:
        return difference
    static = _compare_lists(first.result.listed(), second.result.listed(), "its")
    if static is not None:
        return static
    row = first.guards.check(leaves)
    if row >= 0:
        label, before, after = first.guards.explain(row)
        return f"it changes {label}, which was {before}, and is {after}"
    return None


def warn(text: str) -> None:
    """Warn with the user's line."""
    depth = 1
    frame = sys._getframe(0)
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
        depth += 1
    warnings.warn(str(at_line(RuntimeWarning(text))), RuntimeWarning, stacklevel=depth)
