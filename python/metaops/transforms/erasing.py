# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of images that are written over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Var, array
from .._errors import at_line
from .._typing import as_count, shown, whole_number
from .checks import check_held
from .images import (
    Planes,
    as_planes,
    check_image,
    like_image,
    limits_of,
    namespace_of,
    refuse_picture,
)

__all__ = ["erase"]


def erase(
    image: Planes, i: int, j: int, h: int, w: int, v: float | Sequence[float] | npt.NDArray[Any]
) -> Any:
    """Return an image a part of which is something else.

    Parameters
    ----------
    image
        An array or a Var.
    i, j
        The row and the column of the part's first pixel.
    h, w
        The part's height and width.
    v
        What it becomes: a number, one for each channel, or an array ``(C, h, w)``.

    Raises
    ------
    TypeError, ValueError
        If the part is not in the image, or `v` does not fit.
    """
    what = "erase"
    refuse_picture(what, image)
    check_image(what, image)
    i, j = whole_number(what, "i", i), whole_number(what, "j", j)
    h, w = as_count(f"{what}: h", h), as_count(f"{what}: w", w)
    planes = as_planes(what, image)
    height, width = planes.shape[-2:]
    if i + h > height or j + w > width:
        raise at_line(
            ValueError(
                f"{what}: rows {i} to {i + h} and columns {j} to {j + w} of an image of"
                f" {(height, width)}, expected a part of it"
            )
        )
    part = _as_part(what, v, planes, (h, w))
    if isinstance(planes, Var):
        return _written(planes, (i, j, h, w), part)
    result = planes.copy()
    result[..., i : i + h, j : j + w] = part
    return like_image(result, image)


def _as_part(what: str, v: Any, planes: Planes, size: tuple[int, int]) -> npt.NDArray[Any]:
    """Return what a part becomes, of a shape that goes with its planes.

    Raises
    ------
    ValueError
        If it has another shape.
    """
    try:
        given = np.asarray(v)
    except (TypeError, ValueError):
        given = np.asarray("")
    if given.dtype.kind not in "biuf":
        raise at_line(ValueError(f"{what}: v is {shown(v)}, expected numbers"))
    check_held(what, limits_of(planes.dtype), v=given)
    # NumPy has no bfloat16.
    values = given.astype(str(planes.dtype).replace("bfloat16", "float32"))
    channels = planes.shape[-3] if planes.ndim > 2 else 1
    if values.ndim == 1 and len(values) in (1, channels):
        values = values[:, None, None]
    fits = values.ndim == 0 or (
        values.ndim == 3 and values.shape[0] in (1, channels) and values.shape[1:] in ((1, 1), size)
    )
    if not fits:
        raise at_line(
            ValueError(
                f"{what}: v has shape {values.shape}, expected (), ({channels},) or"
                f" {(channels, *size)}"
            )
        )
    return values[0] if planes.ndim == 2 and values.ndim == 3 else values


def _written(planes: Var, place: tuple[int, int, int, int], part: npt.NDArray[Any]) -> Var:
    """Return a Var with a part written over: a choice, which is fused with what is around."""
    i, j, h, w = place
    height, width = planes.shape[-2:]
    xp = namespace_of(planes)
    rows, columns = xp.arange(height).reshape((height, 1)), xp.arange(width)
    is_inside = (rows >= i) & (rows < i + h) & (columns >= j) & (columns < j + w)
    if part.shape[-2:] == (h, w):
        around = [(0, 0)] * (part.ndim - 2) + [(i, height - i - h), (j, width - j - w)]
        part = np.pad(part, around)
    return xp.where(is_inside, array(part, planes.dtype), planes)
