# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Means of windows: a reindex to windows and a sum of each.

There is one of each kind for images of one to three dimensions. Layers are in
`pool_layers`, the largest elements in `max_pool`, and windows that adapt to the extent of
the result in `adaptive_pool`.
"""

from __future__ import annotations

import math

from .._core import Var, iota
from .._errors import at_line
from .._typing import VarLike, shown, widened
from ..ops.elementwise.elementwise import maximum, minimum, pow, where
from ..ops.reduce._squares import root_of_powers, root_of_squares, unit_of
from .window import Numbers, Windows, as_images, pooling_windows

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "global_avg_pool2d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]


def avg_pool1d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Var:
    """Return the mean of each window of ``(N, C, L)``, as `avg_pool2d`."""
    numbers = (kernel_size, stride, padding, ceil_mode)
    return _avg_pool("avg_pool1d", 1, x, *numbers, count_include_pad, None)


def avg_pool2d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Var:
    """Return the mean of each window.

    Parameters
    ----------
    x, kernel_size, stride, padding, ceil_mode
        As in `max_pool2d`; the border is 0.
    count_include_pad
        Whether elements of the border count. What a last window has beyond the border
        does not.
    divisor_override
        What sums are divided by instead of the number of elements, not 0.

    Returns
    -------
    Var
        As in `max_pool2d`, of floats. Halves are summed in float32.

    Raises
    ------
    ValueError
        If x has another number of dimensions, the window does not fit, or the divisor
        is 0.
    """
    numbers = (kernel_size, stride, padding, ceil_mode)
    return _avg_pool("avg_pool2d", 2, x, *numbers, count_include_pad, divisor_override)


def avg_pool3d(
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Var:
    """Return the mean of each window of ``(N, C, D, H, W)``, as `avg_pool2d`."""
    numbers = (kernel_size, stride, padding, ceil_mode)
    return _avg_pool("avg_pool3d", 3, x, *numbers, count_include_pad, divisor_override)


def lp_pool1d(
    x: VarLike,
    norm_type: float,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    ceil_mode: bool = False,
) -> Var:
    """Return the power mean of each window of ``(N, C, L)``, as `lp_pool2d`."""
    return _lp_pool("lp_pool1d", 1, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: VarLike,
    norm_type: float,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    ceil_mode: bool = False,
) -> Var:
    """Return ``sum(x**p)**(1/p)`` of each window.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x, kernel_size, stride, ceil_mode
        As in `max_pool2d`. A window that reaches over the end counts as if the rest of it
        had the mean of what it has.
    norm_type
        p, positive. With 1 it is the sum. The result is right wherever it is a number of the
        type, whatever the powers are.

    Returns
    -------
    Var
        As in `max_pool2d`, of floats; NaN where a sum is negative, but for p of 1. The
        gradient is 0 where the result is 0.

    Raises
    ------
    ValueError
        If x has another number of dimensions, the window does not fit, or p is not
        positive.
    """
    return _lp_pool("lp_pool2d", 2, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    x: VarLike,
    norm_type: float,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    ceil_mode: bool = False,
) -> Var:
    """Return the power mean of each window of ``(N, C, D, H, W)``, as `lp_pool2d`."""
    return _lp_pool("lp_pool3d", 3, x, norm_type, kernel_size, stride, ceil_mode)


def global_avg_pool2d(x: VarLike) -> Var:
    """Return the mean of each image: ``(N, C, 1, 1)`` for x of ``(N, C, H, W)``.

    Halves are computed in float32; integers give float32.

    Of one image, ``(C, H, W)``, it is ``(C, 1, 1)``.
    """
    return as_images("global_avg_pool2d", x, 2).mean((-2, -1), True)


def _avg_pool(
    name: str,
    rank: int,
    x: VarLike,
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Var:
    """Return the means of windows over images of `rank` dimensions."""
    x, dtype = widened(as_images(name, x, rank))
    extents = x.shape[-rank:]
    windows = pooling_windows(name, extents, kernel_size, stride, padding, 1, ceil_mode)
    total = _sums(windows, x)
    if divisor_override is None:
        return (total / _sizes(windows, extents, x.dtype, count_include_pad)).cast(dtype)
    check_divisor(name, divisor_override)
    return (total / divisor_override).cast(dtype)


def check_divisor(name: str, divisor_override: object) -> None:
    """Raise ValueError unless means can be divided by an object."""
    if not isinstance(divisor_override, int) or divisor_override == 0:
        raise at_line(
            ValueError(
                f"{name}: divisor_override is {shown(divisor_override)}, expected an integer but 0"
            )
        )


def _sums(windows: Windows, x: Var) -> Var:
    """Return the sum of each window, with zeros around x."""
    rank = len(windows.counts)
    return windows.of(x, 0).sum(tuple(range(x.ndim, x.ndim + rank)))


def _sizes(windows: Windows, extents: tuple[int, ...], dtype: str, with_padding: bool) -> Var | int:
    """Return how many elements windows have, one number if all have as many.

    What is beyond the padding does not count, and `with_padding` says if that does.
    """
    rank = len(extents)
    sizes: list[Var | int] = []
    for k, (extent, count, kernel, stride, padding) in enumerate(
        zip(extents, windows.counts, windows.kernel, windows.stride, windows.padding, strict=True)
    ):
        limit = extent + padding if with_padding else extent
        is_whole = (with_padding or padding == 0) and (
            count - 1
        ) * stride + kernel <= limit + padding
        if is_whole:
            sizes.append(kernel)
            continue
        starts = iota((count,), 0, dtype) * stride - padding
        ends = minimum(starts + kernel, limit)
        starts = starts if with_padding else maximum(starts, 0)
        sizes.append((ends - starts).reshape((count,) + (1,) * (rank - 1 - k)))
    return math.prod(sizes)


def _lp_pool(
    name: str,
    rank: int,
    x: VarLike,
    norm_type: float,
    kernel_size: Numbers,
    stride: Numbers | None,
    ceil_mode: bool,
) -> Var:
    """Return the roots of sums of powers over images of `rank` dimensions."""
    if not isinstance(norm_type, int | float) or not 0 < norm_type < math.inf:
        raise at_line(
            ValueError(f"{name}: norm_type is {shown(norm_type)}, expected a positive number")
        )
    x, dtype = widened(as_images(name, x, rank))
    extents = x.shape[-rank:]
    windows = pooling_windows(name, extents, kernel_size, stride, 0, 1, ceil_mode)
    sizes = _sizes(windows, extents, x.dtype, True)
    result = _power_sums(windows.of(x, 0), rank, norm_type)
    if isinstance(sizes, Var):
        result = result * (math.prod(windows.kernel) / sizes) ** (1 / norm_type)
    return result.cast(dtype)


def _power_sums(parts: Var, rank: int, order: float) -> Var:
    """Return the roots of sums of powers along the last dimensions."""
    axes = tuple(range(parts.ndim - rank, parts.ndim))
    if order == 1:
        return parts.sum(axes)
    if order == 2:
        return root_of_squares(parts, axes, False)
    result = root_of_powers(parts, order, axes, False, is_signed=True)
    if result is not None:
        return result
    unit = unit_of(parts, axes, order)
    total = _power(parts * (1.0 / unit), order).sum(axes)
    return _power(total, 1 / order) * unit.reshape(total.shape)


def _power(x: Var, exponent: float) -> Var:
    """Return a power of x, whose gradient is 0 where it would be infinite."""
    if exponent == int(exponent):
        return x ** int(exponent)
    if exponent > 1:
        return pow(x, exponent)
    is_zero = x == 0
    return where(is_zero, 0, pow(where(is_zero, 1, x), exponent))
