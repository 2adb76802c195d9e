# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images at places that are computed, beside the definition place by place."""

import itertools
import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same


def keys(d, a=-0.75):
    """Return Keys' weight of a neighbour at a distance."""
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def mirrored(at, low, high):
    """Return a place mirrored at the ends of a range until it is inside."""
    while high > low and not low <= at <= high:
        at = 2 * low - at if at < low else 2 * high - at
    return at if high > low else low


def moved(at, n, padding_mode, align_corners):
    """Return where a place finds its value."""
    if padding_mode == "border":
        return min(max(at, 0), n - 1)
    if padding_mode == "reflection":
        low, high = (0, n - 1) if align_corners else (-0.5, n - 0.5)
        return min(max(mirrored(at, low, high), 0), n - 1)
    return at


def row(at, n, mode, padding_mode, align_corners):
    """Return the weights of n elements at a place."""
    span = n - 1 if align_corners else n
    at = (at + 1) * span / 2 - (0 if align_corners else 0.5)
    if mode != "bicubic":
        at = moved(at, n, padding_mode, align_corners)
    if mode == "nearest":
        terms = [(round(at), 1.0)]
    else:
        weight = keys if mode == "bicubic" else (lambda d: max(0.0, 1 - abs(d)))
        terms = [(math.floor(at) + k, weight(at - math.floor(at) - k)) for k in (-1, 0, 1, 2)]
    weights = np.zeros(n)
    for k, weight in terms:
        if mode == "bicubic":
            k = round(moved(k, n, padding_mode, align_corners))
        if 0 <= k < n:
            weights[k] += weight
    return weights


def expected(x, grid, mode, padding_mode, align_corners):
    """Return the weighted sum of all elements at each place."""
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for batch, *place in itertools.product(*map(range, grid.shape[:-1])):
        value = x[batch]
        for axis, at in enumerate(grid[(batch, *place)][::-1]):
            weights = row(at, x.shape[2 + axis], mode, padding_mode, align_corners)
            value = np.tensordot(value, weights, (1, 0))
        result[(batch, slice(None), *place)] = value
    return result


OPTIONS = list(itertools.product(["zeros", "border", "reflection"], [False, True]))


@pytest.mark.parametrize(("padding_mode", "align_corners"), OPTIONS)
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_images(rng, mode, padding_mode, align_corners):
    x = floats(rng, (2, 3, 4, 5), "float64")
    # Inside, around, and far away.
    grid = rng.uniform(-1, 1, (2, 3, 7, 2)) * [[[[0.9]], [[1.6]], [[9.0]]]]
    actual = nn.grid_sample(x, grid, mode, padding_mode, align_corners)
    close(actual, expected(x, grid, mode, padding_mode, align_corners), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("padding_mode", "align_corners"), OPTIONS)
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_volumes(rng, mode, padding_mode, align_corners):
    x = floats(rng, (1, 2, 3, 1, 4), "float64")
    grid = rng.uniform(-2, 2, (1, 2, 3, 4, 3))
    actual = nn.grid_sample(x, grid, mode, padding_mode, align_corners)
    close(actual, expected(x, grid, mode, padding_mode, align_corners), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_gradients(rng, mode, padding_mode):
    x = floats(rng, (1, 2, 3, 4), "float64")
    # In elements: not where the slope changes, which no difference would tell.
    places = rng.integers(-2, 5, (1, 2, 3, 2)) + rng.uniform(0.1, 0.4, (1, 2, 3, 2))
    grid = (2 * places + 1) / [4, 3] - 1
    check_gradient(lambda x, grid: nn.grid_sample(x, grid, mode, padding_mode) ** 2, x, grid)


def test_gradients_at_elements():
    """They are those of the right side, but none at the end of what is not zeros."""
    x = np.array([[[[1.0, 4.0, 9.0]]]])
    grid = mo.array(np.array([[[[-1.0, 0], [0, 0], [1, 0]]]]))
    for padding_mode, slopes in {"border": [0, 5, 0], "reflection": [0, 5, 0]}.items():
        y = nn.grid_sample(x, grid, "bilinear", padding_mode, align_corners=True)
        close(mo.grad(y, grid)[0, 0, :, 0], slopes)
    y = nn.grid_sample(x, grid, align_corners=True)
    close(mo.grad(y, grid)[0, 0, :, 0], [3, 5, -9])


def test_gradients_of_the_nearest(rng):
    x, grid = floats(rng, (1, 2, 3, 4), "float64"), rng.uniform(-1.2, 1.2, (1, 2, 3, 2))
    check_gradient(lambda x: nn.grid_sample(x, grid, "nearest") ** 2, x)


def test_places_that_are_no_numbers():
    x = mo.array(np.ones((1, 1, 3, 4), "float32"))
    grid = np.array([[[[np.inf, 0], [0, -np.inf], [np.nan, 0], [1e30, -1e30], [0, 0]]]], "float32")
    for mode in ["nearest", "bilinear", "bicubic"]:
        close(nn.grid_sample(x, grid, mode), [[[[0, 0, 0, 0, 1]]]])
        close(nn.grid_sample(x, grid, mode, "border"), np.ones((1, 1, 1, 5)))
        assert nn.grid_sample(x, grid, mode, "reflection").numpy()[0, 0, 0, 4] == 1


def test_types_and_extents(rng):
    x, grid = floats(rng, (2, 3, 4, 5)), floats(rng, (2, 2, 6, 2), low=-1, high=1)
    for dtype in ["float16", "bfloat16"]:
        half = mo.array(x).cast(dtype)
        result = nn.grid_sample(half, grid)
        assert result.dtype == dtype
        same(result, nn.grid_sample(half.cast("float32"), grid).cast(dtype))
    for mode in ["nearest", "bilinear", "bicubic"]:
        assert nn.grid_sample(x[:0], grid[:0], mode).shape == (0, 3, 2, 6)
        assert nn.grid_sample(x, grid[:, :0], mode).shape == (2, 3, 0, 6)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 2, 1, 3)])
def test_affine_grid(rng, size, align_corners):
    rank = len(size) - 2
    theta = floats(rng, (2, rank, rank + 1), "float64")
    places = []
    for n in size[2:]:
        edge = 1.0 if align_corners else 1 - 1 / n
        places.append(np.linspace(-edge, edge, n) if n > 1 else np.zeros(1))
    base = np.stack([*np.meshgrid(*places, indexing="ij")[::-1], np.ones(size[2:])], -1)
    result = nn.affine_grid(theta, size, align_corners)
    close(result, np.einsum("nij,...j->n...i", theta, base), rtol=1e-12)
    check_gradient(lambda t: nn.affine_grid(t, size, align_corners) ** 2, theta)


@pytest.mark.parametrize("align_corners", [False, True])
def test_the_identity_leaves_an_image(rng, align_corners):
    x = floats(rng, (2, 3, 4, 5))
    theta = np.tile(np.eye(2, 3, dtype="float32"), (2, 1, 1))
    grid = nn.affine_grid(theta, x.shape, align_corners)
    for mode in ["nearest", "bilinear", "bicubic"]:
        close(nn.grid_sample(x, grid, mode, "border", align_corners), x, atol=2e-6)


IMAGE, GRID = (1, 2, 3, 4), (1, 5, 6, 2)
WRONG = [
    (lambda x, g: nn.grid_sample(x[0], g), r"x has shape \(2, 3, 4\) and the grid \(1, 5, 6, 2\)"),
    (lambda x, g: nn.grid_sample(x, g[..., :1]), r"the grid \(1, 5, 6, 1\), expected"),
    (lambda x, g: nn.grid_sample(x, g[:0]), r"the grid \(0, 5, 6, 2\), expected"),
    (lambda x, g: nn.grid_sample(x[:, :, :0], g), r"\(1, 2, 0, 4\), which has no elements"),
    (lambda x, g: nn.grid_sample(x, g, "linear"), "mode is 'linear' for x of 4 dimensions, exp"),
    (
        lambda x, g: nn.grid_sample(mo.ones((1, 1, 2, 2, 2)), mo.ones((1, 1, 1, 1, 3)), "bicubic"),
        "mode is 'bicubic' for x of 5 dimensions, expected one of 'bilinear', 'nearest'",
    ),
    (lambda x, g: nn.grid_sample(x, g, padding_mode="wrap"), "padding_mode is 'wrap' for x"),
    (lambda x, g: nn.affine_grid(g, (1, 2, 3, 4)), r"theta has shape \(1, 5, 6, 2\) and size is"),
    (lambda x, g: nn.affine_grid(x[0], (2, 1, 3)), r"size is \(2, 1, 3\), expected \(N, 2, 3\)"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=f"{message}.*test_grid_sample"):
        call(mo.zeros(IMAGE), mo.zeros(GRID))


def test_wrong_types():
    with pytest.raises(TypeError, match="grid_sample: grid is int64, expected floats"):
        nn.grid_sample(mo.zeros(IMAGE), mo.zeros(GRID, "int64"))
    with pytest.raises(TypeError, match="grid_sample: x is bool, expected floats"):
        nn.grid_sample(mo.zeros(IMAGE, "bool"), mo.zeros(GRID))
    with pytest.raises(TypeError, match="affine_grid: theta is int32, expected floats"):
        nn.affine_grid(mo.zeros((1, 2, 3), "int32"), IMAGE)
