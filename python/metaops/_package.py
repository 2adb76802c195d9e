# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The variables of the package, for `metaops/__init__.py`, which runs this code as its own."""

from . import (
    _core,
    _devices,
    activations,
    array_api,
    bits,
    blocks,
    categories,
    choices,
    closeness,
    contraction,
    counts,
    creation,
    cumulative,
    diagonals,
    differences,
    distances,
    distinct,
    distributions,
    elementwise,
    filters,
    floats,
    functions,
    gammas,
    gathering,
    grids,
    histograms,
    limits,
    nan_orders,
    nn,
    norms,
    optim,
    orders,
    packing,
    padding,
    places,
    polynomials,
    products,
    quantiles,
    reduction,
    repeating,
    rounding,
    running,
    sampling,
    searching,
    segments,
    sets,
    shaping,
    sorting,
    splitting,
    stacking,
    statistics,
    tapers,
    windows,
)
from . import cache as _cache
from . import methods as _methods  # noqa: F401
from ._core import (  # noqa: F401
    Var,
    array,
    bfloat16,
    bool,
    broadcast,
    broadcast_var,
    dtype,
    dump,
    fetch_sync,
    float16,
    float32,
    float64,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    iota,
    matmul,
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
    tensor,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._devices import *  # noqa: F403
from ._names import publish as _publish
from .activations import *  # noqa: F403
from .array_api import *  # noqa: F403
from .array_api import (  # noqa: F401
    __array_api_version__,
    __array_namespace_info__,
    e,
    inf,
    nan,
    newaxis,
    pi,
)
from .bits import *  # noqa: F403
from .blocks import *  # noqa: F403
from .calibration import load as _load_machine_figures
from .categories import *  # noqa: F403
from .choices import *  # noqa: F403
from .closeness import *  # noqa: F403
from .contraction import *  # noqa: F403
from .counts import *  # noqa: F403
from .creation import *  # noqa: F403
from .cumulative import *  # noqa: F403
from .diagonals import *  # noqa: F403
from .differences import *  # noqa: F403
from .distances import *  # noqa: F403
from .distinct import *  # noqa: F403
from .distributions import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .exchange import asarray, from_dlpack
from .explain import Explanation, KernelExplanation, explain
from .exporting import export, load_program
from .fetching import fetch
from .filters import *  # noqa: F403
from .flags import default_dump_directory as _default_dump_directory
from .flags import default_poison as _default_poison
from .flags import flag_scope, flags
from .floats import *  # noqa: F403
from .functions import *  # noqa: F403
from .gammas import *  # noqa: F403
from .gathering import *  # noqa: F403
from .gradients import (
    enable_grad,
    grad,
    hessian_vector_product,
    is_grad_enabled,
    jvp,
    no_grad,
    vjp,
)
from .grids import *  # noqa: F403
from .histograms import *  # noqa: F403
from .info import LastProgram, last_program
from .io import load, save
from .keys import Key
from .limits import *  # noqa: F403
from .memory import MemoryHolder, estimate, memory_holders, memory_stats, memory_summary
from .nan_orders import *  # noqa: F403
from .nn import Module, Sequential
from .norms import *  # noqa: F403
from .orders import *  # noqa: F403
from .packing import *  # noqa: F403
from .padding import *  # noqa: F403
from .places import *  # noqa: F403
from .polynomials import *  # noqa: F403
from .products import *  # noqa: F403
from .profiler import KernelProfile, ProfileReport, ProgramProfile, profile_scope
from .quantiles import *  # noqa: F403
from .reduction import *  # noqa: F403
from .repeating import *  # noqa: F403
from .rounding import *  # noqa: F403
from .running import *  # noqa: F403
from .sampling import *  # noqa: F403
from .searching import *  # noqa: F403
from .segments import *  # noqa: F403
from .sets import *  # noqa: F403
from .shaping import *  # noqa: F403
from .sorting import *  # noqa: F403
from .splitting import *  # noqa: F403
from .stacking import *  # noqa: F403
from .statistics import *  # noqa: F403
from .tapers import *  # noqa: F403
from .threads import most_threads as _most_threads
from .toolkits import assembled_for as _assembled_for
from .toolkits import cubin_folder as _cubin_folder
from .toolkits import kernel_log as _kernel_log
from .toolkits import other_assemblers as _other_assemblers
from .toolkits import package_folders as _package_folders
from .tune import TunedKernel, Tuning, tune, tuned_schedules
from .windows import *  # noqa: F403

_core.set_default_flag("cache_dir", _cache.default_directory())
_core.set_default_flag("dump_dir", _default_dump_directory())
_core.set_default_flag("poison_memory", _default_poison())
_load_machine_figures()
if (_most := _most_threads()) is not None:
    _core.set_most_threads(_most)
_core.set_gpu_tools(_package_folders(), _other_assemblers())
try:
    _core.set_emulator(_assembled_for(), _cubin_folder(), _kernel_log())
except ValueError as _error:
    raise ValueError(f"METAOPS_EMULATOR_ASSEMBLES: {_error}") from None

__all__ = [
    # Tensors and meta-operators
    "Var",
    "array",
    "asarray",
    "from_dlpack",
    "iota",
    "Key",
    "seed",
    "tensor",
    # Types of elements; `bool` is one too, but not for `import *`
    "dtype",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "broadcast",
    "broadcast_var",
    "reindex",
    "reindex_reduce",
    "matmul",
    "stop_fuse",
    "stop_grad",
    # Derivatives
    "enable_grad",
    "grad",
    "hessian_vector_product",
    "is_grad_enabled",
    "jvp",
    "no_grad",
    "vjp",
    # Models
    "Module",
    "Sequential",
    "nn",
    "optim",
    "load",
    "save",
    "load_program",
    # Running and looking inside
    "fetch",
    "fetch_sync",
    "sync",
    "sync_all",
    "dump",
    "flag_scope",
    "flags",
    "get_num_threads",
    "set_num_threads",
    "Explanation",
    "KernelExplanation",
    "explain",
    "LastProgram",
    "last_program",
    "MemoryHolder",
    "estimate",
    "export",
    "memory_holders",
    "memory_stats",
    "memory_summary",
    "KernelProfile",
    "ProfileReport",
    "ProgramProfile",
    "profile_scope",
    "reset_peak",
    "stats",
    "TunedKernel",
    "Tuning",
    "tune",
    "tuned_schedules",
]
__all__ += activations.__all__
__all__ += array_api.__all__
__all__ += bits.__all__
__all__ += blocks.__all__
__all__ += categories.__all__
__all__ += choices.__all__
__all__ += closeness.__all__
__all__ += contraction.__all__
__all__ += counts.__all__
__all__ += creation.__all__
__all__ += _devices.__all__
__all__ += cumulative.__all__
__all__ += diagonals.__all__
__all__ += differences.__all__
__all__ += distances.__all__
__all__ += distinct.__all__
__all__ += distributions.__all__
__all__ += elementwise.__all__
__all__ += filters.__all__
__all__ += floats.__all__
__all__ += functions.__all__
__all__ += gammas.__all__
__all__ += gathering.__all__
__all__ += grids.__all__
__all__ += histograms.__all__
__all__ += limits.__all__
__all__ += nan_orders.__all__
__all__ += norms.__all__
__all__ += orders.__all__
__all__ += packing.__all__
__all__ += padding.__all__
__all__ += places.__all__
__all__ += polynomials.__all__
__all__ += products.__all__
__all__ += quantiles.__all__
__all__ += reduction.__all__
__all__ += repeating.__all__
__all__ += rounding.__all__
__all__ += running.__all__
__all__ += sampling.__all__
__all__ += searching.__all__
__all__ += segments.__all__
__all__ += sets.__all__
__all__ += shaping.__all__
__all__ += sorting.__all__
__all__ += splitting.__all__
__all__ += stacking.__all__
__all__ += statistics.__all__
__all__ += tapers.__all__
__all__ += windows.__all__

_publish(vars(), __all__)
