# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a session needs: the compiler, the methods of `Var`, settings, and all functions.

`metaops/__init__.py` imports it when a name of the package is first asked for, and so do
the packages of layers and optimisers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import (
    _core,
    _flags,
    cache,
    methods,  # noqa: F401 (attaches them)
    threads,
)
from ._exports import EXPORTS, MODULES, UNLISTED
from .compat._names import hide_files, published
from .complex_numbers import members
from .complex_numbers.pair import Complex
from .complex_numbers.table import FORMS, alternative_of, written_in_python
from .tools import calibration, toolkits

__all__ = ["PUBLIC"]


def _load_public() -> dict[str, Any]:
    """Import the modules, and return what users see of them, by name.

    Classes say that they are the package's, as functions do: pickles name that module,
    and load wherever the class is defined.
    """
    listed: dict[str, Any] = {}
    unlisted: dict[str, Any] = {}
    for table, found in ((EXPORTS, listed), (UNLISTED, unlisted)):
        for module, names in table.items():
            if module not in MODULES:
                variables = vars(import_module(f"metaops.{module}"))
                found.update((name, variables[name]) for name in names)
    # Classes of the extension and of layers stay what they are.
    written = {f"metaops.{module}" for module in EXPORTS} - {"metaops._core"}
    for value in listed.values():
        if isinstance(value, type) and value.__module__ in written:
            value.__module__ = "metaops"
    return unlisted | published(
        "metaops", {name: written_in_python(name, value) for name, value in listed.items()}
    )


_core.set_default_flag("cache_dir", cache.default_directory())
_core.set_default_flag("dump_dir", _flags.default_dump_directory())
_core.set_default_flag("poison_memory", _flags.default_poison())
calibration.load()
if (_most := threads.most_threads()) is not None:
    _core.set_most_threads(_most)
_core.set_gpu_tools(toolkits.package_folders(), toolkits.other_assemblers())
if _driver := toolkits.gpu_driver():
    try:
        _core.set_gpu_driver(_driver)
    except ValueError as _error:
        raise ValueError(f"METAOPS_CUDA_DRIVER: {_error}") from None
try:
    _core.set_emulator(toolkits.assembled_for(), toolkits.cubin_folder(), toolkits.kernel_log())
except ValueError as _error:
    raise ValueError(f"METAOPS_EMULATOR_ASSEMBLES: {_error}") from None

#: The names of the package, but for those of its packages.
PUBLIC = _load_public()
_core.set_alternative(
    alternative_of(
        {PUBLIC[name]: form for name, form in FORMS.items() if name in PUBLIC}
        | members.forms_of_var()
    ),
    Complex,
)
hide_files()
