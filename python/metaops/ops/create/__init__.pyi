# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import arange as arange
from ... import array as array
from ... import empty as empty
from ... import empty_like as empty_like
from ... import finfo as finfo
from ... import full as full
from ... import full_like as full_like
from ... import geomspace as geomspace
from ... import iinfo as iinfo
from ... import indices as indices
from ... import linspace as linspace
from ... import logspace as logspace
from ... import meshgrid as meshgrid
from ... import one_hot as one_hot
from ... import ones as ones
from ... import ones_like as ones_like
from ... import tensor as tensor
from ... import vander as vander
from ... import zeros as zeros
from ... import zeros_like as zeros_like

__all__ = [
    "arange",
    "array",
    "empty",
    "empty_like",
    "finfo",
    "full",
    "full_like",
    "geomspace",
    "iinfo",
    "indices",
    "linspace",
    "logspace",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "tensor",
    "vander",
    "zeros",
    "zeros_like",
]
