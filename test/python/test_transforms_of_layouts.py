# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes and layouts: quarters of a turn, masks in one array, and small images in chains."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops import transforms as T
from metaops.data.randomness import Draws
from metaops.transforms import functional as F
from PIL import Image
from util import close, same

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("size", [(4, 6), (5, 6), (4, 7), (5, 7), (1, 6), (1, 1)])
@pytest.mark.parametrize("angle", [90, 270, -90, 450])
def test_quarters_of_a_turn_lose_no_pixels(rng, size, angle):
    image = rng.integers(1, 256, (*size, 3)).astype("uint8")
    mask = rng.integers(1, 9, size)
    boxes = np.array([[0.0, 0, size[1], size[0]], [0, 0, 1, 1]])
    turned, moved, places = T.RandomRotation((angle, angle), expand=True)(
        image, mask=mask, boxes=boxes
    )
    turns = angle // 90 % 4
    same(turned, np.rot90(image, turns))
    same(moved, np.rot90(mask, turns))
    left, top = (0, size[1] - 1) if turns == 1 else (size[0] - 1, 0)
    close(places, np.array([[0.0, 0, size[0], size[1]], [left, top, left + 1, top + 1]]))
    for interpolation in ("nearest", "bilinear", "bicubic"):
        picture = Image.fromarray(image)
        result = np.asarray(F.rotate(picture, angle, interpolation, expand=True))
        same(result, np.asarray(picture.rotate(angle, expand=True)))


#: Transforms that move pixels, as one for each of a mask's planes.
MOVING = {
    "CenterCrop": T.CenterCrop(8),
    "FiveCrop": T.FiveCrop(5),
    "Pad": T.Pad((1, 2, 3, 4)),
    "RandomAffine": T.RandomAffine(30, (0.1, 0.1)),
    "RandomCrop": T.RandomCrop(8, 2),
    "RandomHorizontalFlip": T.RandomHorizontalFlip(1),
    "RandomPerspective": T.RandomPerspective(0.4, 1),
    "RandomResizedCrop": T.RandomResizedCrop((5, 4)),
    "RandomRotation": T.RandomRotation(90, expand=True),
    "RandomVerticalFlip": T.RandomVerticalFlip(1),
    "RandAugment": T.RandAugment(9, 20),
    "Resize": T.Resize((6, 20)),
    "then ToTensor": T.Compose([T.RandomCrop(3), T.ToTensor(), T.Normalize(0, 1), T.Pad(1)]),
}


@pytest.mark.parametrize("count", [1, 3, 4, 5, 12, 14])
@pytest.mark.parametrize("name", MOVING)
def test_masks_in_one_array_are_moved_as_each_is(rng, name, count):
    """The layout is what the size of the image says, first or last."""
    image = rng.integers(0, 256, (12, 14, 3)).astype("uint8")
    masks = rng.random((count, 12, 14)) < 0.5
    made = MOVING[name](image, mask=list(masks), rng=np.random.default_rng(3))[1]
    whole = MOVING[name](image, mask=masks, rng=np.random.default_rng(3))[1]
    last = MOVING[name](image, mask=masks.transpose(1, 2, 0), rng=np.random.default_rng(3))[1]
    if name == "FiveCrop":
        made, whole, last = ([m[2] for m in made], whole[2], last[2])
    expected = np.concatenate(made) if name == "then ToTensor" else np.stack(made)
    same(whole, expected)
    same(last, expected if name == "then ToTensor" else expected.transpose(1, 2, 0))


def test_values_of_another_size_are_errors(rng):
    image, other = np.zeros((12, 14, 3), "uint8"), np.zeros((14, 12, 3), "uint8")
    for given in ({"mask": other}, {"mask": other[..., 0]}, {"masks": [image, other]}):
        for transform in (T.RandomCrop(5), T.CenterCrop(5), T.RandomVerticalFlip(1)):
            with pytest.raises(ValueError) as caught:
                transform(image, **given)
            assert re.match(
                type(transform).__name__
                + r": mask is of \(14, 12\) pixels, expected those of the image, \(12, 14\) \(\S*"
                r"test_transforms_of_layouts.py:\d+\)$",
                str(caught.value),
            )
    with pytest.raises(ValueError, match=r"RandomCrop: image is of \(14, 12\) pixels, expected"):
        T.RandomCrop(5)({"images": [image, other]})
    # Transforms that do not depend on it take them.
    resized = T.Compose([T.Resize((5, 5)), T.RandomCrop(3)])({"images": [image, other]})
    assert [one.shape for one in resized["images"]] == [(3, 3, 3)] * 2
    assert T.Grayscale()(image, mask=other)[1] is other


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_parts_keep_the_layout_of_the_image(rng, width):
    pixels = rng.integers(0, 256, (16, 18, 3)).astype("uint8")
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    expected = F.resized_crop(pixels, 1, 2, 8, width, (7, 9))
    same(F.resized_crop(planes, 1, 2, 8, width, (7, 9)).transpose(1, 2, 0), expected)
    # Five channels last, of few rows.
    many = rng.random((16, 18, 5))
    part = F.resized_crop(many, 1, 2, width, 6, (7, 9))
    same(
        part,
        F.resized_crop(many.transpose(2, 0, 1)[None], 1, 2, width, 6, (7, 9))[0].transpose(1, 2, 0),
    )


@pytest.mark.parametrize("size", [1, 3, 4])
def test_chains_keep_the_layout_of_the_image(rng, size):
    pixels = rng.integers(0, 256, (16, 18, 3)).astype("uint8")
    floats = np.ascontiguousarray(pixels.transpose(2, 0, 1)) / np.float32(255)
    ends = [T.Normalize([0.1, 0.2, 0.3], [1, 2, 3]), T.RandomErasing(1), T.RandomHorizontalFlip(1)]
    crop = [T.RandomCrop(size)]
    draw = {"rng": np.random.default_rng(1)}
    expected = T.Compose([*crop, *ends])(mo.array(floats), **draw)
    results = []
    for image, chain in (
        (floats, [*crop, *ends]),
        (pixels, [T.ToTensor(), *crop, *ends]),
        (pixels, [*crop, T.ToTensor(), *ends]),
        (Image.fromarray(pixels), [*crop, T.ToTensor(), *ends]),
    ):
        draw = {"rng": np.random.default_rng(1)}
        results.append(T.Compose(chain)(image, **draw))
    for result in results:
        close(result, expected)
    # Results of functions have a layout of its own.
    chain = T.Compose([T.CenterCrop(9), lambda x: x.transpose(2, 0, 1), T.CenterCrop(8)])
    assert chain(pixels).shape == (3, 8, 8)


def test_generators_are_refused_where_functions_are_recorded(rng):
    images = mo.array(rng.random((2, 3, 8, 8), dtype="float32"))
    for transform in (T.RandomGrayscale(0.5), T.ColorJitter(0.5), T.RandomApply([], 0.5)):
        step = mo.jit(lambda x, own=transform: own(x, rng=np.random.default_rng(0)))
        with pytest.raises(RuntimeError, match=r"a transform draws from rng while a function is"):
            step(images)
    # Draws of a loader's items are no part of the function.
    flip = T.Compose([T.RandomHorizontalFlip(), T.RandomApply([T.ColorJitter(0.5)], 1.0)])
    pixels = rng.random((3, 8, 8), dtype="float32")

    def step(x):
        with Draws(1, 0):
            return x + flip(pixels)

    total = mo.jit(step)(images)
    with Draws(1, 0):
        close(total, images.numpy() + flip(pixels))
    labels = mo.array(np.array([0, 1]))
    mix = mo.jit(lambda x: T.MixUp(1.0, 2)(x, labels, rng=np.random.default_rng(0)))
    with pytest.raises(RuntimeError, match=r"a transform draws from rng while a function is"):
        mix(images)


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (9, 1), (2, 2), (2, 5), (8, 8), (30, 40)])
@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_perspectives_are_drawn_for_each_size(size, scale):
    transform = T.RandomPerspective(scale, 1.0)
    draws = np.random.default_rng(0)
    image, boxes = np.ones((*size, 3), "uint8"), np.array([[0.0, 0, size[1], size[0]]])
    for _ in range(200):
        result, mask, places = transform(image, mask=image[..., 0], boxes=boxes, rng=draws)
        assert result.shape == image.shape
        if min(size) == 1:
            same(result, image)
        rows, columns = np.nonzero(mask)
        left, top, right, bottom = places[0]
        assert left <= columns.min() + 1 and columns.max() <= right
        assert top <= rows.min() + 1 and rows.max() <= bottom
