# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import code as code
from .. import host_call as host_call
from .. import load_routines as load_routines
from .. import routine as routine

__all__ = ["code", "host_call", "load_routines", "routine"]
