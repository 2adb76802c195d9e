# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Levels of pixels: the channels that have colours, and what a type of images holds."""

from __future__ import annotations

import math
from typing import Any

from .._errors import at_line
from .checks import as_factor
from .images import channels_of, check_image, is_picture, largest_value
from .pillow import enhanced, is_pillows

__all__ = ["enhanced_colours", "limited", "require_colours"]


def require_colours(what: str, image: Any) -> int:
    """Return the number of channels of an image, 1 or 3, or that of one of Pillow.

    Raises
    ------
    ValueError
        If there is another number of them.
    """
    check_image(what, image)
    channels = channels_of(image)
    if channels not in (1, 3) and not is_picture(image):
        raise at_line(
            ValueError(
                f"{what}: image has shape {image.shape}, of {channels} channels, expected 1 or 3"
            )
        )
    return channels


def enhanced_colours(what: str, kind: str, image: Any, parameter: str, factor: float) -> Any | None:
    """Return an image that Pillow has changed by a factor, or None if arithmetic is to.

    Raises
    ------
    TypeError, ValueError
        If it is no image of 1 or 3 channels, or the factor no finite number of 0 or more.
    """
    require_colours(what, image)
    as_factor(what, parameter, factor)
    return enhanced(what, kind, image, factor) if is_pillows(image) else None


def limited(values: Any, like: Any) -> Any:
    """Return floats cut to what images of a type hold, in that type."""
    most = largest_value(like.dtype)
    # The largest integer of 64 bits is no float64, which rounds it up.
    bound = math.nextafter(most, 0) if float(most) > most else float(most)
    return values.clip(0, bound).astype(str(like.dtype))
