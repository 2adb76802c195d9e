# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys with tensors: ``x[key]`` and ``x[key] = y``.

A 0-d tensor is as an integer is: the session reads or writes the part that is there. All
other keys are a reindex, or a reindex-reduce, whose index expressions read the indices as
extras. Indices may be negative, which counts from the end. One that is out of range raises
an IndexError: at once where its value is known, as of an integer, a list or an array, else
where what was computed with it, or later, is waited for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var
from ..elementwise.elementwise import maximum, minimum, where
from ._indices import last_written
from ._keys import Item, Key, Mask, Range, merged, read_items

__all__ = ["getitem", "setitem", "update"]


def _is_plain(items: Sequence[Any]) -> bool:
    """Return whether a key has no tensors."""
    return all(item is None or isinstance(item, slice | int) for item in items if item is not ...)


def _has_places(items: Sequence[Any]) -> bool:
    """Return whether a key has no tensors but 0-d ones, so that the session takes it."""
    return _is_plain([0 if isinstance(item, Var) and not item.shape else item for item in items])


def getitem(x: Var, key: Any) -> Var:
    """Return ``x[key]`` for a key with tensors, with NumPy's meaning.

    Integer tensors (Vars, arrays or lists) pick elements; a boolean tensor picks
    where it holds, which computes the mask first.
    """
    items = read_items(x.shape, key)
    if _has_places(items):
        return x[tuple(items)]
    x, items, shown = merged(x, items)
    resolved = Key(x.shape, items, shown)
    expressions, extras = resolved.reads(resolved.place)
    dims = resolved.dims
    for axis, bounds in enumerate(resolved.ranges):
        if axis not in expressions:
            name = f"i{dims[axis]}" if axis in dims else None
            expressions[axis] = _place(bounds, x.shape[axis], name, extras)
    indexes = [expressions[axis] for axis in range(x.ndim)]
    return x.reindex(resolved.shape, indexes, extras=extras)


def _place(bounds: Range, extent: int, name: str | None, extras: list[Var]) -> str:
    """Return where a range of a dimension is; its start is an extra, so no constant."""
    if bounds == (0, extent, 1) and name is not None:
        return name
    extras.append(_core.full((), bounds.start, "int64"))
    start = f"@e{len(extras) - 1}()"
    return start if name is None else f"{name} * {bounds.step} + {start}"


def _as_value(value: VarLike, dtype: str) -> Var:
    if isinstance(value, bool | int | float):
        return _core.full((), value, dtype)
    return as_var(value).cast(dtype)


def _fit(value: Var, shape: Sequence[int]) -> Var:
    """Give a value the rank of the part that it is assigned to, by extents of 1.

    Raises
    ------
    ValueError
        If it does not broadcast to the part.
    """
    extra = value.ndim - len(shape)
    fitted = value.shape
    if extra > 0 and set(fitted[:extra]) == {1}:
        fitted = fitted[extra:]
    fitted = (*(1,) * (len(shape) - len(fitted)), *fitted)
    if len(fitted) > len(shape) or any(n not in (1, m) for n, m in zip(fitted, shape, strict=True)):
        raise at_line(
            ValueError(
                f"a value of shape {value.shape} cannot be assigned to a part of shape"
                f" {tuple(shape)}"
            )
        )
    return value.reshape(fitted)


def _along(ndim: int, extents: Mapping[int, int]) -> list[int]:
    """Return a shape of these extents by dimension, and of 1 elsewhere."""
    return [extents.get(axis, 1) for axis in range(ndim)]


def _laid(value: Var, key: Key) -> Var:
    """Give a value of the result's rank the dimensions of the tensor.

    Its extents along the index shape are 1.
    """
    extents = {axis: value.shape[dim] for axis, dim in key.dims.items()}
    return value.reshape(_along(len(key.ranges), extents))


def _combine(kind: str, part: Var, value: Var) -> Var:
    if kind == "set":
        return value
    if kind == "add":
        return part + value
    if kind == "mul":
        return part * value
    return maximum(part, value) if kind == "max" else minimum(part, value)


def _around(items: Sequence[Item]) -> tuple[slice, ...]:
    """Return the key of the part that all of a key's elements are in.

    It has all dimensions, of extent 1 where the key has an integer.
    """
    result: list[slice] = []
    for item in items:
        if isinstance(item, slice):
            result.append(item)
        elif isinstance(item, int):
            result.append(slice(item, item + 1 or None))
        elif item is not None and item is not ...:
            result += [slice(None)] * (len(item.shape) if isinstance(item, Mask) else 1)
    return tuple(result)


def _write_masked(x: Var, items: Sequence[Item], value: Var, kind: str) -> bool:
    """Write where one mask holds, values that do not depend on how often it does.

    So the mask is not computed now. Returns False if the key has other tensors, or the
    values have to be counted.
    """
    masks = [k for k, item in enumerate(items) if isinstance(item, Mask)]
    if len(masks) != 1:
        return False
    (place,) = masks
    mask = items[place]
    before, after = items[:place], items[place + 1 :]
    if not _is_plain([*before, *after]) or 0 in mask.shape:
        return False
    # As if it held once, anywhere.
    once: list[Item] = [np.zeros(1, np.int64)] * len(mask.shape) or [Mask(np.True_, ())]
    key = Key(x.shape, [*before, *once, *after])
    back = key.place - len(key.shape)
    if value.ndim >= -back and value.shape[back] != 1:
        return False
    value = _laid(_fit(value, key.shape), key)
    extents = dict(zip(key.indices, mask.shape, strict=True))
    condition = as_var(mask.value).reshape(_along(x.ndim, extents))
    around = _around(items)
    part = x[around]
    x[around] = where(condition, _combine(kind, part, value), part)
    return True


def _set(part: Var, key: Key, value: Var) -> Var:
    """Write values to a part, of those that meet the last."""
    expressions, extras = key.reads(0)
    extents = {axis: part.shape[axis] for axis in key.indices}
    indexed, shape = [*expressions.values()], [*extents.values()]
    end = key.place + len(key.index_shape)
    before, own, after = value.shape[: key.place], value.shape[key.place : end], value.shape[end:]
    if set(own) <= {1}:
        held = _core.full(key.index_shape, True, "bool")
        condition = held.reindex_reduce("or", shape, indexed, extras=extras)
        placed = _laid(value, key)
    else:
        number = last_written(key.index_shape, shape, indexed, extras)
        condition = number >= 0
        count = math.prod(key.index_shape)
        value = value.broadcast((*before, *key.index_shape, *after))
        value = value.reshape((*before, count, *after))
        places = ["0" if n == 1 else "" for n in value.shape]
        for axis, dim in key.dims.items():
            dim = dim if dim < key.place else dim - len(key.index_shape) + 1
            places[dim] = places[dim] or f"i{axis}"
        places[key.place] = f"@e0({', '.join(f'i{axis}' for axis in key.indices)})"
        placed = value.reindex(part.shape, places, extras=[number])
    return where(condition.reshape(_along(part.ndim, extents)), placed, part)


def _combined(part: Var, key: Key, value: Var, kind: str) -> Var:
    """Combine a part with values, with all of those that meet."""
    expressions, extras = key.reads(key.place)
    places = ["0"] * part.ndim
    for axis, dim in key.dims.items():
        places[axis] = f"i{dim}"
    for axis, expression in expressions.items():
        places[axis] = expression
    value = value.broadcast(key.shape)
    return _combine(kind, part, value.reindex_reduce(kind, part.shape, places, extras=extras))


def update(x: Var, key: Any, value: VarLike, kind: str) -> None:
    """Rebind x to what it is after a value was written to a part.

    Parameters
    ----------
    x
        Any tensor.
    key
        Any key.
    value
        What broadcasts to the part; it takes x's dtype.
    kind
        "set", "add", "mul", "max" or "min": what becomes of the elements that were there.
    """
    items = read_items(x.shape, key)
    values = _as_value(value, x.dtype)
    if _has_places(items):
        plain = tuple(items)
        x[plain] = values if kind == "set" else _combine(kind, x[plain], values)
        return
    if _write_masked(x, items, values, kind):
        return
    flat, items, shown = merged(x, items)
    resolved = Key(flat.shape, items, shown)
    values = _fit(values, resolved.shape)
    if 0 in resolved.shape:
        return
    around = _around(items)
    part = flat[around]
    if kind == "set":
        flat[around] = _set(part, resolved, values)
    else:
        flat[around] = _combined(part, resolved, values, kind)
    if flat is not x:
        x[...] = flat.reshape(x.shape)


def setitem(x: Var, key: Any, value: VarLike) -> None:
    """Assign to ``x[key]`` for a key with tensors, with NumPy's meaning.

    Where tensors name an element more than once, the last of the values, in
    row-major order, stays.
    """
    update(x, key, value, "set")
