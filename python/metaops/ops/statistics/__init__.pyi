# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import average as average
from ... import bincount as bincount
from ... import corrcoef as corrcoef
from ... import cov as cov
from ... import digitize as digitize
from ... import histogram as histogram
from ... import histogram2d as histogram2d
from ... import histogram_bin_edges as histogram_bin_edges
from ... import histogramdd as histogramdd
from ... import nanmax as nanmax
from ... import nanmean as nanmean
from ... import nanmin as nanmin
from ... import nanprod as nanprod
from ... import nanstd as nanstd
from ... import nansum as nansum
from ... import nanvar as nanvar

__all__ = [
    "average",
    "bincount",
    "corrcoef",
    "cov",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]
