# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that are tensors: taking, gathering, scattering, x[index] and x[index] = y.

All of these are a reindex, or a reindex-reduce, whose index expressions read
the indices as extras. Indices may be negative, which counts from the end. One
that is out of range fails the program that computes it: an IndexError is raised
where its result, or that of a later program, is waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import VarLike, as_var, normalised_axis
from .elementwise import where

__all__ = ["gather", "scatter_add", "take"]


def _names(first: int, count: int) -> list[str]:
    return [f"i{k}" for k in range(first, first + count)]


def _read(extra: int, names: Sequence[str]) -> str:
    return f"@e{extra}({', '.join(names)})"


def _index_var(index: VarLike, what: str) -> Var:
    var = as_var(index)
    if "int" not in var.dtype:
        raise at_line(TypeError(f"{what}: indices are {var.dtype}, expected integers"))
    return var


def _places(
    x: Var,
    axes: Sequence[int],
    indices: Sequence[Var],
    place: int,
    shown: Sequence[int] | None = None,
) -> tuple[tuple[int, ...], list[str], list[Var]]:
    """Index some axes of x by tensors, whose common dimensions come at `place`.

    Returns the shape of what is indexed, where in x each of its elements is, and
    the extras of these expressions. An error names the axes as in `shown`.
    """
    try:
        shape = np.broadcast_shapes(*(index.shape for index in indices))
    except ValueError:
        shapes = ", ".join(str(index.shape) for index in indices)
        raise at_line(ValueError(f"indices of shapes {shapes} do not broadcast together")) from None
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    kept = [x.shape[axis] for axis in rest]
    result = (*kept[:place], *shape, *kept[place:])
    names = _names(0, place) + _names(place + len(shape), len(rest) - place)
    expressions = dict(zip(rest, names, strict=True))
    extras = []
    shown = axes if shown is None else shown
    for number, (axis, index, name) in enumerate(zip(axes, indices, shown, strict=True)):
        own = _names(place + len(shape) - index.ndim, index.ndim)
        own = ["0" if n == 1 else i for n, i in zip(index.shape, own, strict=True)]
        expressions[axis] = _read(number, own)
        extras.append(_core.check_indices(index, name, x.shape[axis]))
    return result, [expressions[axis] for axis in range(x.ndim)], extras


def take(x: VarLike, indices: VarLike, dim: int | None = None) -> Var:
    """Return elements of x along a dimension, as ``numpy.take``.

    Parameters
    ----------
    x
        Any tensor.
    indices
        Integers of any shape, which takes the place of the dimension.
    dim
        The dimension; without one, x is flattened first.

    Raises
    ------
    IndexError
        When the result is waited for, if an index is out of range.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range.
    """
    x, index = as_var(x), _index_var(indices, "take")
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    axis = normalised_axis(dim, x.ndim)
    shape, places, extras = _places(x, [axis], [index], axis)
    return x.reindex(shape, places, extras=extras)


def _along(what: str, shape: Sequence[int], axis: int, index: Var) -> tuple[list[str], Var]:
    """Return the place of each index along one axis, and the checked indices."""
    if index.ndim != len(shape) or any(
        n != m for k, (n, m) in enumerate(zip(index.shape, shape, strict=True)) if k != axis
    ):
        raise at_line(
            ValueError(
                f"{what}: indices have shape {index.shape}, expected {tuple(shape)}"
                f" but for dimension {axis}"
            )
        )
    names = _names(0, len(shape))
    checked = _core.check_indices(index, axis, shape[axis])
    return [*names[:axis], _read(0, names), *names[axis + 1 :]], checked


def gather(x: VarLike, dim: int, index: VarLike) -> Var:
    """Return ``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim=1``.

    The same as ``numpy.take_along_axis``.

    Parameters
    ----------
    x
        Any tensor with a dimension.
    dim
        The dimension that is indexed.
    index
        Integers of x's shape but for the extent of `dim`.

    Raises
    ------
    IndexError
        When the result is waited for, if an index is out of range.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    x, indices = as_var(x), _index_var(index, "gather")
    axis = normalised_axis(dim, x.ndim)
    places, checked = _along("gather", x.shape, axis, indices)
    return x.reindex(indices.shape, places, extras=[checked])


def scatter_add(x: VarLike, dim: int, index: VarLike, src: VarLike) -> Var:
    """Return x with ``src[i, j, k]`` added at ``[i, index[i, j, k], k]`` for ``dim=1``.

    Elements that meet at one place are all added, in the order of `src`.

    Parameters
    ----------
    x
        Any tensor with a dimension.
    dim
        The dimension that is indexed.
    index
        Integers of x's shape but for the extent of `dim`.
    src
        What is added, of the shape of `index`.

    Raises
    ------
    IndexError
        When the result is waited for, if an index is out of range.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    x, indices, source = as_var(x), _index_var(index, "scatter_add"), as_var(src)
    axis = normalised_axis(dim, x.ndim)
    if source.shape != indices.shape:
        raise at_line(
            ValueError(
                f"scatter_add: src has shape {source.shape}, expected that of the indices,"
                f" {indices.shape}"
            )
        )
    places, checked = _along("scatter_add", x.shape, axis, indices)
    return x + source.cast(x.dtype).reindex_reduce("add", x.shape, places, extras=[checked])


def _to_indices(item: Any, x: Var, axis: int) -> list[Any]:
    """Replace a mask by the places where it holds, which are computed now."""
    if not isinstance(item, Var) or item.dtype != "bool":
        return [item]
    if item.ndim == 0:
        raise at_line(IndexError("an index is a mask without dimensions, expected at least one"))
    expected = x.shape[axis : axis + item.ndim]
    if item.shape != expected:
        raise at_line(
            IndexError(
                f"an index is a mask of shape {item.shape}, expected the shape {expected}"
                " of the dimensions that it indexes"
            )
        )
    return [as_var(places) for places in np.nonzero(item.numpy())]


def _extent(item: Any) -> int:
    """Return how many dimensions an item of a key stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Var) and item.dtype == "bool" else 1


def _resolve(x: Var, items: Sequence[Any]) -> tuple[Any, ...]:
    """Make Vars of arrays, integers of masks, and add an ellipsis at the end."""
    # An empty list has no type, and NumPy takes it for one of integers.
    items = [
        as_var(np.asarray(item, np.int64 if isinstance(item, list) and not item else None))
        if isinstance(item, np.ndarray | list)
        else item
        for item in items
    ]
    for item in items:
        if isinstance(item, Var) and item.dtype != "bool":
            _index_var(item, "an index")
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise at_line(IndexError("an index has more than one ellipsis"))
    if not ellipses:
        items.append(Ellipsis)
    count = sum(map(_extent, items))
    if count > x.ndim:
        raise at_line(IndexError(f"given {count} indices for a tensor of shape {x.shape}"))
    resolved: list[Any] = []
    axis = 0
    for item in items:
        resolved += _to_indices(item, x, axis)
        axis += x.ndim - count if item is Ellipsis else _extent(item)
    return tuple(resolved)


class _Key:
    """A key with tensors in two steps: first slices and None, then the tensors.

    Attributes
    ----------
    plain : tuple
        The first step, which takes whole what the tensors index.
    axes : list of int
        What the tensors index in the part that the first step leaves.
    shown : list of int
        The same dimensions in the tensor itself, for errors.
    indices : list of Var
        The tensors; integers beside them are tensors as well.
    place : int
        Where their common dimensions come.
    """

    def __init__(self, x: Var, items: Sequence[Any]) -> None:
        items = _resolve(x, items)
        count = sum(map(_extent, items))
        plain: list[Any] = []
        positions: list[int] = []
        self.indices: list[Var] = []
        self.axes: list[int] = []
        self.shown: list[int] = []
        axis = new_axes = 0
        for position, item in enumerate(items):
            if item is None:
                plain.append(None)
                new_axes += 1
            elif item is Ellipsis:
                plain.append(Ellipsis)
                axis += x.ndim - count
            elif isinstance(item, slice):
                plain.append(item)
                axis += 1
            else:
                plain.append(slice(None))
                self.indices.append(item if isinstance(item, Var) else _integer(item))
                positions.append(position)
                self.axes.append(axis + new_axes)
                self.shown.append(axis)
                axis += 1
        self.plain = tuple(plain)
        # Of indices that are not side by side, the dimensions come first.
        adjacent = positions == list(range(positions[0], positions[0] + len(positions)))
        self.place = self.axes[0] if adjacent else 0

    def places(self, part: Var) -> tuple[tuple[int, ...], list[str], list[Var]]:
        """Return what `_places` does of the part that the first step leaves."""
        return _places(part, self.axes, self.indices, self.place, self.shown)


def getitem(x: Var, key: Any) -> Var:
    """Return ``x[key]`` for a key with tensors, with NumPy's meaning.

    Integer tensors (Vars, arrays or lists) pick elements; a boolean tensor picks
    where it holds, which computes the mask first.
    """
    resolved = _Key(x, key if isinstance(key, tuple) else (key,))
    part = x[resolved.plain]
    shape, places, extras = resolved.places(part)
    return part.reindex(shape, places, extras=extras)


def _fit(value: Var, shape: Sequence[int]) -> Var:
    """Broadcast what is assigned to a part of this shape."""
    extra = value.ndim - len(shape)
    fitted = value.shape
    if extra > 0 and set(fitted[:extra]) == {1}:
        fitted = fitted[extra:]
    if len(fitted) > len(shape) or any(
        n not in (1, m) for n, m in zip(reversed(fitted), reversed(shape), strict=False)
    ):
        raise at_line(
            ValueError(
                f"a value of shape {value.shape} cannot be assigned to a part of shape"
                f" {tuple(shape)}"
            )
        )
    return value.reshape(fitted).broadcast(tuple(shape))


def setitem(x: Var, key: Any, value: VarLike) -> None:
    """Assign to ``x[key]`` for a key with tensors, with NumPy's meaning.

    Where tensors name an element more than once, the last of the values stays.
    """
    resolved = _Key(x, key if isinstance(key, tuple) else (key,))
    part = x[resolved.plain]
    shape, places, extras = resolved.places(part)
    values = _fit(as_var(value).cast(x.dtype), shape).reshape((-1,))
    if values.size == 0:
        return
    # The number of the last value that goes to each element.
    numbers = _core.iota((values.size,), 0, "int64").reshape(shape)
    number = numbers.reindex_reduce("max", part.shape, places, extras=extras)
    read = [_read(0, _names(0, part.ndim))]
    placed = values.reindex(part.shape, read, extras=[number])
    x[resolved.plain] = where(number >= 0, placed, part)


def _integer(item: Any) -> Var:
    """Make an integer beside tensors a tensor without dimensions."""
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise at_line(
            TypeError(
                f"an index is a {type(item).__name__}, expected integers, slices, None, ..."
                " and tensors of integers or booleans"
            )
        )
    number = item.__index__()
    if not -(2**63) <= number < 2**63:
        raise at_line(IndexError(f"an index: given {number}, expected an integer of 64 bits"))
    return as_var(np.asarray(number, np.int64))
