# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuous distributions, as functions of one or two uniform numbers.

Parameters are numbers or Vars that broadcast to the shape. Gradients flow to them.
float64 has 53 random bits; so have the tails of float32. Halves are computed in
float32. Numbers depend on `metaops.seed`, or on ``key=``.
"""

from __future__ import annotations

import math

from .._core import Var
from .._devices import makes_arrays
from .._domains import DEVIATION, NUMBER, check_rising
from .._errors import at_line
from .._typing import DType, Shape, VarLike, as_var, shown
from ..ops.elementwise._normal import normal_probability, normal_quantile
from ..ops.elementwise.elementwise import clip, isinf, where
from ..ops.elementwise.functions import cos, exp, log, sin, sqrt, tanh
from ._parameters import float_types, parameter
from .keys import Key, Source, shape_of
from .sampling import standard_normal

__all__ = [
    "cauchy",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "pareto",
    "rayleigh",
    "triangular",
    "truncated_normal",
    "weibull",
]


def standard_exponential(source: Source, shape: Shape, wide: str) -> Var:
    """Return exponential numbers of mean 1, not 0.

    Small ones have all digits of the type, as a number of 53 bits has that is small.
    """
    u = source.uniform(shape, "float64")
    rest = (1.0 - u).cast(wide)
    u = where(u == 0, 2.0**-54, u).cast(wide)
    if wide == "float64":
        return where(u < 2.0**-27, u, -log(rest))
    series = u * (1.0 + u * (0.5 + u * (1.0 / 3.0 + u * 0.25)))
    return where(u < 2.0**-6, series, -log(rest))


def _expm1(x: Var) -> Var:
    """Return ``exp(x) - 1`` of numbers that are not negative, small ones exactly."""
    half = tanh(x * 0.5)
    return where(x < 1.0, 2.0 * half / (1.0 - half), exp(x) - 1.0)


@makes_arrays
def exponential(
    shape: Shape,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return exponentially distributed numbers of mean `scale`.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("exponential", dtype)
    factor = parameter("exponential", "scale", scale, shape, wide, positive=True)
    return (standard_exponential(Source(key), shape, wide) * factor).cast(result)


@makes_arrays
def weibull(
    shape: Shape,
    alpha: VarLike,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Weibull's numbers: exponential ones to the power ``1 / alpha``.

    Raises
    ------
    ValueError
        If a parameter is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("weibull", dtype)
    power = parameter("weibull", "alpha", alpha, shape, wide, positive=True)
    factor = parameter("weibull", "scale", scale, shape, wide, positive=True)
    numbers = standard_exponential(Source(key), shape, wide)
    return (exp(log(numbers) / power) * factor).cast(result)


@makes_arrays
def rayleigh(
    shape: Shape,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return the lengths of vectors of two normal numbers of deviation `scale`.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("rayleigh", dtype)
    factor = parameter("rayleigh", "scale", scale, shape, wide, positive=True)
    return (sqrt(2.0 * standard_exponential(Source(key), shape, wide)) * factor).cast(result)


@makes_arrays
def pareto(
    shape: Shape,
    alpha: VarLike,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Pareto's numbers of the second kind (Lomax), as ``numpy``'s: from 0 on.

    With 1 added they are of the first kind, from 1 on.

    Raises
    ------
    ValueError
        If `alpha` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("pareto", dtype)
    power = parameter("pareto", "alpha", alpha, shape, wide, positive=True)
    return _expm1(standard_exponential(Source(key), shape, wide) / power).cast(result)


@makes_arrays
def gumbel(
    shape: Shape,
    loc: VarLike = 0.0,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Gumbel's numbers: less logarithms of exponential ones.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("gumbel", dtype)
    centre = parameter("gumbel", "loc", loc, shape, wide)
    factor = parameter("gumbel", "scale", scale, shape, wide, positive=True)
    numbers = -log(standard_exponential(Source(key), shape, wide))
    return (centre + factor * numbers).cast(result)


def _sides(source: Source, shape: Shape, wide: str) -> tuple[Var, Var]:
    """Return whether a uniform number is above a half, and the share beyond it.

    The share is in (0, 1/2], and small ones have all digits of the type.
    """
    u = source.uniform(shape, "float64")
    upper = u >= 0.5
    return upper, where(upper, 1.0 - u, where(u == 0, 2.0**-54, u)).cast(wide)


@makes_arrays
def laplace(
    shape: Shape,
    loc: VarLike = 0.0,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Laplace's numbers: exponential ones to both sides of `loc`.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("laplace", dtype)
    centre = parameter("laplace", "loc", loc, shape, wide)
    factor = parameter("laplace", "scale", scale, shape, wide, positive=True)
    upper, share = _sides(Source(key), shape, wide)
    size = -log(2.0 * share)
    return (centre + factor * where(upper, size, -size)).cast(result)


@makes_arrays
def logistic(
    shape: Shape,
    loc: VarLike = 0.0,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return numbers whose share below x is the sigmoid of ``(x - loc) / scale``.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("logistic", dtype)
    centre = parameter("logistic", "loc", loc, shape, wide)
    factor = parameter("logistic", "scale", scale, shape, wide, positive=True)
    upper, share = _sides(Source(key), shape, wide)
    size = log((1.0 - share) / share)
    return (centre + factor * where(upper, size, -size)).cast(result)


@makes_arrays
def cauchy(
    shape: Shape,
    loc: VarLike = 0.0,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Cauchy's numbers: tangents of uniform angles.

    Raises
    ------
    ValueError
        If `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("cauchy", dtype)
    centre = parameter("cauchy", "loc", loc, shape, wide)
    factor = parameter("cauchy", "scale", scale, shape, wide, positive=True)
    upper, share = _sides(Source(key), shape, wide)
    angle = math.pi * share
    # The angle at the pole is small, and exact; at a half the cosine is 0.
    size = cos(angle) / sin(angle)
    return (centre + factor * where(upper, size, -size)).cast(result)


@makes_arrays
def lognormal(
    shape: Shape,
    mean: VarLike = 0.0,
    std: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return exponentials of normal numbers of that mean and deviation.

    Raises
    ------
    ValueError
        If `mean` or `std` is not finite, or `std` is negative.
    """
    shape, (result, wide) = shape_of(shape), float_types("lognormal", dtype)
    centre = parameter("lognormal", "mean", mean, shape, wide)
    width = parameter("lognormal", "std", std, shape, wide, domain=DEVIATION)
    return exp(centre + width * standard_normal(Source(key), shape, wide)).cast(result)


@makes_arrays
def triangular(
    shape: Shape,
    low: VarLike,
    mode: VarLike,
    high: VarLike,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return numbers whose density rises from `low` to `mode` and falls to `high`.

    Raises
    ------
    ValueError
        If three numbers do not rise, or `low` and `high` are equal.
    """
    shape, (result, wide) = shape_of(shape), float_types("triangular", dtype)
    left, top, right = (
        parameter("triangular", what, value, shape, wide)
        for what, value in (("low", low), ("mode", mode), ("high", high))
    )
    numbers = [value for value in (left, top, right) if isinstance(value, float)]
    if numbers != sorted(numbers) or (len(numbers) == 3 and left == right):
        raise at_line(
            ValueError(f"triangular: given {shown((low, mode, high))}, expected rising numbers")
        )
    check_rising("triangular", low=low, mode=mode, high=high)
    check_rising("triangular", low=low, high=high)
    u = Source(key).uniform(shape, wide)
    width, rise, fall = right - left, top - left, right - top
    is_rising = u * width < rise
    # Roots of numbers that are not 0: what has no slope is of no length.
    way = sqrt(as_var(width)) * sqrt(where(is_rising, rise, fall))
    up, down = left + sqrt(u) * way, right - sqrt(1.0 - u) * way
    return where(is_rising, up, down).cast(result)


def _standardised(bound: Var | float, centre: Var | float, width: Var | float) -> Var:
    """Return how many deviations a bound is from the mean; none move an infinite one."""
    given = as_var(bound).cast("float64")
    finite = where(isinf(given), 0.0, given)
    return where(isinf(given), given, (finite - centre) / width)


@makes_arrays
def truncated_normal(
    shape: Shape,
    low: VarLike,
    high: VarLike,
    mean: VarLike = 0.0,
    std: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return normal numbers of that mean and deviation, of those in [low, high].

    Parameters
    ----------
    shape
        Of the result.
    low, high
        The bounds. Where both lie on one side, more than 7 deviations from the mean,
        the shares that they cut off are not told from each other well.
    mean, std
        Of the normal distribution before it is cut.
    dtype
        Of the result.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If `std` is not positive, or numbers `low` and `high` do not rise.

    Notes
    -----
    The inverse of the normal distribution's function at a uniform number between its
    values at the bounds, computed in float64.
    """
    shape, (result, _) = shape_of(shape), float_types("truncated_normal", dtype)
    wide = "float64"
    centre = parameter("truncated_normal", "mean", mean, shape, wide)
    width = parameter("truncated_normal", "std", std, shape, wide, positive=True)
    first, last = (
        parameter("truncated_normal", what, bound, shape, wide, domain=NUMBER)
        for what, bound in (("low", low), ("high", high))
    )
    if isinstance(first, float) and isinstance(last, float) and not first < last:
        raise at_line(
            ValueError(f"truncated_normal: the bounds are {first} and {last}, expected to rise")
        )
    check_rising("truncated_normal", low=low, high=high)
    left, right = (_standardised(bound, centre, width) for bound in (first, last))
    # Shares of the lower tail are told better: where the bounds are above, their
    # mirror images are taken.
    above = left > 0.0
    near, far = where(above, -right, left), where(above, -left, right)
    share, end = normal_probability(near), normal_probability(far)
    u = Source(key).uniform(shape, wide)
    x = normal_quantile(share + (end - share) * u)
    x = centre + width * where(above, -x, x)
    return clip(x, first, last).cast(result)
