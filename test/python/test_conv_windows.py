# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions, and gradients of convolutions by their images, whatever windows are
gathered: of few steps or many, whose phases have no tap or several, with and without borders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from test_conv import transposed_reference


@dataclass(frozen=True)
class Window:
    """The numbers of a transposed convolution."""

    taps: int
    stride: int
    extents: tuple[int, int]
    padding: int = 0
    rest: int = 0
    dilation: int = 1
    groups: int = 1
    number: int = 16
    channels: int = 16
    filters: int = 32

    def __str__(self) -> str:
        return (
            f"{self.taps}s{self.stride}d{self.dilation}p{self.padding}r{self.rest}g{self.groups}-"
            f"{self.number}x{self.channels}x{self.extents[0]}x{self.extents[1]}x{self.filters}"
        )


#: Results that end within a phase, of which some have no tap, were refused.
KNOWN = [
    Window(2, 3, (3, 3), channels=32),
    Window(3, 4, (12, 2), channels=32),
    # As few steps as taps, as in DCGAN; taps that are the longer loop; borders.
    Window(4, 2, (4, 4), padding=1),
    Window(6, 3, (5, 5), padding=5, rest=2, dilation=2, number=3),
    Window(7, 1, (7, 4), number=8),
    # Borders of many images, which are moved inside, with a stride and in groups.
    Window(3, 1, (5, 5), number=8),
    Window(5, 2, (4, 3), number=9, channels=8, filters=31),
    Window(3, 1, (4, 6), dilation=2, groups=2),
]


def draw(seed: int) -> Window:
    """Return a window whose result has elements."""
    rng = np.random.default_rng(seed)
    while True:
        taps, stride, dilation = (int(n) for n in rng.integers((1, 1, 1), (8, 5, 3)))
        rows, columns = (int(n) for n in rng.choice([1, 2, 3, 4, 5, 7, 8, 13, 32], 2))
        reach = dilation * (taps - 1)
        padding = int(rng.choice([0, reach // 2, int(rng.integers(reach + 1))]))
        rest = int(rng.integers(max(stride, dilation)))
        groups, number, channels, filters = (
            int(rng.choice(numbers))
            for numbers in ([1, 1, 2], [1, 2, 8, 16], [3, 8, 16, 32], [1, 8, 16, 33])
        )
        if (min(rows, columns) - 1) * stride + reach + 1 + rest > 2 * padding:
            return Window(
                taps,
                stride,
                (rows, columns),
                padding,
                rest,
                dilation,
                groups,
                number,
                channels,
                filters,
            )


def check(window: Window, dtype: str, bound: float) -> None:
    """Compare a window's result, and the gradient that is the same, with NumPy."""
    rng = np.random.default_rng(window.taps * 100 + window.stride)
    channels, groups, taps = window.groups * window.channels, window.groups, window.taps
    stride, padding, dilation = window.stride, window.padding, window.dilation
    x = rng.standard_normal((window.number, channels, *window.extents))
    weight = rng.standard_normal((channels, window.filters, taps, taps)) / taps
    expected = transposed_reference(x, weight, None, stride, padding, window.rest, groups, dilation)
    given, kernel = mo.array(x.astype(dtype)), mo.array(weight.astype(dtype))
    y = nn.conv_transpose2d(given, kernel, None, stride, padding, window.rest, groups, dilation)
    np.testing.assert_allclose(y.numpy(), expected, rtol=bound, atol=bound)

    # The convolution that takes such images to x, unless it would take a further step.
    image = mo.zeros(expected.shape, dtype)
    forward = nn.conv2d(image, kernel, None, stride, padding, dilation, groups)
    if forward.shape == x.shape:
        (gradient,) = mo.grad((forward * given).sum(), [image])
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=bound, atol=bound)


@pytest.mark.parametrize("window", KNOWN, ids=str)
def test_windows_are_numpys(window: Window) -> None:
    """In f32 as exactly as its sums are."""
    check(window, "float32", 3e-5)


@pytest.mark.parametrize("window", KNOWN[::2], ids=str)
def test_windows_of_f64_are_numpys(window: Window) -> None:
    """Whose vectors are half as long."""
    check(replace(window, channels=8, filters=16), "float64", 1e-12)


#: Taps, strides, dilations and extents along one to three dimensions. In some, one loop
#: numbers several of them, and others have phases.
SPACES = [
    ((5,), (1,), (1,), (6,)),
    ((4,), (3,), (2,), (9,)),
    ((4, 1, 1), (3, 1, 1), (1, 1, 1), (4, 6, 7)),
    ((1, 5, 1), (1, 3, 1), (1, 1, 1), (3, 5, 4)),
    ((3, 2, 3), (1, 2, 1), (1, 1, 2), (3, 4, 3)),
]


@pytest.mark.parametrize(
    "space, dtype, bound",
    [
        *((space, "float32", 3e-5) for space in SPACES),
        *((space, "float64", 1e-12) for space in SPACES[1::3]),
    ],
    ids=str,
)
def test_spaces_and_gradients_are_numpys(
    space: tuple[tuple[int, ...], ...], dtype: str, bound: float
) -> None:
    """Results of a transposed convolution, and its gradients by both operands."""
    taps, stride, dilation, extents = space
    rank, rng = len(taps), np.random.default_rng(len(taps))
    x = rng.standard_normal((16, 8, *extents))
    weight = rng.standard_normal((8, 16, *taps)) / np.prod(taps)
    shape = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(extents, stride, dilation, taps, strict=True)
    ]
    given = rng.standard_normal((16, 16, *shape))
    expected = np.zeros_like(given)
    by_x, by_weight = np.zeros_like(x), np.zeros_like(weight)
    for tap in np.ndindex(*taps):
        reached = tuple(
            slice(d * t, d * t + s * (n - 1) + 1, s)
            for n, s, d, t in zip(extents, stride, dilation, tap, strict=True)
        )
        at: Any = (..., *reached)
        of = (slice(None), slice(None), *tap)
        expected[at] += np.einsum("nc...,cf->nf...", x, weight[of])
        by_x += np.einsum("nf...,cf->nc...", given[at], weight[of])
        sums = "xyz"[:rank]
        by_weight[of] = np.einsum(f"nc{sums},nf{sums}->cf", x, given[at])

    function = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}[rank]
    image, kernel = mo.array(x.astype(dtype)), mo.array(weight.astype(dtype))
    y = function(image, kernel, None, stride, dilation=dilation)
    gradients = mo.grad((y * mo.array(given.astype(dtype))).sum(), [image, kernel])
    for ours, numpys in zip([y, *gradients], [expected, by_x, by_weight], strict=True):
        scale = np.abs(numpys).max()
        np.testing.assert_allclose(ours.numpy(), numpys, rtol=bound, atol=bound * scale)


def test_planes_of_phases_are_numpys() -> None:
    """Rows and columns that one loop numbers stay together beside phases of a third dimension,
    which numbers of taps that vary leave as the plan."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((8, 16, 4, 6, 7))
    for taps, stride in ((3, 2), (2, 2), (4, 3), (5, 3)):
        weight = rng.standard_normal((16, 32, taps, 1, 1)) / taps
        expected = np.zeros((8, 32, 3 * stride + taps, 6, 7))
        for tap in range(taps):
            reached = expected[:, :, tap : tap + 3 * stride + 1 : stride]
            reached += np.einsum("nczyx,cf->nfzyx", x, weight[:, :, tap, 0, 0])
        image, kernel = mo.array(x.astype("float32")), mo.array(weight.astype("float32"))
        y = nn.conv_transpose3d(image, kernel, None, (stride, 1, 1))
        np.testing.assert_allclose(y.numpy(), expected, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize(
    "filters, dtype, bound", [(8, "float32", 3e-5), (12, "float32", 3e-5), (4, "float64", 1e-12)]
)
def test_groups_of_few_filters_are_numpys(filters: int, dtype: str, bound: float) -> None:
    """Gradients by the weights of groups whose filters fill no vector."""
    groups, channels = 4, 6
    rng = np.random.default_rng(filters)
    x = rng.standard_normal((3, groups * channels, 9, 9))
    given = rng.standard_normal((3, groups * filters, 7, 7))
    weight = mo.array(np.zeros((groups * filters, channels, 3, 3), dtype))
    y = nn.conv2d(mo.array(x.astype(dtype)), weight, groups=groups)
    (gradient,) = mo.grad((y * mo.array(given.astype(dtype))).sum(), [weight])
    expected = np.zeros((groups, filters, channels, 3, 3))
    images = x.reshape(3, groups, channels, 9, 9)
    of_result = given.reshape(3, groups, filters, 7, 7)
    for row, column in np.ndindex(3, 3):
        window = images[..., row : row + 7, column : column + 7]
        expected[..., row, column] = np.einsum("ngfyx,ngcyx->gfc", of_result, window)
    scale = np.abs(expected).max()
    found = gradient.numpy().reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=bound, atol=bound * scale)


@pytest.mark.rest
@pytest.mark.parametrize("dtype, bound", [("float32", 3e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("seed", range(40))
def test_drawn_windows_are_numpys(seed: int, dtype: str, bound: float) -> None:
    """Kernels of 1 to 7, strides of 1 to 4, extents of 1 to 32, dilations of 1 and 2."""
    check(draw(seed), dtype, bound)


#: Shapes of images and filters whose last dimensions stay whole, so that one loop numbers these
#: and others: rows, and where the filter moves.
WHOLE = [
    ((2, 64, 14, 14), (64, 64, 3, 1)),
    ((4, 16, 17, 8), (32, 16, 4, 1)),
    ((4, 16, 9, 8), (32, 16, 1, 3)),
    ((2, 8, 6, 5, 5), (16, 8, 3, 1, 1)),
    ((2, 8, 6, 6, 5), (16, 8, 3, 3, 1)),
    ((2, 8, 4, 6, 5), (16, 8, 1, 3, 1)),
]


def flat(images: np.ndarray) -> np.ndarray:
    """Return images with their pixels in one dimension."""
    return images.reshape(*images.shape[:2], -1)


@pytest.mark.parametrize(("images", "filters"), WHOLE, ids=str)
def test_filters_of_one_column(images: tuple[int, ...], filters: tuple[int, ...]) -> None:
    """Forward, and both gradients: products of parts of the images, tap by tap."""
    rng = np.random.default_rng(len(images))
    x, w = (rng.standard_normal(shape) for shape in (images, filters))
    convolve = nn.conv2d if len(images) == 4 else nn.conv3d
    given = [mo.array(part.astype("float32")) for part in (x, w)]
    y = convolve(*given)
    g = rng.standard_normal(y.shape)
    found = [y, *mo.grad((y * mo.array(g.astype("float32"))).sum(), given)]
    expected = [np.zeros(y.shape), np.zeros(images), np.zeros(filters)]
    for tap in np.ndindex(*filters[2:]):
        part = (..., *(slice(t, t + n) for t, n in zip(tap, y.shape[2:], strict=True)))
        expected[0] += np.einsum("nc...,kc->nk...", x[part], w[(..., *tap)])
        expected[1][part] += np.einsum("nk...,kc->nc...", g, w[(..., *tap)])
        expected[2][(..., *tap)] = np.einsum("nkp,ncp->kc", flat(g), flat(x[part]))
    for own, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(own.numpy(), right, rtol=1e-4, atol=1e-4 * np.abs(right).max())


@dataclass(frozen=True)
class Coincidence:
    """A convolution of which taps are as far apart as what they number is long, divided by
    them: one loop numbers them and channels."""

    images: tuple[int, ...]
    filters: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    padding: tuple[int, ...] = (0, 0, 0)


COINCIDENCES = [
    Coincidence((16, 8, 6, 5), (32, 8, 3, 1), (2, 1)),
    Coincidence((4, 8, 6, 5), (32, 4, 3, 1), (2, 1), 2),
    # Phases of the gradient by the images, in a dimension that is one with channels.
    Coincidence((16, 8, 6, 1), (32, 4, 3, 1), (2, 1), 2),
    Coincidence((32, 8, 6, 5), (32, 4, 3, 1), (2, 1), 2),
    Coincidence((32, 16, 6, 5), (32, 8, 3, 1), (2, 1), 2),
    Coincidence((16, 8, 6, 5), (64, 2, 3, 1), (2, 1), 4),
    # The mirror of these; one dimension, and three.
    Coincidence((32, 8, 5, 6), (32, 4, 1, 3), (1, 2), 2),
    Coincidence((32, 8, 6), (32, 4, 3), (2,), 2),
    Coincidence((32, 8, 6), (20, 8, 3), (2,)),
    Coincidence((8, 8, 6, 2, 3), (32, 4, 3, 1, 1), (2, 1, 1), 2),
    # A border of the dimension between taps and channels.
    Coincidence((16, 8, 1, 6), (32, 4, 3, 3), (1, 2), 2, (1, 0)),
]


def check_gradients(case: Coincidence, dtype: str, bound: float) -> None:
    """Compare a convolution and both gradients with sums over taps and groups."""
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(shape) for shape in (case.images, case.filters))
    rank, groups = x.ndim - 2, case.groups
    padding = case.padding[:rank]
    function = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}[rank]
    given = [mo.array(part.astype(dtype)) for part in (x, w)]
    y = function(*given, None, padding=padding, dilation=case.dilation, groups=groups)
    g = rng.standard_normal(y.shape)
    found = [y, *mo.grad((y * mo.array(g.astype(dtype))).sum(), given)]

    # All with a dimension of groups.
    whole = np.pad(x, [(0, 0), (0, 0), *((n, n) for n in padding)])
    images = whole.reshape(len(x), groups, -1, *whole.shape[2:])
    filters = w.reshape(groups, -1, *w.shape[1:])
    given_y = g.reshape(len(x), groups, -1, *y.shape[2:])
    of_y, of_x, of_w = (np.zeros_like(part) for part in (given_y, images, filters))
    sums = "xyz"[:rank]
    for tap in np.ndindex(*w.shape[2:]):
        starts = [t * d for t, d in zip(tap, case.dilation, strict=True)]
        part: Any = (..., *(slice(s, s + n) for s, n in zip(starts, y.shape[2:], strict=True)))
        of_tap = filters[(..., *tap)]
        of_y += np.einsum(f"ngc{sums},gfc->ngf{sums}", images[part], of_tap)
        of_x[part] += np.einsum(f"ngf{sums},gfc->ngc{sums}", given_y, of_tap)
        of_w[(..., *tap)] = np.einsum(f"ngf{sums},ngc{sums}->gfc", given_y, images[part])
    inner: Any = (..., *(slice(n, n + size) for n, size in zip(padding, x.shape[2:], strict=True)))
    expected = [of_y, of_x[inner], of_w]
    for own, right in zip(found, expected, strict=True):
        scale = np.abs(right).max()
        ours = own.numpy().reshape(right.shape)
        np.testing.assert_allclose(ours, right, rtol=bound, atol=bound * scale)


@pytest.mark.parametrize("case", COINCIDENCES, ids=str)
def test_taps_and_channels_of_one_loop(case: Coincidence) -> None:
    """Forward, and both gradients, in f64."""
    check_gradients(case, "float64", 1e-12)


def test_coincidences_of_varying_extents() -> None:
    """In f32, one after the other: the third has extents that vary."""
    for case in COINCIDENCES[:6]:
        check_gradients(case, "float32", 3e-5)
