# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images inverted, solarised, with fewer bits, or with other histograms.

Of images of Pillow, Pillow computes them; of others, arithmetic.
"""

from __future__ import annotations

from typing import Any

from .._domains import NUMBER
from .._errors import at_line
from .._typing import as_integer, as_number
from .conversions import convert_image_dtype
from .images import (
    Image,
    as_planes,
    check_image,
    floats_of,
    is_floating,
    is_picture,
    largest_value,
    like_image,
    namespace_of,
    refuse_var,
)
from .levels import limited, require_colours
from .pillow import by_pillow, import_pillow, is_pillows

__all__ = ["autocontrast", "equalize", "invert", "posterize", "solarize", "white_of"]


def _by_ops(what: str, image: Image, *arguments: Any) -> Any:
    """Return an image that a function of ``PIL.ImageOps`` has changed."""
    function = getattr(import_pillow(what, "ImageOps"), what)
    return by_pillow(what, image, lambda picture, _: function(picture, *arguments))


def invert(image: Image) -> Any:
    """Return the negative of an image.

    Parameters
    ----------
    image
        Any kind.
    """
    check_image("invert", image)
    if is_picture(image):
        return _by_ops("invert", image)
    if str(image.dtype) == "bool":
        return namespace_of(image).logical_not(image)
    return largest_value(image.dtype) - image


def white_of(image: Image) -> int:
    """Return what white is of an image; of Pillow's, 255."""
    return 255 if is_picture(image) else largest_value(image.dtype)


def solarize(image: Image, threshold: float) -> Any:
    """Return an image whose pixels are inverted where they are a threshold or more.

    Parameters
    ----------
    image
        Any kind.
    threshold
        In the image's unit: up to 255 of bytes, to 1 of floats.

    Raises
    ------
    ValueError
        If the threshold is above white.
    """
    what = "solarize"
    check_image(what, image)
    number = as_number(what, "threshold", threshold)
    NUMBER.check(what, threshold=number)
    most = white_of(image)
    if number > most:
        raise at_line(ValueError(f"{what}: threshold is {number}, expected at most {most}"))
    if is_picture(image):
        return _by_ops(what, image, number)
    return namespace_of(image).where(image >= number, invert(image), image)


def posterize(image: Image, bits: int) -> Any:
    """Return an image whose pixels have fewer bits.

    Parameters
    ----------
    image
        Any kind; Pillow's, and those of floats or of uint8.
    bits
        How many are kept, from 0 to 8; of Pillow's from 1.

    Raises
    ------
    TypeError, ValueError
        If `bits` is another number, or the image is of another type.
    """
    what = "posterize"
    check_image(what, image)
    number = as_integer(what, "bits", bits)
    least = 1 if is_picture(image) else 0
    if not least <= number <= 8:
        raise at_line(ValueError(f"{what}: bits is {number}, expected {least} to 8"))
    if is_picture(image):
        return _by_ops(what, image, number)
    levels = 2**number
    if is_floating(image):
        return namespace_of(image).floor(image * levels).clip(0, levels - 1) / levels
    _require_bytes(what, image)
    return image - image % (256 // levels) if number else image * 0


def _require_bytes(what: str, image: Any) -> None:
    """Raise TypeError unless an array or a Var is of uint8 or of floats."""
    if str(image.dtype) != "uint8" and not is_floating(image):
        raise at_line(TypeError(f"{what}: image is {image.dtype}, expected uint8 or floats"))


def autocontrast(image: Image) -> Any:
    """Return an image whose darkest pixel is black, and whose brightest is white.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels, each of which is changed by itself.

    Raises
    ------
    ValueError
        If there is another number of channels.
    """
    what = "autocontrast"
    require_colours(what, image)
    if is_pillows(image):
        return _by_ops(what, image)
    planes = as_planes(what, image)
    xp, values = namespace_of(planes), floats_of(planes)
    low, high = (f(axis=(-2, -1), keepdims=True) for f in (values.min, values.max))
    most = largest_value(planes.dtype)
    span = high - low
    # Multiplied first, what is white becomes so exactly. A plane that is flat stays.
    result = xp.where(low == high, values, (values - low) * most / (span + (low == high)))
    return like_image(limited(result, planes), image)


def equalize(image: Image) -> Any:
    """Return an image in which all brightnesses are about as frequent.

    Parameters
    ----------
    image
        Pillow's or an array, of 1 or 3 channels, each of which is changed by itself. Floats
        are rounded to bytes.

    Raises
    ------
    TypeError, ValueError
        If there is another number of channels, or the image is a Var.
    """
    what = "equalize"
    refuse_var(what, image)
    require_colours(what, image)
    if is_picture(image) or is_pillows(image):
        return _by_ops(what, image)
    _require_bytes(what, image)
    changed = _by_ops(what, convert_image_dtype(image, "uint8"))
    return convert_image_dtype(changed, str(image.dtype))
