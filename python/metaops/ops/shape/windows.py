# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows that slide over a tensor."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from ..._core import Var
from ..._errors import at_line
from ..._typing import VarLike, as_var, normalised_axis, shown

__all__ = ["sliding_window_view"]


def sliding_window_view(
    x: VarLike, window_shape: int | Sequence[int], dim: int | Sequence[int] | None = None
) -> Var:
    """Return all windows of x, as ``numpy.lib.stride_tricks.sliding_window_view``.

    Parameters
    ----------
    x
        Any tensor.
    window_shape
        The extents of a window, a number of a window of one dimension.
    dim
        The dimensions that windows slide along, one for each extent; by default all. One
        that is given twice has windows of windows.

    Returns
    -------
    Var
        x's shape, of which the dimensions are as long as there are windows, and then
        that of a window. What sums it up reads x in place.

    Raises
    ------
    TypeError
        If an extent is no integer.
    ValueError
        If there is not one extent for each dimension, a window does not fit, or a
        dimension is out of range.
    """
    x = as_var(x)
    given = window_shape if isinstance(window_shape, tuple | list) else (window_shape,)
    try:
        window = tuple(int(operator.index(extent)) for extent in given)
    except TypeError:
        error = TypeError(
            f"sliding_window_view: window_shape is {shown(window_shape)}, expected integers"
        )
        raise at_line(error) from None
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    axes = [normalised_axis(axis, x.ndim) for axis in dims]
    if len(axes) != len(window):
        raise at_line(
            ValueError(
                f"sliding_window_view: window_shape is {shown(window_shape)} for {len(axes)}"
                " dimensions, expected one extent for each"
            )
        )
    counts = list(x.shape)
    places = [f"i{axis}" for axis in range(x.ndim)]
    for number, (axis, extent) in enumerate(zip(axes, window, strict=True)):
        counts[axis] -= extent - 1
        places[axis] += f"+i{x.ndim + number}"
        if extent < 0 or counts[axis] < 1:
            raise at_line(
                ValueError(
                    f"sliding_window_view: a window of {shown(window)} does not fit into"
                    f" {shown(x.shape)} along dimensions {tuple(axes)}"
                )
            )
    return x.reindex((*counts, *window), places)
