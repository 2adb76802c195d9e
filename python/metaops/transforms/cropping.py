# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms that cut parts out of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._domains import POSITIVE_FINITE
from .._errors import at_line
from .._typing import shown
from . import crops, sizes
from .checks import Fill, as_interpolation, as_pair, as_size, check_fill, interval
from .geometry import map_boxes, moved, scaled
from .images import Image, size_of
from .transform import Transform

__all__ = ["CenterCrop", "FiveCrop", "RandomCrop", "RandomResizedCrop", "TenCrop", "draw_part"]


class Part(NamedTuple):
    """A part of an image: its first pixel, and its size."""

    top: int
    left: int
    height: int
    width: int


class CenterCrop(Transform):
    """The middle of images; where they are smaller, with a border of 0.

    Parameters
    ----------
    size
        A height and a width, or a number for both.
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = as_size("CenterCrop", size)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the middle of an image."""
        return crops.center_crop(image, self.size)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return the middle of a mask."""
        return crops.center_crop(mask, self.size)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return the parts of boxes that are in the middle."""
        top, left = crops.place_of_centre(size, self.size)
        return map_boxes("CenterCrop", boxes, moved(-left, -top, self.size))


class RandomCrop(Transform):
    """A part of images, at a place that is drawn.

    Parameters
    ----------
    size
        A height and a width, or a number for both.
    padding
        The widths of a border that images get before: see `functional.pad`.
    pad_if_needed
        Whether images that are smaller than the part get a border; else they are an error.
    fill
        Of a constant border. Masks have 0.
    padding_mode
        "constant", "edge", "reflect" or "symmetric".
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Fill = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size = as_size("RandomCrop", size)
        self.padding = None if padding is None else crops.as_borders("RandomCrop", padding)
        self.pad_if_needed = pad_if_needed
        check_fill("RandomCrop", fill)
        self.fill = fill
        self.padding_mode = crops.check_border_mode("RandomCrop", padding_mode)

    def make_params(self, image: Image, rng: np.random.Generator) -> Any:
        """Return the widths of a border, and a part of what it surrounds."""
        left, top, right, bottom = self.padding or (0, 0, 0, 0)
        height, width = size_of(image)
        height, width = height + top + bottom, width + left + right
        if self.pad_if_needed:
            lacking = max(self.size[0] - height, 0), max(self.size[1] - width, 0)
            top, bottom, height = top + lacking[0], bottom + lacking[0], height + 2 * lacking[0]
            left, right, width = left + lacking[1], right + lacking[1], width + 2 * lacking[1]
        crops.check_fits("RandomCrop", (height, width), self.size)
        first_row = int(rng.integers(height - self.size[0] + 1))
        first_column = int(rng.integers(width - self.size[1] + 1))
        return (left, top, right, bottom), Part(first_row, first_column, *self.size)

    def _cut(self, image: Any, params: Any, fill: Fill) -> Any:
        widths, part = params
        if any(widths):
            image = crops.pad(image, widths, fill, self.padding_mode)
        return crops.crop(image, *part)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the part of an image."""
        return self._cut(image, params, self.fill)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return the part of a mask."""
        return self._cut(mask, params, 0)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return the parts of boxes that are in the part."""
        (left, top, _, _), part = params
        return map_boxes("RandomCrop", boxes, moved(left - part.left, top - part.top, self.size))


def draw_part(
    size: tuple[int, int],
    scale: tuple[float, float],
    ratio: tuple[float, float],
    rng: np.random.Generator,
) -> Part | None:
    """Return a part of an image with an area and a ratio of its sides that are drawn.

    Parameters
    ----------
    size
        Of the image.
    scale
        The range of the share of the area.
    ratio
        The range of the width over the height; its logarithm is uniform.
    rng
        What is drawn from.

    Returns
    -------
    Part or None
        None if ten that were drawn have not fit into the image.
    """
    height, width = size
    logarithms = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        area = height * width * rng.uniform(*scale)
        aspect = math.exp(rng.uniform(*logarithms))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
            return Part(top, left, h, w)
    return None


class RandomResizedCrop(Transform):
    """A part of images, of an area and a ratio that are drawn, in one size.

    Parameters
    ----------
    size
        A height and a width, or a number for both.
    scale
        The range of the part's share of the image's area.
    ratio
        The range of the part's width over its height.
    interpolation
        See `functional.resize`. Masks have the nearest pixels.
    antialias
        Whether pixels are averaged where a Var shrinks.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
    ) -> None:
        what = "RandomResizedCrop"
        self.size = as_size(what, size)
        self.scale = as_pair(what, "scale", scale, interval(0, 1))
        self.ratio = as_pair(what, "ratio", ratio, POSITIVE_FINITE)
        self.interpolation = as_interpolation(what, interpolation)
        self.antialias = antialias

    def make_params(self, image: Image, rng: np.random.Generator) -> Part:
        """Return a part of an image."""
        height, width = size_of(image)
        part = draw_part((height, width), self.scale, self.ratio, rng)
        if part is not None:
            return part
        # The largest part in the middle whose ratio is within the range.
        least, most = self.ratio
        if width / height < least:
            height = max(round(width / least), 1)
        elif width / height > most:
            width = max(round(height * most), 1)
        rows, columns = size_of(image)
        return Part((rows - height) // 2, (columns - width) // 2, height, width)

    def transform_image(self, image: Any, params: Part) -> Any:
        """Return the part of an image."""
        return sizes.resized_crop(image, *params, self.size, self.interpolation, self.antialias)

    def transform_mask(self, mask: Any, params: Part) -> Any:
        """Return the part of a mask."""
        return sizes.resized_crop(mask, *params, self.size, "nearest")

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Part) -> Any:
        """Return the parts of boxes that are in the part."""
        shift = moved(-params.left, -params.top, self.size)
        change = scaled((params.height, params.width), self.size)
        whole = shift._replace(matrix=change.matrix @ shift.matrix)
        return map_boxes("RandomResizedCrop", boxes, whole)


class FiveCrop(Transform):
    """The corners of images and their middle, as a tuple; see `functional.five_crop`.

    The transforms behind it are applied to each, and a `Lambda` to the tuple.

    Parameters
    ----------
    size
        A height and a width, or a number for both.
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = as_size("FiveCrop", size)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the parts of an image."""
        return crops.five_crop(image, self.size)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return the parts of a mask."""
        return self.transform_image(mask, params)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Refuse boxes, which would be in several images.

        Raises
        ------
        TypeError
            Always.
        """
        name = type(self).__name__
        raise at_line(
            TypeError(f"{name}: a sample has boxes, {shown(boxes)}, expected images and masks")
        )


class TenCrop(FiveCrop):
    """The same of images and of the images flipped; see `functional.ten_crop`.

    Parameters
    ----------
    size
        A height and a width, or a number for both.
    vertical_flip
        Whether images are flipped upside down, else from left to right.
    """

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        self.size = as_size("TenCrop", size)
        self.vertical_flip = vertical_flip

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the parts of an image."""
        return crops.ten_crop(image, self.size, self.vertical_flip)
