# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import cond as cond
from .. import fori_loop as fori_loop
from .. import map as map
from .. import scan as scan
from .. import switch as switch
from .. import while_loop as while_loop

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]
