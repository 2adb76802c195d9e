# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that cut a tensor into parts, with NumPy's meaning of how many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_integer, as_integers, as_var, normalised_axis
from ..index._indices import along

__all__ = ["array_split", "dsplit", "hsplit", "split", "vsplit"]

#: Parts beyond the extent have no elements; nobody needs many.
_MOST_EMPTY = 2**16


def _cut(x: Var, ends: Sequence[int], axis: int) -> list[Var]:
    """Return the parts before, between and after some positions."""
    pairs = zip([0, *ends], [*ends, x.shape[axis]], strict=True)
    return [x[along(axis, slice(start, end))] for start, end in pairs]


def _number(what: str, sections: int | Sequence[int], extent: int) -> int | list[int]:
    """Return the number of parts or the positions of cuts."""
    if isinstance(sections, Iterable):
        return as_integers(what, "sections", sections)
    number = as_integer(what, "sections", sections)
    if not 0 < number <= extent + _MOST_EMPTY:
        raise at_line(
            ValueError(
                f"{what}: sections is {number}, expected the number of parts of an extent"
                f" of {extent}"
            )
        )
    return number


def split(x: VarLike, sections: int | Sequence[int], dim: int = 0) -> list[Var]:
    """Return x cut along a dimension.

    Parameters
    ----------
    x
        At least one dimension.
    sections
        The number of parts, all of one extent; or the positions of the cuts, where
        parts end and others begin: ``[2, 5]`` gives ``x[:2]``, ``x[2:5]`` and ``x[5:]``.
    dim
        The dimension that is cut.

    Raises
    ------
    ValueError
        If the number does not divide the extent or `dim` is out of range.

    Notes
    -----
    That is as in NumPy. Parts of extent n are ``split(x, range(n, x.shape[0], n))``.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    extent = x.shape[axis]
    number = _number("split", sections, extent)
    if not isinstance(number, int):
        return _cut(x, number, axis)
    if extent % number:
        raise at_line(
            ValueError(
                f"split: {number} parts do not divide the extent {extent}; array_split makes"
                " parts that differ by 1"
            )
        )
    step = extent // number
    return _cut(x, [step * k for k in range(1, number)], axis)


def array_split(x: VarLike, sections: int | Sequence[int], dim: int = 0) -> list[Var]:
    """Return x cut along a dimension, as `split`, into parts that may differ by 1.

    Of n parts of an extent e, the first ``e % n`` have the extent ``e // n + 1``.

    Raises
    ------
    ValueError
        If the number of parts is not positive or `dim` is out of range.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim)
    number = _number("array_split", sections, x.shape[axis])
    if not isinstance(number, int):
        return _cut(x, number, axis)
    step, larger = divmod(x.shape[axis], number)
    return _cut(x, [step * k + min(k, larger) for k in range(1, number)], axis)


def _split_along(
    name: str, x: VarLike, sections: int | Sequence[int], dim: int, least: int
) -> list[Var]:
    x = as_var(x)
    if x.ndim < least:
        raise at_line(
            ValueError(f"{name}: given shape {x.shape}, expected {least} dimensions or more")
        )
    return split(x, sections, min(dim, x.ndim - 1))


def vsplit(x: VarLike, sections: int | Sequence[int]) -> list[Var]:
    """Return x cut along its first dimension, of two or more; see `split`.

    Raises
    ------
    ValueError
        If the number does not divide the extent, or x has too few dimensions.
    """
    return _split_along("vsplit", x, sections, 0, 2)


def hsplit(x: VarLike, sections: int | Sequence[int]) -> list[Var]:
    """Return x cut along its second dimension, a vector along its only one; see `split`.

    Raises
    ------
    ValueError
        If the number does not divide the extent, or x has no dimensions.
    """
    return _split_along("hsplit", x, sections, 1, 1)


def dsplit(x: VarLike, sections: int | Sequence[int]) -> list[Var]:
    """Return x cut along its third dimension; see `split`.

    Raises
    ------
    ValueError
        If the number does not divide the extent, or x has too few dimensions.
    """
    return _split_along("dsplit", x, sections, 2, 3)
