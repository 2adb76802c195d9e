# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A deep-learning compiler and light runtime built from meta-operators.

Tensors are lazy: operators are recorded, and what is asked for is compiled as a
whole and run. See `Var` for tensors, `grad` for derivatives, `nn` for layers and
`optim` for optimisers. `load_program` runs exported programs, and needs no compiler.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._lazy import make_lazy as _make_lazy

__version__ = "0.1.0"

if _TYPE_CHECKING:
    from ._package import *  # noqa: F403
    from ._package import _core, bool  # noqa: F401

# `_package` has all that is here. It is run when it is first needed, which it is not by
# those who run programs only.
_make_lazy(__name__, code="_package", light={"load_program": "execute"})
