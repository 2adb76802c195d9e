# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results of recorded functions, as leaves and what is around them.

Tensors and arrays are leaves, which differ from call to call. All else is static and part
of the key of a call: containers by what is in them, numbers and strings by value, other
objects by identity.
"""

from __future__ import annotations

import enum
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from .. import _core
from .._core import Var, array
from .._errors import at_line
from .._typing import shown
from ..complex_numbers.pair import Complex
from ..random.keys import Key

__all__ = ["Result", "describe_call", "find_number", "flatten", "rebuild_call"]

#: Types whose objects are compared by value: nothing of them changes.
_VALUES = (bytes, complex, range, frozenset, enum.Enum, np.dtype, re.Pattern, str)
#: Modules whose types are such, too.
_MODULES_OF_VALUES = frozenset(["datetime", "decimal", "fractions", "pathlib", "uuid"])


@cache
def _field_names(cls: Any) -> tuple[str, ...] | None:
    """Return the names of a data class's fields, or None for another class."""
    from dataclasses import fields, is_dataclass

    from ..nn import Module

    if issubclass(cls, Module) or not is_dataclass(cls):
        return None
    return tuple(field.name for field in fields(cls))


def _children(value: Any) -> list[tuple[Any, Any]] | None:
    """Return what is in a container, by places, keys or names; None for other objects."""
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if type(value) is Complex:
        return [("real", value._real), ("imag", value._imag)]
    if type(value) is slice:
        return [("start", value.start), ("stop", value.stop), ("step", value.step)]
    kind: Any = type(value)
    names = _field_names(kind)
    if names is None:
        return None
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _like(value: Any, parts: list[Any]) -> Any:
    """Return a container of the same kind with other parts."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(parts)
    if kind is slice:
        return slice(*parts)
    if kind is Complex:
        return Complex._of(*parts)
    if isinstance(value, tuple):
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    import copy

    made = copy.copy(value)
    if isinstance(value, list):
        made[:] = parts
    elif isinstance(value, dict):
        for key, part in zip(value, parts, strict=True):
            made[key] = part
    else:
        for (name, _), part in zip(_children(value) or (), parts, strict=True):
            object.__setattr__(made, name, part)
    return made


def _float_key(value: float) -> Any:
    """Return what is equal for floats of the same bits alone."""
    return value if value == value and value != 0 else value.hex()


def flatten(value: Any, leaves: list[Any], spec: list[Any], kept: list[Any]) -> None:
    """Take a value apart into tensors, and what is static around them.

    Parameters
    ----------
    value
        An argument, or what is in one.
    leaves
        Takes the tensors, those of arrays being copies.
    spec
        Takes what is the same where a recording may be used again.
    kept
        Takes the objects of which `spec` has the identity.
    """
    kind = type(value)
    if kind is Var:
        leaves.append(value)
        spec.append(Var)
    elif kind is int or kind is str or kind is bool or value is None:
        spec.append(kind)
        spec.append(value)
    elif kind is float:
        spec.append(kind)
        spec.append(_float_key(value))
    elif kind is list or kind is tuple:
        spec.append(kind)
        spec.append(len(value))
        for part in value:
            flatten(part, leaves, spec, kept)
    elif isinstance(value, Var):
        leaves.append(value)
        spec.append(kind)
    elif kind is np.ndarray and value.dtype.kind == "c":
        leaves += [array(value.real), array(value.imag)]
        spec.append(Complex)
    elif kind is np.ndarray:
        leaves.append(array(value))
        spec.append(Var)
    else:
        _flatten_other(value, kind, leaves, spec, kept)


def _flatten_other(
    value: Any, kind: type, leaves: list[Any], spec: list[Any], kept: list[Any]
) -> None:
    children = _children(value)
    if children is not None:
        spec.append(kind)
        spec.append(len(children))
        if isinstance(value, dict):
            spec += [key if type(key) is str else (type(key), key) for key in value]
        elif not isinstance(value, (list, tuple, slice)):
            spec += [key for key, _ in children]
        for _, child in children:
            flatten(child, leaves, spec, kept)
        return
    spec.append(kind)
    if isinstance(value, np.generic):
        spec.append(value.tobytes())
    elif kind is Key:
        leaves.append(value._leaf())
    elif isinstance(value, _VALUES) or kind.__module__ in _MODULES_OF_VALUES:
        spec.append(value)
    elif kind.__hash__ is None:
        raise at_line(
            TypeError(
                f"jit: given {shown(value)}, which is neither a tensor nor hashable; expected"
                " tensors, numbers, strings, containers of these, or objects with a hash"
            )
        )
    else:
        spec.append(id(value))
        kept.append(value)


class Given:
    """Containers that a function is given in the place of the caller's."""

    __slots__ = ("_containers",)

    def __init__(self) -> None:
        self._containers: list[tuple[str, Any, list[tuple[Any, Any]]]] = []

    def rebuild(self, value: Any, take: Callable[[], Any], label: str) -> Any:
        """Return a value with other leaves."""
        if isinstance(value, np.ndarray) and value.dtype.kind == "c":
            return Complex._of(take(), take())
        if isinstance(value, (Var, np.ndarray)):
            return take()
        if type(value) is Key:
            return Key._of(take())
        children = _children(value)
        if children is None:
            return value
        parts = [self.rebuild(part, take, f"{label}[{key!r}]") for key, part in children]
        made = _like(value, parts)
        if not isinstance(value, (tuple, slice)):
            self._containers.append((label, made, _children(made) or []))
        return made

    def find_changed(self) -> str | None:
        """Return the label of a container that the function has changed."""
        for label, made, before in self._containers:
            after = _children(made) or []
            if len(after) != len(before) or any(
                x[0] != y[0] or x[1] is not y[1] for x, y in zip(after, before, strict=True)
            ):
                return label
        return None


def _labels(args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    for place in range(len(args)):
        yield names[place] if place < len(names) else f"argument {place}"
    yield from sorted(kwargs)


def rebuild_call(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: list[Any], names: list[str]
) -> tuple[list[Any], dict[str, Any], Given]:
    """Return the arguments of a call with other leaves, in the order of `flatten`."""
    given = Given()
    take = iter(leaves).__next__
    values = [*args, *(kwargs[name] for name in sorted(kwargs))]
    labels = _labels(args, kwargs, names)
    made = [given.rebuild(x, take, label) for x, label in zip(values, labels, strict=True)]
    rest = dict(zip(sorted(kwargs), made[len(args) :], strict=True))
    return made[: len(args)], {name: rest[name] for name in kwargs}, given


def _list_value(value: Any, label: str, items: list[tuple[str, str]]) -> None:
    if isinstance(value, Var):
        items.append((label, _core.describe(value)))
        return
    if isinstance(value, np.ndarray):
        items.append((label, f"an array of {value.dtype}{list(value.shape)}"))
        return
    children = _children(value)
    if type(value) is Key:
        items.append((label, "a Key"))
        return
    if children is None:
        items.append((label, shown(value)))
        return
    items.append((label, f"a {type(value).__name__} of {len(children)}"))
    for key, child in children:
        part = f"{label}[{key!r}]" if isinstance(value, (list, tuple, dict)) else f"{label}.{key}"
        _list_value(child, part, items)


def _list_call(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[str]
) -> list[tuple[str, str]]:
    items: list[tuple[str, str]] = []
    values = [*args, *(kwargs[name] for name in sorted(kwargs))]
    for value, label in zip(values, _labels(args, kwargs, names), strict=True):
        _list_value(value, label, items)
    return items


def describe_call(
    key: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[str]
) -> list[tuple[str, str]]:
    """Return all that a call's key depends on: how each part is reached, and what it is."""
    return [
        *_list_call(args, kwargs, names),
        ("whether gradients flow", str(_core.is_grad_enabled())),
        ("the device", _core.current_device()),
        ("the default dtype", str(key[2])),
        ("the type of autocast", str(key[3])),
        ("the flags' combination", str(key[4])),
        ("which arguments are one tensor", key[1].hex()),
    ]


def find_number(
    place: int, args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[str]
) -> str:
    """Return how the number at a place of a call's specification is reached."""
    values = [(None, value) for value in args] + [(x, kwargs[x]) for x in sorted(kwargs)]
    spec: list[Any] = []
    for (keyword, value), label in zip(values, _labels(args, kwargs, names), strict=True):
        if keyword is not None:
            spec.append(keyword)
        flatten(value, [], spec, [])
        if len(spec) > place:
            return label
    return "given"


class _Slot:
    """The place of a tensor in a result: of the arguments, the outputs or outside."""

    __slots__ = ("place", "source", "weak")

    def __init__(self, source: str, place: int = 0, weak: Any = None) -> None:
        self.source = source
        self.place = place
        self.weak = weak

    def find(self, results: list[Var], arguments: list[Var]) -> Var:
        """Return the tensor of a call."""
        if self.source == "output":
            return results[self.place]
        found: Var = arguments[self.place] if self.source == "argument" else self.weak()
        return found


def _are_outputs(parts: Any) -> bool:
    """Return whether parts of a result are the outputs, each once and in order."""
    return all(
        type(part) is _Slot and part.source == "output" and part.place == place
        for place, part in enumerate(parts)
    )


_get_first: Callable[[list[Var]], Any] = operator.itemgetter(0)


class Result:
    """The result of a function: tensors that it computes, and what is around them.

    A tensor that is an argument or comes from outside is returned as it is.
    """

    __slots__ = ("_donated", "_is_computed", "_kind", "_shape", "outputs")

    def __init__(
        self,
        value: Any,
        arguments: list[Var],
        weak: Callable[[Var], Any],
        donated: Sequence[int] = (),
        is_computed: Callable[[Var], bool] = _core.is_recorded,
    ) -> None:
        self._is_computed = is_computed
        #: The places of arguments that are none behind the call.
        self._donated = donated
        #: The tensors that are computed, each once.
        self.outputs: list[Var] = []
        self._shape = self._replace(value, arguments, weak)
        # It may keep what is recorded.
        del self._is_computed
        #: Makes the result of the tensors that are computed, where it has nothing else.
        self._kind: Callable[[list[Var]], Any] | None = None
        parts = [self._shape] if type(self._shape) is _Slot else self._shape
        if type(self._shape) in (_Slot, list, tuple) and _are_outputs(parts):
            self._kind = _get_first if type(self._shape) is _Slot else type(self._shape)

    def _replace(self, value: Any, arguments: list[Var], weak: Callable[[Var], Any]) -> Any:
        if isinstance(value, Var):
            return self._slot(value, arguments, weak)
        children = _children(value)
        if children is None:
            return value
        return _like(value, [self._replace(part, arguments, weak) for _, part in children])

    def _slot(self, var: Var, arguments: list[Var], weak: Callable[[Var], Any]) -> _Slot:
        for place, argument in enumerate(arguments):
            if argument is var and place not in self._donated:
                return _Slot("argument", place)
        if not self._is_computed(var):
            return _Slot("outside", weak=weak(var))
        for place, output in enumerate(self.outputs):
            if output is var:
                return _Slot("output", place)
        self.outputs.append(var)
        return _Slot("output", len(self.outputs) - 1)

    def build(self, results: list[Var], arguments: list[Var]) -> Any:
        """Return a call's result of the tensors that it has computed."""
        if self._kind is not None:
            return self._kind(results)
        return self._build(self._shape, results, arguments)

    def _build(self, shape: Any, results: list[Var], arguments: list[Var]) -> Any:
        kind = type(shape)
        if kind is _Slot:
            return shape.find(results, arguments)
        if kind is dict:
            items = shape.items()
            return {key: self._build(part, results, arguments) for key, part in items}
        children = _children(shape)
        if children is None:
            return shape
        return _like(shape, [self._build(part, results, arguments) for _, part in children])

    def listed(self) -> list[tuple[str, str]]:
        """Return what is static in the result, and where."""
        items: list[tuple[str, str]] = []
        _list_static(self._shape, "result", items)
        return items


def _list_static(shape: Any, label: str, items: list[tuple[str, str]]) -> None:
    children = None if type(shape) is _Slot else _children(shape)
    if type(shape) is _Slot:
        items.append((label, "a tensor"))
    elif children is None:
        items.append((label, shown(shape)))
    else:
        items.append((label, f"a {type(shape).__name__} of {len(children)}"))
        for key, child in children:
            _list_static(child, f"{label}[{key!r}]", items)
