# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choices among several tensors, element by element or slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, as_vars, normalised_axis, shown
from ..elementwise.elementwise import clip, mod, where
from ..sort.searching import flatnonzero
from ._indices import as_indices, checked
from .gathering import take

__all__ = ["choose", "compress", "extract", "piecewise", "select"]


def _conditions(what: str, conditions: object, count: int, expected: str) -> list[Var]:
    """Return booleans, as many as there are choices."""
    given = as_vars(what, conditions)
    for condition in given:
        if condition.dtype != "bool":
            raise at_line(TypeError(f"{what}: a condition is {condition.dtype}, expected booleans"))
    if len(given) != count:
        raise at_line(
            ValueError(f"{what}: given {len(given)} conditions, expected {expected}, {count}")
        )
    return given


def select(conditions: Sequence[VarLike], choices: Sequence[VarLike], default: VarLike = 0) -> Var:
    """Return, for each element, the choice of the first condition that holds.

    Parameters
    ----------
    conditions
        Booleans.
    choices
        One tensor for each; all broadcast together.
    default
        What is returned where no condition holds.

    Raises
    ------
    TypeError
        If a condition is not boolean.
    ValueError
        If there are not as many conditions as choices, or none.
    """
    if not isinstance(choices, Sequence) or not choices:
        raise at_line(
            ValueError(f"select: choices are {shown(choices)}, expected a sequence of tensors")
        )
    given = _conditions("select", conditions, len(choices), "one for each choice")
    result: VarLike = default
    for condition, choice in zip(given[::-1], list(choices)[::-1], strict=True):
        result = where(condition, choice, result)
    return as_var(result)


def piecewise(
    x: VarLike,
    conditions: Sequence[VarLike],
    functions: Sequence[Callable[..., Any] | VarLike],
    *args: Any,
) -> Var:
    """Return, for each element, the function of the last condition that holds.

    Parameters
    ----------
    x
        Any tensor, whose dtype the result has.
    conditions
        Booleans of x's shape.
    functions
        One for each condition, and one more for where none holds, which is 0 by
        default. Each is called with all of x; a number stands for a constant function.
    args
        Given to each function behind x.

    Raises
    ------
    TypeError
        If a condition is not boolean, or `functions` is no sequence.
    ValueError
        If the numbers of conditions and of functions do not fit.
    """
    x = as_var(x)
    if not isinstance(functions, Sequence):
        raise at_line(
            TypeError(f"piecewise: functions are {shown(functions)}, expected a sequence")
        )
    given = as_vars("piecewise", conditions)
    rest: list[Any] = list(functions)
    otherwise = rest.pop() if len(rest) == len(given) + 1 else 0
    given = _conditions("piecewise", given, len(rest), "one for each function, or one less")

    def values(function: Any) -> Var:
        return as_var(function(x, *args) if callable(function) else function).cast(x.dtype)

    result = values(otherwise)
    for condition, function in zip(given, rest, strict=True):
        result = where(condition, values(function), result)
    return +result.broadcast(x.shape)


def choose(x: VarLike, choices: Sequence[VarLike], mode: str = "raise") -> Var:
    """Return, for each element k of x, that of choice number k.

    Parameters
    ----------
    x
        Integers.
    choices
        Tensors, which broadcast together with x.
    mode
        What becomes of a number without a choice: "raise", "wrap" or "clip".

    Raises
    ------
    IndexError
        If a number is out of range: at once if x is no Var, else when the result is
        waited for.
    TypeError
        If x has no integers.
    ValueError
        If there are no choices, or `mode` is another.
    """
    index, tensors = as_indices(x, "choose"), as_vars("choose", choices)
    if not tensors:
        raise at_line(ValueError("choose: no choices are given"))
    if mode not in ("raise", "wrap", "clip"):
        raise at_line(
            ValueError(f"choose: mode is {shown(mode)}, expected 'raise', 'wrap' or 'clip'")
        )
    count = len(tensors)
    if mode == "raise":
        number = checked(index, 0, count)
    else:
        number = as_var(index)
        number = mod(number, count) if mode == "wrap" else clip(number, 0, count - 1)
    result = where(number == 0, tensors[0], tensors[-1])
    for k in range(1, count - 1):
        result = where(number == k, tensors[k], result)
    return result


def compress(condition: VarLike, x: VarLike, dim: int | None = None) -> Var:
    """Return the slices of x along a dimension for which a condition holds.

    How many there are is computed at once.

    Parameters
    ----------
    condition
        A vector of booleans, no longer than the dimension. What is beyond it is left out.
    x
        Any tensor.
    dim
        The dimension; without one, x is flattened first.

    Raises
    ------
    ValueError
        If the condition is no vector or too long, or `dim` is out of range.
    """
    x, condition = as_var(x), as_var(condition)
    if dim is None:
        x, dim = x.reshape((x.size,)), 0
    axis = normalised_axis(dim, x.ndim)
    if condition.ndim != 1 or condition.size > x.shape[axis]:
        raise at_line(
            ValueError(
                f"compress: condition has shape {condition.shape}, expected a vector of at most"
                f" {x.shape[axis]} booleans"
            )
        )
    return take(x, flatnonzero(condition), axis)


def extract(condition: VarLike, x: VarLike) -> Var:
    """Return the elements of x, flattened, for which a condition holds.

    How many there are is computed at once.

    Parameters
    ----------
    condition
        As many elements as x has; what is not zero holds.
    x
        Any tensor.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    """
    x, condition = as_var(x), as_var(condition)
    if condition.size != x.size:
        raise at_line(
            ValueError(
                f"extract: condition has shape {condition.shape} and x {x.shape}, expected as"
                " many elements"
            )
        )
    places = flatnonzero(_core.reshape(condition, (x.size,)) != 0)
    return take(x.reshape((x.size,)), places, 0)
