# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Borders around tensors.

All but those of a constant are put on dimension by dimension: a border and what it
surrounds are the parts of a concat. Of a gradient, that leaves slices and sums, which
run on all threads; that of one gather through a table of places would be a scatter.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, normalised_axis, shown
from ..create.creation import arange
from ..elementwise.rounding import floor
from ..elementwise.rounding import round as _round
from .shaping import flip
from .stacking import concat

__all__ = ["pad"]

#: A number for both sides, or one for each.
Width: TypeAlias = int | Sequence[int]
#: For all dimensions, for each of them, or for some by number.
Widths: TypeAlias = Width | Sequence[Width] | Mapping[int, Width]


def pad(x: VarLike, widths: Widths, mode: str = "constant", value: float = 0) -> Var:
    """Return x with a border, as ``numpy.pad``.

    Parameters
    ----------
    x
        Any shape.
    widths
        ``(before, after)`` of each dimension; one pair, or one number, is for all of
        them. A dict has the dimensions that get a border. Of mode "constant", a
        negative width removes elements.
    mode
        What the border is made of: "constant", "edge" (the outermost element), "reflect"
        (x mirrored at its outermost element), "symmetric" (x mirrored at its edge),
        "wrap" (x again), "linear_ramp" (from the outermost element to `value`), or
        "maximum", "minimum" or "mean" of the line. A border may be wider than x.
    value
        Of a constant border, and of the outer end of a ramp.

    Raises
    ------
    TypeError
        If a width is no integer.
    ValueError
        If there is not one pair per dimension, the mode is none of these, a width is
        negative, or what is mirrored or repeated is empty.
    """
    x = as_var(x)
    pairs = _width_pairs(widths, x.ndim)
    if mode == "constant":
        return _core.pad(x, [low for low, _ in pairs], [high for _, high in pairs], value)
    _check(x, pairs, mode)
    result = x
    # Innermost first: rows are short then. Ramps and means of integers are rounded, so
    # that their order is NumPy's.
    axes = range(x.ndim) if mode in _ORDERED else reversed(range(x.ndim))
    for axis in axes:
        low, high = pairs[axis]
        if low + high == 0:
            continue
        if mode in _SIDES:
            before, after = _SIDES[mode](result, axis, low, high)
        elif mode == "linear_ramp":
            before, after = _ramps(result, axis, low, high, value)
        else:
            before, after = _lines(result, axis, low, high, mode)
        result = concat([part for part in (before, result, after) if part.shape[axis]], axis)
    return result if result is not x else +x


def _check(x: Var, pairs: Sequence[tuple[int, int]], mode: Any) -> None:
    """Raise ValueError unless x can have such a border, which is not of a constant."""
    if not isinstance(mode, str) or (mode not in _SIDES and mode not in _ORDERED):
        modes = ", ".join(map(repr, ("constant", *_SIDES, *_ORDERED)))
        raise at_line(ValueError(f"pad: mode is {shown(mode)}, expected one of {modes}"))
    for axis, (low, high) in enumerate(pairs):
        if low < 0 or high < 0:
            raise at_line(
                ValueError(
                    f"pad: widths {low} and {high} of dimension {axis}, expected none below 0"
                    f" of mode {mode!r}"
                )
            )
        if low + high > 0 and x.shape[axis] == 0:
            raise at_line(
                ValueError(
                    f"pad: dimension {axis} of {x.shape} is empty: there is nothing that a"
                    f" border of mode {mode!r} could be made of"
                )
            )


def _width_pairs(widths: Any, ndim: int) -> list[tuple[int, int]]:
    """Return the widths before and after each dimension."""
    if isinstance(widths, Mapping):
        pairs = [(0, 0)] * ndim
        for axis, width in widths.items():
            pairs[normalised_axis(axis, ndim)] = _pair(width)
        return pairs
    given = widths.tolist() if isinstance(widths, np.ndarray) else widths
    if not isinstance(given, tuple | list):
        return [_pair(given)] * ndim
    if not any(isinstance(width, tuple | list | np.ndarray) for width in given) and given:
        return [_pair(given)] * ndim
    if len(given) not in (1, ndim) or (not given and ndim):
        raise at_line(
            ValueError(
                f"pad: {len(given)} pairs of widths given, expected {ndim}, one pair or one number"
            )
        )
    pairs = [_pair(width) for width in given]
    return pairs * ndim if len(pairs) == 1 else pairs


def _pair(width: Any) -> tuple[int, int]:
    numbers = width if isinstance(width, tuple | list | np.ndarray) else (width,)
    try:
        low, *rest = map(operator.index, numbers)
    except (TypeError, ValueError):
        error = TypeError(f"pad: a width is {shown(width)}, expected an integer or two")
        raise at_line(error) from None
    if len(rest) > 1:
        raise at_line(
            ValueError(f"pad: a width is {shown(width)}, expected one before and one after")
        )
    return int(low), int(rest[0] if rest else low)


def _part(x: Var, axis: int, start: int, count: int) -> Var:
    """Return `count` elements along a dimension, from `start` on."""
    places = [f"i{k}" for k in range(x.ndim)]
    places[axis] += f"+{start}"
    return x.reindex((*x.shape[:axis], count, *x.shape[axis + 1 :]), places)


def _mirror(x: Var, axis: int, start: int, count: int) -> Var:
    """Return these elements in reverse order.

    They are taken first and turned round then: what the gradient turns round is small.
    """
    part = _part(x, axis, start, count)
    places = [f"i{k}" for k in range(x.ndim)]
    places[axis] = f"{count - 1}-i{axis}"
    return part.reindex(part.shape, places)


def _repeated(x: Var, axis: int, count: int) -> Var:
    """Return x, of extent 1 along a dimension, so often."""
    return x.broadcast((*x.shape[:axis], count, *x.shape[axis + 1 :]))


def _edges(x: Var, axis: int, low: int, high: int) -> tuple[Var, Var]:
    first, last = _part(x, axis, 0, 1), _part(x, axis, x.shape[axis] - 1, 1)
    return _repeated(first, axis, low), _repeated(last, axis, high)


def _mirrored(x: Var, axis: int, low: int, high: int) -> tuple[Var, Var]:
    n = x.shape[axis]
    if n == 1:
        return _edges(x, axis, low, high)
    if max(low, high) < n:
        return _mirror(x, axis, 1, low), _mirror(x, axis, n - 1 - high, high)
    inner = _mirror(x, axis, 1, n - 2)
    return _cycled(concat([x, inner], axis), axis, n, low, high)


def _mirrored_with_edge(x: Var, axis: int, low: int, high: int) -> tuple[Var, Var]:
    n = x.shape[axis]
    if max(low, high) <= n:
        return _mirror(x, axis, 0, low), _mirror(x, axis, n - high, high)
    return _cycled(concat([x, flip(x, axis)], axis), axis, n, low, high)


def _wrapped(x: Var, axis: int, low: int, high: int) -> tuple[Var, Var]:
    n = x.shape[axis]
    if max(low, high) <= n:
        return _part(x, axis, n - low, low), _part(x, axis, 0, high)
    return _cycled(x, axis, n, low, high)


def _cycled(period: Var, axis: int, n: int, low: int, high: int) -> tuple[Var, Var]:
    """Return what repeating a period has before its place 0 and from place n on."""
    extent = period.shape[axis]

    def part(start: int, count: int) -> Var:
        places = [f"i{k}" for k in range(period.ndim)]
        places[axis] = f"({places[axis]}+{start % extent})%{extent}"
        return period.reindex((*period.shape[:axis], count, *period.shape[axis + 1 :]), places)

    return part(-low, low), part(n, high)


_SIDES: dict[str, Callable[[Var, int, int, int], tuple[Var, Var]]] = {
    "edge": _edges,
    "reflect": _mirrored,
    "symmetric": _mirrored_with_edge,
    "wrap": _wrapped,
}
#: Modes whose results depend on the order of the dimensions.
_ORDERED = ("linear_ramp", "maximum", "mean", "minimum")


def _ramps(x: Var, axis: int, low: int, high: int, end: float) -> tuple[Var, Var]:
    """Return numbers from `end` to the outermost elements."""
    first, last = _part(x, axis, 0, 1), _part(x, axis, x.shape[axis] - 1, 1)
    return _ramp(first, axis, low, end), flip(_ramp(last, axis, high, end), axis)


def _ramp(edge: Var, axis: int, count: int, end: float) -> Var:
    """Return `count` numbers from `end`, included, to `edge`, left out."""
    dtype = edge.dtype if edge.dtype in ("float32", "float64") else "float64"
    steps = arange(count, dtype=dtype).reshape((count,) + (1,) * (edge.ndim - axis - 1))
    ramp = (edge.cast(dtype) - end) / max(count, 1) * steps + end
    return (floor(ramp) if "int" in edge.dtype else ramp).cast(edge.dtype)


def _lines(x: Var, axis: int, low: int, high: int, mode: str) -> tuple[Var, Var]:
    """Return the greatest, the least or the mean of each line along a dimension."""
    if mode == "mean" and "float" not in x.dtype:
        line = _round(x.cast("float64").mean(axis, True)).cast(x.dtype)
    elif mode == "mean":
        line = x.mean(axis, True)
    else:
        line = x.max(axis, True) if mode == "maximum" else x.min(axis, True)
    return _repeated(line, axis, low), _repeated(line, axis, high)
