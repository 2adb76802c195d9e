# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What windows that slide over an image have in common.

Images have one to three dimensions of space, which come last. A parameter of a window is
an integer for all of them, or one for each.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown

Pair: TypeAlias = int | tuple[int, int]
#: A number for all dimensions of space, or one for each.
Numbers: TypeAlias = int | Sequence[int]

#: Names of the dimensions of space in messages, by how many there are.
SPACE = {1: ("L",), 2: ("H", "W"), 3: ("D", "H", "W")}
_NAMES = ("i0", "i1")
_COUNTS = {1: "an integer", 2: "an integer or two", 3: "an integer or three"}


def pair(name: str, value: Any, least: int | None = None) -> tuple[int, int]:
    """Return the numbers for height and width, see `per_dimension`."""
    height, width = per_dimension(name, value, 2, least)
    return height, width


def per_dimension(name: str, value: Any, rank: int, least: int | None = None) -> tuple[int, ...]:
    """Return one number for each dimension of space.

    Raises
    ------
    ValueError
        If it is neither an integer nor `rank` of them, or one is below the least that may
        be. The message begins with `name`.
    """
    result = _per_dimension(name, value, rank)
    if least is not None and min(result) < least:
        raise at_line(ValueError(f"{name} is {shown(value)}, expected {least} or more"))
    return result


def _per_dimension(name: str, value: Any, rank: int) -> tuple[int, ...]:
    if type(value) is int:
        return (value,) * rank
    numbers = value if isinstance(value, tuple | list) else (value,) * rank
    try:
        # int: a bool is written as a word.
        result = tuple(map(int, map(operator.index, numbers)))
    except TypeError:
        result = ()
    if len(result) != rank:
        raise at_line(ValueError(f"{name} is {shown(value)}, expected {_COUNTS[rank]}"))
    return result


def extents_of(name: str, output_size: Any, rank: int, ndim: int) -> tuple[int, ...]:
    """Return the extents that a result shall have: all that is given, or the last of a shape.

    `ndim` is the number of dimensions of the shape.
    """
    if isinstance(output_size, tuple | list) and len(output_size) == ndim:
        output_size = output_size[ndim - rank :]
    return per_dimension(f"{name}: output_size", output_size, rank)


def layout(channels: str, rank: int) -> str:
    """Return the shapes that an input may have, as messages show them."""
    single = ", ".join((channels, *SPACE[rank]))
    return f"(N, {single}) or ({single})"


def as_images(name: str, x: VarLike, rank: int) -> Var:
    """Return x as a Var of channels and of images, with or without a batch.

    Raises
    ------
    ValueError
        If it has another number of dimensions. The message begins with `name`.
    """
    x = as_var(x)
    if x.ndim not in (rank + 1, rank + 2):
        raise at_line(
            ValueError(f"{name}: input has shape {x.shape}, expected {layout('C', rank)}")
        )
    return x


def window_count(
    name: str,
    extent: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int = 1,
    *,
    ceil_mode: bool = False,
) -> int:
    """Return how many windows fit into a padded extent.

    With `ceil_mode`, the last one may reach over the end, if it begins before it.

    Raises
    ------
    ValueError
        If none does, or a number is out of range. The message begins with `name`.
    """
    if kernel < 1 or stride < 1 or dilation < 1 or padding < 0:
        raise at_line(
            ValueError(
                f"{name}: kernel {kernel}, stride {stride}, dilation {dilation} and padding"
                f" {padding}, expected the first three to be positive and the last not to be"
                " negative"
            )
        )
    covered = dilation * (kernel - 1) + 1
    room = extent + 2 * padding - covered
    count = room // stride + 1
    if ceil_mode and room % stride and count * stride < extent + padding:
        count += 1
    if count < 1 or (room < 0 and not ceil_mode):
        raise at_line(
            ValueError(
                f"{name}: a kernel that covers {covered} does not fit into an extent of {extent}"
                f" with padding {padding}"
            )
        )
    return count


def axis_index(window: str, offset: str, stride: int, padding: int, dilation: int = 1) -> str:
    """Return the index expression of a window's element in the image."""
    index = window if stride == 1 else f"{window}*{stride}"
    index += f"+{offset}" if dilation == 1 else f"+{offset}*{dilation}"
    return index if padding == 0 else f"{index}-{padding}"


@lru_cache(maxsize=1024)
def window_counts(
    name: str,
    extents: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """Return how many windows fit into each dimension, see `window_count`."""
    return tuple(
        window_count(name, *numbers, ceil_mode=ceil_mode)
        for numbers in zip(extents, kernel, stride, padding, dilation, strict=True)
    )


@lru_cache(maxsize=1024)
def _indices(
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    window: int,
    offset: int,
) -> tuple[str, ...]:
    """Return the index expressions of `Windows.indices`."""
    return tuple(
        axis_index(f"i{window + k}", f"i{offset + k}", *numbers)
        for k, numbers in enumerate(zip(stride, padding, dilation, strict=True))
    )


class Windows(NamedTuple):
    """Windows over the last dimensions of images: one number for each of these.

    Attributes
    ----------
    kernel, stride, padding, dilation
        Of a window. The padding is that before the first element; what is read after the
        last one needs no number.
    counts
        How many windows there are.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    counts: tuple[int, ...]

    def indices(self, window: int, offset: int) -> tuple[str, ...]:
        """Return where the elements of windows are in an image, by dimension.

        `window` and `offset` are the first dimensions of the iteration that count
        windows, and elements within one.
        """
        return _indices(self.stride, self.padding, self.dilation, window, offset)

    def of(self, x: Var, border: float) -> Var:
        """Return the windows of x: ``(..., *counts, *kernel)``, with `border` outside of x."""
        rank = len(self.counts)
        before = x.ndim - rank
        names = _NAMES[:before]
        shape = (*x.shape[:before], *self.counts, *self.kernel)
        return x.reindex(shape, names + self.indices(before, before + rank), border)


def check_half(
    name: str, paddings: Sequence[int], kernel: Sequence[int], dilations: Sequence[int]
) -> None:
    """Raise ValueError if a padding is more than half of what a kernel covers."""
    if any(2 * p > d * (k - 1) + 1 for p, k, d in zip(paddings, kernel, dilations, strict=True)):
        raise at_line(
            ValueError(f"{name}: padding {paddings} is more than half of the kernel {kernel}")
        )


def pooling_windows(
    name: str,
    extents: tuple[int, ...],
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
) -> Windows:
    """Return the windows of a pooling, whose stride is by default the kernel's size.

    Raises
    ------
    ValueError
        If none fits, one has no element of the image, or a number is out of range. The
        message begins with `name`.
    """
    rank = len(extents)
    kernel = per_dimension(f"{name}: kernel_size", kernel_size, rank)
    strides = kernel if stride is None else per_dimension(f"{name}: stride", stride, rank)
    paddings = per_dimension(f"{name}: padding", padding, rank)
    dilations = per_dimension(f"{name}: dilation", dilation, rank)
    check_half(name, paddings, kernel, dilations)
    counts = window_counts(name, extents, kernel, strides, paddings, dilations, ceil_mode)
    windows = Windows(kernel, strides, paddings, dilations, counts)
    _check_filled(name, extents, windows)
    return windows


@lru_cache(maxsize=1024)
def _check_filled(name: str, extents: tuple[int, ...], windows: Windows) -> None:
    """Raise ValueError if a window has elements outside of the image alone."""
    for extent, kernel, stride, padding, dilation, count in zip(extents, *windows, strict=True):
        for start in range(-padding, count * stride - padding, stride):
            first = start if start >= 0 else start % dilation
            if first >= min(extent, start + dilation * kernel):
                raise at_line(
                    ValueError(
                        f"{name}: a window of {kernel} elements from {start} on, with dilation"
                        f" {dilation}, has none of an extent of {extent}"
                    )
                )
