# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The incomplete gamma and beta functions: shares of the distributions of these names.

A share is the density by the logarithm of the variable, times an integral of its ratio to
that from there on, on the side where the density falls:

    exp(-E(u)) du,  u from 0 to infinity,  E(0) = 0, E'(0) >= 0, E'' > 0

by Gauss and Legendre's rule as far as E is below a depth. The other side is 1 less it. The
density comes of differences to the mean, by Stirling's series for large parameters, as the
logarithms of the gamma function alone would leave too few digits. Where a parameter is
small, and both sides may be, shares are taken to larger ones by terms of the power series
(DLMF 8.8.7, 8.17.20). All types are computed in float64. All arguments have derivatives: of
the variable those of the density, of parameters those of what is computed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ... import _core
from ..._core import Var
from ..._typing import VarLike, in_float64
from ._gamma_ratios import (
    LARGE,
    exp_less,
    lgamma_above,
    log_gamma_ratio,
    log_less,
    log_more,
    stirling,
)
from .elementwise import abs, clip, maximum, minimum, pow, where
from .functions import exp, expm1, lgamma, log, log1p, sqrt

__all__ = ["betainc", "gammainc", "gammaincc"]

#: Smaller parameters are taken up by so many terms.
_SMALL, _STEPS = 4.0, 4
#: The terms of the power series of what is nearly 1, and of those of which only derivatives are
#: not 0, which are right up to this order.
_TERMS, _ORDERS = 16, 6
#: Bound of numbers between which shares rise from 0 to 1.
_HUGE = 1e36
#: Of larger parameters of a beta distribution, both of them, no digit is right.
_UNKNOWN = 1e20
#: Difference to the mean beyond which no density is left; its powers do not overflow.
_VANISHED = 1e40
#: The least number that a divisor is where it may be 0, and the largest exponent.
_LEAST, _MOST = 1e-300, 700.0


class _Rule(NamedTuple):
    """How deep an integral goes, and how many points it has."""

    depth: float
    points: int


def _rule_of(dtype: str) -> _Rule:
    """Return what gives all digits of a type: errors of 6e-14, or of 3e-9."""
    return _Rule(38.0, 32) if dtype == "float64" else _Rule(20.0, 16)


@functools.cache
def _places(count: int) -> tuple[list[float], list[float]]:
    """Return the points and weights of Gauss and Legendre's rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return [float(p) for p in (points + 1.0) / 2.0], [float(w) for w in weights / 2.0]


def _integral(
    rule: _Rule,
    rise: Callable[[Var, Callable[[Var], Var]], Var],
    slope: Callable[[Var], Var],
    start: Var,
) -> Var:
    """Return the integral of ``exp(-E(u))`` from 0 on.

    Parameters
    ----------
    rule
        Where E ends, and its points.
    rise
        E of u; the function that it is given makes parameters broadcast with u.
    slope
        E' of u.
    start
        A u where E is not below the depth, nor thrice as large. From there two steps of
        Newton's method come as near as is needed, from above since E is convex.
    """
    end = start
    for _ in range(2):
        end = end - (rise(end, lambda x: x) - rule.depth) / slope(end)
    # In kernels of their own the ends and what follows are computed by vectors of elements.
    end = _core.stop_fuse(end.detach())
    points, weights = (_core.array(np.array(numbers)) for numbers in _places(rule.points))
    values = exp(-rise(end.unsqueeze(-1) * points, lambda x: x.unsqueeze(-1)))
    return end * _core.stop_fuse((values * weights).sum(-1))


def _undefined(is_known: Var, x: Var) -> Var:
    """Return NaN, whose derivative is NaN, where nothing is known of x."""
    return where(is_known, 1.0, x) * math.nan


def _without_slope(x: Var) -> Var:
    """Return 0, whose derivative is NaN where x is 0."""
    root = sqrt(where(x == 0, x, 1.0))
    return where(x == 0, root * root, 0.0)


def _step(r: Var, m: Var, d: Var | float, p: Var, q: Var | float) -> Var:
    """Return the integral from 0 to r of a function that is 1 at 0; r is 0.

    It has the derivatives by r, which `_ORDERS` terms of the power series have. The
    coefficients follow from the differential equation of the function:

        (k + 1) * c[k + 1] = (m - k * d) * c[k] - (p - (k - 1) * q) * c[k - 1]
    """
    before, coefficient = r * 0.0, r * 0.0 + 1.0
    power, total = r, r
    for k in range(_ORDERS - 1):
        after = (m - k * d) * coefficient - (p - (k - 1) * q) * before
        before, coefficient = coefficient, after / (k + 1)
        power = power * r
        total = total + coefficient * power / (k + 2)
    return total


# Gamma


def _gamma_density(a: Var, x: Var) -> Var:
    """Return ``x**a * exp(-x) / gamma(a)``."""
    is_large = a >= LARGE
    large = where(is_large, a, LARGE)
    exponent = large * log_less((x - large) / large, x / large) - stirling(large)
    small = where(is_large, 1.0, a)
    other = where(is_large, 0.0, small * log(x) - x - lgamma(small))
    return where(is_large, sqrt(large * (0.5 / math.pi)) * exp(exponent), exp(other))


def _gamma_tail(rule: _Rule, a: Var, x: Var, is_above: Var) -> Var:
    """Return the integral of the density's ratio from x on, up or down."""
    sign = where(is_above, 1.0, -1.0)
    shape = a.detach()

    def rise(u: Var, wide: Callable[[Var], Var]) -> Var:
        up = wide(sign) * u
        return wide(x - a) * up + wide(x) * exp_less(up)

    def slope(u: Var) -> Var:
        return sign * (x - shape + x * expm1(sign * u))

    # E is as large as its slope at 0 times u, and as x times exp(u) - 1 - u, or the same of -u.
    distance = abs(x - shape)
    share = rule.depth / x
    bound = share + sqrt(2.0 * share)
    above = 2.0 * share / (distance / x + sqrt((distance / x) ** 2 + 2.0 * share))
    below = rule.depth / maximum(distance, _LEAST)
    start = where(is_above, minimum(above, log1p(bound)), minimum(below, bound))
    return _integral(rule, rise, slope, start)


def _gamma_shares(rule: _Rule, a: Var, x: Var) -> tuple[Var, Var]:
    """Return the shares below and above x, for positive numbers that are finite."""
    # Of larger parameters no other number is near enough.
    is_huge = a > _HUGE
    x = where(is_huge, x / where(is_huge, a, 1.0) * _HUGE, x)
    a = minimum(a, _HUGE)
    place = x.detach()
    density = _gamma_density(a, place)
    below, above = _gamma_sides(rule, a, place, density)
    # Derivatives by x are those of the density.
    bound = minimum(place, _VANISHED)
    step = density * _step((x - place) / place, a - 1.0 - bound, 1.0, bound, 0.0)
    return below + step, above - step


def _gamma_sides(rule: _Rule, a: Var, x: Var, density: Var) -> tuple[Var, Var]:
    """Return the same without derivatives by x."""
    is_above = (x >= a) & (x >= 0.3)
    lifted, term = a, density
    # Below x, of a small a, by that of a larger one.
    is_lifted = ~is_above & (a < _SMALL)
    terms = term * 0.0
    for _ in range(_STEPS):
        term = where(is_lifted, term / lifted, term)
        terms = where(is_lifted, terms + term, terms)
        term = where(is_lifted, term * x, term)
        lifted = where(is_lifted, lifted + 1.0, lifted)
    share = terms + term * _gamma_tail(rule, lifted, x, is_above)
    below, above = where(is_above, 1.0 - share, share), where(is_above, share, 1.0 - share)
    # Above a small x the share is small for a small a.
    is_rest = ~is_above & (x < 0.5) & (a * -log(x) < 0.4)
    rest = _gamma_rest(where(is_rest, a, 0.1), where(is_rest, x, 0.1))
    return where(is_rest, 1.0 - rest, below), where(is_rest, rest, above)


def _gamma_rest(a: Var, x: Var) -> Var:
    """Return the share above x for a small x and a, whose other side is nearly 1.

    DLMF 8.7.1.
    """
    exponent = a * log(x) - lgamma_above(a)
    series, term = x * 0.0, x * 0.0 + 1.0
    for n in range(1, _TERMS + 1):
        term = term * x * (-1.0 / n)
        series = series + term / (a + float(n))
    return -expm1(exponent) - a * exp(exponent) * series


def _gamma_start(a: Var, x: Var) -> Var:
    """Return the share below 0, by first terms, which have derivatives (DLMF 8.7.1)."""
    series, term = x * 0.0 + 1.0, x * 0.0 + 1.0
    for n in range(1, _ORDERS):
        term = term * x * (-1.0 / n)
        series = series + term * a / (a + float(n))
    return pow(x, a) * exp(-lgamma(a + 1.0)) * series


def _gamma(a: VarLike, x: VarLike, is_below: bool) -> Var:
    """Return the share below x or that above it."""
    (a, x), dtype = in_float64(a, x)
    is_inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    rule = _rule_of(dtype)
    inside = _gamma_shares(rule, where(is_inside, a, 1.0), where(is_inside, x, 1.0))
    is_start = (x == 0) & (a > 0) & (a < math.inf)
    start = _gamma_start(where(is_start, a, 1.0), where(is_start, x, 0.0))
    # Where all is on one side.
    is_low = (a == math.inf) & (x >= 0) & (x < math.inf)
    is_high = ((x == math.inf) & (a >= 0) & (a < math.inf)) | ((a == 0) & (x > 0))
    low, high = start, 1.0 - _without_slope(where(is_high, a, 1.0))
    if not is_below:
        low, high = 1.0 - start, _without_slope(where(is_high, a, 1.0))
    outside = _undefined(is_inside | is_start | is_low | is_high, a + x)
    outside = where(is_high, high, where(is_start | is_low, low, outside))
    return where(is_inside, inside[0 if is_below else 1], outside).cast(dtype)


def gammainc(a: VarLike, x: VarLike) -> Var:
    """Return the share of gamma numbers, of the parameter a, below x; a float.

    The regularised lower incomplete gamma function (DLMF 8.2.4). It has derivatives by both,
    up to the sixth order by x, but none by an a of 0. All types are computed in float64;
    integers give float32.

    Parameters
    ----------
    a, x
        Numbers, not negative, that broadcast together; else the result is NaN.
    """
    return _gamma(a, x, True)


def gammaincc(a: VarLike, x: VarLike) -> Var:
    """Return ``1 - gammainc(a, x)``, right where that is near 1, too.

    It takes what `gammainc` takes, and has its derivatives.
    """
    return _gamma(a, x, False)


# Beta


def _log_beta(a: Var, b: Var) -> Var:
    """Return minus the beta function's logarithm, unless both numbers are large."""
    least, most = minimum(a, b), maximum(a, b)
    is_large = most >= LARGE
    small = where(least >= LARGE, 1.0, least)
    ratio = log_gamma_ratio(small, where(is_large, most, LARGE))
    total, other = where(is_large, 2.0, a + b), where(is_large, 1.0, most)
    return where(is_large, ratio, lgamma(total) - lgamma(other)) - lgamma(small)


def _beta_density(a: Var, b: Var, x: Var, y: Var) -> Var:
    """Return ``x**a * y**b / beta(a, b)``, where x and y have the sum 1."""
    are_large = minimum(a, b) >= LARGE
    first, second = where(are_large, a, LARGE), where(are_large, b, LARGE)
    both = first + second
    distance = x * second - y * first
    exponent = first * log_less(distance / first, x * both / first)
    exponent = exponent + second * log_less(-distance / second, y * both / second)
    exponent = exponent + stirling(both) - stirling(first) - stirling(second)
    large = sqrt(first / both * second * (0.5 / math.pi)) * exp(exponent)
    # The smaller one of x and y has all digits.
    is_low = x < 0.5
    log_x = where(is_low, log(x), log1p(-where(is_low, 0.5, y)))
    log_y = where(is_low, log1p(-where(is_low, x, 0.5)), log(y))
    other = where(are_large, 0.0, a * log_x + b * log_y + _log_beta(a, b))
    return where(are_large, large, exp(other))


def _beta_tail(rule: _Rule, a: Var, b: Var, x: Var, y: Var) -> Var:
    """Return the integral of the density's ratio from x down to 0."""
    first, second = a.detach(), b.detach()

    def rise(u: Var, wide: Callable[[Var], Var]) -> Var:
        # Logarithms of y * exp(u) + x and of y + x * exp(-u), which is the other less u.
        growth = expm1(u)
        change = wide(x) * (-growth / (1.0 + growth))
        up, is_far = log_more(wide(y) * growth), change < -0.5
        down = where(is_far, up - u, log_more(where(is_far, 0.0, change)))
        return wide(a) * up + wide(b) * down

    def slope(u: Var) -> Var:
        left = x * exp(-u)
        return (first * y - second * left) / (y + left)

    # E is as large as its slope at 0 times u, as (a + b) * x * y * (exp(-u) - 1 + u), and as
    # a * u + (a + b) * log(y).
    share = rule.depth / maximum((first + second) * x * y, _LEAST)
    steep = maximum(first * y - second * x, _LEAST)
    start = minimum(rule.depth / steep, share + sqrt(2.0 * share))
    start = minimum(start, (rule.depth - (first + second) * log(y)) / first)
    # With what the second logarithm takes at most, the first one alone has an end, too.
    taken = second * minimum(start, -log(y))
    end = log1p(expm1(minimum((rule.depth + taken) / first, _MOST)) / y)
    return _integral(rule, rise, slope, minimum(minimum(start, end), _MOST))


def _beta_share(rule: _Rule, a: Var, b: Var, x: Var, y: Var, density: Var) -> Var:
    """Return the share below x, which is not above the mean."""
    is_lifted = a < _SMALL
    lifted, term = a, density
    terms = term * 0.0
    for _ in range(_STEPS):
        step = where(is_lifted, term / lifted, 0.0)
        terms = terms + step
        term = where(is_lifted, step * x * (lifted + b), term)
        lifted = where(is_lifted, lifted + 1.0, lifted)
    return terms + term * _beta_tail(rule, lifted, b, x, y)


def _beta_rest(a: Var, b: Var, y: Var) -> Var:
    """Return the share below 1 - y of a and b, where nearly all is above it.

    Of the power series of the other side, DLMF 8.17.7.
    """
    ratio = a * 0.0
    is_large = a >= LARGE
    small = where(is_large, 1.0, a)
    for k in range(int(LARGE)):
        ratio = ratio - log1p(b / (small + float(k)))
    ratio = where(is_large, 0.0, ratio) + log_gamma_ratio(b, where(is_large, a, small + LARGE))
    exponent = b * log(y) + ratio - lgamma_above(b)
    series, term = y * 0.0, y * 0.0 + 1.0
    for n in range(1, _TERMS + 1):
        term = term * y * ((float(n) - a) / n)
        series = series + term / (b + float(n))
    return -expm1(exponent) - b * exp(exponent) * series


def _is_rest(a: Var, b: Var, y: Var) -> Var:
    """Return where `_beta_rest` has all digits."""
    return (b < minimum(a, 0.5)) & (y < 0.1) & (a * y < 0.5) & (b * -log(y) < 0.4)


def _beta_inside(rule: _Rule, a: Var, b: Var, x: Var) -> Var:
    """Return the share below x, for positive numbers that are finite and an x in (0, 1)."""
    scale = _UNKNOWN / maximum(minimum(a, b), _UNKNOWN)
    a, b = a * scale, b * scale
    place = x.detach()
    other = 1.0 - place
    # From the side of the mean.
    is_turned = place * b > other * a
    first, second = where(is_turned, b, a), where(is_turned, a, b)
    below, above = where(is_turned, other, place), where(is_turned, place, other)
    density = _beta_density(first, second, below, above)
    share = _beta_share(rule, first, second, below, above, density)
    # Near an end that has nearly all, for a small parameter, the other side is small.
    is_first, is_second = _is_rest(b, a, place), _is_rest(a, b, other)
    is_rest = is_first | is_second
    rest = _beta_rest(
        where(is_rest, where(is_first, b, a), 1.0),
        where(is_rest, where(is_first, a, b), 0.1),
        where(is_rest, where(is_first, place, other), 0.01),
    )
    share = where(is_rest, rest, share)
    share = where(where(is_rest, is_first, is_turned), 1.0 - share, share)
    # Derivatives by x are those of the density.
    both = place * other
    m = clip((a - 1.0) * other - (b - 1.0) * place, -_VANISHED, _VANISHED)
    p = clip((a + b - 2.0) * both, -_VANISHED, _VANISHED)
    return share + density * _step((x - place) / both, m, other - place, p, both)


def _beta_start(a: Var, b: Var, x: Var) -> Var:
    """Return the share below 0, by first terms, which have derivatives (DLMF 8.17.7)."""
    # Of large parameters all are 0.
    a = minimum(a, LARGE)
    series, term = x * 0.0 + 1.0, x * 0.0 + 1.0
    for n in range(1, _ORDERS):
        term = term * x * ((float(n) - b) / n)
        series = series + term * a / (a + float(n))
    return pow(x, a) * (exp(_log_beta(a, b)) / a) * series


def betainc(a: VarLike, b: VarLike, x: VarLike) -> Var:
    """Return the share of beta numbers, of the parameters a and b, below x; a float.

    The regularised incomplete beta function (DLMF 8.17.2). It has derivatives by all three,
    up to the sixth order by x, but none by a parameter of 0. All types are computed in
    float64; integers give float32.

    Parameters
    ----------
    a, b
        Numbers, not negative, and not both 0 or both infinite; else the result is NaN.
    x
        Numbers in [0, 1]; else the result is NaN. All three broadcast together.
    """
    (a, b, x), dtype = in_float64(a, b, x)
    is_positive = (a > 0) & (b > 0) & (a < math.inf) & (b < math.inf)
    is_inside, is_end = is_positive & (x > 0) & (x < 1), is_positive & (x == 1)
    inside = _beta_inside(
        _rule_of(dtype),
        where(is_inside, a, 1.0),
        where(is_inside, b, 1.0),
        where(is_inside, x, 0.5),
    )
    # At 0 and at 1.
    is_start = (is_positive & (x == 0)) | is_end
    first, second = where(is_end, b, a), where(is_end, a, b)
    start = _beta_start(
        where(is_start, first, 1.0),
        where(is_start, second, 1.0),
        where(is_start, where(is_end, 1.0 - x, x), 0.0),
    )
    # Where all is at one end.
    is_given = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
    is_low = is_given & (((a == 0) & (b > 0)) | ((b == math.inf) & (a < math.inf)))
    is_high = is_given & (((b == 0) & (a > 0)) | ((a == math.inf) & (b < math.inf)))
    at_low = where(x == 0, 0.0, 1.0)
    outside = _undefined(is_inside | is_start | is_low | is_high, a + b + x)
    outside = where(is_start, where(is_end, 1.0 - start, start), outside)
    outside = where(is_high, where(x == 1, 1.0, 0.0), where(is_low, at_low, outside))
    outside = outside + _without_slope(where(is_low, a, where(is_high, b, 1.0)))
    return where(is_inside, inside, outside).cast(dtype)
