# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differences with all digits: of logarithms of gamma functions, and from their first terms.

All is in float64, and has derivatives.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from ..._core import Var
from .elementwise import abs, where
from .functions import expm1, log, log1p

__all__ = [
    "LARGE",
    "exp_less",
    "lgamma_above",
    "log_gamma_ratio",
    "log_less",
    "log_more",
    "stirling",
]

#: From where on Stirling's series has all digits.
LARGE = 10.0
#: B(2j) / (2j * (2j - 1)), of Stirling's series (DLMF 5.11.1).
_STIRLING = (
    *(1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156),
    -3617 / 122400,
)
_EULER = 0.57721566490153286061


def _polynomial(x: Var, coefficients: Sequence[float]) -> Var:
    """Return the sum of coefficients, the constant first, times powers of x."""
    total = x * 0.0 + coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def stirling(x: Var) -> Var:
    """Return what `lgamma` is above Stirling's formula, for large x."""
    reciprocal = 1.0 / x
    return reciprocal * _polynomial(reciprocal * reciprocal, _STIRLING)


def _stirling_step(a: Var, b: Var) -> Var:
    """Return `stirling` of a + b less that of b, with the digits of a."""
    first, second = 1.0 / (a + b), 1.0 / b
    # Of differences of odd powers by the difference of the numbers, each by the one before.
    quotient, power = first * 0.0 + 1.0, second
    total = quotient * _STIRLING[0]
    for coefficient in _STIRLING[1:]:
        quotient = first * first * quotient + power * (first + second)
        power = power * second * second
        total = total + coefficient * quotient
    return -a * first * second * total


def log_gamma_ratio(a: Var, b: Var) -> Var:
    """Return ``lgamma(a + b) - lgamma(b)`` for a large b, with the digits of a."""
    return (b - 0.5) * log1p(a / b) + a * (log(a + b) - 1.0) + _stirling_step(a, b)


def _inverse_tangent(m: Var) -> tuple[Var, Var]:
    """Return s and what is behind 2 * s in the series of ``log1p(m)`` by it (DLMF 4.6.4)."""
    s = m / (2.0 + m)
    return s, s * s * s * _polynomial(s * s, [2.0 / (2 * k + 1) for k in range(1, 19)])


def log_more(m: Var) -> Var:
    """Return ``log1p(m)``, computed by vectors of elements."""
    is_near = abs(m) < 0.4
    s, rest = _inverse_tangent(where(is_near, m, 0.0))
    return where(is_near, 2.0 * s + rest, log(where(is_near, 1.0, 1.0 + m)))


def log_less(m: Var, ratio: Var) -> Var:
    """Return ``log(1 + m) - m``; the ratio is 1 + m, with digits that m lacks near -1."""
    is_near = abs(m) < 0.4
    near = where(is_near, m, 0.0)
    s, rest = _inverse_tangent(near)
    away = log(where(is_near, 1.0, ratio)) - where(is_near, 0.0, m)
    return where(is_near, rest - near * s, away)


def exp_less(x: Var) -> Var:
    """Return ``exp(x) - 1 - x``, with the digits of small numbers."""
    is_near = abs(x) < 0.5
    near = where(is_near, x, 0.0)
    series = _polynomial(near, [1.0 / math.factorial(k) for k in range(2, 16)])
    return where(is_near, near * near * series, expm1(x) - x)


def _zeta_less(n: int) -> float:
    """Return ``zeta(n) - 1``, by the formula of Euler and Maclaurin (DLMF 25.2.9)."""
    last = 30.0
    total = math.fsum(float(k) ** -n for k in range(2, int(last)))
    rest = last ** (1 - n) / (n - 1) + 0.5 * last**-n
    factor = float(n) * last ** (-n - 1)
    for k, number in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)):
        rest += number * factor
        factor *= (n + 2 * k + 1) * (n + 2 * k + 2) / last**2
    return total + rest


@functools.cache
def _lgamma_terms() -> list[float]:
    """Return what powers of x have in ``lgamma(1 + x) + log1p(x) - x * (1 - gamma)``.

    DLMF 5.7.3.
    """
    return [0.0, 0.0, *((-1.0) ** n * _zeta_less(n) / n for n in range(2, 40))]


def lgamma_above(x: Var) -> Var:
    """Return ``lgamma(1 + x)`` for x below 0.7, with all digits of small ones."""
    return _polynomial(x, _lgamma_terms()) + x * (1.0 - _EULER) - log1p(x)
