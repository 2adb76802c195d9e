# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one image (mo.transforms.functional), of each kind.

Beside torchvision, whose results are in data/torchvision_transforms.npz.
"""

import pathlib

import metaops as mo
import numpy as np
import pytest
from metaops.transforms import functional as F
from PIL import Image
from transform_cases import CASES, FLOAT_CASES, make_pixels
from util import close, same

pytestmark = pytest.mark.processor

DATA = pathlib.Path(__file__).parent / "data" / "torchvision_transforms.npz"
PIXELS = make_pixels()


@pytest.fixture(scope="module")
def expected():
    with np.load(DATA) as file:
        return dict(file)


def picture_of(kind):
    return Image.fromarray(PIXELS).convert(kind)


def assert_nearly_same(actual, expected):
    """Allow for single pixels at the edges of warps, which torchvision finds in float32."""
    assert actual.dtype == np.uint8
    assert actual.shape == expected.shape
    assert (actual != expected).mean() <= 0.01


def test_the_file_has_all_cases(expected):
    assert {name.partition(" ")[0] for name in expected} == {"RGB", "L", "floats"}
    assert {f"RGB {name}" for name in CASES} <= expected.keys()
    assert {f"floats {name}" for name in FLOAT_CASES} <= expected.keys()


@pytest.mark.parametrize("name", CASES)
def test_pictures_and_arrays_are_those_of_torchvision(name, expected):
    function, arguments, keywords = CASES[name]
    for kind in ("RGB", "L"):
        if f"{kind} {name}" not in expected:
            continue
        wanted = expected[f"{kind} {name}"]
        picture = picture_of(kind)
        result = getattr(F, function)(picture, *arguments, **keywords)
        assert isinstance(result, Image.Image)
        assert_nearly_same(np.asarray(result), wanted)
        # Arrays are the same, whether the channels are last or first.
        pixels = np.asarray(picture)
        for axis in (-1, 0):
            own = pixels if pixels.ndim == 2 else np.moveaxis(pixels, -1, axis)
            made = getattr(F, function)(own, *arguments, **keywords)
            planes = wanted if wanted.ndim == 3 else wanted[..., None]
            if pixels.ndim == 2:
                planes = wanted
            assert_nearly_same(np.moveaxis(made, axis, -1) if own.ndim == 3 else made, planes)


@pytest.mark.parametrize("name", FLOAT_CASES)
def test_floats_are_those_of_torchvision(name, expected):
    function, arguments, keywords = FLOAT_CASES[name]
    wanted = expected[f"floats {name}"]
    planes = np.ascontiguousarray(np.moveaxis(PIXELS, -1, 0)).astype("float32") / 255
    change = getattr(F, function)
    given = {
        "planes": planes,
        "pixels": np.moveaxis(planes, 0, -1),
        "float64": planes.astype("float64"),
        "Var": mo.array(planes),
        "batch": mo.array(np.stack([planes, planes])),
    }
    for kind, image in given.items():
        result = change(image, *arguments, **keywords)
        assert isinstance(result, mo.Var) == isinstance(image, mo.Var)
        assert str(result.dtype) == str(image.dtype), kind
        values = np.asarray(result)
        if kind == "pixels":
            values = np.moveaxis(values, -1, 0)
        if kind == "batch":
            np.testing.assert_array_equal(values[0], values[1])
            values = values[0]
        close(values, wanted, rtol=0, atol=4e-6)


@pytest.mark.parametrize("name", FLOAT_CASES)
def test_arrays_of_two_dimensions_are_one_plane(name):
    function, arguments, keywords = FLOAT_CASES[name]
    change = getattr(F, function)
    plane = PIXELS[..., 1].astype("float32") / 255
    one = change(plane, *arguments, **keywords)
    planes = np.asarray(change(plane[None], *arguments, **keywords))
    if name == "to_grayscale of three":
        close(one, np.moveaxis(planes, 0, -1))
    else:
        close(one, planes[0])
    close(change(mo.array(plane[None]), *arguments, **keywords), planes, atol=2e-6)


@pytest.mark.parametrize("name", ["hflip", "crop", "pad", "resize", "invert", "autocontrast"])
def test_images_of_five_channels(rng, name):
    function, arguments, keywords = CASES[name]
    change = getattr(F, function)
    image = rng.integers(0, 256, (13, 17, 5)).astype("uint8")
    if name == "autocontrast":
        with pytest.raises(ValueError, match="of 5 channels, expected 1 or 3"):
            change(image)
        return
    result = change(image, *arguments, **keywords)
    for k in range(5):
        same(result[..., k], change(image[..., k], *arguments, **keywords))


@pytest.mark.parametrize("name", CASES)
def test_narrow_arrays_have_their_channels_last(name):
    function, arguments, keywords = CASES[name]
    change = getattr(F, function)
    pixels = PIXELS[:, :3]
    try:
        expected = change(Image.fromarray(pixels), *arguments, **keywords)
    except ValueError:
        return  # too small to be mirrored
    planes = np.asarray(expected)
    result = change(pixels, *arguments, **keywords)
    same(result, planes if planes.ndim == 3 else planes[..., None])


def test_batches_of_arrays_are_changed_one_by_one(rng):
    batch = rng.integers(0, 256, (2, 3, 13, 17)).astype("uint8")
    for change in (
        lambda x: F.resize(x, 9),
        lambda x: F.rotate(x, 20.0, fill=[1, 2, 3]),
        lambda x: F.resize(x.astype("int64"), 9, "nearest"),
        lambda x: F.gaussian_blur(x, 3),
    ):
        same(change(batch), np.stack([change(one) for one in batch]))


@pytest.mark.parametrize("dtype", ["int64", "uint16", "float64", "bool"])
def test_nearest_pixels_of_any_type(rng, dtype):
    """They are moved as those of an image of Pillow are."""
    image = (rng.integers(0, 2 if dtype == "bool" else 60000, (13, 17, 2))).astype(dtype)
    places = Image.fromarray(np.arange(13 * 17, dtype="int32").reshape(13, 17))
    for change in (
        lambda x: F.resize(x, (9, 30), "nearest"),
        lambda x: F.rotate(x, 33.0, expand=True),
        lambda x: F.affine(x, 10, (2, 1), 0.7, 5.0),
    ):
        moved = np.asarray(change(places))
        result = change(image)
        assert result.dtype == dtype and result.shape == (*moved.shape, 2)
        # The pixel 0 of Pillow's image is what is outside, too.
        inside = moved > 0
        same(result[inside], image.reshape(-1, 2)[moved[inside]])
    filled = F.rotate(image, 45.0, fill=[1, 0])
    same(filled[0, 0], np.array([1, 0], dtype))


def test_warps_of_floats_are_those_of_bytes():
    floats = PIXELS / 255
    for interpolation in ("nearest", "bilinear", "bicubic"):
        for function, arguments in (("rotate", (25.0,)), ("affine", (5, (1, 2), 1.1, 3.0))):
            change = getattr(F, function)
            result = change(floats, *arguments, interpolation=interpolation)
            assert result.dtype == np.float64
            whole = change(PIXELS, *arguments, interpolation=interpolation)
            assert np.abs(result.clip(0, 1) * 255 - whole).max() <= 1.0


# Kinds and types


def test_tensors_and_pictures():
    picture = picture_of("RGB")
    planes = F.to_tensor(picture)
    assert planes.flags.c_contiguous
    same(planes, np.moveaxis(PIXELS, -1, 0).astype("float32") / np.float32(255))
    same(F.to_tensor(PIXELS), planes)
    same(F.to_tensor(mo.array(np.moveaxis(PIXELS, -1, 0).copy())), planes)
    same(F.pil_to_tensor(picture), np.moveaxis(PIXELS, -1, 0))
    same(F.pil_to_tensor(picture_of("L")), np.asarray(picture_of("L"))[None])
    for back in (planes, PIXELS, np.moveaxis(PIXELS, -1, 0), mo.array(planes), planes.astype("f8")):
        same(np.asarray(F.to_pil_image(back)), PIXELS)
    assert F.to_pil_image(planes[:1]).mode == "L"
    assert F.to_pil_image(planes[:2]).mode == "LA"
    assert F.to_pil_image(PIXELS, "HSV").mode == "HSV"
    assert F.to_pil_image(planes[0], "F").mode == "F"
    assert F.to_pil_image(np.arange(6, dtype="int32").reshape(2, 3)).mode == "I"
    bits = picture_of("1")
    same(F.to_tensor(bits), np.asarray(bits)[None].astype("float32"))
    for dtype in ("bool", "float16", "float32", "float64", "int32"):
        image = (np.arange(60).reshape(3, 4, 5) % 2).astype(dtype)
        for own in (image, mo.array(image)):
            same(F.to_tensor(own), image.astype("int32" if dtype == "int32" else "float32"))
    assert F.get_dimensions(picture) == F.get_dimensions(PIXELS) == (3, 13, 17)
    assert F.get_dimensions(mo.array(planes)) == F.get_dimensions(planes) == (3, 13, 17)


@pytest.mark.parametrize("make", [np.asarray, mo.array])
def test_types_of_images(make):
    """Each byte comes back; white stays white, and black black."""
    whole = np.arange(256, dtype="uint8").reshape(1, 16, 16)
    for dtype in ("float32", "float64", "uint16", "int32"):
        other = F.convert_image_dtype(make(whole), dtype)
        assert str(other.dtype) == dtype
        if dtype != "int32":
            same(F.convert_image_dtype(other, "uint8"), whole)
    same(F.convert_image_dtype(make(whole)), whole.astype("float32") / np.float32(255))
    ends = np.array([[[0.0, 1.0]]], "float32")
    for dtype, most in (("uint8", 255), ("int16", 32767), ("uint16", 65535)):
        same(F.convert_image_dtype(make(ends), dtype), np.array([[[0, most]]], dtype))
    outside = np.array([[[-0.5, 0.999, 1.5, 0, 1]]], "float32")
    limited = np.array([[[0, 255, 255, 0, 255]]], "uint8")
    same(F.convert_image_dtype(make(outside), "uint8"), limited)
    same(np.asarray(F.to_pil_image(make(outside))), limited[0])
    halves = F.convert_image_dtype(make(ends), "float16")
    same(halves, ends.astype("float16"))
    bits = make(np.array([[[False, True]]]))
    same(F.convert_image_dtype(bits, "uint8"), np.array([[[0, 255]]], "uint8"))
    same(F.convert_image_dtype(bits, "float32"), ends)


@pytest.mark.parametrize("make", [np.asarray, mo.array])
def test_normalize(rng, make):
    image = rng.random((3, 5, 6), dtype="float32")
    mean, std = [0.1, 0.2, 0.3], [0.5, 1.0, 2.0]
    expected = (image - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    close(F.normalize(make(image), mean, std), expected)
    close(F.normalize(make(image[None]), mean, std), expected[None])
    close(F.normalize(make(image), 0.5, 2), (image - 0.5) / 2)
    assert str(F.normalize(make(image.astype("float64")), 0.5, 2).dtype) == "float64"
    if make is np.asarray:
        pixels = np.moveaxis(image, 0, -1)
        close(F.normalize(pixels, mean, std), np.moveaxis(expected, 0, -1))


@pytest.mark.parametrize("make", [np.asarray, mo.array])
def test_erase(rng, make):
    image = rng.random((3, 7, 9), dtype="float32")
    noise = rng.random((3, 2, 4), dtype="float32")
    for value in (0.5, [1.0, 2.0, 3.0], noise):
        expected = image.copy()
        own = np.float32(value)
        expected[:, 3:5, 1:5] = own[:, None, None] if own.ndim == 1 else own
        same(F.erase(make(image), 3, 1, 2, 4, value), expected)
        same(F.erase(make(np.stack([image, image])), 3, 1, 2, 4, value)[1], expected)
    assert not np.shares_memory(F.erase(image, 0, 0, 1, 1, 0), image)


@pytest.mark.parametrize("make", [np.asarray, mo.array])
def test_mixup_and_cutmix(rng, make):
    images = rng.random((4, 3, 6, 8), dtype="float32")
    labels = np.array([0, 2, 1, 2])
    before = np.roll(images, 1, 0)
    hot = np.eye(3, dtype="float32")[labels]
    mixed, shares = F.mixup(make(images), make(labels), 0.75, 3)
    close(mixed, 0.75 * images + 0.25 * before)
    close(shares, 0.75 * hot + 0.25 * np.roll(hot, 1, 0))
    assert str(shares.dtype) == "float32"
    mixed, shares = F.cutmix(make(images), make(labels), (2, 1, 6, 4), num_classes=3)
    expected = images.copy()
    expected[..., 1:4, 2:6] = before[..., 1:4, 2:6]
    same(mixed, expected)
    close(shares, 0.75 * hot + 0.25 * np.roll(hot, 1, 0))
    # Shares stay shares, whatever the box is.
    again, soft = F.cutmix(make(images), shares, (0, 0, 8, 6))
    same(again, before)
    close(soft, np.roll(np.asarray(shares), 1, 0))


# Vars


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(8, 9), (29, 35), 7])
def test_resized_bytes_are_pillows_but_for_rounding(interpolation, size):
    planes = mo.array(np.moveaxis(PIXELS, -1, 0).copy())
    result = F.resize(planes, size, interpolation)
    assert result.dtype == "uint8"
    expected = np.asarray(F.resize(picture_of("RGB"), size, interpolation)).astype(int)
    difference = np.moveaxis(result.numpy(), 0, -1) - expected
    assert np.abs(difference).max() <= (0 if interpolation == "nearest" else 1)


def test_gradients_flow_through_arithmetic(rng):
    image = mo.array(rng.random((3, 8, 9)))
    result = F.normalize(F.resize(F.hflip(F.adjust_contrast(image, 0.5)), 4), 0.5, 0.25)
    gradient = mo.grad(result.sum(), image).numpy()
    assert gradient.shape == (3, 8, 9) and np.isfinite(gradient).all() and gradient.any()
