# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import ContextFunction as ContextFunction
from .. import Function as Function
from .. import checkpoint as checkpoint
from .. import checkpoint_name as checkpoint_name
from .. import custom_jvp as custom_jvp
from .. import custom_vjp as custom_vjp
from .. import functional_call as functional_call
from .. import hessian as hessian
from .. import jacobian as jacobian
from .. import linearize as linearize
from .. import vmap as vmap

__all__ = [
    "ContextFunction",
    "Function",
    "checkpoint",
    "checkpoint_name",
    "custom_jvp",
    "custom_vjp",
    "functional_call",
    "hessian",
    "jacobian",
    "linearize",
    "vmap",
]
