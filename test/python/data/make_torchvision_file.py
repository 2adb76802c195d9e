# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes torchvision_transforms.npz, which test_transforms_of_images.py reads.

With torchvision, which tests do not have: what its functions return for images of Pillow,
and for planes of floats.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode, functional
from torchvision.transforms.v2 import functional as planes_functional

sys.path.insert(0, str(Path(__file__).parents[1]))

from transform_cases import CASES, FLOAT_CASES, make_pixels


def call(module, image, function, arguments, keywords):
    """Return what a function of torchvision makes of an image."""
    keywords = dict(keywords)
    if "interpolation" in keywords:
        keywords["interpolation"] = InterpolationMode(keywords["interpolation"])
    return getattr(module, function)(image, *arguments, **keywords)


def main() -> None:
    """Write the file beside this one."""
    pixels = make_pixels()
    values = {}
    for kind, picture in (
        ("RGB", Image.fromarray(pixels)),
        ("L", Image.fromarray(pixels).convert("L")),
    ):
        for name, case in CASES.items():
            if kind == "L" and case[0] in ("rotate", "affine", "perspective"):
                continue
            values[f"{kind} {name}"] = np.asarray(call(functional, picture, *case))
    image = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
    for name, (function, arguments, keywords) in FLOAT_CASES.items():
        own = {"to_grayscale": "rgb_to_grayscale"}.get(function, function)
        # Pillow's "nearest" is called "nearest-exact" there.
        if keywords.get("interpolation") == "nearest":
            keywords = {"interpolation": "nearest-exact"}
        result = call(planes_functional, image.float() / 255, own, arguments, keywords)
        values[f"floats {name}"] = result.numpy()
    np.savez_compressed(Path(__file__).with_name("torchvision_transforms.npz"), **values)


if __name__ == "__main__":
    main()
