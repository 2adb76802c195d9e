# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms of vectors, and how far or how similar two of them are.

Gradients are 0 where a norm is, as those of `metaops.norm`. The result has the type to which
the vectors are promoted, float32 of integers. Halves and integers of 8 bits are computed in
float32, longer integers in float64, and rounded once, at the end.
"""

from __future__ import annotations

import numpy as np

from .._core import Var
from .._domains import FINITE, NOT_NEGATIVE
from .._errors import at_line
from .._typing import Axes, VarLike, normalised_axes, widened, widened_together
from ..ops.elementwise.elementwise import clip
from ..ops.elementwise.functions import sqrt
from ..ops.reduce import norms
from ..ops.reduce._squares import in_range, root
from .module import Module

__all__ = [
    "CosineSimilarity",
    "PairwiseDistance",
    "cosine_similarity",
    "normalize",
    "pairwise_distance",
]

#: The fourth power of a larger one is a number of float64.
_LEAST_EPSILON = 1e-60


def normalize(x: VarLike, p: float = 2.0, dim: Axes = 1, eps: float = 1e-12) -> Var:
    """Return vectors divided by their norms.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Any shape.
    p
        The order of the norm, as in `metaops.norm`.
    dim
        The dimensions of a vector.
    eps
        The least number by which is divided.

    Returns
    -------
    Var
        Of x's shape, of floats.

    Raises
    ------
    ValueError
        If a dimension is out of range, or the order is none.
    """
    NOT_NEGATIVE.check("normalize", eps=eps)
    x, dtype = widened(x)
    # In memory: each row is divided by a number that is computed once.
    length = norms.norm(x, p, dim, True).stop_fuse()
    return (x / clip(length, eps)).cast(dtype)


def _two(name: str, x: VarLike, y: VarLike) -> tuple[Var, Var, str]:
    """Return two tensors of one shape, in which squares fit, and the dtype of a result."""
    (x, y), dtype = widened_together(x, y)
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise at_line(
            ValueError(f"{name}: shapes {x.shape} and {y.shape} do not broadcast together")
        ) from None
    return x.broadcast(shape), y.broadcast(shape), dtype


def cosine_similarity(x: VarLike, y: VarLike, dim: int = 1, eps: float = 1e-8) -> Var:
    """Return the cosine of the angle between vectors.

    Of the type to which both are promoted; halves are computed in float32.

    Parameters
    ----------
    x, y
        Of shapes that broadcast together.
    dim
        The dimension of a vector, in their common shape.
    eps
        The least norm by which is divided.

    Returns
    -------
    Var
        Of the common shape without the dimension, of floats.

    Raises
    ------
    ValueError
        If shapes do not agree, or the dimension is out of range.
    """
    NOT_NEGATIVE.check("cosine_similarity", eps=eps)
    x, y, dtype = _two("cosine_similarity", x, y)
    axes = normalised_axes(dim, x.ndim)
    (x, unit), (y, other) = in_range(x, axes), in_range(y, axes)
    squares = (x * x).sum(axes), (y * y).sum(axes)
    if unit is None and other is None and eps >= _LEAST_EPSILON:
        # Products of squares of float32 are numbers of float64, too: one root is enough.
        least = eps * eps
        length = sqrt(clip(squares[0], least) * clip(squares[1], least))
    else:
        bounds = [
            eps if one is None else eps / one.reshape(squares[0].shape) for one in (unit, other)
        ]
        lengths = [clip(root(square), bound) for square, bound in zip(squares, bounds, strict=True)]
        length = lengths[0] * lengths[1]
    return ((x * y).sum(axes) / length).cast(dtype)


def pairwise_distance(
    x: VarLike, y: VarLike, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Var:
    """Return the norm of the difference of vectors.

    Of the type to which both are promoted; halves are computed in float32.

    Parameters
    ----------
    x, y
        Of shapes that broadcast together. Vectors are along the last dimension.
    p
        The order of the norm, as in `metaops.norm`.
    eps
        Added to each difference.
    keepdims
        Whether the last dimension stays, with extent 1.

    Returns
    -------
    Var
        Of the common shape but for the last dimension, of floats.

    Raises
    ------
    ValueError
        If shapes do not agree or have no dimension, or the order is none.
    """
    FINITE.check("pairwise_distance", eps=eps)
    x, y, dtype = _two("pairwise_distance", x, y)
    return norms.norm(x - y + eps, p, -1, keepdims).cast(dtype)


class CosineSimilarity(Module):
    """The module of `cosine_similarity`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        NOT_NEGATIVE.check("CosineSimilarity", eps=eps)
        self.dim = dim
        self.eps = eps

    def execute(self, x: VarLike, y: VarLike) -> Var:
        """Return the cosine of the angle between vectors."""
        return cosine_similarity(x, y, self.dim, self.eps)


class PairwiseDistance(Module):
    """The module of `pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False) -> None:
        norms.check_order("PairwiseDistance", p)
        FINITE.check("PairwiseDistance", eps=eps)
        self.norm = p
        self.eps = eps
        self.keepdims = keepdims

    def execute(self, x: VarLike, y: VarLike) -> Var:
        """Return the norm of the difference of vectors."""
        return pairwise_distance(x, y, self.norm, self.eps, self.keepdims)
