# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from . import create as create
from . import elementwise as elementwise
from . import index as index
from . import products as products
from . import reduce as reduce
from . import shape as shape
from . import signal as signal
from . import sort as sort
from . import statistics as statistics

__all__ = [
    "create",
    "elementwise",
    "index",
    "products",
    "reduce",
    "shape",
    "signal",
    "sort",
    "statistics",
]
