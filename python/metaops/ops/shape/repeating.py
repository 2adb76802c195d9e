# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that repeat the elements of a tensor, and that move them around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import Axes, VarLike, as_integers, as_var, normalised_axis, shown
from ..index.gathering import take

__all__ = ["repeat", "repeat_interleave", "roll", "tile"]


def repeat(x: VarLike, repeats: VarLike, dim: int | None = None, *others: int) -> Var:
    """Return x with each element repeated along a dimension, as ``numpy.repeat``.

    Parameters
    ----------
    x
        Any tensor.
    repeats
        How often: one integer, or one for each index of the dimension. Those in a Var
        are computed now, since the shape of the result depends on them.
    dim
        The dimension; without one, x is flattened first.

    Raises
    ------
    TypeError
        If `repeats` are no integers.
    ValueError
        If one is negative, there are not as many as indices, or `dim` is out of range.

    Notes
    -----
    PyTorch's ``x.repeat(2, 3)`` is ``x.tile((2, 3))``.
    """
    x = as_var(x)
    if others or (isinstance(dim, int) and not -x.ndim <= dim < x.ndim):
        given = shown((repeats, dim, *others))
        raise at_line(
            ValueError(
                f"repeat: given {given}, expected repeats and one of {x.ndim} dimensions;"
                f" tile(x, {given}) repeats the tensor as a whole"
            )
        )
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    axis = normalised_axis(dim, x.ndim)
    counts = np.asarray(repeats.numpy() if isinstance(repeats, Var) else repeats)
    if counts.size == 0:
        counts = counts.astype(np.int64)
    if counts.dtype.kind not in "iu":
        raise at_line(TypeError(f"repeat: repeats is {shown(repeats)}, expected integers"))
    extent = x.shape[axis]
    if counts.ndim > 1 or counts.size not in (1, extent):
        raise at_line(
            ValueError(
                f"repeat: repeats has shape {counts.shape}, expected 1 number or {extent};"
                " tile repeats the tensor as a whole"
            )
        )
    if counts.size > 0 and counts.min() < 0:
        raise at_line(ValueError(f"repeat: repeats has {counts.min()}, expected 0 or more"))
    if counts.size != 1:
        return take(x, np.repeat(np.arange(extent), counts), axis)
    count = int(counts.reshape(())[()])
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    spread = x.reshape((*before, extent, 1, *after)).broadcast((*before, extent, count, *after))
    return spread.reshape((*before, extent * count, *after))


repeat_interleave = repeat


def tile(x: VarLike, reps: int | Sequence[int]) -> Var:
    """Return x repeated as a whole along each dimension, as ``numpy.tile``.

    Parameters
    ----------
    x
        Any tensor.
    reps
        How often for each of the last dimensions. If there are more than x has
        dimensions, x gets leading ones.

    Raises
    ------
    TypeError
        If `reps` are no integers.
    ValueError
        If one is negative.
    """
    x, counts = as_var(x), as_integers("tile", "reps", reps)
    if any(count < 0 for count in counts):
        raise at_line(ValueError(f"tile: reps is {shown(reps)}, expected 0 or more"))
    rank = max(x.ndim, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    extents = (*(1,) * (rank - x.ndim), *x.shape)
    # Each dimension behind its copies, which are one dimension afterwards.
    pairs = [n for extent in extents for n in (1, extent)]
    copies = [n for pair in zip(counts, extents, strict=True) for n in pair]
    spread = x.reshape(pairs).broadcast(copies)
    return spread.reshape([count * n for count, n in zip(counts, extents, strict=True)])


def roll(x: VarLike, shift: int | Sequence[int], dim: Axes = None) -> Var:
    """Return x with its elements moved along dimensions, those past the end to the start.

    Parameters
    ----------
    x
        Any tensor.
    shift
        By how many places: one integer, or one for each dimension given.
    dim
        One dimension or several, which may repeat; None rolls x flattened.

    Raises
    ------
    TypeError
        If `shift` are no integers.
    ValueError
        If there are not as many as dimensions, or one of these is out of range.
    """
    x, shifts = as_var(x), as_integers("roll", "shift", shift)
    if dim is None:
        return _rolled(x.reshape((-1,)), sum(shifts), 0).reshape(x.shape)
    axes = [normalised_axis(axis, x.ndim) for axis in as_integers("roll", "dim", dim)]
    if len(shifts) not in (1, len(axes)) and len(axes) != 1:
        raise at_line(
            ValueError(f"roll: {len(shifts)} shifts given, expected 1 or {len(axes)}, as dim has")
        )
    total = dict.fromkeys(axes, 0)
    for by, axis in np.broadcast(np.array(shifts, object), np.array(axes, object)):
        total[axis] += by
    x = +x
    for axis, by in total.items():
        x = _rolled(x, by, axis)
    return x


def _rolled(x: Var, shift: int, axis: int) -> Var:
    # Python's integers have no limits.
    return _core.roll(x, shift % max(x.shape[axis], 1), axis)
