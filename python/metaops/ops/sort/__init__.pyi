# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import argpartition as argpartition
from ... import argsort as argsort
from ... import argwhere as argwhere
from ... import flatnonzero as flatnonzero
from ... import intersect1d as intersect1d
from ... import isin as isin
from ... import kthvalue as kthvalue
from ... import lexsort as lexsort
from ... import median as median
from ... import mode as mode
from ... import nonzero as nonzero
from ... import partition as partition
from ... import percentile as percentile
from ... import quantile as quantile
from ... import searchsorted as searchsorted
from ... import setdiff1d as setdiff1d
from ... import setxor1d as setxor1d
from ... import sort as sort
from ... import topk as topk
from ... import union1d as union1d
from ... import unique as unique
from ... import unique_all as unique_all
from ... import unique_consecutive as unique_consecutive
from ... import unique_counts as unique_counts
from ... import unique_inverse as unique_inverse
from ... import unique_values as unique_values

__all__ = [
    "argpartition",
    "argsort",
    "argwhere",
    "flatnonzero",
    "intersect1d",
    "isin",
    "kthvalue",
    "lexsort",
    "median",
    "mode",
    "nonzero",
    "partition",
    "percentile",
    "quantile",
    "searchsorted",
    "setdiff1d",
    "setxor1d",
    "sort",
    "topk",
    "union1d",
    "unique",
    "unique_all",
    "unique_consecutive",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
