# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules made of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, overload

from .._core import Var
from .._errors import at_line
from .._typing import VarLike
from ..shaping import flatten
from .module import Module

__all__ = ["Flatten", "Identity", "ModuleList", "Sequential"]

#: A module or any other function.
Layer = Callable[..., Any]


class ModuleList(Module):
    """A list of modules and functions, without a call of its own.

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

    def append(self, layer: Layer) -> ModuleList:
        """Add a layer at the end; return this list.

        Raises
        ------
        TypeError
            If it cannot be called.
        """
        if not callable(layer):
            raise at_line(
                TypeError(f"a layer is {type(layer).__name__}, expected a module or a function")
            )
        self._layers.append(layer)
        return self

    def extend(self, layers: Iterable[Layer]) -> ModuleList:
        """Add layers at the end; return this list."""
        for layer in layers:
            self.append(layer)
        return self

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    @overload
    def __getitem__(self, key: int) -> Layer: ...
    @overload
    def __getitem__(self, key: slice) -> list[Layer]: ...
    def __getitem__(self, key: int | slice) -> Layer | list[Layer]:
        return self._layers[key]


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
