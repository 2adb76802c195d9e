# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images: Pillow's, arrays and Vars, and the planes of pixels that they have.

An array of three dimensions has its channels last, ``(H, W, C)``, unless only the first
dimension can be theirs: it is 4 or less, and the last one is more. What becomes of it keeps
its layout, in `known_layout`, however small it gets. Arrays of two dimensions
have one channel, those of four are batches ``(N, C, H, W)``. Vars have their channels first,
``(..., C, H, W)``. What is computed by arithmetic is written once, for *planes*: an array or
a Var ``(..., H, W)`` or ``(..., C, H, W)``.
"""

from __future__ import annotations

import contextvars
import sys
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from .._core import Var, describe
from .._errors import at_line

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from typing_extensions import TypeIs

__all__ = [
    "Image",
    "Planes",
    "as_planes",
    "channels_of",
    "check_image",
    "floats_of",
    "get_dimensions",
    "is_floating",
    "is_picture",
    "known_layout",
    "largest_value",
    "layout_of",
    "like_image",
    "limits_of",
    "namespace_of",
    "refuse_picture",
    "refuse_var",
    "size_of",
]

#: An image of Pillow, an array ``(H, W)``, ``(H, W, C)`` or ``(C, H, W)``, or a Var.
Image: TypeAlias = Union["Picture", "npt.NDArray[Any]", Var]
#: An array or a Var with channels first.
Planes: TypeAlias = Union["npt.NDArray[Any]", Var]

#: The most channels that an array is taken to have first.
_MOST_CHANNELS = 4

#: True where arrays of three dimensions have their channels last, None where shapes say it.
_is_last: contextvars.ContextVar[bool | None] = contextvars.ContextVar("is_last", default=None)


def is_picture(value: object) -> TypeIs[Picture]:
    """Return whether a value is an image of Pillow, which need not be installed."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def check_image(what: str, image: object) -> None:
    """Raise an error that names a function unless it is given an image.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If it has the wrong number of dimensions, or no pixels.
    """
    if is_picture(image):
        return
    if not isinstance(image, Var | np.ndarray):
        raise at_line(
            TypeError(
                f"{what}: image is {describe(image)}, expected an image of Pillow, an array"
                " (H, W, C) or a Var (..., C, H, W)"
            )
        )
    if image.ndim < 2 or (image.ndim > 4 and isinstance(image, np.ndarray)):
        raise at_line(
            ValueError(
                f"{what}: image has shape {image.shape}, expected (H, W), (H, W, C), (C, H, W) or"
                " (N, C, H, W)"
            )
        )
    if 0 in image.shape:
        raise at_line(ValueError(f"{what}: image has shape {image.shape}, expected pixels in it"))


def refuse_picture(what: str, image: object) -> None:
    """Raise TypeError where an image is one of Pillow, for what is done to numbers."""
    if is_picture(image):
        raise at_line(
            TypeError(f"{what}: image is one of Pillow, expected an array or a Var; see to_tensor")
        )


def refuse_var(what: str, image: object) -> None:
    """Raise TypeError where an image is a Var, for what Pillow computes."""
    if isinstance(image, Var):
        raise at_line(TypeError(f"{what}: image is a Var, expected an image of Pillow or an array"))


class known_layout:  # noqa: N801 (read as a function)
    """A context in which it is known where arrays of three dimensions have their channels.

    Parameters
    ----------
    is_last
        Whether they are last; None leaves it to the shapes.
    """

    __slots__ = ("_is_last", "_token")

    def __init__(self, is_last: bool | None) -> None:
        self._is_last = is_last

    def __enter__(self) -> None:
        self._token = _is_last.set(self._is_last)

    def __exit__(self, *error: object) -> None:
        _is_last.reset(self._token)


def layout_of(image: Any) -> bool | None:
    """Return whether an array of three dimensions has its channels last; None of others."""
    if not isinstance(image, np.ndarray) or image.ndim != 3:
        return None
    known = _is_last.get()
    return not (image.shape[0] <= _MOST_CHANNELS < image.shape[2]) if known is None else known


def as_planes(what: str, image: Any) -> Any:
    """Return the planes of an array, as a view, or of a Var, which are itself.

    Raises
    ------
    TypeError, ValueError
        As of `check_image`.
    """
    check_image(what, image)
    return image.transpose(2, 0, 1) if layout_of(image) else image


def like_image(planes: Any, image: Any) -> Any:
    """Return planes in the layout of the image that they were made of."""
    return planes.transpose(1, 2, 0) if layout_of(image) else planes


def size_of(image: Any) -> tuple[int, int]:
    """Return the height and the width of an image."""
    return get_dimensions(image)[1:]


def channels_of(image: Any) -> int:
    """Return the number of channels of an image."""
    return get_dimensions(image)[0]


def get_dimensions(image: Image) -> tuple[int, int, int]:
    """Return the channels, the height and the width of an image.

    Parameters
    ----------
    image
        Any kind.
    """
    if is_picture(image):
        width, height = image.size
        return len(image.getbands()), height, width
    shape = as_planes("get_dimensions", image).shape
    return (shape[-3] if len(shape) > 2 else 1), shape[-2], shape[-1]


def is_floating(x: Any) -> bool:
    """Return whether an array or a Var has floats."""
    return "float" in str(x.dtype)


def floats_of(planes: Any) -> Any:
    """Return planes as floats that hold them, and squares of those of 16 bits."""
    name = str(planes.dtype)
    if name in ("float32", "float64"):
        return planes
    return planes.astype("float64" if "32" in name or "64" in name else "float32")


def limits_of(dtype: Any) -> tuple[int, int] | None:
    """Return the least and the largest number of a type of integers; None of floats."""
    name = str(dtype)
    if "float" in name:
        return None
    if name == "bool":
        return 0, 1
    numbers = np.iinfo(np.dtype(name))
    return int(numbers.min), int(numbers.max)


def largest_value(dtype: Any) -> int:
    """Return what white is: 1 of floats and booleans, else the largest integer."""
    limits = limits_of(dtype)
    return 1 if limits is None else limits[1]


def namespace_of(x: Any) -> Any:
    """Return the functions of arrays or of Vars: NumPy, or the package."""
    return np if isinstance(x, np.ndarray) else x.__array_namespace__()
