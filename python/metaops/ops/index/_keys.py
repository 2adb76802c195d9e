# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the keys of ``x[key]`` mean.

A key is read as NumPy reads it. Of its items, None and slices stay where they are;
all others index together: tensors of integers, integers beside them, and masks, which
stand for the places where they hold. Their shapes broadcast to the *index shape*,
which comes where they stand in the key if they are side by side, else first.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import as_var
from ._indices import as_array, as_indices, check_range, counted

__all__ = ["Item", "Key", "Mask", "Range", "merged", "read_items"]


class Range(NamedTuple):
    """The indices start, start + step, ... of one dimension, `extent` of them."""

    start: int
    extent: int
    step: int


class Mask(NamedTuple):
    """A boolean tensor of any rank, on the host if its elements are known there."""

    value: Any
    shape: tuple[int, ...]


#: None, a slice, an integer, integers as a Var or as an array, or a mask.
Item: TypeAlias = Any


def _item(item: Any) -> Item:
    """Return one item of a key as one of the kinds that there are."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, Var) and item.dtype == "bool":
        return Mask(item, item.shape)
    if isinstance(item, Var):
        return as_indices(item, "an index")
    if isinstance(item, list | tuple | range | np.ndarray | bool | np.bool_):
        array = as_array(item, "an index")
        if array.dtype == bool:
            return Mask(array, array.shape)
        indices = as_indices(array, "an index")
        return int(indices) if isinstance(indices, np.ndarray) and not indices.ndim else indices
    if not hasattr(item, "__index__"):
        raise at_line(
            TypeError(
                f"an index is {_core.describe(item)}, expected integers, slices, None, ..."
                " and tensors of integers or booleans"
            )
        )
    number = operator.index(item)
    if not -(2**63) <= number < 2**63:
        raise at_line(IndexError(f"an index: given {number}, expected an integer of 64 bits"))
    return number


def _rank(item: Item) -> int:
    """Return how many dimensions an item of a key stands for."""
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if isinstance(item, Mask) else 1


def read_items(shape: Sequence[int], key: Any) -> list[Item]:
    """Return the items of a key for a tensor of this shape, without an ellipsis.

    Raises
    ------
    IndexError
        If there are more than the tensor has dimensions, more than one ellipsis, a mask
        whose shape is not that of what it indexes, or an index where none is in range.
    TypeError
        If an item is nothing that indexes.
    """
    items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise at_line(IndexError("an index has more than one ellipsis"))
    missing = len(shape) - sum(map(_rank, items))
    if missing < 0:
        given = len(shape) - missing
        raise at_line(IndexError(f"given {given} indices for a tensor of shape {tuple(shape)}"))
    place = next((k for k, item in enumerate(items) if item is Ellipsis), len(items))
    # What the ellipsis stands for separates tensors even if it is nothing.
    whole: list[Item] = [Ellipsis] if ellipses else []
    items[place : place + 1] = whole + [slice(None)] * missing
    axis = 0
    for item in items:
        if isinstance(item, Mask):
            expected = tuple(shape[axis : axis + len(item.shape)])
            if item.shape != expected:
                raise at_line(
                    IndexError(
                        f"an index is a mask of shape {item.shape}, expected the shape {expected}"
                        " of the dimensions that it indexes"
                    )
                )
        elif isinstance(item, Var) and shape[axis] == 0 and 0 not in item.shape:
            # Nothing is computed of a tensor without elements, that would tell.
            raise at_line(IndexError(f"an index is out of range for dimension {axis} of extent 0"))
        axis += _rank(item)
    return items


def merged(x: Var, items: Sequence[Item]) -> tuple[Var, list[Item], list[int]]:
    """Make one dimension of those that a mask indexes, so that one number is a place there.

    Returns the tensor, its key, and which of its own dimensions each of its new ones was,
    or begins at. It is x itself if no mask has several dimensions.
    """
    extents: list[int] = []
    own: list[int] = []
    result: list[Item] = []
    axis = 0
    for item in items:
        rank = _rank(item)
        if isinstance(item, Mask) and rank > 1:
            count = math.prod(item.shape)
            extents.append(count)
            own.append(axis)
            item = Mask(item.value.reshape(-1), (count,))
        else:
            extents += x.shape[axis : axis + rank]
            own += range(axis, axis + rank)
        result.append(item)
        axis += rank
    return (x if len(extents) == x.ndim else x.reshape(extents)), result, own


def _range(item: slice, extent: int) -> Range:
    try:
        start, stop, step = item.indices(extent)
    except TypeError:
        ends = [end for end in (item.start, item.stop, item.step) if end is not None]
        wrong = next(end for end in ends if not hasattr(end, "__index__"))
        raise at_line(
            TypeError(f"a slice's end is {_core.describe(wrong)}, expected an integer")
        ) from None
    except ValueError:
        raise at_line(ValueError("a slice's step is 0, expected another number")) from None
    return Range(start, len(range(start, stop, step)), step)


class Key:
    """A key with tensors, resolved for the tensor that it indexes.

    Its masks have one dimension, or none; see `merged`.

    Attributes
    ----------
    ranges : list of Range
        What each dimension of the tensor is narrowed to; all of it where a tensor
        indexes.
    indices : dict of int to Var or array
        The tensors of indices by the dimension that they index. Vars are yet to be
        checked, arrays are counted from the start.
    index_shape : tuple of int
        What their shapes broadcast to.
    kept : list of int or None
        The other dimensions of the result in order: those of slices, and None.
    place : int
        Where among these the dimensions of the index shape come.
    """

    def __init__(
        self, shape: Sequence[int], items: Sequence[Item], shown: Sequence[int] | None = None
    ) -> None:
        # The dimensions as errors name them.
        self._shown = range(len(shape)) if shown is None else shown
        self.ranges: list[Range] = []
        self.indices: dict[int, Any] = {}
        self.kept: list[int | None] = []
        shapes: list[tuple[int, ...]] = []
        # Of what indexes together: where in the key, and where in the result.
        positions: list[int] = []
        place = 0
        for position, item in enumerate(items):
            axis = len(self.ranges)
            if item is None:
                self.kept.append(None)
            elif isinstance(item, slice):
                self.kept.append(axis)
                self.ranges.append(_range(item, shape[axis]))
            elif item is not Ellipsis:
                place = place if positions else len(self.kept)
                positions.append(position)
                shapes.append(self._add(item, axis, shape))
        adjacent = positions == list(range(positions[0], positions[0] + len(positions)))
        self.place = place if adjacent else 0
        try:
            self.index_shape = tuple(np.broadcast_shapes(*shapes))
        except ValueError:
            given = ", ".join(map(str, shapes))
            raise at_line(
                IndexError(f"indices of shapes {given} do not broadcast together")
            ) from None

    def _add(self, item: Item, axis: int, shape: Sequence[int]) -> tuple[int, ...]:
        """Add what indexes one dimension, or none if it is a mask of none; return its shape."""
        if isinstance(item, int):
            start = check_range(item, self._shown[axis], shape[axis])
            self.ranges.append(Range(start, 1, 1))
            return ()
        if not isinstance(item, Mask):
            known = not isinstance(item, Var)
            name = self._shown[axis]
            self.indices[axis] = counted(item, name, shape[axis]) if known else item
            self.ranges.append(Range(0, shape[axis], 1))
            return tuple(item.shape)
        value = item.value.numpy() if isinstance(item.value, Var) else item.value
        if not item.shape:
            return (int(value),)
        # Masks of several dimensions were merged.
        self.indices[axis] = np.flatnonzero(value)
        self.ranges.append(Range(0, shape[axis], 1))
        return self.indices[axis].shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        kept = [1 if axis is None else self.ranges[axis].extent for axis in self.kept]
        return (*kept[: self.place], *self.index_shape, *kept[self.place :])

    @property
    def dims(self) -> dict[int, int]:
        """Which dimension of the result each dimension that is kept becomes."""
        rank = len(self.index_shape)
        return {
            axis: k if k < self.place else k + rank
            for k, axis in enumerate(self.kept)
            if axis is not None
        }

    def reads(self, first: int) -> tuple[dict[int, str], list[Var]]:
        """Return what reads the tensors of indices as extras, and these.

        The dimensions of the index shape are those of the iteration from `first` on.
        """
        end = first + len(self.index_shape)
        expressions, extras = {}, []
        for number, (axis, index) in enumerate(self.indices.items()):
            names = [
                "0" if extent == 1 else f"i{end - index.ndim + k}"
                for k, extent in enumerate(index.shape)
            ]
            expressions[axis] = f"@e{number}({', '.join(names)})"
            known = not isinstance(index, Var)
            name, extent = self._shown[axis], self.ranges[axis].extent
            extras.append(as_var(index) if known else _core.check_indices(index, name, extent))
        return expressions, extras
