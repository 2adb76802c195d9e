# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of images as columns, and sums of such columns."""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from .module import Module
from .window import Pair, axis_index, pair, window_count

__all__ = ["Fold", "Unfold", "fold", "unfold"]


def unfold(
    x: VarLike, kernel_size: Pair, dilation: Pair = 1, padding: Pair = 0, stride: Pair = 1
) -> Var:
    """Return the windows of images, each as a column.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)`` or ``(C, H, W)``, of any type.
    kernel_size
        h and w, a number if they are equal.
    dilation, padding, stride
        A number or one for each of height and width; the border is 0.

    Returns
    -------
    Var
        ``(N, C h w, L)`` or ``(C h w, L)`` with as many columns as there are windows,
        ``L = H' W'``, row by row.

    Raises
    ------
    ValueError
        If x has another number of dimensions or the window does not fit.
    """
    x = as_var(x)
    if x.ndim not in (3, 4):
        raise at_line(
            ValueError(f"unfold: x has shape {x.shape}, expected (N, C, H, W) or (C, H, W)")
        )
    images = x if x.ndim == 4 else x.unsqueeze(0)
    N, C, H, W = images.shape
    windows = _Windows("unfold", (H, W), kernel_size, dilation, padding, stride)
    (h, w), (Ho, Wo) = windows.kernel, windows.count
    columns = images.reindex((N, C, h, w, Ho, Wo), ("i0", "i1", *windows.indexes))
    return columns.reshape((*x.shape[:-3], C * h * w, Ho * Wo))


def fold(
    x: VarLike,
    output_size: Pair,
    kernel_size: Pair,
    dilation: Pair = 1,
    padding: Pair = 0,
    stride: Pair = 1,
) -> Var:
    """Return images that are the sums of windows, each given as a column.

    It is the gradient of `unfold`: elements of which several windows have one are sums.

    Parameters
    ----------
    x
        Columns, ``(N, C h w, L)`` or ``(C h w, L)``, of any type of numbers.
    output_size
        H and W of the images.
    kernel_size, dilation, padding, stride
        As of `unfold`.

    Returns
    -------
    Var
        ``(N, C, H, W)`` or ``(C, H, W)``, of x's dtype.

    Raises
    ------
    ValueError
        If the columns are not those of windows of such images.
    """
    x = as_var(x)
    H, W = pair("fold: output_size", output_size)
    windows = _Windows("fold", (H, W), kernel_size, dilation, padding, stride)
    (h, w), (Ho, Wo) = windows.kernel, windows.count
    if x.ndim not in (2, 3) or x.shape[-2] % (h * w) or x.shape[-1] != Ho * Wo:
        raise at_line(
            ValueError(
                f"fold: x has shape {x.shape}, expected (N, C * {h * w}, {Ho * Wo}) or"
                f" (C * {h * w}, {Ho * Wo})"
            )
        )
    N, C = x.shape[0] if x.ndim == 3 else 1, x.shape[-2] // (h * w)
    columns = x.reshape((N, C, h, w, Ho, Wo))
    images = columns.reindex_reduce("add", (N, C, H, W), ("i0", "i1", *windows.indexes))
    return images.reshape((*x.shape[:-2], C, H, W))


class _Windows:
    """The windows of an image: how large, how many, and where their elements are."""

    def __init__(
        self,
        name: str,
        image: tuple[int, int],
        kernel_size: Pair,
        dilation: Pair,
        padding: Pair,
        stride: Pair,
    ) -> None:
        self.kernel = pair(f"{name}: kernel_size", kernel_size)
        dilations = pair(f"{name}: dilation", dilation)
        paddings = pair(f"{name}: padding", padding)
        strides = pair(f"{name}: stride", stride)
        self.count = tuple(
            window_count(name, *numbers)
            for numbers in zip(image, self.kernel, strides, paddings, dilations, strict=True)
        )
        #: Over the indices of ``(N, C, h, w, H', W')``.
        self.indexes = tuple(
            axis_index(f"i{4 + k}", f"i{2 + k}", strides[k], paddings[k], dilations[k])
            for k in range(2)
        )


class Unfold(Module):
    """The layer of `unfold`."""

    def __init__(
        self, kernel_size: Pair, dilation: Pair = 1, padding: Pair = 0, stride: Pair = 1
    ) -> None:
        self.kernel_size = pair("Unfold: kernel_size", kernel_size, 1)
        self.dilation = pair("Unfold: dilation", dilation, 1)
        self.padding = pair("Unfold: padding", padding, 0)
        self.stride = pair("Unfold: stride", stride, 1)

    def execute(self, x: VarLike) -> Var:
        """Return the windows of x, each as a column."""
        return unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding},"
            f" stride={self.stride}"
        )


class Fold(Module):
    """The layer of `fold`."""

    def __init__(
        self,
        output_size: Pair,
        kernel_size: Pair,
        dilation: Pair = 1,
        padding: Pair = 0,
        stride: Pair = 1,
    ) -> None:
        self.output_size = pair("Fold: output_size", output_size, 0)
        self.kernel_size = pair("Fold: kernel_size", kernel_size, 1)
        self.dilation = pair("Fold: dilation", dilation, 1)
        self.padding = pair("Fold: padding", padding, 0)
        self.stride = pair("Fold: stride", stride, 1)

    def execute(self, x: VarLike) -> Var:
        """Return the images of which x has the windows, summed."""
        return fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size},"
            f" dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )
