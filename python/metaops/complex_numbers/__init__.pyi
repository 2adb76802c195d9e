# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import Complex as Complex
from .. import angle as angle
from .. import complex64 as complex64
from .. import complex128 as complex128
from .. import iscomplex as iscomplex
from .. import iscomplexobj as iscomplexobj
from .. import isreal as isreal
from .. import isrealobj as isrealobj
from .. import polar as polar
from .. import view_as_complex as view_as_complex
from .. import view_as_real as view_as_real

__all__ = [
    "Complex",
    "angle",
    "complex128",
    "complex64",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "polar",
    "view_as_complex",
    "view_as_real",
]
