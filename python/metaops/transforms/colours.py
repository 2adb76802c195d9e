# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brightness, contrast, saturation, hue, and images without colour.

Images of Pillow, and arrays of bytes that are an image of Pillow, are computed by Pillow;
others by arithmetic, in float32 or wider, cut to what the type holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import Var, array
from .._errors import at_line
from .._typing import as_integer, as_number
from .checks import as_factor, interval
from .conversions import convert_image_dtype
from .images import (
    Image,
    as_planes,
    channels_of,
    check_image,
    floats_of,
    is_floating,
    is_picture,
    like_image,
    namespace_of,
)
from .levels import enhanced_colours, limited, require_colours
from .pillow import by_pillow, call_pillow, enhanced, import_pillow, is_pillows

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "as_grey_channels",
    "in_grey",
    "to_grayscale",
]

#: The shares of red, green and blue in the grey of a pixel (ITU-R BT.601).
_WEIGHTS = (0.2989, 0.587, 0.114)


def _blended(planes: Any, other: Any, factor: float) -> Any:
    """Return ``factor`` times an image and the rest of another one."""
    return limited(floats_of(planes) * factor + other * (1 - factor), planes)


def _grey(planes: Any) -> Any:
    """Return the grey of each pixel, ``(..., 1, H, W)``, as floats."""
    values = floats_of(planes)
    if values.ndim < 3 or values.shape[-3] == 1:
        return values
    red, green, blue = (values[..., k : k + 1, :, :] for k in range(3))
    return red * _WEIGHTS[0] + green * _WEIGHTS[1] + blue * _WEIGHTS[2]


def _held_grey(planes: Any) -> Any:
    """Return the grey of each pixel, of integers as an image of their type holds it."""
    grey = _grey(planes)
    return grey if is_floating(planes) else namespace_of(grey).floor(grey)


def adjust_brightness(image: Image, brightness_factor: float) -> Any:
    """Return an image whose pixels are multiplied by a factor.

    Parameters
    ----------
    image
        Any kind.
    brightness_factor
        0 is black, 1 the image.

    Raises
    ------
    ValueError
        If the factor is negative.
    """
    what = "adjust_brightness"
    check_image(what, image)
    as_factor(what, "brightness_factor", brightness_factor)
    if is_pillows(image):
        return enhanced(what, "Brightness", image, brightness_factor)
    planes = as_planes(what, image)
    return like_image(limited(floats_of(planes) * brightness_factor, planes), image)


def adjust_contrast(image: Image, contrast_factor: float) -> Any:
    """Return an image whose pixels are nearer to its mean grey, or farther.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels.
    contrast_factor
        0 is grey, 1 the image.

    Raises
    ------
    ValueError
        If the factor is negative, or there is another number of channels.
    """
    what = "adjust_contrast"
    result = enhanced_colours(what, "Contrast", image, "contrast_factor", contrast_factor)
    if result is not None:
        return result
    planes = as_planes(what, image)
    grey = _held_grey(planes)
    axes = (-3, -2, -1) if planes.ndim > 2 else (-2, -1)
    return like_image(_blended(planes, grey.mean(axis=axes, keepdims=True), contrast_factor), image)


def adjust_saturation(image: Image, saturation_factor: float) -> Any:
    """Return an image whose colours are nearer to grey, or farther.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels.
    saturation_factor
        0 is without colour, 1 the image.

    Raises
    ------
    ValueError
        If the factor is negative, or there is another number of channels.
    """
    what = "adjust_saturation"
    result = enhanced_colours(what, "Color", image, "saturation_factor", saturation_factor)
    if result is not None:
        return result
    if channels_of(image) == 1:
        return image
    planes = as_planes(what, image)
    return like_image(_blended(planes, _held_grey(planes), saturation_factor), image)


def adjust_hue(image: Image, hue_factor: float) -> Any:
    """Return an image whose colours go around the circle of hues.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels.
    hue_factor
        The part of the circle, from -0.5 to 0.5.

    Raises
    ------
    ValueError
        If the factor is another one, or there is another number of channels.
    """
    what = "adjust_hue"
    channels = require_colours(what, image)
    interval(-0.5, 0.5).check(what, hue_factor=as_number(what, "hue_factor", hue_factor))
    if is_pillows(image):
        return by_pillow(what, image, lambda picture, _: _turned_hue(picture, hue_factor))
    if channels == 1:
        return image
    planes = as_planes(what, image)
    turned = _turned(_shares_of(what, planes), hue_factor)
    return like_image(convert_image_dtype(turned, planes.dtype), image)


def _shares_of(what: str, planes: Any) -> Any:
    """Return planes as floats, of which white is 1.

    Raises
    ------
    TypeError
        If they are integers that floats do not tell apart.
    """
    if is_floating(planes):
        return floats_of(planes)
    if "64" in str(planes.dtype):
        raise at_line(TypeError(f"{what}: image is {planes.dtype}, expected shorter integers"))
    return convert_image_dtype(planes, str(floats_of(planes).dtype))


def _turned_hue(picture: Any, factor: float) -> Any:
    if picture.mode in ("1", "F", "I", "L"):
        return picture
    module = import_pillow("adjust_hue")
    hue, saturation, value = picture.convert("HSV").split()
    # Bytes wrap, as the circle does.
    turned = np.asarray(hue) + np.uint8(int(factor * 255) % 256)
    hsv = module.merge("HSV", (module.fromarray(turned), saturation, value))
    return hsv.convert(picture.mode)


def _turned(values: Any, factor: float) -> Any:
    """Return colours of floats from 0 to 1 with other hues.

    The channel of place n (5 of red, 3 of green, 1 of blue) is V - C max(0, min(k, 4 - k, 1))
    with k = (n + 6 H) mod 6, of hue H, value V and chroma C.
    """
    xp = namespace_of(values)
    red, green, blue = (values[..., k : k + 1, :, :] for k in range(3))
    value = xp.maximum(xp.maximum(red, green), blue)
    chroma = value - xp.minimum(xp.minimum(red, green), blue)
    divisor = chroma + (chroma == 0)
    sixths = xp.where(
        value == red,
        (green - blue) / divisor,
        xp.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    places = np.array([5, 3, 1], str(values.dtype)).reshape(3, 1, 1)
    own = array(places) if isinstance(values, Var) else places
    k = (own + sixths + 6 * (factor + 1)) % 6
    return value - chroma * xp.minimum(k, 4 - k).clip(0, 1)


def adjust_gamma(image: Image, gamma: float, gain: float = 1.0) -> Any:
    """Return an image whose pixels, from 0 to 1, are ``gain * pixel ** gamma``.

    Parameters
    ----------
    image
        Any kind.
    gamma
        Above 1 what is dark becomes darker.
    gain
        A factor.

    Raises
    ------
    ValueError
        If a number is negative.
    """
    what = "adjust_gamma"
    check_image(what, image)
    as_factor(what, "gamma", gamma)
    as_factor(what, "gain", gain)
    if is_pillows(image):
        largest = 255 + 1 - 1e-3
        table = [int(min(largest * gain * (k / 255.0) ** gamma, 255)) for k in range(256)]

        def change(picture: Any, _: Any) -> Any:
            colours = picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
            changed = colours.point(table * len(colours.getbands()))
            return changed if picture.mode == colours.mode else changed.convert(picture.mode)

        return by_pillow(what, image, change)
    planes = as_planes(what, image)
    values = _shares_of(what, planes)
    result = (namespace_of(values).maximum(values, 0) ** gamma * gain).clip(0, 1)
    return like_image(convert_image_dtype(result, planes.dtype), image)


def as_grey_channels(what: str, num_output_channels: Any) -> int:
    """Return 1 or 3, the number of channels of an image without colour.

    Raises
    ------
    TypeError, ValueError
        If it is something else.
    """
    count = as_integer(what, "num_output_channels", num_output_channels)
    if count not in (1, 3):
        raise at_line(ValueError(f"{what}: num_output_channels is {count}, expected 1 or 3"))
    return count


def in_grey(picture: Any) -> Any:
    """Return an image of Pillow without colour, of its mode."""
    mode = picture.mode
    if picture.getbands()[0] in ("1", "F", "I", "L") and mode != "LAB":
        return picture
    if "A" in picture.getbands()[1:] and mode != "LAB":
        return picture.convert("LA").convert(mode)
    grey = picture.convert("L")
    return grey.convert(mode) if mode == "P" else grey.convert("RGB").convert(mode)


def to_grayscale(image: Image, num_output_channels: int = 1) -> Any:
    """Return an image without colour.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels.
    num_output_channels
        1, or 3, which are the same.

    Raises
    ------
    ValueError
        If there is another number of channels.
    """
    what = "to_grayscale"
    channels = require_colours(what, image)
    count = as_grey_channels(what, num_output_channels)
    if is_picture(image):
        grey = call_pillow(what, image, lambda picture: picture.convert("L"))
        return grey if count == 1 else import_pillow(what).merge("RGB", [grey] * count)
    planes = as_planes(what, image)
    if is_pillows(image) and channels == 3:
        grey = as_planes(what, by_pillow(what, image, lambda picture, _: picture.convert("L")))
    elif channels == 1:
        grey = planes if planes.ndim > 2 else planes[None]
    else:
        grey = limited(_grey(planes), planes)
    result = namespace_of(grey).repeat(grey, count, -3)
    if planes.ndim > 2:
        return like_image(result, image)
    if count == 1:
        return result[0]
    return result if isinstance(image, Var) else result.transpose(1, 2, 0)
