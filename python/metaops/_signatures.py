# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures of exported functions: how tensors make up their arguments and results.

A program takes and gives a list of tensors. The structure says which of them are in which
list, tuple or dict of which parameter. A file keeps it as JSON::

    {"version": 1, "arguments": [[parameter, node], ...], "result": node, "state": [name, ...]}

where the state may be left out, and a node is null for None, and else an object of one key::

    {"tensor": name}  {"list": [node, ...]}  {"tuple": [node, ...]}
    {"dict": [[key, node], ...]}  {"named": [type, [[field, node], ...]]}

Keys of dicts are strings, integers, booleans or null. Files may be hostile: whatever the
text is, reading it raises a ValueError or returns a structure that fits the tensors.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

__all__ = [
    "Structure",
    "Tree",
    "build",
    "flatten",
    "is_container",
    "read_structure",
    "take_apart",
    "write_structure",
]

#: A node of the text, as JSON has it.
Tree = Any

_VERSION = 1
#: Containers within each other. JSON's parser recurses, and so do these functions.
_MOST_DEPTH = 64


class Structure(NamedTuple):
    """The structure of a function.

    Attributes
    ----------
    arguments
        A node for each parameter, by its name.
    result
        A node.
    state
        The names of inputs that are a state: each is an output and a weight, too.
    """

    arguments: dict[str, Tree]
    result: Tree
    state: tuple[str, ...] = ()


def is_container(value: Any) -> bool:
    """Return whether a value is made up of others."""
    return value is None or isinstance(value, Mapping | list | tuple) or _is_complex(value)


def _is_complex(value: Any) -> bool:
    """Return whether a value is a pair of halves, as a named tuple of two; no class is imported."""
    return hasattr(value, "_fields") and not isinstance(value, tuple)


def flatten(
    value: Any,
    path: str,
    leaf: Callable[[Any, str], str],
    joined: Callable[[str, Any], str],
    depth: int = 0,
) -> Tree:
    """Return the node of a value.

    Parameters
    ----------
    value
        Tensors in containers.
    path
        That to the value.
    leaf
        Is given each tensor and the path to it; returns its name.
    joined
        Returns the path to what a container has under a key.
    depth
        How many containers it lies in.

    Raises
    ------
    TypeError
        If a dict has other keys than a structure may have.
    ValueError
        If containers are nested too deep, as one that holds itself.
    """
    if value is None:
        return None
    if not is_container(value):
        return {"tensor": leaf(value, path)}
    if depth == _MOST_DEPTH:
        raise ValueError(f"containers are nested more than {_MOST_DEPTH} deep at {path!r}")

    def inner(key: Any, item: Any) -> Tree:
        return flatten(item, joined(path, key), leaf, joined, depth + 1)

    if isinstance(value, Mapping):
        for key in value:
            if not (key is None or isinstance(key, str | int)):
                raise TypeError(
                    f"a dict at {path!r} has the key {key!r}; expected strings and integers"
                )
        return {"dict": [[key, inner(key, item)] for key, item in value.items()]}
    if hasattr(value, "_fields"):
        fields = [[f, inner(f, getattr(value, f))] for f in value._fields]
        return {"named": [type(value).__name__, fields]}
    kind = "list" if isinstance(value, list) else "tuple"
    return {kind: [inner(i, item) for i, item in enumerate(value)]}


def write_structure(structure: Structure) -> str:
    """Return the text of a structure."""
    import json

    arguments = [[name, node] for name, node in structure.arguments.items()]
    text = {"version": _VERSION, "arguments": arguments, "result": structure.result}
    if structure.state:
        text["state"] = list(structure.state)
    return json.dumps(text)


def read_structure(text: str, inputs: Iterable[str], outputs: Iterable[str]) -> Structure:
    """Return the structure that a file's text says, of tensors of these names.

    Raises
    ------
    ValueError
        If the text is of another version, or damaged.
    """
    import json

    try:
        given = json.loads(text)
        version = given["version"]
        if version != _VERSION:
            raise ValueError(f"it has version {version!r}; this program reads {_VERSION}")
        arguments = {name: node for name, node in given["arguments"]}
        if len(arguments) != len(given["arguments"]) or not all(
            isinstance(name, str) for name in arguments
        ):
            raise ValueError("its parameters have no names, or one of them twice")
        structure = Structure(arguments, given["result"], tuple(given.get("state", ())))
        if not set(structure.state) <= set(inputs):
            raise ValueError("a state is no input")
        _check({"list": list(arguments.values())}, set(inputs))
        _check(structure.result, set(outputs))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"the structure of the program file is damaged: {error}") from None
    return structure


def _check(node: Tree, names: set[str]) -> None:
    """Raise an error unless a node can be made of tensors, each of which it has once."""
    left = set(names)

    def take(name: str) -> None:
        if name not in left:
            raise ValueError(f"there is no tensor {name!r}, or it is there twice")
        left.remove(name)

    build(node, take)
    if left:
        raise ValueError(f"it lacks the tensors {', '.join(sorted(left))}")


def build(node: Tree, leaf: Callable[[str], Any], depth: int = 0) -> Any:
    """Return the value of a node, with what a function returns for each tensor's name.

    `depth` says how many containers it lies in.
    """
    if node is None:
        return None
    if depth > _MOST_DEPTH + 1:
        raise ValueError("it is nested too deep")

    def inner(each: Tree) -> Any:
        return build(each, leaf, depth + 1)

    ((kind, content),) = node.items()
    if kind == "tensor":
        return leaf(content)
    if kind == "list":
        return [inner(each) for each in content]
    if kind == "tuple":
        return tuple([inner(each) for each in content])
    if kind == "dict":
        return {key: inner(each) for key, each in content}
    if kind == "named":
        name, fields = content
        made = [inner(each) for _, each in fields]
        return namedtuple(name, [field for field, _ in fields])(*made)
    raise ValueError(f"it has a {kind!r}")


def take_apart(node: Tree, value: Any, path: str, leaf: Callable[[str, Any], None]) -> None:
    """Call a function with the name of each tensor of a node, and what a value has there.

    Raises
    ------
    TypeError
        If the value is no such structure.
    """
    if node is None:
        if value is not None:
            raise TypeError(f"the argument {path!r} is a {type(value).__name__}, expected None")
        return
    ((kind, content),) = node.items()
    if kind == "tensor":
        leaf(content, value)
        return
    for key, each, item in _pairs(kind, content, value, path):
        take_apart(each, item, f"{path}.{key}", leaf)


def _pairs(kind: str, content: Any, value: Any, path: str) -> list[tuple[Any, Tree, Any]]:
    """Return keys, nodes and values of a container."""
    if kind == "dict":
        keys = [key for key, _ in content]
        if not isinstance(value, Mapping) or set(value) != set(keys):
            given = f"keys {list(value)}" if isinstance(value, Mapping) else type(value).__name__
            raise TypeError(f"the argument {path!r} is a dict of keys {keys}, given {given}")
        return [(key, node, value[key]) for key, node in content]
    parts = list(enumerate(content)) if kind in ("list", "tuple") else content[1]
    if kind == "named" and content[0] == "Complex" and hasattr(value, "real"):
        # An array of complex numbers, too.
        value = (value.real, value.imag)
    if not isinstance(value, list | tuple) or len(value) != len(parts):
        given = f"{type(value).__name__}"
        if isinstance(value, list | tuple):
            given += f" of {len(value)}"
        name = content[0] if kind == "named" else kind
        raise TypeError(f"the argument {path!r} is a {name} of {len(parts)}, given {given}")
    return [(key, node, item) for (key, node), item in zip(parts, value, strict=True)]
