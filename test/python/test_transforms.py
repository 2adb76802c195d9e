# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of samples: one draw is for all values. Statistics are in test_transform_draws.py."""

import collections
import inspect
import pathlib
import pickle
import random
import re

import metaops as mo
import numpy as np
import pytest
from metaops import transforms as T
from metaops.transforms import functional as F
from PIL import Image
from transform_cases import make_pixels
from util import close, same

pytestmark = pytest.mark.processor

PIXELS = make_pixels()
PICTURE = Image.fromarray(PIXELS)

#: An instance of each class of images.
MADE = {
    "CenterCrop": lambda: T.CenterCrop((9, 10)),
    "ColorJitter": lambda: T.ColorJitter(0.4, 0.4, (0.5, 2.0), 0.1),
    "Compose": lambda: T.Compose([T.RandomCrop(9, 2), T.RandomHorizontalFlip()]),
    "ConvertImageDtype": lambda: T.Compose([T.PILToTensor(), T.ConvertImageDtype("float32")]),
    "FiveCrop": lambda: T.FiveCrop(8),
    "GaussianBlur": lambda: T.GaussianBlur(3),
    "Grayscale": lambda: T.Grayscale(),
    "Lambda": lambda: T.Lambda(F.hflip),
    "Normalize": lambda: T.Compose([T.ToTensor(), T.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4])]),
    "PILToTensor": lambda: T.PILToTensor(),
    "Pad": lambda: T.Pad((1, 2, 3, 4), 5),
    "RandAugment": lambda: T.RandAugment(3, 15),
    "RandomAdjustSharpness": lambda: T.RandomAdjustSharpness(2.0),
    "RandomAffine": lambda: T.RandomAffine(30, (0.1, 0.2), (0.5, 1.5), (-5, 5, -10, 10)),
    "RandomApply": lambda: T.RandomApply([T.RandomCrop(9)], 0.7),
    "RandomAutocontrast": lambda: T.RandomAutocontrast(),
    "RandomChoice": lambda: T.RandomChoice([T.RandomCrop(9), T.RandomVerticalFlip(1)], [1, 3]),
    "RandomCrop": lambda: T.RandomCrop((9, 10), 2),
    "RandomEqualize": lambda: T.RandomEqualize(),
    "RandomErasing": lambda: T.Compose([T.ToTensor(), T.RandomErasing(0.8, value="random")]),
    "RandomGrayscale": lambda: T.RandomGrayscale(0.5),
    "RandomHorizontalFlip": lambda: T.RandomHorizontalFlip(),
    "RandomInvert": lambda: T.RandomInvert(),
    "RandomOrder": lambda: T.RandomOrder([T.RandomCrop(9), T.RandomInvert(), T.Pad(1)]),
    "RandomPerspective": lambda: T.RandomPerspective(),
    "RandomPosterize": lambda: T.RandomPosterize(3),
    "RandomResizedCrop": lambda: T.RandomResizedCrop(8),
    "RandomRotation": lambda: T.RandomRotation((-20, 40), expand=True),
    "RandomSolarize": lambda: T.RandomSolarize(100),
    "RandomVerticalFlip": lambda: T.RandomVerticalFlip(),
    "Resize": lambda: T.Resize(9),
    "TenCrop": lambda: T.TenCrop(8, vertical_flip=True),
    "ToPILImage": lambda: T.ToPILImage(),
    "ToTensor": lambda: T.ToTensor(),
}


def arrays_of(value):
    """Return what a transform has returned as arrays."""
    return [np.asarray(own) for own in (value if type(value) is tuple else (value,))]


def test_each_class_is_made():
    classes = {name for name in T.__all__ if inspect.isclass(getattr(T, name))}
    assert classes == {*MADE, "CutMix", "MixUp", "Transform"}


def test_the_page_lists_all_names():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "Transforms.md").read_text()
    section = page.split("\n## Transforms\n")[1].split("\n## ")[0]
    table, functions = section.split("The functions are")
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted([*listed, "functional"]) == sorted(T.__all__)
    assert re.findall(r"`(\w+)`", functions) == sorted(F.__all__)


@pytest.mark.parametrize("name", MADE)
def test_what_is_drawn_follows_from_the_generator(name):
    """Not from the global generators, which stay; copies draw the same."""
    transform = MADE[name]()
    before = random.getstate(), str(np.random.get_state())
    for image in (PICTURE, PIXELS):
        results = [arrays_of(transform(image, rng=np.random.default_rng(k // 2))) for k in range(4)]
        copy = pickle.loads(pickle.dumps(transform))
        results += [arrays_of(copy(image, rng=np.random.default_rng(0)))] * 2
        for first, second in zip(results[::2], results[1::2], strict=True):
            assert [a.tobytes() for a in first] == [a.tobytes() for a in second]
        for first, second in zip(results[0], results[4], strict=True):
            same(first, second)
    assert before == (random.getstate(), str(np.random.get_state()))
    assert repr(transform) == repr(copy)
    assert repr(transform).startswith(type(transform).__name__ + "(")


@pytest.mark.parametrize("name", MADE)
def test_arrays_are_changed_as_pictures_are(name):
    transform = MADE[name]()
    for seed in range(4):
        of_picture = arrays_of(transform(PICTURE, rng=np.random.default_rng(seed)))
        of_pixels = arrays_of(transform(PIXELS, rng=np.random.default_rng(seed)))
        for picture, pixels in zip(of_picture, of_pixels, strict=True):
            close(pixels.reshape(picture.shape), picture)
    assert np.asarray(PIXELS).tobytes() == make_pixels().tobytes()


def test_without_a_generator_numbers_follow_from_the_seed():
    transform = T.Compose([T.RandomCrop(5), T.RandomHorizontalFlip(), T.ColorJitter(0.5)])
    results = []
    for seed in (1, 1, 2):
        mo.seed(seed)
        results.append([transform(PIXELS).tobytes() for _ in range(4)])
    assert results[0] == results[1] != results[2]
    assert len(set(results[0])) == 4


# Samples

BOXES = np.array([[2.0, 3.0, 8.0, 9.0], [0.0, 0.0, 17.0, 13.0]])


def test_forms_of_samples():
    flip = T.RandomHorizontalFlip(1)
    image, mask, boxes = PIXELS, PIXELS[..., 0] // 32, BOXES
    new_image, new_mask = image[:, ::-1], mask[:, ::-1]
    new_boxes = np.array([[9.0, 3, 15, 9], [0, 0, 17, 13]])

    same(flip(image), new_image)
    result = flip(image, 7)
    assert type(result) is tuple and result[1:] == (7,)
    same(result[0], new_image)
    result = flip([image, "label", image])
    assert type(result) is list and result[2] is image
    same(result[0], new_image)

    result = flip(image, mask=mask, boxes=boxes, labels=[1, 2])
    assert type(result) is tuple and result[3:] == ([1, 2],)
    for own, expected in zip(result, (new_image, new_mask, new_boxes), strict=False):
        same(own, expected)
    same(flip(image=image), new_image)

    target = {"boxes": boxes, "masks": [mask, mask], "labels": [1, 2], "info": {"mask": mask}}
    first, second = flip((image, target))
    same(first, new_image)
    assert second.keys() == target.keys() and second["labels"] == [1, 2]
    same(second["boxes"], new_boxes)
    for own in (*second["masks"], second["info"]["mask"]):
        same(own, new_mask)

    result = flip({"images": (image, image), "mask": mask, 3: 4})
    assert type(result["images"]) is tuple and result[3] == 4
    same(result["images"][1], new_image)
    for wrong in ((3, image), ({"label": image},), ()):
        with pytest.raises((TypeError, ValueError), match=r"RandomHorizontalFlip|hflip"):
            flip(*wrong)


def test_containers_without_images_pass_as_they_are():
    class Pair(list):
        def __init__(self, first, second):
            super().__init__([first, second])

    labels = [Pair(1, 2), {"x": [1]}, collections.defaultdict(list, a=1), [np.zeros(2)]]
    result = T.RandomHorizontalFlip(1)(PIXELS, *labels, own=labels)
    assert all(a is b for a, b in zip(result[1:], [*labels, labels], strict=True))
    sample = collections.defaultdict(list, image=PIXELS, label=labels)
    flipped = T.RandomHorizontalFlip(1)(sample)
    same(flipped["image"], PIXELS[:, ::-1])
    assert type(flipped) is collections.defaultdict and flipped.default_factory is list
    assert flipped["label"] is labels and sample["image"] is PIXELS


def framed(rng):
    """Return an image with a bright rectangle, its mask and its box."""
    height, width = (int(n) for n in rng.integers(40, 60, 2))
    top, left = int(rng.integers(5, 15)), int(rng.integers(5, 15))
    bottom, right = top + int(rng.integers(12, 20)), left + int(rng.integers(12, 20))
    mask = np.zeros((height, width), "int64")
    mask[top:bottom, left:right] = 7
    image = np.repeat((mask * 30).astype("uint8")[..., None], 3, -1)
    return image, mask, np.array([[left, top, right, bottom]])


#: Transforms that move pixels, and how many pixels a box may be larger than what it is of.
MOVING = {
    "CenterCrop": (lambda: T.CenterCrop((30, 34)), 0),
    "Pad": (lambda: T.Pad((1, 2, 3, 4)), 0),
    "Resize": (lambda: T.Resize(71, "nearest"), 1),
    "RandomCrop": (lambda: T.RandomCrop((30, 34), (1, 2), pad_if_needed=True), 0),
    "RandomResizedCrop": (lambda: T.RandomResizedCrop(64, (0.5, 1), interpolation="nearest"), 2),
    "RandomHorizontalFlip": (lambda: T.RandomHorizontalFlip(), 0),
    "RandomVerticalFlip": (lambda: T.RandomVerticalFlip(), 0),
    "RandomRotation": (lambda: T.RandomRotation(180, expand=True), 2),
    "RandomRotation around a point": (lambda: T.RandomRotation(30, center=(3, 4)), 2),
    "RandomAffine": (lambda: T.RandomAffine(45, (0.1, 0.2), (0.5, 1.5), (-9, 9, -9, 9)), 3),
    "RandomPerspective": (lambda: T.RandomPerspective(0.4, interpolation="nearest"), 3),
    "RandAugment": (lambda: T.RandAugment(1, 30), 3),
}


@pytest.mark.parametrize("name", MOVING)
def test_one_draw_is_for_the_image_its_mask_and_its_boxes(name):
    make, slack = MOVING[name]
    transform = make()
    seen = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        image, mask, boxes = framed(rng)
        made, moved, box = transform(image, mask=mask, boxes=boxes, rng=rng)
        assert moved.dtype == mask.dtype and box.dtype == boxes.dtype
        assert made.shape[:2] == moved.shape and set(np.unique(moved)) <= {0, 7}
        if name != "RandAugment":  # which changes colours, too
            same(made[..., 0], (moved * 30).astype("uint8"))
        rows, columns = np.nonzero(moved)
        if len(rows):
            seen += 1
            around = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert np.abs(box[0] - around).max() <= slack, (box, around)
    assert seen > 15


def test_boxes_are_cut_at_the_edges():
    crop = T.CenterCrop((5, 7))
    (_, boxes) = crop(np.zeros((13, 17), "uint8"), boxes=np.array([[0, 0, 17, 13], [0, 0, 1, 1]]))
    same(boxes, np.array([[0, 0, 7, 5], [0, 0, 0, 0]]))
    flip = T.RandomVerticalFlip(1)
    assert flip(PIXELS, boxes=np.zeros((0, 4)))[1].shape == (0, 4)
    assert flip(PIXELS, boxes=[])[1].shape == (0, 4)
    same(flip(PIXELS, boxes=[[1.0, 2.0, 3.0, 4.0]])[1], np.array([[1.0, 9, 3, 11]]))


def test_colours_leave_masks_and_boxes():
    transform = T.Compose([T.ColorJitter(0.5), T.RandomInvert(1), T.GaussianBlur(3), T.Grayscale()])
    mask = PIXELS[..., 0]
    image, own, boxes = transform(PIXELS, mask=mask, boxes=BOXES, rng=np.random.default_rng(0))
    assert own is mask and boxes is BOXES and image.shape == (13, 17, 1)


def test_masks_become_planes_of_their_type():
    image, mask = T.ToTensor()(PICTURE, mask=np.arange(6).reshape(2, 3))
    assert image.dtype == np.float32 and image.shape == (3, 13, 17)
    same(mask, np.arange(6).reshape(1, 2, 3))


def test_crops_are_transformed_one_by_one():
    chain = T.Compose([T.TenCrop(8), T.ToTensor(), T.Normalize(0.5, 0.5), T.Lambda(np.stack)])
    result, label = chain(PICTURE, 3)
    expected = [(F.to_tensor(part) - 0.5) / 0.5 for part in F.ten_crop(PICTURE, 8)]
    close(result, np.stack(expected))
    assert label == 3
    with pytest.raises(TypeError, match=r"FiveCrop: a sample has boxes"):
        T.FiveCrop(8)(PIXELS, boxes=BOXES)


def test_functions_and_classes_of_ones_own():
    class Shift(T.Transform):
        def make_params(self, image, rng):
            return int(rng.integers(1, 4))

        def transform_image(self, image, params):
            return np.roll(image, params, 1)

        transform_mask = transform_image

    chain = T.Compose([Shift(), lambda image: image // 2])
    image, mask = chain(PIXELS, mask=PIXELS, rng=np.random.default_rng(0))
    same(image, mask // 2)
    assert not np.array_equal(mask, PIXELS)


def test_vars_are_transformed_as_arrays():
    planes = F.to_tensor(PICTURE)
    chain = T.Compose(
        [
            T.RandomCrop(9, 2),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.3, 0.3, 0.3, 0.1),
            T.RandomResizedCrop(8, interpolation="nearest"),
            T.RandomGrayscale(0.3),
            T.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]),
            T.RandomErasing(1.0),
        ]
    )
    for seed in range(3):
        expected = chain(planes, rng=np.random.default_rng(seed))
        result = chain(mo.array(planes), rng=np.random.default_rng(seed))
        close(result, expected, atol=1e-5)


# Bad input

BAD = {
    "p": (lambda: T.RandomHorizontalFlip(1.5), ValueError, "RandomHorizontalFlip: p is 1.5, exp"),
    "p of nan": (lambda: T.RandomInvert(float("nan")), ValueError, "p is nan, expected one in"),
    "p of a text": (lambda: T.RandomApply([], "x"), TypeError, "p is 'x', expected a number"),
    "crop": (
        lambda: T.RandomCrop((14, 3))(PIXELS),
        ValueError,
        r"RandomCrop: size is \(14, 3\), expected at most the image's, \(13, 17\)",
    ),
    "size": (lambda: T.RandomCrop((1, 2, 3)), ValueError, r"RandomCrop: size is \(1, 2, 3\), exp"),
    "size of 0": (lambda: T.CenterCrop(0), ValueError, "CenterCrop: size is 0, expected an intege"),
    "mode": (lambda: T.Pad(1, 0, "wrap"), ValueError, "Pad: padding_mode is 'wrap', expected one"),
    "scale": (
        lambda: T.RandomResizedCrop(3, (0.5, 2)),
        ValueError,
        r"scale is 2.0, expected it in",
    ),
    "order": (lambda: T.RandomResizedCrop(3, (0.5, 0.2)), ValueError, "the smaller number first"),
    "ratio": (lambda: T.RandomResizedCrop(3, ratio=(0, 1)), ValueError, "ratio is 0.0, expected a"),
    "filter": (lambda: T.Resize(3, "cubic"), ValueError, "Resize: interpolation is 'cubic'"),
    "filter of warps": (lambda: T.RandomRotation(3, "lanczos"), ValueError, "'lanczos', expected"),
    "degrees": (lambda: T.RandomRotation(-3), ValueError, "degrees is -3, expected 0 or more"),
    "degrees of three": (lambda: T.RandomAffine((1, 2, 3)), ValueError, "expected two numbers"),
    "translate": (
        lambda: T.RandomAffine(0, (0, 2)),
        ValueError,
        r"translate is 2.0, expected it in",
    ),
    "scale of affine": (lambda: T.RandomAffine(0, scale=(0, 1)), ValueError, "a positive number"),
    "distortion": (lambda: T.RandomPerspective(1.1), ValueError, "distortion_scale is 1.1, expec"),
    "brightness": (
        lambda: T.ColorJitter(-0.1),
        ValueError,
        "brightness is -0.1, expected 0 or mor",
    ),
    "hue": (
        lambda: T.ColorJitter(hue=0.6),
        ValueError,
        "hue is 0.6, expected 0 to 0.5, or a range",
    ),
    "hues": (lambda: T.ColorJitter(hue=(-0.6, 0)), ValueError, r"hue is -0.6, expected it in"),
    "kernel": (lambda: T.GaussianBlur(4), ValueError, "GaussianBlur: kernel_size is 4, expected"),
    "sigma": (lambda: T.GaussianBlur(3, (0, 1)), ValueError, "sigma is 0.0, expected a positive"),
    "channels": (lambda: T.Grayscale(2), ValueError, "num_output_channels is 2, expected 1 or 3"),
    "bits": (lambda: T.RandomPosterize(9), ValueError, "bits is 9, expected it in"),
    "sharpness": (lambda: T.RandomAdjustSharpness(-1), ValueError, "sharpness_factor is -1, exp"),
    "std": (
        lambda: T.Normalize(0, [1, 0]),
        ValueError,
        r"Normalize: std is \(1, 0\), expected none",
    ),
    "bytes": (lambda: T.Normalize(0, 1)(PIXELS), TypeError, "is uint8, expected floats; to_tensor"),
    "erase": (lambda: T.RandomErasing(1)(PICTURE), TypeError, "expected an array or a Var; see to"),
    "value": (lambda: T.RandomErasing(value="x"), TypeError, "value is 'x', expected a number"),
    "transforms": (lambda: T.Compose(3), TypeError, "Compose: transforms is .*expected a list"),
    "a number among them": (lambda: T.Compose([3]), TypeError, "Lambda: function is .*, expected"),
    "none to choose": (lambda: T.RandomChoice([]), ValueError, "transforms is empty, expected one"),
    "weights": (
        lambda: T.RandomChoice([F.hflip], [0]),
        ValueError,
        "expected 1 numbers of 0 or more",
    ),
    "magnitude": (lambda: T.RandAugment(2, 31), ValueError, "magnitude is 31, expected less than"),
    "num_ops": (lambda: T.RandAugment(-1), ValueError, "num_ops is -1, expected 0 or more"),
    "bins": (
        lambda: T.RandAugment(2, 0, 1),
        ValueError,
        "num_magnitude_bins is 1, expected an int",
    ),
    "alpha": (lambda: T.MixUp(0), ValueError, "MixUp: alpha is 0, expected a positive number"),
    "classes": (
        lambda: T.CutMix(num_classes=0),
        ValueError,
        "num_classes is 0, expected an intege",
    ),
    "weights of text": (
        lambda: T.RandomChoice([F.hflip], "a"),
        ValueError,
        "RandomChoice: p is 'a', expected 1 numbers",
    ),
    "endless factors": (
        lambda: T.ColorJitter(float("inf")),
        ValueError,
        "ColorJitter: brightness is inf, expected 0 or more, or a range",
    ),
    "endless range": (
        lambda: T.ColorJitter(0, (0, float("inf"))),
        ValueError,
        "contrast is inf, expected 0 or more, and finite",
    ),
    "a range too wide": (
        lambda: T.RandomRotation(1.7e308),
        ValueError,
        "RandomRotation: degrees is 1.7e.308, expected a smaller range",
    ),
    "no image": (lambda: T.RandomCrop(3)("x"), TypeError, "RandomCrop: image is"),
    "no image with boxes": (
        lambda: T.CenterCrop(3)(image=3, boxes=BOXES),
        TypeError,
        "CenterCrop: image is an int, expected an image",
    ),
    "rng": (
        lambda: T.RandomCrop(3)(PIXELS, rng=3),
        TypeError,
        "rng is .*expected a numpy.random.G",
    ),
    "boxes": (
        lambda: T.Pad(1)(PIXELS, boxes=[1, 2]),
        ValueError,
        r"boxes have shape \(2,\) and dtyp",
    ),
    "boxes of text": (
        lambda: T.Pad(1)(PIXELS, boxes="x"),
        TypeError,
        "boxes are .*, expected an arr",
    ),
    "dtype": (lambda: T.ConvertImageDtype("float7"), (TypeError, ValueError), "float7"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_an_error_at_its_line(name):
    call, kind, message = BAD[name]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(message, str(caught.value)), str(caught.value)
    assert re.search(r"\(\S*test_transforms\.py:\d+\)$", str(caught.value)), str(caught.value)
