# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one image, by torchvision's names, on which transforms stand.

`image` is an image of Pillow, an array or a Var, and the result is of the same kind.
"""

from ..compat._names import publish as _publish
from .blurs import adjust_sharpness, gaussian_blur
from .colours import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    to_grayscale,
)
from .conversions import convert_image_dtype, normalize, pil_to_tensor, to_pil_image, to_tensor
from .crops import center_crop, crop, five_crop, pad, ten_crop
from .erasing import erase
from .flips import hflip, vflip
from .images import get_dimensions
from .mixing import cutmix, mixup
from .sizes import resize, resized_crop
from .tones import autocontrast, equalize, invert, posterize, solarize
from .warps import affine, perspective, rotate

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "autocontrast",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "cutmix",
    "equalize",
    "erase",
    "five_crop",
    "gaussian_blur",
    "get_dimensions",
    "hflip",
    "invert",
    "mixup",
    "normalize",
    "pad",
    "perspective",
    "pil_to_tensor",
    "posterize",
    "resize",
    "resized_crop",
    "rotate",
    "solarize",
    "ten_crop",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]

_publish(vars(), __all__)
