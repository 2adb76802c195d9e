# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of colours and tones. Masks and boxes stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._domains import DEVIATION, NUMBER, POSITIVE_FINITE
from .._typing import as_integer, as_number
from . import blurs, colours, tones
from .checks import Span, as_factor, as_pair, as_span, interval
from .images import Image, channels_of, is_picture
from .pillow import call_pillow, change_at_once
from .transform import Sometimes, Transform

__all__ = [
    "ColorJitter",
    "GaussianBlur",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]


class ColorJitter(Transform):
    """Images with other brightness, contrast, saturation and hue, in an order that is drawn.

    Parameters
    ----------
    brightness, contrast, saturation
        The ranges of the factors, or how far they are from 1 at most; see
        `functional.adjust_brightness` and its kin.
    hue
        The range of the part of the circle, within -0.5 and 0.5, or the largest one both
        ways.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0.0,
        contrast: float | Sequence[float] = 0.0,
        saturation: float | Sequence[float] = 0.0,
        hue: float | Sequence[float] = 0.0,
    ) -> None:
        what = "ColorJitter"
        self.brightness = as_span(what, "brightness", brightness, DEVIATION, centre=1)
        self.contrast = as_span(what, "contrast", contrast, DEVIATION, centre=1)
        self.saturation = as_span(what, "saturation", saturation, DEVIATION, centre=1)
        self.hue = as_span(what, "hue", hue, interval(-0.5, 0.5))

    def make_params(self, image: Image, rng: np.random.Generator) -> Any:
        """Return functions with their factors, in an order; those that change nothing not."""
        changes = (
            (colours.adjust_brightness, self.brightness, 1.0),
            (colours.adjust_contrast, self.contrast, 1.0),
            (colours.adjust_saturation, self.saturation, 1.0),
            (colours.adjust_hue, self.hue, 0.0),
        )
        order = rng.permutation(len(changes))
        return [
            (changes[k][0], float(rng.uniform(*changes[k][1])))
            for k in order
            if changes[k][1] != (changes[k][2],) * 2
        ]

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image with other colours."""

        def change_all(own: Any) -> Any:
            for change, factor in params:
                own = change(own, factor)
            return own

        return change_at_once("ColorJitter", image, change_all)


class Grayscale(Transform):
    """Images without colour.

    Parameters
    ----------
    num_output_channels
        1, or 3, which are the same.
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = colours.as_grey_channels("Grayscale", num_output_channels)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image without colour."""
        return colours.to_grayscale(image, self.num_output_channels)


class RandomGrayscale(Sometimes):
    """Images without colour, of as many channels, with a probability.

    Parameters
    ----------
    p
        The probability.
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image without colour."""
        if is_picture(image):
            return call_pillow("RandomGrayscale", image, colours.in_grey)
        return colours.to_grayscale(image, 3 if channels_of(image) == 3 else 1)


class GaussianBlur(Transform):
    """Images blurred, by a deviation that is drawn; see `functional.gaussian_blur`.

    Parameters
    ----------
    kernel_size
        How many pixels count, an odd number; or a width and a height.
    sigma
        The range of the deviation, or a number.
    """

    def __init__(
        self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)
    ) -> None:
        what = "GaussianBlur"
        self.kernel_size = blurs.as_kernel_size(what, kernel_size)
        span = sigma if isinstance(sigma, Sequence) else (sigma, sigma)
        self.sigma: Span = as_pair(what, "sigma", span, POSITIVE_FINITE)

    def make_params(self, image: Image, rng: np.random.Generator) -> float:
        """Return a deviation."""
        return float(rng.uniform(*self.sigma))

    def transform_image(self, image: Any, params: float) -> Any:
        """Return an image blurred."""
        return blurs.gaussian_blur(image, self.kernel_size, params)


class RandomAdjustSharpness(Sometimes):
    """Images sharpened or blurred, with a probability; see `functional.adjust_sharpness`.

    Parameters
    ----------
    sharpness_factor
        0 is blurred, 1 the image, 2 sharper.
    p
        The probability.
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        what = "RandomAdjustSharpness"
        self.sharpness_factor = as_factor(what, "sharpness_factor", sharpness_factor)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image sharpened."""
        return blurs.adjust_sharpness(image, self.sharpness_factor)


class RandomAutocontrast(Sometimes):
    """Images from black to white, with a probability; see `functional.autocontrast`.

    Parameters
    ----------
    p
        The probability.
    """

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image with another contrast."""
        return tones.autocontrast(image)


class RandomEqualize(Sometimes):
    """Images of all brightnesses alike, with a probability; see `functional.equalize`.

    Parameters
    ----------
    p
        The probability.
    """

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image with another histogram."""
        return tones.equalize(image)


class RandomInvert(Sometimes):
    """Negatives of images, with a probability.

    Parameters
    ----------
    p
        The probability.
    """

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return the negative of an image."""
        return tones.invert(image)


class RandomPosterize(Sometimes):
    """Images of fewer bits, with a probability; see `functional.posterize`.

    Parameters
    ----------
    bits
        How many are kept, from 0 to 8.
    p
        The probability.
    """

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = as_integer("RandomPosterize", "bits", bits)
        interval(0, 8).check("RandomPosterize", bits=self.bits)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image of fewer bits."""
        return tones.posterize(image, self.bits)


class RandomSolarize(Sometimes):
    """Images inverted where they are bright, with a probability; see `functional.solarize`.

    Parameters
    ----------
    threshold
        From where on, in the image's unit: up to 255 of bytes, to 1 of floats.
    p
        The probability.
    """

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = as_number("RandomSolarize", "threshold", threshold)
        NUMBER.check("RandomSolarize", threshold=self.threshold)

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image inverted in parts."""
        return tones.solarize(image, self.threshold)
