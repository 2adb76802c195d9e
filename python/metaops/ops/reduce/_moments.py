# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Means and squares of what differs from them, in two passes and all digits."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._core import Var
from ..elementwise.elementwise import maximum, where

__all__ = ["Moments", "moments", "moments_of_rows"]

#: The largest relative error of a product or a sum.
_ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}


class Moments(NamedTuple):
    """Moments along axes, whose extents are 1."""

    #: Differences from a number near the mean.
    offset: Var
    #: The mean of that.
    rest: Var
    mean: Var
    #: The sum of the squares of what differs from the mean, times the factor's square.
    squares: Var


def moments(x: Var, axes: tuple[int, ...], factor: float = 1.0) -> Moments:
    """Return the moments of floats, with the squares of what is multiplied by a power of two.

    The mean of squares less the squared mean would need one pass, but loses all digits
    where the mean is large beside the deviation. Here that is done with what differs from
    the mean as it was rounded, where it loses none, and corrects the rounding.

    No moment depends on the number near the mean, so it is a constant. With the mean in its
    place, the squares' gradient by it would be a sum over all, to find that it is 0.

    Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, section 3.
    """
    near = x.mean(axes, True).detach()
    offset = x - near
    rest = _mean(offset, axes)
    small = rest if factor == 1.0 else rest * factor
    lost = small * small * float(_count(x, axes))
    # Sums that overflow stay infinite.
    lost = where(lost < math.inf, lost, 0.0)
    squares = _sum_of_squares(offset, axes, factor) - lost
    # Of equal numbers, rounding may leave nothing, while it has left some distances. The
    # derivatives are those of the squares.
    least = lost * _ROUNDING[x.dtype] ** 2
    squares = squares + maximum(least - squares, 0.0).detach()
    return Moments(offset, rest, near, squares)


def moments_of_rows(x: Var, axes: tuple[int, ...], factor: float = 1.0) -> Moments:
    """Return the same of rows that a cache holds.

    There a sum is cheap, and what else is known of a row is dear, as it is computed again
    where columns are summed. So gradients are those of differences from the mean. The rest,
    which is 0 but for rounding, is a constant, and squares leave it out: they are too large
    by the square of the rounding error of the mean.
    """
    mean = x.mean(axes, True)
    offset = x - mean
    rest = _mean(offset, axes).detach()
    return Moments(offset, rest, mean, _sum_of_squares(offset, axes, factor))


def _count(x: Var, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def _mean(offset: Var, axes: tuple[int, ...]) -> Var:
    """Return a mean that is near 0, by a product for each sum."""
    return offset.sum(axes, True) * (1.0 / max(_count(offset, axes), 1))


def _sum_of_squares(offset: Var, axes: tuple[int, ...], factor: float) -> Var:
    small = offset if factor == 1.0 else offset * factor
    return (small * small).sum(axes, True)
