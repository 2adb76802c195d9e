# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of normalisations: squares beside an epsilon, division by a deviation, scale and bias."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..ops.reduce._moments import Moments
from ..ops.reduce._squares import unit_of

__all__: list[str] = []


#: Of float32 and float64: the least exponent of an epsilon beside which what is lost of a
#: mean square, even all squares that are no normal numbers, does not count.
_LEAST_EXPONENTS = {"float32": -97, "float64": -900}


def root_of_factor(x: Var, eps: float) -> float:
    """Return a power of two by which x is multiplied before it is squared.

    No digit changes by it. It is as small as it may be beside `eps`: so the sum of squares
    does not overflow.
    """
    spare = math.frexp(eps)[1] - _LEAST_EXPONENTS[x.dtype] if eps > 0 else 0
    return 0.5 ** max(spare // 2, 0)


def small_squares(
    x: Var, axes: tuple[int, ...], eps: float, keepdims: bool = True
) -> tuple[Var, float]:
    """Return the sum of squares along axes times a factor beside `eps`, and that."""
    root = root_of_factor(x, eps)
    small = x * root
    return (small * small).sum(axes, keepdims), root * root


def inverse_deviation(squares: Var, factor: float, count: int, eps: float) -> Var:
    """Return one over the root of a mean square and `eps`, of a sum of squares times a factor.

    There is one division for each sum, not for each element, and none by the count.
    """
    return math.sqrt(factor * count) / (squares + eps * factor * count).sqrt()


def divided_by_deviation(found: Moments, inverse: Var) -> Var:
    """Return what differs from the mean, times one over its deviation."""
    return found.offset * inverse - found.rest * inverse


def brought_near_one(x: Var, axes: tuple[int, ...], eps: float) -> Var:
    """Return x, or with an `eps` of 0 x divided by a power of two near its largest number.

    What is divided by its own deviation stays the same.
    """
    return x if eps else x * (1.0 / unit_of(x, axes))


def scaled(x: Var, weight: Var | None, bias: Var | None, shape: Sequence[int], dtype: str) -> Var:
    """Return x scaled and moved.

    `shape` is that under which weight and bias broadcast with x.
    """
    if weight is not None:
        x = x * weight.reshape(shape)
    if bias is not None:
        x = x + bias.reshape(shape)
    return x.cast(dtype)


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
