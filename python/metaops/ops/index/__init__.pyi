# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import choose as choose
from ... import compress as compress
from ... import diag_indices as diag_indices
from ... import diag_indices_from as diag_indices_from
from ... import extract as extract
from ... import fill_diagonal as fill_diagonal
from ... import gather as gather
from ... import ix_ as ix_
from ... import piecewise as piecewise
from ... import put_along_axis as put_along_axis
from ... import ravel_multi_index as ravel_multi_index
from ... import scatter_add as scatter_add
from ... import select as select
from ... import take as take
from ... import take_along_axis as take_along_axis
from ... import tril_indices_from as tril_indices_from
from ... import triu_indices_from as triu_indices_from
from ... import unravel_index as unravel_index

__all__ = [
    "choose",
    "compress",
    "diag_indices",
    "diag_indices_from",
    "extract",
    "fill_diagonal",
    "gather",
    "ix_",
    "piecewise",
    "put_along_axis",
    "ravel_multi_index",
    "scatter_add",
    "select",
    "take",
    "take_along_axis",
    "tril_indices_from",
    "triu_indices_from",
    "unravel_index",
]
