# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics of what transforms draw: within five deviations, with fixed seeds."""

import metaops as mo
import numpy as np
import pytest
from metaops import transforms as T
from metaops.transforms import functional as F
from transform_cases import make_pixels
from util import close, same

pytestmark = pytest.mark.processor

PIXELS = make_pixels()


def shares(outcomes, options):
    counts = np.array([sum(own == option for own in outcomes) for option in options])
    assert counts.sum() == len(outcomes)
    return counts / len(outcomes)


def assert_shares(outcomes, expected):
    found = shares(outcomes, expected)
    wanted = np.array(list(expected.values()))
    assert (np.abs(found - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / len(outcomes))).all()


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_probabilities(p):
    rng = np.random.default_rng(1)
    image = np.array([[0, 1]], "uint8")
    transforms = [T.RandomHorizontalFlip(p), T.RandomApply([F.hflip], p), T.RandomInvert(p)]
    for transform in transforms:
        is_changed = [bool(transform(image, rng=rng)[0, 0]) for _ in range(2000)]
        assert_shares(is_changed, {True: p, False: 1 - p})


def test_choices_and_orders():
    rng = np.random.default_rng(2)
    adds = [lambda x, k=k: x * 10 + k for k in (1, 2, 3)]
    image = np.zeros((1, 1), "int64")
    choice = T.RandomChoice(adds, [1, 2, 5])
    chosen = [int(choice(image, rng=rng)[0, 0]) for _ in range(2000)]
    assert_shares(chosen, {1: 1 / 8, 2: 2 / 8, 3: 5 / 8})
    order = T.RandomOrder(adds)
    orders = [int(order(image, rng=rng)[0, 0]) for _ in range(2000)]
    assert_shares(orders, dict.fromkeys((123, 132, 213, 231, 312, 321), 1 / 6))


def test_places_of_crops():
    rng = np.random.default_rng(3)
    image = np.arange(12, dtype="uint8").reshape(3, 4)
    crop = T.RandomCrop((2, 3))
    places = [int(crop(image, rng=rng)[0, 0]) for _ in range(2000)]
    assert_shares(places, dict.fromkeys((0, 1, 4, 5), 1 / 4))


def test_areas_and_ratios_of_crops():
    rng = np.random.default_rng(4)
    image = np.zeros((300, 400), "uint8")
    crop = T.RandomResizedCrop(8, (0.1, 0.5), (0.5, 2.0))
    parts = [crop.make_params(image, rng) for _ in range(2000)]
    areas = np.array([part.height * part.width / 120000 for part in parts])
    ratios = np.log2([part.width / part.height for part in parts])
    assert areas.min() > 0.098 and areas.max() < 0.502
    assert abs(ratios).max() < 1.02
    assert abs(areas.mean() - 0.3) < 0.02 and abs(ratios.mean()) < 0.1
    assert all(0 <= p.top <= 300 - p.height and 0 <= p.left <= 400 - p.width for p in parts)
    # The largest part in the middle that has the ratio, where no other fits.
    narrow = T.RandomResizedCrop(8, (1, 1), (1, 1)).make_params(image, rng)
    assert narrow == (0, 50, 300, 300)


def test_factors_of_colours():
    rng = np.random.default_rng(5)
    jitter = T.ColorJitter(0.4, (0.5, 3.0), 2, 0.1)
    drawn = [dict(jitter.make_params(PIXELS, rng)) for _ in range(1500)]
    ranges = {
        F.adjust_brightness: (0.6, 1.4),
        F.adjust_contrast: (0.5, 3.0),
        F.adjust_saturation: (0.0, 3.0),
        F.adjust_hue: (-0.1, 0.1),
    }
    for change, (least, most) in ranges.items():
        values = np.array([own[change.__wrapped__] for own in drawn])
        assert least <= values.min() and values.max() <= most
        deviation = (most - least) / np.sqrt(12 * len(values))
        assert abs(values.mean() - (least + most) / 2) < 5 * deviation
    first = [next(iter(own)) for own in drawn]
    assert_shares(first, {change.__wrapped__: 1 / 4 for change in ranges})
    assert T.ColorJitter().make_params(PIXELS, rng) == []


def test_parts_that_are_erased():
    rng = np.random.default_rng(6)
    erasing = T.RandomErasing(1.0, (0.1, 0.3), (0.5, 2.0), 1.0)
    shares_of_area = []
    for _ in range(300):
        erased = erasing(np.zeros((1, 60, 80), "float32"), rng=rng)
        rows, columns = np.nonzero(erased[0])
        height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
        assert erased.sum() == height * width
        assert 0.45 < height / width < 2.2
        shares_of_area.append(erased.mean())
    assert min(shares_of_area) > 0.095 and max(shares_of_area) < 0.305
    assert abs(np.mean(shares_of_area) - 0.2) < 0.02


def test_steps_of_randaugment():
    rng = np.random.default_rng(7)
    augment = T.RandAugment(2, 9)
    flat = np.full((9, 9, 3), 100, "uint8")
    steps = [step for _ in range(1000) for step in augment.make_params(flat, rng)]
    kinds = ["place" if step.place else "colour" if step.colour else "none" for step in steps]
    assert_shares(kinds, {"place": 5 / 14, "colour": 8 / 14, "none": 1 / 14})
    angles = [step.place["angle"] for step in steps if step.place and step.place["angle"]]
    assert set(np.round(angles, 9)) == {9.0, -9.0}
    # The strongest posterisation keeps four bits, the weakest changes nothing.
    assert T.RandAugment(0, 0)(PIXELS, rng=rng) is PIXELS


@pytest.mark.parametrize("make", [np.asarray, mo.array])
def test_mixes_of_batches(make):
    rng = np.random.default_rng(8)
    images = rng.random((4, 1, 8, 10), dtype="float32")
    labels = np.array([0, 1, 2, 1])
    mixed, soft = T.MixUp(0.5, 3)(make(images), make(labels), rng=np.random.default_rng(1))
    share = float(np.random.default_rng(1).beta(0.5, 0.5))
    close(mixed, images * share + np.roll(images, 1, 0) * (1 - share))
    close(np.asarray(soft).sum(-1), np.ones(4))
    for seed in range(20):
        batch = T.CutMix(num_classes=3)(
            (make(images), make(labels)), rng=np.random.default_rng(seed)
        )
        cut, soft = map(np.asarray, batch)
        is_own = cut == images
        same(cut[~is_own], np.roll(images, 1, 0)[~is_own])
        close(soft[0, 0], is_own[0].mean())


class Drawn(mo.data.Dataset):
    """Images by their numbers, transformed as items of a data set."""

    def __init__(self) -> None:
        self.change = T.Compose(
            [
                T.RandomCrop(24, padding=4),
                T.RandomHorizontalFlip(),
                T.RandAugment(),
                T.ToTensor(),
                T.RandomErasing(0.5),
            ]
        )

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> np.ndarray:
        pixels = np.random.default_rng(index).integers(0, 256, (28, 28, 3), dtype=np.uint8)
        return self.change(pixels)


def test_items_of_a_data_set_have_draws_of_their_own() -> None:
    epochs = []
    for workers in (0, 1, 2):
        loader = mo.data.DataLoader(
            Drawn(), batch_size=5, shuffle=True, seed=3, num_workers=workers, as_arrays=True
        )
        epochs.append([np.concatenate(list(loader)) for _ in range(2)])
        loader.close()
    first, second = epochs[0]
    assert not np.array_equal(first, second)
    for others in epochs[1:]:
        assert np.array_equal(others[0], first)
        assert np.array_equal(others[1], second)
