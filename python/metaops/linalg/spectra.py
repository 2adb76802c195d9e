# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._core import Var, matmul
from .._typing import VarLike
from ..func.derivatives import Function
from ..ops.shape.blocks import diag_embed
from ..ops.shape.diagonals import diagonal
from ._gaps import over_differences, over_gaps
from ._matrices import as_matrices, as_square, call, check_codes, held_back, rounded_like

__all__ = ["EighResult", "checked", "eigh", "eigvalsh"]

#: By the numbers that routines give.
_REASONS = ("has elements that are not finite", "is one with which the library does not converge")


class EighResult(NamedTuple):
    """Rising eigenvalues, and eigenvectors in columns."""

    eigenvalues: Var
    eigenvectors: Var


def eigh(a: VarLike, *, upper: bool = False, check: bool = True) -> EighResult:
    """Return the eigenvalues and eigenvectors of symmetric matrices.

    The signs of vectors, and vectors of equal values, depend on the library. A gradient of
    something that does not depend on them is right; see docs/LinearAlgebra.md.

    Parameters
    ----------
    a : tensor, (..., n, n)
        Symmetric matrices, of which the lower triangles are read; the upper ones if `upper`.
    upper : bool
        Which triangle is read.
    check : bool
        Whether NaN or an infinity among what is read is an error, rather than NaN.

    Returns
    -------
    EighResult of two Vars, (..., n) and (..., n, n)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.

    Examples
    --------
    >>> mo.linalg.eigh([[2.0, 1.0], [1.0, 2.0]]).eigenvalues
    Var([1., 3.], dtype=float32)
    """
    x, dtype = _as_lower("eigh", a, upper)
    values, vectors = _decomposed("eigh", x, check)
    return EighResult(rounded_like(values, dtype), rounded_like(vectors, dtype))


def eigvalsh(a: VarLike, *, upper: bool = False, check: bool = True) -> Var:
    """Return the eigenvalues of symmetric matrices, as `eigh`, in rising order.

    Parameters
    ----------
    a : tensor, (..., n, n)
    upper, check
        As for `eigh`.

    Returns
    -------
    Var, (..., n)
        Of the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.
    """
    x, dtype = _as_lower("eigvalsh", a, upper)
    outputs = [(x.shape[:-1], str(x.dtype)), (x.shape[:-2], "int64")]
    values, info = call("eigvalsh", [x], outputs, ["a", "values", "info"])
    (values,) = checked("eigvalsh", [values], info, check)
    return rounded_like(_Values.apply(x, values), dtype)


def _as_lower(what: str, a: VarLike, upper: bool) -> tuple[Var, str]:
    """Return matrices whose lower triangles are read, and the dtype of results."""
    (x,), dtype = as_matrices(a)
    as_square(what, x)
    return (x.mT if upper else x), dtype


def checked(what: str, made: list[Var], info: Var, check: bool) -> list[Var]:
    """Return what a routine has made of matrices, without derivatives, behind its check."""
    if not check:
        return [_core.stop_grad(x) for x in made]
    return held_back(made, check_codes(what, info, *_REASONS))


def _decomposed(what: str, x: Var, check: bool) -> tuple[Var, Var]:
    made: tuple[Var, Var] = _Eigh(True)(x, *_find(what, x, check))
    return made


def _find_vectors(x: Var) -> Var:
    """Return eigenvectors within derivatives of values."""
    vectors: Var = _Eigh(False)(x, *_find("eigvalsh", x, check=False))[1]
    return vectors


def _find(what: str, x: Var, check: bool) -> tuple[Var, Var]:
    """Return eigenvalues and eigenvectors without derivatives."""
    shapes = [(x.shape[:-1], str(x.dtype)), (x.shape, str(x.dtype)), (x.shape[:-2], "int64")]
    roles = ["a", "values", "vectors", "info"]
    values, rows, info = call("eigh", [x], shapes, roles, over=[-1, 0, -1])
    values, rows = checked(what, [values, rows], info, check)
    return values, rows.mT


class _Eigh(Function):
    """Eigenvalues and eigenvectors that are there, with their derivatives by the matrix.

    Of a symmetric matrix, the gradient is symmetric. Within derivatives not all gradients by
    values and vectors come to one call: it is not whole.
    """

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole

    def execute(self, a: Var, values: Var, vectors: Var) -> tuple[Var, Var]:
        """Return values and vectors."""
        self.given = a, values, vectors
        return values, vectors

    def grad(self, by_values: Var | None, by_vectors: Var | None) -> tuple[Var, None, None]:
        """Return the gradient by the matrix."""
        values, vectors = _Eigh(False)(*self.given)
        if by_vectors is None:
            assert by_values is not None, "a gradient is there"
            return matmul(vectors * by_values[..., None, :], vectors.mT), None, None
        turned = matmul(vectors.mT, by_vectors)
        inner = over_differences(turned, values, by_values, self.is_whole)
        if by_values is not None:
            inner = inner + diag_embed(by_values)
        return matmul(matmul(vectors, inner), vectors.mT), None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, Var]:
        """Return how values and vectors move with the matrix."""
        values, vectors = _Eigh(False)(*self.given)
        symmetric = (tangent + tangent.mT) * 0.5
        inner = matmul(vectors.mT, matmul(symmetric, vectors))
        return diagonal(inner, 0, -2, -1), matmul(vectors, over_gaps(inner, values))


class _Values(Function):
    """Eigenvalues that are there, with their derivatives by the matrix."""

    def execute(self, a: Var, values: Var) -> Var:
        """Return the values."""
        self.a = a
        return values

    def grad(self, gradient: Var) -> tuple[Var, None]:
        """Return the gradient by the matrix."""
        vectors = _find_vectors(self.a)
        return matmul(vectors * gradient[..., None, :], vectors.mT), None

    def jvp(self, tangent: Var, _: None) -> Var:
        """Return how the values move with the matrix."""
        vectors = _find_vectors(self.a)
        return (vectors * matmul((tangent + tangent.mT) * 0.5, vectors)).sum(dim=-2)
