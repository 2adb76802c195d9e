# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that change a tensor's shape or the order of its dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import (
    Axes,
    Shape,
    VarLike,
    as_integer,
    as_var,
    normalised_axes,
    normalised_axis,
    shown,
)

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "moveaxis",
    "permute",
    "permute_dims",
    "ravel",
    "reshape",
    "rot90",
    "squeeze",
    "swapaxes",
    "transpose",
    "unsqueeze",
]


def reshape(x: VarLike, shape: Shape, *, copy: bool | None = None) -> Var:
    """Return the same elements in row-major order under another shape.

    One extent may be -1: it is what remains. `copy` is the array API's; tensors are
    values, of which nobody can tell whether they are copies.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    """
    return _core.reshape(as_var(x), shape)


def flatten(x: VarLike, start_dim: int = 0, end_dim: int = -1) -> Var:
    """Return x with dimensions `start_dim` to `end_dim`, inclusive, made one.

    Raises
    ------
    ValueError
        If a dimension is out of range or they are in the wrong order.
    """
    x = as_var(x)
    if x.ndim == 0:
        return reshape(x, (1,))
    first, last = normalised_axis(start_dim, x.ndim), normalised_axis(end_dim, x.ndim)
    if first > last:
        raise at_line(ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}"))
    # Not -1: it would be ambiguous beside an extent of 0.
    middle = math.prod(x.shape[first : last + 1])
    return reshape(x, (*x.shape[:first], middle, *x.shape[last + 1 :]))


ravel = flatten


def squeeze(x: VarLike, dim: Axes = None) -> Var:
    """Return x without the given dimensions of extent 1, or without all of them.

    Raises
    ------
    ValueError
        If a given dimension is out of range or has another extent.
    """
    x = as_var(x)
    if dim is None:
        return reshape(x, [n for n in x.shape if n != 1])
    axes = normalised_axes(dim, x.ndim)
    for axis in axes:
        if x.shape[axis] != 1:
            raise at_line(
                ValueError(f"squeeze: dimension {axis} of {x.shape} has not the extent 1")
            )
    return reshape(x, [n for axis, n in enumerate(x.shape) if axis not in axes])


def unsqueeze(x: VarLike, dim: int | Sequence[int]) -> Var:
    """Return x with new dimensions of extent 1 at the places `dim` of the result.

    Raises
    ------
    ValueError
        If a place is out of range of the result's dimensions, or given twice.
    """
    x = as_var(x)
    if not isinstance(dim, Sequence):
        axis = normalised_axis(dim, x.ndim + 1)
        return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))
    new = normalised_axes(dim, x.ndim + len(dim))
    extents = iter(x.shape)
    return reshape(x, [1 if k in new else next(extents) for k in range(x.ndim + len(dim))])


expand_dims = unsqueeze


def transpose(x: VarLike, axes: Sequence[int] | None = None, *others: int) -> Var:
    """Return x with its dimensions permuted, reversed by default.

    Dimension k of the result is dimension ``axes[k]`` of x.

    Raises
    ------
    TypeError
        If `axes` is one number: `swapaxes` exchanges two dimensions.
    ValueError
        If `axes` is no permutation of x's dimensions.
    """
    x = as_var(x)
    if others or (axes is not None and hasattr(axes, "__index__")):
        raise at_line(
            TypeError(
                f"transpose: axes is {shown(axes)}, expected all dimensions in their new order,"
                " as in (1, 0); swapaxes(x, 0, 1) exchanges two"
            )
        )
    return x.transpose(tuple(range(x.ndim))[::-1] if axes is None else axes)


permute = permute_dims = transpose


def swapaxes(x: VarLike, first: int, second: int) -> Var:
    """Return x with two dimensions exchanged.

    Raises
    ------
    ValueError
        If one is out of range.
    """
    x = as_var(x)
    first, second = (normalised_axis(dim, x.ndim, 1) for dim in (first, second))
    if x.ndim == 0:
        return +x
    axes = list(range(x.ndim))
    axes[first], axes[second] = second, first
    return x.transpose(axes)


def moveaxis(x: VarLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Var:
    """Return x with dimensions moved to other places; the others keep their order.

    Parameters
    ----------
    x
        Any tensor.
    source
        The dimensions to move, one or several.
    destination
        The place of each in the result.

    Raises
    ------
    ValueError
        If there are not as many of both, or one is out of range or given twice.
    """
    x = as_var(x)
    start, end = _in_order(source, x.ndim), _in_order(destination, x.ndim)
    if len(start) != len(end):
        raise at_line(
            ValueError(f"moveaxis: {len(start)} dimensions to {len(end)} places, expected as many")
        )
    if x.ndim == 0:
        return +x
    order = [axis for axis in range(x.ndim) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return x.transpose(order)


def _in_order(dims: int | Sequence[int], ndim: int) -> list[int]:
    """Return dimensions counted from the start in the order in which they are given."""
    normalised_axes(dims, ndim)
    return [normalised_axis(dim, ndim, 1) for dim in _several(dims)]


def _several(given: Any) -> Iterable[Any]:
    """Return a sequence as it is, and anything else as the only item of one."""
    is_sequence = isinstance(given, Iterable) and not isinstance(given, Var)
    return given if is_sequence else [given]


def flip(x: VarLike, dim: Axes = None) -> Var:
    """Return x with the order of elements along the dimensions reversed."""
    x = as_var(x)
    axes = normalised_axes(dim, x.ndim)
    return x[tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))]


def fliplr(x: VarLike) -> Var:
    """Return x with the order of its columns, the second dimension, reversed."""
    return flip(x, 1)


def flipud(x: VarLike) -> Var:
    """Return x with the order of its rows, the first dimension, reversed."""
    return flip(x, 0)


def rot90(x: VarLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Var:
    """Return x rotated k times by 90 degrees, from the first of two dimensions to the second.

    Raises
    ------
    ValueError
        If `axes` are not two dimensions of x.
    """
    x = as_var(x)
    if len(_in_order(axes, x.ndim)) != 2:
        raise at_line(ValueError(f"rot90: axes is {shown(axes)}, expected two dimensions"))
    first, second = _in_order(axes, x.ndim)
    turns = as_integer("rot90", "k", k) % 4
    if turns == 0:
        return +x
    if turns == 2:
        return flip(x, (first, second))
    return flip(swapaxes(x, first, second), first if turns == 1 else second)


def broadcast_to(x: VarLike, shape: Shape) -> Var:
    """Return x repeated to a shape, as operators repeat the smaller of their operands.

    Raises
    ------
    ValueError
        If an extent of x is neither 1 nor that of the shape.
    """
    return _core.broadcast(x, shape)


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Return the shape that tensors of these shapes broadcast to.

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    try:
        return tuple(map(int, np.broadcast_shapes(*shapes)))
    except (TypeError, ValueError) as error:
        given = ", ".join(map(shown, shapes))
        raise at_line(
            type(error)(f"broadcast_shapes: shapes {given} do not broadcast together")
        ) from None


def broadcast_arrays(*tensors: VarLike) -> list[Var]:
    """Return the tensors repeated to the shape that they broadcast to.

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    parts = [as_var(x) for x in tensors]
    shape = broadcast_shapes(*(x.shape for x in parts))
    return [x.broadcast(shape) for x in parts]


def _each(
    name: str, change: Callable[[Var], Var], tensors: tuple[VarLike, ...]
) -> Var | tuple[Var, ...]:
    """Change one tensor, or each of several, as NumPy's functions do."""
    try:
        parts = [as_var(x) for x in tensors]
    except ValueError:
        raise at_line(
            ValueError(
                f"{name}: parts of a list have several shapes, expected one shape; several"
                f" tensors are given one by one, as in {name}(a, b)"
            )
        ) from None
    changed = tuple(change(x) for x in parts)
    return changed[0] if len(changed) == 1 else changed


@overload
def atleast_1d(x: VarLike) -> Var: ...
@overload
def atleast_1d(x: VarLike, *others: VarLike) -> tuple[Var, ...]: ...
def atleast_1d(x: VarLike, *others: VarLike) -> Var | tuple[Var, ...]:
    """Return x, a number as a vector of one element; of several tensors, a tuple of each so.

    A list is one tensor, whose parts have one shape.
    """
    return _each("atleast_1d", lambda x: x.reshape((1,) if x.ndim == 0 else x.shape), (x, *others))


@overload
def atleast_2d(x: VarLike) -> Var: ...
@overload
def atleast_2d(x: VarLike, *others: VarLike) -> tuple[Var, ...]: ...
def atleast_2d(x: VarLike, *others: VarLike) -> Var | tuple[Var, ...]:
    """Return x, a number or a vector as a matrix of one row; several as of `atleast_1d`."""
    return _each("atleast_2d", _matrix, (x, *others))


def _matrix(x: Var) -> Var:
    return x.reshape((*(1,) * (2 - x.ndim), *x.shape))


@overload
def atleast_3d(x: VarLike) -> Var: ...
@overload
def atleast_3d(x: VarLike, *others: VarLike) -> tuple[Var, ...]: ...
def atleast_3d(x: VarLike, *others: VarLike) -> Var | tuple[Var, ...]:
    """Return x with three dimensions or more: (n,) as (1, n, 1), (m, n) as (m, n, 1).

    Several are changed as by `atleast_1d`.
    """

    def cube(x: Var) -> Var:
        return +x if x.ndim >= 3 else x.reshape((*_matrix(x).shape, 1))

    return _each("atleast_3d", cube, (x, *others))
