# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import cdist as cdist
from ... import cross as cross
from ... import dot as dot
from ... import einsum as einsum
from ... import einsum_path as einsum_path
from ... import inner as inner
from ... import kron as kron
from ... import matrix_power as matrix_power
from ... import matrix_transpose as matrix_transpose
from ... import matvec as matvec
from ... import multi_dot as multi_dot
from ... import outer as outer
from ... import pdist as pdist
from ... import renorm as renorm
from ... import tensordot as tensordot
from ... import vdot as vdot
from ... import vecdot as vecdot
from ... import vecmat as vecmat

__all__ = [
    "cdist",
    "cross",
    "dot",
    "einsum",
    "einsum_path",
    "inner",
    "kron",
    "matrix_power",
    "matrix_transpose",
    "matvec",
    "multi_dot",
    "outer",
    "pdist",
    "renorm",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]
