# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that sample a function: differences, slopes, areas, interpolation."""

from __future__ import annotations

from ... import _core
from ..._core import Var
from ..._domains import FINITE
from ..._errors import at_line
from ..._typing import (
    Axes,
    VarLike,
    as_var,
    beside,
    normalised_axes,
    normalised_axis,
    shown,
    unrounded,
    whole_number,
    widened,
    widened_together,
)
from ..elementwise.elementwise import isfinite, isinf, logical_not, not_equal, where
from ..shape.stacking import concat
from ..sort._search import count_below, read

__all__ = ["diff", "ediff1d", "gradient", "interp", "trapezoid"]


def _part(x: Var, axis: int, start: int | None, stop: int | None) -> Var:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def diff(
    x: VarLike,
    n: int = 1,
    dim: int = -1,
    prepend: VarLike | None = None,
    append: VarLike | None = None,
) -> Var:
    """Return the n-th differences of neighbours along a dimension.

    Integers wrap in their type; halves are computed in float32.

    Parameters
    ----------
    x
        One dimension or more. Of booleans it is whether neighbours differ.
    n
        How often differences are taken; each time the extent is one less.
    dim
        The dimension.
    prepend, append
        What is put before and behind x: a number, or a tensor.

    Raises
    ------
    ValueError
        If `n` is negative, `dim` out of range, or shapes do not fit.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    count = whole_number("diff", "n", n)
    parts = [
        _beside(part, x, axis) if number != 1 else x
        for number, part in enumerate((prepend, x, append))
        if part is not None
    ]
    if len(parts) > 1:
        x = concat(parts, axis)
    dtype, x = x.dtype, unrounded(x)
    for _ in range(min(count, x.shape[axis])):
        right, left = _part(x, axis, 1, None), _part(x, axis, None, -1)
        x = not_equal(right, left) if dtype == "bool" else right - left
    return x.cast(dtype)


def _beside(part: VarLike, x: Var, axis: int) -> Var:
    """Return what is put beside x; a number fills one place."""
    value = beside(part, x)
    if value.ndim:
        return value
    return value.broadcast((*x.shape[:axis], 1, *x.shape[axis + 1 :]))


def ediff1d(x: VarLike, to_end: VarLike | None = None, to_begin: VarLike | None = None) -> Var:
    """Return the differences of neighbours of the flattened x.

    Parameters
    ----------
    x
        Any shape.
    to_end, to_begin
        What comes behind and before them, flattened too. They take x's type; but floats
        beside integers stay, and the result is of floats.
    """
    x = as_var(x).reshape((-1,))
    result = _part(x, 0, 1, None) - _part(x, 0, None, -1)
    before, behind = (
        [] if end is None else [_end(beside(end, x), x)] for end in (to_begin, to_end)
    )
    parts = [*before, result, *behind]
    return concat(parts) if len(parts) > 1 else result


def _end(end: Var, x: Var) -> Var:
    """Return what comes beside differences as a vector: of x's type, unless that would cut it."""
    is_cut = "float" in end.dtype and "float" not in x.dtype
    return (end if is_cut else end.cast(x.dtype)).reshape((-1,))


def gradient(
    x: VarLike, *spacing: VarLike, dim: Axes = None, edge_order: int = 1
) -> Var | list[Var]:
    """Return the slopes of a function that x samples, as ``numpy.gradient``.

    Inside they are those of second order in the spacing, by both neighbours. This
    is no derivative of recorded operators, which `metaops.grad` gives.

    Parameters
    ----------
    x
        At least two samples along each dimension that is taken.
    spacing
        Nothing (samples lie 1 apart), one number for all dimensions, or one item for
        each: a number, or the coordinates of the samples along it.
    dim
        The dimensions; by default all.
    edge_order
        1 or 2: the order at both ends. 2 takes three samples.

    Returns
    -------
    Var or list of Var
        Of x's shape, floats of the type to which x and the spacings are promoted, float32
        of integers; a list for several dimensions. Halves are computed in float32.

    Raises
    ------
    ValueError
        If there are too few samples or other numbers of spacings, or `edge_order` is
        another number.
    """
    (x, *steps), dtype = widened_together(x, *spacing)
    single = isinstance(dim, int)
    axes = normalised_axes(dim, x.ndim)
    if dim is not None:
        given = [dim] if isinstance(dim, int) else dim
        axes = tuple(normalised_axis(axis, x.ndim) for axis in given)
    if edge_order not in (1, 2):
        raise at_line(ValueError(f"gradient: edge_order is {shown(edge_order)}, expected 1 or 2"))
    for step in spacing:
        FINITE.check("gradient", spacing=step)
        if isinstance(step, int | float) and step == 0:
            raise at_line(ValueError(f"gradient: spacing is {step}, expected another number"))
    steps = steps or [_core.full((), 1, x.dtype)]
    if len(steps) == 1 and steps[0].ndim == 0:
        steps *= len(axes)
    if len(steps) != len(axes):
        raise at_line(
            ValueError(f"gradient: given {len(steps)} spacings for {len(axes)} dimensions")
        )
    slopes = [
        _slopes(x, axis, step, edge_order).cast(dtype)
        for axis, step in zip(axes, steps, strict=True)
    ]
    return slopes[0] if len(slopes) == 1 and (single or x.ndim == 1) else slopes


def _along(vector: Var, x: Var, axis: int) -> Var:
    return vector.reshape([-1 if k == axis else 1 for k in range(x.ndim)])


def _padded(x: Var, axis: int, before: int, after: int) -> Var:
    low, high = [0] * x.ndim, [0] * x.ndim
    low[axis], high[axis] = before, after
    return _core.pad(x, low, high, 0)


def _slopes(x: Var, axis: int, step: Var, edge_order: int) -> Var:
    extent = x.shape[axis]
    if extent <= edge_order:
        raise at_line(
            ValueError(
                f"gradient: dimension {axis} of shape {x.shape} has too few samples, expected"
                f" {edge_order + 1} or more"
            )
        )
    if step.ndim > 1 or (step.ndim == 1 and step.shape[0] != extent):
        raise at_line(
            ValueError(
                f"gradient: a spacing has shape {step.shape}, expected a number or the"
                f" {extent} coordinates along dimension {axis}"
            )
        )
    if step.ndim == 0:
        widths = step.broadcast((extent - 1,))
    else:
        widths = step[1:] - step[:-1]
    widths = _along(widths, x, axis)
    ahead, behind = _part(x, axis, 1, None), _part(x, axis, None, -1)
    between = (ahead - behind) / widths
    left, right = _padded(between, axis, 1, 0), _padded(between, axis, 0, 1)
    before, after = _padded(widths, axis, 1, 0), _padded(widths, axis, 0, 1)
    place = _along(_core.iota((extent,), 0), x, axis)
    at_edge = (place == 0) | (place == extent - 1)
    # Of even spacings the sample itself has no part, whatever it is.
    ahead, behind = _padded(ahead, axis, 0, 1), _padded(behind, axis, 1, 0)
    inside = (ahead - behind) / (before + after)
    if step.ndim:
        before, after = where(at_edge, 1, before), where(at_edge, 1, after)
        own = x * ((after - before) / (before * after))
        ahead, behind = ahead * (before / after), behind * (after / before)
        uneven = (ahead - behind) / (before + after) + own
        inside = where((widths == _part(widths, axis, 0, 1)).all(), inside, uneven)
    # Outside there is nothing: at an edge one of the two slopes is 0.
    slopes = where(at_edge, left + right, inside)
    return slopes if edge_order == 1 else slopes + _bend(between, widths, axis, extent)


def _bend(between: Var, widths: Var, axis: int, extent: int) -> Var:
    """Return what a parabola adds at both ends to the slope of the last two samples."""

    def end(outer: tuple[int | None, int | None], inner: tuple[int | None, int | None]) -> Var:
        width, other = _part(widths, axis, *outer), _part(widths, axis, *inner)
        change = _part(between, axis, *outer) - _part(between, axis, *inner)
        return change * (width / (width + other))

    first = _padded(end((0, 1), (1, 2)), axis, 0, extent - 1)
    last = _padded(end((extent - 2, None), (extent - 3, extent - 2)), axis, extent - 1, 0)
    return first + last


def trapezoid(y: VarLike, x: VarLike | None = None, dx: float = 1.0, dim: int = -1) -> Var:
    """Return the area under samples of a function, by the trapezoidal rule.

    A float of the type to which y and x are promoted, computed in float32 of halves;
    integers give float32.

    Parameters
    ----------
    y
        The samples, along one dimension.
    x
        Their coordinates: of y's shape, or those along the dimension only.
    dx
        Their distance, where x is not given.
    dim
        The dimension.

    Raises
    ------
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    FINITE.check("trapezoid", dx=dx)
    areas, axis, dtype = trapezoids("trapezoid", y, x, dx, dim)
    return areas.sum(axis).cast(dtype)


def trapezoids(
    name: str, y: VarLike, x: VarLike | None, dx: float, dim: int
) -> tuple[Var, int, str]:
    """Return the areas between samples, the dimension they are along, and a result's dtype.

    Raises
    ------
    ValueError
        If `dim` is out of range or the shapes do not fit. The message begins with `name`.
    """
    if x is None:
        y, dtype = widened(y)
    else:
        (y, x), dtype = widened_together(y, x)
    axis = normalised_axis(dim, y.ndim)
    sums = _part(y, axis, 1, None) + _part(y, axis, None, -1)
    if x is None:
        return sums * (0.5 * dx), axis, dtype
    if x.ndim == 1 and x.shape[0] == y.shape[axis]:
        x = _along(x, y, axis)
    elif x.shape != y.shape:
        raise at_line(
            ValueError(f"{name}: x has shape {x.shape}, which does not fit y's, {y.shape}")
        )
    return sums * (_part(x, axis, 1, None) - _part(x, axis, None, -1)) * 0.5, axis, dtype


def _on_line(x: Var, start: Var, first: Var, end: Var, second: Var) -> Var:
    """Return the values at x of lines through two points, without rounding at the points.

    Of an infinite value at one end the line is infinite up to the other end.
    """
    behind, ahead, run = x - start, end - x, end - start
    is_first, is_second = behind == 0, ahead == 0
    # From a point on whose value is finite, of two such from the nearer one.
    is_before = isinf(second) | (isfinite(first) & (behind <= ahead))
    by_first = is_first | (logical_not(is_second) & is_before)
    rise = second - first
    is_level = is_first | is_second | (first == second)
    rise = where(is_level & logical_not(isfinite(rise)), 0, rise)
    slope = rise / where(run == 0, 1, run)
    return where(by_first, first + slope * behind, second - slope * ahead)


def interp(
    x: VarLike,
    xp: VarLike,
    fp: VarLike,
    left: VarLike | None = None,
    right: VarLike | None = None,
) -> Var:
    """Return the values at x of the line through points, as ``numpy.interp``.

    Parameters
    ----------
    x
        Where, any shape.
    xp, fp
        The points' coordinates, which rise, and values, of one dimension.
    left, right
        The values before the first point and behind the last, by default theirs.

    Returns
    -------
    Var
        x's shape, a float of the type to which x and the points are promoted, float32 of
        integers. NaN for NaN.

    Raises
    ------
    ValueError
        If there is no point, or xp and fp have other shapes.
    """
    points, values = as_var(xp), as_var(fp)
    if points.ndim != 1 or points.shape != values.shape or points.size == 0:
        raise at_line(
            ValueError(
                f"interp: xp and fp have shapes {points.shape} and {values.shape}, expected one"
                " dimension and equal extents above 0"
            )
        )
    (x, points, values), dtype = widened_together(x, points, values)
    last = points.size - 1
    low = count_below(points, x.detach(), or_equal=True) - 1
    low = where(low < 0, 0, where(low >= last, max(last - 1, 0), low))
    high = low + 1 if last else low
    result = _on_line(x, *(read(tensor, k) for k in (low, high) for tensor in (points, values)))
    below = values[0] if left is None else beside(left, values).cast(values.dtype)
    above = values[last] if right is None else beside(right, values).cast(values.dtype)
    result = where(x < points[0], below, where(x > points[last], above, result))
    return where(x != x, x, result).cast(dtype)
