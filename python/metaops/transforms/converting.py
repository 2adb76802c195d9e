# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms to other kinds of images, to other types, and of what is behind these.

Masks become arrays of planes of their own type where images become arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import dtype as _dtype
from .._domains import FINITE, POSITIVE_FINITE
from .._errors import at_line
from .._typing import DType, shown
from . import conversions
from .checks import as_pair, interval
from .cropping import Part, draw_part
from .erasing import erase
from .images import Image, get_dimensions
from .transform import Sometimes, Transform

__all__ = [
    "ConvertImageDtype",
    "Normalize",
    "PILToTensor",
    "RandomErasing",
    "ToPILImage",
    "ToTensor",
]


class ToTensor(Transform):
    """Images as arrays ``(C, H, W)`` of float32 from 0 to 1; see `functional.to_tensor`."""

    _makes_planes = True

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the pixels of an image."""
        return conversions.to_tensor(image)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return the pixels of a mask, which keep their type."""
        return conversions.pil_to_tensor(mask)


class PILToTensor(Transform):
    """Images as arrays ``(C, H, W)`` of their own type; see `functional.pil_to_tensor`."""

    _makes_planes = True

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the pixels of an image."""
        return conversions.pil_to_tensor(image)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return the pixels of a mask."""
        return conversions.pil_to_tensor(mask)


class ToPILImage(Transform):
    """Arrays and Vars as images of Pillow; see `functional.to_pil_image`.

    Parameters
    ----------
    mode
        Pillow's name of what the channels are.
    """

    def __init__(self, mode: str | None = None) -> None:
        conversions.check_picture_mode("ToPILImage", mode)
        self.mode = mode

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image of Pillow."""
        return conversions.to_pil_image(image, self.mode)


class ConvertImageDtype(Transform):
    """Images of another type, black and white as they were.

    See `functional.convert_image_dtype`.

    Parameters
    ----------
    dtype
        The type.
    """

    def __init__(self, dtype: DType = "float32") -> None:
        self.dtype = str(_dtype(dtype))

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image of the type."""
        return conversions.convert_image_dtype(image, self.dtype)


class Normalize(Transform):
    """Images less a mean, divided by a deviation; see `functional.normalize`.

    Parameters
    ----------
    mean, std
        Numbers, or one for each channel.
    """

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float]) -> None:
        for name, given in (("mean", mean), ("std", std)):
            FINITE.check("Normalize", **{name: given})
        if not np.asarray(std).all():
            raise at_line(ValueError(f"Normalize: std is {shown(std)}, expected none of 0"))
        self.mean = mean
        self.std = std

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image that is normalised."""
        return conversions.normalize(image, self.mean, self.std)


class RandomErasing(Sometimes):
    """Images a part of which is written over, with a probability; see `functional.erase`.

    Z. Zhong et al., "Random Erasing Data Augmentation", 2017.

    Parameters
    ----------
    p
        The probability.
    scale
        The range of the part's share of the area.
    ratio
        The range of the part's height over its width.
    value
        What the part becomes: a number, one for each channel, or "random", normal numbers.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
    ) -> None:
        super().__init__(p)
        self.scale = as_pair("RandomErasing", "scale", scale, interval(0, 1))
        self.ratio = as_pair("RandomErasing", "ratio", ratio, POSITIVE_FINITE)
        if not isinstance(value, str) or value != "random":
            FINITE.check("RandomErasing", value=value)
        self.value = value

    def make_params(self, image: Image, rng: np.random.Generator) -> Any:
        """Return a part of an image, and what it becomes."""
        channels, height, width = get_dimensions(image)
        # The ratio is that of the part on its side.
        part = draw_part((width, height), self.scale, self.ratio, rng)
        if part is None:
            return None
        part = Part(part.left, part.top, part.width, part.height)
        value: Any = self.value
        if isinstance(value, str):
            value = rng.standard_normal((channels, part.height, part.width), "float32")
        return part, value

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image a part of which is written over."""
        if params is None:
            return image
        part, value = params
        return erase(image, part.top, part.left, part.height, part.width, value)
