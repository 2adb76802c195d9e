# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: factors, equations, inverses, determinants and spectra of matrices."""

from .. import _session  # noqa: F401 (the functions need all of a session)
from ..compat._names import publish as _publish
from .backends import Backend, backend
from .conditions import cond
from .determinants import SlogdetResult, det, slogdet
from .eigenvalues import EigResult, eig, eigvals
from .elimination import LUResult, lu
from .equations import inv, inv_ex, solve, solve_ex
from .exponentials import expm
from .factors import cholesky, cholesky_ex
from .least_squares import LstsqResult, lstsq, matrix_rank, pinv
from .orthogonal import QRResult, qr
from .singular import SVDResult, svd, svdvals
from .spectra import EighResult, eigh, eigvalsh
from .triangles import cholesky_solve, solve_triangular

__all__ = [
    "Backend",
    "EigResult",
    "EighResult",
    "LUResult",
    "LstsqResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "backend",
    "cholesky",
    "cholesky_ex",
    "cholesky_solve",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "matrix_rank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
]

_publish(vars(), __all__)
