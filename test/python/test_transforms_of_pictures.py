# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modes of Pillow's images, and of arrays that become such."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops import transforms as T
from metaops.transforms import functional as F
from PIL import Image
from transform_cases import make_pixels
from util import same

pytestmark = pytest.mark.processor

PICTURE = Image.fromarray(make_pixels())
#: Modes, and what an image of them is converted from.
MODES = dict.fromkeys(["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV"], "RGB")
MODES |= {"PA": "P", "I": "L", "F": "L", "I;16": "L"}


def picture_of(mode):
    if mode == "LAB":
        return Image.frombytes("LAB", PICTURE.size, PICTURE.tobytes())
    return PICTURE.convert(MODES[mode]).convert(mode)


def planes_of(picture):
    pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[..., None]


@pytest.mark.parametrize("mode", MODES)
def test_borders_and_blurs_keep_the_mode(mode):
    picture = picture_of(mode)
    padded = F.pad(picture, (1, 2, 3, 4), padding_mode="reflect")
    assert padded.mode == mode
    same(planes_of(padded), np.pad(planes_of(picture), ((2, 4), (1, 3), (0, 0)), "reflect"))
    if mode in ("P", "PA"):
        assert padded.getpalette() == picture.getpalette()
        inside = padded.crop((1, 2, 1 + picture.width, 2 + picture.height))
        same(np.asarray(inside.convert("RGBA")), np.asarray(picture.convert("RGBA")))
        with pytest.raises(ValueError, match=rf"gaussian_blur: image is .* of mode {mode}, whose"):
            F.gaussian_blur(picture, 3)
        return
    blurred = F.gaussian_blur(picture, 3)
    assert blurred.mode == mode
    same(planes_of(blurred), F.gaussian_blur(planes_of(picture), 3))


@pytest.mark.parametrize("mode", MODES)
def test_pictures_without_colour_keep_their_mode(mode):
    picture = picture_of(mode)
    if mode == "LAB":
        with pytest.raises(ValueError, match="RandomGrayscale: image is one of Pillow"):
            T.RandomGrayscale(1.0)(picture)
        return
    grey = T.RandomGrayscale(1.0)(picture)
    assert grey.mode == mode and grey.size == picture.size
    if mode in ("F", "I", "I;16"):
        same(np.asarray(grey), np.asarray(picture))
        return
    colours = np.asarray(grey.convert("RGB")).astype(int)
    assert np.abs(colours - colours[..., :1]).max() <= 1
    expected = np.asarray(picture.convert("L")).astype(int)
    assert np.abs(colours[..., 0] - expected).max() <= 1
    if mode == "RGBA":
        same(np.asarray(grey)[..., 3], np.asarray(picture)[..., 3])


BYTES = np.arange(72, dtype="uint8").reshape(9, 8)


@pytest.mark.parametrize(
    ("image", "mode"),
    [
        (BYTES, "1"),
        (BYTES, "I"),
        (BYTES, "F"),
        (BYTES / np.float32(255), "I"),
        (BYTES / np.float32(255), "1"),
        (BYTES > 9, "L"),
        (BYTES.astype("uint16"), "L"),
        (BYTES.astype("int32"), "F"),
        (BYTES.astype("int32"), "L"),
        (BYTES.astype("uint16"), "I"),
    ],
)
def test_modes_of_other_types_are_errors(image, mode):
    for own in (image, mo.array(image)):
        with pytest.raises(ValueError) as caught:
            F.to_pil_image(own, mode)
        assert re.match(
            rf"to_pil_image: mode is '{mode}' for 1 channel of \w+, expected one of as many and"
            r" of this type \(\S*_pictures.py:\d+\)$",
            str(caught.value),
        )


@pytest.mark.parametrize(("channels", "mode"), [(1, "P"), (3, "HSV"), (4, "CMYK"), (4, "RGBX")])
def test_modes_of_the_same_type_keep_the_bytes(rng, channels, mode):
    pixels = rng.integers(0, 256, (9, 8, channels)).astype("uint8")
    picture = F.to_pil_image(pixels, mode)
    assert picture.mode == mode
    same(planes_of(picture), pixels)
