# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Singular values and their vectors."""

from __future__ import annotations

from typing import NamedTuple

from .._core import Var, matmul
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.shape.blocks import diag_embed
from ..ops.shape.diagonals import diagonal
from ..ops.shape.stacking import concat
from ._gaps import over_differences, over_gaps, quotient
from ._matrices import as_matrices, as_matrix, call, rounded_like
from .orthogonal import completed
from .spectra import checked

__all__ = ["SVDResult", "decomposed", "svd", "svdvals", "values_of"]


class SVDResult(NamedTuple):
    """Left vectors in columns, falling singular values, and right vectors in rows."""

    U: Var
    S: Var
    Vh: Var


def svd(a: VarLike, full_matrices: bool = True, *, check: bool = True) -> SVDResult:
    """Return singular values and vectors, with a = U diag(S) Vh.

    The signs of vectors, and vectors of equal values, depend on the library. A gradient of
    something that does not depend on them is right; see docs/LinearAlgebra.md.

    Parameters
    ----------
    a : tensor, (..., m, n)
        The matrices; there are k = min(m, n) values.
    full_matrices : bool
        Whether U is (..., m, m) and Vh (..., n, n), rather than (..., m, k) and (..., k, n).
    check : bool
        Whether NaN or an infinity is an error, rather than NaN.

    Returns
    -------
    SVDResult of three Vars
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.

    References
    ----------
    J. Townsend, "Differentiating the singular value decomposition", 2016.

    Examples
    --------
    >>> mo.linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S
    Var([4., 3.], dtype=float32)
    """
    (x,), dtype = as_matrices(a)
    made = decomposed("svd", as_matrix("svd", x), bool(full_matrices), check)
    return SVDResult(*(rounded_like(each, dtype) for each in made))


def svdvals(a: VarLike, *, check: bool = True) -> Var:
    """Return the singular values of matrices, as `svd`, in falling order.

    Parameters
    ----------
    a : tensor, (..., m, n)
    check : bool
        As for `svd`.

    Returns
    -------
    Var, (..., min(m, n))
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.
    """
    (x,), dtype = as_matrices(a)
    return rounded_like(values_of("svdvals", as_matrix("svdvals", x), check), dtype)


def values_of(what: str, x: Var, check: bool = True) -> Var:
    """Return singular values of matrices of a type that the library takes."""
    *front, rows, columns = x.shape
    outputs = [((*front, min(rows, columns)), str(x.dtype)), (front, "int64")]
    values, info = call("svdvals", [x], outputs, ["a", "values", "info"])
    (values,) = checked(what, [values], info, check)
    made: Var = _Values.apply(x, values)
    return made


def decomposed(
    what: str, x: Var, full: bool, check: bool, is_whole: bool = True
) -> tuple[Var, Var, Var]:
    """Return vectors, values, and vectors of matrices of a type that the library takes."""
    *front, rows, columns = x.shape
    rank = min(rows, columns)
    full = full and rows != columns
    left, right = (rows, columns) if full else (rank, rank)
    shapes = [(*front, rows, left), (*front, rank), (*front, right, columns)]
    outputs = [*((shape, str(x.dtype)) for shape in shapes), (front, "int64")]
    roles = ["a", "u", "values", "vh", "info"]
    u, s, vh, info = call("svd_full" if full else "svd", [x], outputs, roles)
    u, s, vh = checked(what, [u, s, vh], info, check)
    if not full:
        made: tuple[Var, Var, Var] = _Svd(is_whole)(x, u, s, vh)
        return made
    thin, values, rows_of = _Svd(is_whole)(x, u[..., :rank], s, vh[..., :rank, :])
    if rows > rank:
        thin = concat([thin, completed(thin, u[..., rank:])], -1)
    if columns > rank:
        rest = completed(rows_of.mT, vh[..., rank:, :].mT)
        rows_of = concat([rows_of, rest.mT], -2)
    return thin, values, rows_of


class _Svd(Function):
    """Singular values and vectors that are there, with their derivatives by the matrix.

    Within derivatives not all gradients by values and vectors come to one call: it is not
    whole.
    """

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole

    def execute(self, a: Var, u: Var, s: Var, vh: Var) -> tuple[Var, Var, Var]:
        """Return vectors, values, and vectors."""
        self.given = a, u, s, vh
        return u, s, vh

    def grad(
        self, by_u: Var | None, by_s: Var | None, by_vh: Var | None
    ) -> tuple[Var, None, None, None]:
        """Return the gradient by the matrix."""
        u, s, vh = _Svd(False)(*self.given)
        zeros = 0.0 * (s[..., None, :] + s[..., :, None])
        left = zeros if by_u is None else matmul(u.mT, by_u)
        right = zeros if by_vh is None else matmul(vh, by_vh.mT)
        inner = zeros if by_s is None else diag_embed(by_s)
        if by_u is not None or by_vh is not None:
            skew = left - right
            inner = inner + over_differences(left + right, s, by_s, self.is_whole)
            inner = inner + _over_sums((skew - skew.mT) * 0.5, s)
        gradient = matmul(matmul(u, inner), vh)
        is_unknown = not self.is_whole if by_s is None else (by_s != 0) | (not self.is_whole)
        if by_u is not None and u.shape[-2] > u.shape[-1]:
            outside = _over_values(by_u - matmul(u, left), s, is_unknown)
            gradient = gradient + matmul(outside, vh)
        if by_vh is not None and vh.shape[-1] > vh.shape[-2]:
            beside = _over_values(by_vh.mT - matmul(vh.mT, right), s, is_unknown)
            gradient = gradient + matmul(u, beside.mT)
        return gradient, None, None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, Var, Var]:
        """Return how vectors, values, and vectors move with the matrix."""
        u, s, vh = _Svd(False)(*self.given)
        left, right = matmul(tangent, vh.mT), matmul(tangent.mT, u)
        inner = matmul(u.mT, left)
        both = over_gaps((inner + inner.mT) * 0.5, s)
        one = _over_sums((inner - inner.mT) * 0.5, s)
        by_u, by_v = matmul(u, both + one), matmul(vh.mT, both - one)
        if u.shape[-2] > u.shape[-1]:
            by_u = by_u + _over_values(left - matmul(u, inner), s)
        if vh.shape[-1] > vh.shape[-2]:
            by_v = by_v + _over_values(right - matmul(vh.mT, inner.mT), s)
        return by_u, diagonal(inner, 0, -2, -1), by_v.mT


def _over_sums(x: Var, s: Var) -> Var:
    """Return x[i, j] / (s[i] + s[j])."""
    return quotient(x, s[..., None, :] + s[..., :, None])


def _over_values(x: Var, s: Var, is_unknown: Var | bool = False) -> Var:
    """Return columns over their values, as `quotient`."""
    if isinstance(is_unknown, Var):
        is_unknown = is_unknown[..., None, :]
    return quotient(x, s[..., None, :], is_unknown)


class _Values(Function):
    """Singular values that are there, with their derivatives by the matrix."""

    def execute(self, a: Var, values: Var) -> Var:
        """Return the values."""
        self.a = a
        return values

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the matrix."""
        u, vh = _find_vectors(self.a)
        return matmul(u * gradient[..., None, :], vh), None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the values move with the matrix."""
        u, vh = _find_vectors(self.a)
        return (u * matmul(tangent, vh.mT)).sum(dim=-2)


def _find_vectors(x: Var) -> tuple[Var, Var]:
    """Return singular vectors within derivatives of values."""
    u, _, vh = decomposed("svdvals", x, False, check=False, is_whole=False)
    return u, vh
