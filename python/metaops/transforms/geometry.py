# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places of an image's points: matrices of projections, and boxes under them.

A matrix takes a point ``(x, y, 1)`` of the old image to the new one, in pixels from the left
and the upper edge. Pillow's own coefficients, by which it finds each new pixel in the old
image, are those of the inverse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import Var, describe
from .._errors import at_line
from .._typing import shown

__all__ = [
    "Geometry",
    "affine_to_old",
    "flipped",
    "is_view",
    "map_boxes",
    "moved",
    "perspective_to_old",
    "rotation_to_old",
    "scaled",
]

Matrix = npt.NDArray[np.float64]


class Geometry(NamedTuple):
    """A move of an image's points, and the height and the width of the new one."""

    matrix: Matrix
    size: tuple[int, int]

    @classmethod
    def of_inverse(cls, coefficients: Sequence[float], size: tuple[int, int]) -> Geometry:
        """Return the geometry of Pillow's coefficients, 6 or 8 of them."""
        padded = [*coefficients, *(0.0, 0.0)[: 8 - len(coefficients)], 1.0]
        return cls(np.linalg.inv(np.array(padded).reshape(3, 3)), size)


def moved(x: float, y: float, size: tuple[int, int]) -> Geometry:
    """Return a move of the image's origin to a point."""
    return Geometry(np.array([[1.0, 0, x], [0, 1, y], [0, 0, 1]]), size)


def scaled(old: tuple[int, int], new: tuple[int, int]) -> Geometry:
    """Return the change of an image's size."""
    return Geometry(np.diag([new[1] / old[1], new[0] / old[0], 1.0]), new)


def flipped(size: tuple[int, int], upside_down: bool) -> Geometry:
    """Return the flip of an image."""
    matrix = np.eye(3)
    axis = 1 if upside_down else 0
    matrix[axis, axis], matrix[axis, 2] = -1, size[1 - axis]
    return Geometry(matrix, size)


def _at(matrix: Sequence[float], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + b * y + c, d * x + e * y + f


def rotation_to_old(
    size: tuple[int, int], angle: float, expand: bool, center: Sequence[float] | None
) -> tuple[list[float], tuple[int, int]]:
    """Return Pillow's coefficients for a rotation, and the height and the width it leads to.

    They are those of ``PIL.Image.Image.rotate``.
    """
    height, width = size
    x, y = (width / 2, height / 2) if center is None else center
    turn = -math.radians(angle % 360)
    # Quarters of a turn are exact.
    cosine, sine = round(math.cos(turn), 15), round(math.sin(turn), 15)
    matrix = [cosine, sine, 0.0, -sine, cosine, 0.0]
    matrix[2], matrix[5] = _at(matrix, -x, -y)
    matrix[2] += x
    matrix[5] += y
    if expand:
        corners = ((0, 0), (width, 0), (width, height), (0, height))
        xs, ys = zip(*(_at(matrix, *point) for point in corners), strict=True)
        new_width = math.ceil(max(xs)) - math.floor(min(xs))
        new_height = math.ceil(max(ys)) - math.floor(min(ys))
        if center is None and angle % 180 == 90:
            # The corners of a quarter may be halves of pixels, which are no part of it.
            new_width, new_height = height, width
        matrix[2], matrix[5] = _at(matrix, -(new_width - width) / 2, -(new_height - height) / 2)
        height, width = new_height, new_width
    return matrix, (height, width)


def affine_to_old(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> list[float]:
    """Return Pillow's coefficients for a rotation, a scale and a shear around a centre.

    The new image is the old one, sheared along x, then along y, scaled, turned by the
    angle (clockwise), and moved.
    """
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -c * math.tan(shear_x) + math.cos(turn)
    # The matrix (a, b; c, d) has the determinant 1.
    inverse = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    inverse[2], inverse[5] = _at(inverse, -center[0] - translate[0], -center[1] - translate[1])
    inverse[2] += center[0]
    inverse[5] += center[1]
    return inverse


def perspective_to_old(startpoints: Any, endpoints: Any) -> list[float]:
    """Return Pillow's coefficients for the projection that takes four points to others.

    Raises
    ------
    ValueError
        If they are not four points each, or no projection takes one to the others.
    """
    points = []
    for name, given in (("startpoints", startpoints), ("endpoints", endpoints)):
        try:
            corners = np.asarray(given, "float64")
        except (TypeError, ValueError):
            corners = np.empty(0)
        if corners.shape != (4, 2) or not np.isfinite(corners).all():
            raise at_line(
                ValueError(f"perspective: {name} are {shown(given)}, expected four points (x, y)")
            )
        points.append(corners)
    rows = []
    for (x, y), (u, v) in zip(points[0], points[1], strict=True):
        rows.append([u, v, 1, 0, 0, 0, -x * u, -x * v])
        rows.append([0, 0, 0, u, v, 1, -y * u, -y * v])
    try:
        return np.linalg.solve(np.array(rows), points[0].reshape(8)).tolist()
    except np.linalg.LinAlgError:
        raise at_line(
            ValueError(
                f"perspective: endpoints are {shown(endpoints)}, expected no three of them on a"
                " line"
            )
        ) from None


def is_view(startpoints: Any, endpoints: Any, size: tuple[int, int]) -> bool:
    """Return whether a projection shows all of an image of a size from its front.

    No three of the new points, which are integers, are on a line then, and the horizon is
    outside of the image.
    """
    for k in range(4):
        (a, b), (c, d), (e, f) = (endpoints[(k + step) % 4] for step in range(3))
        if (c - a) * (f - d) <= (d - b) * (e - c):
            return False
    try:
        inverse = perspective_to_old(startpoints, endpoints)
        matrix = Geometry.of_inverse(inverse, size).matrix
    except (ValueError, np.linalg.LinAlgError):
        # Pillow's coefficients have no horizon through the upper left pixel.
        return False
    height, width = size
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]])
    distances = corners @ matrix[2] * np.sign(matrix[2, 2])
    return bool((distances > 1e-6 * np.abs(matrix[2]).max()).all())


def map_boxes(what: str, boxes: Any, geometry: Geometry) -> npt.NDArray[Any]:
    """Return the boxes around boxes whose points have moved, cut at the new image's edges.

    Parameters
    ----------
    what
        The function that asks, for messages.
    boxes
        ``(..., 4)``: left, top, right, bottom. Integers are rounded.
    geometry
        Where points go.

    Raises
    ------
    TypeError, ValueError
        If they are no array of that shape.
    """
    if isinstance(boxes, Var) or not isinstance(boxes, np.ndarray | list | tuple):
        raise at_line(TypeError(f"{what}: boxes are {describe(boxes)}, expected an array (N, 4)"))
    # A list of no boxes has no shape of theirs.
    given = np.zeros((0, 4)) if isinstance(boxes, list) and not boxes else np.asarray(boxes)
    if not given.ndim or given.shape[-1] != 4 or given.dtype.kind not in "fiu":
        raise at_line(
            ValueError(
                f"{what}: boxes have shape {given.shape} and dtype {given.dtype}, expected numbers"
                " (N, 4): left, top, right, bottom"
            )
        )
    places = given.astype("float64")
    # The four corners: (..., 4, 2), homogeneous.
    corners = np.stack([places[..., [0, 2, 0, 2]], places[..., [1, 1, 3, 3]]], -1)
    matrix = geometry.matrix
    images = corners @ matrix[:2, :2].T + matrix[:2, 2]
    images /= (corners @ matrix[2, :2] + matrix[2, 2])[..., None]
    height, width = geometry.size
    limits = np.array([width, height], "float64")
    low = np.clip(images.min(-2), 0, limits)
    high = np.clip(images.max(-2), 0, limits)
    result = np.concatenate([low, high], -1)
    return (np.round(result) if given.dtype.kind in "iu" else result).astype(given.dtype)
