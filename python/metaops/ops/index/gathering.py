# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Taking elements by tensors of indices along one dimension, and putting them there.

All of these are a reindex, or a reindex-reduce, whose index expressions read the
indices as extras. Indices may be negative, which counts from the end, and one that is
out of range raises an IndexError, as in ``x[indices]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_line, as_var, normalised_axis, refuse_out, shown, unrounded
from ..elementwise.elementwise import clip, mod, where
from ._indices import as_indices, checked, last_written

__all__ = ["gather", "put_along_axis", "scatter_add", "take", "take_along_axis"]


def _names(first: int, count: int) -> list[str]:
    return [f"i{k}" for k in range(first, first + count)]


def _in_range(index: Any, axis: int, extent: int, mode: str) -> Var:
    """Return indices counted from the start: checked, wrapped around or clipped."""
    if mode == "raise":
        return checked(index, axis, extent)
    if mode not in ("wrap", "clip"):
        raise at_line(
            ValueError(f"take: mode is {shown(mode)}, expected 'raise', 'wrap' or 'clip'")
        )
    if extent == 0 and index.size > 0:
        raise at_line(IndexError(f"take: dimension {axis} has no elements to take"))
    index = as_var(index)
    if index.dtype != "uint64":
        index = index.cast("int64")
    return mod(index, max(extent, 1)) if mode == "wrap" else clip(index, 0, max(extent - 1, 0))


def take(
    x: VarLike,
    indices: VarLike,
    dim: int | None = None,
    mode: str = "raise",
    *,
    out: None = None,
) -> Var:
    """Return elements of x along a dimension, as ``numpy.take``.

    Parameters
    ----------
    x
        Any tensor.
    indices
        Integers of any shape, which takes the place of the dimension.
    dim
        The dimension; without one, x is flattened first.
    mode
        What becomes of an index that is out of range: "raise", "wrap" (around, as by
        ``index % extent``) or "clip" (to the first or the last; so negative indices
        count from the end in no other mode than "raise").
    out
        NumPy's, and None: the result is a tensor of its own.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or `mode` is another.
    """
    refuse_out("take", out)
    x, index = as_var(x), as_indices(indices, "take")
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    x, axis = as_line(x, dim)
    rank = index.ndim
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    read = f"@e0({', '.join(_names(axis, rank))})"
    places = [*_names(0, axis), read, *_names(axis + rank, x.ndim - axis - 1)]
    return x.reindex(shape, places, extras=[_in_range(index, axis, x.shape[axis], mode)])


def _along(what: str, shape: Sequence[int], axis: int, index: Any) -> tuple[list[str], Var]:
    """Return the place of each index along one axis, and the checked indices."""
    if index.ndim != len(shape) or any(
        n != m for k, (n, m) in enumerate(zip(index.shape, shape, strict=True)) if k != axis
    ):
        raise at_line(
            ValueError(
                f"{what}: indices have shape {tuple(index.shape)}, expected {tuple(shape)}"
                f" but for dimension {axis}"
            )
        )
    names = _names(0, len(shape))
    read = f"@e0({', '.join(names)})"
    return [*names[:axis], read, *names[axis + 1 :]], checked(index, axis, shape[axis])


def gather(x: VarLike, dim: int, index: VarLike) -> Var:
    """Return ``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim=1``.

    `take_along_axis` is the same for shapes that broadcast.

    Parameters
    ----------
    x
        Any tensor.
    dim
        The dimension that is indexed.
    index
        Integers of x's shape but for the extent of `dim`; one without dimensions is
        as one of the extent 1.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    x, axis = as_line(x, dim)
    indices = as_indices(index, "gather")
    along = indices if indices.ndim else indices.reshape((1,))
    places, extra = _along("gather", x.shape, axis, along)
    return x.reindex(along.shape, places, extras=[extra]).reshape(indices.shape)


def _broadcast_along(
    what: str, x: Var, indices: Any, axis: int
) -> tuple[Var, tuple[int, ...], list[str], Var]:
    """Broadcast x and indices in all dimensions but one.

    Returns x, the shape of the indices, their places in x, and the checked indices.
    """
    given = tuple(indices.shape)
    if len(given) != x.ndim:
        raise at_line(
            ValueError(f"{what}: indices have shape {given}, expected {x.ndim} dimensions")
        )
    rest = [*x.shape[:axis], 1, *x.shape[axis + 1 :]]
    try:
        shape = tuple(np.broadcast_shapes(rest, given))
    except ValueError:
        raise at_line(
            ValueError(
                f"{what}: indices have shape {given}, which does not broadcast to {x.shape}"
                f" but for dimension {axis}"
            )
        ) from None
    names = _names(0, x.ndim)
    read = ", ".join("0" if n == 1 else name for n, name in zip(given, names, strict=True))
    places = [*names[:axis], f"@e0({read})", *names[axis + 1 :]]
    extra = checked(indices, axis, x.shape[axis])
    return x.broadcast((*shape[:axis], x.shape[axis], *shape[axis + 1 :])), shape, places, extra


def take_along_axis(x: VarLike, indices: VarLike, dim: int | None = -1) -> Var:
    """Return ``result[i, j, k] = x[i, indices[i, j, k], k]`` for ``dim=1``.

    So ``take_along_axis(x, argmax(x, d, keepdims=True), d)`` are the largest elements.

    Parameters
    ----------
    x
        Any tensor.
    indices
        Integers, whose shape broadcasts with x's in all dimensions but `dim`.
    dim
        The dimension that is indexed; None indexes x flattened.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    x, index = as_var(x), as_indices(indices, "take_along_axis")
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    axis = normalised_axis(dim, x.ndim)
    x, shape, places, extra = _broadcast_along("take_along_axis", x, index, axis)
    return x.reindex(shape, places, extras=[extra])


def put_along_axis(x: VarLike, indices: VarLike, values: VarLike, dim: int | None = -1) -> Var:
    """Return x with ``values[i, j, k]`` at ``[i, indices[i, j, k], k]`` for ``dim=1``.

    NumPy's function changes its argument; tensors are values here, so the result is
    another one, and x stays. Of values that meet at one place, the last stays.

    Parameters
    ----------
    x
        Any tensor.
    indices
        Integers, whose shape broadcasts to x's in all dimensions but `dim`.
    values
        What is written, which broadcasts to the indices and takes x's dtype.
    dim
        The dimension that is indexed; None indexes x flattened.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    x, index, shape = as_var(x), as_indices(indices, "put_along_axis"), as_var(x).shape
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    axis = normalised_axis(dim, x.ndim)
    own = x.shape
    x, written, places, extra = _broadcast_along("put_along_axis", x, index, axis)
    if x.shape != own:
        raise at_line(
            ValueError(
                f"put_along_axis: indices of shape {tuple(index.shape)} do not broadcast to {own}"
                f" but for dimension {axis}"
            )
        )
    flat = as_var(values).cast(x.dtype).broadcast(written).reshape((-1,))
    if flat.size == 0:
        return +x.reshape(shape)
    number = last_written(written, own, places, [extra])
    read = f"@e0({', '.join(_names(0, x.ndim))})"
    return where(number >= 0, flat.reindex(own, [read], extras=[number]), x).reshape(shape)


def scatter_add(x: VarLike, dim: int, index: VarLike, src: VarLike) -> Var:
    """Return x with ``src[i, j, k]`` added at ``[i, index[i, j, k], k]`` for ``dim=1``.

    Elements that meet at one place are all added, in the order of `src`.

    Parameters
    ----------
    x
        Any tensor.
    dim
        The dimension that is indexed.
    index
        Integers of x's shape but for the extent of `dim`; one without dimensions is
        as one of the extent 1.
    src
        What is added, of the shape of `index`.

    Raises
    ------
    IndexError
        If an index is out of range: at once if the indices are no Var, else when the
        result is waited for.
    TypeError
        If the indices are no integers.
    ValueError
        If `dim` is out of range or the shapes do not fit.
    """
    shape, indices, source = as_var(x).shape, as_indices(index, "scatter_add"), as_var(src)
    x, axis = as_line(x, dim)
    if source.shape != tuple(indices.shape):
        raise at_line(
            ValueError(
                f"scatter_add: src has shape {source.shape}, expected that of the indices,"
                f" {tuple(indices.shape)}"
            )
        )
    if indices.ndim == 0:
        indices, source = indices.reshape((1,)), source.reshape((1,))
    places, extra = _along("scatter_add", x.shape, axis, indices)
    wide = unrounded(x)
    added = source.cast(wide.dtype).reindex_reduce("add", x.shape, places, extras=[extra])
    return (wide + added).cast(x.dtype).reshape(shape)
