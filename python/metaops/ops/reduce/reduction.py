# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions.

`dim` is a dimension, a sequence of them, or None for all. With `keepdims` a
reduced dimension stays with extent 1, else it goes. 0 and -1 are dimensions of a 0-d
tensor, too, and its reduction is 0-d. `where` is a mask that
broadcasts to x: only elements where it holds take part. `initial` is combined
with each result, and `dtype` is that in which x is taken and the result given.
`out` is NumPy's, and None: a result is a tensor of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._domains import FINITE
from ..._errors import at_line
from ..._typing import (
    Axes,
    DType,
    VarLike,
    as_line,
    as_var,
    normalised_axes,
    refuse_out,
    unrounded,
    widened,
    widened_together,
)
from ..create.limits import finfo
from ..elementwise.elementwise import abs, add, logical_not, maximum, minimum, multiply
from ..elementwise.elementwise import where as select
from ..elementwise.functions import exp, log
from ._moments import moments
from ._squares import root_of_squares

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]


def _of_any_rank(reduce: Callable[..., Var]) -> Callable[..., Var]:
    """Return a reduction of the extension that takes the dimension of a 0-d tensor, too."""

    def reduced(x: Var, dim: Any = None, keepdims: bool = False) -> Var:
        try:
            return reduce(x, dim, keepdims)
        except ValueError:
            if x.ndim:
                raise
        return reduce(x, normalised_axes(dim, 0), keepdims)

    return reduced


#: The reductions without options; a call without any is no more than these.
PLAIN = {
    name: _of_any_rank(getattr(Var, name))
    for name in ("all", "any", "max", "mean", "min", "prod", "sum")
}
_sum, _prod, _max, _min = PLAIN["sum"], PLAIN["prod"], PLAIN["max"], PLAIN["min"]
_mean_of, _all, _any = PLAIN["mean"], PLAIN["all"], PLAIN["any"]


def mask_of(where: VarLike, x: Var) -> Var:
    """Return a mask in x's shape.

    Raises
    ------
    TypeError
        If it is not boolean.
    ValueError
        If it does not broadcast to x.
    """
    mask = as_var(where)
    if mask.dtype != "bool":
        raise at_line(TypeError(f"where is of {mask.dtype}, expected bool"))
    extents = x.shape[x.ndim - mask.ndim :] if mask.ndim <= x.ndim else None
    if extents is None or not all_fit(mask.shape, extents):
        raise at_line(
            ValueError(f"where has shape {mask.shape}, which does not broadcast to {x.shape}")
        )
    return mask.broadcast(x.shape)


def all_fit(shape: tuple[int, ...], extents: tuple[int, ...]) -> bool:
    """Tell whether each extent is 1 or that of the other shape."""
    return not [n for n, m in zip(shape, extents, strict=True) if n not in (1, m)]


def masked(x: Var, where: VarLike | None, identity: Any) -> Var:
    """Return x with what does not change a result in place of what takes no part."""
    return x if where is None else select(mask_of(where, x), x, identity)


def _extreme_identity(dtype: str, largest: bool) -> float:
    """Return what is below, or above, all other numbers of a type."""
    if "float" in dtype:
        return math.inf if largest else -math.inf
    if dtype == "bool":
        return largest
    limits = np.iinfo(dtype)
    return limits.max if largest else limits.min


def _taken(x: VarLike, dtype: DType | None) -> Var:
    return as_var(x) if dtype is None else as_var(x).cast(dtype)


def _given(result: Var, dtype: DType | None) -> Var:
    return result if dtype is None else result.cast(dtype)


def _start(initial: VarLike, result: Var) -> VarLike:
    """Return what a result is combined with, in the result's type as NumPy's."""
    is_number = isinstance(initial, int | float) and not isinstance(initial, np.generic)
    if is_number and ("float" in result.dtype or isinstance(initial, int)):
        return initial
    return as_var(initial).cast(result.dtype)


def _combined(
    combine: Callable[[VarLike, VarLike], Var],
    result: Var,
    initial: VarLike,
    x: Var,
    dtype: DType | None,
) -> Var:
    """Return what x was reduced to, combined with a first number; halves are rounded here."""
    own = x.dtype if "float" in x.dtype else dtype
    return _given(combine(result, _start(initial, result)), own)


def sum(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    dtype: DType | None = None,
    initial: VarLike | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the sum; 0 over nothing."""
    if dtype is None and initial is None and where is None and out is None:
        return _sum(as_var(x), dim, keepdims)
    refuse_out("sum", out)
    x = masked(_taken(x, dtype), where, 0)
    if initial is None:
        return _given(_sum(x, dim, keepdims), dtype)
    return _combined(add, _sum(unrounded(x), dim, keepdims), initial, x, dtype)


def prod(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    dtype: DType | None = None,
    initial: VarLike | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the product; 1 over nothing."""
    if dtype is None and initial is None and where is None and out is None:
        return _prod(as_var(x), dim, keepdims)
    refuse_out("prod", out)
    x = masked(_taken(x, dtype), where, 1)
    if initial is None:
        return _given(_prod(x, dim, keepdims), dtype)
    return _combined(multiply, _prod(unrounded(x), dim, keepdims), initial, x, dtype)


def max(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    initial: VarLike | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the largest element; -inf or the dtype's lowest over nothing."""
    x = as_var(x)
    refuse_out("max", out)
    if where is not None:
        x = masked(x, where, _extreme_identity(x.dtype, False))
    result = _max(x, dim, keepdims)
    return result if initial is None else maximum(result, _start(initial, result))


def min(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    initial: VarLike | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the smallest element; inf or the dtype's highest over nothing."""
    x = as_var(x)
    refuse_out("min", out)
    if where is not None:
        x = masked(x, where, _extreme_identity(x.dtype, True))
    result = _min(x, dim, keepdims)
    return result if initial is None else minimum(result, _start(initial, result))


def ptp(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the largest element less the smallest."""
    x = as_var(x)
    return x.max(dim, keepdims) - x.min(dim, keepdims)


def mean(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    dtype: DType | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the arithmetic mean, a float; NaN over nothing.

    Halves and integers of 8 bits are summed in float32, longer integers in float64; the
    result for integers is float32.
    """
    refuse_out("mean", out)
    x = _taken(x, dtype)
    if where is None:
        return _given(plain_mean(x, dim, keepdims), dtype)
    wide, own = widened(x)
    axes = normalised_axes(dim, x.ndim)
    return _mean(wide, axes, keepdims, mask_of(where, x)).cast(own if dtype is None else dtype)


def plain_mean(x: Var, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the mean without options: the extension's, of floats that hold the elements."""
    if isinstance(x, Var) and "float" not in x.dtype:
        wide, dtype = widened(x)
        return _mean_of(wide, dim, keepdims).cast(dtype)
    return _mean_of(x, dim, keepdims)


def _count(x: Var, axes: tuple[int, ...], keepdims: bool, mask: Var | None) -> Var | float:
    """Return how many elements take part, of x's type where a mask tells."""
    if mask is None:
        return math.prod(x.shape[axis] for axis in axes)
    return mask.sum(axes, keepdims).cast(x.dtype)


def _mean(x: Var, axes: tuple[int, ...], keepdims: bool, mask: Var | None) -> Var:
    if mask is None:
        return x.mean(axes, keepdims)
    return select(mask, x, 0).sum(axes, keepdims) / _count(x, axes, keepdims, mask)


def all(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return a boolean: no element is zero."""
    refuse_out("all", out)
    return _all(masked(as_var(x), where, 1), dim, keepdims)


def any(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return a boolean: some element is not zero."""
    refuse_out("any", out)
    return _any(masked(as_var(x), where, 0), dim, keepdims)


def count_nonzero(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return how many elements are not zero, int64; NaN is not."""
    return as_var(x).cast("bool").sum(dim, keepdims)


def var(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    dtype: DType | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the variance: the mean square of what differs from the mean.

    `correction` is subtracted from the number of elements that the sum of
    squares is divided by; 1 gives the unbiased estimate. Halves and integers of 8
    bits are computed in float32, longer integers in float64; the result for integers is
    float32.
    """
    refuse_out("var", out)
    if where is None and as_var(x).size >= _MANY:
        return _plain_var(x, dim, keepdims, correction, dtype)
    centred, axes, divisor, own = _deviations(x, dim, keepdims, correction, dtype, where)
    return ((centred * centred).sum(axes, keepdims) / divisor).cast(own)


#: Elements from which on a pass over them takes longer than to record some operators more.
_MANY = 1 << 14


def _plain_var(
    x: VarLike, dim: Axes, keepdims: bool, correction: float, dtype: DType | None
) -> Var:
    """Return the variance of many elements, by one pass less."""
    FINITE.check("var", correction=correction)
    wide, own = widened(_taken(x, dtype))
    axes = normalised_axes(dim, wide.ndim)
    squares = moments(wide, axes).squares
    if not keepdims:
        squares = squares.reshape([n for axis, n in enumerate(wide.shape) if axis not in axes])
    count = math.prod(wide.shape[axis] for axis in axes) - correction
    return (squares / (count if count > 0 else 0.0)).cast(own if dtype is None else dtype)


def _deviations(
    x: VarLike,
    dim: Axes,
    keepdims: bool,
    correction: float,
    dtype: DType | None,
    where: VarLike | None,
) -> tuple[Var, tuple[int, ...], Var | float, DType]:
    """Return what differs from the mean, the axes, by what squares are divided, and a type.

    The first has a type in which squares fit; the last is that of the result.
    """
    FINITE.check("var", correction=correction)
    wide, own = widened(_taken(x, dtype))
    axes = normalised_axes(dim, wide.ndim)
    mask = None if where is None else mask_of(where, wide)
    centred = wide - _mean(wide, axes, True, mask)
    # The mean is rounded; that of what differs from it is 0 but for that.
    centred = centred - _mean(centred, axes, True, mask).detach()
    if mask is not None:
        centred = select(mask, centred, 0)
    count = _count(wide, axes, keepdims, mask) - correction
    divisor = maximum(count, 0) if isinstance(count, Var) else count if count > 0 else 0.0
    return centred, axes, divisor, own if dtype is None else dtype


def std(
    x: VarLike,
    dim: Axes = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    dtype: DType | None = None,
    where: VarLike | None = None,
    out: None = None,
) -> Var:
    """Return the standard deviation, the square root of `var`.

    Halves are computed in float32; integers give float32.

    Its gradient is 0 where the deviation is 0.
    """
    refuse_out("std", out)
    centred, axes, divisor, own = _deviations(x, dim, keepdims, correction, dtype, where)
    return root_of_squares(centred, axes, keepdims, divisor).cast(own)


def logsumexp(
    x: VarLike, dim: Axes = None, keepdims: bool = False, *, weights: VarLike | None = None
) -> Var:
    """Return ``log(sum(weights * exp(x)))``, computed without overflow.

    Weights broadcast to x, and are 1 by default. Where they sum to a negative
    number the result is NaN. Halves are computed in float32; integers give float32.
    """
    if weights is None:
        x, dtype = widened(x)
    else:
        (x, weights), dtype = widened_together(x, weights)
    axes = normalised_axes(dim, x.ndim)
    taken = x
    if weights is not None:
        is_nothing = weights == 0
        taken = select(is_nothing, -math.inf, x)
        # Where nothing weighs anything, the logarithm is that of 0, whatever x is.
        x = select(is_nothing.all(axes, True), x.detach(), x)
    largest = taken.max(axes, True).detach()
    # An infinite maximum would make inf - inf.
    largest = select(abs(largest) == math.inf, 0.0, largest)
    exponent = x - largest
    if weights is not None:
        # What weighs nothing takes no part, even where its exponential overflows; its
        # weight's slope is that exponential.
        most = math.log(finfo(x.dtype).max) - 0.5
        exponent = select(is_nothing & logical_not(exponent < most), most, exponent)
    terms = exp(exponent)
    if weights is not None:
        terms = terms * weights
    result = (log(terms.sum(axes, True)) + largest).cast(dtype)
    if keepdims:
        return result
    return result.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])


def _place_of(name: str, x: VarLike, dim: int | None, keepdims: bool, out: None) -> Var:
    """Return the first place along a dimension where the extreme is attained."""
    refuse_out(name, out)
    x = as_var(x)
    rank, is_line = x.ndim, dim is None or x.ndim == 0
    x, place = (x.reshape((-1,)), 0) if dim is None else as_line(x, dim)
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
    places = select(attained, _core.iota(x.shape, place, narrow), _core.full((), extent, narrow))
    result = places.min(place, keepdims).cast("int64")
    return result.reshape((1,) * rank) if is_line and keepdims else result


def argmax(x: VarLike, dim: int | None = None, keepdims: bool = False, *, out: None = None) -> Var:
    """Return the place of the largest element along a dimension, int64.

    Of equal elements it is the first, and NaN is larger than any number. Without
    a dimension x is flattened first.

    Raises
    ------
    ValueError
        If the dimension is out of range or has no elements.
    """
    return _place_of("argmax", x, dim, keepdims, out)


def argmin(x: VarLike, dim: int | None = None, keepdims: bool = False, *, out: None = None) -> Var:
    """Return the place of the smallest element along a dimension, int64.

    Of equal elements it is the first, and NaN is smaller than any number. Without
    a dimension x is flattened first.

    Raises
    ------
    ValueError
        If the dimension is out of range or has no elements.
    """
    return _place_of("argmin", x, dim, keepdims, out)
