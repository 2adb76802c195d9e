# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A deep-learning compiler and light runtime built from meta-operators.

Tensors are lazy: operators are recorded, and what is asked for is compiled as a
whole and run. See `Var` for tensors, `grad` for derivatives, `nn` for layers and
`optim` for optimisers. `load_program` runs exported programs, and needs no compiler.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from sys import modules as _modules

from ._exports import EXPORTS as _EXPORTS
from ._exports import MODULES as _MODULES
from ._exports import UNLISTED as _UNLISTED

__version__ = "0.1.0"

# Pickles name modules, some of which are in rooms since.
__path__.append(f"{__path__[0]}/_former")

#: The module that has each name. Modules are imported when a name is first asked for
#: (PEP 562): running an exported program needs few of them, and no compiler.
_OWNERS = {
    name: module
    for table in (_EXPORTS, _UNLISTED)
    for module, names in table.items()
    for name in names
}
#: Modules that work without a session.
_LIGHT = ("loading",)

__all__ = [*_MODULES[:2], *(name for names in _EXPORTS.values() for name in names)]


def _is_loaded() -> bool:
    """Return whether all that a session needs has been imported."""
    return hasattr(_modules.get(f"{__name__}._session"), "PUBLIC")


def __getattr__(name: str) -> object:
    """Return a name of the package from the module that has it."""
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    owner = _OWNERS.get(name)
    if owner in _LIGHT or owner in _MODULES:
        value = getattr(_import_module(f"{__name__}.{owner}"), name)
    elif owner is not None:
        value = _import_module(f"{__name__}._session").PUBLIC[name]
    elif name.startswith("_") or (not _is_loaded() and _find_spec(f"{__name__}.{name}")):
        # Python asks for a module so before it imports it.
        raise AttributeError(f"{__name__} has no {name}")
    else:
        _import_module(f"{__name__}._session")
        raise AttributeError(_import_module(f"{__name__}.compat._names").missing(__name__, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *_MODULES, *_OWNERS})
