# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices as products of orthogonal and triangular ones."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from .._errors import at_line
from .._typing import VarLike, shown
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.shape.diagonals import tril, triu
from ..ops.shape.padding import pad
from ..ops.shape.stacking import concat
from ._gaps import largest, slack_of
from ._matrices import as_matrices, as_matrix, call, rounded_like
from .triangles import solve_lower

__all__ = ["QRResult", "completed", "qr"]


class QRResult(NamedTuple):
    """Orthogonal matrices, and upper triangles."""

    Q: Var
    R: Var


def qr(a: VarLike, mode: str = "reduced") -> QRResult | Var:
    """Return orthogonal matrices Q and upper triangles R with a = Q R.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices. Where columns depend on others, derivatives are not finite.
    mode : {"reduced", "complete", "r"}
        Of "reduced" Q has min(m, n) columns, and R as many rows; of "complete" both have m;
        "r" gives R alone.

    Returns
    -------
    QRResult of two Vars, or a Var
        Of the type of `a`, float32 or float64; integers become the default float. The
        diagonal of R may be negative.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, or `mode` is another one.

    References
    ----------
    S. F. Walter, L. Lehmann and R. Lamour, "On evaluating higher-order derivatives of the QR
    decomposition of tall matrices with full column rank in forward and reverse mode
    algorithmic differentiation", 2012.
    """
    (x,), dtype = as_matrices(a)
    as_matrix("qr", x)
    if mode not in ("reduced", "complete", "r"):
        raise at_line(
            ValueError(f"qr: mode is {shown(mode)}, expected 'reduced', 'complete' or 'r'")
        )
    rows, columns = x.shape[-2:]
    if rows < columns:
        # The rest of R follows from Q.
        q, r = _factored(x[..., :rows], False)
        r = concat([r, matmul(q.mT, x[..., rows:])], -1)
    else:
        q, r = _factored(x, mode == "complete")
    result = QRResult(rounded_like(q, dtype), rounded_like(r, dtype))
    return result.R if mode == "r" else result


def _factored(a: Var, complete: bool) -> tuple[Var, Var]:
    """Return the factors of matrices that have no more columns than rows."""
    *front, rows, columns = a.shape
    width = rows if complete else columns
    shapes = [(*front, rows, width), (*front, width, columns)]
    outputs = [(shape, str(a.dtype)) for shape in shapes]
    name = "qr_complete" if complete else "qr"
    q, r = (_core.stop_grad(x) for x in call(name, [a], outputs, ["a", "q", "r"]))
    if width == columns:
        factors: tuple[Var, Var] = _Factors.apply(a, q, r)
        return factors
    first, triangle = _Factors.apply(a, q[..., :columns], r[..., :columns, :])
    below = [(0, 0)] * len(front) + [(0, rows - columns), (0, 0)]
    return concat([first, completed(first, q[..., columns:])], -1), pad(triangle, below)


class _Factors(Function):
    """Factors that are there, with their derivatives by the matrix, which is not wide."""

    def execute(self, a: Var, q: Var, r: Var) -> tuple[Var, Var]:
        """Return the factors."""
        self.given = a, q, r
        return q, r

    def grad(self, by_q: Var | None, by_r: Var | None) -> tuple[Var, None, None]:
        """Return the gradient by the matrix."""
        q, r = _Factors.apply(*self.given)
        inner = 0.0 if by_r is None else matmul(by_r, r.mT)
        inner = inner if by_q is None else inner - matmul(q.mT, by_q)
        upper = triu(inner)
        outer = matmul(q, upper + triu(inner, 1).mT)
        outer = outer if by_q is None else outer + by_q
        return solve_lower(r.mT, outer.mT, transposed=True).mT, None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, Var]:
        """Return how the factors move with the matrix."""
        q, r = _Factors.apply(*self.given)
        moved = solve_lower(r.mT, tangent.mT).mT
        inner = matmul(q.mT, moved)
        below = tril(inner, -1)
        upper = inner - below + below.mT
        return moved - matmul(q, upper), matmul(upper, r)


def completed(basis: Var, rest: Var) -> Var:
    """Return the rest of an orthogonal matrix, without derivatives, with those by its basis.

    The rest moves no further than it must: it does not turn within its space. The gradient
    of what changes when it turns is NaN.
    """
    moving: Var = _Rest(True)(basis, rest)
    return moving


class _Rest(Function):
    """Columns that are there, with derivatives by those that they are orthogonal to.

    Within derivatives not all gradients by the columns come to one call: it is not whole.
    """

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole

    def execute(self, basis: Var, rest: Var) -> Var:
        """Return the columns."""
        self.given = basis, rest
        return rest

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the basis."""
        basis, rest = self.given[0], _Rest(False)(*self.given)
        made = -matmul(rest, matmul(gradient.mT, basis))
        if not self.is_whole or rest.shape[-1] < 2:
            return made, None
        turned = matmul(rest.mT, gradient)
        turning = largest(turned - turned.mT) > largest(gradient) * slack_of(rest)
        return where(turning, float("nan"), made), None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the columns move with the basis."""
        rest = _Rest(False)(*self.given)
        return -matmul(self.given[0], matmul(tangent.mT, rest))
