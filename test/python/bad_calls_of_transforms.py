# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What numbers parameters of transforms cannot be, as `bad_calls` has of the package's."""

import numpy as np
from bad_calls import COUNT, FINITE, NAN, NOT_NEGATIVE, POSITIVE, SHARE, SIZE
from metaops import transforms as T
from metaops.transforms import functional as F

PIXELS = np.zeros((8, 9, 3), "uint8")
PLANES = np.zeros((3, 8, 9), "float32")
BATCH = np.zeros((2, 3, 8, 9), "float32")
LABELS = np.zeros((2, 4), "float32")
CORNERS = [[0, 0], [8, 0], [8, 7], [0, 7]]

WHOLE = [1.5, NAN, "x"]
HUE = [-0.6, 0.6, NAN]
EVEN = [0, 2, -1, 1.5]
POINT = [1, (1,), (1, NAN)]


def with_number(n):
    """Return corners, one of which is at a number."""
    return [[n, 0], *CORNERS[1:]]


#: The function and the parameter, a call, and what the parameter cannot be.
CALLS = [
    # Functions.
    ("adjust_brightness brightness_factor", lambda n: F.adjust_brightness(PIXELS, n), NOT_NEGATIVE),
    ("adjust_contrast contrast_factor", lambda n: F.adjust_contrast(PIXELS, n), NOT_NEGATIVE),
    ("adjust_saturation saturation_factor", lambda n: F.adjust_saturation(PIXELS, n), NOT_NEGATIVE),
    ("adjust_sharpness sharpness_factor", lambda n: F.adjust_sharpness(PIXELS, n), NOT_NEGATIVE),
    ("adjust_hue hue_factor", lambda n: F.adjust_hue(PIXELS, n), HUE),
    ("adjust_gamma gamma", lambda n: F.adjust_gamma(PIXELS, n), NOT_NEGATIVE),
    ("adjust_gamma gain", lambda n: F.adjust_gamma(PIXELS, 1, n), NOT_NEGATIVE),
    ("affine angle", lambda n: F.affine(PIXELS, n, (0, 0), 1, 0), FINITE),
    ("affine translate", lambda n: F.affine(PIXELS, 0, (n, 0), 1, 0), FINITE),
    ("affine scale", lambda n: F.affine(PIXELS, 0, (0, 0), n, 0), POSITIVE),
    ("affine shear", lambda n: F.affine(PIXELS, 0, (0, 0), 1, n), FINITE),
    ("affine fill", lambda n: F.affine(PIXELS, 0, (0, 0), 1, 0, fill=n), FINITE),
    ("affine center", lambda n: F.affine(PIXELS, 0, (0, 0), 1, 0, center=n), POINT),
    ("center_crop size", lambda n: F.center_crop(PIXELS, n), [*SIZE, 1.5]),
    ("crop top", lambda n: F.crop(PIXELS, n, 0, 2, 2), WHOLE),
    ("crop left", lambda n: F.crop(PIXELS, 0, n, 2, 2), WHOLE),
    ("crop height", lambda n: F.crop(PIXELS, 0, 0, n, 2), SIZE),
    ("crop width", lambda n: F.crop(PIXELS, 0, 0, 2, n), SIZE),
    ("cutmix box", lambda n: F.cutmix(BATCH, LABELS, (0, 0, n, 2)), [-1, 10, 1.5]),
    ("cutmix num_classes", lambda n: F.cutmix(BATCH, LABELS[:, 0], (0, 0, 2, 2), n), SIZE),
    ("erase i", lambda n: F.erase(PLANES, n, 0, 2, 2, 0), [*COUNT, 7, 1.5]),
    ("erase j", lambda n: F.erase(PLANES, 0, n, 2, 2, 0), [*COUNT, 8, 1.5]),
    ("erase h", lambda n: F.erase(PLANES, 0, 0, n, 2, 0), [*SIZE, 9]),
    ("erase w", lambda n: F.erase(PLANES, 0, 0, 2, n, 0), [*SIZE, 10]),
    ("erase v", lambda n: F.erase(PLANES, 0, 0, 2, 2, n), ["x", [1, 2]]),
    ("five_crop size", lambda n: F.five_crop(PIXELS, n), [*SIZE, 9]),
    ("gaussian_blur kernel_size", lambda n: F.gaussian_blur(PIXELS, n), EVEN),
    ("gaussian_blur sigma", lambda n: F.gaussian_blur(PIXELS, 3, n), POSITIVE),
    ("mixup share", lambda n: F.mixup(BATCH, LABELS, n), SHARE),
    ("mixup num_classes", lambda n: F.mixup(BATCH, LABELS[:, 0], 0.5, n), SIZE),
    ("normalize mean", lambda n: F.normalize(PLANES, n, 1), FINITE),
    ("normalize std", lambda n: F.normalize(PLANES, 0, n), [0.0, *FINITE]),
    ("pad padding", lambda n: F.pad(PIXELS, n), [*COUNT, 1.5]),
    ("pad fill", lambda n: F.pad(PIXELS, 1, n), FINITE),
    ("perspective startpoints", lambda n: F.perspective(PIXELS, with_number(n), CORNERS), FINITE),
    ("perspective endpoints", lambda n: F.perspective(PIXELS, CORNERS, with_number(n)), FINITE),
    ("perspective fill", lambda n: F.perspective(PIXELS, CORNERS, CORNERS, fill=n), FINITE),
    ("posterize bits", lambda n: F.posterize(PIXELS, n), [-1, 9, 1.5]),
    ("resize size", lambda n: F.resize(PIXELS, n), [*SIZE, 1.5]),
    ("resize max_size", lambda n: F.resize(PIXELS, 4, max_size=n), [*SIZE, 3]),
    ("resized_crop top", lambda n: F.resized_crop(PIXELS, n, 0, 2, 2, 3), WHOLE),
    ("resized_crop left", lambda n: F.resized_crop(PIXELS, 0, n, 2, 2, 3), WHOLE),
    ("resized_crop height", lambda n: F.resized_crop(PIXELS, 0, 0, n, 2, 3), SIZE),
    ("resized_crop width", lambda n: F.resized_crop(PIXELS, 0, 0, 2, n, 3), SIZE),
    ("resized_crop size", lambda n: F.resized_crop(PIXELS, 0, 0, 2, 2, n), SIZE),
    ("rotate angle", lambda n: F.rotate(PIXELS, n), FINITE),
    ("rotate center", lambda n: F.rotate(PIXELS, 1, center=n), POINT),
    ("rotate fill", lambda n: F.rotate(PIXELS, 1, fill=n), FINITE),
    ("solarize threshold", lambda n: F.solarize(PIXELS, n), [256, NAN]),
    ("ten_crop size", lambda n: F.ten_crop(PIXELS, n), [*SIZE, 9]),
    ("to_grayscale num_output_channels", lambda n: F.to_grayscale(PIXELS, n), [0, 2, NAN]),
    # Classes.
    ("CenterCrop size", lambda n: T.CenterCrop(n), [*SIZE, 1.5]),
    ("ColorJitter brightness", lambda n: T.ColorJitter(n), NOT_NEGATIVE),
    ("ColorJitter contrast", lambda n: T.ColorJitter(0, n), NOT_NEGATIVE),
    ("ColorJitter saturation", lambda n: T.ColorJitter(0, 0, n), NOT_NEGATIVE),
    ("ColorJitter hue", lambda n: T.ColorJitter(0, 0, 0, n), HUE),
    ("CutMix alpha", lambda n: T.CutMix(n), POSITIVE),
    ("CutMix num_classes", lambda n: T.CutMix(1, n), SIZE),
    ("FiveCrop size", lambda n: T.FiveCrop(n), [*SIZE, 1.5]),
    ("GaussianBlur kernel_size", lambda n: T.GaussianBlur(n), EVEN),
    ("GaussianBlur sigma", lambda n: T.GaussianBlur(3, n), POSITIVE),
    ("Grayscale num_output_channels", lambda n: T.Grayscale(n), [0, 2, NAN]),
    ("MixUp alpha", lambda n: T.MixUp(n), POSITIVE),
    ("MixUp num_classes", lambda n: T.MixUp(1, n), SIZE),
    ("Normalize mean", lambda n: T.Normalize(n, 1), FINITE),
    ("Normalize std", lambda n: T.Normalize(0, n), [0.0, *FINITE]),
    ("Pad padding", lambda n: T.Pad(n), [*COUNT, 1.5]),
    ("Pad fill", lambda n: T.Pad(1, n), FINITE),
    ("RandAugment num_ops", lambda n: T.RandAugment(n), [*COUNT, 1.5]),
    ("RandAugment magnitude", lambda n: T.RandAugment(2, n), [*COUNT, 31]),
    ("RandAugment num_magnitude_bins", lambda n: T.RandAugment(2, 0, n), [*SIZE, 1]),
    ("RandAugment fill", lambda n: T.RandAugment(fill=n), FINITE),
    (
        "RandomAdjustSharpness sharpness_factor",
        lambda n: T.RandomAdjustSharpness(n),
        NOT_NEGATIVE,
    ),
    ("RandomAdjustSharpness p", lambda n: T.RandomAdjustSharpness(1, n), SHARE),
    ("RandomAffine degrees", lambda n: T.RandomAffine(n), NOT_NEGATIVE),
    ("RandomAffine translate", lambda n: T.RandomAffine(0, (0, n)), SHARE),
    ("RandomAffine scale", lambda n: T.RandomAffine(0, scale=(n, 9)), POSITIVE),
    ("RandomAffine shear", lambda n: T.RandomAffine(0, shear=n), NOT_NEGATIVE),
    ("RandomAffine fill", lambda n: T.RandomAffine(0, fill=n), FINITE),
    ("RandomAffine center", lambda n: T.RandomAffine(0, center=n), POINT),
    ("RandomApply p", lambda n: T.RandomApply([], n), SHARE),
    ("RandomAutocontrast p", lambda n: T.RandomAutocontrast(n), SHARE),
    ("RandomChoice p", lambda n: T.RandomChoice([F.hflip], [n]), POSITIVE),
    ("RandomCrop size", lambda n: T.RandomCrop(n), [*SIZE, 1.5]),
    ("RandomCrop padding", lambda n: T.RandomCrop(3, n), [*COUNT, 1.5]),
    ("RandomCrop fill", lambda n: T.RandomCrop(3, 1, fill=n), FINITE),
    ("RandomEqualize p", lambda n: T.RandomEqualize(n), SHARE),
    ("RandomErasing p", lambda n: T.RandomErasing(n), SHARE),
    ("RandomErasing scale", lambda n: T.RandomErasing(scale=(n, 0.5)), SHARE),
    ("RandomErasing ratio", lambda n: T.RandomErasing(ratio=(n, 9)), POSITIVE),
    ("RandomErasing value", lambda n: T.RandomErasing(value=n), FINITE),
    ("RandomGrayscale p", lambda n: T.RandomGrayscale(n), SHARE),
    ("RandomHorizontalFlip p", lambda n: T.RandomHorizontalFlip(n), SHARE),
    ("RandomInvert p", lambda n: T.RandomInvert(n), SHARE),
    ("RandomPerspective distortion_scale", lambda n: T.RandomPerspective(n), SHARE),
    ("RandomPerspective p", lambda n: T.RandomPerspective(0.5, n), SHARE),
    ("RandomPerspective fill", lambda n: T.RandomPerspective(fill=n), FINITE),
    ("RandomPosterize bits", lambda n: T.RandomPosterize(n), [-1, 9, 1.5]),
    ("RandomPosterize p", lambda n: T.RandomPosterize(3, n), SHARE),
    ("RandomResizedCrop size", lambda n: T.RandomResizedCrop(n), [*SIZE, 1.5]),
    ("RandomResizedCrop scale", lambda n: T.RandomResizedCrop(3, (n, 1)), SHARE),
    ("RandomResizedCrop ratio", lambda n: T.RandomResizedCrop(3, ratio=(n, 9)), POSITIVE),
    ("RandomRotation degrees", lambda n: T.RandomRotation(n), NOT_NEGATIVE),
    ("RandomRotation center", lambda n: T.RandomRotation(3, center=n), POINT),
    ("RandomRotation fill", lambda n: T.RandomRotation(3, fill=n), FINITE),
    ("RandomSolarize threshold", lambda n: T.RandomSolarize(n), [NAN]),
    ("RandomSolarize p", lambda n: T.RandomSolarize(3, n), SHARE),
    ("RandomVerticalFlip p", lambda n: T.RandomVerticalFlip(n), SHARE),
    ("Resize size", lambda n: T.Resize(n), [*SIZE, 1.5]),
    ("Resize max_size", lambda n: T.Resize(4, max_size=n), [*SIZE, 3]),
    ("TenCrop size", lambda n: T.TenCrop(n), [*SIZE, 1.5]),
]
