# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions by segments: elements with one number are combined.

A segment need not be contiguous. Each function is one reindex-reduce that reads
the segments' numbers.
"""

from __future__ import annotations

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, whole_number, widened

__all__ = [
    "segment_logsumexp",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
]


def extent_above(what: str, numbers: Var, least: int = 0) -> int:
    """Return one more than the largest number, which is computed now.

    Raises
    ------
    ValueError
        If a number is negative.
    """
    if numbers.size == 0:
        return least
    wide = numbers.cast("int64")
    lowest, highest = wide.min().item(), wide.max().item()
    if lowest < 0:
        raise at_line(ValueError(f"{what}: a number is {lowest}, expected 0 or more"))
    return max(least, highest + 1)


def integers(what: str, parameter: str, value: VarLike) -> Var:
    """Return a Var of integers.

    Raises
    ------
    TypeError
        If they are of another type.
    """
    numbers = as_var(value)
    if "int" not in numbers.dtype:
        raise at_line(TypeError(f"{what}: {parameter} is of {numbers.dtype}, expected integers"))
    return numbers


def _arguments(
    what: str, x: VarLike, segment_ids: VarLike, num_segments: int | None
) -> tuple[Var, Var, int]:
    x, numbers = as_var(x), integers(what, "segment_ids", segment_ids)
    if numbers.ndim == 0 or numbers.shape != x.shape[: numbers.ndim]:
        raise at_line(
            ValueError(
                f"{what}: segment_ids has shape {numbers.shape}, expected the first extents of x,"
                f" which has {x.shape}"
            )
        )
    if num_segments is None:
        return x, numbers, extent_above(what, numbers)
    return x, numbers, whole_number(what, "num_segments", num_segments)


def _reduced(kind: str, x: Var, numbers: Var, count: int) -> Var:
    own = ", ".join(f"i{axis}" for axis in range(numbers.ndim))
    rest = range(numbers.ndim, x.ndim)
    shape = (count, *(x.shape[axis] for axis in rest))
    return x.reindex_reduce(
        kind, shape, [f"@e0({own})", *(f"i{axis}" for axis in rest)], extras=[numbers]
    )


def segment_sum(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return the sums of x by segments, of x's type; 0 where a segment is empty.

    Parameters
    ----------
    x
        Shape ``(n, ...)``; `segment_ids` may have more of its first dimensions.
    segment_ids
        The segment of each element, or row, of x. Numbers outside of
        ``[0, num_segments)`` take no part.
    num_segments
        How many there are. By default the largest number and one: then the numbers
        are computed at once, since the shape depends on them.

    Returns
    -------
    Var
        Shape ``(num_segments, ...)``.

    Raises
    ------
    TypeError
        If the numbers are no integers.
    ValueError
        If shapes do not fit, or a number is negative and `num_segments` not given.
    """
    return _reduced("add", *_arguments("segment_sum", x, segment_ids, num_segments))


def segment_prod(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return the products by segments, of x's type; 1 where a segment is empty.

    Parameters and errors are those of `segment_sum`.
    """
    return _reduced("mul", *_arguments("segment_prod", x, segment_ids, num_segments))


def segment_max(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return the largest elements by segments; what `metaops.max` gives over nothing.

    Parameters and errors are those of `segment_sum`.
    """
    return _reduced("max", *_arguments("segment_max", x, segment_ids, num_segments))


def segment_min(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return the smallest elements by segments; what `metaops.min` gives over nothing.

    Parameters and errors are those of `segment_sum`.
    """
    return _reduced("min", *_arguments("segment_min", x, segment_ids, num_segments))


def segment_logsumexp(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return ``log(sum(exp(x)))`` by segments, without overflow; -inf where one is empty.

    Halves are computed in float32; integers give float32.

    Parameters and errors are those of `segment_sum`.
    """
    x, numbers, count = _arguments("segment_logsumexp", x, segment_ids, num_segments)
    wide, dtype = widened(x)
    return _reduced("logaddexp", wide, numbers, count).cast(dtype)


def segment_mean(x: VarLike, segment_ids: VarLike, num_segments: int | None = None) -> Var:
    """Return the means by segments, floats; NaN where a segment is empty.

    Halves are computed in float32; integers give float32.

    Parameters and errors are those of `segment_sum`.
    """
    x, numbers, count = _arguments("segment_mean", x, segment_ids, num_segments)
    wide, dtype = widened(x)
    sums = _reduced("add", wide, numbers, count)
    ones = as_var(1).cast("int64").broadcast(numbers.shape)
    sizes = _reduced("add", ones, numbers, count).cast(wide.dtype)
    return (sums / sizes.reshape((count,) + (1,) * (sums.ndim - 1))).cast(dtype)
