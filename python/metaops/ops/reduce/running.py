# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes along a dimension that are added up again."""

from __future__ import annotations

import math

from ..._core import Var
from ..._domains import FINITE, NOT_NEGATIVE, POSITIVE_FINITE
from ..._typing import VarLike, as_number, as_var, normalised_axis, widened
from ..elementwise.elementwise import abs, mod, where
from ..shape.stacking import concat
from ..signal.differences import _part, diff, trapezoids
from .cumulative import cumsum

__all__ = ["cumulative_trapezoid", "unwrap"]


def cumulative_trapezoid(
    y: VarLike, x: VarLike | None = None, dx: float = 1.0, dim: int = -1
) -> Var:
    """Return the areas under samples of a function up to each but the first.

    Parameters
    ----------
    y, x, dx, dim
        As of `metaops.trapezoid`.

    Returns
    -------
    Var
        y's shape, the extent along the dimension one less; floats as of
        `metaops.trapezoid`.

    Raises
    ------
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    FINITE.check("cumulative_trapezoid", dx=dx)
    areas, axis, dtype = trapezoids("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, axis).cast(dtype)


def unwrap(
    x: VarLike, discont: float | None = None, dim: int = -1, *, period: float = 2.0 * math.pi
) -> Var:
    """Return x with multiples of a period added, so that it has no jumps.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Numbers that are known up to multiples of the period, such as angles.
    discont
        Smaller changes than this stay; by default, and at least, half the period.
    dim
        The dimension.
    period
        What x is known up to. With integers, it has to be one for the result to be.

    Raises
    ------
    ValueError
        If `dim` is out of range, the period is not positive, or `discont` negative.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    period = as_number("unwrap", "period", period)
    POSITIVE_FINITE.check("unwrap", period=period)
    if discont is not None:
        NOT_NEGATIVE.check("unwrap", discont=discont)
    is_integral = "float" not in x.dtype and isinstance(period, int)
    x, dtype = (x, x.dtype) if is_integral else widened(x)
    if x.shape[axis] < 2:
        return +x.cast(dtype)
    change = diff(x, dim=axis)
    half = period // 2 if is_integral else period / 2
    low = -half
    rest = mod(change - low, period) + low
    # Half a period up stays half a period up, where the period has halves.
    if not (is_integral and period % 2):
        rest = where((rest == low) & (change > 0), rest + period, rest)
    correction = rest - change
    least = half if discont is None else as_number("unwrap", "discont", discont)
    correction = where(abs(change) < least, 0, correction)
    moved = _part(x, axis, 1, None) + cumsum(correction, axis).cast(x.dtype)
    return concat([_part(x, axis, 0, 1), moved], axis).cast(dtype)
