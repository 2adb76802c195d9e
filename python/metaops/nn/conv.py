# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, derived from reindex, broadcast, multiply and sum.

There is one for images of any number of dimensions; that of their transposition is in
`conv_transpose`, and layers of both in `conv_layers`.
"""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._flags import flags
from .._precision import computed
from .._typing import VarLike, as_count, as_var, lengthened, shown
from . import winograd
from .window import SPACE, Numbers, Windows, as_images, layout, per_dimension, window_counts

__all__ = ["conv1d", "conv2d", "conv3d"]


def conv1d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Var:
    """Return the cross-correlation of sequences with a kernel, as `conv2d`.

    x is ``(N, C, L)`` or ``(C, L)``, the weight ``(K, C / groups, l)`` and the result
    ``(N, K, L')`` or ``(K, L')``.
    """
    return _convolution("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Var:
    """Return the cross-correlation of images with a kernel.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``.
    weight
        Kernel, ``(K, C / groups, h, w)``, of x's dtype.
    bias
        ``(K,)``, added to the result.
    stride, dilation
        A number or one for each of height and width.
    padding
        Likewise: of zeros at both ends. Or "valid", which is 0, or "same", with which
        the result is as large as x; of an odd number of zeros, the last end has one more.
    groups
        Into how many parts the channels are cut, each convolved by itself.

    Returns
    -------
    Var
        ``(N, K, H', W')``, or ``(K, H', W')``, with
        ``H' = (H + 2 padding - dilation (h - 1) - 1) / stride + 1``, likewise W'. Integers
        are multiplied and summed in 64 bits.

    Raises
    ------
    ValueError
        If shapes, channels or groups do not agree, or the kernel is larger than
        the padded image, or the padding is "same" and a stride is not 1.

    Notes
    -----
    With ``mo.flags.convolution = "winograd"``, kernels of 3 x 3 have Winograd's form
    where that should be faster. Its results differ in the last digits.
    """
    return _convolution("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


def conv3d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Var:
    """Return the cross-correlation of volumes with a kernel, as `conv2d`.

    x is ``(N, C, D, H, W)`` or ``(C, D, H, W)``, the weight
    ``(K, C / groups, d, h, w)`` and the result ``(N, K, D', H', W')`` or
    ``(K, D', H', W')``.
    """
    return _convolution("conv3d", 3, x, weight, bias, stride, padding, dilation, groups)


@computed("low")
def _convolution(
    name: str,
    rank: int,
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None,
    stride: Numbers,
    padding: Numbers | str,
    dilation: Numbers,
    groups: int,
) -> Var:
    """Return the convolution of images of `rank` dimensions."""
    x, weight = as_images(name, x, rank), as_var(weight)
    bias = None if bias is None else as_var(bias)
    groups = as_count(f"{name}: groups", groups)
    _check_shapes(name, rank, x, weight, bias, groups)
    batched = x if x.ndim == rank + 2 else x.reshape(1, *x.shape)
    windows = _windows(name, batched.shape[2:], weight.shape[2:], stride, padding, dilation)
    y = _winograd(batched, weight, windows, groups)
    if y is None:
        y = _direct(batched, weight, windows, groups)
    if bias is not None:
        y = y + bias.reshape(1, -1, *(1,) * rank)
    return y if x.ndim == rank + 2 else y.reshape(y.shape[1:])


def _winograd(x: Var, weight: Var, windows: Windows, groups: int) -> Var | None:
    """Return the convolution in Winograd's form, if that is asked for and applies."""
    if flags.convolution != "winograd" or len(windows.counts) != 2:
        return None
    (sh, sw), (ph, pw), (dh, dw) = windows.stride, windows.padding, windows.dilation
    if not winograd.applies(x, weight, (sh, sw), (ph, pw), (dh, dw), groups):
        return None
    return winograd.convolve(x, weight, (ph, pw))


def _direct(x: Var, weight: Var, windows: Windows, groups: int) -> Var:
    """Return the convolution as the sum of its products.

    Integers are multiplied in the 64 bits in which they are summed.
    """
    x, weight = lengthened(x, weight)
    N, (K, Cg), rank = x.shape[0], weight.shape[:2], len(windows.counts)
    if groups == 1:
        # Images, channels of the result, windows; channels, elements of a window.
        space = (N, K, *windows.counts, Cg, *windows.kernel)
        channel = 2 + rank
        xx = x.reindex(space, ("i0", f"i{channel}", *windows.indices(2, channel + 1)))
        ww = weight.broadcast(space, tuple(k for k in range(channel) if k != 1))
        return (xx * ww).sum(tuple(range(channel, len(space))))
    space = (N, groups, K // groups, *windows.counts, Cg, *windows.kernel)
    channel = 3 + rank
    xx = x.reindex(space, ("i0", f"i1*{Cg}+i{channel}", *windows.indices(3, channel + 1)))
    elements = tuple(f"i{k}" for k in range(channel, len(space)))
    ww = weight.reindex(space, (f"i1*{K // groups}+i2", *elements))
    return (xx * ww).sum(tuple(range(channel, len(space)))).reshape(N, K, *windows.counts)


def _windows(
    name: str,
    extents: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: Numbers,
    padding: Numbers | str,
    dilation: Numbers,
) -> Windows:
    """Return the windows of a convolution."""
    rank = len(extents)
    strides = per_dimension(f"{name}: stride", stride, rank)
    dilations = per_dimension(f"{name}: dilation", dilation, rank)
    widths = borders(name, padding, kernel, strides, dilations)
    lows = tuple(low for low, _ in widths)
    # The borders of "same" are not always equal.
    counts = (
        extents
        if padding == "same"
        else window_counts(name, extents, kernel, strides, lows, dilations)
    )
    return Windows(kernel, strides, lows, dilations, counts)


def borders(
    name: str,
    padding: Numbers | str,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> tuple[tuple[int, int], ...]:
    """Return the border before and after the elements of each dimension.

    Raises
    ------
    ValueError
        If the padding is none, or it is "same" and a stride is not 1.
    """
    if not isinstance(padding, str):
        return tuple((n, n) for n in per_dimension(f"{name}: padding", padding, len(kernel), 0))
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same":
        raise at_line(
            ValueError(f"{name}: padding is {shown(padding)}, expected 'same', 'valid' or integers")
        )
    if any(step != 1 for step in strides):
        raise at_line(
            ValueError(f"{name}: padding is 'same' and stride {strides}, expected a stride of 1")
        )
    totals = [step * (size - 1) for size, step in zip(kernel, dilations, strict=True)]
    if any(total < 0 for total in totals) or any(step < 1 for step in dilations):
        raise at_line(
            ValueError(
                f"{name}: kernel {kernel} and dilation {dilations}, expected positive numbers"
            )
        )
    return tuple((total // 2, total - total // 2) for total in totals)


def _check_shapes(name: str, rank: int, x: Var, weight: Var, bias: Var | None, groups: int) -> None:
    """Raise ValueError unless the operands of a convolution agree."""
    if weight.ndim != rank + 2:
        kernel = ", ".join(SPACE[rank]).lower()
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape} and weight {weight.shape},"
                f" expected {layout('C', rank)} and (K, C / groups, {kernel})"
            )
        )
    C, (K, Cg) = x.shape[-rank - 1], weight.shape[:2]
    if Cg * groups != C or K % groups:
        raise at_line(
            ValueError(
                f"{name}: {C} input channels, a weight of shape {weight.shape} and {groups} groups"
                " do not agree, expected C = groups * weight.shape[1] and K divisible by groups"
            )
        )
    if bias is not None and bias.shape != (K,):
        raise at_line(ValueError(f"{name}: bias has shape {bias.shape}, expected {(K,)}"))
