# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantiles: what a share of the elements is not larger than."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._core import Var
from ..._domains import PERCENTAGE, SHARE
from ..._errors import at_line
from ..._typing import Axes, VarLike, as_var, normalised_axes, shown, widened
from ..elementwise.elementwise import abs, clip, where
from ..elementwise.rounding import ceil, floor
from ..reduce.reduction import any
from .sorting import head, sort

__all__ = [
    "median",
    "percentile",
    "quantile",
]


def flattened(x: Var, dim: Axes) -> tuple[Var, list[int], list[int]]:
    """Return x with the dimensions made one, the last; and the shape without them.

    The latter as it is, and with extents 1 in their places.
    """
    axes = normalised_axes(dim, x.ndim)
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    kept = [x.shape[axis] for axis in rest]
    moved = x.transpose((*rest, *axes)) if x.ndim > 1 else x
    ones = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return moved.reshape((*kept, math.prod(x.shape[axis] for axis in axes))), kept, ones


#: Ways to choose the place of a share among n elements, by the alpha and the beta of
#: Hyndman and Fan, "Sample quantiles in statistical packages" (1996).
_FAMILY = {
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": (3.0 / 8.0, 3.0 / 8.0),
}
#: Offsets of the share times n, at which the sample's function has its steps.
_STEPS = {
    "inverted_cdf": 1.0,
    "averaged_inverted_cdf": 1.0,
    "interpolated_inverted_cdf": 1.0,
    "closest_observation": 1.5,
}
#: All ways, by NumPy's names; the first ones differ by what is chosen between two elements.
METHODS = ("linear", "lower", "higher", "midpoint", "nearest", *_STEPS, *_FAMILY)


def check_method(name: str, method: object) -> None:
    """Raise a ``ValueError`` if there is no such method."""
    if method not in METHODS:
        names = ", ".join(map(repr, METHODS))
        raise at_line(ValueError(f"{name}: method is {shown(method)}, expected one of {names}"))


def place_of(method: str, share: Any, count: Any) -> Any:
    """Return where a share is among a number of elements, from 0 on; it may be outside.

    Both are numbers of Python's, NumPy's arrays, or Vars. The operations, and their
    order, are NumPy's, for what is at an element must not be rounded away from it.
    """
    if method not in _FAMILY and method not in _STEPS:
        return share * (count - 1)
    product = share * count
    if isinstance(product, Var):
        product = product.stop_fuse()  # else it would not be rounded before the sum
    if method in _STEPS:
        return product - _STEPS[method]
    alpha, beta = _FAMILY[method]
    return product + (alpha + share * (1.0 - alpha - beta)) - 1.0


def reaches_on(method: str) -> bool:
    """Return whether a share that is at an element looks at the next one, too."""
    return method in ("averaged_inverted_cdf", "closest_observation")


def chosen(method: str, below: Var, above: Var, weight: Any, parity: Any) -> Var:
    """Return what a method makes of two elements.

    Parameters
    ----------
    method
        Its name.
    below, above
        The elements on both sides.
    weight
        How far the place is from the first one.
    parity
        0 where that has an even number, else 1.
    """
    if method == "nearest":
        return where((weight < 0.5) | ((weight == 0.5) & (parity == 0)), below, above)
    if method == "closest_observation":
        return where((weight == 0.0) & (parity == 1), below, above)
    if method == "lower":
        return below
    if method in ("higher", "inverted_cdf"):
        return above
    if method == "midpoint":
        weight = 0.5
    elif method == "averaged_inverted_cdf":
        weight = 1.0 - (weight == 0.0) * 0.5
    return between(below, above, weight)


def shares_of(q: VarLike) -> Var | npt.NDArray[np.float64]:
    """Return q in float64: a Python number has more digits than float32."""
    return q.cast("float64") if isinstance(q, Var) else np.asarray(q, "float64")


def in_range(
    share: Var | npt.NDArray[np.float64],
) -> Var | npt.NDArray[np.float64]:
    """Return shares, NaN in the place of a Var's that are not in [0, 1]; others are checked."""
    if not isinstance(share, Var):
        return share
    return where((share >= 0.0) & (share <= 1.0), share, math.nan)


def share_of_percentage(what: str, q: VarLike) -> VarLike:
    """Return q / 100; what `q` is told of are percentages.

    Raises
    ------
    ValueError
        If a number is not in [0, 100].
    """
    PERCENTAGE.check(what, q=q)
    return shares_of(q) / 100


def quantile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return what a share q of the elements is not above.

    Parameters
    ----------
    x
        Numbers; integers become float32.
    q
        Shares in ``[0, 1]``, of any shape, which comes first in the result's.
    dim
        The dimensions; all by default.
    keepdims
        Whether these stay, with extent 1.
    method
        What lies between two elements: "linear", "lower", "higher", "midpoint" or
        "nearest", which is the even one of two; or another one of NumPy's, which are of
        other definitions: "inverted_cdf", "averaged_inverted_cdf",
        "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
        "median_unbiased", "normal_unbiased" (Hyndman and Fan, 1996, 1 to 6, 8 and 9).

    Returns
    -------
    Var
        NaN where an element is NaN, or where there is none, and of what a Var `q` has
        beyond [0, 1].

    Raises
    ------
    ValueError
        If `method` is none of these, a dimension is out of range, or a number `q` is.
    """
    check_method("quantile", method)
    SHARE.check("quantile", q=q)
    x, dtype = widened(x)
    rows, kept, ones = flattened(x, dim)
    extent = rows.shape[-1]
    shares = q.shape if isinstance(q, Var) else np.shape(q)
    shape = (*shares, *(ones if keepdims else kept))
    if extent == 0:
        return _core.full(shape, math.nan, dtype)
    ends: tuple[Var, Var, Any, Any]
    if isinstance(q, float | int):
        ends = _known_ends(rows, method, float(q))
    else:
        ends = _ends(rows, kept, method, in_range(shares_of(q)))
    is_none = any(rows != rows, -1)
    if isinstance(q, Var):
        weight = ends[2]
        is_none = is_none | (weight != weight)
    return where(is_none, math.nan, chosen(method, *ends)).reshape(shape).cast(dtype)


def between(below: Var, above: Var, weight: Var | float) -> Var:
    """Return what lies between two elements, the first of which is not the larger one.

    Of two equal ones each has its share of the gradient.
    """
    # From an infinity on there is no way to go, and of equal ones no difference.
    is_infinite = abs(below) == math.inf
    way = where(is_infinite, 0.0, above) - where(is_infinite, 0.0, below)
    return where(is_infinite, below + above, below + way * weight)


def _known_ends(rows: Var, method: str, share: float) -> tuple[Var, Var, float, int]:
    """Return what `_ends` does, by finding these elements alone."""
    axis, extent = rows.ndim - 1, rows.shape[-1]
    # Places are exact in float64, whatever x is.
    place = place_of(method, share, extent)
    low = math.floor(place)
    high = low + 1 if reaches_on(method) else math.ceil(place)
    weight, parity = place - low, low % 2
    low, high = (min(max(end, 0), extent - 1) for end in (low, high))
    # As many for every share: where they begin is an operand.
    count = min(extent, 2)
    first = min(low, extent - count)
    part, _ = _core.sort(rows, axis, False, first, count)
    kept = rows.shape[:-1]
    below, above = (head(part, axis, k - first, k - first + 1).reshape(kept) for k in (low, high))
    return below, above, weight, parity


def _ends(
    rows: Var, kept: list[int], method: str, share: Var | npt.NDArray[np.float64]
) -> tuple[Var, Var, Var, Var]:
    """Return the elements that a share is between, and where it is between them.

    The latter are the share of the second one, and whether the first one has an odd
    number, as 1 or 0.
    """
    extent = rows.shape[-1]
    ordered = sort(rows)
    place = as_var(place_of(method, share, extent)).reshape((*share.shape, *[1] * len(kept)))
    low = floor(place)
    high = low + 1 if reaches_on(method) else ceil(place)
    below, above = (
        _at(ordered, clip(end, 0, extent - 1).cast("int64"), kept) for end in (low, high)
    )
    return below, above, (place - low).cast(rows.dtype), low % 2


def _at(rows: Var, place: Var, kept: list[int]) -> Var:
    """Return elements of each row, at places that have a dimension for each of `kept`."""
    shares = place.ndim - len(kept)
    shape = (*place.shape[:shares], *kept)
    names = [f"i{shares + k}" for k in range(len(kept))]
    own = [f"i{k}" for k in range(shares)] + ["0"] * len(kept)
    return rows.reindex(shape, (*names, f"@e0({', '.join(own)})"), extras=[place])


def percentile(
    x: VarLike, q: VarLike, dim: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Var:
    """Return the `quantile` for q / 100."""
    return quantile(x, share_of_percentage("percentile", q), dim, keepdims, method)


def median(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the element in the middle, or the mean of both; see `quantile`."""
    return quantile(x, 0.5, dim, keepdims)
