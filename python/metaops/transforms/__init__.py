# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of images: what data sets give, made fit for a model, and varied.

They take images of Pillow, arrays and Vars. `functional` has what they do to one image.
"""

from .. import _session  # noqa: F401 (parts of it need all of a session)
from ..compat._names import publish as _publish
from . import functional
from .augmenting import RandAugment
from .colouring import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .containers import Compose, Lambda, RandomApply, RandomChoice, RandomOrder
from .converting import (
    ConvertImageDtype,
    Normalize,
    PILToTensor,
    RandomErasing,
    ToPILImage,
    ToTensor,
)
from .cropping import CenterCrop, FiveCrop, RandomCrop, RandomResizedCrop, TenCrop
from .mixing import CutMix, MixUp
from .placing import Pad, RandomHorizontalFlip, RandomVerticalFlip, Resize
from .transform import Transform
from .warping import RandomAffine, RandomPerspective, RandomRotation

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "CutMix",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "Lambda",
    "MixUp",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "ToPILImage",
    "ToTensor",
    "Transform",
    "functional",
]

_publish(vars(), __all__)
