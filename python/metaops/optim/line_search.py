# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Line searches for the strong Wolfe conditions.

Nocedal and Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6: a step is long
enough where the slope has become flatter, and short enough where the loss has become less. A
bracket of such a step is found first, and then made narrower by cubic interpolation. Bounds
of steps are those of Schmidt's minFunc, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

__all__ = ["Point", "strong_wolfe"]

#: The parts of the first slope by which the loss has to fall, and that may be left of it.
_DECREASE, _CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """A place on the line.

    Attributes
    ----------
    step
        How far it is, in directions.
    loss
        The loss there.
    gradient
        Its gradient.
    slope
        Its derivative along the line.
    """

    step: float
    loss: float
    gradient: npt.NDArray[Any]
    slope: float


def _interpolate(first: Point, second: Point, least: float, most: float) -> float:
    """Return where the cubic through two points is least, between bounds.

    Nocedal and Wright, equation 3.59; where it has no least value, or numbers are too large for
    it, the middle of the bounds.
    """
    before, after = (first, second) if first.step <= second.step else (second, first)
    width = after.step - before.step
    if not width:
        return before.step
    d1 = before.slope + after.slope - 3 * (before.loss - after.loss) / (before.step - after.step)
    square = d1 * d1 - before.slope * after.slope
    if not 0 <= square < math.inf:
        return (least + most) / 2
    d2 = math.sqrt(square)
    divisor = after.slope - before.slope + 2 * d2
    if not divisor:
        return most
    place = after.step - width * ((after.slope + d2 - d1) / divisor)
    return min(max(place, least), most)


def strong_wolfe(
    at: Callable[[float], Point], start: Point, step: float, extent: float, most: int
) -> Point:
    """Return a point that meets the conditions, or the best that was found.

    Parameters
    ----------
    at
        Evaluates the loss after a step along the line.
    start
        The beginning of the line, where the slope is negative.
    step
        The step that is tried first.
    extent
        The least width of a bracket.
    most
        How often steps are tried beyond the first one, at most.
    """
    bracket, count = _find_bracket(at, start, step, most)
    if len(bracket) == 1:
        return bracket[0]
    return _zoom(at, start, bracket, extent, most, count)


def _is_high(point: Point, start: Point) -> bool:
    """Return whether the loss is higher than it may be."""
    return point.loss > start.loss + _DECREASE * point.step * start.slope


def _is_flat(point: Point, start: Point) -> bool:
    """Return whether the slope is flat enough."""
    return abs(point.slope) <= -_CURVATURE * start.slope


def _find_bracket(
    at: Callable[[float], Point], start: Point, step: float, most: int
) -> tuple[list[Point], int]:
    """Return two points with such a step between them, or one that is it.

    Returns
    -------
    The points, and how many more than one were tried.
    """
    before, point = start, at(step)
    for count in range(most):
        if _is_high(point, start) or (count > 1 and point.loss >= before.loss):
            return [before, point], count
        if _is_flat(point, start):
            return [point], count
        if point.slope >= 0:
            return [before, point], count
        least = point.step + 0.01 * (point.step - before.step)
        step = _interpolate(before, point, least, 10 * point.step)
        before, point = point, at(step)
    return [start, point], most


def _zoom(
    at: Callable[[float], Point],
    start: Point,
    bracket: list[Point],
    extent: float,
    most: int,
    count: int,
) -> Point:
    """Make a bracket narrower until one of its ends is such a step."""
    low, high = sorted(bracket, key=lambda point: point.loss)
    is_stuck = False
    while count < most and abs(high.step - low.step) >= extent:
        ends = sorted((low.step, high.step))
        step = _interpolate(low, high, *ends)
        margin = 0.1 * (ends[1] - ends[0])
        is_near = min(ends[1] - step, step - ends[0]) < margin
        if is_near and (is_stuck or not ends[0] < step < ends[1]):
            is_upper = abs(step - ends[1]) < abs(step - ends[0])
            step = ends[1] - margin if is_upper else ends[0] + margin
            is_near = False
        is_stuck = is_near
        point = at(step)
        count += 1
        if _is_high(point, start) or point.loss >= low.loss:
            low, high = sorted((low, point), key=lambda each: each.loss)
            continue
        if _is_flat(point, start):
            return point
        if point.slope * (high.step - low.step) >= 0:
            high = low
        low = point
    return low
