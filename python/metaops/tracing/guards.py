# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards of a recording: what its functions have read in Python.

Beginning with the functions that ran, a walk visits what their code names: variables of
modules and of functions around them, defaults, and attributes of modules, classes and
objects, through lists and dicts. Each becomes a row of guards, which are compared before
the recording is used again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any
from weakref import ref

from .. import _core
from .._core import Var
from .._typing import shown
from .watching import Watch, is_of_library, names_of

__all__ = ["Guards", "make_captures", "make_guards"]

#: Types that are compared by value.
_BY_VALUE = (bool, int, float, complex, str, bytes)
#: Types of keys that are compared by value.
_PLAIN_KEYS = (str, int, bytes, bool, type(None), float)
#: The most items of a container that are compared.
_MOST_ITEMS = 256
#: Attributes of all classes, which functions do not depend on.
_OF_OBJECTS = frozenset(dir(object))

#: Py_TPFLAGS_HEAPTYPE: attributes of other classes cannot be set.
_IS_MADE_IN_PYTHON = 1 << 9

_MISSING = object()


def _is_setting(value: Any) -> bool:
    """Return whether a variable of a library's module is compared.

    Functions, classes and modules stay, and tables are the library's own affair.
    """
    return value is None or isinstance(value, _BY_VALUE)


def _is_container(value: Any) -> bool:
    """Return whether a value is compared by what is in it."""
    return type(value) in (list, tuple, set, frozenset) or isinstance(value, dict)


def _is_plain_key(key: Any) -> bool:
    """Return whether a key of a dict can be looked up without a call of Python code."""
    own: Any = type(key).__hash__
    return type(key) in _PLAIN_KEYS or own is object.__hash__


class Guards:
    """Rows that compare what a recording has read in Python."""

    __slots__ = ("_captured", "_labels", "bind", "check", "gather", "rows")

    def __init__(self) -> None:
        self.rows = _core.make_guards()
        #: Returns what a call of its leaves is given, or None where a row differs.
        self.bind = self.rows.bind
        #: Returns that in any case.
        self.gather = self.rows.gather
        #: Returns the first row that differs, or -1.
        self.check = self.rows.check
        #: The way to each row: the row before it, and what is asked of that one.
        self._labels: list[tuple[int, str]] = []
        self._captured: list[str] = []

    def add(self, access: str, source: int, key: Any, match: str, expected: Any, label: str) -> int:
        """Add a row, and return its number."""
        row: int = self.rows.add(access, source, key, match, expected)
        self._labels.append((source, label))
        return row

    def capture(self, var: Var, argument: int) -> None:
        """Add a Var from outside, which may be one of the arguments."""
        self._captured.append(_core.describe(var))
        self.rows.capture(var, argument)

    def label(self, row: int) -> str:
        """Return how what a row compares is reached."""
        source, text = self._labels[row]
        return (self.label(source) if source >= 0 else "") + text

    def explain(self, row: int) -> tuple[str, str, str]:
        """Return what a row compares, what it was and what it is."""
        if row >= len(self._labels):
            var = self._captured[row - len(self._labels)]
            return f"{var} from outside", "no argument or the same one, and held", "another"
        before = self.rows.expected(row)
        after = self.rows.value(row, _MISSING)
        return self.label(row), _shown(before), _shown(after)

    def __len__(self) -> int:
        return len(self._labels)


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, (FunctionType, type)):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, Var):
        return f"{_core.describe(value)}, at {id(value):#x}"
    if isinstance(value, bytes):
        return shown(repr(value)[1:])
    if value is None or isinstance(value, (*_BY_VALUE, list, tuple)):
        return shown(value)
    return f"a {type(value).__name__} at {id(value):#x}"


class _Walk:
    """Visits what functions have read, and adds a row for each part."""

    def __init__(self, guards: Guards, watch: Watch, own: Iterable[CodeType]) -> None:
        self.guards = guards
        codes = [code for code, _ in watch.codes]
        inner = [code for code, _ in watch.of_libraries]
        self.codes = {*codes, *inner, *own}
        self.reached: set[CodeType] = set()
        own_names = [names_of(code) for code in {*codes, *own}]
        all_names = own_names + [names_of(code) for code in inner]
        #: Attributes that users' code names, and all that code names.
        self.own_names = frozenset().union(*(n.attributes | n.texts for n in own_names))
        self.names = frozenset().union(*(n.attributes | n.texts for n in all_names))
        self.own_texts = frozenset().union(*(n.texts for n in own_names))
        self.visited: dict[int, Any] = {}
        self._tables: dict[int, int] = {}
        self._modules: dict[int, tuple[int, set[str]]] = {}
        self._of_classes: dict[type, frozenset[str]] = {}

    # Values.

    def compare(self, access: str, source: int, key: Any, value: Any, label: str) -> int:
        """Add a row for a value that is found in another one, and return its number."""
        add = self.guards.add
        if value is None:
            return add(access, source, key, "same", None, label)
        if type(value) in _BY_VALUE:
            return add(access, source, key, "equal", value, label)
        if _is_container(value):
            return add(access, source, key, "type_of", type(value), label)
        try:
            return add(access, source, key, "weak", value, label)
        except TypeError:
            return add(access, source, key, "same", value, label)

    def value(self, access: str, source: int, key: Any, value: Any, label: str) -> None:
        """Add a row for a value that is found in another one, and visit it."""
        row = self.compare(access, source, key, value, label)
        if _is_container(value):
            self.container(row, value)
        elif value is not None and type(value) not in _BY_VALUE:
            self.visit(row, value)

    def root(self, value: Any, label: str) -> None:
        """Visit an object that is not found in another one. It may die."""
        if id(value) in self.visited:
            return
        try:
            weak = ref(value)
        except TypeError:
            weak = value
        self.visit(self.guards.add("root", -1, weak, "any", None, label), value)

    def visit(self, row: int, value: Any) -> None:
        """Visit what is in an object, once."""
        if id(value) in self.visited:
            return
        self.visited[id(value)] = value
        if isinstance(value, Var):
            self.guards.add("tensor", row, value, "weak", value, "'s type")
        elif isinstance(value, FunctionType):
            self.function(row, value)
        elif isinstance(value, MethodType):
            self.value("receiver", row, None, value.__self__, ".__self__")
            self.root(value.__func__, value.__func__.__qualname__)
        elif isinstance(value, type):
            self.of_class(row, value)
        elif isinstance(value, ModuleType):
            self.module(row, value)
        elif type(value).__module__ == "metaops.tracing.functions":
            self.parts(value.__wrapped__)
        elif isinstance(value, property):
            self.parts(value.fget, value.fset)
        elif isinstance(value, (staticmethod, classmethod)):
            self.parts(value.__func__)
        elif isinstance(value, functools.partial):
            self.parts(value.func, *value.args, *value.keywords.values())
        elif isinstance(value, functools.cached_property):
            self.parts(value.func)
        elif not isinstance(value, BuiltinFunctionType):
            self.object(row, value)

    def parts(self, *values: Any) -> None:
        """Visit parts of an object that does not change."""
        for value in values:
            if value is not None and type(value) not in _BY_VALUE:
                self.root(value, getattr(value, "__qualname__", f"a {type(value).__name__}"))

    def container(self, row: int, value: Any) -> None:
        """Visit the items of a list, a tuple, a dict or a set."""
        if id(value) in self.visited:
            return
        self.visited[id(value)] = value
        self.guards.add("length", row, len(value), "type_of", type(value), "'s length")
        if isinstance(value, (list, tuple)):
            for place, item in enumerate(value[:_MOST_ITEMS]):
                self.value("place", row, place, item, f"[{place}]")
        elif isinstance(value, dict):
            for key in list(value)[:_MOST_ITEMS]:
                if _is_plain_key(key):
                    self.value("item", row, key, dict.get(value, key), f"[{key!r}]")
        else:
            for item in list(value)[:_MOST_ITEMS]:
                if _is_plain_key(item):
                    self.guards.add("item", row, item, "same", True, f" has {item!r}")

    # Objects with attributes.

    def function(self, row: int, function: FunctionType) -> None:
        """Visit what a function that ran has of its own."""
        if function.__code__ not in self.codes:
            return
        self.reached.add(function.__code__)
        self.guards.add("code", row, None, "same", function.__code__, "'s code")
        for place, cell in enumerate(function.__closure__ or ()):
            name = function.__code__.co_freevars[place]
            if not self.uses(function.__code__, name):
                continue
            try:
                content = cell.cell_contents
            except ValueError:
                self.guards.add("cell", row, place, "missing", None, f"'s variable {name}")
                continue
            self.value("cell", row, place, content, f"'s variable {name}")
        for access, label, values in (
            ("defaults", "'s defaults", function.__defaults__),
            ("keyword_defaults", "'s defaults", function.__kwdefaults__),
        ):
            if values is not None:
                self.value(access, row, None, values, label)
        if function.__dict__:
            self.attributes(row, function.__dict__, self.names & function.__dict__.keys())

    def uses(self, code: CodeType, name: str) -> bool:
        """Return whether a function, or one in it that ran, reads or sets a variable around it."""
        return name in names_of(code).cells or any(
            isinstance(inner, CodeType)
            and inner in self.codes
            and name in inner.co_freevars
            and self.uses(inner, name)
            for inner in code.co_consts
        )

    def module(self, row: int, module: ModuleType) -> None:
        """Visit what code names of a module; of libraries', what users' code names."""
        of_library = is_of_library(module.__name__)
        names = self.own_names if of_library else self.names
        self.attributes(row, module.__dict__, names & module.__dict__.keys())

    def attributes(self, row: int, table: dict[str, Any], names: Iterable[str]) -> None:
        """Visit attributes that are in the dictionary of an object."""
        instance = self.table(row)
        for name in sorted(names):
            self.value("item", instance, name, table[name], f".{name}")

    def table(self, row: int) -> int:
        """Return the row of an object's dictionary, which is added once."""
        if row not in self._tables:
            self._tables[row] = self.guards.add("instance", row, None, "any", None, "")
        return self._tables[row]

    def object(self, row: int, value: Any) -> None:
        """Visit what code names of an object: its own attributes, or else those of its class."""
        kind = type(value)
        changing: frozenset[str] = getattr(kind, "_changes_by_effect", frozenset())
        table = getattr(value, "__dict__", None) or {}
        asked = self.names_of_class(kind) | self.own_texts
        for name in sorted(self.names - changing - _OF_OBJECTS):
            base, found = _lookup(kind, name)
            if type(found) is MemberDescriptorType:
                content = getattr(value, name, _MISSING)
                if content is not _MISSING:
                    self.value("slot", row, name, content, f".{name}")
            elif name in table and not hasattr(type(found), "__set__"):
                self.value("attribute", row, name, table[name], f".{name}")
            elif base is None:
                if name in asked:
                    self.guards.add("attribute", row, name, "missing", None, f".{name}")
            elif _is_guarded(base, found):
                self.value("attribute", row, name, found, f".{name}")
            elif name in asked:
                # A function of a library stays, and the object may get one of its own.
                self.compare("attribute", row, name, found, f".{name}")

    def names_of_class(self, kind: type) -> frozenset[str]:
        """Return what methods of a class that ran name."""
        known = self._of_classes.get(kind)
        if known is None:
            found: set[str] = set()
            for base in kind.__mro__:
                for value in vars(base).values():
                    code = getattr(value, "__code__", None)
                    if code in self.codes:
                        found |= names_of(code).attributes | names_of(code).texts
            known = self._of_classes[kind] = frozenset(found)
        return known

    def of_class(self, row: int, kind: type) -> None:
        """Visit attributes of a class and its bases; functions of libraries stay."""
        for name in sorted(self.names - _OF_OBJECTS):
            base, found = _lookup(kind, name)
            if base is not None and _is_guarded(base, found):
                self.value("type", row, name, found, f".{name}")

    def variables(self, code: CodeType, variables: dict[str, Any], of_library: bool) -> None:
        """Visit the variables of a module that a function names."""
        names = names_of(code).globals
        found = sorted(name for name in names if not name.startswith("__"))
        if of_library:
            found = [
                name
                for name in found
                if name in variables
                and not name.lstrip("_").isupper()
                and _is_setting(variables[name])
            ]
        if not found:
            return
        module = variables.get("__name__", "a module")
        if id(variables) not in self._modules:
            row = self.guards.add("root", -1, variables, "any", None, f"{module}")
            self._modules[id(variables)] = (row, set())
        row, known = self._modules[id(variables)]
        for name in found:
            if name not in known:
                known.add(name)
                if name in variables:
                    self.value("item", row, name, variables[name], f".{name}")
                else:
                    # A name of Python's own, which a variable would hide.
                    self.guards.add("item", row, name, "missing", None, f".{name}")


def _lookup(kind: type, name: str) -> tuple[type | None, Any]:
    """Return an attribute of a class as it stands there, and which base has it."""
    for base in kind.__mro__:
        if name in vars(base):
            return base, vars(base)[name]
    return None, _MISSING


def _is_guarded(base: type, value: Any) -> bool:
    """Return whether an attribute of a class may change: of users' classes, and settings."""
    if not base.__flags__ & _IS_MADE_IN_PYTHON:
        return False
    plain = value is None or type(value) in (*_BY_VALUE, list, dict, tuple)
    return plain or not is_of_library(base.__module__)


def make_captures(captured: Sequence[Var], arguments: Sequence[tuple[int, Var | None]]) -> Guards:
    """Return what gathers the leaves of a recording that no other call uses.

    It compares nothing: to find what has run, and what that names, takes milliseconds.
    Parameters are those of `make_guards`.
    """
    return _with_captures(Guards(), captured, arguments)


def _with_captures(
    guards: Guards, captured: Sequence[Var], arguments: Sequence[tuple[int, Var | None]]
) -> Guards:
    for var in captured:
        guards.capture(var, -1)
    for number, own in arguments:
        if own is not None:
            guards.capture(own, number)
    guards.rows.give([number for number, _ in arguments])
    return guards


def make_guards(
    function: Any,
    watch: Watch,
    objects: Sequence[Any],
    captured: Sequence[Var],
    arguments: Sequence[tuple[int, Var | None]],
) -> Guards:
    """Return the guards of a recording.

    Parameters
    ----------
    function
        What was recorded.
    watch
        What ran.
    objects
        Arguments that are compared by identity, and what is in them is not.
    captured
        Vars from outside that were read or rebound.
    arguments
        The leaves that a call is given, by number, each with its Var if the function has
        that from outside, too.
    """
    guards = Guards()
    code = getattr(function, "__code__", None)
    walk = _Walk(guards, watch, [] if code is None else [code])
    walk.root(function, getattr(function, "__qualname__", type(function).__name__))
    for value in objects:
        walk.root(value, f"the {type(value).__name__} given")
    for code, variables in watch.codes:
        walk.variables(code, variables, of_library=False)
    for code, variables in watch.of_libraries:
        walk.variables(code, variables, of_library=True)
    for found in watch.find_functions(walk.reached):
        walk.root(found, found.__qualname__)
    for receiver in watch.receivers:
        value = receiver()
        if value is not None:
            walk.root(value, f"a {type(value).__name__}")
    for var in captured:
        walk.root(var, _core.describe(var))
    return _with_captures(guards, captured, arguments)
