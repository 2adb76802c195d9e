# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances of points, and rows within a distance of 0."""

from __future__ import annotations

import math

import numpy as np

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_number, as_var, normalised_axis, shown, widened, widened_together
from ..elementwise.elementwise import abs, maximum, where
from ..index.gathering import take
from ..reduce._squares import factor_of, root
from ..reduce.norms import norm

__all__ = ["cdist", "pdist", "renorm"]


#: Lengths of fewer differences are computed sooner, or more exactly, than by factors of rows.
_FEW = 1 << 20


def _has_few(near: Var, far: Var) -> bool:
    """Return whether two tensors that broadcast have few differences."""
    return math.prod(np.broadcast_shapes(near.shape, far.shape)) < _FEW


def _sizes(x: Var) -> Var:
    """Return the largest magnitude of each row, in a type in which sums fit."""
    return widened(abs(x).max(-1, True).detach())[0]


def _euclidean(near: Var, far: Var, sizes: Var) -> Var:
    """Return the lengths of differences of rows, of which these are the magnitudes.

    Each row is in many differences, so that where these are many their factors are found
    faster than differences are summed in a wider type.
    """
    factor = factor_of(sizes).stop_fuse()
    difference, dtype = widened(near - far)
    difference = difference * factor
    return (root((difference * difference).sum(-1)) / factor.squeeze(-1)).cast(dtype)


def cdist(x: VarLike, y: VarLike, order: float = 2.0) -> Var:
    """Return the distance of each row of x from each row of y.

    No tensor of differences is made: they are computed where they are summed.

    Parameters
    ----------
    x, y
        Shapes ``(..., P, M)`` and ``(..., R, M)``, the first of which broadcast.
    order
        Of the norm that is the distance, as of `metaops.norm`.

    Returns
    -------
    Var
        Shape ``(..., P, R)``, floats; integers give float32. The gradient of a distance 0
        is 0.

    Raises
    ------
    ValueError
        If the shapes do not fit, or there is no such norm.
    """
    (x, y), dtype = widened_together(x, y)
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise at_line(
            ValueError(
                f"cdist of shapes {x.shape} and {y.shape}: expected (..., P, M) and (..., R, M)"
            )
        )
    near, far = x.unsqueeze(-2), y.unsqueeze(-3)
    if order != 2 or x.shape[-1] == 0 or _has_few(near, far):
        return norm(near - far, order, -1).cast(dtype)
    sizes = maximum(_sizes(x).unsqueeze(-2), _sizes(y).unsqueeze(-3))
    return _euclidean(near, far, sizes).cast(dtype)


def pdist(x: VarLike, order: float = 2.0) -> Var:
    """Return the distance of each row of a matrix from each row after it.

    Parameters
    ----------
    x
        Shape ``(n, m)``.
    order
        Of the norm that is the distance, as of `metaops.norm`.

    Returns
    -------
    Var
        Shape ``(n * (n - 1) / 2,)``, floats: those of the first row, of the second, and so
        on. Integers give float32.

    Raises
    ------
    ValueError
        If x is no matrix, or there is no such norm.
    """
    x, dtype = widened(x)
    if x.ndim != 2:
        raise at_line(ValueError(f"pdist: given shape {x.shape}, expected a matrix"))
    first, second = np.triu_indices(x.shape[0], 1)
    near, far = take(x, first, 0), take(x, second, 0)
    if order != 2 or x.shape[-1] == 0 or _has_few(near, far):
        return norm(near - far, order, -1).cast(dtype)
    sizes = _sizes(x)
    largest = maximum(take(sizes, first, 0), take(sizes, second, 0))
    return _euclidean(near, far, largest).cast(dtype)


def renorm(x: VarLike, order: float, dim: int, maxnorm: float) -> Var:
    """Return x with slices whose norm is too large scaled to have that norm.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Any tensor with a dimension.
    order
        Of the norm.
    dim
        The dimension whose slices are meant.
    maxnorm
        The largest norm that stays.

    Raises
    ------
    ValueError
        If `dim` is out of range, `maxnorm` is negative, or there is no such norm.
    """
    given = as_var(x)
    axis = normalised_axis(dim, given.ndim)
    most = as_number("renorm", "maxnorm", maxnorm)
    if not most >= 0:
        raise at_line(
            ValueError(f"renorm: maxnorm is {shown(maxnorm)}, expected a number of 0 or more")
        )
    wide, dtype = widened(given)
    rest = [k for k in range(wide.ndim) if k != axis]
    length = norm(wide, order, rest, True) if rest else norm(wide.unsqueeze(-1), order, -1)
    is_long = length > most
    return (wide * where(is_long, most / where(is_long, length, 1), 1)).cast(dtype)
