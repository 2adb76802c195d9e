# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that put tensors together, and that leave out or insert slices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, as_vars, normalised_axis
from ..index._indices import along
from ..index.gathering import take
from .shaping import atleast_1d, atleast_2d, atleast_3d, reshape

__all__ = [
    "append",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "delete",
    "dstack",
    "hstack",
    "insert",
    "stack",
    "unbind",
    "unstack",
    "vstack",
]


def concat(tensors: Sequence[VarLike], dim: int | None = 0) -> Var:
    """Return the tensors one after the other along an existing dimension.

    Parameters
    ----------
    tensors
        At least one; shapes agree in all other dimensions; dtypes are promoted.
    dim
        The dimension along which they are joined; None flattens them first.

    Raises
    ------
    ValueError
        If there are none, or shapes do not agree, or `dim` is out of range.

    Notes
    -----
    Tensors that are in memory are copied. What has to be computed is computed
    into its place in the result, where nothing else decides where it lies.
    """
    if dim is None:
        return _core.concat([x.reshape((-1,)) for x in as_vars("concat", tensors)])
    return _core.concat(as_vars("concat", tensors), dim)


concatenate = concat
cat = concat


def stack(tensors: Sequence[VarLike], dim: int = 0) -> Var:
    """Return tensors of one shape side by side along a new dimension.

    Raises
    ------
    ValueError
        If there are none, or shapes differ, or `dim` is out of range.
    """
    return _core.stack(as_vars("stack", tensors), dim)


def unstack(x: VarLike, dim: int = 0) -> tuple[Var, ...]:
    """Return the slices ``x[0], x[1], ...`` along a dimension, without it.

    Raises
    ------
    ValueError
        If `dim` is out of range.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    return tuple(x[along(axis, k)] for k in range(x.shape[axis]))


unbind = unstack


def vstack(tensors: Sequence[VarLike]) -> Var:
    """Return the tensors joined along their first dimension; a vector is a row.

    Raises
    ------
    ValueError
        If there are none or shapes do not agree.
    """
    return _core.concat([atleast_2d(x) for x in as_vars("vstack", tensors)])


def hstack(tensors: Sequence[VarLike]) -> Var:
    """Return the tensors joined along their second dimension, vectors along their only one.

    Raises
    ------
    ValueError
        If there are none or shapes do not agree.
    """
    parts = [atleast_1d(x) for x in as_vars("hstack", tensors)]
    return _core.concat(parts, 0 if parts and parts[0].ndim == 1 else 1)


def dstack(tensors: Sequence[VarLike]) -> Var:
    """Return the tensors joined along their third dimension, as of `atleast_3d`.

    Raises
    ------
    ValueError
        If there are none or shapes do not agree.
    """
    return _core.concat([atleast_3d(x) for x in as_vars("dstack", tensors)], 2)


def column_stack(tensors: Sequence[VarLike]) -> Var:
    """Return the tensors joined along their second dimension; a vector is a column.

    Raises
    ------
    ValueError
        If there are none or shapes do not agree.
    """
    parts = as_vars("column_stack", tensors)
    return _core.concat([reshape(x, (-1, 1)) if x.ndim < 2 else x for x in parts], 1)


def append(x: VarLike, values: VarLike, dim: int | None = None) -> Var:
    """Return x with values behind its end along a dimension.

    Without a dimension, both are flattened first. The same as a `concat` of two.

    Raises
    ------
    ValueError
        If shapes do not agree or `dim` is out of range.
    """
    return concat([x, values], dim)


def _flat_or_along(x: VarLike, dim: int | None) -> tuple[Var, int]:
    """Return x and a dimension of it: x flattened and its only one for None."""
    x = as_var(x)
    return (x.reshape((-1,)), 0) if dim is None else (x, normalised_axis(dim, x.ndim))


def _positions(what: str, obj: Any) -> Any:
    """Return positions as a slice, an int or an array; those in a Var are computed now."""
    if isinstance(obj, slice):
        return obj
    value = np.asarray(obj.numpy() if isinstance(obj, Var) else obj)
    if value.size == 0:
        value = value.astype(np.int64)
    if value.dtype.kind not in "biu" or value.ndim > 1:
        raise at_line(
            TypeError(f"{what}: obj is {_core.describe(obj)}, expected a slice, integers or a mask")
        )
    return value if value.ndim or value.dtype == bool else operator.index(value[()])


def delete(x: VarLike, obj: int | slice | Sequence[int] | Var, dim: int | None = None) -> Var:
    """Return x without some slices along a dimension.

    Parameters
    ----------
    x
        Any tensor.
    obj
        Which: an integer, a slice, a sequence of integers, or a mask. Those in a Var
        are computed now, since the shape of the result depends on them.
    dim
        The dimension; without one, x is flattened first.

    Raises
    ------
    IndexError
        If an integer is out of range.
    ValueError
        If `dim` is out of range, or a mask has not its extent.
    """
    x, axis = _flat_or_along(x, dim)
    positions = _positions("delete", obj)
    try:
        kept = np.delete(np.arange(x.shape[axis]), positions)
    except (IndexError, ValueError) as error:
        raise at_line(type(error)(f"delete: {error}")) from None
    return take(x, kept, axis)


def insert(
    x: VarLike, obj: int | slice | Sequence[int] | Var, values: VarLike, dim: int | None = None
) -> Var:
    """Return x with values before some of its slices along a dimension.

    Parameters
    ----------
    x
        Any tensor.
    obj
        Before which, counted in x: an integer, a slice, a sequence of integers, or a
        mask. Those in a Var are computed now.
    values
        What is inserted, which takes x's dtype. Of one position, any number of slices:
        for an integer their first dimension becomes `dim`, as by ``x[:, obj] = values``.
        Of several positions, what broadcasts to a slice for each.
    dim
        The dimension; without one, x is flattened first.

    Raises
    ------
    IndexError
        If an integer is out of range.
    ValueError
        If `dim` is out of range or values do not fit.
    """
    x, axis = _flat_or_along(x, dim)
    new = as_var(values).cast(x.dtype)
    new = new.reshape((*(1,) * (x.ndim - new.ndim), *new.shape))
    positions = _positions("insert", obj)
    if isinstance(positions, int):
        new = new.transpose([*range(1, axis + 1), 0, *range(axis + 1, new.ndim)])
    several = np.arange(x.shape[axis])[positions] if isinstance(positions, slice) else positions
    if isinstance(several, np.ndarray) and several.dtype == bool:
        several = np.flatnonzero(several)
    count = new.shape[axis] if np.size(several) == 1 else np.size(several)
    order = np.arange(count) + x.shape[axis]
    at = several if np.size(several) != 1 else np.repeat(several, count)
    try:
        table = np.insert(np.arange(x.shape[axis]), at, order)
    except (IndexError, ValueError) as error:
        raise at_line(type(error)(f"insert: {error}")) from None
    new = new.broadcast((*x.shape[:axis], count, *x.shape[axis + 1 :]))
    return take(_core.concat([x, new], axis), table, axis)
