# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .._core import Var
from .._domains import POSITIVE_FINITE
from .._typing import VarLike
from .adaptive_pool import (
    Extents,
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    as_extents,
)
from .max_pool import max_pool1d, max_pool2d, max_pool3d
from .max_unpool import max_unpool1d, max_unpool2d, max_unpool3d
from .module import Module
from .pool import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    check_divisor,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
)
from .window import Numbers, check_half, per_dimension

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _Pool(Module):
    """What the layers share: the number of dimensions and the function."""

    _rank: ClassVar[int]
    _pool: ClassVar[Callable[..., Any]]

    def _set_up(self, kernel_size: Numbers, stride: Numbers | None) -> None:
        name = type(self).__name__
        self.kernel_size = per_dimension(f"{name}: kernel_size", kernel_size, self._rank, 1)
        self.stride = (
            self.kernel_size
            if stride is None
            else per_dimension(f"{name}: stride", stride, self._rank, 1)
        )

    def _set_padding(self, padding: Numbers, dilations: tuple[int, ...] | None = None) -> None:
        name = type(self).__name__
        self.padding = per_dimension(f"{name}: padding", padding, self._rank, 0)
        check_half(name, self.padding, self.kernel_size, dilations or (1,) * self._rank)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return ", ".join(f"{name}={vars(self)[name]}" for name in names if name in vars(self))


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self._set_up(kernel_size, stride)
        self.dilation = per_dimension(f"{type(self).__name__}: dilation", dilation, self._rank, 1)
        self._set_padding(padding, self.dilation)
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def execute(self, x: VarLike) -> Var | tuple[Var, Var]:
        """Return the largest element of each window, and its place if asked for."""
        result: Var | tuple[Var, Var] = type(self)._pool(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )
        return result


class MaxPool1d(_MaxPool):
    """The layer of `max_pool1d`."""

    _rank = 1
    _pool = staticmethod(max_pool1d)


class MaxPool2d(_MaxPool):
    """The layer of `max_pool2d`."""

    _rank = 2
    _pool = staticmethod(max_pool2d)


class MaxPool3d(_MaxPool):
    """The layer of `max_pool3d`."""

    _rank = 3
    _pool = staticmethod(max_pool3d)


class _MaxUnpool(_Pool):
    def __init__(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0
    ) -> None:
        self._set_up(kernel_size, stride)
        self._set_padding(padding)

    def execute(
        self, x: VarLike, indices: VarLike, output_size: Sequence[int] | None = None
    ) -> Var:
        """Return zeros with the elements of x at their indices."""
        result: Var = type(self)._pool(
            x, indices, self.kernel_size, self.stride, self.padding, output_size
        )
        return result


class MaxUnpool1d(_MaxUnpool):
    """The layer of `max_unpool1d`."""

    _rank = 1
    _pool = staticmethod(max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """The layer of `max_unpool2d`."""

    _rank = 2
    _pool = staticmethod(max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """The layer of `max_unpool3d`."""

    _rank = 3
    _pool = staticmethod(max_unpool3d)


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self._set_up(kernel_size, stride)
        self._set_padding(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        if divisor_override is not None:
            check_divisor(type(self).__name__, divisor_override)
        self.divisor_override = divisor_override

    def execute(self, x: VarLike) -> Var:
        """Return the mean of each window."""
        result: Var = type(self)._pool(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )
        return result


class AvgPool1d(_Pool):
    """The layer of `avg_pool1d`."""

    _rank = 1

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self._set_up(kernel_size, stride)
        self._set_padding(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def execute(self, x: VarLike) -> Var:
        """Return the mean of each window."""
        return avg_pool1d(
            x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool2d(_AvgPool):
    """The layer of `avg_pool2d`."""

    _rank = 2
    _pool = staticmethod(avg_pool2d)


class AvgPool3d(_AvgPool):
    """The layer of `avg_pool3d`."""

    _rank = 3
    _pool = staticmethod(avg_pool3d)


class _LPPool(_Pool):
    def __init__(
        self,
        norm_type: float,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        ceil_mode: bool = False,
    ) -> None:
        POSITIVE_FINITE.check(type(self).__name__, norm_type=norm_type)
        self.norm_type = norm_type
        self._set_up(kernel_size, stride)
        self.ceil_mode = ceil_mode

    def execute(self, x: VarLike) -> Var:
        """Return the root of the sum of powers of each window."""
        result: Var = type(self)._pool(
            x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode
        )
        return result

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"norm_type={self.norm_type}, {super().extra_repr()}"


class LPPool1d(_LPPool):
    """The layer of `lp_pool1d`."""

    _rank = 1
    _pool = staticmethod(lp_pool1d)


class LPPool2d(_LPPool):
    """The layer of `lp_pool2d`."""

    _rank = 2
    _pool = staticmethod(lp_pool2d)


class LPPool3d(_LPPool):
    """The layer of `lp_pool3d`."""

    _rank = 3
    _pool = staticmethod(lp_pool3d)


class _AdaptiveAvgPool(_Pool):
    def __init__(self, output_size: Extents) -> None:
        self.output_size = as_extents(type(self).__name__, output_size, self._rank)

    def execute(self, x: VarLike) -> Var:
        """Return the mean of each window."""
        result: Var = type(self)._pool(x, self.output_size)
        return result

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The layer of `adaptive_avg_pool1d`."""

    _rank = 1
    _pool = staticmethod(adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The layer of `adaptive_avg_pool2d`."""

    _rank = 2
    _pool = staticmethod(adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The layer of `adaptive_avg_pool3d`."""

    _rank = 3
    _pool = staticmethod(adaptive_avg_pool3d)


class _AdaptiveMaxPool(_Pool):
    def __init__(self, output_size: Extents, return_indices: bool = False) -> None:
        self.output_size = as_extents(type(self).__name__, output_size, self._rank)
        self.return_indices = return_indices

    def execute(self, x: VarLike) -> Var | tuple[Var, Var]:
        """Return the largest element of each window, and its place if asked for."""
        result: Var | tuple[Var, Var] = type(self)._pool(x, self.output_size, self.return_indices)
        return result

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The layer of `adaptive_max_pool1d`."""

    _rank = 1
    _pool = staticmethod(adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The layer of `adaptive_max_pool2d`."""

    _rank = 2
    _pool = staticmethod(adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The layer of `adaptive_max_pool3d`."""

    _rank = 3
    _pool = staticmethod(adaptive_max_pool3d)
