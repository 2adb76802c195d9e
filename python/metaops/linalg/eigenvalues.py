# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eigenvalues and eigenvectors of any square matrices, which are complex numbers."""

from __future__ import annotations

from typing import NamedTuple

from .._core import Var, matmul
from .._errors import at_line
from .._typing import VarLike, shown
from ..complex_numbers.halves import is_pair
from ..complex_numbers.pair import Complex
from ..func.derivatives import Function
from ..ops.elementwise.elementwise import where
from ..ops.shape.blocks import diag_embed
from ..ops.shape.diagonals import diagonal, eye
from ..ops.shape.stacking import concat
from ._gaps import largest
from ._matrices import as_matrices, as_square, call, rounding_of
from .equations import solve
from .spectra import checked

__all__ = ["EigResult", "eig", "eigvals"]


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns."""

    eigenvalues: Complex
    eigenvectors: Complex


def eig(a: VarLike, *, check: bool = True) -> EigResult:
    """Return the eigenvalues and eigenvectors of square matrices.

    The order of values, and phases of vectors, depend on the library; each vector has the
    length 1, and its largest element is real. A gradient of something that does not depend
    on phases is right; see docs/LinearAlgebra.md.

    Parameters
    ----------
    a : tensor, (..., n, n)
        Real matrices.
    check : bool
        Whether NaN or an infinity in a matrix is an error, rather than NaN.

    Returns
    -------
    EigResult of two Complex, (..., n) and (..., n, n)
        Of halves in the type of `a`, float32 or float64; integers become the default float.

    Raises
    ------
    TypeError
        If the matrices are complex.
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.

    References
    ----------
    C. Boeddeker et al., "On the computation of complex-valued gradients with application to
    statistically optimum beamforming", 2017, section 4.

    Examples
    --------
    >>> mo.linalg.eig([[0.0, 1.0], [-1.0, 0.0]]).eigenvalues
    Complex([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = _as_real("eig", a)
    parts = _Eig.apply(x, *_find("eig", x, check))
    return EigResult(Complex._of(*parts[:2]), Complex._of(*parts[2:]))


def eigvals(a: VarLike, *, check: bool = True) -> Complex:
    """Return the eigenvalues of square matrices, as `eig`.

    Parameters
    ----------
    a : tensor, (..., n, n)
    check
        As for `eig`.

    Returns
    -------
    Complex, (..., n)

    Raises
    ------
    TypeError
        If the matrices are complex.
    ValueError
        If the matrices are not square.
    numpy.linalg.LinAlgError
        Where values are asked for: if elements are not finite.
    """
    x = _as_real("eigvals", a)
    shape = x.shape[:-1], str(x.dtype)
    outputs = [shape, shape, (x.shape[:-2], "int64")]
    real, imag, info = call("eigvals", [x], outputs, ["a", "real", "imag", "info"])
    values = checked("eigvals", [real, imag], info, check)
    return Complex._of(*_Values.apply(x, *values))


def _as_real(what: str, a: VarLike) -> Var:
    if is_pair(a):
        raise at_line(TypeError(f"{what}: the matrices are {shown(a)}, expected real ones"))
    (x,), _ = as_matrices(a)
    return as_square(what, x)


def _find(what: str, x: Var, check: bool) -> list[Var]:
    """Return both halves of values and of vectors, without derivatives."""
    values, vectors = (x.shape[:-1], str(x.dtype)), (x.shape, str(x.dtype))
    outputs = [values, values, vectors, vectors, (x.shape[:-2], "int64")]
    roles = ["a", "real", "imag", "vectors_real", "vectors_imag", "info"]
    *made, info = call("eig", [x], outputs, roles)
    return checked(what, made, info, check)


def _find_both(x: Var) -> tuple[Complex, Complex]:
    """Return values and vectors within derivatives of values."""
    parts = _Eig.apply(x, *_find("eigvals", x, check=False))
    return Complex._of(*parts[:2]), Complex._of(*parts[2:])


def _solved(a: Complex, b: Complex) -> Complex:
    """Return the solutions of equations, by real ones of twice the size."""
    rows = [concat([a.real, -a.imag], -1), concat([a.imag, a.real], -1)]
    x = solve(concat(rows, -2), concat([b.real, b.imag], -2), check=False)
    n = a.shape[-1]
    return Complex._of(x[..., :n, :], x[..., n:, :])


def _product(a: Complex, b: Complex) -> Complex:
    made: Complex = a @ b
    return made


def _as_pair(real: Var | None, imag: Var | None) -> Complex | None:
    """Return the gradients by both halves; nothing where there are none."""
    if real is None and imag is None:
        return None
    some = real if real is not None else imag
    assert some is not None, "one is there"
    return Complex._of(
        some * 0 if real is None else real,
        some * 0 if imag is None else imag,
    )


def _over_gaps(x: Complex, values: Complex) -> Complex:
    """Return x[i, j] / (values[j] - values[i]), and 0 on the diagonal.

    Where values are equal it is 0 if x is, else NaN.
    """
    real, imag = (part[..., None, :] - part[..., :, None] for part in (values.real, values.imag))
    sizes = real * real + imag * imag
    rounding = rounding_of(real, 4)
    biggest = largest(values.real**2 + values.imag**2, [-1])[..., None]
    is_equal = sizes <= biggest * rounding**2
    inverse = 1 / where(is_equal, 1, sizes)
    is_none = (x.real == 0) & (x.imag == 0)
    is_diagonal = eye(x.shape[-1], dtype="int64") != 0
    limit = where(is_none | is_diagonal, 0.0, float("nan"))
    parts = x.real * real + x.imag * imag, x.imag * real - x.real * imag
    return Complex._of(*(where(is_equal, limit, part * inverse) for part in parts))


def _by_matrix(vectors: Complex, inner: Complex) -> Var:
    """Return the gradient by a real matrix A, given that by V^-1 A V."""
    adjoint = vectors.H
    return _solved(adjoint, _product(inner, adjoint)).real


def _embedded(x: Complex) -> Complex:
    """Return diagonal matrices."""
    return Complex._of(diag_embed(x.real), diag_embed(x.imag))


def _moved(x: Var, vectors: Complex) -> Complex:
    """Return V^-1 X V."""
    product = Complex._of(matmul(x, vectors.real), matmul(x, vectors.imag))
    return _solved(vectors, product)


def _diagonal(x: Complex) -> tuple[Var, Var]:
    return diagonal(x.real, 0, -2, -1), diagonal(x.imag, 0, -2, -1)


class _Eig(Function):
    """Halves of values and vectors that are there, with their derivatives by the matrix.

    Vectors keep the length 1. Their phases are no functions of the matrix, so no vector moves
    along itself times i: that is PyTorch's convention.
    """

    def execute(self, a: Var, *parts: Var) -> tuple[Var, ...]:
        """Return the halves."""
        self.given = a, *parts
        return parts

    def _get(self) -> tuple[Complex, Complex]:
        parts = _Eig.apply(*self.given)
        return Complex._of(*parts[:2]), Complex._of(*parts[2:])

    def grad(self, *gradients: Var | None) -> tuple[Var | None, ...]:
        """Return the gradient by the matrix."""
        values, vectors = self._get()
        by_values, by_vectors = _as_pair(*gradients[:2]), _as_pair(*gradients[2:])
        inner = None if by_values is None else _embedded(by_values)
        if by_vectors is not None:
            adjoint = vectors.H
            turned, gram = _product(adjoint, by_vectors), _product(adjoint, vectors)
            own = diagonal(turned.real, 0, -2, -1)[..., None, :]
            free = Complex._of(turned.real - gram.real * own, turned.imag - gram.imag * own)
            between = _over_gaps(free, values.conj())
            inner = between if inner is None else inner + between
        assert inner is not None, "a gradient is there"
        return _by_matrix(vectors, inner), None, None, None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, ...]:
        """Return how values and vectors move with the matrix."""
        values, vectors = self._get()
        moved = _moved(tangent, vectors)
        turned = _product(vectors, _over_gaps(moved, values))
        own = (vectors.real * turned.real + vectors.imag * turned.imag).sum(dim=-2, keepdims=True)
        real, imag = turned.real - vectors.real * own, turned.imag - vectors.imag * own
        return (*_diagonal(moved), real, imag)


class _Values(Function):
    """Halves of values that are there, with their derivatives by the matrix."""

    def execute(self, a: Var, real: Var, imag: Var) -> tuple[Var, Var]:
        """Return the halves."""
        self.a = a
        return real, imag

    def grad(self, by_real: Var | None, by_imag: Var | None) -> tuple[Var, None, None]:
        """Return the gradient by the matrix."""
        _, vectors = _find_both(self.a)
        by_values = _as_pair(by_real, by_imag)
        assert by_values is not None, "a gradient is there"
        return _by_matrix(vectors, _embedded(by_values)), None, None

    def jvp(self, tangent: Var, *_: None) -> tuple[Var, Var]:
        """Return how the values move with the matrix."""
        return _diagonal(_moved(tangent, _find_both(self.a)[1]))
