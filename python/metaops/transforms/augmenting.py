# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RandAugment: some of many transforms, all of one strength.

E. Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search
space", 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._errors import at_line
from .._typing import as_count, whole_number
from . import blurs, colours, tones, warps
from .checks import Fill, as_interpolation, check_fill
from .geometry import Geometry, map_boxes
from .images import Image, size_of
from .pillow import change_at_once
from .transform import Transform

__all__ = ["RandAugment"]

#: The most transforms that are drawn for an image.
_MOST_OPS = 1000

#: The farthest move, as a share of an image's side.
_MOVE = 150 / 331


class _Step(NamedTuple):
    """A transform with its strength: of colours, or else of places."""

    colour: Callable[[Any], Any] | None = None
    #: The arguments of `warps.affine`.
    place: dict[str, Any] | None = None


def _affine(
    angle: float = 0.0,
    translate: tuple[float, float] = (0, 0),
    shear: tuple[float, float] = (0.0, 0.0),
    center: tuple[float, float] | None = None,
) -> _Step:
    arguments = {"angle": angle, "translate": translate, "scale": 1.0, "shear": shear}
    return _Step(place={**arguments, "center": center})


def _sheared(x: float, y: float) -> _Step:
    angles = math.degrees(math.atan(x)), math.degrees(math.atan(y))
    return _affine(shear=angles, center=(0.0, 0.0))


def _solarized(image: Any, strength: float) -> Any:
    return tones.solarize(image, (1 - strength) * tones.white_of(image))


#: By names: whether the sign of the strength is drawn, and the step of a strength from 0 to 1
#: and of a size.
_STEPS: dict[str, tuple[bool, Callable[[float, tuple[int, int]], _Step]]] = {
    "Identity": (False, lambda s, _: _Step()),
    "ShearX": (True, lambda s, _: _sheared(0.3 * s, 0)),
    "ShearY": (True, lambda s, _: _sheared(0, 0.3 * s)),
    "TranslateX": (True, lambda s, size: _affine(translate=(int(_MOVE * size[1] * s), 0))),
    "TranslateY": (True, lambda s, size: _affine(translate=(0, int(_MOVE * size[0] * s)))),
    # `rotate` turns the other way.
    "Rotate": (True, lambda s, _: _affine(angle=-30 * s)),
    "Brightness": (True, lambda s, _: _Step(lambda x: colours.adjust_brightness(x, 1 + 0.9 * s))),
    "Color": (True, lambda s, _: _Step(lambda x: colours.adjust_saturation(x, 1 + 0.9 * s))),
    "Contrast": (True, lambda s, _: _Step(lambda x: colours.adjust_contrast(x, 1 + 0.9 * s))),
    "Sharpness": (True, lambda s, _: _Step(lambda x: blurs.adjust_sharpness(x, 1 + 0.9 * s))),
    "Posterize": (False, lambda s, _: _Step(lambda x: tones.posterize(x, round(8 - 4 * s)))),
    "Solarize": (False, lambda s, _: _Step(lambda x: _solarized(x, s))),
    "AutoContrast": (False, lambda s, _: _Step(tones.autocontrast)),
    "Equalize": (False, lambda s, _: _Step(tones.equalize)),
}


class RandAugment(Transform):
    """Several transforms that are drawn from 14, all of one strength.

    They are the identity, shears, moves and rotations, brightness, colour, contrast and
    sharpness, fewer bits, solarised images, and other histograms.

    Parameters
    ----------
    num_ops
        How many are drawn.
    magnitude
        The strength, below `num_magnitude_bins`.
    num_magnitude_bins
        The number of strengths; the last is the strongest.
    interpolation
        "nearest", "bilinear" or "bicubic". Masks have the nearest pixels.
    fill
        What is outside of the image. Masks have 0.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: str = "nearest",
        fill: Fill = None,
    ) -> None:
        what = "RandAugment"
        self.num_ops = whole_number(what, "num_ops", num_ops)
        if self.num_ops > _MOST_OPS:
            raise at_line(ValueError(f"{what}: num_ops is {num_ops}, expected at most {_MOST_OPS}"))
        self.num_magnitude_bins = as_count(f"{what}: num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = whole_number(what, "magnitude", magnitude)
        if self.magnitude >= self.num_magnitude_bins:
            raise at_line(
                ValueError(
                    f"{what}: magnitude is {magnitude}, expected less than num_magnitude_bins,"
                    f" {num_magnitude_bins}"
                )
            )
        self.interpolation = as_interpolation(what, interpolation, warps=True)
        check_fill(what, fill)
        self.fill = fill

    def make_params(self, image: Image, rng: np.random.Generator) -> list[_Step]:
        """Return steps, one after another."""
        strength = self.magnitude / (self.num_magnitude_bins - 1)
        steps = []
        for name in rng.choice([*_STEPS], self.num_ops):
            is_signed, step = _STEPS[name]
            sign = -1 if is_signed and rng.random() < 0.5 else 1
            steps.append(step(sign * strength, size_of(image)))
        return steps

    def transform_image(self, image: Any, params: list[_Step]) -> Any:
        """Return an image after the steps."""

        def change_all(own: Any) -> Any:
            for step in params:
                if step.colour is not None:
                    own = step.colour(own)
                if step.place is not None:
                    how: dict[str, Any] = {"interpolation": self.interpolation, "fill": self.fill}
                    own = warps.affine(own, **step.place, **how)
            return own

        return change_at_once("RandAugment", image, change_all) if params else image

    def transform_mask(self, mask: Any, params: list[_Step]) -> Any:
        """Return a mask after the steps that move pixels."""
        for step in params:
            if step.place is not None:
                mask = warps.affine(mask, **step.place, fill=0)
        return mask

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: list[_Step]) -> Any:
        """Return boxes after the steps that move pixels."""
        for step in params:
            if step.place is not None:
                inverse = warps.affine_coefficients(size, **step.place)
                boxes = map_boxes("RandAugment", boxes, Geometry.of_inverse(inverse, size))
        return boxes
