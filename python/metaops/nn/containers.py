# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules made of modules."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, normalised_axis, shown
from ..ops.shape.shaping import flatten
from .module import Module

__all__ = ["Flatten", "Identity", "ModuleList", "Sequential", "Unflatten"]

#: A module or any other function.
Layer = Callable[..., Any]


L = TypeVar("L", bound="ModuleList")


def _checked_layer(layer: Any) -> Layer:
    """Return the layer, or raise TypeError unless it can be called."""
    if not callable(layer):
        raise at_line(TypeError(f"a layer is {shown(layer)}, expected a module or a function"))
    function: Layer = layer
    return function


class ModuleList(Module):
    """A list of modules and functions, without a call of its own.

    It can be indexed, sliced and changed as lists can; a slice is another such list.

    Parameters
    ----------
    layers
        The first content.
    """

    def __init__(self, layers: Iterable[Layer] = ()) -> None:
        self._layers: list[Layer] = []
        self.extend(layers)

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from ((str(k), layer) for k, layer in enumerate(self._layers))

    def append(self: L, layer: Layer) -> L:
        """Add a layer at the end; return this list.

        Raises
        ------
        TypeError
            If it cannot be called.
        """
        self._layers.append(_checked_layer(layer))
        return self

    def extend(self: L, layers: Iterable[Layer]) -> L:
        """Add layers at the end; return this list."""
        self._layers.extend([_checked_layer(layer) for layer in layers])
        return self

    def insert(self, index: int, layer: Layer) -> None:
        """Insert a layer before the one of an index."""
        self._layers.insert(index, _checked_layer(layer))

    def pop(self, index: int = -1) -> Layer:
        """Remove and return the layer of an index."""
        return self._layers.pop(index)

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    def __contains__(self, layer: object) -> bool:
        return any(own is layer for own in self._layers)

    @overload
    def __getitem__(self, key: int) -> Layer: ...
    @overload
    def __getitem__(self: L, key: slice) -> L: ...
    def __getitem__(self: L, key: int | slice) -> Layer | L:
        return self._of(self._layers[key]) if isinstance(key, slice) else self._layers[key]

    def __setitem__(self, key: int, layer: Layer) -> None:
        self._layers[key] = _checked_layer(layer)

    def __delitem__(self, key: int | slice) -> None:
        del self._layers[key]

    def __add__(self: L, layers: Iterable[Layer]) -> L:
        return self._of([*self._layers, *layers])

    def __iadd__(self: L, layers: Iterable[Layer]) -> L:
        return self.extend(layers)

    def _of(self: L, layers: list[Layer]) -> L:
        """Return another list of this kind."""
        result = type(self).__new__(type(self))
        ModuleList.__init__(result, layers)
        return result


class Sequential(ModuleList):
    """Layers that are called one after the other.

    Parameters
    ----------
    *layers
        Modules or functions of one argument, or one list of them.
    """

    def __init__(self, *layers: Layer | Iterable[Layer]) -> None:
        flat: list[Any] = []
        for layer in layers:
            if isinstance(layer, (list, tuple)):
                flat.extend(layer)
            else:
                flat.append(layer)
        super().__init__(flat)

    def execute(self, x: Any) -> Any:
        """Return the last layer's result; without layers, that of `Identity`."""
        for layer in self:
            x = layer(x)
        return x if len(self) else Identity()(x)


class Identity(Module):
    """Returns what it is given, a Var as another Var of the same value.

    It may be made with any arguments, as the layer whose place it takes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def execute(self, x: Any) -> Any:
        """Return x."""
        return +x if isinstance(x, Var) else x


class Flatten(Module):
    """Makes dimensions `start_dim` to `end_dim` one; by default all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def execute(self, x: VarLike) -> Var:
        """Return x under its new shape."""
        return flatten(x, self.start_dim, self.end_dim)


class Unflatten(Module):
    """Makes one dimension several, which undoes `Flatten`.

    Parameters
    ----------
    dim
        The dimension.
    unflattened_size
        The extents that it becomes. One may be -1: it is what remains.

    Raises
    ------
    TypeError
        If an extent is no integer.
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        try:
            self.unflattened_size = tuple(map(operator.index, unflattened_size))
        except TypeError:
            given = shown(unflattened_size)
            error = TypeError(f"Unflatten: unflattened_size is {given}, expected integers")
            raise at_line(error) from None

    def execute(self, x: VarLike) -> Var:
        """Return x under its new shape.

        Raises
        ------
        ValueError
            If the extents do not multiply to that of the dimension.
        """
        x = as_var(x)
        axis = normalised_axis(self.dim, x.ndim)
        extent, sizes = x.shape[axis], list(self.unflattened_size)
        if sizes.count(-1) == 1:
            known = -math.prod(sizes)
            sizes[sizes.index(-1)] = extent // known if known else 0
        if math.prod(sizes) != extent or any(size < 0 for size in sizes):
            raise at_line(
                ValueError(
                    f"Unflatten({self.extra_repr()}): dimension {axis} of {x.shape} cannot be"
                    f" {self.unflattened_size}"
                )
            )
        return x.reshape((*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))

    def extra_repr(self) -> str:
        """Return the dimension and its extents."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
