# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that put a border around signals, images and volumes; see `metaops.pad`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from ..ops.shape.padding import pad
from .module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

#: One width for all sides, or those before and after, of the last dimension first.
Sides: TypeAlias = int | Sequence[int]


class _Pad(Module):
    """A border around the last dimensions.

    Parameters
    ----------
    padding
        One width for all sides, or those before and after of each dimension, of the last
        one first: ``(left, right, top, bottom, front, back)``.

    Raises
    ------
    ValueError
        If it is neither an integer nor two for each dimension.
    """

    _rank: int
    _mode: str

    def __init__(self, padding: Sides) -> None:
        self.padding = _sides(f"{type(self).__name__}: padding", padding, self._rank)

    def execute(self, x: VarLike) -> Var:
        """Return ``(C, ...)`` or ``(N, C, ...)`` with its border.

        Raises
        ------
        ValueError
            If x has other dimensions, or none of its elements can be the border.
        """
        x = as_var(x)
        if x.ndim not in (self._rank + 1, self._rank + 2):
            raise at_line(
                ValueError(
                    f"{type(self).__name__}({self.extra_repr()}): input has shape {x.shape},"
                    f" expected {self._rank + 1} or {self._rank + 2} dimensions"
                )
            )
        return self._padded(x)

    def _padded(self, x: Var) -> Var:
        return pad(x, self._widths(x), self._mode)

    def _widths(self, x: Var) -> list[tuple[int, int]]:
        """Return the widths of all dimensions of x, of the first one first."""
        own = list(zip(self.padding[::2], self.padding[1::2], strict=True))
        return [(0, 0)] * (x.ndim - self._rank) + own[::-1]

    def extra_repr(self) -> str:
        """Return the widths."""
        return f"{self.padding}"


def _sides(name: str, padding: Any, rank: int) -> tuple[int, ...]:
    """Return the widths before and after each of the last dimensions."""
    numbers = padding if isinstance(padding, tuple | list) else (padding,) * (2 * rank)
    try:
        sides = tuple(int(operator.index(number)) for number in numbers)
    except TypeError:
        sides = ()
    if len(sides) != 2 * rank:
        raise at_line(
            ValueError(f"{name} is {shown(padding)}, expected an integer or {2 * rank} of them")
        )
    return sides


class _ConstantPad(_Pad):
    """A border of one value.

    Parameters
    ----------
    padding
        One width for all sides, or those before and after of each dimension, of the last
        one first. A negative one removes elements.
    value
        Of the border.
    """

    def __init__(self, padding: Sides, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def _padded(self, x: Var) -> Var:
        return pad(x, self._widths(x), value=self.value)

    def extra_repr(self) -> str:
        """Return the widths and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Puts a border of one value around signals, ``(N, C, W)`` or ``(C, W)``."""

    _rank = 1


class ConstantPad2d(_ConstantPad):
    """Puts a border of one value around images, ``(N, C, H, W)`` or ``(C, H, W)``."""

    _rank = 2


class ConstantPad3d(_ConstantPad):
    """Puts a border of one value around volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _rank = 3


class _ZeroPad(_Pad):
    """A border of zeros."""

    _mode = "constant"


class ZeroPad1d(_ZeroPad):
    """Puts zeros around signals, ``(N, C, W)`` or ``(C, W)``."""

    _rank = 1


class ZeroPad2d(_ZeroPad):
    """Puts zeros around images, ``(N, C, H, W)`` or ``(C, H, W)``."""

    _rank = 2


class ZeroPad3d(_ZeroPad):
    """Puts zeros around volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _rank = 3


class _ReflectionPad(_Pad):
    """A border that mirrors at the outermost elements."""

    _mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """Mirrors signals, ``(N, C, W)`` or ``(C, W)``, at their outermost elements."""

    _rank = 1


class ReflectionPad2d(_ReflectionPad):
    """Mirrors images, ``(N, C, H, W)`` or ``(C, H, W)``, at their outermost elements."""

    _rank = 2


class ReflectionPad3d(_ReflectionPad):
    """Mirrors volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``, at their outermost elements."""

    _rank = 3


class _ReplicationPad(_Pad):
    """A border of the outermost elements."""

    _mode = "edge"


class ReplicationPad1d(_ReplicationPad):
    """Repeats the outermost elements of signals, ``(N, C, W)`` or ``(C, W)``."""

    _rank = 1


class ReplicationPad2d(_ReplicationPad):
    """Repeats the outermost elements of images, ``(N, C, H, W)`` or ``(C, H, W)``."""

    _rank = 2


class ReplicationPad3d(_ReplicationPad):
    """Repeats the outermost elements of volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _rank = 3


class _CircularPad(_Pad):
    """A border that goes on with the other side."""

    _mode = "wrap"


class CircularPad1d(_CircularPad):
    """Goes on with the other side of signals, ``(N, C, W)`` or ``(C, W)``."""

    _rank = 1


class CircularPad2d(_CircularPad):
    """Goes on with the other side of images, ``(N, C, H, W)`` or ``(C, H, W)``."""

    _rank = 2


class CircularPad3d(_CircularPad):
    """Goes on with the other side of volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _rank = 3
