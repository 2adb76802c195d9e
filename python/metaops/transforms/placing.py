# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms that flip images, change their size, and put borders around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import crops, flips, sizes
from .checks import Fill, as_interpolation, check_fill
from .geometry import flipped, map_boxes, moved, scaled
from .transform import Sometimes, Transform

__all__ = ["Pad", "RandomHorizontalFlip", "RandomVerticalFlip", "Resize"]


class RandomHorizontalFlip(Sometimes):
    """Images whose left is right, with a probability.

    Parameters
    ----------
    p
        The probability.
    """

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image flipped."""
        return flips.hflip(image)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask flipped."""
        return flips.hflip(mask)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return boxes flipped."""
        return map_boxes("RandomHorizontalFlip", boxes, flipped(size, upside_down=False))


class RandomVerticalFlip(Sometimes):
    """Images upside down, with a probability.

    Parameters
    ----------
    p
        The probability.
    """

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image flipped."""
        return flips.vflip(image)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask flipped."""
        return flips.vflip(mask)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return boxes flipped."""
        return map_boxes("RandomVerticalFlip", boxes, flipped(size, upside_down=True))


class Resize(Transform):
    """Images of another size; see `functional.resize`.

    Parameters
    ----------
    size
        A height and a width, or a number for the shorter edge.
    interpolation
        The name, or Pillow's number. Masks have the nearest pixels.
    max_size
        A bound of the longer edge, where `size` is a number.
    antialias
        Whether pixels are averaged where a Var shrinks.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: str = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ) -> None:
        sizes.size_after("Resize", (1, 1), size, max_size)
        self.size = size
        self.interpolation = as_interpolation("Resize", interpolation)
        self.max_size = max_size
        self.antialias = antialias

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image of the size."""
        return sizes.resize(image, self.size, self.interpolation, self.max_size, self.antialias)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask of the size."""
        return sizes.resize(mask, self.size, "nearest", self.max_size)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return boxes in an image of the size."""
        new = sizes.size_after("Resize", size, self.size, self.max_size)
        return map_boxes("Resize", boxes, scaled(size, new))


class Pad(Transform):
    """Images with a border; see `functional.pad`.

    Parameters
    ----------
    padding
        One width, ``(left and right, top and bottom)``, or ``(left, top, right, bottom)``.
    fill
        Of a constant border. Masks have 0.
    padding_mode
        "constant", "edge", "reflect" or "symmetric".
    """

    def __init__(
        self, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant"
    ) -> None:
        self.padding = crops.as_borders("Pad", padding)
        check_fill("Pad", fill)
        self.fill = fill
        self.padding_mode = crops.check_border_mode("Pad", padding_mode)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image with a border."""
        return crops.pad(image, self.padding, self.fill, self.padding_mode)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask with a border."""
        return crops.pad(mask, self.padding, 0, self.padding_mode)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return boxes in the larger image."""
        left, top, right, bottom = self.padding
        new = size[0] + top + bottom, size[1] + left + right
        return map_boxes("Pad", boxes, moved(left, top, new))
