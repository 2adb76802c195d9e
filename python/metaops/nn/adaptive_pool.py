# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling to given extents: window i of n reaches from i L / n to (i + 1) L / n.

The bounds are rounded outwards, so windows have up to two extents and may share an
element. They are read as windows of the larger extent, without what is behind their end.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from .._core import Var, iota
from .._errors import at_line
from .._typing import VarLike, shown, widened
from .max_pool import flat_places, largest, lowest
from .window import as_images

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
]

#: An extent for all dimensions, or one for each; None is that of the input.
Extents: TypeAlias = int | Sequence[int | None] | None


def adaptive_avg_pool1d(x: VarLike, output_size: Extents) -> Var:
    """Return means of ``(N, C, L)``, `output_size` in number, as `adaptive_avg_pool2d`."""
    return _means("adaptive_avg_pool1d", 1, x, output_size)


def adaptive_avg_pool2d(x: VarLike, output_size: Extents) -> Var:
    """Return the means of windows that make a result of given extents.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``.
    output_size
        H' and W', a number if they are equal; None is the extent of x.

    Returns
    -------
    Var
        ``(N, C, H', W')`` or ``(C, H', W')``, of floats. Halves are summed in float32.

    Raises
    ------
    ValueError
        If x has another number of dimensions, or an extent is not positive.
    """
    return _means("adaptive_avg_pool2d", 2, x, output_size)


def adaptive_avg_pool3d(x: VarLike, output_size: Extents) -> Var:
    """Return means of ``(N, C, D, H, W)``, as `adaptive_avg_pool2d`."""
    return _means("adaptive_avg_pool3d", 3, x, output_size)


@overload
def adaptive_max_pool1d(
    x: VarLike, output_size: Extents, return_indices: Literal[False] = ...
) -> Var: ...
@overload
def adaptive_max_pool1d(
    x: VarLike, output_size: Extents, return_indices: Literal[True]
) -> tuple[Var, Var]: ...
def adaptive_max_pool1d(
    x: VarLike, output_size: Extents, return_indices: bool = False
) -> Var | tuple[Var, Var]:
    """Return the largest elements of parts of ``(N, C, L)``, as `adaptive_max_pool2d`."""
    return _largest("adaptive_max_pool1d", 1, x, output_size, return_indices)


@overload
def adaptive_max_pool2d(
    x: VarLike, output_size: Extents, return_indices: Literal[False] = ...
) -> Var: ...
@overload
def adaptive_max_pool2d(
    x: VarLike, output_size: Extents, return_indices: Literal[True]
) -> tuple[Var, Var]: ...
def adaptive_max_pool2d(
    x: VarLike, output_size: Extents, return_indices: bool = False
) -> Var | tuple[Var, Var]:
    """Return the largest elements of windows that make a result of given extents.

    Parameters
    ----------
    x, output_size
        As in `adaptive_avg_pool2d`.
    return_indices
        Whether to return also where these are, as `max_pool2d` does.

    Returns
    -------
    Var
        ``(N, C, H', W')`` or ``(C, H', W')``.
    Var
        If asked for: int64 of this shape.

    Raises
    ------
    ValueError
        If x has another number of dimensions, or an extent is not positive.
    """
    return _largest("adaptive_max_pool2d", 2, x, output_size, return_indices)


@overload
def adaptive_max_pool3d(
    x: VarLike, output_size: Extents, return_indices: Literal[False] = ...
) -> Var: ...
@overload
def adaptive_max_pool3d(
    x: VarLike, output_size: Extents, return_indices: Literal[True]
) -> tuple[Var, Var]: ...
def adaptive_max_pool3d(
    x: VarLike, output_size: Extents, return_indices: bool = False
) -> Var | tuple[Var, Var]:
    """Return the largest elements of parts of ``(N, C, D, H, W)``, as `adaptive_max_pool2d`."""
    return _largest("adaptive_max_pool3d", 3, x, output_size, return_indices)


def as_extents(name: str, output_size: Any, rank: int) -> tuple[int | None, ...]:
    """Return one extent, or None, for each dimension of space.

    Raises
    ------
    ValueError
        If it is something else. The message begins with `name`.
    """
    given = output_size if isinstance(output_size, tuple | list) else (output_size,) * rank
    try:
        extents = tuple(None if n is None else int(operator.index(n)) for n in given)
    except TypeError:
        extents = ()
    if len(extents) != rank or any(n is not None and n < 1 for n in extents):
        raise at_line(
            ValueError(
                f"{name}: output_size is {shown(output_size)}, expected a positive integer or None,"
                f" or {rank} of these"
            )
        )
    return extents


def _counts(name: str, x: Var, rank: int, output_size: Extents) -> tuple[int, ...]:
    """Return how many windows each dimension of x has."""
    given, extents = as_extents(name, output_size, rank), x.shape[-rank:]
    if 0 in extents:
        raise at_line(
            ValueError(f"{name}: input has shape {x.shape}, expected no images without elements")
        )
    return tuple(n if m is None else m for m, n in zip(given, extents, strict=True))


def _windows(x: Var, counts: tuple[int, ...], border: float) -> Var:
    """Return the windows of x, ``(..., *counts, *kernel)``, with `border` behind their end."""
    rank = len(counts)
    before = x.ndim - rank
    names, kernel, outside = [f"i{k}" for k in range(before)], [], []
    for k, (extent, count) in enumerate(zip(x.shape[before:], counts, strict=True)):
        window, offset = f"i{before + k}", f"i{before + rank + k}"
        # The largest of ceil((i + 1) L / n) - floor(i L / n).
        kernel.append(-(-(extent + count - math.gcd(extent, count)) // count))
        place = f"{window}*{extent}/{count}+{offset}"
        names.append(place)
        if extent % count:
            outside.append(f"{place} >= (({window}+1)*{extent}+{count - 1})/{count}")
    return x.reindex((*x.shape[:before], *counts, *kernel), names, border, outside)


def _means(name: str, rank: int, x: VarLike, output_size: Extents) -> Var:
    """Return the means of windows over images of `rank` dimensions."""
    x, dtype = widened(as_images(name, x, rank))
    extents, counts = x.shape[-rank:], _counts(name, x, rank, output_size)
    if math.prod(counts) == 1:
        return x.mean(tuple(range(x.ndim - rank, x.ndim)), True).cast(dtype)
    total = _windows(x, counts, 0).sum(tuple(range(x.ndim, x.ndim + rank)))
    sizes: list[Var | int] = []
    for k, (extent, count) in enumerate(zip(extents, counts, strict=True)):
        if extent % count == 0:
            sizes.append(extent // count)
            continue
        i = iota((count,), 0, "int64")
        size = ((i + 1) * extent + (count - 1)) // count - i * extent // count
        sizes.append(size.cast(x.dtype).reshape((count,) + (1,) * (rank - 1 - k)))
    return (total / math.prod(sizes)).cast(dtype)


def _largest(
    name: str, rank: int, x: VarLike, output_size: Extents, return_indices: bool
) -> Var | tuple[Var, Var]:
    """Return the largest elements of windows over images of `rank` dimensions."""
    x = as_images(name, x, rank)
    counts = _counts(name, x, rank, output_size)
    parts = _windows(x, counts, lowest(x.dtype))
    if not return_indices:
        return parts.max(tuple(range(x.ndim, parts.ndim)))
    places, beyond = flat_places(x.shape[-rank:])
    return largest(parts, _windows(places, counts, beyond), rank, beyond)
