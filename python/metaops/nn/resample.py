# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of neighbours at evenly spaced places along a dimension.

Element o of a result is made of elements of x from ``floor((step o + start) / divisor)``
on. That is an affine index, so that a gradient is a reindex-reduce, and not a scatter
through a table of places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import Var, array

__all__ = ["Places", "Weights", "nearest", "weighted"]

#: Of each element of a result, those of the elements that it is made of.
Weights = npt.NDArray[np.float64]
#: The most elements that are read one by one; more are a dimension that is summed.
_MOST_UNROLLED = 4


class Places(NamedTuple):
    """Where the elements of a result are: ``(step * o + start) / divisor`` for each o.

    The numbers are integers: no place is rounded to the other side of an element.
    """

    extent: int
    size: int
    step: int
    start: int
    divisor: int

    @property
    def is_identity(self) -> bool:
        """Whether each element of the result is at the element of x of its number."""
        same = self.extent == self.size and self.start == 0
        return same and (self.step == self.divisor or self.size == 1)

    def numerators(self) -> npt.NDArray[np.int64]:
        """Return ``step * o + start``."""
        return np.arange(self.size, dtype=np.int64) * self.step + self.start

    def floors(self) -> npt.NDArray[np.int64]:
        """Return the elements of x at or before the places."""
        return np.floor_divide(self.numerators(), self.divisor)

    def fractions(self) -> npt.NDArray[np.float64]:
        """Return how far behind those the places are, from 0 to 1."""
        return np.remainder(self.numerators(), self.divisor) / self.divisor


@lru_cache(maxsize=1024)
def _period(places: Places) -> tuple[int, int]:
    """Return after how many elements of x and of the result the floors begin again."""
    common = math.gcd(places.step, places.divisor)
    return places.step // common, places.divisor // common


class _Index(NamedTuple):
    """How the elements of a result along one dimension reach those of x."""

    #: The extents that stand for the dimension: blocks of a period, and the period.
    extents: tuple[int, ...]
    #: The floors, over the indices of these.
    expression: str

    @staticmethod
    def of(places: Places, first: int) -> _Index:
        """Return it for indices from number `first` on.

        Within a period the floors differ from its first by constants. A dimension of
        whole periods is two, of which a kernel knows these constants.
        """
        stride, period = _period(places)
        back = -(places.start // places.divisor)
        start = places.start + back * places.divisor
        if period == 1:
            return _Index((places.size,), f"i{first}*{stride}-{back}")
        if places.size % period or places.size == period:
            floor = f"(i{first}*{places.step}+{start})/{places.divisor}-{back}"
            return _Index((places.size,), floor)
        floor = f"(i{first + 1}*{places.step}+{start})/{places.divisor}-{back}"
        return _Index((places.size // period, period), f"i{first}*{stride}+{floor}")


def nearest(x: Var, places: Sequence[Places]) -> Var:
    """Return the elements at or before the places, which are those of the last dimensions."""
    leading = x.ndim - len(places)
    extents = list(x.shape[:leading])
    expressions = [f"i{axis}" for axis in range(leading)]
    for own in places:
        index = _Index.of(own, len(extents))
        extents += index.extents
        expressions.append(index.expression)
    shape = (*x.shape[:leading], *(own.size for own in places))
    return x.reindex(extents, expressions).reshape(shape)


def weighted(x: Var, axis: int, places: Places, weights: Weights, shift: int) -> Var:
    """Return weighted sums of neighbours along a dimension.

    Parameters
    ----------
    x
        Floats.
    axis
        The dimension.
    places
        Of the elements of the result.
    weights
        ``(size, count)``, of the elements from ``floor(place) + shift`` on. Those that
        are outside of x count as 0.
    shift
        Of the first element.

    Notes
    -----
    The gradient of a sum over a dimension of neighbours is one reindex-reduce, which is
    fast where strides are constant, as of a size that is a multiple or a part of the
    extent. Else one for each of few neighbours is faster.
    """
    index = _Index.of(places, axis)
    rank = len(index.extents)
    shape = (*x.shape[:axis], *index.extents, *x.shape[axis + 1 :])
    expressions = [f"i{k if k < axis else k + rank - 1}" for k in range(x.ndim)]
    result_shape = (*x.shape[:axis], places.size, *x.shape[axis + 1 :])
    count = weights.shape[1]
    weights = weights.astype(x.dtype)
    if count > _MOST_UNROLLED or 1 in _period(places):
        expressions[axis] = f"{index.expression}+i{len(shape)}+{shift}"
        dims = [k for k in range(len(shape)) if not axis <= k < axis + rank]
        own = array(weights.reshape(*index.extents, count)).broadcast((*shape, count), dims)
        return (x.reindex((*shape, count), expressions) * own).sum(-1).reshape(result_shape)
    # What broadcasts along the dimensions behind.
    own_shape = (*index.extents, *(1 for _ in x.shape[axis + 1 :]))
    total: Var | None = None
    for number in range(count):
        expressions[axis] = f"{index.expression}+{number + shift}"
        own = array(weights[:, number].reshape(own_shape))
        part = x.reindex(shape, expressions) * own
        total = part if total is None else total + part
    assert total is not None
    return total.reshape(result_shape)
