# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What normalisations share: moments, and what is done with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..ops.elementwise.elementwise import where
from ..ops.reduce._squares import unit_of

__all__: list[str] = []


#: Of float32 and float64: the least exponent of an epsilon beside which what is lost of a
#: mean square, even all squares that are no normal numbers, does not count.
_LEAST_EXPONENTS = {"float32": -97, "float64": -900}


def small_squares(
    x: Var, axes: tuple[int, ...], eps: float, keepdims: bool = True
) -> tuple[Var, float]:
    """Return the sum of squares along axes times a factor, and that.

    The latter is a power of four, by which no digit changes, and as small as it may be
    beside `eps`: so the sum does not overflow.
    """
    spare = math.frexp(eps)[1] - _LEAST_EXPONENTS[x.dtype] if eps > 0 else 0
    factor = 0.5 ** max(spare // 2, 0)
    small = x * factor
    return (small * small).sum(axes, keepdims), factor**2


class Moments(NamedTuple):
    """What differs from a mean, that, and the former's squares as of `small_squares`."""

    distance: Var
    mean: Var
    squares: Var
    factor: float


def moments(x: Var, axes: tuple[int, ...], eps: float) -> Moments:
    """Return the moments of x along axes, whose extents are 1."""
    distance, mean = centred(x, axes)
    return Moments(distance, mean, *small_squares(distance, axes, eps))


def moments_of_batch(x: Var, axes: tuple[int, ...], eps: float) -> Moments:
    """Return the same where axes are more than a cache holds.

    The gradient of the squares by the mean is a sum of what differs from it: 0, for which
    there would be one more pass over all. So squares are of what differs from a number
    near the mean, corrected by what is left of the mean, and that number is a constant, for
    no moment depends on it.

    Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, section 3.
    """
    near = x.mean(axes, True).detach()
    offset = x - near
    rest = offset.mean(axes, True)
    squares, factor = small_squares(offset, axes, eps)
    count = math.prod(x.shape[axis] for axis in axes)
    squares = squares - rest * rest * (factor * count)
    # Of equal numbers, rounding may leave less than nothing.
    squares = where(squares < 0, 0.0, squares)
    mean = near + rest
    return Moments(x - mean, mean, squares, factor)


def centred(x: Var, axes: Sequence[int]) -> tuple[Var, Var]:
    """Return x less its mean, whose square is the variance, and the mean; extents are 1.

    The mean of squares less the squared mean would need one pass, but loses all digits
    where the mean is large beside the deviation.
    """
    mean = x.mean(axes, True)
    return x - mean, mean


def inverse_deviation(squares: Var, factor: float, count: int, eps: float) -> Var:
    """Return one over the root of a mean square and `eps`, of what `small_squares` gives.

    There is one division for each sum, not for each element, and none by the count.
    """
    return math.sqrt(factor * count) / (squares + eps * factor * count).sqrt()


def brought_near_one(x: Var, axes: tuple[int, ...], eps: float) -> Var:
    """Return x, or with an `eps` of 0 x divided by a power of two near its largest number.

    What is divided by its own deviation stays the same.
    """
    return x if eps else x * (1.0 / unit_of(x, axes))


def scaled(
    x: Var,
    inverse: Var,
    weight: Var | None,
    bias: Var | None,
    shape: Sequence[int],
    dtype: str,
) -> Var:
    """Return x times one over its deviation, scaled and moved.

    `shape` is that under which weight and bias broadcast with x.
    """
    result = x * inverse
    if weight is not None:
        result = result * weight.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(shape)
    return result.cast(dtype)


def of_shape(name: str, what: str, value: VarLike | None, shape: tuple[int, ...]) -> Var | None:
    """Return a parameter as a Var, if there is one."""
    if value is None:
        return None
    value = as_var(value)
    if value.shape != shape:
        raise at_line(ValueError(f"{name}: {what} has shape {value.shape}, expected {shape}"))
    return value


def with_channels(name: str, x: VarLike, least: int) -> Var:
    """Return x as a Var of ``(N, C, ...)``.

    Raises
    ------
    ValueError
        If it has fewer than `least` dimensions. The message begins with `name`.
    """
    x = as_var(x)
    if x.ndim < least:
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape}, expected (N, C, ...) with at least {least}"
                " dimensions"
            )
        )
    return x
