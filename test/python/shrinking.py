# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fails made small: lists of parts, and recipes of random graphs.

Lists are made shorter by delta debugging (Zeller and Hildebrandt, Simplifying and
Isolating Failure-Inducing Input, 2002): parts of them are left out, larger ones first,
as long as what is left fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from random_graphs import Node

Part = TypeVar("Part")


class Budget:
    """An end of trying, after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def is_left(self) -> bool:
        return time.monotonic() < self.end


def leave_out(
    parts: Sequence[Part], fails: Callable[[list[Part]], bool], budget: Budget
) -> list[Part]:
    """Return parts that fail, of which none can be left out."""
    kept = list(parts)
    size = max(1, len(kept) // 2)
    while budget.is_left():
        start, has_shrunk = 0, False
        while start < len(kept) and budget.is_left():
            rest = kept[:start] + kept[start + size :]
            if rest and fails(rest):
                kept, has_shrunk = rest, True
            else:
                start += size
        if size == 1 and not has_shrunk:
            break
        size = max(1, size // 2)
    return kept


def _bypass(recipe: Sequence[Node], gone: Node) -> list[Node]:
    """Return the recipe without a node, whose readers read its first operand."""
    instead = gone.operands[:1]

    def operands(node: Node) -> tuple[int, ...]:
        return tuple(new for at in node.operands for new in (instead if at == gone.id else (at,)))

    return [node._replace(operands=operands(node)) for node in recipe if node.id != gone.id]


def shrink(
    recipe: Sequence[Node], fails: Callable[[list[Node]], bool], seconds: float = 120
) -> list[Node]:
    """Return a small recipe that fails: fewer nodes, and simpler choices.

    Parameters
    ----------
    recipe
        One that fails.
    fails
        Whether a recipe fails in the way that is looked for.
    seconds
        After these, what has been found is returned.
    """
    budget = Budget(seconds)
    kept = list(recipe)
    before: list[Node] | None = None
    while before != kept and budget.is_left():
        before = kept
        kept = leave_out(kept, fails, budget)
        for node in reversed(kept):
            if budget.is_left() and fails(rest := _bypass(kept, node)):
                kept = rest
        for place in range(len(kept)):
            kept = _simplify_numbers(kept, place, fails, budget)
    return kept


def _simplify_numbers(
    recipe: list[Node], place: int, fails: Callable[[list[Node]], bool], budget: Budget
) -> list[Node]:
    """Return the recipe with numbers of one node 0, which chooses what is simplest."""

    def replaced(**fields: tuple[float, ...]) -> list[Node]:
        return [*recipe[:place], recipe[place]._replace(**fields), *recipe[place + 1 :]]

    numbers = recipe[place].numbers
    # All of them, then those behind, then each.
    for count in range(len(numbers)):
        if budget.is_left() and fails(shorter := replaced(numbers=numbers[:count])):
            recipe, numbers = shorter, numbers[:count]
            break
    for at, number in enumerate(numbers):
        if number and budget.is_left():
            simpler = (*numbers[:at], 0.0, *numbers[at + 1 :])
            if fails(zeroed := replaced(numbers=simpler)):
                recipe, numbers = zeroed, simpler
    return recipe
