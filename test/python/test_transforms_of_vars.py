# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of Vars: chains of arithmetic are one kernel.

Kernels are counted in a process of their own, to which no extents are known to vary.
"""

import json
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from metaops.transforms import functional as F
from util import close

pytestmark = pytest.mark.processor

LABELS = np.array([0, 1])
#: Chains, and how many kernels they are: one, and another one where pixels of what was
#: computed are moved or their channels are needed together, or for the place of a box.
CHAINS = {
    "for training": (1, lambda x: F.normalize(F.hflip(F.crop(F.pad(x, 2), 1, 3, 8, 8)), 0.5, 0.25)),
    "in parts": (1, lambda x: F.normalize(F.center_crop(F.crop(x, 1, 2, 10, 11), 9), 0.5, 0.5)),
    "of tones": (1, lambda x: F.posterize(F.solarize(F.adjust_gamma(x, 1.5), 0.5), 3)),
    "erased": (1, lambda x: F.erase(F.invert(F.vflip(x)), 1, 2, 3, 4, 0.5)),
    "resized": (1, lambda x: F.normalize(F.resize(F.hflip(x), [8, 16], "nearest"), 0.5, 0.5)),
    "of colours": (1, lambda x: F.invert(F.adjust_hue(F.adjust_saturation(x, 0.5), 0.1))),
    "of brighter colours": (2, lambda x: F.adjust_saturation(F.adjust_brightness(x, 1.2), 0.5)),
    "moved late": (2, lambda x: F.hflip(F.normalize(x, 0.5, 0.5))),
    "grey": (1, lambda x: F.normalize(F.to_grayscale(x), 0.5, 0.5)),
    "mixed": (1, lambda x: F.normalize(F.mixup(F.hflip(x), LABELS, 0.3, 2)[0], 0.5, 0.5)),
    "cut": (2, lambda x: F.normalize(F.cutmix(x, LABELS, (1, 2, 5, 6), 2)[0], 0.5, 0.5)),
}

#: The same of bytes.
BYTES = {
    "for training": (
        1,
        lambda x: F.normalize(
            F.convert_image_dtype(F.hflip(F.crop(x, 1, 2, 8, 8))), 0.5, [1, 2, 3]
        ),
    ),
    "moved late": (2, lambda x: F.hflip(F.normalize(F.convert_image_dtype(x), 0.5, 0.5))),
}
TABLES = {"floats": CHAINS, "bytes": BYTES}
NAMES = [(kind, name) for kind, table in TABLES.items() for name in table]


def make_images(kind):
    pixels = np.random.default_rng(5).integers(0, 256, (2, 3, 12, 14)).astype("uint8")
    return pixels if kind == "bytes" else pixels / np.float32(255)


def count_kernels():
    """Return the number of kernels of each chain."""
    counts = {}
    for kind, name in NAMES:
        mo.sync([TABLES[kind][name][1](mo.array(make_images(kind)))])
        counts[f"{kind} {name}"] = len(mo.last_program().kernels)
    return counts


@pytest.fixture(scope="module")
def counted():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_chain_of_arithmetic_is_one_kernel(counted, kind, name):
    assert counted[f"{kind} {name}"] == TABLES[kind][name][0]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_chains_are_those_of_arrays(kind, name):
    chain = TABLES[kind][name][1]
    images = make_images(kind)
    close(chain(mo.array(images)), chain(images), atol=4e-6)


@pytest.mark.compiled
def test_other_places_and_factors_are_no_other_kernels(rng):
    leaf = mo.array(rng.random((2, 3, 12, 14), dtype="float32"))

    def step(top, left, factor):
        part = F.crop(leaf, top, left, 8, 8)
        mo.sync([F.normalize(F.adjust_brightness(part, factor), 0.5, 0.25)])

    for k in range(3):
        step(k, k, 1 + 0.1 * k)
    before = mo.stats()["kernels_compiled"]
    for k in range(4):
        step(k, 5 - k, 1.5 - 0.1 * k)
    assert mo.stats()["kernels_compiled"] == before


if __name__ == "__main__":
    print(json.dumps(count_kernels()))
