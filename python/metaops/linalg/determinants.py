# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Determinants, with their derivatives at singular matrices."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.reduce.reduction import prod
from ..ops.shape.diagonals import diagonal, eye
from ._lu import Factors, factor_lu, identities_like, solve_rows
from ._matrices import as_matrices, as_square, call, rounded_like

__all__ = ["SlogdetResult", "det", "slogdet"]


class SlogdetResult(NamedTuple):
    """Signs of determinants, and the logarithms of their absolute values."""

    sign: Var
    logabsdet: Var


def det(a: VarLike) -> Var:
    """Return the determinants of matrices.

    Of a singular matrix it is 0, and its gradient the transposed of the adjugate. The second
    derivatives are right there, too; the third are NaN.

    Parameters
    ----------
    a : tensor, (..., n, n)
        The matrices.

    Returns
    -------
    Var, (...)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    """
    (x,), dtype = as_matrices(a)
    made = factor_lu(as_square("det", x))
    outputs, roles = [(x.shape[:-2], str(x.dtype))], ["factors", "pivots", "product"]
    (value,) = call("pivot_product", [made.factors, made.pivots], outputs, roles)
    value = _core.stop_grad(value)
    determinant: Var = _Det.apply(x, value, made.factors, made.pivots)
    return rounded_like(determinant, dtype)


def slogdet(a: VarLike) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Of a singular matrix they are 0 and -inf. Signs have no gradient.

    Parameters
    ----------
    a : tensor, (..., n, n)
        The matrices.

    Returns
    -------
    SlogdetResult of two Vars, (...)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    """
    (x,), dtype = as_matrices(a)
    made = factor_lu(as_square("slogdet", x))
    pivots = diagonal(made.factors, 0, -2, -1)
    sign = _core.stop_grad(_sign_of(made) * prod(pivots.sign(), dim=-1))
    value = _core.stop_grad(pivots.abs().log().sum(dim=-1))
    logarithm: Var = _LogAbsDet.apply(x, value, made.factors, made.pivots)
    return SlogdetResult(rounded_like(sign, dtype), rounded_like(logarithm, dtype))


def _sign_of(made: Factors) -> Var:
    """Return the determinants of the exchanges of rows."""
    n = made.a.shape[-1]
    exchanged = made.pivots != _core.iota((n,), 0, "int64") + 1
    return (1 - 2 * (exchanged.sum(dim=-1) % 2)).astype(made.a.dtype)


def _invert_transposed(a: Var, factors: Var, pivots: Var) -> Var:
    """Return the transposed of inverses, by the factors."""
    # The row of number i becomes column i of the inverse of the transposed, which is a row
    # of the inverse.
    return solve_rows(a, identities_like(a), factors, pivots)


class _LogAbsDet(Function):
    """Logarithms that are there, with their derivatives by the matrix."""

    def execute(self, a: Var, value: Var, factors: Var, pivots: Var) -> Var:
        """Return the logarithms."""
        self.given = a, factors, pivots
        return value

    def grad(self, gradient: Var) -> tuple[Var, None, None, None]:
        """Return the gradient by the matrix."""
        return gradient[..., None, None] * _invert_transposed(*self.given), None, None, None

    def jvp(self, tangent: Var, *_: None) -> Var:
        """Return how the logarithms move."""
        return (_invert_transposed(*self.given) * tangent).sum(dim=(-2, -1))


class _Det(Function):
    """Determinants that are there, with their derivatives by the matrix.

    The gradient is the determinant times the inverse. That of a singular matrix is made of
    its diagonal form; so is one of a determinant too small for its type.
    """

    def execute(self, a: Var, value: Var, factors: Var, pivots: Var) -> Var:
        """Return the determinants."""
        self.given = a, value, factors, pivots
        return value

    def _get_cofactors(self) -> Var:
        a, value, factors, pivots = self.given
        is_singular = (value == 0)[..., None, None]
        form = _DiagonalForm(is_singular, *_diagonalise(where(is_singular, a, 0)))
        regular = _core.stop_grad(where(is_singular, identities_like(a), factors))
        determinant = _Det.apply(a, value, factors, pivots)
        return where(
            is_singular,
            _Cofactors(form).apply_to(a),
            determinant[..., None, None] * _invert_transposed(a, regular, pivots),
        )

    def grad(self, gradient: Var) -> tuple[Var, None, None, None]:
        """Return the gradient by the matrix."""
        return gradient[..., None, None] * self._get_cofactors(), None, None, None

    def jvp(self, tangent: Var, *_: None) -> Var:
        """Return how the determinants move."""
        return (self._get_cofactors() * tangent).sum(dim=(-2, -1))


class _DiagonalForm(NamedTuple):
    """Matrices with left a right = diag(pivots), whose determinants are 1.

    Where a matrix is not singular, the form is that of zeros.
    """

    is_singular: Var
    left: Var
    right: Var
    pivots: Var

    def from_diagonal(self, x: Var) -> Var:
        """Return the gradient by `a` of a function of the diagonal form, given that by this."""
        return matmul(matmul(self.left.mT, x), self.right.mT)

    def get_products(self, numbers: int) -> Var:
        """Return the products of all pivots but one, or but two: 0 for twice the same."""
        is_zero = self.pivots == 0
        zeros, count = is_zero.astype("int64"), is_zero.sum(dim=-1, keepdims=True)
        factors = where(is_zero, 1, self.pivots)
        left_out = is_same = eye(self.pivots.shape[-1], dtype="int64") != 0
        is_none = count - zeros > 0
        if numbers == 2:
            is_none = ((count - zeros)[..., None] - zeros[..., None, :] > 0) | is_same
            factors = factors[..., None, :]
            left_out = is_same[:, None, :] | is_same[None, :, :]
        products = prod(where(left_out, 1, factors[..., None, :]), dim=-1)
        return where(is_none, 0, products)


def _diagonalise(a: Var) -> list[Var]:
    """Return left and right factors, and pivots, of the routine; without derivatives."""
    outputs, roles = [(a.shape, str(a.dtype))] * 3, ["a", "left", "right", "diagonal"]
    left, right, form = call("diagonal_form", [a], outputs, roles)
    return [_core.stop_grad(x) for x in (left, right, diagonal(form, 0, -2, -1))]


class _Cofactors(Function):
    """Cofactors that are there, of a singular matrix, with their derivatives by it.

    Determinants of D + F with a diagonal D are, in the second order of F, the sum over i < j of
    ``F[i, i] F[j, j] - F[i, j] F[j, i]``, times all elements of D but two.
    """

    def __init__(self, form: _DiagonalForm) -> None:
        self.form = form

    def apply_to(self, a: Var) -> Var:
        """Return the cofactors of the matrix."""
        form = self.form
        products = form.get_products(1)[..., None] * eye(a.shape[-1], dtype=a.dtype)
        cofactors: Var = self(a, _core.stop_grad(form.from_diagonal(products)))
        return cofactors

    def execute(self, a: Var, value: Var) -> Var:
        """Return the cofactors."""
        self.a = a
        return value

    def _move(self, tangent: Var) -> Var:
        """Return how the cofactors move with the matrix: a symmetric function."""
        form = self.form
        inner = matmul(matmul(form.left, tangent), form.right)
        products = form.get_products(2)
        own = matmul(products, diagonal(inner, 0, -2, -1)[..., None])
        moved = own * eye(tangent.shape[-1], dtype=tangent.dtype) - products * inner.mT
        last: Var = _LastDerivative.apply(self.a, form.is_singular, form.from_diagonal(moved))
        return last

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the matrix."""
        return self._move(gradient), None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the cofactors move."""
        return self._move(tangent)


class _LastDerivative(Function):
    """A value whose derivatives by a singular matrix are not known, and so are NaN."""

    def execute(self, a: Var, is_singular: Var, value: Var) -> Var:
        """Return the value."""
        self.unknown = where(is_singular, float("nan"), value * 0)
        return value

    def grad(self, gradient: Var) -> tuple[Var, None, Var]:
        """Return the gradients: NaN by the matrix."""
        return self.unknown, None, gradient

    def jvp(self, by_matrix: Var | None, _: None, tangent: Var | None) -> Var:
        """Return how the value moves."""
        if by_matrix is None:
            assert tangent is not None, "a tangent is there"
            return tangent
        return self.unknown if tangent is None else self.unknown + tangent
