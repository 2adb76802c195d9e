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

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import as_var, shown

__all__ = ["Key", "Mask", "Range", "along", "as_indices", "checked", "last_written", "read_items"]


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


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """Return the key that indexes one dimension, and takes those before it whole."""
    return (*(slice(None),) * axis, item)


def _as_array(value: Any, what: str) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:
        raise at_line(
            TypeError(f"{what}: indices are {shown(value)}, expected rows of one length")
        ) from None
    # An empty sequence has no type, and NumPy takes it for one of integers.
    is_untyped = array.size == 0 and not isinstance(value, np.ndarray)
    return array.astype(np.int64) if is_untyped else array


def as_indices(indices: Any, what: str) -> Any:
    """Return integers as a Var, or as an array where they are not one.

    Raises
    ------
    TypeError
        If they are no integers.
    """
    if not isinstance(indices, Var):
        array = _as_array(indices, what)
        if array.dtype.kind in "iu":
            return array
        indices = as_var(indices)
    if "int" not in indices.dtype:
        raise at_line(TypeError(f"{what}: indices are {indices.dtype}, expected integers"))
    return indices


def _item(item: Any) -> Item:
    """Return one item of a key as one of the kinds that there are."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, Var) and item.dtype == "bool":
        return Mask(item, item.shape)
    if isinstance(item, Var):
        return as_indices(item, "an index")
    if isinstance(item, list | tuple | range | np.ndarray | bool | np.bool_):
        array = _as_array(item, "an index")
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
        If there are more than the tensor has dimensions, more than one ellipsis, or a
        mask whose shape is not that of what it indexes.
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
        axis += _rank(item)
    return items


def _check_range(index: int, axis: int, extent: int) -> int:
    if not -extent <= index < extent:
        raise at_line(
            IndexError(f"index {index} is out of range for dimension {axis} of extent {extent}")
        )
    return index % extent


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


def _counted(index: Any, axis: int, extent: int) -> Any:
    """Return indices in an array counted from the start.

    Raises
    ------
    IndexError
        If one is out of range.
    """
    if index.size == 0:
        return index
    lowest, highest = int(index.min()), int(index.max())
    for number in (lowest, highest):
        _check_range(number, axis, extent)
    index = index.astype(np.int64)
    return np.where(index < 0, index + extent, index) if lowest < 0 else index


def checked(index: Any, axis: int, extent: int) -> Var:
    """Return indices counted from the start, those in an array checked at once.

    A Var is checked when it is computed.
    """
    if isinstance(index, Var):
        return _core.check_indices(index, axis, extent)
    return as_var(_counted(index, axis, extent))


def last_written(
    values: Sequence[int], shape: Sequence[int], places: Sequence[str], extras: Sequence[Var]
) -> Var:
    """Return the number of the last value that goes to each element; below 0 of none.

    Parameters
    ----------
    values
        The shape of the values, which are numbered in row-major order.
    shape
        Where they go.
    places, extras
        The place of each value there, as for `reindex_reduce`.
    """
    count = math.prod(values)
    numbers = _core.iota((count,), 0, "int32" if count < 2**31 else "int64").reshape(values)
    return numbers.reindex_reduce("max", shape, places, extras=extras)


class Key:
    """A key with tensors, resolved for the tensor that it indexes.

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

    def __init__(self, shape: Sequence[int], items: Sequence[Item]) -> None:
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
        """Add what indexes one dimension, or as many as a mask has; return its shape."""
        if isinstance(item, int):
            self.ranges.append(Range(_check_range(item, axis, shape[axis]), 1, 1))
            return ()
        if not isinstance(item, Mask):
            known = not isinstance(item, Var)
            self.indices[axis] = _counted(item, axis, shape[axis]) if known else item
            self.ranges.append(Range(0, shape[axis], 1))
            return tuple(item.shape)
        value = item.value.numpy() if isinstance(item.value, Var) else item.value
        if not item.shape:
            return (int(value),)
        places = np.nonzero(value)
        for offset, numbers in enumerate(places):
            self.indices[axis + offset] = numbers
            self.ranges.append(Range(0, shape[axis + offset], 1))
        return places[0].shape

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
            extent = self.ranges[axis].extent
            extras.append(as_var(index) if known else _core.check_indices(index, axis, extent))
        return expressions, extras
