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
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._core import Var, array

__all__ = [
    "Neighbours",
    "Places",
    "cubic",
    "keys",
    "linear",
    "nearest",
    "smoothed",
    "smoothed_places",
    "weighted",
]

#: Of each element of a result, those of the elements that it is made of.
Weights: TypeAlias = npt.NDArray[np.float64]
#: Values that are computed for all places: here, or by what is recorded.
N = TypeVar("N", Var, Weights)
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


class Neighbours(NamedTuple):
    """The elements of x that those of a result are sums of."""

    #: ``(size, count)``, of the elements from ``floor(place) + shift`` on. Those that are
    #: outside of x count as 0.
    weights: Weights
    shift: int

    @staticmethod
    def of(places: Places, weights: Sequence[Weights], shift: int) -> Neighbours:
        """Return neighbours of which those outside of x are its outermost elements."""
        count = len(weights)
        first = places.floors()[:, None] + shift
        inside = np.clip(first + np.arange(count), 0, places.extent - 1) - first
        result = np.zeros((places.size, count))
        own = (np.arange(places.size)[:, None], np.clip(inside, 0, count - 1))
        np.add.at(result, own, np.stack(weights, 1))
        result.setflags(write=False)
        return Neighbours(result, shift)


@lru_cache(maxsize=256)
def linear(places: Places) -> Neighbours:
    """Return the two neighbours of each place, on whose straight line the result is."""
    t = places.fractions()
    return Neighbours.of(places, [1 - t, t], 0)


@lru_cache(maxsize=256)
def cubic(places: Places) -> Neighbours:
    """Return the four neighbours of each place with the weights of `keys`."""
    return Neighbours.of(places, keys(places.fractions()), -1)


def keys(t: N, a: float = -0.75) -> list[N]:
    """Return the weights of four neighbours of a place that is t behind the second.

    Those of the convolution of Keys (1981).
    """

    def near(d: N) -> N:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: N) -> N:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def smoothed_places(extent: int, size: int, scale: Fraction, reach: int) -> Places:
    """Return where those elements begin that are less than a filter's reach from a place.

    The filter is as much wider as elements of the result are apart in x, if that is more
    than one. Element o of the result is at ``(o + 0.5) * scale`` of x, whose element k is
    from k to k + 1.
    """
    step, divisor = scale.numerator, scale.denominator
    return Places(
        extent, size, 2 * step, step + divisor - 2 * reach * max(step, divisor), 2 * divisor
    )


@lru_cache(maxsize=256)
def smoothed(places: Places, scale: Fraction, reach: int) -> Neighbours:
    """Return all neighbours within a filter's reach, with weights that sum to 1.

    The filter is a triangle, which reaches 1 to both sides, or that of `keys`, which
    reaches 2, with a = -0.5.
    """
    width = max(float(scale), 1.0)
    middle = (np.arange(places.size) + 0.5) * float(scale) - 0.5
    first = places.floors()[:, None]
    element = first + np.arange(math.floor(2 * reach * width) + 1)
    distance = np.abs(element - middle[:, None]) / width
    if reach == 1:
        weights = np.maximum(1 - distance, 0)
    else:
        # Of the four neighbours of a place those of the second, and of the first.
        inner, outer = np.minimum(distance, 1), np.clip(distance - 1, 0, 1)
        weights = np.where(distance < 1, keys(inner, -0.5)[1], keys(outer, -0.5)[0])
    weights = np.where((element >= 0) & (element < places.extent), weights, 0)
    weights /= weights.sum(1, keepdims=True)
    weights.setflags(write=False)
    return Neighbours(weights, 0)


def weighted(x: Var, axis: int, places: Places, neighbours: Neighbours) -> Var:
    """Return weighted sums of neighbours along a dimension.

    Parameters
    ----------
    x
        Floats.
    axis
        The dimension.
    places
        Of the elements of the result.
    neighbours
        What is summed, and how.

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
    weights, shift = neighbours.weights.astype(x.dtype), neighbours.shift
    count = weights.shape[1]
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
