# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of functions of images, for tests and for what torchvision returns for them.

`data/make_torchvision_file.py` writes data/torchvision_transforms.npz by them.
"""

from __future__ import annotations

import numpy as np

#: Four corners of the image, and where they are moved.
CORNERS = [[0, 0], [16, 0], [16, 12], [0, 12]]
INWARDS = [[2, 1], [14, 0], [15, 11], [1, 10]]

#: A name, the function, its arguments and keywords: of images of bytes.
CASES = {
    "hflip": ("hflip", (), {}),
    "vflip": ("vflip", (), {}),
    "crop": ("crop", (3, 4, 9, 11), {}),
    "crop outside": ("crop", (-3, -4, 12, 30), {}),
    "center_crop": ("center_crop", ([10, 12],), {}),
    "center_crop odd": ("center_crop", ([7, 8],), {}),
    "center_crop larger": ("center_crop", ([20, 12],), {}),
    "resize": ("resize", ([10, 24],), {}),
    "resize by a number": ("resize", (7,), {}),
    "resize with a bound": ("resize", (12,), {"max_size": 14}),
    "resize nearest": ("resize", ([9, 21],), {"interpolation": "nearest"}),
    "resize bicubic": ("resize", ([9, 21],), {"interpolation": "bicubic"}),
    "pad": ("pad", ([1, 2, 3, 4], 7), {}),
    "pad reflect": ("pad", ([1, 2, 3, 4], 0, "reflect"), {}),
    "pad symmetric": ("pad", ([1, 2], 0, "symmetric"), {}),
    "pad edge": ("pad", (2, 0, "edge"), {}),
    "resized_crop": ("resized_crop", (2, 3, 10, 12, [7, 9]), {}),
    "adjust_brightness": ("adjust_brightness", (1.3,), {}),
    "adjust_contrast": ("adjust_contrast", (0.6,), {}),
    "adjust_saturation": ("adjust_saturation", (1.7,), {}),
    "adjust_hue": ("adjust_hue", (-0.2,), {}),
    "adjust_gamma": ("adjust_gamma", (1.4, 0.9), {}),
    "adjust_sharpness": ("adjust_sharpness", (1.8,), {}),
    "to_grayscale": ("to_grayscale", (1,), {}),
    "to_grayscale of three": ("to_grayscale", (3,), {}),
    "invert": ("invert", (), {}),
    "solarize": ("solarize", (100,), {}),
    "posterize": ("posterize", (3,), {}),
    "equalize": ("equalize", (), {}),
    "autocontrast": ("autocontrast", (), {}),
    "gaussian_blur": ("gaussian_blur", ([5, 7], [1.2, 0.8]), {}),
    "gaussian_blur by size": ("gaussian_blur", (3,), {}),
}
for _name in ("nearest", "bilinear", "bicubic"):
    _by = {"interpolation": _name}
    CASES |= {
        f"rotate {_name}": ("rotate", (33.3,), _by),
        f"rotate and expand {_name}": ("rotate", (-50,), {**_by, "expand": True}),
        f"rotate by a quarter {_name}": ("rotate", (90,), {**_by, "expand": True}),
        f"rotate at a point {_name}": ("rotate", (20,), {**_by, "center": (3, 4), "fill": 9}),
        f"affine {_name}": ("affine", (20.0, [3, -2], 1.2, [5.0, -3.0]), {**_by, "fill": 50}),
        f"affine at a point {_name}": (
            "affine",
            (-20.0, [3, -2], 0.8, [5.0]),
            {**_by, "center": [1, 2]},
        ),
        f"perspective {_name}": ("perspective", (CORNERS, INWARDS), {**_by, "fill": 3}),
    }

#: The same of planes of floats.
FLOAT_CASES = {
    name: case
    for name, case in CASES.items()
    if case[0] not in ("rotate", "affine", "perspective", "solarize", "equalize")
} | {"solarize": ("solarize", (0.4,), {})}


def make_pixels() -> np.ndarray:
    """Return an image of bytes, ``(13, 17, 3)``, that is neither flat nor noise alone."""
    rng = np.random.default_rng(43)
    rows, columns, channels = np.ogrid[:13, :17, :3]
    waves = 110 + 90 * np.sin(rows * 0.5 + channels) * np.cos(columns * 0.4 - channels)
    return (waves + rng.integers(0, 50, (13, 17, 3))).astype("uint8")
