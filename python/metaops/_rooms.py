# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rooms: packages with the package's names of one subject, as ``mo.random.normal``.

A room has the names that users see of the modules in it, and its own rooms. Its names are
the package's: the same objects, which are imported when they are first asked for.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from ._exports import EXPORTS, UNLISTED

__all__ = ["Room", "open_room"]


@cache
def _find_names(room: str) -> list[str]:
    """Return what `__all__` of a room lists: names of its modules, or rooms in it."""
    names: set[str] = set()
    for module, words in EXPORTS.items():
        if module.startswith(f"{room}."):
            inner, _, deeper = module[len(room) + 1 :].partition(".")
            names.update([inner] if deeper else words)
    return sorted(names)


def _is_unlisted(room: str, name: str) -> bool:
    return any(
        name in words and module.rpartition(".")[0] == room for module, words in UNLISTED.items()
    )


class Room(ModuleType):
    """A package that has some of the package's names."""

    def __getattr__(self, name: str) -> object:
        package, _, room = self.__name__.partition(".")
        names = _find_names(room)
        if name == "__all__":
            return [*names]
        if name in names or _is_unlisted(room, name):
            is_room = any(module.startswith(f"{room}.{name}.") for module in EXPORTS)
            value = (
                import_module(f"{self.__name__}.{name}")
                if is_room
                else getattr(import_module(package), name)
            )
            setattr(self, name, value)
            return value
        session = sys.modules.get(f"{package}._session")
        is_loaded = hasattr(session, "PUBLIC")
        # Python asks for a module so before it imports it.
        is_module = not is_loaded and (session or find_spec(f"{self.__name__}.{name}"))
        if name.startswith("_") or is_module:
            raise AttributeError(f"{self.__name__} has no {name}")
        import_module(f"{package}._session")
        missing = import_module(f"{package}.compat._names").missing
        raise AttributeError(missing(self.__name__, name))

    def __dir__(self) -> list[str]:
        special = (name for name in vars(self) if name.startswith("__"))
        return sorted({*special, *_find_names(self.__name__.partition(".")[2])})


def open_room(name: str, kind: type[Room] = Room) -> None:
    """Have a package be a room, in its file `__init__`."""
    sys.modules[name].__class__ = kind
