# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import all as all
from ... import any as any
from ... import argmax as argmax
from ... import argmin as argmin
from ... import associative_scan as associative_scan
from ... import count_nonzero as count_nonzero
from ... import cummax as cummax
from ... import cummin as cummin
from ... import cumprod as cumprod
from ... import cumsum as cumsum
from ... import cumulative_prod as cumulative_prod
from ... import cumulative_sum as cumulative_sum
from ... import cumulative_trapezoid as cumulative_trapezoid
from ... import linear_recurrence as linear_recurrence
from ... import logcumsumexp as logcumsumexp
from ... import logsumexp as logsumexp
from ... import matrix_norm as matrix_norm
from ... import max as max
from ... import mean as mean
from ... import min as min
from ... import nanargmax as nanargmax
from ... import nanargmin as nanargmin
from ... import nancumprod as nancumprod
from ... import nancumsum as nancumsum
from ... import nanmedian as nanmedian
from ... import nanpercentile as nanpercentile
from ... import nanquantile as nanquantile
from ... import norm as norm
from ... import prod as prod
from ... import ptp as ptp
from ... import segment_logsumexp as segment_logsumexp
from ... import segment_max as segment_max
from ... import segment_mean as segment_mean
from ... import segment_min as segment_min
from ... import segment_prod as segment_prod
from ... import segment_sum as segment_sum
from ... import std as std
from ... import sum as sum
from ... import unwrap as unwrap
from ... import var as var

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "associative_scan",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "cumulative_trapezoid",
    "linear_recurrence",
    "logcumsumexp",
    "logsumexp",
    "matrix_norm",
    "max",
    "mean",
    "min",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "norm",
    "prod",
    "ptp",
    "segment_logsumexp",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "std",
    "sum",
    "unwrap",
    "var",
]
