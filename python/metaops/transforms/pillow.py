# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pillow, which computes what is more than arithmetic: of its images, and of arrays.

An array of bytes with three channels becomes an image of Pillow as a whole, others channel
by channel. Of types that Pillow has not, it moves the numbers of the pixels, where each
pixel of the result is one of the image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import at_line
from .checks import Fill, as_fills
from .images import as_planes, channels_of, is_picture, like_image, limits_of, refuse_var

__all__ = [
    "by_pillow",
    "call_pillow",
    "change_at_once",
    "enhanced",
    "import_pillow",
    "is_pillows",
    "like_picture",
    "with_mode",
]

#: Takes an image of Pillow and a fill of its kind.
Change = Callable[[Any, Any], Any]


def import_pillow(what: str, name: str = "Image") -> Any:
    """Return a module of Pillow.

    Raises
    ------
    ImportError
        If Pillow is not installed; the message says how it is.
    """
    from importlib import import_module

    try:
        return import_module(f"PIL.{name}")
    except ImportError as error:
        raise at_line(
            ImportError(f"{what}: Pillow is not installed, expected pip install metaops[images]")
        ) from error


def call_pillow(what: str, picture: Any, change: Callable[[Any], Any]) -> Any:
    """Return what Pillow makes of one of its images.

    Raises
    ------
    ValueError
        If Pillow does not do so with images of the mode or the size.
    """
    refused = import_pillow(what).DecompressionBombError
    try:
        return change(picture)
    except (OSError, NotImplementedError, OverflowError, ValueError, refused) as error:
        kind = f"image is one of Pillow, {picture.size} of mode {picture.mode}"
        raise at_line(ValueError(f"{what}: {kind}, which it refuses: {error}")) from error


def with_mode(what: str, picture: Any, mode: str) -> Any:
    """Return an image of the same bytes in another mode of Pillow."""
    if picture.mode == mode:
        return picture
    return import_pillow(what).frombytes(mode, picture.size, picture.tobytes())


def like_picture(what: str, pixels: npt.NDArray[Any], picture: Any) -> Any:
    """Return an image of Pillow with other pixels, of the mode and with the palette of one."""
    result = with_mode(what, import_pillow(what).fromarray(pixels), picture.mode)
    if picture.palette is not None:
        result.putpalette(picture.getpalette(picture.palette.mode), picture.palette.mode)
    return result


def by_pillow(
    what: str, image: Any, change: Change, fill: Fill = None, nearest: bool = False
) -> Any:
    """Return an image or an array that was changed by Pillow.

    Parameters
    ----------
    what
        The function that asks, for messages.
    image
        An image of Pillow, or an array.
    change
        Returns an image of Pillow for another one and for a fill of its kind.
    fill
        What the change puts outside of the image.
    nearest
        Whether the change only moves pixels.
    """
    refuse_var(what, image)
    if is_picture(image):
        own = _fill_of_picture(what, image, fill)
        return call_pillow(what, image, lambda picture: change(picture, own))
    planes = as_planes(what, image)
    channels = planes.shape[-3] if planes.ndim > 2 else 1
    fills = as_fills(what, fill, channels, limits_of(planes.dtype))
    if planes.ndim == 4:
        return np.stack([_changed(what, one, change, fills, nearest) for one in planes])
    return like_image(_changed(what, planes, change, fills, nearest), image)


def _changed(
    what: str, planes: npt.NDArray[Any], change: Change, fills: Sequence[float], nearest: bool
) -> npt.NDArray[Any]:
    """Return the planes of one image that was changed by Pillow."""
    dtype = planes.dtype
    if nearest and dtype not in (np.uint8, np.float32):
        return _moved(what, planes, change, fills)
    if dtype == np.uint8 and planes.ndim == 3 and len(planes) == 3:
        pixels = np.ascontiguousarray(planes.transpose(1, 2, 0))
        picture = import_pillow(what).fromarray(pixels)
        changed = np.asarray(change(picture, tuple(map(int, fills))))
        return changed.transpose(2, 0, 1) if changed.ndim == 3 else changed[None]
    if dtype == np.uint8 or dtype.kind == "f":
        return _by_channels(what, planes, change, fills)
    raise at_line(TypeError(f"{what}: image is {dtype}, expected uint8 or floats"))


def is_pillows(image: Any) -> bool:
    """Return whether an image is one of Pillow, or an array of bytes like one."""
    if is_picture(image):
        return True
    is_bytes = isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim < 4
    return is_bytes and channels_of(image) in (1, 3)


def enhanced(what: str, kind: str, image: Any, factor: float) -> Any:
    """Return an image that ``PIL.ImageEnhance`` has changed by a factor."""
    enhance = getattr(import_pillow(what, "ImageEnhance"), kind)
    return by_pillow(what, image, lambda picture, _: enhance(picture).enhance(factor))


def change_at_once(what: str, image: Any, change: Callable[[Any], Any]) -> Any:
    """Return an image after several changes, an array of bytes as one image of Pillow.

    So it is converted once, and not by each of them.
    """
    if isinstance(image, np.ndarray) and is_pillows(image):
        return by_pillow(what, image, lambda picture, _: change(picture))
    return change(image)


def _fill_of_picture(what: str, picture: Any, fill: Fill) -> Any:
    kinds = {"F": "float32", "I": "int32"}
    kind = "uint16" if picture.mode.startswith("I;") else kinds.get(picture.mode, "uint8")
    numbers = as_fills(what, fill, len(picture.getbands()), limits_of(kind))
    if picture.mode != "F":
        numbers = [int(number) for number in numbers]
    return tuple(numbers) if len(numbers) > 1 else numbers[0]


def _by_channels(
    what: str, planes: npt.NDArray[Any], change: Change, fills: Sequence[float]
) -> npt.NDArray[Any]:
    """Return planes that were changed one by one, floats in float32."""
    module = import_pillow(what)
    kind, number = ("uint8", int) if planes.dtype == np.uint8 else ("float32", float)
    each = planes if planes.ndim == 3 else planes[None]
    changed = [
        np.asarray(change(module.fromarray(np.ascontiguousarray(plane, kind)), number(fill)))
        for plane, fill in zip(each, fills, strict=True)
    ]
    return (np.stack(changed) if planes.ndim == 3 else changed[0]).astype(planes.dtype, copy=False)


def _moved(
    what: str, planes: npt.NDArray[Any], change: Change, fills: Sequence[float]
) -> npt.NDArray[Any]:
    """Return planes of any type whose pixels were moved, by the places that they come from."""
    height, width = planes.shape[-2:]
    places = np.arange(height * width, dtype="int32").reshape(height, width)
    moved = np.asarray(change(import_pillow(what).fromarray(places), -1))
    values = planes.reshape(*planes.shape[:-2], height * width)[..., np.maximum(moved, 0)]
    outside = np.asarray(fills, planes.dtype)
    fill = outside[:, None, None] if planes.ndim == 3 else outside[0]
    return np.asarray(np.where(moved < 0, fill, values))
