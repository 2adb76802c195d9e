# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions.

`dim` is a dimension, a sequence of them, or None for all. With `keepdims` a
reduced dimension stays with extent 1, else it goes.
"""

from __future__ import annotations

import math

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import Axes, VarLike, as_var, normalised_axes, normalised_axis, widened
from .elementwise import abs, pow, where
from .functions import exp, log, sqrt

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "logsumexp",
    "max",
    "mean",
    "min",
    "norm",
    "prod",
    "std",
    "sum",
    "var",
]


def sum(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the sum; 0 over nothing."""
    return as_var(x).sum(dim, keepdims)


def prod(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the product; 1 over nothing."""
    return as_var(x).prod(dim, keepdims)


def max(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the largest element; -inf or the dtype's lowest over nothing."""
    return as_var(x).max(dim, keepdims)


def min(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the smallest element; inf or the dtype's highest over nothing."""
    return as_var(x).min(dim, keepdims)


def mean(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the arithmetic mean, a float; NaN over nothing."""
    return as_var(x).mean(dim, keepdims)


def all(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return a boolean: no element is zero."""
    return as_var(x).all(dim, keepdims)


def any(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return a boolean: some element is not zero."""
    return as_var(x).any(dim, keepdims)


def var(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
) -> Var:
    """Return the variance: the mean square of what differs from the mean.

    `correction` is subtracted from the number of elements that the sum of
    squares is divided by; 1 gives the unbiased estimate.
    """
    x, dtype = widened(as_var(x))
    axes = normalised_axes(dim, x.ndim)
    return _variance(x, axes, keepdims, correction).cast(dtype)


def _variance(x: Var, axes: tuple[int, ...], keepdims: bool, correction: float) -> Var:
    centred = x - x.mean(axes, True)
    count = math.prod(x.shape[axis] for axis in axes)
    squares = (centred * centred).sum(axes, keepdims)
    divisor = count - correction
    return squares / (divisor if divisor > 0 else 0.0)


def _root(x: Var) -> Var:
    """Return the square root of sums of squares, without an infinite slope at 0.

    What is added there, and subtracted again, makes it 1/2; since the gradients
    of the squares are 0, so is the product.
    """
    added = (x == 0).cast(x.dtype)
    return sqrt(x + added) - added


def std(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
) -> Var:
    """Return the standard deviation, the square root of `var`.

    Its gradient is 0 where the deviation is 0.
    """
    x, dtype = widened(as_var(x))
    axes = normalised_axes(dim, x.ndim)
    return _root(_variance(x, axes, keepdims, correction)).cast(dtype)


def norm(
    x: VarLike,
    order: float = 2,
    dim: Axes = None,
    keepdims: bool = False,
) -> Var:
    """Return the vector norm of the elements along the dimensions, a float.

    Its gradient is 0 where the norm is 0, and that by an element that is 0 is 0.

    Parameters
    ----------
    x
        Any shape.
    order
        2 (Euclidean), 1, ``math.inf`` (the largest magnitude), ``-math.inf`` (the
        smallest), 0 (how many elements are not 0), or p > 0 for
        ``sum(|x|**p)**(1/p)``. Over nothing all are 0, but the smallest is inf.
    dim, keepdims
        As in every reduction; by default over all elements.

    Raises
    ------
    ValueError
        If `order` is another number.
    """
    x, dtype = widened(as_var(x))
    axes = normalised_axes(dim, x.ndim)
    return _norm(x, order, axes, keepdims).cast(dtype)


def _norm(x: Var, order: float, axes: tuple[int, ...], keepdims: bool) -> Var:
    if order == 0:
        return where(x == 0, 0, 1).sum(axes, keepdims).cast(x.dtype)
    if order == 2:
        return _root((x * x).sum(axes, keepdims))
    if order == 1 or (order == math.inf and x.size == 0):
        return abs(x).sum(axes, keepdims)
    if order == math.inf:
        return abs(x).max(axes, keepdims)
    if order == -math.inf:
        return abs(x).min(axes, keepdims)
    if order > 0:
        is_zero = x == 0
        # Small powers are steep at 0, their sum's root is: 1 takes the place of 0.
        powers = where(is_zero, 0, pow(where(is_zero, 1, abs(x)), order))
        total = powers.sum(axes, keepdims)
        is_none = total == 0
        return where(is_none, 0, pow(where(is_none, 1, total), 1.0 / order))
    raise at_line(ValueError(f"norm: order is {order}, expected 0, a positive number, inf or -inf"))


def logsumexp(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return ``log(sum(exp(x)))``, computed without overflow."""
    x = as_var(x)
    axes = normalised_axes(dim, x.ndim)
    largest = x.max(axes, True).detach()
    # An infinite maximum would make inf - inf.
    largest = where(abs(largest) == math.inf, 0.0, largest)
    result = log(exp(x - largest).sum(axes, True)) + largest
    if keepdims:
        return result
    return result.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])


def _place_of(name: str, x: VarLike, dim: int | None, keepdims: bool) -> Var:
    """Return the first place along a dimension where the extreme is attained."""
    x = as_var(x)
    rank = x.ndim
    if dim is None:
        x, place = x.reshape((-1,)), 0
    else:
        place = normalised_axis(dim, rank)
    extent = x.shape[place]
    if extent == 0 and math.prod(x.shape[:place] + x.shape[place + 1 :]) > 0:
        raise at_line(ValueError(f"{name}: dimension {place} of shape {x.shape} has no elements"))
    if x.dtype == "bool":
        x = x.cast("uint8")
    extreme = x.max(place, True) if name == "argmax" else x.min(place, True)
    attained = x == extreme
    if "float" in x.dtype:
        # The extreme is NaN where there is one, which equals nothing.
        attained = attained | (x != x)
    # Narrow numbers: more of them fit a vector.
    narrow = "int32" if extent < 2**31 else "int64"
    places = where(attained, _core.iota(x.shape, place, narrow), _core.full((), extent, narrow))
    result = places.min(place, keepdims).cast("int64")
    return result.reshape((1,) * rank) if dim is None and keepdims else result


def argmax(x: VarLike, dim: int | None = None, keepdims: bool = False) -> Var:
    """Return the place of the largest element along a dimension, int64.

    Of equal elements it is the first, and NaN is larger than any number. Without
    a dimension x is flattened first.

    Raises
    ------
    ValueError
        If the dimension is out of range or has no elements.
    """
    return _place_of("argmax", x, dim, keepdims)


def argmin(x: VarLike, dim: int | None = None, keepdims: bool = False) -> Var:
    """Return the place of the smallest element along a dimension, int64.

    Of equal elements it is the first, and NaN is smaller than any number. Without
    a dimension x is flattened first.

    Raises
    ------
    ValueError
        If the dimension is out of range or has no elements.
    """
    return _place_of("argmin", x, dim, keepdims)
