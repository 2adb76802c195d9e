# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input of functions of one image: errors at the caller's line, and without Pillow."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops.transforms import functional as F
from PIL import Image
from transform_cases import make_pixels
from util import close, same

pytestmark = pytest.mark.processor


def picture_of(kind):
    return Image.fromarray(make_pixels()).convert(kind)


VAR = mo.array(np.zeros((3, 5, 6), "float32"))
PLANES = np.zeros((3, 5, 6), "float32")
BYTES = np.zeros((5, 6, 3), "uint8")
BATCH = np.zeros((2, 3, 5, 6), "float32")

#: A call, the kind of its error, and a part of the message.
BAD = {
    "no image": (lambda: F.hflip("x"), TypeError, "hflip: image is .*, expected an image of Pil"),
    "no pixels": (lambda: F.hflip(np.zeros((0, 3))), ValueError, r"\(0, 3\), expected pixels"),
    "a line": (lambda: F.hflip(np.zeros(3)), ValueError, r"shape \(3,\), expected \(H, W\)"),
    "crop of nothing": (lambda: F.crop(BYTES, 0, 0, 0, 3), ValueError, "height is 0, expected"),
    "crop by halves": (lambda: F.crop(BYTES, 0.5, 0, 2, 3), TypeError, "top is 0.5, expected an"),
    "three sizes": (lambda: F.center_crop(BYTES, (1, 2, 3)), ValueError, "size is .*expected a nu"),
    "size of 0": (lambda: F.resize(BYTES, 0), ValueError, "size is 0, expected an integer of at"),
    "five_crop": (
        lambda: F.five_crop(BYTES, (4, 7)),
        ValueError,
        r"five_crop: size is \(4, 7\), expected at most the image's, \(5, 6\)",
    ),
    "ten_crop": (lambda: F.ten_crop(BYTES, 6), ValueError, "at most the image's"),
    "filter": (lambda: F.resize(BYTES, 3, "cubic"), ValueError, "'cubic', expected one of 'near"),
    "filter by number": (lambda: F.resize(BYTES, 3, 7), ValueError, "interpolation is 7"),
    "filter of Vars": (lambda: F.resize(VAR, 3, "lanczos"), ValueError, "'lanczos' for a Var"),
    "filter of warps": (lambda: F.rotate(BYTES, 3, "box"), ValueError, "'box', expected one of"),
    "max_size": (lambda: F.resize(BYTES, 4, max_size=3), ValueError, "max_size is 3, expected at"),
    "max_size of two": (lambda: F.resize(BYTES, (4, 4), max_size=9), ValueError, "max_size is gi"),
    "integers": (lambda: F.resize(np.ones((4, 4), int), 3), TypeError, "int64, expected uint8 or"),
    "padding": (lambda: F.pad(BYTES, (1, 2, 3)), ValueError, r"\(1, 2, 3\), expected a number"),
    "padding below 0": (lambda: F.pad(BYTES, -1), ValueError, "padding is -1, expected 0 or more"),
    "mode": (lambda: F.pad(BYTES, 1, 0, "wrap"), ValueError, "'wrap', expected one of 'constant'"),
    "fill": (lambda: F.pad(BYTES, 1, [1, 2]), ValueError, r"\(1, 2\), expected a number or 3"),
    "fill of a picture": (lambda: F.rotate(picture_of("L"), 3, fill=[1, 2]), ValueError, "or 1 of"),
    "warp of a Var": (
        lambda: F.affine(VAR, 0, (0, 0), 1, 0),
        TypeError,
        "is a Var, expected an im",
    ),
    "angle": (lambda: F.rotate(BYTES, float("nan")), ValueError, "angle is nan, expected a finite"),
    "center": (lambda: F.rotate(BYTES, 3, center=3), ValueError, "center is 3, expected 2 numbers"),
    "scale": (lambda: F.affine(BYTES, 0, (0, 0), 0, 0), ValueError, "scale is 0, expected a posit"),
    "points": (
        lambda: F.perspective(BYTES, [[0, 0]], [[1, 1]]),
        ValueError,
        "expected four points",
    ),
    "points in a line": (
        lambda: F.perspective(BYTES, [[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 0]] * 4),
        ValueError,
        "no three of them on a line",
    ),
    "factor": (
        lambda: F.adjust_brightness(BYTES, -1),
        ValueError,
        "brightness_factor is -1, expec",
    ),
    "hue": (lambda: F.adjust_hue(BYTES, 0.6), ValueError, r"0\.6, expected it in \[-0\.5, 0\.5\]"),
    "channels": (
        lambda: F.adjust_saturation(np.zeros((4, 5, 6), "float32"), 1.5),
        ValueError,
        "of 4 channels, expected 1 or 3",
    ),
    "grey": (lambda: F.to_grayscale(BYTES, 2), ValueError, "num_output_channels is 2, expected 1"),
    "bits": (lambda: F.posterize(BYTES, 9), ValueError, "bits is 9, expected 0 to 8"),
    "bits of integers": (lambda: F.posterize(np.ones((4, 4), int), 3), TypeError, "is int64, exp"),
    "threshold": (lambda: F.solarize(PLANES, 3), ValueError, "threshold is 3, expected at most 1"),
    "kernel": (lambda: F.gaussian_blur(BYTES, 4), ValueError, "kernel_size is 4, expected one or"),
    "kernel of the image": (lambda: F.gaussian_blur(BYTES, 13), ValueError, "less than twice its"),
    "sigma": (lambda: F.gaussian_blur(BYTES, 3, 0.0), ValueError, "sigma is 0.0, expected a posit"),
    "bytes": (lambda: F.normalize(BYTES, 0, 1), TypeError, "is uint8, expected floats; to_tensor"),
    "picture": (lambda: F.normalize(picture_of("L"), 0, 1), TypeError, "Pillow, expected an array"),
    "means": (lambda: F.normalize(PLANES, [0, 1], 1), ValueError, "expected a number or 3 of them"),
    "deviation": (lambda: F.normalize(PLANES, 0, 0.0), ValueError, "std is 0.0, expected none of"),
    "longer integers": (
        lambda: F.convert_image_dtype(PLANES, "int64"),
        TypeError,
        "dtype is int64",
    ),
    "erase outside": (lambda: F.erase(PLANES, 4, 0, 2, 2, 0), ValueError, "expected a part of it"),
    "erase by": (
        lambda: F.erase(PLANES, 0, 0, 2, 2, [1, 2]),
        ValueError,
        r"v has shape \(2,\), exp",
    ),
    "mode of Pillow": (
        lambda: F.autocontrast(picture_of("CMYK")),
        ValueError,
        r"autocontrast: image is one of Pillow, \(17, 13\) of mode CMYK, which it refuses: no",
    ),
    "size of Pillow": (
        lambda: F.crop(picture_of("L"), 0, 0, 2**20, 2**20),
        ValueError,
        "of mode L, which it refuses: Image size",
    ),
    "bits of three channels": (
        lambda: F.to_pil_image(BYTES > 0),
        TypeError,
        "image is bool, of sh",
    ),
    "picture of five": (lambda: F.to_pil_image(np.zeros((9, 9, 5))), ValueError, "1 to 4 channels"),
    "mode of channels": (lambda: F.to_pil_image(BYTES, "L"), ValueError, "mode is 'L' for 3 chann"),
    "batch": (
        lambda: F.mixup(PLANES, np.ones(3), 0.5),
        ValueError,
        r"expected floats \(N, C, H, W",
    ),
    "labels": (
        lambda: F.mixup(BATCH, np.ones(3), 0.5),
        ValueError,
        r"labels have shape \(3,\), exp",
    ),
    "classes": (
        lambda: F.mixup(BATCH, np.ones(2), 0.5),
        ValueError,
        "num_classes is None, expecte",
    ),
    "a label": (
        lambda: F.mixup(BATCH, np.array([0, 3]), 0.5, 3),
        ValueError,
        "mixup: a label is 3, expected one of 3 classes, from 0",
    ),
    "a label below 0": (
        lambda: F.cutmix(BATCH, np.array([-1, 0]), (0, 0, 1, 1), 3),
        ValueError,
        "cutmix: a label is -1, expected one of 3 classes",
    ),
    "labels of floats": (
        lambda: F.mixup(BATCH, np.ones(2), 0.5, 3),
        TypeError,
        "mixup: labels are float64 of one dimension, expected integers",
    ),
    "classes of labels": (
        lambda: F.mixup(BATCH, np.ones(2, int), 0.5, 0),
        ValueError,
        "mixup: num_classes is 0, expected an integer",
    ),
    "crop far away": (
        lambda: F.crop(BYTES, 2**40, 0, 4, 4),
        ValueError,
        "crop: top is 1099511627776, expected it in",
    ),
    "crop of much": (
        lambda: F.crop(picture_of("L"), 0, 0, 4, 2**40),
        ValueError,
        "crop: width is 1099511627776, expected it in",
    ),
    "ten crops of no image": (lambda: F.ten_crop("x", 3), TypeError, "ten_crop: image is"),
    "part of no image": (
        lambda: F.resized_crop("x", 0, 0, 1, 1, 3),
        TypeError,
        "resized_crop: image is",
    ),
    "endless factor": (
        lambda: F.adjust_contrast(BYTES, float("inf")),
        ValueError,
        "contrast_factor is inf, expected 0 or more, and finite",
    ),
    "endless gain": (
        lambda: F.adjust_gamma(BYTES, 1.0, float("inf")),
        ValueError,
        "adjust_gamma: gain is inf, expected",
    ),
    "share": (
        lambda: F.mixup(BATCH, np.ones((2, 2)), 1.5),
        ValueError,
        "share is 1.5, expected it",
    ),
    "box": (
        lambda: F.cutmix(BATCH, np.ones((2, 2)), (0, 0, 7, 1)),
        ValueError,
        "within 6 by 5 pix",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_an_error_at_its_line(name):
    call, kind, message = BAD[name]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(message, str(caught.value)), str(caught.value)
    assert re.search(r"\(\S*test_transforms_of_bad_input\.py:\d+\)$", str(caught.value))


def test_without_pillow_arithmetic_works(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    same(F.hflip(BYTES), BYTES[:, ::-1])
    close(F.adjust_brightness(PLANES, 2), PLANES)
    with pytest.raises(
        ImportError, match=r"^resize: Pillow is not installed, expected pip install"
    ):
        F.resize(BYTES, 3)
