# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling: a reindex to windows and a reduction of each."""

from __future__ import annotations

import math

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..creation import ones_like
from .module import Module
from .window import Pair, axis_index, pair, window_count

__all__ = ["AvgPool2d", "MaxPool2d", "avg_pool2d", "global_avg_pool2d", "max_pool2d"]


def _checked_images(name: str, x: VarLike) -> Var:
    x = as_var(x)
    if x.ndim != 4:
        raise at_line(ValueError(f"{name}: input has shape {x.shape}, expected (N, C, H, W)"))
    return x


def _windows(
    name: str, x: VarLike, kernel_size: Pair, stride: Pair | None, padding: Pair, border: float
) -> Var:
    """Return the windows of x, ``(N, C, H', W', h, w)``, with `border` outside of it."""
    x = _checked_images(name, x)
    h, w = pair(f"{name}: kernel_size", kernel_size)
    sh, sw = (h, w) if stride is None else pair(f"{name}: stride", stride)
    ph, pw = pair(f"{name}: padding", padding)
    if 2 * ph > h or 2 * pw > w:
        raise at_line(
            ValueError(f"{name}: padding {(ph, pw)} is more than half of the kernel {(h, w)}")
        )
    N, C, H, W = x.shape
    shape = (
        N,
        C,
        window_count(name, H, h, sh, ph),
        window_count(name, W, w, sw, pw),
        h,
        w,
    )
    rows, columns = axis_index("i2", "i4", sh, ph), axis_index("i3", "i5", sw, pw)
    return x.reindex(shape, ("i0", "i1", rows, columns), border)


def max_pool2d(x: VarLike, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0) -> Var:
    """Return the largest element of each window.

    Parameters
    ----------
    x
        Float images, ``(N, C, H, W)``.
    kernel_size
        A number or one for each of height and width.
    stride
        Likewise; by default the kernel's size.
    padding
        Likewise, at most half of the kernel's; the border never wins.

    Returns
    -------
    Var
        ``(N, C, (H + 2 padding - h) / stride + 1, ...)``.

    Raises
    ------
    ValueError
        If x is not 4-d or the window does not fit.
    """
    return _windows("max_pool2d", x, kernel_size, stride, padding, -math.inf).max((4, 5))


def avg_pool2d(
    x: VarLike,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_include_pad: bool = True,
) -> Var:
    """Return the mean of each window.

    Parameters
    ----------
    x, kernel_size, stride, padding
        As in `max_pool2d`; the border is 0.
    count_include_pad
        Whether elements of the border count.

    Returns
    -------
    Var
        As in `max_pool2d`.

    Raises
    ------
    ValueError
        If x is not 4-d or the window does not fit.
    """
    x = as_var(x)
    total = _windows("avg_pool2d", x, kernel_size, stride, padding, 0).sum((4, 5))
    if count_include_pad or padding in (0, (0, 0), [0, 0]):
        return total / math.prod(pair("avg_pool2d: kernel_size", kernel_size))
    ones = ones_like(x[:1, :1])
    return total / _windows("avg_pool2d", ones, kernel_size, stride, padding, 0).sum((4, 5))


def global_avg_pool2d(x: VarLike) -> Var:
    """Return the mean of each image, ``(N, C, 1, 1)`` for x of ``(N, C, H, W)``."""
    return _checked_images("global_avg_pool2d", x).mean((2, 3), True)


class _Pool2d(Module):
    """What the pooling layers share."""

    def __init__(self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0) -> None:
        name = type(self).__name__
        self.kernel_size = pair(f"{name}: kernel_size", kernel_size)
        self.stride = self.kernel_size if stride is None else pair(f"{name}: stride", stride)
        self.padding = pair(f"{name}: padding", padding)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool2d):
    """The layer of `max_pool2d`."""

    def execute(self, x: VarLike) -> Var:
        """Return the largest element of each window."""
        return max_pool2d(x, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool2d):
    """The layer of `avg_pool2d`."""

    def __init__(
        self,
        kernel_size: Pair,
        stride: Pair | None = None,
        padding: Pair = 0,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.count_include_pad = count_include_pad

    def execute(self, x: VarLike) -> Var:
        """Return the mean of each window."""
        return avg_pool2d(x, self.kernel_size, self.stride, self.padding, self.count_include_pad)
