# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images as arrays of planes, as images of Pillow, of other types, and normalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Var, array
from .._core import dtype as _dtype
from .._domains import FINITE
from .._errors import at_line
from .._typing import DType, shown
from .images import (
    Image,
    Planes,
    as_planes,
    check_image,
    floats_of,
    is_floating,
    is_picture,
    largest_value,
    like_image,
    refuse_picture,
)
from .pillow import call_pillow, import_pillow, with_mode

__all__ = [
    "check_picture_mode",
    "convert_image_dtype",
    "normalize",
    "pil_to_tensor",
    "to_pil_image",
    "to_tensor",
]

#: So that numbers from 0 to 1 become integers that all have the same share.
_EPS = 1e-3


def pil_to_tensor(image: Image) -> Planes:
    """Return the pixels of an image as an array ``(C, H, W)`` of their own type.

    Of a Var, it is the Var. The array may be a view of the image that is given.

    Parameters
    ----------
    image
        Any kind.
    """
    if is_picture(image):
        pixels: npt.NDArray[Any] = np.asarray(image)
        return pixels.transpose(2, 0, 1) if pixels.ndim == 3 else pixels[None]
    planes: Planes = as_planes("pil_to_tensor", image)
    return planes if planes.ndim > 2 else planes[None]


def to_tensor(image: Image) -> Planes:
    """Return the pixels of an image as an array ``(C, H, W)`` of float32.

    Bytes and bits become numbers from 0 to 1, floats are float32, and other integers stay
    as they are. Of a Var the result is a Var.

    Parameters
    ----------
    image
        Any kind.
    """
    planes = pil_to_tensor(image)
    if isinstance(planes, Var):
        is_scaled = str(planes.dtype) in ("uint8", "bool") or is_floating(planes)
        return convert_image_dtype(planes) if is_scaled else planes
    if planes.dtype == np.uint8:
        # Cast and put in order first: NumPy divides what lies in order fastest.
        result = np.empty(planes.shape, "float32")
        result[...] = planes
        result /= np.float32(255)
        return result
    if planes.dtype == bool or planes.dtype.kind == "f":
        return np.ascontiguousarray(planes, "float32")
    return np.ascontiguousarray(planes)


def check_picture_mode(what: str, mode: str | None) -> None:
    """Raise ValueError unless Pillow has images of a mode, or it is None."""
    known = import_pillow(what).MODES
    if mode is not None and (not isinstance(mode, str) or mode not in known):
        raise at_line(
            ValueError(f"{what}: mode is {shown(mode)}, expected one of {', '.join(known)}")
        )


def to_pil_image(image: Image, mode: str | None = None) -> Any:
    """Return an array or a Var as an image of Pillow.

    Parameters
    ----------
    image
        1 to 4 channels. Floats become bytes, as by `convert_image_dtype`.
    mode
        Pillow's name of what the channels are, of as many and of the same type. By default
        "L", "LA", "RGB" or "RGBA" by their number, and "F" or "I" of one channel of float32,
        with `mode` "F", or of int32.

    Raises
    ------
    TypeError, ValueError
        If Pillow has no such images.
    """
    what = "to_pil_image"
    module = import_pillow(what)
    check_picture_mode(what, mode)
    check_image(what, image)
    if is_picture(image):
        if mode in (None, image.mode):
            return image
        return call_pillow(what, image, lambda picture: picture.convert(mode))
    pixels = _pixels_for_pillow(what, image, mode)
    picture = module.fromarray(pixels)
    if mode in (None, picture.mode):
        return picture
    is_other = _typestr_of(mode) != pixels.dtype.str
    channels = len(picture.getbands())
    if module.getmodebands(mode) != channels or is_other:
        kind = f"{channels} channel{'s' * (channels > 1)} of {pixels.dtype}"
        raise at_line(
            ValueError(
                f"{what}: mode is {shown(mode)} for {kind}, expected one of as many and of this"
                " type"
            )
        )
    return with_mode(what, picture, mode)


def _typestr_of(mode: str) -> str:
    """Return NumPy's name of the type that images of a mode of Pillow have."""
    return str(import_pillow("to_pil_image", "ImageMode").getmode(mode).typestr)


def _pixels_for_pillow(what: str, image: Planes, mode: str | None) -> npt.NDArray[Any]:
    """Return the pixels of an array or a Var of a type and a layout that Pillow has.

    Raises
    ------
    TypeError, ValueError
        If Pillow has none like it.
    """
    planes = as_planes(what, image)
    pixels = planes.numpy() if isinstance(planes, Var) else planes
    if pixels.ndim > 3 or (pixels.ndim == 3 and len(pixels) > 4):
        raise at_line(
            ValueError(f"{what}: image has shape {image.shape}, expected one of 1 to 4 channels")
        )
    if pixels.dtype.kind == "f" and mode != "F":
        pixels = convert_image_dtype(pixels, "uint8")
    pixels = pixels[0] if pixels.ndim == 3 and len(pixels) == 1 else pixels
    pixels = np.ascontiguousarray(pixels.transpose(1, 2, 0) if pixels.ndim == 3 else pixels)
    if pixels.dtype.kind == "f":
        pixels = pixels.astype("float32", copy=False)
    kinds = ("|u1",) if pixels.ndim > 2 else ("|b1", "|u1", "<u2", "<i4", "<f4")
    if pixels.dtype.str not in kinds:
        raise at_line(
            TypeError(
                f"{what}: image is {image.dtype}, of shape {image.shape}, expected uint8 or floats"
            )
        )
    return pixels


def convert_image_dtype(image: Planes, dtype: DType = "float32") -> Any:
    """Return an image of another type, black and white as they were.

    Of floats, white is 1, of integers it is the largest one. Floats become integers by
    equal parts of [0, 1]; those outside of it become black or white.

    Parameters
    ----------
    image
        An array or a Var.
    dtype
        The type of the result.

    Raises
    ------
    TypeError
        If `dtype` is none, or holds fewer integers than floats from 0 to 1 could tell apart.
    """
    what = "convert_image_dtype"
    refuse_picture(what, image)
    check_image(what, image)
    old, new = str(image.dtype), str(_dtype(dtype))
    if old == new:
        return image
    if is_floating(image):
        if "float" in new or new == "bool":
            return image.astype(new)
        if new in ("int64", "uint64") or ("32" in new and old != "float64"):
            raise at_line(
                TypeError(
                    f"{what}: dtype is {new} for an image of {old}, expected shorter integers"
                )
            )
        most = largest_value(new)
        return (floats_of(image) * (most + 1 - _EPS)).clip(0, most).astype(new)
    if "float" in new:
        wide = image.astype("float64" if new == "float64" else "float32")
        return (wide / largest_value(old)).astype(new)
    # Of integers, the highest bits stay.
    shift = largest_value(new).bit_length() - largest_value(old).bit_length()
    if new == "bool":
        return image != 0
    if old == "bool":
        return image.astype(new) * largest_value(new)
    if shift > 0:
        return image.astype(new) * 2**shift
    return (image // 2**-shift).astype(new)


def normalize(image: Planes, mean: float | Sequence[float], std: float | Sequence[float]) -> Any:
    """Return an image with a mean subtracted, and divided by a deviation.

    Parameters
    ----------
    image
        An array or a Var of floats.
    mean, std
        Numbers, or one for each channel.

    Raises
    ------
    TypeError
        If the image has no floats.
    ValueError
        If a deviation is 0, or there is not one number for each channel.
    """
    what = "normalize"
    refuse_picture(what, image)
    check_image(what, image)
    if not is_floating(image):
        raise at_line(
            TypeError(
                f"{what}: image is {image.dtype}, expected floats; to_tensor and"
                " convert_image_dtype make them"
            )
        )
    planes = as_planes(what, image)
    channels = planes.shape[-3] if planes.ndim > 2 else 1
    means, deviations = (
        _by_channel(what, name, given, channels, planes)
        for name, given in (("mean", mean), ("std", std))
    )
    return like_image((planes - means) / deviations, image)


def _by_channel(what: str, name: str, given: Any, channels: int, planes: Any) -> Any:
    """Return a number, or one of each channel, of the shape and the kind of planes.

    Raises
    ------
    ValueError
        If they are not as many, not finite, or 0 for a deviation.
    """
    FINITE.check(what, **{name: given})
    numbers = np.asarray(given, "float64").reshape(-1)
    if len(numbers) not in (1, channels):
        raise at_line(
            ValueError(f"{what}: {name} is {shown(given)}, expected a number or {channels} of them")
        )
    if name == "std" and not numbers.all():
        raise at_line(ValueError(f"{what}: std is {shown(given)}, expected none of 0"))
    if len(numbers) == 1:
        return float(numbers[0])
    shaped = numbers.reshape(-1, 1, 1)
    if isinstance(planes, Var):
        return array(shaped, planes.dtype)
    return shaped.astype(planes.dtype)
