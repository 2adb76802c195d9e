# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pickles, read without running what they say.

A pickle is a program for a stack machine, which may call anything that Python can import. This
interpreter knows the operations by which data is put together, and asks its caller for what has
a name: a function of a table, or a `Placeholder` of the name. What is done with a placeholder
makes another one. What the interpreter keeps is bounded by the pickle's size: no operation takes
a size from the pickle but for bytes that are in it.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

__all__ = ["Known", "Placeholder", "check_keys", "read_pickle"]

#: Numbers that are keys are smaller.
_MOST_KEY = 1 << 60
#: Operations and values that one pickle may have.
_MOST_OPERATIONS = 50_000_000


class Placeholder:
    """An object of a class or function that is not known, and what it was made of.

    Attributes
    ----------
    name : str
        The module and the name in it.
    arguments : tuple
        What it was called with.
    state
        What was set afterwards.
    """

    def __init__(self, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.name, self.arguments, self.state = name, arguments, None

    def __repr__(self) -> str:
        return f"<placeholder for {self.name}>"


#: Stands on the stack where a group of values begins.
_MARK = object()


class _Machine:
    """The stack, and what was remembered."""

    def __init__(
        self,
        find: Callable[[str, str], Any],
        load: Callable[[Any], Any],
    ) -> None:
        self._find, self._load = find, load
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        #: Names of what was not known, in the order in which they were met.
        self.unknown: dict[str, None] = {}

    def run(self, operations: Iterator[tuple[Any, Any, int | None]]) -> Any:
        """Do all operations; return the value on top when they end."""
        for count, (opcode, argument, _) in enumerate(operations):
            if count > _MOST_OPERATIONS:
                raise ValueError(f"it has more than {_MOST_OPERATIONS} operations")
            if opcode.name == "STOP":
                return self._pop()
            if opcode.name in _CONSTANTS:
                self._stack.append(_CONSTANTS[opcode.name])
            elif opcode.name in _LITERALS:
                self._stack.append(argument)
            elif method := getattr(self, f"_do_{opcode.name.lower()}", None):
                method(argument)
            else:
                raise ValueError(f"it has the operation {opcode.name}, which is not for data")
        raise ValueError("it has no end")

    # The stack.

    def _pop(self) -> Any:
        if not self._stack or self._stack[-1] is _MARK:
            raise ValueError("it takes a value where there is none")
        return self._stack.pop()

    def _top(self) -> Any:
        value = self._pop()
        self._stack.append(value)
        return value

    def _pop_group(self) -> list[Any]:
        group: list[Any] = []
        while self._stack:
            value = self._stack.pop()
            if value is _MARK:
                return group[::-1]
            group.append(value)
        raise ValueError("it ends a group where none has begun")

    def _do_mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def _do_pop(self, _: Any) -> None:
        if not self._stack:
            raise ValueError("it takes a value where there is none")
        self._stack.pop()

    def _do_pop_mark(self, _: Any) -> None:
        self._pop_group()

    def _do_dup(self, _: Any) -> None:
        self._stack.append(self._top())

    def _do_proto(self, _: Any) -> None: ...

    def _do_frame(self, _: Any) -> None: ...

    # The memory.

    def _do_binput(self, number: int) -> None:
        self._memo[number] = self._top()

    _do_long_binput = _do_put = _do_binput

    def _do_memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._top()

    def _do_binget(self, number: int) -> None:
        if number not in self._memo:
            raise ValueError(f"it asks for value {number}, which it has not kept")
        self._stack.append(self._memo[number])

    _do_long_binget = _do_get = _do_binget

    # Containers.

    def _do_empty_list(self, _: Any) -> None:
        self._stack.append([])

    def _do_empty_dict(self, _: Any) -> None:
        self._stack.append({})

    def _do_empty_set(self, _: Any) -> None:
        self._stack.append(set())

    def _do_list(self, _: Any) -> None:
        self._stack.append(self._pop_group())

    def _do_dict(self, _: Any) -> None:
        self._stack.append({})
        self._set_items(self._stack.pop(), self._pop_group(), push=True)

    def _do_tuple(self, _: Any) -> None:
        self._stack.append(tuple(self._pop_group()))

    def _make_tuple(self, count: int) -> None:
        self._stack.append(tuple([self._pop() for _ in range(count)][::-1]))

    def _do_tuple1(self, _: Any) -> None:
        self._make_tuple(1)

    def _do_tuple2(self, _: Any) -> None:
        self._make_tuple(2)

    def _do_tuple3(self, _: Any) -> None:
        self._make_tuple(3)

    def _do_append(self, _: Any) -> None:
        self._extend([self._pop()])

    def _do_appends(self, _: Any) -> None:
        self._extend(self._pop_group())

    def _extend(self, values: list[Any]) -> None:
        target = self._top()
        if isinstance(target, Placeholder):
            return
        if not isinstance(target, list):
            raise ValueError(f"it appends to a {type(target).__name__}")
        target.extend(values)

    def _do_additems(self, _: Any) -> None:
        values = self._pop_group()
        target = self._top()
        if not isinstance(target, set):
            raise ValueError(f"it adds items to a {type(target).__name__}")
        check_keys(values)
        target.update(values)

    def _do_setitem(self, _: Any) -> None:
        value, key = self._pop(), self._pop()
        self._set_items(self._top(), [key, value])

    def _do_setitems(self, _: Any) -> None:
        group = self._pop_group()
        self._set_items(self._top(), group)

    def _set_items(self, target: Any, group: list[Any], push: bool = False) -> None:
        if len(group) % 2 != 0:
            raise ValueError("it sets an item without a value")
        if not isinstance(target, dict | Placeholder):
            raise ValueError(f"it sets items of a {type(target).__name__}")
        if isinstance(target, dict):
            check_keys(group[::2])
            target.update(zip(group[::2], group[1::2], strict=True))
        if push:
            self._stack.append(target)

    # Names.

    def _do_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._stack.append(self._look_up(module, name))

    def _do_stack_global(self, _: Any) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("it names something by what is no text")
        self._stack.append(self._look_up(module, name))

    def _look_up(self, module: str, name: str) -> Any:
        found = self._find(module, name)
        if found is not None:
            return found
        self.unknown[f"{module}.{name}"] = None
        return Placeholder(f"{module}.{name}")

    def _do_reduce(self, _: Any) -> None:
        arguments, function = self._pop(), self._pop()
        self._stack.append(self._call(function, arguments))

    _do_newobj = _do_reduce

    def _do_newobj_ex(self, _: Any) -> None:
        self._pop()
        self._do_reduce(None)

    def _call(self, function: Any, arguments: Any) -> Any:
        if not isinstance(arguments, tuple):
            raise ValueError("it calls something with what is no tuple")
        if isinstance(function, Placeholder):
            return Placeholder(function.name, arguments)
        if not isinstance(function, Known):
            raise ValueError(f"it calls a {type(function).__name__}")
        if any(isinstance(each, Placeholder) for each in arguments):
            return Placeholder(function.name, arguments)
        return function.call(*arguments)

    def _do_build(self, _: Any) -> None:
        state = self._pop()
        target = self._top()
        if isinstance(target, Placeholder):
            target.state = state
        elif not isinstance(target, dict):
            raise ValueError(f"it sets attributes of a {type(target).__name__}")

    def _do_binpersid(self, _: Any) -> None:
        self._stack.append(self._load(self._pop()))


class Known:
    """A function that a pickle may call."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self.call = name, call


def check_keys(keys: list[Any]) -> None:
    """Raise where a key is no text or number, or a tuple of these.

    To hash a tuple of tuples, each of which holds another one twice, would take for ever.
    """
    for key in keys:
        for part in key if isinstance(key, tuple) else (key,):
            if not isinstance(part, str | bytes | int | float | None):
                raise ValueError(f"it has a key of type {type(part).__name__}")
            # Larger ones may all have one hash.
            if isinstance(part, int | float) and not abs(part) < _MOST_KEY:
                raise ValueError("it has a number of more than 60 bits as a key")


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_LITERALS = {
    "BININT",
    "BININT1",
    "BININT2",
    "INT",
    "LONG",
    "LONG1",
    "LONG4",
    "FLOAT",
    "BINFLOAT",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "UNICODE",
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
}


def read_pickle(
    data: bytes, find: Callable[[str, str], Known | Any | None], load: Callable[[Any], Any]
) -> tuple[Any, list[str]]:
    """Return the value of a pickle, and the names in it that are not known.

    Parameters
    ----------
    data
        The pickle; what follows it is not looked at.
    find
        Returns what a module's name means: a `Known`, a value, or None.
    load
        Returns what a persistent identity means.

    Raises
    ------
    ValueError
        If it is not sound, or has operations that are not for data.
    """
    machine = _Machine(find, load)
    value = machine.run(pickletools.genops(BytesIO(data)))
    return value, list(machine.unknown)
