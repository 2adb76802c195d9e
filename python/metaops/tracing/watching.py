# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that ran while another one was recorded, and the names in their code."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any

from .. import _core

__all__ = ["Names", "Watch", "is_of_library", "names_of"]

_OF_GLOBALS = frozenset(["LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"])
_OF_ATTRIBUTES = frozenset(
    ["LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM"]
)
_OF_CELLS = frozenset(
    ["LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF"]
)
#: Packages whose modules are constants but for what is set in them.
_LIBRARIES = frozenset(["metaops", "numpy", *sys.stdlib_module_names])


class Names:
    """Names in a function's code."""

    __slots__ = ("attributes", "cells", "globals", "texts")

    def __init__(self, code: CodeType) -> None:
        import dis

        variables: set[str] = set()
        attributes: set[str] = set()
        cells: set[str] = set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in _OF_GLOBALS:
                variables.add(instruction.argval)
            elif instruction.opname in _OF_ATTRIBUTES:
                attributes.add(instruction.argval)
            elif instruction.opname in _OF_CELLS:
                cells.add(instruction.argval)
        attributes = {name for name in attributes if not name.startswith("__")}
        self.globals = frozenset(variables)
        self.attributes = frozenset(attributes)
        #: Variables of functions around it that it uses itself.
        self.cells = frozenset(cells)
        #: Texts that may be names, for `getattr`, and keys of `__dict__`.
        self.texts = frozenset(
            constant
            for constant in code.co_consts
            if isinstance(constant, str)
            and constant.isidentifier()
            and not constant.startswith("__")
        )


#: Modules that record or have effects, which say themselves what they depend on.
_MACHINERY = ("metaops._precision", "metaops.optim", "metaops.tracing")


def _is_machinery(module: object) -> bool:
    """Return whether a module's name is of what no guards are made for."""
    if not isinstance(module, str) or not is_of_library(module):
        return False
    package = module.partition(".")[0]
    return module.startswith(_MACHINERY) if package == "metaops" else package != "os"


def _is_of_model(module: object) -> bool:
    """Return whether objects of a module's classes are a model's, or a user's."""
    return not is_of_library(module) or str(module).startswith(("metaops.amp", "metaops.nn", "os"))


#: The most codes whose names are kept.
_MOST_CODES = 10_000

_known: dict[int, tuple[CodeType, Names]] = {}


def names_of(code: CodeType) -> Names:
    """Return what a code names; it is read once."""
    found = _known.get(id(code))
    if found is None or found[0] is not code:
        if len(_known) >= _MOST_CODES:
            _known.clear()
        found = _known[id(code)] = (code, Names(code))
    return found[1]


def is_of_library(module: object) -> bool:
    """Return whether a module's name is of the package, or of what it stands on."""
    return isinstance(module, str) and module.partition(".")[0] in _LIBRARIES


def _nested(code: CodeType) -> Iterable[CodeType]:
    """Yield the codes of functions that a code defines."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _nested(constant)


class Watch:
    """Tells which functions run in its scope, on this thread.

    A profiler that is there is told of them, too.
    """

    def __init__(self) -> None:
        #: The scope in which functions are watched.
        self.scope: Any = _core.make_watch()
        #: The functions' codes, each with the variables of its module: of users, and of
        #: libraries.
        self.codes: list[tuple[CodeType, dict[str, Any]]] = []
        self.of_libraries: list[tuple[CodeType, dict[str, Any]]] = []
        #: Weak references to objects whose methods have run.
        self.receivers: list[Any] = []

    def finish(self) -> None:
        """Keep what has run, and let go of the objects of methods."""
        for code, variables in self.scope.codes():
            name = variables.get("__name__")
            if _is_machinery(name):
                continue
            found = self.of_libraries if is_of_library(name) else self.codes
            found.append((code, variables))
        self.receivers += [
            weak
            for weak in self.scope.receivers()
            if (receiver := weak()) is not None and _is_of_model(type(receiver).__module__)
        ]
        self.scope = None

    def find_functions(self, known: set[CodeType]) -> list[FunctionType]:
        """Return functions of users that ran, and that no name leads to.

        Only those that have something of their own are looked for: defaults, or variables
        of a function around them that has not run itself.
        """
        inner = {id(each) for code, _ in self.codes for each in _nested(code)}
        codes = [
            code
            for code, _ in self.codes
            if code not in known
            and id(code) not in inner
            and code.co_name != "<module>"
            and (code.co_freevars or code.co_argcount or code.co_kwonlyargcount)
        ]
        if not codes:
            return []
        return [
            holder
            for holder in gc.get_referrers(*codes)
            if isinstance(holder, FunctionType)
            and (holder.__closure__ or holder.__defaults__ or holder.__kwdefaults__)
        ]
