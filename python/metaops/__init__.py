# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A deep-learning compiler and light runtime built from meta-operators.

Tensors are lazy: operators are recorded, and what is asked for is compiled as a
whole and run. See `Var` for tensors, `grad` for derivatives, `nn` for layers and
`optim` for optimisers.
"""

from . import activations, creation, elementwise, nn, optim, reduction, sampling, shaping
from . import methods as _methods  # noqa: F401
from ._core import (
    Var,
    array,
    broadcast,
    broadcast_var,
    dump,
    fetch,
    fetch_sync,
    full,
    get_num_threads,
    iota,
    random,
    reindex,
    reindex_reduce,
    reset_peak,
    seed,
    set_num_threads,
    stats,
    stop_fuse,
    stop_grad,
    sync,
    sync_all,
)
from .activations import *  # noqa: F403
from .creation import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .flags import flags
from .gradients import grad, hessian_vector_product, jvp, vjp
from .info import LastProgram, last_program
from .io import load, save
from .linalg import matmul
from .nn import Module, Sequential
from .reduction import *  # noqa: F403
from .sampling import *  # noqa: F403
from .shaping import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    # Tensors and meta-operators
    "Var",
    "array",
    "full",
    "iota",
    "random",
    "seed",
    "broadcast",
    "broadcast_var",
    "reindex",
    "reindex_reduce",
    "matmul",
    "stop_fuse",
    "stop_grad",
    # Derivatives
    "grad",
    "hessian_vector_product",
    "jvp",
    "vjp",
    # Models
    "Module",
    "Sequential",
    "nn",
    "optim",
    "load",
    "save",
    # Running and looking inside
    "fetch",
    "fetch_sync",
    "sync",
    "sync_all",
    "dump",
    "flags",
    "get_num_threads",
    "set_num_threads",
    "LastProgram",
    "last_program",
    "reset_peak",
    "stats",
]
__all__ += activations.__all__
__all__ += creation.__all__
__all__ += elementwise.__all__
__all__ += reduction.__all__
__all__ += sampling.__all__
__all__ += shaping.__all__
