# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of the functions of discrete distributions, and random numbers by them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Var
from .._typing import Shape
from ..ops.sort._search import count_below
from .keys import Source

__all__ = ["binomial_table", "poisson_table", "searched"]

#: Beyond so many deviations from its mean a table ends, where less than 2**-60 is left.
_DEVIATIONS = 10


def _table(
    first: int, last: int, mode: int, ratio: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
) -> tuple[int, npt.NDArray[Any]]:
    """Return the first number and the distribution's function from it on.

    ``ratio(k)`` is the probability of k in proportion to that of ``k - 1``. They are
    multiplied from the most likely number to both sides, so that none overflows.
    """
    upwards = np.cumprod(ratio(np.arange(mode + 1, last + 1, dtype="float64")))
    downwards = np.cumprod(1.0 / ratio(np.arange(mode, first, -1, dtype="float64")))
    masses = np.concatenate([downwards[::-1], [1.0], upwards])
    function = np.cumsum(masses)
    return first, function / function[-1]


@functools.lru_cache(maxsize=64)
def poisson_table(rate: float) -> tuple[int, npt.NDArray[Any]]:
    """Return the first number and the function of Poisson's distribution."""
    reach = _DEVIATIONS * math.sqrt(rate) + 20.0
    mode = math.floor(rate)
    first, last = max(0, math.floor(rate - reach)), math.ceil(rate + reach)
    return _table(first, last, mode, lambda k: rate / k)


@functools.lru_cache(maxsize=64)
def binomial_table(n: int, probability: float) -> tuple[int, npt.NDArray[Any]]:
    """Return the first number and the function of a binomial distribution."""
    mean = n * probability
    reach = _DEVIATIONS * math.sqrt(mean * (1.0 - probability)) + 20.0
    mode = min(n, math.floor((n + 1) * probability))
    first, last = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    odds = probability / (1.0 - probability)
    return _table(first, last, mode, lambda k: (n + 1 - k) / k * odds)


def searched(source: Source, shape: Shape, function: npt.NDArray[Any]) -> Var:
    """Return the place where the function passes a uniform number, int32 or int64.

    The table gets one of few lengths, so that few programs are made.
    """
    length = (1 << len(function).bit_length()) - 1
    padded = np.full(length, np.inf)
    padded[: len(function) - 1] = function[:-1]
    return count_below(_core.array(padded), source.uniform(shape, "float64"), or_equal=True)
