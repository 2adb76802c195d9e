# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import asarray as asarray
from .. import astype as astype
from .. import can_cast as can_cast
from .. import conj as conj
from .. import from_dlpack as from_dlpack
from .. import imag as imag
from .. import isdtype as isdtype
from .. import real as real
from .. import result_type as result_type

__all__ = [
    "asarray",
    "astype",
    "can_cast",
    "conj",
    "from_dlpack",
    "imag",
    "isdtype",
    "real",
    "result_type",
]
