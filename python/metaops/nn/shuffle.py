# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Channels that become places, places that become channels, and channels in another order."""

from __future__ import annotations

import math
import operator
from typing import Any

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from .module import Module

__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]


def pixel_shuffle(x: VarLike, upscale_factor: int) -> Var:
    """Return images r times as high and wide, of which r * r channels are the places.

    The sub-pixel convolution's last step (Shi et al., 2016).

    Parameters
    ----------
    x
        ``(..., C r r, H, W)``, of any type.
    upscale_factor
        r.

    Returns
    -------
    Var
        ``(..., C, H r, W r)``: element ``(c, i, j)`` is that of channel
        ``c r r + (i % r) r + j % r`` at ``(i / r, j / r)``.

    Raises
    ------
    ValueError
        If x has fewer than 3 dimensions or its channels cannot be cut so.
    """
    x, r = as_var(x), _factor("pixel_shuffle: upscale_factor", upscale_factor)
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise at_line(
            ValueError(f"pixel_shuffle: x has shape {x.shape}, expected (..., C * {r * r}, H, W)")
        )
    *batch, C, H, W = x.shape
    C //= r * r
    parts = x.reshape((math.prod(batch), C, r, r, H, W))
    return parts.transpose((0, 1, 4, 2, 5, 3)).reshape((*batch, C, H * r, W * r))


def pixel_unshuffle(x: VarLike, downscale_factor: int) -> Var:
    """Return images whose blocks of r x r places are channels: undoes `pixel_shuffle`.

    Parameters
    ----------
    x
        ``(..., C, H r, W r)``, of any type.
    downscale_factor
        r.

    Returns
    -------
    Var
        ``(..., C r r, H, W)``.

    Raises
    ------
    ValueError
        If x has fewer than 3 dimensions or its images cannot be cut so.
    """
    x, r = as_var(x), _factor("pixel_unshuffle: downscale_factor", downscale_factor)
    if x.ndim < 3 or x.shape[-2] % r or x.shape[-1] % r:
        raise at_line(
            ValueError(f"pixel_unshuffle: x has shape {x.shape}, expected (..., H * {r}, W * {r})")
        )
    *batch, C, H, W = x.shape
    H, W = H // r, W // r
    parts = x.reshape((math.prod(batch), C, H, r, W, r))
    return parts.transpose((0, 1, 3, 5, 2, 4)).reshape((*batch, C * r * r, H, W))


def channel_shuffle(x: VarLike, groups: int) -> Var:
    """Return x with its channels dealt in turn from so many groups (Zhang et al., 2018).

    Parameters
    ----------
    x
        ``(N, C, ...)``, of any type.
    groups
        How many; C is a multiple.

    Raises
    ------
    ValueError
        If x has fewer than 2 dimensions or its channels cannot be cut so.
    """
    x, groups = as_var(x), _factor("channel_shuffle: groups", groups)
    if x.ndim < 2 or x.shape[1] % groups:
        raise at_line(
            ValueError(f"channel_shuffle: x has shape {x.shape}, expected (N, C * {groups}, ...)")
        )
    N, C, *rest = x.shape
    return x.reshape((N, groups, C // groups, *rest)).swapaxes(1, 2).reshape(x.shape)


def _factor(name: str, value: Any) -> int:
    """Return a positive integer."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise at_line(ValueError(f"{name} is {shown(value)}, expected a positive integer"))
    return int(number)


class PixelShuffle(Module):
    """The layer of `pixel_shuffle`."""

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = _factor("PixelShuffle: upscale_factor", upscale_factor)

    def execute(self, x: VarLike) -> Var:
        """Return larger images of fewer channels."""
        return pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The layer of `pixel_unshuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = _factor("PixelUnshuffle: downscale_factor", downscale_factor)

    def execute(self, x: VarLike) -> Var:
        """Return smaller images of more channels."""
        return pixel_unshuffle(x, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """The layer of `channel_shuffle`."""

    def __init__(self, groups: int) -> None:
        self.groups = _factor("ChannelShuffle: groups", groups)

    def execute(self, x: VarLike) -> Var:
        """Return x with its channels in another order."""
        return channel_shuffle(x, self.groups)

    def extra_repr(self) -> str:
        """Return the number of groups."""
        return f"groups={self.groups}"
