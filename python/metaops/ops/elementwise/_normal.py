# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The normal distribution's function and its inverse, in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..._core import Var
from .elementwise import abs, clip, where
from .functions import erf, log, sqrt

__all__ = ["normal_probability", "normal_quantile"]

# M. Wichura, "Algorithm AS 241: the percentage points of the normal distribution"
# (Applied Statistics, 1988), PPND16: rational functions, from the constant on. They
# hold to a relative error of 1e-16.
_CENTRE = (
    (
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ),
    (
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)
_TAIL = (
    (
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ),
    (
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)
_FAR_TAIL = (
    (
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    (
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)


def _rational(x: Var, coefficients: tuple[Sequence[float], Sequence[float]]) -> Var:
    def polynomial(terms: Sequence[float]) -> Var:
        result = x * terms[-1] + terms[-2]
        for term in terms[-3::-1]:
            result = result * x + term
        return result

    return polynomial(coefficients[0]) / polynomial(coefficients[1])


def normal_probability(x: Var) -> Var:
    """Return the share of normal numbers below x, for x up to 0 or not far above."""
    return 0.5 * (1.0 + erf(x * math.sqrt(0.5)))


def normal_quantile(share: Var) -> Var:
    """Return the number below which a share in [0, 1] of normal numbers lies."""
    offset = share - 0.5
    centre = offset * _rational(0.180625 - offset * offset, _CENTRE)
    beyond = where(offset < 0.0, share, 1.0 - share)
    root = sqrt(-log(clip(beyond, 5e-324, 1.0)))
    tail = where(root <= 5.0, _rational(root - 1.6, _TAIL), _rational(root - 5.0, _FAR_TAIL))
    return where(abs(offset) <= 0.425, centre, where(offset < 0.0, -tail, tail))
