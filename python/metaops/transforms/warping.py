# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms that turn images, shear them, and show them from the side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._domains import FINITE, POSITIVE_FINITE, SHARE
from .._errors import at_line
from .._typing import as_number, shown
from . import warps
from .checks import Fill, Span, as_interpolation, as_pair, as_span, check_fill
from .geometry import Geometry, is_view, map_boxes, perspective_to_old, rotation_to_old
from .images import Image, size_of
from .transform import Sometimes, Transform

__all__ = ["RandomAffine", "RandomPerspective", "RandomRotation"]


class RandomRotation(Transform):
    """Images turned by an angle that is drawn; see `functional.rotate`.

    Parameters
    ----------
    degrees
        The range of the angle, or the largest one both ways.
    interpolation
        "nearest", "bilinear" or "bicubic". Masks have the nearest pixels.
    expand
        Whether images become so large that nothing is cut off.
    center
        The point around which they are turned, ``(x, y)``; the middle by default.
    fill
        What is outside of the image. Masks have 0.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Fill = 0,
    ) -> None:
        self.degrees = as_span("RandomRotation", "degrees", degrees, FINITE)
        self.interpolation = as_interpolation("RandomRotation", interpolation, warps=True)
        self.expand = expand
        self.center = warps.as_point("RandomRotation", center)
        check_fill(type(self).__name__, fill)
        self.fill = fill

    def make_params(self, image: Image, rng: np.random.Generator) -> float:
        """Return an angle."""
        return float(rng.uniform(*self.degrees))

    def transform_image(self, image: Any, params: float) -> Any:
        """Return an image turned."""
        own = self.interpolation, self.expand, self.center, self.fill
        return warps.rotate(image, params, *own)

    def transform_mask(self, mask: Any, params: float) -> Any:
        """Return a mask turned."""
        return warps.rotate(mask, params, "nearest", self.expand, self.center, 0)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: float) -> Any:
        """Return the boxes around boxes that are turned."""
        inverse = rotation_to_old(size, params, self.expand, self.center)
        return map_boxes("RandomRotation", boxes, Geometry.of_inverse(*inverse))


class RandomAffine(Transform):
    """Images sheared, scaled, turned and moved by numbers that are drawn.

    See `functional.affine`.

    Parameters
    ----------
    degrees
        The range of the angle, or the largest one both ways.
    translate
        The largest moves along x and y, as shares of the width and the height.
    scale
        The range of the factor.
    shear
        The range of the shear along x, or the largest one both ways, in degrees; with four
        numbers, that along y, too.
    interpolation
        "nearest", "bilinear" or "bicubic". Masks have the nearest pixels.
    fill
        What is outside of the image. Masks have 0.
    center
        The point that all but the move leaves in place, ``(x, y)``; the middle by default.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: Fill = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        what = "RandomAffine"
        self.degrees = as_span(what, "degrees", degrees, FINITE)
        self.translate = None if translate is None else _as_shares(what, translate)
        self.scale = None if scale is None else as_pair(what, "scale", scale, POSITIVE_FINITE)
        self.shear = _as_spans(what, shear)
        self.interpolation = as_interpolation(what, interpolation, warps=True)
        check_fill(type(self).__name__, fill)
        self.fill = fill
        self.center = warps.as_point(what, center)

    def make_params(self, image: Image, rng: np.random.Generator) -> dict[str, Any]:
        """Return the first arguments of `functional.affine`."""
        angle = float(rng.uniform(*self.degrees))
        height, width = size_of(image)
        moves = [0, 0]
        if self.translate is not None:
            most = self.translate[0] * width, self.translate[1] * height
            moves = [round(rng.uniform(-own, own)) for own in most]
        scale = 1.0 if self.scale is None else float(rng.uniform(*self.scale))
        shear = [float(rng.uniform(*span)) for span in self.shear]
        return {"angle": angle, "translate": moves, "scale": scale, "shear": shear}

    def transform_image(self, image: Any, params: dict[str, Any]) -> Any:
        """Return an image changed."""
        own: dict[str, Any] = {
            "interpolation": self.interpolation,
            "fill": self.fill,
            "center": self.center,
        }
        return warps.affine(image, **params, **own)

    def transform_mask(self, mask: Any, params: dict[str, Any]) -> Any:
        """Return a mask changed."""
        return warps.affine(mask, **params, fill=0, center=self.center)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: dict[str, Any]) -> Any:
        """Return the boxes around boxes that are changed."""
        inverse = warps.affine_coefficients(size, **params, center=self.center)
        return map_boxes("RandomAffine", boxes, Geometry.of_inverse(inverse, size))


def _as_shares(what: str, translate: Any) -> Span:
    """Return two numbers from 0 to 1, in any order."""
    if not isinstance(translate, Sequence) or isinstance(translate, str) or len(translate) != 2:
        raise at_line(
            ValueError(f"{what}: translate is {shown(translate)}, expected two numbers, (x, y)")
        )
    x, y = (float(as_number(what, "translate", number)) for number in translate)
    SHARE.check(what, translate=[x, y])
    return x, y


def _as_spans(what: str, shear: Any) -> list[Span]:
    """Return the ranges of the shear along x and along y, which is 0 unless it is given."""
    if shear is None:
        return [(0.0, 0.0)] * 2
    if isinstance(shear, Sequence) and not isinstance(shear, str) and len(shear) == 4:
        return [as_pair(what, "shear", shear[k : k + 2], FINITE) for k in (0, 2)]
    return [as_span(what, "shear", shear, FINITE), (0.0, 0.0)]


class RandomPerspective(Sometimes):
    """Images seen from the side, with a probability; see `functional.perspective`.

    Each corner moves inwards, by up to a share of half the image. Corners between which the
    image is not seen from its front are drawn again; images of one row or column stay.

    Parameters
    ----------
    distortion_scale
        The largest share.
    p
        The probability.
    interpolation
        "nearest", "bilinear" or "bicubic". Masks have the nearest pixels.
    fill
        What is outside of the image. Masks have 0.
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: str = "bilinear",
        fill: Fill = 0,
    ) -> None:
        super().__init__(p)
        what = "RandomPerspective"
        number = as_number(what, "distortion_scale", distortion_scale)
        SHARE.check(what, distortion_scale=number)
        self.distortion_scale = number
        self.interpolation = as_interpolation(what, interpolation, warps=True)
        check_fill(type(self).__name__, fill)
        self.fill = fill

    def make_params(self, image: Image, rng: np.random.Generator) -> Any:
        """Return the corners of an image, and where they go; None where ten draws are no view."""
        height, width = size_of(image)
        reach_x = int(self.distortion_scale * (width // 2)) + 1
        reach_y = int(self.distortion_scale * (height // 2)) + 1
        corners = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        for _ in range(10):
            ends = []
            for x, y in corners:
                inwards_x, inwards_y = int(rng.integers(reach_x)), int(rng.integers(reach_y))
                ends.append((abs(x - inwards_x), abs(y - inwards_y)))
            if is_view(corners, ends, (height, width)):
                return corners, ends
        return None

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image from the side."""
        if params is None:
            return image
        return warps.perspective(image, params[0], params[1], self.interpolation, self.fill)

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask from the side."""
        if params is None:
            return mask
        return warps.perspective(mask, params[0], params[1], "nearest", 0)

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return the boxes around boxes from the side."""
        if params is None:
            return boxes
        inverse = perspective_to_old(*params)
        return map_boxes("RandomPerspective", boxes, Geometry.of_inverse(inverse, size))
