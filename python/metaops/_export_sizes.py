# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of extents that a program file has programs for.

Dimensions of inputs have names, and each name has sizes. A function is recorded, and has a
program, for each combination of them.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._core import Var
from ._typing import shown
from .trees import tree_map

__all__ = ["Extents", "read_extents"]

#: So many programs a function may have.
MAX_PROGRAMS = 4096

_EXPECTED = (
    "expected a name, ('batch', 1, 64) for a range with both its ends, or ('batch', [1, 8, 64])"
)


@dataclass
class Extents:
    """The extents of a function's inputs that have names.

    Attributes
    ----------
    sizes
        The sizes of each, in ascending order, by name.
    dims
        Of each, the numbers of the inputs and dimensions that have it.
    """

    sizes: dict[str, tuple[int, ...]]
    dims: dict[str, list[tuple[int, int]]]

    def combine(self) -> Iterator[tuple[int, ...]]:
        """Yield all combinations of sizes, in ascending order."""
        return itertools.product(*self.sizes.values())

    def resize(self, trees: list[Any], sizes: Sequence[int]) -> list[Any]:
        """Return arguments with tensors of other sizes, whose values do not matter."""
        shapes: dict[int, dict[int, int]] = {}
        for dims, size in zip(self.dims.values(), sizes, strict=True):
            for number, dim in dims:
                shapes.setdefault(number, {})[dim] = size
        numbers = itertools.count()

        def replace(leaf: Any) -> Any:
            changed = shapes.get(next(numbers))
            if changed is None:
                return leaf
            var = leaf if isinstance(leaf, Var) else _core.array(leaf)
            shape = [changed.get(dim, extent) for dim, extent in enumerate(var.shape)]
            return _core.zeros(shape, var.dtype)

        return [tree_map(replace, tree) for tree in trees]

    def describe(self, sizes: Sequence[int]) -> str:
        """Return sizes for messages: "batch 1, length 16"."""
        return ", ".join(f"{name} {n}" for name, n in zip(self.sizes, sizes, strict=True))


def read_extents(dynamic: Any, inputs: Mapping[str, tuple[int, ...]], function: str) -> Extents:
    """Return what `export` was given for the inputs of a function.

    Parameters
    ----------
    dynamic
        Dimensions and what is given for them, by inputs.
    inputs
        The shapes of inputs by name, in their order.
    function
        The function's name, for messages.
    """
    if not isinstance(dynamic, Mapping) or not dynamic:
        raise TypeError(
            f"export: given dynamic={shown(dynamic)} for {function!r}; expected a dict of inputs,"
            " such as {'x': {0: ('batch', 1, 64)}}"
        )
    extents = Extents({}, {})
    names = list(inputs)
    for name, dims in dynamic.items():
        if name not in inputs:
            raise ValueError(
                f"export: dynamic names the input {name!r}; {function!r} has"
                f" {', '.join(map(repr, names)) or 'none'}"
            )
        if not isinstance(dims, Mapping):
            raise TypeError(
                f"export: dynamic has {shown(dims)} for the input {name!r}; expected a dict of"
                " its dimensions"
            )
        for dim, given in dims.items():
            place = names.index(name), _read_dim(dim, name, len(inputs[name]))
            _add(extents, place, given, f"dimension {dim} of {name!r}")
    if missing := [name for name in extents.dims if name not in extents.sizes]:
        raise ValueError(f"export: dynamic gives no sizes for {missing[0]!r}; {_EXPECTED}")
    _check_count(extents, function)
    extents.sizes = {name: extents.sizes[name] for name in extents.dims}
    return extents


def _read_dim(dim: Any, name: str, rank: int) -> int:
    try:
        number = operator.index(dim)
    except TypeError:
        number = rank
    if isinstance(dim, bool) or not -rank <= number < rank:
        raise ValueError(
            f"export: dynamic names dimension {dim!r} of the input {name!r}, which has {rank}"
        )
    return number % rank


def _add(extents: Extents, place: tuple[int, int], given: Any, where: str) -> None:
    """Add a dimension, and the sizes that are given with its name."""
    name, sizes = _read_entry(given, where)
    if any(place in dims for dims in extents.dims.values()):
        raise ValueError(f"export: dynamic names {where} twice")
    extents.dims.setdefault(name, []).append(place)
    if sizes is None:
        return
    if extents.sizes.setdefault(name, sizes) != sizes:
        raise ValueError(f"export: dynamic gives {name!r} other sizes at {where} than before")


def _read_entry(given: Any, where: str) -> tuple[str, tuple[int, ...] | None]:
    """Return a name, and sizes, if there are some."""
    match given:
        case str() if given:
            return given, None
        case (str(name), first, last) if name and _is_size(first) and _is_size(last):
            if first <= last:
                _check_length(int(last) - int(first) + 1, where)
                return name, tuple(range(int(first), int(last) + 1))
        case (str(name), [*sizes]) if name and sizes and all(map(_is_size, sizes)):
            return name, tuple(sorted(set(map(int, sizes))))
    raise ValueError(f"export: dynamic has {shown(given)} at {where}; {_EXPECTED}")


def _is_size(value: Any) -> bool:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and bool(value >= 0)


def _check_length(count: int, where: str) -> None:
    if count > MAX_PROGRAMS:
        raise ValueError(
            f"export: dynamic has {count:,} sizes at {where}, and each has a program; expected"
            f" {MAX_PROGRAMS:,} at most"
        )


def _check_count(extents: Extents, function: str) -> None:
    count = math.prod(map(len, extents.sizes.values()))
    if count > MAX_PROGRAMS:
        each = ", ".join(f"{name} {len(sizes)}" for name, sizes in extents.sizes.items())
        raise ValueError(
            f"export: {function!r} would have {count:,} programs, one for each combination of"
            f" sizes ({each}); expected {MAX_PROGRAMS:,} at most: name fewer sizes, such as"
            " ('length', [16, 32, 64])"
        )
