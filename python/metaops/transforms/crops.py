# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of images, and images with a border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import at_line
from .._typing import as_count, as_integer, as_integers, shown, whole_number
from .checks import MOST_PIXELS, Fill, as_fills, as_size, check_held
from .flips import hflip, vflip
from .images import (
    Image,
    as_planes,
    check_image,
    is_picture,
    like_image,
    limits_of,
    namespace_of,
    size_of,
)
from .pillow import by_pillow, call_pillow, import_pillow, like_picture

__all__ = [
    "as_borders",
    "center_crop",
    "check_fits",
    "check_border_mode",
    "crop",
    "five_crop",
    "pad",
    "place_of_centre",
    "ten_crop",
]

#: The kinds of borders, as in NumPy.
_MODES = ("constant", "edge", "reflect", "symmetric")


def crop(image: Image, top: int, left: int, height: int, width: int) -> Any:
    """Return a part of an image; what is outside of the image is 0.

    Parameters
    ----------
    image
        Any kind.
    top, left
        The row and the column of the part's first pixel.
    height, width
        The part's size.

    Raises
    ------
    TypeError, ValueError
        If a number is no integer, or the size is not positive.
    """
    check_image("crop", image)
    top, left = as_integer("crop", "top", top), as_integer("crop", "left", left)
    height, width = as_count("crop: height", height), as_count("crop: width", width)
    numbers = {"top": top, "left": left, "height": height, "width": width}
    check_held("crop", (-MOST_PIXELS, MOST_PIXELS), **numbers)
    if is_picture(image):
        box = (left, top, left + width, top + height)
        return call_pillow("crop", image, lambda picture: picture.crop(box))
    rows, columns = size_of(image)
    before = (max(0, -left), max(0, -top))
    behind = (max(0, left + width - columns), max(0, top + height - rows))
    if any(before + behind):
        image = pad(image, (*before, *behind))
    top, left = max(top, 0), max(left, 0)
    planes = as_planes("crop", image)
    return like_image(planes[..., top : top + height, left : left + width], image)


def place_of_centre(size: tuple[int, int], part: tuple[int, int]) -> tuple[int, int]:
    """Return the row and the column at which a part in the middle begins."""
    # Rounded as by torchvision; a part that is larger has a border, which begins before.
    places = (
        round((whole - own) / 2) if own <= whole else -((own - whole) // 2)
        for whole, own in zip(size, part, strict=True)
    )
    top, left = places
    return top, left


def center_crop(image: Image, size: int | Sequence[int]) -> Any:
    """Return the middle of an image; where the image is smaller, it has a border of 0.

    Parameters
    ----------
    image
        Any kind.
    size
        A height and a width, or a number for both.
    """
    check_image("center_crop", image)
    part = as_size("center_crop", size)
    top, left = place_of_centre(size_of(image), part)
    return crop(image, top, left, *part)


def five_crop(image: Image, size: int | Sequence[int]) -> tuple[Any, ...]:
    """Return the corners of an image, and its middle.

    Parameters
    ----------
    image
        Any kind.
    size
        Of each part.

    Returns
    -------
    tuple
        Top left, top right, bottom left, bottom right, centre.

    Raises
    ------
    ValueError
        If the image is smaller.
    """
    check_image("five_crop", image)
    height, width = as_size("five_crop", size)
    rows, columns = size_of(image)
    check_fits("five_crop", (rows, columns), (height, width))
    corners = [(y, x) for y in (0, rows - height) for x in (0, columns - width)]
    parts = (crop(image, top, left, height, width) for top, left in corners)
    return (*parts, center_crop(image, (height, width)))


def ten_crop(
    image: Image, size: int | Sequence[int], vertical_flip: bool = False
) -> tuple[Any, ...]:
    """Return the corners of an image and its middle, and those of the image flipped.

    Parameters
    ----------
    image
        Any kind.
    size
        Of each part.
    vertical_flip
        Whether the image is flipped upside down, else from left to right.

    Raises
    ------
    ValueError
        If the image is smaller.
    """
    check_image("ten_crop", image)
    flipped = vflip(image) if vertical_flip else hflip(image)
    return five_crop(image, size) + five_crop(flipped, size)


def check_fits(what: str, size: tuple[int, int], part: tuple[int, int]) -> None:
    """Raise ValueError if a part is larger than the image."""
    if part[0] > size[0] or part[1] > size[1]:
        raise at_line(ValueError(f"{what}: size is {part}, expected at most the image's, {size}"))


def as_borders(what: str, padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Return the widths of a border: left, top, right, bottom.

    Raises
    ------
    TypeError, ValueError
        If they are not 1, 2 or 4 integers of 0 or more.
    """
    widths = [whole_number(what, "padding", n) for n in as_integers(what, "padding", padding)]
    if len(widths) not in (1, 2, 4) or max(widths) > MOST_PIXELS:
        raise at_line(
            ValueError(
                f"{what}: padding is {shown(padding)}, expected a number, (left and right, top and"
                " bottom) or (left, top, right, bottom)"
            )
        )
    left, top, right, bottom = widths * (4 // len(widths))
    return left, top, right, bottom


def check_border_mode(what: str, padding_mode: str) -> str:
    """Return a mode of borders.

    Raises
    ------
    ValueError
        If there is none of the name.
    """
    if not isinstance(padding_mode, str) or padding_mode not in _MODES:
        raise at_line(
            ValueError(
                f"{what}: padding_mode is {shown(padding_mode)}, expected one of"
                f" {', '.join(map(repr, _MODES))}"
            )
        )
    return padding_mode


def pad(
    image: Image, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant"
) -> Any:
    """Return an image with a border.

    Parameters
    ----------
    image
        Any kind.
    padding
        The widths of the border: one, ``(left and right, top and bottom)``, or
        ``(left, top, right, bottom)``.
    fill
        Of a constant border, a number or one for each channel.
    padding_mode
        "constant", "edge" (the outermost pixel), "reflect" (mirrored at it), or
        "symmetric" (mirrored at the edge).

    Raises
    ------
    TypeError, ValueError
        If a width is no integer of 0 or more, or there is no such mode.
    """
    check_image("pad", image)
    left, top, right, bottom = as_borders("pad", padding)
    check_border_mode("pad", padding_mode)
    if is_picture(image):
        return _pad_picture(image, (left, top, right, bottom), fill, padding_mode)
    planes = as_planes("pad", image)
    widths = [(0, 0)] * (planes.ndim - 2) + [(top, bottom), (left, right)]
    channels = planes.shape[-3] if planes.ndim > 2 else 1
    fills = as_fills("pad", fill, channels, limits_of(planes.dtype))
    if len({*fills}) == 1:
        return like_image(_pad_planes(planes, widths, padding_mode, fills[0]), image)
    parts = [
        _pad_planes(planes[..., k : k + 1, :, :], widths, padding_mode, own)
        for k, own in enumerate(fills)
    ]
    return like_image(namespace_of(planes).concatenate(parts, -3), image)


def _pad_planes(planes: Any, widths: Any, mode: str, fill: float) -> Any:
    extra = {"constant_values": fill} if mode == "constant" else {}
    return namespace_of(planes).pad(planes, widths, mode, **extra)


def _pad_picture(image: Any, widths: tuple[int, int, int, int], fill: Fill, mode: str) -> Any:
    if mode == "constant":
        ops = import_pillow("pad", "ImageOps")
        return by_pillow("pad", image, lambda one, own: ops.expand(one, widths, own), fill)
    left, top, right, bottom = widths
    pixels = np.asarray(image)
    around = [(top, bottom), (left, right), (0, 0)][: pixels.ndim]
    padded = np.pad(pixels, around, mode)  # type: ignore[call-overload]
    return like_picture("pad", padded, image)
