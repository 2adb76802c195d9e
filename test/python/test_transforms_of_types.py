# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of all types: what they hold, and what is put into them."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops import transforms as T
from metaops.transforms import functional as F
from PIL import Image
from util import close, same

pytestmark = pytest.mark.processor

MAKERS = pytest.mark.parametrize("make", [np.asarray, mo.array])
INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "int32", "uint32"]
#: Functions that leave an image as it is.
KEEPING = {
    "brightness": lambda x: F.adjust_brightness(x, 1.0),
    "contrast": lambda x: F.adjust_contrast(x, 1.0),
    "saturation": lambda x: F.adjust_saturation(x, 1.0),
    "sharpness": lambda x: F.adjust_sharpness(x, 1.0),
    "gamma": lambda x: F.adjust_gamma(x, 1.0),
    "hue": lambda x: F.adjust_hue(x, 0.0),
    "blur": lambda x: F.gaussian_blur(x, 3, 1e-3),
    "inverted twice": lambda x: F.invert(F.invert(x)),
}


def levels_of(dtype):
    """Return the type's levels from black to white, as planes."""
    most = 1 if dtype == "bool" else np.iinfo(dtype).max
    levels = [int(most * k / 15) for k in range(15)] + [most]
    return np.stack([np.array(levels).astype(dtype).reshape(2, 8)] * 3)


@MAKERS
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", KEEPING)
def test_white_and_black_stay(make, dtype, name):
    planes = levels_of(dtype)
    if name in ("blur", "sharpness"):
        planes = np.concatenate([planes, planes], -2)
    result = KEEPING[name](make(planes))
    assert str(result.dtype) == dtype
    same(result, planes)


@MAKERS
@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_integers_keep_their_type(make, dtype):
    planes = levels_of(dtype)
    most = planes.max()
    changes = {
        "invert": (F.invert, planes ^ planes.max()),
        "solarize": (
            lambda x: F.solarize(x, int(most)),
            np.where(planes == most, np.zeros_like(planes), planes),
        ),
        "grey": (F.to_grayscale, planes[:1]),
        "a grey plane": (lambda x: F.to_grayscale(x[:1]), planes[:1]),
        "brighter": (lambda x: F.adjust_brightness(x, 16.0), np.where(planes, most, planes)),
        "autocontrast": (F.autocontrast, planes),
    }
    for name, (change, expected) in changes.items():
        result = np.asarray(change(make(planes)))
        assert result.dtype == dtype, name
        if name in ("grey", "autocontrast"):  # the weights' sum is 0.9999; numbers are cut
            distance = np.abs(result.astype("float64") - expected.astype("float64"))
            assert distance.max() <= 1 + 2e-4 * float(most)
        else:
            same(result, expected)
    for interpolation in ("nearest", "bilinear", "bicubic") if make is mo.array else ():
        white = F.resize(make(np.full((3, 4, 6), most, dtype)), (5, 9), interpolation)
        same(white, np.full((3, 5, 9), most, dtype))
    wide = np.array([[2**24 + 1, 5, 7, 8, 9, 2**31 - 1]]).astype("int32")
    same(F.to_grayscale(make(wide)), wide)


@MAKERS
def test_integers_of_64_bits_are_as_near_as_floats_are(make):
    planes = np.full((3, 4, 6), 2**63 - 1)
    for change in (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation):
        result = np.asarray(change(make(planes), 1.0))
        assert result.dtype == np.int64 and (result >= 2**63 - 1024).all()
    for change in (F.adjust_hue, F.adjust_gamma):
        with pytest.raises(TypeError, match=rf"{change.__name__}: image is int64, expected short"):
            change(make(planes), 0.5)


@pytest.mark.parametrize("kind", ["float16", "float32", "Var float16", "Var bfloat16"])
@pytest.mark.parametrize("new", INTEGERS[1:5])
def test_short_floats_become_integers(kind, new):
    levels = np.array([0, 0.25, 0.5, 0.75, 1, -1, 2], "float32").reshape(1, 1, 7)
    dtype = kind.removeprefix("Var ")
    image = levels.astype(dtype) if dtype == kind else mo.array(levels).cast(dtype)
    most = np.iinfo(new).max
    shares = np.clip(levels.astype("float64"), 0, 1)
    expected = np.minimum(np.floor(shares * (most + 1 - 1e-3)), most).astype(new)
    result = np.asarray(F.convert_image_dtype(image, new))
    assert result.dtype == new
    same(result[..., [0, 4, 5, 6]], np.array([[[0, most, 0, most]]], new))
    close(result.astype(float), expected.astype(float), atol=1)


@MAKERS
def test_bytes_become_bits(make):
    planes = np.arange(256, dtype="uint8").reshape(1, 16, 16)
    for dtype in ("uint8", "int32", "float32"):
        same(F.convert_image_dtype(make(planes.astype(dtype)), "bool"), planes != 0)


@MAKERS
def test_stretched_bytes_end_in_white(make):
    for high in range(1, 256):
        planes = np.zeros((1, 3, 1, 5), "uint8")
        planes[..., 1:3] = high, high // 2
        expected = (planes.astype(int) * 255 // high).astype("uint8")
        if high % 8 == 1 or make is np.asarray:
            same(F.autocontrast(make(planes)), expected)


@MAKERS
def test_gamma_of_what_is_darker_than_black(make):
    image = np.array([[[-0.5, 0, 0.25, 1, 4, -9]]], "float32")
    close(F.adjust_gamma(make(image), 0.5), np.array([[[0, 0, 0.5, 1, 1, 0]]], "float32"))


# Numbers that are put into images

#: A type, and numbers that it does not hold.
OUTSIDE = [
    ("uint8", [-1, 256]),
    ("int8", [-129, 128]),
    ("uint16", [-1, 70000]),
    ("int16", [-40000, 40000]),
    ("int32", [2**31, -(2**31) - 1]),
    ("bool", [-1, 2]),
]


@MAKERS
@pytest.mark.parametrize(("dtype", "numbers"), OUTSIDE)
def test_numbers_that_an_image_does_not_hold_are_errors(make, dtype, numbers):
    image = make(np.zeros((3, 6, 7), dtype))
    for number in numbers:
        calls = {
            "pad: fill": lambda n: F.pad(image, 1, n),
            "pad: fill of channels": lambda n: F.pad(image, 1, (0, n, 0)),
            "erase: v": lambda n: F.erase(image, 0, 0, 2, 2, n),
            "erase: v of channels": lambda n: F.erase(image, 0, 0, 2, 2, [0, n, 0]),
        }
        if make is np.asarray:
            calls["rotate: fill"] = lambda n: F.rotate(image, 30, fill=n)
        for name, call in calls.items():
            with pytest.raises(ValueError) as caught:
                call(number)
            start = f"{name.removesuffix(' of channels')} is {number}"
            assert re.match(
                re.escape(start) + r"(\.0)?, expected it in \[.*\] \(\S*_types.py:\d+\)$",
                str(caught.value),
            ), str(caught.value)


@pytest.mark.parametrize(("mode", "most"), [("L", 255), ("I", 2**31 - 1), ("I;16", 65535)])
def test_fills_of_pictures(mode, most):
    picture = Image.new(mode, (5, 4))
    assert np.asarray(F.pad(picture, 1, most))[0, 0] == most
    with pytest.raises(ValueError, match=rf"pad: fill is {most + 1}(\.0)?, expected it"):
        F.pad(picture, 1, most + 1)


def test_what_is_erased_of_any_type():
    ones = np.ones((3, 6, 7), "float32")
    short = mo.array(ones).cast("bfloat16")
    result = F.erase(short, 1, 2, 3, 4, 0.5)
    assert result.dtype == "bfloat16"
    expected = ones.copy()
    expected[:, 1:4, 2:6] = 0.5
    same(result.cast("float32"), expected)
    erased = T.RandomErasing(1.0)(short)
    assert erased.dtype == "bfloat16" and (erased.cast("float32").numpy() == 0).any()
    by_channel = T.RandomErasing(1.0, value=np.array([2.0, 3.0, 4.0]))
    made = by_channel(ones, rng=np.random.default_rng(0))
    assert [set(np.unique(plane)) for plane in made] == [{1, 2}, {1, 3}, {1, 4}]
