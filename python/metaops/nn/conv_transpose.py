# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions: what the gradient by the image of a convolution computes.

Each element of the input is multiplied with the whole kernel, and the products are added
up where a convolution of these numbers would have read. That is recorded as it is told,
so it is a contraction like the convolution itself; as a sum over the elements that an
element of the result meets, it would have to leave out those that the stride skips.
"""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._precision import computed
from .._typing import VarLike, as_count, as_var, lengthened
from .window import SPACE, Numbers, Windows, as_images, layout, per_dimension

__all__ = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def conv_transpose1d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Var:
    """Return the transposed convolution of sequences, as `conv_transpose2d`.

    x is ``(N, C, L)`` or ``(C, L)``, the weight ``(C, K / groups, l)`` and the result
    ``(N, K, L')`` or ``(K, L')``.
    """
    return _transposed(
        "conv_transpose1d", 1, x, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Var:
    """Return the transposed convolution of images, the gradient of `conv2d` by its image.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``.
    weight
        Kernel, ``(C, K / groups, h, w)``, of x's dtype.
    bias
        ``(K,)``, added to the result.
    stride, padding, dilation
        Of the convolution: a number or one for each of height and width.
    output_padding
        Likewise: rows and columns that are added at the end of the result, fewer than the
        stride or the dilation. A convolution with a stride gives the same extent for
        several, of which this chooses one.
    groups
        Into how many parts the channels are cut, each convolved by itself.

    Returns
    -------
    Var
        ``(N, K, H', W')``, or ``(K, H', W')``, with ``H' = (H - 1) stride - 2 padding +
        dilation (h - 1) + output_padding + 1``, likewise W'. Integers are multiplied and
        summed in 64 bits.

    Raises
    ------
    ValueError
        If shapes, channels or groups do not agree, a number is out of range, or an extent
        of the result would not be positive.
    """
    return _transposed(
        "conv_transpose2d", 2, x, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Var:
    """Return the transposed convolution of volumes, as `conv_transpose2d`.

    x is ``(N, C, D, H, W)`` or ``(C, D, H, W)``, the weight
    ``(C, K / groups, d, h, w)`` and the result ``(N, K, D', H', W')`` or
    ``(K, D', H', W')``.
    """
    return _transposed(
        "conv_transpose3d", 3, x, weight, bias, stride, padding, output_padding, groups, dilation
    )


@computed("low")
def _transposed(
    name: str,
    rank: int,
    x: VarLike,
    weight: VarLike,
    bias: VarLike | None,
    stride: Numbers,
    padding: Numbers,
    output_padding: Numbers,
    groups: int,
    dilation: Numbers,
) -> Var:
    """Return the transposed convolution of images of `rank` dimensions."""
    x, weight = as_images(name, x, rank), as_var(weight)
    bias = None if bias is None else as_var(bias)
    groups = as_count(f"{name}: groups", groups)
    _check_shapes(name, rank, x, weight, bias, groups)
    batched = x if x.ndim == rank + 2 else x.reshape(1, *x.shape)
    windows = Windows(
        kernel=weight.shape[2:],
        stride=per_dimension(f"{name}: stride", stride, rank),
        padding=per_dimension(f"{name}: padding", padding, rank),
        dilation=per_dimension(f"{name}: dilation", dilation, rank),
        counts=batched.shape[2:],
    )
    rests = per_dimension(f"{name}: output_padding", output_padding, rank)
    y = _scattered(batched, weight, windows, _extents(name, windows, rests), groups)
    if bias is not None:
        y = y + bias.reshape(1, -1, *(1,) * rank)
    return y if x.ndim == rank + 2 else y.reshape(y.shape[1:])


def _scattered(x: Var, weight: Var, windows: Windows, extents: tuple[int, ...], groups: int) -> Var:
    """Return the products of x and the kernel, added up where windows would read them.

    Those of integers have 64 bits, as `conv` has them.
    """
    x, weight = lengthened(x, weight)
    (N, C), Kg, rank = x.shape[:2], weight.shape[1], len(extents)
    shape = (N, Kg * groups, *extents)
    if groups == 1:
        # Images, channels of x, windows; channels of the result, elements of a window.
        space = (*x.shape, Kg, *windows.kernel)
        channel = 2 + rank
        products = x.broadcast(space, tuple(range(channel, len(space)))) * weight.broadcast(
            space, (0, *range(2, channel))
        )
        return products.reindex_reduce(
            "add", shape, ("i0", f"i{channel}", *windows.indices(2, channel + 1))
        )
    Cg = C // groups
    space = (N, groups, Cg, *windows.counts, Kg, *windows.kernel)
    channel = 3 + rank
    places = tuple(f"i{k}" for k in range(3, channel))
    elements = tuple(f"i{k}" for k in range(channel, len(space)))
    products = x.reindex(space, ("i0", f"i1*{Cg}+i2", *places)) * weight.reindex(
        space, (f"i1*{Cg}+i2", *elements)
    )
    return products.reindex_reduce(
        "add", shape, ("i0", f"i1*{Kg}+i{channel}", *windows.indices(3, channel + 1))
    )


def least_extents(windows: Windows) -> tuple[int, ...]:
    """Return the extents of the smallest images that have these windows."""
    return tuple(
        (count - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
        for kernel, stride, padding, dilation, count in zip(
            windows.kernel,
            windows.stride,
            windows.padding,
            windows.dilation,
            windows.counts,
            strict=True,
        )
    )


def _extents(name: str, windows: Windows, rests: tuple[int, ...]) -> tuple[int, ...]:
    """Return the extents of the result."""
    if min(*windows.kernel, *windows.stride, *windows.dilation, 1) < 1 or min(windows.padding) < 0:
        raise at_line(
            ValueError(
                f"{name}: kernel {windows.kernel}, stride {windows.stride}, dilation"
                f" {windows.dilation} and padding {windows.padding}, expected the first three to"
                " be positive and the last not to be negative"
            )
        )
    for rest, stride, dilation in zip(rests, windows.stride, windows.dilation, strict=True):
        if not 0 <= rest < max(stride, dilation):
            raise at_line(
                ValueError(
                    f"{name}: output_padding is {rests}, expected fewer than the stride"
                    f" {windows.stride} or the dilation {windows.dilation}, and not negative ones"
                )
            )
    least = least_extents(windows)
    extents = tuple(extent + rest for extent, rest in zip(least, rests, strict=True))
    if min(extents) < 1:
        raise at_line(
            ValueError(
                f"{name}: an input of extents {windows.counts} and a kernel of {windows.kernel}"
                f" make extents {extents}, expected positive ones"
            )
        )
    return extents


def _check_shapes(name: str, rank: int, x: Var, weight: Var, bias: Var | None, groups: int) -> None:
    """Raise ValueError unless the operands of a transposed convolution agree."""
    if weight.ndim != rank + 2:
        kernel = ", ".join(SPACE[rank]).lower()
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape} and weight {weight.shape},"
                f" expected {layout('C', rank)} and (C, K / groups, {kernel})"
            )
        )
    C = x.shape[-rank - 1]
    if C % groups or weight.shape[0] != C:
        raise at_line(
            ValueError(
                f"{name}: {C} input channels, a weight of shape {weight.shape} and {groups} groups"
                " do not agree, expected C = weight.shape[0] and C divisible by groups"
            )
        )
    K = weight.shape[1] * groups
    if bias is not None and bias.shape != (K,):
        raise at_line(ValueError(f"{name}: bias has shape {bias.shape}, expected {(K,)}"))
