# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Escaped tensors: those of a recording that are held after it, and have no value."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, MethodType
from typing import Any

from .. import _core
from .._core import Var

__all__ = ["Snapshot", "find_holder"]

#: The most containers that are looked through.
_MOST = 10_000


def _is_recorded(value: Any) -> bool:
    return isinstance(value, Var) and _core.is_recorded(value)


def _find_in(value: Any, depth: int = 3) -> str | None:
    """Return where in a value a tensor of a recording is, "" for itself."""
    if isinstance(value, Var):
        return "" if _core.is_recorded(value) else None
    if depth == 0:
        return None
    children: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, (list, tuple)):
        children = enumerate(value)
    elif isinstance(value, dict):
        children = list(value.items())
    for key, child in children:
        inner = _find_in(child, depth - 1)
        if inner is not None:
            return f"[{key!r}]{inner}"
    return None


class _Held:
    """A container as it was: a dict, a list or a cell."""

    __slots__ = ("before", "container", "label", "pattern")

    def __init__(self, container: Any, label: str, pattern: str) -> None:
        self.container = container
        self.label = label
        #: Of the name of what is in it: an attribute, an item, a variable.
        self.pattern = pattern
        self.before = _copy(container)

    def find(self) -> tuple[str, Any] | None:
        """Return the name and the key of what is or has a tensor of a recording."""
        for key, value in _copy(self.container).items():
            inner = _find_in(value)
            if inner is not None:
                return f"{self.label}{self.pattern.format(key)}{inner}", key
        return None

    def restore(self) -> None:
        """Put back what was in it in the place of tensors of a recording."""
        now = _copy(self.container)
        keys = [key for key, value in now.items() if _find_in(value) is not None]
        if not keys:
            return
        if isinstance(self.container, list):
            self.container[:] = self.before.values()
        elif isinstance(self.container, CellType):
            for content in self.before.values():
                self.container.cell_contents = content
        else:
            for key in keys:
                if key in self.before:
                    self.container[key] = self.before[key]
                else:
                    del self.container[key]


def _copy(container: Any) -> dict[Any, Any]:
    """Return what is in a container by its keys."""
    if isinstance(container, dict):
        return dict(container)
    if isinstance(container, CellType):
        try:
            return {0: container.cell_contents}
        except ValueError:
            return {}
    return dict(enumerate(container))


class Snapshot:
    """State that a function can reach before it is recorded, to find and undo changes."""

    def __init__(self, function: Any, objects: Iterable[Any]) -> None:
        self._held: list[_Held] = []
        self._seen: set[int] = set()
        for root in (function, *objects):
            self._visit(root)

    def _hold(self, container: Any, label: str, pattern: str) -> bool:
        if id(container) in self._seen or len(self._held) >= _MOST:
            return False
        self._seen.add(id(container))
        self._held.append(_Held(container, label, pattern))
        return True

    def _visit(self, root: Any) -> None:
        pending: list[tuple[Any, str]] = [(root, f"a {type(root).__name__}")]
        while pending:
            value, label = pending.pop()
            if isinstance(value, MethodType):
                pending += [(value.__func__, ""), (value.__self__, "")]
            elif isinstance(value, FunctionType):
                pending += self._function(value)
            elif isinstance(value, list):
                if self._hold(value, label, "[{!r}]"):
                    pending += [(item, f"{label}[{i}]") for i, item in enumerate(value)]
            elif isinstance(value, dict):
                if self._hold(value, label, "[{!r}]"):
                    pending += [(item, f"{label}[{key!r}]") for key, item in value.items()]
            elif _has_attributes(value):
                table, name = vars(value), f"an object of class {type(value).__name__}"
                if self._hold(table, f"{name}, in its attribute ", "{}"):
                    pending += [(item, f"{name}.{key}") for key, item in table.items()]

    def _function(self, function: FunctionType) -> Iterator[tuple[Any, str]]:
        variables = function.__globals__
        module = variables.get("__name__", "a module")
        self._hold(variables, f"module {module}, in its variable ", "{}")
        for name in function.__code__.co_names:
            if isinstance(variables.get(name), (list, dict)):
                yield variables[name], f"module {module}, in its variable {name}"
            elif name in variables and _has_attributes(variables[name]):
                yield variables[name], name
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            if self._hold(
                cell, f"the variable {name} of the function around {function.__name__}", ""
            ):
                for content in _copy(cell).values():
                    yield content, f"variable {name}"

    def find_holder(self) -> str | None:
        """Return what holds a tensor of a recording now."""
        for held in self._held:
            found = held.find()
            if found is not None:
                return found[0]
        return None

    def restore(self) -> None:
        """Put back what was in the place of tensors of a recording."""
        for held in self._held:
            held.restore()


def _has_attributes(value: Any) -> bool:
    """Return whether an object has attributes of its own that functions set."""
    kind = type(value)
    return (
        isinstance(getattr(value, "__dict__", None), dict)
        and not isinstance(value, type)
        and kind.__module__ not in ("builtins", "metaops._core", "types")
        and hasattr(kind, "__dictoffset__")
        and kind.__dictoffset__ != 0
    )


def find_holder(modules: Iterable[dict[str, Any]]) -> str:
    """Return what holds a tensor of a recording, of all that there is."""
    for variables in modules:
        found = _Held(
            variables, f"module {variables.get('__name__')}, in its variable ", "{}"
        ).find()
        if found is not None:
            return found[0]
    for container in gc.get_objects():
        if any(_is_recorded(value) for value in gc.get_referents(container)):
            kind = type(container).__name__
            owners = [x for x in gc.get_referrers(container) if hasattr(x, "__dict__")]
            owner = next((x for x in owners if vars(x) is container), None)
            return f"a {kind}" if owner is None else f"an object of class {type(owner).__name__}"
    return "something that could not be found"
