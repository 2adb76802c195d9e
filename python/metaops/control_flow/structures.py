# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures of tensors that bodies of control flow are given and return.

A structure is lists, tuples, dicts and None within each other (see `tree_map`). Its leaves
are tensors, arrays and numbers. A number has no element type yet: it takes that of what it
is to be the same as.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._errors import at_line
from .._promotion import is_number, promoted
from .._typing import shown
from ..trees import children_of, tree_map

__all__ = [
    "describe_leaf",
    "find_type",
    "is_integer",
    "leaves_of",
    "listed",
    "make_leaf",
    "rebuild",
    "widened",
]


def _add_leaves(tree: Any, path: str, leaves: list[tuple[str, Any]]) -> None:
    # Most are tensors.
    children = None if type(tree) is Var else children_of(tree)
    if children is None:
        leaves.append((path, tree))
        return
    for key, child in children.items():
        _add_leaves(child, f"{path}[{key!r}]", leaves)


def leaves_of(what: str, name: str, tree: Any) -> list[tuple[str, Any]]:
    """Return the leaves of a structure, each behind its path: tensors and numbers.

    Parameters
    ----------
    what
        The function that is given the structure.
    name
        What the structure is called, which paths begin with.
    tree
        The structure. Arrays in it become tensors.

    Raises
    ------
    TypeError
        If a leaf is something else.
    """
    leaves: list[tuple[str, Any]] = []
    _add_leaves(tree, name, leaves)
    for place, (path, leaf) in enumerate(leaves):
        if isinstance(leaf, np.ndarray):
            leaves[place] = path, _core.array(leaf)
        elif not isinstance(leaf, Var) and not is_number(leaf):
            raise at_line(
                TypeError(f"{what}: {path} is {shown(leaf)}, expected a tensor or a number")
            )
    return leaves


def listed(paths: Iterable[str]) -> str:
    """Return what a message says of places in a structure."""
    given = list(paths)
    return ", ".join(given[:6]) + (", ..." if len(given) > 6 else "") or "no place"


def rebuild(tree: Any, leaves: list[Any]) -> Any:
    """Return a structure of the same kind with other leaves."""
    remaining = iter(leaves)
    return tree_map(lambda _: next(remaining), tree)


def widened(dtype: str, number: object) -> str:
    """Return the element type for numbers of a type, and one of Python's."""
    if isinstance(number, float) and "float" not in dtype:
        return _core.array(number).dtype
    return promoted([dtype], [number])


def find_type(*leaves: Any) -> str:
    """Return the element type of leaves that are to have one: that of the first tensor."""
    for leaf in leaves:
        if isinstance(leaf, Var):
            return leaf.dtype
    dtype: str = _core.array(leaves[0]).dtype
    for leaf in leaves:
        dtype = widened(dtype, leaf)
    return dtype


def is_integer(leaf: Var) -> bool:
    """Return whether a tensor is an integer without dimensions."""
    return leaf.shape == () and leaf.dtype.startswith(("int", "uint"))


def make_leaf(leaf: Any, dtype: str) -> Var:
    """Return a leaf as a tensor, a number as one of the given element type.

    Raises
    ------
    TypeError
        If the type has no such numbers, as integers have no fractions.
    """
    if isinstance(leaf, Var):
        return leaf
    if widened(dtype, leaf) != dtype:
        raise at_line(
            TypeError(f"the number {leaf!r} is to be {dtype}, as the tensor in its place is")
        )
    return _core.array(leaf, dtype)


def describe_leaf(leaf: Any) -> str:
    """Return what a message says of the type and the shape of a leaf."""
    if isinstance(leaf, Var):
        return f"{leaf.dtype} of shape {leaf.shape}"
    return f"the number {leaf!r}"
