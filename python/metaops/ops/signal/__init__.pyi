# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import bartlett as bartlett
from ... import blackman as blackman
from ... import convolve as convolve
from ... import correlate as correlate
from ... import diff as diff
from ... import ediff1d as ediff1d
from ... import gradient as gradient
from ... import hamming as hamming
from ... import hanning as hanning
from ... import interp as interp
from ... import kaiser as kaiser
from ... import polyadd as polyadd
from ... import polyder as polyder
from ... import polyint as polyint
from ... import polymul as polymul
from ... import polysub as polysub
from ... import polyval as polyval
from ... import trapezoid as trapezoid

__all__ = [
    "bartlett",
    "blackman",
    "convolve",
    "correlate",
    "diff",
    "ediff1d",
    "gradient",
    "hamming",
    "hanning",
    "interp",
    "kaiser",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "trapezoid",
]
