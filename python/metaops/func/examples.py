# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of which a function is given one example, of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..control_flow.bodies import Body
from ..control_flow.structures import listed
from ..random.keys import Key
from ..tracing.effects import ExampleRecording
from ..trees import children_of, make_like, tree_map

__all__ = ["Example", "Examples", "check_dims", "map_with_dims", "move_dim"]


def check_dims(what: str, name: str, dims: Any) -> None:
    """Raise an error unless dims are integers and None, in containers or alone."""
    children = None if dims is None else children_of(dims)
    if children is not None:
        for child in children.values():
            check_dims(what, name, child)
    elif dims is not None and (isinstance(dims, bool) or not isinstance(dims, int)):
        raise at_line(
            TypeError(
                f"{what}: {name} has {shown(dims)}, expected integers and None, alone or in"
                " containers"
            )
        )


def _is_batch_of_keys(tree: Any) -> bool:
    return isinstance(tree, tuple | list) and bool(tree) and all(isinstance(k, Key) for k in tree)


def map_with_dims(
    function: Callable[[str, Any, int | None], Any], dims: Any, tree: Any, path: str, what: str
) -> Any:
    """Return a structure of what a function returns for each leaf.

    Parameters
    ----------
    function
        Takes the path of a leaf, the leaf and its dimension. A batch of keys is one leaf, unless
        there is a dimension for each key.
    dims
        A dimension for all of the structure, or a container of those for its parts.
    tree, path
        The structure, and what it is called.
    what
        What dimensions are called: ``"vmap: in_dims"``.

    Raises
    ------
    ValueError
        If a container of dimensions is none of the structure.
    """
    own = None if dims is None else children_of(dims)
    children = None if own is None and _is_batch_of_keys(tree) else children_of(tree)
    if own is not None and (children is None or own.keys() != children.keys()):
        raise at_line(
            ValueError(
                f"{what} has the places {listed(map(repr, own))} for {path}, which is"
                f" {shown(tree)}; expected an integer or None, or a container with the same places"
            )
        )
    if children is None:
        return function(path, tree, dims)
    values = [
        map_with_dims(function, dims if own is None else own[key], child, f"{path}[{key!r}]", what)
        for key, child in children.items()
    ]
    return make_like(tree, values, list(children))


def move_dim(x: Var, dim: int, to: int) -> Var:
    """Return a tensor with a dimension moved to another place."""
    if dim == to:
        return x
    order = [k for k in range(x.ndim) if k != dim]
    order.insert(to, dim)
    return x.transpose(order)


class _Tensor(NamedTuple):
    """A tensor among the arguments, and what the function is given of its stand-in."""

    place: int
    wrap: Callable[[Var], Any]


def _as_is(var: Var) -> Var:
    return var


class _Leaf:
    """What stands in the place of a leaf: a tensor, or what the function is given as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Examples:
    """What a function is to be called with, for all examples.

    Parameters
    ----------
    what
        The function that maps it.
    in_dims
        Which dimension of each argument is that of the examples.
    args
        The arguments.
    """

    def __init__(self, what: str, in_dims: Any, args: tuple[Any, ...]) -> None:
        self.what = what
        #: The tensors, those of rows with the examples in front, and which these are.
        self.vars: list[Var] = []
        self.rows: list[bool] = []
        self._paths: list[str] = []
        if isinstance(in_dims, tuple | list) and len(in_dims) != len(args):
            raise at_line(
                ValueError(
                    f"{what}: in_dims is for {len(in_dims)} arguments, and {len(args)} are given;"
                    " expected as many"
                )
            )
        self._tree = tuple(
            map_with_dims(
                self._add,
                in_dims[k] if isinstance(in_dims, tuple | list) else in_dims,
                arg,
                f"argument {k}",
                f"{what}: in_dims",
            )
            for k, arg in enumerate(args)
        )

    def _add(self, path: str, leaf: Any, dim: int | None) -> Any:
        """Note a leaf of the arguments, and return what stands in its place."""
        wrap: Callable[[Var], Any] = _as_is
        if dim is not None and _is_batch_of_keys(leaf):
            wrap = Key._of
            leaf = _core.concat([key._leaf().reshape((1,)) for key in leaf], 0)
        elif dim is not None and isinstance(leaf, np.ndarray):
            leaf = _core.array(leaf)
        if not isinstance(leaf, Var):
            if dim is None:
                return _Leaf(leaf)
            raise at_line(
                TypeError(
                    f"{self.what}: {path} is {shown(leaf)}, and in_dims says {dim} for it;"
                    " expected a tensor or a batch of keys, or None in in_dims, which gives it to"
                    " all examples"
                )
            )
        if dim is not None and not -leaf.ndim <= dim < leaf.ndim:
            raise at_line(
                ValueError(
                    f"{self.what}: {path} has shape {leaf.shape}, and no dimension {dim}, as"
                    " in_dims says"
                )
            )
        self.vars.append(leaf if dim is None else move_dim(leaf, dim % leaf.ndim, 0))
        self.rows.append(dim is not None)
        self._paths.append(path)
        return _Leaf(_Tensor(len(self.vars) - 1, wrap))

    def find_extent(self) -> int:
        """Return the number of examples."""
        given = [
            (path, var.shape[0])
            for path, var, is_row in zip(self._paths, self.vars, self.rows, strict=True)
            if is_row
        ]
        if not given:
            raise at_line(
                ValueError(f"{self.what}: in_dims gives no tensor a dimension, expected one")
            )
        first, extent = given[0]
        for path, count in given:
            if count != extent:
                raise at_line(
                    ValueError(
                        f"{self.what}: {path} has {count} examples, and {first} has {extent};"
                        " expected the same"
                    )
                )
        if extent == 0:
            raise at_line(ValueError(f"{self.what}: {first} has 0 examples, expected 1 or more"))
        return int(extent)

    def fill(self, vars: list[Var]) -> tuple[Any, ...]:
        """Return the arguments of one example, of what stands for the tensors."""

        def fill_leaf(leaf: Any) -> Any:
            value = leaf.value
            return value.wrap(vars[value.place]) if isinstance(value, _Tensor) else value

        return tuple(tree_map(fill_leaf, tree) for tree in self._tree)


class Example(Body):
    """A function of one example, while it is recorded.

    Parameters
    ----------
    function
        Called once, with tensors that have no values.
    examples
        The arguments.
    vars
        Their tensors: those of the examples, or of a part of them.
    kwargs
        Further arguments, which are the same for all.
    """

    _recording = ExampleRecording

    def __init__(
        self,
        function: Callable[..., Any],
        examples: Examples,
        vars: list[Var],
        kwargs: dict[str, Any],
    ) -> None:
        trace = _core.begin_example(vars, examples.rows)
        self._record(
            f"{examples.what}: the function",
            function,
            trace,
            lambda given: (examples.fill(given), kwargs),
        )

    def __enter__(self) -> Example:
        return self

    def draws(self) -> bool:
        """Return whether the function draws random numbers; nothing else can be asked behind."""
        return _core.num_drawn(self._trace.finish([])) > 0
