# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images that are turned, sheared, or seen from the side; Pillow computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._domains import FINITE, POSITIVE_FINITE
from .._errors import at_line
from .._typing import as_number, shown
from .checks import Fill, as_interpolation
from .geometry import affine_to_old, perspective_to_old, rotation_to_old
from .images import Image, check_image, refuse_var, size_of
from .pillow import by_pillow, import_pillow

__all__ = ["affine", "affine_coefficients", "as_point", "perspective", "rotate"]


def _warped(
    what: str,
    image: Image,
    size: tuple[int, int],
    coefficients: Sequence[float],
    interpolation: str,
    fill: Fill,
) -> Any:
    """Return an image whose pixels are found in the old one by Pillow's coefficients."""
    name = as_interpolation(what, interpolation, warps=True)

    def change(picture: Any, own: Any) -> Any:
        module = import_pillow(what)
        kinds = module.Transform
        kind = kinds.AFFINE if len(coefficients) == 6 else kinds.PERSPECTIVE
        filters = module.Resampling[name.upper()]
        return picture.transform((size[1], size[0]), kind, coefficients, filters, fillcolor=own)

    return by_pillow(what, image, change, fill, nearest=name == "nearest")


def _numbers(what: str, name: str, given: Any, count: int = 2) -> list[float]:
    """Return several finite numbers.

    Raises
    ------
    TypeError, ValueError
        If they are something else.
    """
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != count:
        raise at_line(
            ValueError(f"{what}: {name} is {shown(given)}, expected {count} numbers, (x, y)")
        )
    numbers = [as_number(what, name, number) for number in given]
    FINITE.check(what, **{name: numbers})
    return [float(number) for number in numbers]


def as_point(what: str, center: Any) -> tuple[float, float] | None:
    """Return a point, or None.

    Raises
    ------
    TypeError, ValueError
        If it is something else.
    """
    if center is None:
        return None
    x, y = _numbers(what, "center", center)
    return x, y


def rotate(
    image: Image,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Fill = None,
) -> Any:
    """Return an image that is turned.

    Parameters
    ----------
    image
        Pillow's, or an array.
    angle
        In degrees, against the clock.
    interpolation
        "nearest", "bilinear" or "bicubic".
    expand
        Whether the image becomes so large that nothing is cut off.
    center
        The point around which it is turned, ``(x, y)`` from the upper left; its middle by
        default.
    fill
        What is outside of the image: a number, or one for each channel.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.
    """
    check_image("rotate", image)
    refuse_var("rotate", image)
    FINITE.check("rotate", angle=as_number("rotate", "angle", angle))
    centre = as_point("rotate", center)
    coefficients, size = rotation_to_old(size_of(image), angle, expand, centre)
    return _warped("rotate", image, size, coefficients, interpolation, fill)


def affine_coefficients(
    size: tuple[int, int],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    center: Sequence[float] | None = None,
) -> list[float]:
    """Return Pillow's coefficients for the arguments of `affine`.

    Raises
    ------
    TypeError, ValueError
        If an argument does not fit.
    """
    what = "affine"
    FINITE.check(what, angle=as_number(what, "angle", angle))
    POSITIVE_FINITE.check(what, scale=as_number(what, "scale", scale))
    moves = _numbers(what, "translate", translate)
    angles: Any = shear if isinstance(shear, Sequence) else [shear, 0.0]
    if len(angles) == 1:
        angles = [*angles] * 2
    shears = _numbers(what, "shear", angles)
    middle = size[1] * 0.5, size[0] * 0.5
    return affine_to_old(as_point(what, center) or middle, angle, moves, scale, shears)


def affine(
    image: Image,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: str = "nearest",
    fill: Fill = None,
    center: Sequence[float] | None = None,
) -> Any:
    """Return an image that is sheared, scaled, turned and moved.

    Parameters
    ----------
    image
        Pillow's, or an array.
    angle
        In degrees, with the clock.
    translate
        Pixels to the right and down.
    scale
        A factor.
    shear
        Degrees along x, or along x and y; a sequence of one has both.
    interpolation
        "nearest", "bilinear" or "bicubic".
    fill
        What is outside of the image: a number, or one for each channel.
    center
        The point that all but the move leaves in place, ``(x, y)`` from the upper left; the
        middle by default.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.
    """
    check_image("affine", image)
    refuse_var("affine", image)
    size = size_of(image)
    coefficients = affine_coefficients(size, angle, translate, scale, shear, center)
    return _warped("affine", image, size, coefficients, interpolation, fill)


def perspective(
    image: Image,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "bilinear",
    fill: Fill = None,
) -> Any:
    """Return an image by the projection that takes four of its points to others.

    Parameters
    ----------
    image
        Pillow's, or an array.
    startpoints, endpoints
        The points, ``(x, y)`` from the upper left, in the old and in the new image.
    interpolation
        "nearest", "bilinear" or "bicubic".
    fill
        What is outside of the image: a number, or one for each channel.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.
    """
    check_image("perspective", image)
    refuse_var("perspective", image)
    coefficients = perspective_to_old(startpoints, endpoints)
    return _warped("perspective", image, size_of(image), coefficients, interpolation, fill)
