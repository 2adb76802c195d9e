# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of parts that make a new tensor: ``x.at[key].add(y)``.

``x[key] += y`` reads the part, adds, and writes it, so of values that meet at one
element the last stays, as in NumPy. ``x.at[key].add(y)`` adds all of them.
"""

from __future__ import annotations

from typing import Any

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var
from .indexing import update

__all__ = ["At", "Parts", "at"]


class At:
    """The part ``x.at[key]`` of a tensor, from which another tensor is made.

    The key is any that ``x[key]`` takes. A value broadcasts to the part. x stays as it
    is, and gradients flow to it and to the values.

    Raises
    ------
    IndexError
        If an index is out of range, as of ``x[key]``.
    TypeError
        If an item of the key indexes nothing, or floats are combined with integers.
    ValueError
        If a value does not broadcast to the part.
    """

    def __init__(self, x: Var, key: Any) -> None:
        self._x, self._key = x, key

    def _updated(self, value: VarLike, kind: str) -> Var:
        x = self._x
        if kind != "set" and "float" not in x.dtype and "float" in as_var(value).dtype:
            raise at_line(
                TypeError(f"at: a value is {as_var(value).dtype}, expected integers for {x.dtype}")
            )
        result = x.clone()
        update(result, self._key, value, kind)
        return result

    def set(self, value: VarLike) -> Var:
        """Return x with the part replaced; of values that meet, the last stays."""
        return self._updated(value, "set")

    def add(self, value: VarLike) -> Var:
        """Return x with values added to the part, all of those that meet."""
        return self._updated(value, "add")

    def subtract(self, value: VarLike) -> Var:
        """Return x with values subtracted from the part, all of those that meet."""
        return self._updated(-as_var(value), "add")

    def multiply(self, value: VarLike) -> Var:
        """Return x with the part multiplied by values, by all of those that meet."""
        return self._updated(value, "mul")

    def divide(self, value: VarLike) -> Var:
        """Return x with the part divided by values, by the product of those that meet.

        x has floats, else a `TypeError` is raised.
        """
        return self._x / self._product("divide", value)

    def power(self, value: VarLike) -> Var:
        """Return x with the part raised to the power of values, of those that meet.

        x has floats, else a `TypeError` is raised.
        """
        return self._x ** self._product("power", value)

    def _product(self, what: str, value: VarLike) -> Var:
        x = self._x
        if "float" not in x.dtype:
            raise at_line(TypeError(f"at: {what} takes floats, given {x.dtype}"))
        return At(as_var(1).cast(x.dtype).broadcast(x.shape), self._key).multiply(value)

    def max(self, value: VarLike) -> Var:
        """Return x with the part raised to values, to the largest that meet."""
        return self._updated(value, "max")

    def min(self, value: VarLike) -> Var:
        """Return x with the part lowered to values, to the smallest that meet."""
        return self._updated(value, "min")


class Parts:
    """What ``x.at`` is: all parts of a tensor."""

    def __init__(self, x: Var) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> At:
        return At(self._x, key)


at = property(Parts, doc="``x.at[key].add(y)`` and its like, see `metaops.ops.index.at.At`.")
