# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dictionaries of modules, and lists and dictionaries of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..compat._names import nearest
from .containers import Layer
from .module import Module

__all__ = ["ModuleDict", "ParameterDict", "ParameterList"]

T = TypeVar("T")


class _Dict(Module, Generic[T]):
    """A dictionary whose values belong to the module, under their keys for names."""

    def __init__(self, items: Mapping[str, T] | Iterable[tuple[str, T]] = ()) -> None:
        self._items: dict[str, T] = {}
        self.update(items)

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from self._items.items()

    def _check(self, key: Any, value: Any) -> None:
        """Raise an error unless the value may have the key."""
        if not isinstance(key, str):
            raise at_line(
                TypeError(f"{type(self).__name__}: a key is {shown(key)}, expected a str")
            )
        if not key or "." in key:
            raise at_line(
                KeyError(f"{type(self).__name__}: a key is {key!r}, expected one without dots")
            )
        self._check_value(value)

    def _check_value(self, value: Any) -> None:
        raise NotImplementedError

    def _missing(self, key: object) -> KeyError:
        hint = nearest(key, self._items) if isinstance(key, str) else ""
        return at_line(KeyError(f"{type(self).__name__}: there is no key {shown(key)}{hint}"))

    def update(self, items: Mapping[str, T] | Iterable[tuple[str, T]]) -> None:
        """Add all items of a mapping, or pairs of keys and values."""
        new = dict(items)
        for key, value in new.items():
            self._check(key, value)
        self._items.update(new)

    def keys(self) -> Iterable[str]:
        """Return the keys."""
        return self._items.keys()

    def values(self) -> Iterable[T]:
        """Return the values."""
        return self._items.values()

    def items(self) -> Iterable[tuple[str, T]]:
        """Return pairs of keys and values."""
        return self._items.items()

    def pop(self, key: str) -> T:
        """Remove and return the value of a key."""
        value = self[key]
        del self._items[key]
        return value

    def clear(self) -> None:
        """Remove all items."""
        self._items.clear()

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __getitem__(self, key: str) -> T:
        try:
            return self._items[key]
        except (KeyError, TypeError):
            raise self._missing(key) from None

    def __setitem__(self, key: str, value: T) -> None:
        self._check(key, value)
        self._items[key] = value

    def __delitem__(self, key: str) -> None:
        self.pop(key)


class ModuleDict(_Dict[Layer]):
    """A dictionary of modules and functions, without a call of its own.

    Parameters
    ----------
    items
        The first content: a mapping, or pairs of names and modules.
    """

    def _check_value(self, value: Any) -> None:
        if not callable(value):
            raise at_line(
                TypeError(f"ModuleDict: a value is {shown(value)}, expected a module or a function")
            )


def _check_parameter(owner: Module, value: Any) -> None:
    if not isinstance(value, Var):
        raise at_line(
            TypeError(f"{type(owner).__name__}: a value is {shown(value)}, expected a Var")
        )


class ParameterDict(_Dict[Var]):
    """A dictionary of Vars, of which the floats are parameters.

    Parameters
    ----------
    items
        The first content: a mapping, or pairs of names and Vars.
    """

    def _check_value(self, value: Any) -> None:
        _check_parameter(self, value)


class ParameterList(Module):
    """A list of Vars, of which the floats are parameters.

    Parameters
    ----------
    values
        The first content.
    """

    def __init__(self, values: Iterable[Var] = ()) -> None:
        self._values: list[Var] = []
        self.extend(values)

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from ((str(k), value) for k, value in enumerate(self._values))

    def append(self, value: Var) -> ParameterList:
        """Add a Var at the end; return this list."""
        _check_parameter(self, value)
        self._values.append(value)
        return self

    def extend(self, values: Iterable[Var]) -> ParameterList:
        """Add Vars at the end; return this list."""
        for value in list(values):
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Var]:
        return iter(self._values)

    def __getitem__(self, key: Any) -> Any:
        return ParameterList(self._values[key]) if isinstance(key, slice) else self._values[key]

    def __setitem__(self, key: int, value: Var) -> None:
        _check_parameter(self, value)
        self._values[key] = value

    def __iadd__(self, values: Iterable[Var]) -> ParameterList:
        return self.extend(values)
