# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package whose variables are made when they are first asked for.

Loading the compiler takes time and libraries that running an exported program does not
need; so a part of the package, what is *light*, can be used without the rest. The rest
is run, in the package's own namespace, when

* a variable is asked for that is not there (``metaops.grad``, ``from metaops import nn``);
* a module of the package has been imported that is not light (``import metaops.nn``), for
  importing it loads what else a session needs. That is when the outermost of such modules
  is complete: until then they import each other as parts of any package do.

From then on the package is a module as any other.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Mapping
from types import ModuleType

__all__ = ["make_lazy"]


def _is_importing(package: str) -> bool:
    """Whether a module of the package is being imported, on any thread."""
    return any(
        name.startswith(package + ".")
        and getattr(getattr(module, "__spec__", None), "_initializing", False)
        for name, module in list(sys.modules.items())
    )


def make_lazy(package: str, code: str, light: Mapping[str, str]) -> None:
    """Have a package that is being imported run the rest of its code later.

    Parameters
    ----------
    package : str
        Its name.
    code : str
        The module that has the rest.
    light : mapping of str to str
        Variables that do not need the rest, by the modules that have them. These modules,
        and what they import, do not need it either.
    """
    module = sys.modules[package]
    lock = threading.Lock()
    # Extensions of light modules are as light.
    modules = {*light.values(), *("_" + name for name in light.values()), "_lazy"}

    # The thread that runs the rest: it sees what is there already, and others wait.
    loader: int | None = None

    def load(waits: bool = True) -> None:
        nonlocal loader
        # Who has just imported a module still has the lock of that, for which another
        # thread that runs the rest may be waiting.
        if loader == threading.get_ident() or not lock.acquire(blocking=waits):
            return
        try:
            if type(module) is ModuleType:
                return
            loader = threading.get_ident()
            spec = importlib.util.find_spec(f"{package}.{code}")
            text = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
            documentation = module.__doc__
            exec(text, vars(module))
            module.__doc__ = documentation
            module.__class__ = ModuleType
        finally:
            loader = None
            lock.release()

    class LazyPackage(ModuleType):
        """The package before the rest is there."""

        def __getattr__(self, name: str) -> object:
            if name in light:
                return getattr(importlib.import_module(f"{package}.{light[name]}"), name)
            is_special = name.startswith("__") and name != "__all__"
            is_own = loader == threading.get_ident()
            if is_special or name in modules or is_own:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            # Parts that import each other look for a module of this name; another thread
            # waits for what these are.
            if _is_importing(package) and importlib.util.find_spec(f"{package}.{name}"):
                return importlib.import_module(f"{package}.{name}")
            load()
            return getattr(module, name)

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            # A module becomes an attribute of its package when it is complete.
            if isinstance(value, ModuleType) and name not in modules and not _is_importing(package):
                load(waits=False)

        def __dir__(self) -> list[str]:
            load()
            return dir(module)

    module.__class__ = LazyPackage
