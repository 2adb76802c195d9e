# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images that are blurred, and sharpened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._domains import POSITIVE_FINITE
from .._errors import at_line
from .._typing import as_integers, as_number, shown
from .images import (
    Image,
    as_planes,
    check_image,
    floats_of,
    is_floating,
    is_picture,
    like_image,
    namespace_of,
    size_of,
)
from .levels import enhanced_colours, limited
from .pillow import like_picture

__all__ = ["adjust_sharpness", "as_kernel_size", "gaussian_blur"]


def as_kernel_size(what: str, kernel_size: int | Sequence[int]) -> tuple[int, int]:
    """Return the width and the height of a kernel.

    Raises
    ------
    TypeError, ValueError
        If they are not one or two odd integers above 0.
    """
    sizes = as_integers(what, "kernel_size", kernel_size)
    if len(sizes) not in (1, 2) or any(size < 1 or size % 2 == 0 for size in sizes):
        raise at_line(
            ValueError(
                f"{what}: kernel_size is {shown(kernel_size)}, expected one or two odd numbers"
                " above 0"
            )
        )
    return sizes[0], sizes[-1]


def gaussian_blur(
    image: Image, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None
) -> Any:
    """Return an image that is blurred by a normal distribution; it is mirrored at its edges.

    Parameters
    ----------
    image
        Any kind; of Pillow's those whose pixels are colours, not numbers of them.
    kernel_size
        How many pixels count, an odd number; or a width and a height.
    sigma
        The deviation, or one along x and one along y; 0.15 of the size and 0.35 by default.

    Raises
    ------
    TypeError, ValueError
        If a number is not positive, a size is even, or the image is too small to be
        mirrored.
    """
    what = "gaussian_blur"
    check_image(what, image)
    sizes = as_kernel_size(what, kernel_size)
    given = [size * 0.15 + 0.35 for size in sizes] if sigma is None else sigma
    sigmas = list(given) if isinstance(given, Sequence) else [as_number(what, "sigma", given)]
    POSITIVE_FINITE.check(what, sigma=sigmas)
    if len(sigmas) not in (1, 2):
        raise at_line(ValueError(f"{what}: sigma is {shown(sigma)}, expected one or two numbers"))
    height, width = size_of(image)
    if sizes[0] // 2 >= width or sizes[1] // 2 >= height:
        raise at_line(
            ValueError(
                f"{what}: kernel_size is {shown(kernel_size)} for an image of {(height, width)},"
                " expected less than twice its size"
            )
        )
    if is_picture(image):
        if image.mode in ("P", "PA"):
            raise at_line(
                ValueError(
                    f"{what}: image is one of Pillow, of mode {image.mode}, whose pixels are"
                    " numbers of colours, expected colours; convert makes them"
                )
            )
        return like_picture(what, _blurred(np.asarray(image), sizes, sigmas), image)
    return _blurred(image, sizes, sigmas)


def _blurred(image: Any, sizes: tuple[int, int], sigmas: Sequence[float]) -> Any:
    planes = as_planes("gaussian_blur", image)
    values = floats_of(planes)
    for axis, size, sigma in ((-1, sizes[0], sigmas[0]), (-2, sizes[1], sigmas[-1])):
        values = _smoothed(values, axis, size, sigma)
    if not is_floating(planes):
        values = limited(values.round(), planes)
    return like_image(values.astype(str(planes.dtype)), image)


def _smoothed(values: Any, axis: int, size: int, sigma: float) -> Any:
    """Return planes whose lines along an axis are blurred."""
    reach = size // 2
    if not reach:
        return values
    weights = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(reach + 1)]
    total = 2 * sum(weights) - weights[0]
    around = [(0, 0)] * (values.ndim - 2) + [(0, 0), (0, 0)]
    around[axis] = (reach, reach)
    padded = namespace_of(values).pad(values, around, "reflect")
    extent = values.shape[axis]

    def at(place: int) -> Any:
        own = slice(place, place + extent)
        return padded[..., own] if axis == -1 else padded[..., own, :]

    result = at(reach) * (weights[0] / total)
    for k in range(1, reach + 1):
        result = result + (at(reach - k) + at(reach + k)) * (weights[k] / total)
    return result


def adjust_sharpness(image: Image, sharpness_factor: float) -> Any:
    """Return an image that is nearer to what a small blur makes of it, or farther.

    Parameters
    ----------
    image
        Any kind, of 1 or 3 channels. Pixels at the edges stay.
    sharpness_factor
        0 is blurred, 1 the image, 2 sharper.

    Raises
    ------
    ValueError
        If the factor is negative, or there is another number of channels.
    """
    what = "adjust_sharpness"
    result = enhanced_colours(what, "Sharpness", image, "sharpness_factor", sharpness_factor)
    if result is not None:
        return result
    if min(size_of(image)) < 3:
        return image
    planes = as_planes(what, image)
    xp, values = namespace_of(planes), floats_of(planes)
    height, width = values.shape[-2:]
    inner = sum(
        values[..., y : height - 2 + y, x : width - 2 + x] * ((5 if y == x == 1 else 1) / 13)
        for y in range(3)
        for x in range(3)
    )
    own = values[..., 1:-1, 1:-1]
    inner = inner if is_floating(planes) else xp.round(inner)
    change = (inner - own) * (1 - sharpness_factor)
    around = [(0, 0)] * (values.ndim - 2) + [(1, 1), (1, 1)]
    return like_image(limited(values + xp.pad(change, around), planes), image)
