# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of another size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import Var
from .._errors import at_line
from .._typing import as_count, as_integers, shown
from .checks import as_interpolation, as_size
from .crops import crop
from .images import (
    Image,
    check_image,
    floats_of,
    is_floating,
    known_layout,
    layout_of,
    size_of,
)
from .levels import limited
from .pillow import by_pillow, import_pillow

__all__ = ["resize", "resized_crop", "size_after"]

#: The modes of interpolation of a Var, by their names here. Pillow's "nearest" takes the
#: pixel in which the middle of the result's is.
_MODES = {"nearest": "nearest-exact", "bilinear": "bilinear", "bicubic": "bicubic"}


def size_after(
    what: str, image: tuple[int, int], size: int | Sequence[int], max_size: int | None = None
) -> tuple[int, int]:
    """Return the height and the width that an image is resized to.

    Raises
    ------
    TypeError, ValueError
        If `size` is not one or two positive integers, or `max_size` does not fit.
    """
    if len(as_integers(what, "size", size)) != 1:
        if max_size is not None:
            raise at_line(
                ValueError(f"{what}: max_size is given with {shown(size)}, expected one number")
            )
        return as_size(what, size)
    short_edge, _ = as_size(what, size)
    if max_size is not None and as_count(f"{what}: max_size", max_size) < short_edge:
        raise at_line(
            ValueError(f"{what}: max_size is {max_size}, expected at least size, {short_edge}")
        )
    short, long = min(image), max(image)
    long_edge = int(short_edge * long / short)
    if max_size is not None and long_edge > max_size:
        short_edge, long_edge = int(max_size * short_edge / long_edge), max_size
    short_edge = max(short_edge, 1)
    return (short_edge, long_edge) if image[0] <= image[1] else (long_edge, short_edge)


def resize(
    image: Image,
    size: int | Sequence[int],
    interpolation: str = "bilinear",
    max_size: int | None = None,
    antialias: bool = True,
) -> Any:
    """Return an image of another size.

    Parameters
    ----------
    image
        Any kind.
    size
        A height and a width, or a number for the shorter edge; the longer one follows.
    interpolation
        "nearest", "bilinear" or "bicubic", and of Pillow's images and of arrays "lanczos",
        "box" and "hamming", too; or Pillow's number for it.
    max_size
        A bound of the longer edge, where `size` is a number.
    antialias
        Whether pixels are averaged where a Var shrinks. Pillow always does.

    Raises
    ------
    TypeError, ValueError
        If the size is not made of positive integers, or there is no such interpolation.
    """
    check_image("resize", image)
    name = as_interpolation("resize", interpolation)
    old = size_of(image)
    new = size_after("resize", old, size, max_size)
    if isinstance(image, Var):
        return image if new == old else _resize_var(image, new, name, antialias)

    def change(picture: Any, fill: Any) -> Any:
        filters = import_pillow("resize").Resampling
        return picture.resize((new[1], new[0]), filters[name.upper()])

    return image if new == old else by_pillow("resize", image, change, nearest=name == "nearest")


def _resize_var(image: Var, size: tuple[int, int], name: str, antialias: bool) -> Var:
    """Return a Var of another size, integers rounded and cut to what they hold."""
    from ..nn.interpolate import interpolate

    if name not in _MODES:
        raise at_line(
            ValueError(
                f"resize: interpolation is {name!r} for a Var, expected one of"
                f" {', '.join(map(repr, _MODES))}"
            )
        )
    channels = image.shape[-3] if image.ndim > 2 else 1
    batch = image.reshape((-1, channels, *image.shape[-2:]))
    shape = (*image.shape[:-2], *size)
    if name == "nearest":
        return interpolate(batch, size, mode=_MODES[name]).reshape(shape)
    floats = batch if is_floating(image) else floats_of(batch)
    result = interpolate(floats, size, mode=_MODES[name], antialias=antialias).reshape(shape)
    return result if is_floating(image) else limited(result.round(), image)


def resized_crop(
    image: Image,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = True,
) -> Any:
    """Return a part of an image in another size; see `crop` and `resize`."""
    check_image("resized_crop", image)
    # The part, which is smaller, has the image's layout.
    with known_layout(layout_of(image)):
        part = crop(image, top, left, height, width)
        return resize(part, as_size("resized_crop", size), interpolation, antialias=antialias)
