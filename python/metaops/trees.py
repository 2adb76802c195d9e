# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of all tensors in lists, tuples and dicts within each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._core import Var, describe
from ._errors import at_line
from .complex_numbers.pair import halves_of, made_of_halves

__all__ = ["tree_leaves", "tree_map"]


def children_of(tree: Any) -> dict[Any, Any] | None:
    """Return what a list, a tuple, a dict or a Complex has, by places or keys; None of a leaf."""
    # Most are leaves, and isinstance of an abstract class takes its time.
    if isinstance(tree, Var):
        return None
    if isinstance(tree, list | tuple):
        return dict(enumerate(tree))
    if tree is None:
        return {}
    if isinstance(tree, Mapping):
        return dict(tree)
    return halves_of(tree)


def make_like(tree: Any, values: list[Any], keys: list[Any]) -> Any:
    """Return a container of the kind of another one."""
    if tree is None:
        return None
    if halves_of(tree) is not None:
        return made_of_halves(*values)
    if type(tree) is tuple:
        return tuple(values)
    if isinstance(tree, Mapping):
        made = dict(zip(keys, values, strict=True))
        return made if type(tree) is dict else type(tree)(made)  # type: ignore[call-arg]
    return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return a structure of the same kind of what a function returns for each leaf.

    Parameters
    ----------
    function
        Takes a leaf of each structure.
    tree
        Lists, tuples, named tuples, dicts and None within each other, and `Complex`, which has
        two leaves, `real` and `imag`; all else is a leaf, as a tensor or a number is.
    *others
        Structures that have the same keys and lengths, and leaves of their own.

    Raises
    ------
    ValueError
        If the structures differ.

    Examples
    --------
    >>> import metaops as mo
    >>> params = {"w": mo.ones((2, 3)), "layers": [mo.ones(3), mo.ones(3)]}
    >>> grads = mo.tree_map(mo.zeros_like, params)
    >>> params = mo.tree_map(lambda p, g: p - 0.1 * g, params, grads)
    """
    if not others and type(tree) in (tuple, list):
        # Most of what is in a container are tensors.
        return type(tree)(
            [function(child) if type(child) is Var else tree_map(function, child) for child in tree]
        )
    own = children_of(tree)
    if own is None:
        return function(tree, *others)
    rest = []
    for other in others:
        children = children_of(other)
        if children is None or own.keys() != children.keys() or (tree is None) != (other is None):
            raise at_line(
                ValueError(f"tree_map: {_named(other)} is in the place of {_named(tree)}")
            )
        rest.append(children)
    values = [
        tree_map(function, child, *(children[key] for children in rest))
        for key, child in own.items()
    ]
    return make_like(tree, values, list(own))


def _named(tree: Any) -> str:
    children = children_of(tree)
    if tree is None or children is None:
        return describe(tree)
    if isinstance(tree, Mapping):
        keys = ", ".join(map(repr, list(children)[:8]))
        return f"a dict of {keys}" if children else "an empty dict"
    return f"a {type(tree).__name__} of {len(children)}"


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves of a structure, see `tree_map`, in its order."""
    children = children_of(tree)
    if children is None:
        return [tree]
    return [leaf for child in children.values() for leaf in tree_leaves(child)]
