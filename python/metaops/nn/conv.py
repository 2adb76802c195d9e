# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolution, derived from reindex, broadcast, multiply and sum."""

from __future__ import annotations

import math

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..flags import flags
from . import init, winograd
from .module import Module
from .window import Pair, axis_index, pair, window_count

__all__ = ["Conv2d", "conv2d"]


def conv2d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Var:
    """Return the cross-correlation of images with a kernel.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``.
    weight
        Kernel, ``(K, C / groups, h, w)``, of x's dtype.
    bias
        ``(K,)``, added to the result.
    stride, padding, dilation
        A number or one for each of height and width.
    groups
        Into how many parts the channels are cut, each convolved by itself.

    Returns
    -------
    Var
        ``(N, K, H', W')`` with
        ``H' = (H + 2 padding - dilation (h - 1) - 1) / stride + 1``, likewise W'.

    Raises
    ------
    ValueError
        If shapes, channels or groups do not agree, or the kernel is larger than
        the padded image.

    Notes
    -----
    With ``mo.flags.convolution = "winograd"``, kernels of 3 x 3 have Winograd's form
    where that should be faster. Its results differ in the last digits.
    """
    x, weight = as_var(x), as_var(weight)
    bias = None if bias is None else as_var(bias)
    _check_shapes(x, weight, bias, groups)
    N, _, H, W = x.shape
    K, _, h, w = weight.shape
    strides = pair("conv2d: stride", stride)
    paddings = pair("conv2d: padding", padding)
    dilations = pair("conv2d: dilation", dilation)
    Ho, Wo = (
        window_count("conv2d", *numbers)
        for numbers in zip((H, W), (h, w), strides, paddings, dilations, strict=True)
    )
    if flags.convolution == "winograd" and winograd.applies(
        x, weight, strides, paddings, dilations, groups
    ):
        y = winograd.convolve(x, weight, paddings)
    else:
        y = _direct(x, weight, (N, K, Ho, Wo), strides, paddings, dilations, groups)
    return y if bias is None else y + bias.reshape(1, K, 1, 1)


def _direct(
    x: Var,
    weight: Var,
    shape: tuple[int, int, int, int],
    strides: tuple[int, int],
    paddings: tuple[int, int],
    dilations: tuple[int, int],
    groups: int,
) -> Var:
    """Return the convolution, of this shape, as the sum of its products."""
    N, K, Ho, Wo = shape
    (sh, sw), (ph, pw), (dh, dw) = strides, paddings, dilations
    Cg, h, w = weight.shape[1:]
    if groups == 1:
        rows, columns = axis_index("i2", "i5", sh, ph, dh), axis_index("i3", "i6", sw, pw, dw)
        xx = x.reindex((*shape, Cg, h, w), ("i0", "i4", rows, columns))
        ww = weight.broadcast(xx.shape, (0, 2, 3))
        return (xx * ww).sum((4, 5, 6))
    rows, columns = axis_index("i3", "i6", sh, ph, dh), axis_index("i4", "i7", sw, pw, dw)
    space = (N, groups, K // groups, Ho, Wo, Cg, h, w)
    xx = x.reindex(space, ("i0", f"i1*{Cg}+i5", rows, columns))
    ww = weight.reindex(space, (f"i1*{K // groups}+i2", "i5", "i6", "i7"))
    return (xx * ww).sum((5, 6, 7)).reshape(shape)


def _check_shapes(x: Var, weight: Var, bias: Var | None, groups: int) -> None:
    """Raise ValueError unless the operands of a convolution agree."""
    if x.ndim != 4 or weight.ndim != 4:
        raise at_line(
            ValueError(
                f"conv2d: input has shape {x.shape} and weight {weight.shape},"
                " expected (N, C, H, W) and (K, C / groups, h, w)"
            )
        )
    C, (K, Cg) = x.shape[1], weight.shape[:2]
    if groups < 1 or Cg * groups != C or K % groups:
        raise at_line(
            ValueError(
                f"conv2d: {C} input channels, a weight of shape {weight.shape} and {groups} groups"
                " do not agree, expected C = groups * weight.shape[1] and K divisible by groups"
            )
        )
    if bias is not None and bias.shape != (K,):
        raise at_line(ValueError(f"conv2d: bias has shape {bias.shape}, expected {(K,)}"))


class Conv2d(Module):
    """The convolution layer, see `conv2d`.

    Parameters
    ----------
    in_channels, out_channels
        C and K.
    kernel_size
        h and w, a number if they are equal.
    stride, padding, dilation, groups
        As in `conv2d`.
    bias
        Whether there is one.

    Attributes
    ----------
    weight : Var
        ``(K, C / groups, h, w)``, float32, uniform within 1 / sqrt(inputs of an
        output) of 0.
    bias : Var or None
        ``(K,)``, likewise.

    Raises
    ------
    ValueError
        If the channels cannot be cut into so many groups.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise at_line(
                ValueError(
                    f"Conv2d: {in_channels} and {out_channels} channels are not divisible"
                    f" into {groups} groups"
                )
            )
        self.kernel_size = pair("Conv2d: kernel_size", kernel_size)
        self.stride = pair("Conv2d: stride", stride)
        self.padding = pair("Conv2d: padding", padding)
        self.dilation = pair("Conv2d: dilation", dilation)
        self.groups = groups
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        bound = 1.0 / math.sqrt(max(init.fans(shape)[0], 1))
        self.weight = init.uniform(shape, -bound, bound)
        self.bias = init.uniform((out_channels,), -bound, bound) if bias else None

    def execute(self, x: VarLike) -> Var:
        """Return the result for x of shape ``(N, in_channels, H, W)``.

        Raises
        ------
        ValueError
            If x has another shape, or the kernel is larger than the padded image.
        """
        x, channels = as_var(x), self.weight.shape[1] * self.groups
        if x.ndim != 4 or x.shape[1] != channels:
            raise at_line(
                ValueError(
                    f"Conv2d({self.extra_repr()}): input has shape {x.shape},"
                    f" expected (N, {channels}, H, W)"
                )
            )
        return conv2d(
            x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        K, Cg = self.weight.shape[:2]
        return (
            f"{Cg * self.groups}, {K}, kernel_size={self.kernel_size}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation}, groups={self.groups},"
            f" bias={self.bias is not None}"
        )
