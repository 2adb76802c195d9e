# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials of matrices."""

from __future__ import annotations

import functools
import operator

from .. import _core
from .._core import Var, matmul
from .._typing import VarLike
from ..control_flow.loops import fori_loop
from ..ops.elementwise.elementwise import where
from ..ops.reduce.norms import matrix_norm
from ._lu import identities_like
from ._matrices import as_matrices, as_square, rounded_like
from .equations import solve

__all__ = ["expm"]

#: By types: the largest norm for which a quotient of polynomials is exact but for rounding, and
#: the coefficients of these.
_QUOTIENTS = {
    "float32": (3.925724783138660, (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)),
    "float64": (
        5.371920351148152,
        (
            *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800),
            *(129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920),
            *(40840800, 960960, 16380, 182, 1),
        ),
    ),
}
#: Larger matrices than those that so many halvings make small have exponentials of NaN.
_MOST_HALVINGS = 64


def expm(a: VarLike) -> Var:
    """Return the exponentials of matrices: sums of powers over factorials.

    A matrix is halved until it is small, and the exponential of that squared as often: as
    often as the largest of a batch needs.

    Parameters
    ----------
    a : tensor, (..., n, n)
        The matrices.

    Returns
    -------
    Var, (..., n, n)
        Of the type of `a`, float32 or float64; integers become the default float. It is NaN
        where the largest sum of magnitudes of a column is above 4 * 2**64.

    Raises
    ------
    ValueError
        If the matrices are not square.

    References
    ----------
    N. Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.

    Examples
    --------
    >>> mo.linalg.expm([[0.0, 1.0], [0.0, 0.0]])
    Var([[1., 1.],
         [0., 1.]], dtype=float32)
    """
    (x,), dtype = as_matrices(a)
    as_square("expm", x)
    least, coefficients = _QUOTIENTS[str(x.dtype)]
    size = _core.stop_grad(matrix_norm(x, 1, True))
    is_small = size <= least * 2.0**_MOST_HALVINGS
    halvings = (where(is_small, size, 0) / least).maximum(1).log2().ceil()
    scaled = x * (-where(is_small, halvings, float("nan"))).exp2()

    def square(trip: Var, y: Var) -> Var:
        return where(trip < halvings, matmul(y, y), y)

    trips = halvings.max().astype("int64") if x.size else 0
    first = _small_exponential(scaled, coefficients)
    return rounded_like(fori_loop(0, trips, square, first, max_trips=_MOST_HALVINGS), dtype)


def _small_exponential(x: Var, coefficients: tuple[int, ...]) -> Var:
    """Return the quotient of polynomials with coefficients of rising powers."""
    scale = float(coefficients[0])
    powers = [identities_like(x), matmul(x, x)]
    while len(powers) < 4:
        powers.append(matmul(powers[1], powers[-1]))

    def polynomial(factors: tuple[int, ...]) -> Var:
        """Return a polynomial of the square."""
        terms = [p * (f / scale) for p, f in zip(powers, factors[:4], strict=False)]
        if len(factors) > 4:
            rest = [p * (f / scale) for p, f in zip(powers[1:], factors[4:], strict=False)]
            terms.append(matmul(powers[3], functools.reduce(operator.add, rest)))
        return functools.reduce(operator.add, terms)

    odd, even = matmul(x, polynomial(coefficients[1::2])), polynomial(coefficients[::2])
    return solve(even - odd, even + odd, check=False)
