# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quotients by differences of values, in derivatives of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .. import _core
from .._core import Var, matmul
from .._typing import as_var
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.shape.diagonals import diagonal, eye
from ._matrices import rounding_of

__all__ = ["largest", "over_differences", "over_gaps", "quotient", "slack_of"]


#: Rounding errors of the largest value by which the library may tell equal ones apart, and by
#: which it usually does.
_NEAR, _EQUAL = 64, 4


def largest(x: Var, dims: Sequence[int] = (-2, -1)) -> Var:
    """Return the largest magnitudes along dimensions, which stay; 0 of nothing."""
    if 0 in (x.shape[dim] for dim in dims):
        return x.sum(dims, True)
    return x.abs().max(dims, True)


def slack_of(x: Var) -> float:
    """Return how far what should be 0 may be from it, relative to the largest."""
    return math.sqrt(np.finfo(str(x.dtype)).eps)


def quotient(x: Var, divisors: Var, is_unknown: Var | bool = False) -> Var:
    """Return x / divisors; where a divisor is 0, 0 if x is and the limit is known, else NaN.

    Both count as 0 where they are nothing but rounding.
    """
    is_zero = divisors.abs() <= largest(divisors) * rounding_of(x, _NEAR)
    return _quotient(x, divisors, is_zero, is_unknown)


def _quotient(x: Var, divisors: Var, is_zero: Var, is_unknown: Var | bool) -> Var:
    is_none = x.abs() <= largest(x) * slack_of(x)
    limit = where(is_none & ~as_var(is_unknown), 0.0, float("nan"))
    return where(is_zero, limit, x / where(is_zero, 1, divisors))


def _gaps(values: Var, roundings: int) -> tuple[Var, Var]:
    """Return values[j] - values[i], and where these are so many rounding errors at most."""
    gaps = values[..., None, :] - values[..., :, None]
    rounding = rounding_of(values, roundings)
    return gaps, gaps.abs() <= largest(values, [-1])[..., None] * rounding


def over_gaps(x: Var, values: Var) -> Var:
    """Return x[i, j] / (values[j] - values[i]), as `quotient`, and 0 on the diagonal."""
    gaps, is_equal = _gaps(values, _EQUAL)
    is_diagonal = eye(values.shape[-1], dtype="int64") != 0
    return _quotient(where(is_diagonal, 0, x), gaps, is_equal, is_unknown=False)


def over_differences(x: Var, values: Var, by_values: Var | None, is_whole: bool) -> Var:
    """Return (x[i, j] - x[j, i]) / 2 (values[j] - values[i]), and 0 on the diagonal.

    Here x is V^T times the gradient of a function by vectors V, and `by_values` that by
    values. Where values are equal, the quotient is a limit. It is known of a function of
    vectors that does not change when they turn within the space of equal values, and of one
    of V diag(f(values)) V^T: there, gradients by values are in proportion to the diagonal
    of x. Of others it is NaN; so it is unless `is_whole`: unless these are all gradients.
    Where both are constant, they may be those of either, and the limit is NaN, too.
    """
    gaps, is_equal = _gaps(values, _EQUAL)
    _, is_near = _gaps(values, _NEAR)
    difference = x - x.mT
    regular = difference / where(is_equal, 1, 2 * gaps)
    limit = 0.0 * x
    if by_values is not None:
        limit = _turned(x, is_near.astype(x.dtype), by_values)
    slack = where(is_equal, slack_of(x), rounding_of(x, 8 * x.shape[-1]))
    is_known = is_near & (difference.abs() <= largest(x) * slack) & (limit == limit) & is_whole
    # Quotients of what is nearly 0 have derivatives, if not many digits.
    near = regular + _core.stop_grad(where(is_known, limit - regular, 0))
    limit = _Limit.apply(x, where(is_known, limit, float("nan")))
    is_diagonal = eye(values.shape[-1], dtype="int64") != 0
    return where(is_diagonal, 0, where(is_equal, limit, near))


def _turned(x: Var, is_equal: Var, by_values: Var) -> Var:
    """Return the limit between equal values, of which `is_equal` has ones in each row.

    A constant that all of these share adds to their gradients, and nothing between them.
    """

    def summed(y: Var) -> Var:
        return matmul(is_equal, y[..., None])[..., 0]

    def is_shared(y: Var, size: Var) -> Var:
        rest = y - summed(y) / summed(0 * y + 1)
        return rest.abs() <= size * slack_of(x)

    own, both = diagonal(x, 0, -2, -1), x + x.mT
    size, own_size = largest(by_values, [-1]), largest(x)
    squares = summed(own * own)
    factor = summed(own * by_values) / where(squares == 0, 1, squares)
    is_constant = is_shared(by_values, size)
    otherwise = where(is_constant, 0.0, float("nan"))
    factor = where(is_shared(by_values - factor * own, size), factor, otherwise)
    # A constant is of either kind of function, if those of vectors are constant, too.
    is_either = is_constant & (by_values.abs() > size * slack_of(x))
    is_either = is_either & is_shared(own, own_size[..., 0])
    factor = where(is_either, float("nan"), factor)
    limit = (factor[..., :, None] + factor[..., None, :]) * both * 0.25
    # Nothing beside the diagonal, as of a trace, has the limit 0; nothing at all may be log(1).
    is_none = both.abs() <= own_size * slack_of(x)
    is_multiple = is_none & (own.abs() > own_size[..., 0] * slack_of(x))[..., None]
    return where(is_multiple & is_either[..., None], 0.0, limit)


class _Limit(Function):
    """A limit whose own derivatives are not known, and so are NaN."""

    def execute(self, x: Var, limit: Var) -> Var:
        """Return the limit."""
        return limit

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by what the limit is made of."""
        return where(gradient == 0, 0.0 * gradient, float("nan")), None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the limit moves."""
        return where(tangent == 0, 0.0 * tangent, float("nan"))
