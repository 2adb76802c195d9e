# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order in which several tensors are contracted.

A path is a list of steps. Each names the places of the operands that it
contracts; these leave the list, and their product goes to its end.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ..._errors import at_line

__all__ = ["Path", "best_path", "checked_path", "cost_of", "without_sums"]

Path: TypeAlias = tuple[tuple[int, ...], ...]
Labels: TypeAlias = tuple[str, ...]

#: The optimal order takes time in proportion to 3 to the power of the operands.
_MOST_OPTIMAL = 8


def cost_of(terms: Sequence[Labels], extents: Mapping[str, int]) -> int:
    """Return the multiplications of one step."""
    labels = {label for term in terms for label in term}
    return math.prod(extents[label] for label in labels) * (len(terms) - 1)


def without_sums(terms: Sequence[Labels], result: Labels) -> list[Labels]:
    """Return the terms without what only one of them has, which is summed at once."""
    found = [label for term in terms for label in term]
    return [tuple(k for k in term if k in result or found.count(k) > 1) for term in terms]


def checked_path(count: int, path: Path) -> Path:
    """Return a path that was given.

    Raises
    ------
    ValueError
        If a step names a place that is not there, or more than one operand is left.
    """
    left = count
    for step in path:
        if not step or len(set(step)) != len(step) or not all(0 <= k < left for k in step):
            raise at_line(
                ValueError(f"einsum: a step of the path is {step}, expected places below {left}")
            )
        left -= len(step) - 1
    if left != 1:
        raise at_line(ValueError(f"einsum: the path leaves {left} operands, expected 1"))
    return path


def best_path(
    terms: Sequence[Labels], result: Labels, extents: Mapping[str, int], method: str
) -> Path:
    """Return the path that a method chooses: "optimal", "greedy" or "none"."""
    if method == "none" or len(terms) <= 2:
        return (tuple(range(len(terms))),)
    if method == "optimal" and len(terms) <= _MOST_OPTIMAL:
        return _optimal(terms, result, extents)
    return _greedy(terms, result, extents)


class _Sets:
    """Labels as bits of integers."""

    def __init__(self, terms: Sequence[Labels], result: Labels, extents: Mapping[str, int]) -> None:
        self.bits = {label: 1 << number for number, label in enumerate(extents)}
        self.extents = list(extents.values())
        self.terms = [self._of(term) for term in without_sums(terms, result)]
        self.result = self._of(result)
        self.sizes: dict[int, int] = {}

    def _of(self, labels: Labels) -> int:
        return sum(self.bits[label] for label in set(labels))

    def size(self, labels: int) -> int:
        """Return the number of points that the labels have."""
        if labels not in self.sizes:
            self.sizes[labels] = math.prod(
                extent for number, extent in enumerate(self.extents) if labels >> number & 1
            )
        return self.sizes[labels]


def _optimal(terms: Sequence[Labels], result: Labels, extents: Mapping[str, int]) -> Path:
    """Return the path of the fewest multiplications, by dynamic programming.

    Each set of operands has its cheapest way, made of those of two parts.
    """
    sets, count = _Sets(terms, result, extents), len(terms)
    whole = (1 << count) - 1

    def labels_of(group: int) -> int:
        labels = 0
        for number, term in enumerate(sets.terms):
            if group >> number & 1:
                labels |= term
        return labels

    every = [labels_of(group) for group in range(whole + 1)]
    kept = [every[group] & (sets.result | every[whole ^ group]) for group in range(whole + 1)]
    cheapest = {1 << number: (0, 0) for number in range(count)}
    for group in range(1, whole + 1):
        if group in cheapest:
            continue
        lowest, best = group & -group, None
        part = group
        # All parts with the lowest operand, and what they leave.
        while part := (part - 1) & group:
            if part & lowest:
                rest = group ^ part
                cost = sets.size(kept[part] | kept[rest])
                cost += cheapest[part][0] + cheapest[rest][0]
                if best is None or (cost, part) < best:
                    best = cost, part
        assert best is not None
        cheapest[group] = best
    return _steps(cheapest, whole, count)


def _steps(cheapest: Mapping[int, tuple[int, int]], whole: int, count: int) -> Path:
    """Return the path that the cheapest parts of groups say, numbered as operands go and come."""
    places = [1 << number for number in range(count)]
    path: list[tuple[int, ...]] = []
    for group, part in _splits(cheapest, whole):
        step = tuple(sorted((places.index(part), places.index(group ^ part))))
        for place in reversed(step):
            del places[place]
        places.append(group)
        path.append(step)
    return tuple(path)


def _splits(cheapest: Mapping[int, tuple[int, int]], group: int) -> Iterator[tuple[int, int]]:
    """Yield the groups within a group and their parts, the innermost first."""
    if part := cheapest[group][1]:
        yield from _splits(cheapest, part)
        yield from _splits(cheapest, group ^ part)
        yield group, part


def _greedy(terms: Sequence[Labels], result: Labels, extents: Mapping[str, int]) -> Path:
    """Return the path that takes, at each step, the pair that leaves the least memory.

    Of equal ones it takes the pair of fewer multiplications. Pairs without a common
    index come last.
    """
    sets = _Sets(terms, result, extents)
    left, path = list(sets.terms), []
    while len(left) > 1:
        best = None
        for i, j in itertools.combinations(range(len(left)), 2):
            wanted = sets.result
            for number, term in enumerate(left):
                if number not in (i, j):
                    wanted |= term
            both = left[i] | left[j]
            grown = sets.size(both & wanted) - sets.size(left[i]) - sets.size(left[j])
            key = (not left[i] & left[j], grown, sets.size(both), i, j)
            if best is None or key < best[0]:
                best = key, both & wanted
        assert best is not None
        i, j = best[0][3:]
        del left[j], left[i]
        left.append(best[1])
        path.append((i, j))
    return tuple(path)
