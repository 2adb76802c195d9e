# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discrete distributions of counts.

Where parameters are Python numbers, a table of the distribution's function is made
once and searched by a uniform number of 53 bits. Where they are Vars, numbers are
tried, see `poisson`, or trials are counted.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _core
from .._core import Var
from .._devices import makes_arrays
from .._domains import Domain
from .._errors import at_line
from .._typing import DType, Shape, VarLike, as_var, whole_number
from ..ops.elementwise.elementwise import abs, maximum, minimum, where
from ..ops.elementwise.functions import log
from ..ops.elementwise.rounding import floor
from ..ops.sort._search import read
from ._parameters import parameter, probability_of
from ._tables import binomial_table, poisson_table, searched
from .distributions import standard_exponential
from .gammas import first_accepted, gamma_numbers
from .keys import Key, Source, shape_of

__all__ = ["binomial", "geometric", "negative_binomial", "poisson"]

_RATES = Domain(0.0, 2.0**53, "0 to 2**53")
#: Up to this rate a table is made, of some ten thousand numbers at most.
_LARGEST_TABLED_RATE = 2**20
#: Up to this variance binomial numbers have a table, of some million numbers.
_LARGEST_VARIANCE = 2**32
#: Below this rate trials cannot be bounded well, and arrivals are thinned out.
_SMALLEST_TRIED_RATE = 10.0
#: Of a Poisson number of that rate, what is never exceeded: by less than 2**-57.
_MOST_ARRIVALS = 48
_TRIES = 24
#: Up to so many trials of a binomial number are made one by one.
_MOST_TRIALS = 4096


@makes_arrays
def poisson(
    shape: Shape,
    rate: VarLike,
    dtype: DType = "int64",
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return how often something happens that does so `rate` times on average.

    Parameters
    ----------
    shape
        Of the result.
    rate
        A number, or a Var that broadcasts to the shape; not negative.
    dtype
        Of the result.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If a number is not in [0, 2**53], or a Var does not broadcast.

    Notes
    -----
    A number up to 2**20 has a table. The rates of a Var below 10 are shares of the
    arrivals at rate 10. Larger ones are tried as W. Hörmann writes in "The transformed
    rejection method for generating Poisson random variables" (1993), PTRS: 24 trials at
    once refuse all with a probability below 3e-15. Then the number is the rate. The
    probabilities are computed in float64 for a float64, else in float32, where they are
    off by less than 1e-4 of them, and beyond 2**24 not every integer is met.
    """
    shape = shape_of(shape)
    given = _rate("poisson", rate, shape)
    source = Source(key)
    if isinstance(given, float) and given <= _LARGEST_TABLED_RATE:
        first, function = poisson_table(given)
        return (searched(source, shape, function).cast("int64") + first).cast(dtype)
    return _poisson(source, shape, given).cast(dtype)


def _rate(name: str, rate: VarLike, shape: Shape) -> Var | float:
    rate = float(rate) if isinstance(rate, int) else rate
    _RATES.check(name, rate=rate)
    wide = "float64"
    if not isinstance(rate, int | float):
        rate = as_var(rate)
        wide = "float64" if rate.dtype == "float64" else "float32"
    return parameter(name, "rate", rate, shape, wide, domain=_RATES)


def _poisson(source: Source, shape: Shape, rate: Var | float) -> Var:
    """Return Poisson numbers of rates that may differ."""
    if isinstance(rate, float):
        rate = _core.full((), rate, "float64")
    rate = rate.detach()
    tried = _tried_poisson(source, shape, where(rate < _SMALLEST_TRIED_RATE, 100.0, rate))
    thinned = _thinned_poisson(source, shape, rate)
    return where(rate < _SMALLEST_TRIED_RATE, thinned, tried)


def _thinned_poisson(source: Source, shape: Shape, rate: Var) -> Var:
    """Return how many of the arrivals at the rate 10 are kept, each with ``rate / 10``."""
    _, function = poisson_table(_SMALLEST_TRIED_RATE)
    arrivals = searched(source, shape, function)
    tries = (*shape, _MOST_ARRIVALS)
    number = _core.iota(tries, len(shape), "int32")
    share = rate.cast("float64") / _SMALLEST_TRIED_RATE
    kept = source.uniform(tries, "float64") < share.reshape((*share.shape, 1))
    return (kept & (number < arrivals.reshape((*arrivals.shape, 1)))).sum(-1)


def _tried_poisson(source: Source, shape: Shape, rate: Var) -> Var:
    wide = rate.dtype
    each = rate.reshape((*rate.shape, 1))
    b = 0.931 + 2.53 * each.sqrt()
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    tries = (*shape, _TRIES)
    u, v = source.uniform(tries, wide) - 0.5, 1.0 - source.uniform(tries, wide)
    beside = maximum(0.5 - abs(u), 2.0**-25)
    k = floor((2.0 * a / beside + b) * u + each + 0.43)
    possible = (k >= 0.0) & ((beside >= 0.013) | (v <= beside))
    at_once = (beside >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
    height = log(v * inverse_alpha / (a / (beside * beside) + b))
    accepted = possible & (at_once | (height <= _log_poisson(k, each)))
    mean = floor(rate).cast("int64").broadcast(shape)
    return first_accepted(accepted, where(possible, k, 0.0).cast("int64"), mean)


#: ``log(k!)`` less Stirling's ``log(sqrt(2 * pi * k) * (k / e)**k)``, from k = 1 on.
_STIRLING_ERRORS = [
    math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi)
    for k in range(1, 16)
]


def _log_poisson(k: Var, rate: Var) -> Var:
    """Return the logarithm of the probability of k, whose large terms cancel.

    As by C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
    """
    wide = rate.dtype
    some = maximum(k, 1.0)
    x = (some - rate) / rate
    square = 1.0 / (some * some)
    series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0))) / some
    table = _core.array(np.array(_STIRLING_ERRORS), wide)
    exact = read(table, (minimum(some, 15.0) - 1.0).cast("int32"))
    correction = where(some < 16.0, exact, series)
    result = -rate * _deviance(x, wide) - 0.5 * log(2.0 * math.pi * some) - correction
    return where(k < 1.0, -rate, result)


def _deviance(x: Var, wide: str) -> Var:
    """Return ``(1 + x) * log(1 + x) - x``, by its series where x is small."""
    last = 10 if wide == "float32" else 18
    series = x * _deviance_term(last) + _deviance_term(last - 1)
    for order in range(last - 2, 1, -1):
        series = series * x + _deviance_term(order)
    return where(abs(x) < 0.1, series * x * x, (1.0 + x) * log(1.0 + x) - x)


def _deviance_term(order: int) -> float:
    return (-1.0) ** order / (order * (order - 1))


@makes_arrays
def binomial(
    shape: Shape,
    n: int,
    probability: VarLike,
    dtype: DType = "int64",
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return how many of n trials succeed.

    Parameters
    ----------
    shape
        Of the result.
    n
        How many trials there are.
    probability
        That of a success: a number, or a Var that broadcasts to the shape. Of a Var,
        n is at most 4096, for the trials are made one by one.
    dtype
        Of the result.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If n is negative or too large, a number not in [0, 1], or a Var does not
        broadcast.
    TypeError
        If n is no integer.
    """
    shape, count = shape_of(shape), whole_number("binomial", "n", n)
    given = probability_of("binomial", probability, shape)
    source = Source(key)
    if isinstance(given, float):
        if count == 0 or given in (0.0, 1.0):
            return _core.full(shape, count if given == 1.0 else 0, dtype)
        if count * given * (1.0 - given) > _LARGEST_VARIANCE:
            raise at_line(
                ValueError(
                    f"binomial: n is {count} and probability {given}, expected a variance of at"
                    " most 2**32"
                )
            )
        first, function = binomial_table(count, given)
        return (searched(source, shape, function).cast("int64") + first).cast(dtype)
    if count > _MOST_TRIALS:
        raise at_line(
            ValueError(
                f"binomial: n is {count} with a Var of probabilities, expected at most"
                f" {_MOST_TRIALS}"
            )
        )
    succeeded = source.uniform((*shape, count), "float64") < given.reshape((*given.shape, 1))
    return succeeded.sum(-1).cast(dtype)


@makes_arrays
def geometric(
    shape: Shape,
    probability: VarLike,
    dtype: DType = "int64",
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return how many trials it takes to succeed, 1 or more.

    Parameters
    ----------
    shape
        Of the result.
    probability
        That of a success, in (0, 1]: a number, or a Var that broadcasts to the shape.
    dtype
        Of the result; what it cannot hold is its largest number.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If a number is not in (0, 1], or a Var does not broadcast.
    """
    shape = shape_of(shape)
    given = probability_of("geometric", probability, shape, may_be_none=False)
    if isinstance(given, float):
        failing = math.log1p(-given) if given < 1.0 else -math.inf
        waited = standard_exponential(Source(key), shape, "float64") * (-1.0 / failing)
    else:
        waited = standard_exponential(Source(key), shape, "float64") / -log(1.0 - given)
    return (floor(waited) + 1.0).cast(dtype)


@makes_arrays
def negative_binomial(
    shape: Shape,
    n: VarLike,
    probability: VarLike,
    dtype: DType = "int64",
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return how many trials fail before n succeed; n need be no integer.

    Poisson numbers of rates that are gamma numbers, computed in float64.

    Raises
    ------
    ValueError
        If n is not positive, a probability not in (0, 1], or a Var does not broadcast.
    """
    shape = shape_of(shape)
    successes = parameter("negative_binomial", "n", n, shape, "float64", positive=True)
    given = probability_of("negative_binomial", probability, shape, may_be_none=False)
    source = Source(key)
    rate = gamma_numbers(source, shape, successes, "float64") * ((1.0 - given) / given)
    return _poisson(source, shape, rate).cast(dtype)
