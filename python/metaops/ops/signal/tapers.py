# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows that let a signal fade at both ends, by the number of their points.

All are symmetric, as NumPy's: a periodic one of n points is one of n + 1 without its
last.
"""

from __future__ import annotations

import math

from ... import _core
from ..._core import Var
from ..._defaults import float_type
from ..._devices import makes_arrays
from ..._domains import FINITE
from ..._typing import DType, as_number, whole_number
from ..elementwise.bessels import i0
from ..elementwise.elementwise import abs
from ..elementwise.functions import cos, sqrt

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def _places(name: str, n: int) -> Var:
    """Return n numbers in float64 that rise evenly from -1 to 1; 0 if it is one."""
    n = whole_number(name, "n", n)
    place = _core.iota((n,), 0, "float64")
    # Both halves come out alike.
    return (place * 2.0 - (n - 1)) / max(n - 1, 1)


@makes_arrays
def bartlett(n: int, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return the triangle of n points that is 0 at its ends."""
    return (1.0 - abs(_places("bartlett", n))).cast(float_type(dtype))


def _cosines(name: str, n: int, weights: tuple[float, ...], dtype: DType | None) -> Var:
    angle = math.pi * _places(name, n)
    total: Var | float = weights[0]
    for k, weight in enumerate(weights[1:], 1):
        total = total + weight * cos(k * angle)
    return (angle * 0.0 + total).cast(float_type(dtype))


@makes_arrays
def hanning(n: int, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return von Hann's window of n points: a cosine that is 0 at its ends."""
    return _cosines("hanning", n, (0.5, 0.5), dtype)


@makes_arrays
def hamming(n: int, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return Hamming's window of n points: a cosine that is 0.08 at its ends."""
    return _cosines("hamming", n, (0.54, 0.46), dtype)


@makes_arrays
def blackman(n: int, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return Blackman's window of n points: two cosines that are 0 at its ends."""
    return _cosines("blackman", n, (0.42, 0.5, 0.08), dtype)


@makes_arrays
def kaiser(n: int, beta: float, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return Kaiser's window of n points.

    Parameters
    ----------
    n
        How many points.
    beta
        The shape: with 0 all are 1, and the ends fade more the larger it is.
    dtype
        Of the result.
    """
    beta = float(as_number("kaiser", "beta", beta))
    FINITE.check("kaiser", beta=beta)
    place = _places("kaiser", n)
    inside = 1.0 - place * place
    return (i0(beta * sqrt(inside)) / i0(_core.full((), beta, "float64"))).cast(float_type(dtype))
