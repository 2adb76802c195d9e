# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gamma distribution, and those made of gamma numbers.

No gradient flows to what decides a rejection: `alpha`, `beta` and `df`. It flows to
`scale` and `loc`.

References
----------
G. Marsaglia, W. Tsang, "A simple method for generating gamma variables" (ACM
Transactions on Mathematical Software, 2000). It takes a normal number and refuses at
most one of twenty. All rounds are done at once, and the first that is not refused is
taken: 8 of them in float32, of which none is left with a probability below 4e-11, and
10 in float64, below 1e-13. Then the number is that of a normal number 0.
"""

from __future__ import annotations

import math

from .. import _core
from .._core import Var
from .._devices import makes_arrays
from .._domains import POSITIVE_FINITE
from .._errors import at_line
from .._typing import DType, Shape, VarLike, as_var
from ..ops.elementwise.activations import sigmoid, softmax
from ..ops.elementwise.elementwise import abs, where
from ..ops.elementwise.functions import exp, log, sqrt
from ._parameters import float_types, parameter
from .distributions import standard_exponential
from .keys import Key, Source, shape_of
from .sampling import standard_normal

__all__ = ["beta", "chisquare", "dirichlet", "gamma", "student_t"]

_TRIES = {"float32": 8, "float64": 10}
#: Above all candidates of a round, which are numbered by what is above these bits.
_ROUND = 2**57


def first_accepted(accepted: Var, candidates: Var, otherwise: Var | int) -> Var:
    """Return the first candidate along the last dimension that is accepted.

    Candidates are integers below 2**56 in magnitude, at most 31. Each gets the number
    of its round in its upper bits, so one minimum finds the first, and no candidate is
    in memory.
    """
    rounds = _core.iota(accepted.shape, accepted.ndim - 1, "int64")
    numbered = rounds * _ROUND + (candidates + _ROUND // 2)
    least = where(accepted, numbered, 2**62 + _ROUND).min(-1)
    return where(least < 2**62, least % _ROUND - _ROUND // 2, otherwise)


def _log_excess(y: Var, wide: str) -> Var:
    """Return ``log(1 + y) - y + y**2 / 2 - y**3 / 3``, small where y is."""
    direct = log(1.0 + y) - y * (1.0 - y * (0.5 - y / 3.0))
    # Of small y the difference would lose its digits, and the series ends soon.
    series = y * (-1.0 / 12.0) + 1.0 / 11.0
    for order in range(10, 3, -1):
        series = series * y - (-1.0) ** order / order
    small = 0.2 if wide == "float32" else 0.02
    return where(abs(y) < small, series * y * y * y * y, direct)


def _gamma_root(
    source: Source, shape: Shape, alpha: Var | float, wide: str
) -> tuple[Var | float, Var]:
    """Return d and v: ``d * v`` is a gamma number of alpha, 1 or more."""
    tries = (*shape, _TRIES[wide])
    d = alpha - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d) if isinstance(d, Var) else 1.0 / math.sqrt(9.0 * d)
    # As fixed-point numbers, normal ones stay within 52 bits.
    unit = 2.0**26 if wide == "float32" else 2.0**48
    drawn = (standard_normal(source, tries, wide) * unit).round()
    y = _of_each_try(c) * (drawn / unit)
    inside = y > -1.0
    # d - d * v + d * log(v) + x**2 / 2, of which all large terms cancel.
    bound = _of_each_try(3.0 * d) * _log_excess(where(inside, y, 0.0), wide)
    u = 1.0 - source.uniform(tries, wide)
    accepted = inside & (log(u) < bound)
    chosen = first_accepted(accepted, drawn.cast("int64"), 0).cast(wide) / unit
    root = 1.0 + c * chosen
    return d, root * root * root


def _of_each_try(value: Var | float) -> Var | float:
    return value.reshape((*value.shape, 1)) if isinstance(value, Var) else value


def log_gamma_numbers(source: Source, shape: Shape, alpha: Var | float, wide: str) -> Var:
    """Return logarithms of gamma numbers; of a small alpha they are far below 0."""
    raised, boost = _boosted(source, shape, alpha, wide)
    d, v = _gamma_root(source, shape, raised, wide)
    return (log(d * v) - boost).detach()


def gamma_numbers(source: Source, shape: Shape, alpha: Var | float, wide: str) -> Var:
    """Return gamma numbers of scale 1."""
    raised, boost = _boosted(source, shape, alpha, wide)
    d, v = _gamma_root(source, shape, raised, wide)
    numbers = d * v
    return (numbers if isinstance(boost, float) else numbers * exp(-boost)).detach()


def _boosted(
    source: Source, shape: Shape, alpha: Var | float, wide: str
) -> tuple[Var | float, Var | float]:
    """Return an alpha of 1 or more, and what to take from the number's logarithm.

    A gamma number of alpha is one of alpha + 1 times a uniform one to the power 1 /
    alpha, which is the exponential of an exponential number less.
    """
    if isinstance(alpha, float) and alpha >= 1.0:
        return alpha, 0.0
    factor = standard_exponential(source, shape, wide) / alpha
    if isinstance(alpha, float):
        return alpha + 1.0, factor
    is_small = alpha < 1.0
    return where(is_small, alpha + 1.0, alpha), where(is_small, factor, 0.0)


@makes_arrays
def gamma(
    shape: Shape,
    alpha: VarLike,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return gamma numbers of density ``x**(alpha - 1) * exp(-x / scale)``.

    Raises
    ------
    ValueError
        If a parameter is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("gamma", dtype)
    power = parameter("gamma", "alpha", alpha, shape, wide, positive=True)
    factor = parameter("gamma", "scale", scale, shape, wide, positive=True)
    return (gamma_numbers(Source(key), shape, power, wide) * factor).cast(result)


@makes_arrays
def chisquare(
    shape: Shape,
    df: VarLike,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return sums of squares of `df` normal numbers; `df` need be no integer.

    Raises
    ------
    ValueError
        If `df` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("chisquare", dtype)
    freedom = parameter("chisquare", "df", df, shape, wide, positive=True)
    return (gamma_numbers(Source(key), shape, freedom * 0.5, wide) * 2.0).cast(result)


@makes_arrays
def student_t(
    shape: Shape,
    df: VarLike,
    loc: VarLike = 0.0,
    scale: VarLike = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return Student's numbers: normal ones over the root of a mean of `df` squares.

    Raises
    ------
    ValueError
        If `df` or `scale` is not positive.
    """
    shape, (result, wide) = shape_of(shape), float_types("student_t", dtype)
    freedom = parameter("student_t", "df", df, shape, wide, positive=True)
    centre = parameter("student_t", "loc", loc, shape, wide)
    factor = parameter("student_t", "scale", scale, shape, wide, positive=True)
    source = Source(key)
    half = freedom * 0.5
    below = log_gamma_numbers(source, shape, half, wide)
    ratio = exp(0.5 * (log(as_var(half).cast(wide).detach()) - below))
    return (centre + factor * (standard_normal(source, shape, wide) * ratio)).cast(result)


@makes_arrays
def beta(
    shape: Shape,
    alpha: VarLike,
    beta: VarLike,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return beta numbers of density ``x**(alpha - 1) * (1 - x)**(beta - 1)``.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Notes
    -----
    The share of one gamma number in two, of their logarithms: of small parameters the
    numbers themselves would be 0.
    """
    shape, (result, wide) = shape_of(shape), float_types("beta", dtype)
    first = parameter("beta", "alpha", alpha, shape, wide, positive=True)
    second = parameter("beta", "beta", beta, shape, wide, positive=True)
    source = Source(key)
    left = log_gamma_numbers(source, shape, first, wide)
    right = log_gamma_numbers(source, shape, second, wide)
    return sigmoid(left - right).cast(result)


@makes_arrays
def dirichlet(
    shape: Shape,
    alpha: VarLike,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return shares that add up to 1 along a new last dimension.

    Parameters
    ----------
    shape
        Of the result but for its last dimension.
    alpha
        A positive number for each share, of one dimension.
    dtype
        Of the result.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If `alpha` has another rank.
    """
    shape, (result, wide) = shape_of(shape), float_types("dirichlet", dtype)
    POSITIVE_FINITE.check("dirichlet", alpha=alpha)
    powers = as_var(alpha)
    if powers.ndim != 1 or powers.size == 0:
        raise at_line(
            ValueError(
                f"dirichlet: alpha has shape {powers.shape}, expected one dimension and elements"
            )
        )
    extents = (*shape, powers.size)
    power = parameter("dirichlet", "alpha", powers, extents, wide, positive=True)
    return softmax(log_gamma_numbers(Source(key), extents, power, wide), -1).cast(result)
