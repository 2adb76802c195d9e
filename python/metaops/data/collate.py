# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches: the structure of an item, with what all items of the batch have at each place of it.

A batch is planned first, so that its size is known before there is memory for it: each
array in it is a `Part`, which is filled later, in memory that somebody gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Var, array
from .._defaults import get_default_dtype
from ..trees import make_like

__all__ = [
    "Batch",
    "Collate",
    "Gathered",
    "Joined",
    "Part",
    "collate",
    "convert",
    "default_collate",
]

Array = npt.NDArray[Any]
#: A function that makes a batch of a list of items.
Collate = Callable[[list[Any]], Any]


def _make_like(container: Any, values: list[Any], keys: list[Any]) -> Any:
    """Return a container of the kind of another one; of a dict that needs more, a dict."""
    try:
        return make_like(container, values, keys)
    except TypeError:
        made = dict(zip(keys, values, strict=True))
        return made if isinstance(container, Mapping) else values


#: Types of what is a number, and of what has parts. A union would be made anew each time.
_NUMBERS = (bool, int, float)
_SEQUENCES = (tuple, list)


class Part(ABC):
    """An array of a batch, which is not there yet.

    Parameters
    ----------
    shape, dtype
        Those of the array.
    """

    __slots__ = ("dtype", "is_weak", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype.newbyteorder("=")
        #: Made of Python's floats, which are of the default type.
        self.is_weak = False

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))

    @abstractmethod
    def fill(self, out: Array) -> None:
        """Write the elements into memory."""

    def make(self) -> Array:
        """Return the elements in memory of their own."""
        out = np.empty(self.shape, self.dtype)
        self.fill(out)
        return out


class Joined(Part):
    """Arrays of one shape, one for each item."""

    __slots__ = ("arrays",)

    def __init__(self, arrays: list[Array]) -> None:
        first = arrays[0]
        dtypes = {one.dtype for one in arrays}
        super().__init__((len(arrays), *first.shape), np.result_type(*dtypes))
        self.arrays = arrays

    def fill(self, out: Array) -> None:
        """Write the arrays one behind the other."""
        if not self.shape[1:]:
            out[...] = self.arrays
        else:
            # One behind the other is the same as one above the other.
            rows = out.reshape((self.shape[0] * self.shape[1], *self.shape[2:]))
            np.concatenate(self.arrays, out=rows, casting="unsafe")


class Gathered(Part):
    """Rows of an array. The indices are within it."""

    __slots__ = ("indices", "rows")

    def __init__(self, rows: Array, indices: npt.NDArray[np.intp]) -> None:
        super().__init__((len(indices), *rows.shape[1:]), rows.dtype)
        self.rows = rows
        self.indices = indices

    def fill(self, out: Array) -> None:
        """Write the rows."""
        flags = self.rows.flags
        if self.rows.dtype != self.dtype or not (flags.c_contiguous and flags.aligned):
            # Of such an array `take` would copy all rows.
            out[...] = self.rows[self.indices]
        else:
            # Other modes than "raise" need no memory beside.
            self.rows.take(self.indices, 0, out, "wrap")


class Ready(Part):
    """An array that is there."""

    __slots__ = ("array",)

    def __init__(self, given: Array) -> None:
        super().__init__(given.shape, given.dtype)
        self.array = given

    def fill(self, out: Array) -> None:
        """Write the array's elements."""
        out[...] = self.array


class Place:
    """The place of a part in a batch's structure."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return (Place, (self.number,))


class Batch:
    """A structure, and the parts that are at its places."""

    __slots__ = ("parts", "structure")

    def __init__(self) -> None:
        self.structure: Any = None
        self.parts: list[Part] = []

    def add(self, part: Part) -> Place:
        """Take a part, and return its place."""
        self.parts.append(part)
        return Place(len(self.parts) - 1)


def restore(structure: Any, values: Sequence[Any]) -> Any:
    """Return a structure with values at its places."""
    kind = type(structure)
    if kind is Place:
        return values[structure.number]
    if kind is tuple or kind is list:
        return kind([restore(child, values) for child in structure])
    if isinstance(structure, Mapping):
        children = [restore(child, values) for child in structure.values()]
        return _make_like(structure, children, list(structure))
    if isinstance(structure, tuple):
        return _make_like(structure, [restore(child, values) for child in structure], [])
    return structure


def as_array(value: Any) -> Array | None:
    """Return what stands for a tensor as an array; None of anything else.

    That is an array, a number of NumPy, an image of Pillow, or another library's tensor in the
    host's memory.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, Var):
        return None
    if hasattr(value, "__array_interface__") or (
        hasattr(value, "__array__") and hasattr(value, "dtype")
    ):
        return np.asarray(value)
    return None


def collate(items: list[Any], names: Sequence[Any] | None = None) -> Batch:
    """Return the batch of some items.

    Parameters
    ----------
    items
        Numbers, arrays, Vars, texts, and dicts, tuples and lists of these, all alike.
    names
        The items' indices, for messages.

    Raises
    ------
    TypeError, ValueError
        If items differ, or there is no batch of their kind.
    """
    batch = Batch()
    batch.structure = _Collation(batch, names).join(items, "")
    return batch


class _Collation:
    """Joins the items of a batch."""

    def __init__(self, batch: Batch, names: Sequence[Any] | None) -> None:
        self.batch = batch
        self.names = names

    def join(self, items: list[Any], where: str) -> Any:
        """Return the structure of what all items have at a place of theirs."""
        first = items[0]
        if as_array(first) is not None:
            return self.batch.add(self.join_arrays(items, where))
        if isinstance(first, _NUMBERS):
            return self.batch.add(self.join_numbers(items, where))
        if isinstance(first, str | bytes):
            return list(items)
        if isinstance(first, Var):
            return self.stack(items, where)
        if isinstance(first, Mapping):
            return self.join_dicts(items, where)
        if isinstance(first, _SEQUENCES):
            return self.join_sequences(items, where)
        raise TypeError(
            f"{self.name(0)} has {_of(first)}{where}; expected numbers, arrays, texts, or dicts, "
            "tuples and lists of these; collate_fn makes a batch of anything else"
        )

    def name(self, place: int) -> str:
        """Return what a message calls an item."""
        return f"item {place if self.names is None else self.names[place]}"

    def differ(self, place: int, found: str, expected: str, where: str) -> ValueError:
        """Return the error of an item that is not as the first one is."""
        return ValueError(
            f"{self.name(place)} has {found}{where}, but {self.name(0)}, "
            f"which is in the same batch, has {expected}"
        )

    def join_arrays(self, items: list[Any], where: str) -> Part:
        if {type(item) for item in items} != {np.ndarray}:
            items = [self.as_array_of(place, items, where) for place in range(len(items))]
        if len({item.shape for item in items}) > 1:
            shape = items[0].shape
            place = next(place for place, item in enumerate(items) if item.shape != shape)
            raise self.differ(place, f"shape {items[place].shape}", f"shape {shape}", where)
        if wrong := [place for place, item in enumerate(items) if item.dtype.kind not in "biuf"]:
            kind = f"an array of dtype {items[wrong[0]].dtype}"
            raise TypeError(f"{self.name(wrong[0])} has {kind}{where}; expected numbers")
        return Joined(items)

    def as_array_of(self, place: int, items: list[Any], where: str) -> Array:
        """Return one of several items, of which the first is an array, as an array."""
        item = items[place]
        found = np.asarray(item) if isinstance(item, _NUMBERS) else as_array(item)
        if found is None:
            raise self.differ(place, _of(item), _of(items[0]), where)
        return found

    def join_numbers(self, items: list[Any], where: str) -> Part:
        kinds = {type(item) for item in items}
        for place, item in enumerate(items if not kinds.issubset(_NUMBERS) else ()):
            if not isinstance(item, (*_NUMBERS, np.number, np.bool_)):
                raise self.differ(place, _of(item), _of(items[0]), where)
        try:
            numbers = np.asarray(items)
        except OverflowError:
            numbers = np.asarray(items, object)
        if numbers.dtype.kind == "f" and kinds.issubset((bool, int)):
            # NumPy has rounded integers that int64 has not.
            numbers = np.asarray(items, np.uint64 if min(items) >= 0 else object)
        if numbers.dtype.kind not in "biuf":
            raise ValueError(f"{self.name(0)} and others have integers of over 64 bits{where}")
        part = Ready(numbers)
        part.is_weak = numbers.dtype == np.float64 and kinds.issubset(_NUMBERS)
        return part

    def stack(self, items: list[Any], where: str) -> Var:
        for place, item in enumerate(items):
            if not isinstance(item, Var) or item.shape != items[0].shape:
                found, expected = (_of(one) for one in (item, items[0]))
                raise self.differ(place, found, expected, where)
        from ..ops.shape.stacking import stack

        return stack(items, 0)

    def join_dicts(self, items: list[Any], where: str) -> Any:
        first = items[0]
        for place, item in enumerate(items):
            if not isinstance(item, Mapping) or item.keys() != first.keys():
                found, expected = (
                    f"the keys {sorted(map(str, one))}" if isinstance(one, Mapping) else _of(one)
                    for one in (item, first)
                )
                raise self.differ(place, found, expected, where)
        values = [self.join([item[key] for item in items], f"{where}[{key!r}]") for key in first]
        return _make_like(first, values, list(first))

    def join_sequences(self, items: list[Any], where: str) -> Any:
        first = items[0]
        for place, item in enumerate(items):
            if not isinstance(item, _SEQUENCES) or len(item) != len(first):
                raise self.differ(place, _of(item), _of(first), where)
        parts = enumerate(zip(*items, strict=True))
        values = [self.join(list(part), f"{where}[{k}]") for k, part in parts]
        return _make_like(first, values, [])


def _of(value: Any) -> str:
    """Return what a message calls a value."""
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" + ("" if shape is None else f" of shape {tuple(shape)}")


def find_parts(value: Any) -> Batch:
    """Return what a user's function has made as a batch, with the arrays in it as parts."""
    batch = Batch()
    batch.structure = _add_parts(batch, value)
    return batch


def _add_parts(batch: Batch, value: Any) -> Any:
    """Return a value's structure, whose arrays become parts of a batch."""
    if (found := as_array(value)) is not None and found.dtype.kind in "biuf":
        return batch.add(Ready(found)) if not isinstance(value, np.generic) else value
    if isinstance(value, Mapping):
        children = [_add_parts(batch, child) for child in value.values()]
        return _make_like(value, children, list(value))
    if isinstance(value, tuple | list):
        return _make_like(value, [_add_parts(batch, child) for child in value], [])
    return value


def convert(
    structure: Any, arrays: Sequence[Array], weak: Sequence[bool], *, as_arrays: bool
) -> Any:
    """Return a batch as its user gets it: Vars, which share the arrays' memory, or arrays."""
    values: list[Any] = []
    for one, is_weak in zip(arrays, weak, strict=True):
        dtype = get_default_dtype() if is_weak else None
        if as_arrays:
            values.append(one if dtype is None or dtype == "bfloat16" else one.astype(dtype))
        else:
            values.append(array(one, dtype, copy=None))
    return restore(structure, values)


def default_collate(batch: list[Any]) -> Any:
    """Return the batch of a list of items, as a loader makes it without a `collate_fn`.

    Numbers and arrays of one shape become Vars with a dimension more, the first one; Python's
    floats are of the default type. Texts become lists. Of dicts, tuples, named tuples and
    lists the values become batches.

    Parameters
    ----------
    batch
        The items.

    Raises
    ------
    TypeError, ValueError
        If there are none, they differ, or there is no batch of their kind.

    Examples
    --------
    >>> import metaops as mo, numpy as np
    >>> batch = mo.data.default_collate([{"x": np.zeros(3), "name": "a"}] * 2)
    >>> batch["x"].shape, batch["name"]
    ((2, 3), ['a', 'a'])
    """
    if not batch:
        raise ValueError("default_collate: given no items, expected one or more")
    made = collate(list(batch))
    weak = [part.is_weak for part in made.parts]
    return convert(made.structure, [part.make() for part in made.parts], weak, as_arrays=False)
