# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of convolutions and of their transpositions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_count, as_var
from . import init
from .border import bordered, check_padding_mode
from .conv import borders, conv1d, conv2d, conv3d
from .conv_transpose import (
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    least_extents,
)
from .module import Module
from .window import Numbers, Windows, extents_of, layout, per_dimension

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


class _Convolution(Module):
    """What convolutions and their transpositions share: numbers and parameters."""

    #: Number of dimensions of space that an input has.
    _rank: ClassVar[int]

    def _set_up(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers,
        dilation: Numbers,
        groups: int,
        padding_mode: str,
    ) -> None:
        name = type(self).__name__
        self.in_channels = as_count(f"{name}: in_channels", in_channels, 0)
        self.out_channels = as_count(f"{name}: out_channels", out_channels, 0)
        self.groups = as_count(f"{name}: groups", groups)
        if in_channels % groups or out_channels % groups:
            raise at_line(
                ValueError(
                    f"{name}: {in_channels} and {out_channels} channels are not divisible"
                    f" into {groups} groups"
                )
            )
        check_padding_mode(name, padding_mode)
        self.kernel_size = per_dimension(f"{name}: kernel_size", kernel_size, self._rank, 1)
        self.stride = per_dimension(f"{name}: stride", stride, self._rank, 1)
        self.dilation = per_dimension(f"{name}: dilation", dilation, self._rank, 1)
        self.padding_mode = padding_mode

    def _make_parameters(self, shape: tuple[int, ...], bias: bool) -> None:
        """Make weight and bias, uniform within 1 / sqrt(inputs of an output) of 0."""
        bound = 1.0 / math.sqrt(max(init.fans(shape)[0], 1))
        self.weight = init.uniform(shape, -bound, bound)
        self.bias = init.uniform((self.out_channels,), -bound, bound) if bias else None

    def _checked(self, x: VarLike) -> Var:
        x, rank = as_var(x), self._rank
        if x.ndim not in (rank + 1, rank + 2) or x.shape[-rank - 1] != self.in_channels:
            raise at_line(
                ValueError(
                    f"{type(self).__name__}({self.extra_repr()}): input has shape {x.shape},"
                    f" expected {layout(str(self.in_channels), rank)}"
                )
            )
        return x


class _Conv(_Convolution):
    _convolve: ClassVar[Callable[..., Var]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers | str = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
    ) -> None:
        self._set_up(in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode)
        name = type(self).__name__
        self._borders = borders(name, padding, self.kernel_size, self.stride, self.dilation)
        self.padding = (
            padding if isinstance(padding, str) else tuple(low for low, _ in self._borders)
        )
        self._make_parameters((out_channels, in_channels // groups, *self.kernel_size), bias)

    def execute(self, x: VarLike) -> Var:
        """Return the convolution of x, a batch or one of its elements.

        Raises
        ------
        ValueError
            If x has another shape, or the kernel is larger than the padded x.
        """
        x, padding = self._checked(x), self.padding
        if self.padding_mode != "zeros":
            x = bordered(type(self).__name__, x, self._borders, self.padding_mode)
            padding = "valid"
        return type(self)._convolve(
            x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        mode = "" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode!r}"
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size},"
            f" stride={self.stride}, padding={self.padding!r}, dilation={self.dilation},"
            f" groups={self.groups}, bias={self.bias is not None}{mode}"
        )


class Conv1d(_Conv):
    """The convolution layer of sequences, see `conv1d`, as `Conv2d`."""

    _rank = 1
    _convolve = staticmethod(conv1d)


class Conv2d(_Conv):
    """The convolution layer of images, see `conv2d`.

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
    padding_mode
        What the padding consists of: "zeros"; "reflect", x mirrored at its outermost
        elements; "replicate", these elements; or "circular", those of the other end.

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
        If the channels cannot be cut into so many groups, or a number is out of range.
    """

    _rank = 2
    _convolve = staticmethod(conv2d)


class Conv3d(_Conv):
    """The convolution layer of volumes, see `conv3d`, as `Conv2d`."""

    _rank = 3
    _convolve = staticmethod(conv3d)


class _ConvTranspose(_Convolution):
    _convolve: ClassVar[Callable[..., Var]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Numbers = 1,
        padding_mode: str = "zeros",
    ) -> None:
        self._set_up(in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode)
        name = type(self).__name__
        if padding_mode != "zeros":
            raise at_line(ValueError(f"{name}: padding_mode is {padding_mode!r}, expected 'zeros'"))
        self.padding = per_dimension(f"{name}: padding", padding, self._rank, 0)
        self.output_padding = per_dimension(
            f"{name}: output_padding", output_padding, self._rank, 0
        )
        self._make_parameters((in_channels, out_channels // groups, *self.kernel_size), bias)

    def execute(self, x: VarLike, output_size: Sequence[int] | None = None) -> Var:
        """Return the transposed convolution of x, a batch or one of its elements.

        Parameters
        ----------
        x
            ``(N, in_channels, ...)`` or ``(in_channels, ...)``.
        output_size
            The extents of the result, or its whole shape. It takes the place of
            `output_padding`.

        Raises
        ------
        ValueError
            If x has another shape, or no padding of the result gives these extents.
        """
        x = self._checked(x)
        rests = self.output_padding if output_size is None else self._rests(x, output_size)
        return type(self)._convolve(
            x, self.weight, self.bias, self.stride, self.padding, rests, self.groups, self.dilation
        )

    def _rests(self, x: Var, output_size: Sequence[int]) -> tuple[int, ...]:
        """Return the output padding with which the result has these extents."""
        name, rank = type(self).__name__, self._rank
        extents = extents_of(name, output_size, rank, x.ndim)
        least = least_extents(
            Windows(self.kernel_size, self.stride, self.padding, self.dilation, x.shape[-rank:])
        )
        rests = tuple(extent - fewest for extent, fewest in zip(extents, least, strict=True))
        if any(not 0 <= rest < step for rest, step in zip(rests, self.stride, strict=True)):
            most = tuple(n + step - 1 for n, step in zip(least, self.stride, strict=True))
            raise at_line(
                ValueError(f"{name}: output_size is {extents}, expected between {least} and {most}")
            )
        return rests

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size},"
            f" stride={self.stride}, padding={self.padding},"
            f" output_padding={self.output_padding}, dilation={self.dilation},"
            f" groups={self.groups}, bias={self.bias is not None}"
        )


class ConvTranspose1d(_ConvTranspose):
    """The transposed convolution of sequences, see `conv_transpose1d`, as `ConvTranspose2d`."""

    _rank = 1
    _convolve = staticmethod(conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The transposed convolution of images, see `conv_transpose2d`.

    Parameters
    ----------
    in_channels, out_channels
        C and K.
    kernel_size
        h and w, a number if they are equal.
    stride, padding, output_padding, groups, dilation
        As in `conv_transpose2d`.
    bias
        Whether there is one.
    padding_mode
        "zeros".

    Attributes
    ----------
    weight : Var
        ``(C, K / groups, h, w)``, float32, uniform within 1 / sqrt(K / groups h w) of 0.
    bias : Var or None
        ``(K,)``, likewise.

    Raises
    ------
    ValueError
        If the channels cannot be cut into so many groups, or a number is out of range.
    """

    _rank = 2
    _convolve = staticmethod(conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """The transposed convolution of volumes, see `conv_transpose3d`, as `ConvTranspose2d`."""

    _rank = 3
    _convolve = staticmethod(conv_transpose3d)
