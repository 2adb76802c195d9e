# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: factors, equations, inverses and determinants of matrices."""

from .. import _session  # noqa: F401 (the functions need all of a session)
from ..compat._names import publish as _publish
from .backends import Backend, backend
from .determinants import SlogdetResult, det, slogdet
from .equations import inv, inv_ex, solve, solve_ex
from .factors import cholesky, cholesky_ex
from .triangles import cholesky_solve, solve_triangular

__all__ = [
    "Backend",
    "SlogdetResult",
    "backend",
    "cholesky",
    "cholesky_ex",
    "cholesky_solve",
    "det",
    "inv",
    "inv_ex",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
]

_publish(vars(), __all__)
