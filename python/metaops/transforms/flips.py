# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images from right to left, and upside down."""

from __future__ import annotations

from typing import Any

from .images import Image, as_planes, check_image, is_picture, like_image
from .pillow import import_pillow

__all__ = ["hflip", "vflip"]


def hflip(image: Image) -> Any:
    """Return an image whose left is right."""
    check_image("hflip", image)
    if is_picture(image):
        return image.transpose(import_pillow("hflip").Transpose.FLIP_LEFT_RIGHT)
    return like_image(as_planes("hflip", image)[..., ::-1], image)


def vflip(image: Image) -> Any:
    """Return an image that is upside down."""
    check_image("vflip", image)
    if is_picture(image):
        return image.transpose(import_pillow("vflip").Transpose.FLIP_TOP_BOTTOM)
    return like_image(as_planes("vflip", image)[..., ::-1, :], image)
