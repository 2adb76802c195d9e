# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of another size, beside the definitions element by element."""

import math
from fractions import Fraction

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same, same_bits


def keys(d, a=-0.75):
    """Return Keys' weight of a neighbour at a distance."""
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def row(mode, o, n, size, scale, align_corners):
    """Return the weights of n elements in element o of the result."""
    weights = np.zeros(n)
    if mode.startswith("nearest"):
        weights[math.floor((o + Fraction(mode == "nearest-exact", 2)) * scale)] = 1
    elif mode == "area":
        first, end = o * n // size, -(-(o + 1) * n // size)
        weights[first:end] = 1 / (end - first)
    else:
        at = (o + Fraction(1, 2)) * scale - Fraction(1, 2)
        if align_corners:
            at = Fraction(o * (n - 1), max(size - 1, 1))
        elif mode != "bicubic" and n == size:
            at = Fraction(o)
        first = math.floor(at)
        for k in range(first - 1, first + 3):
            distance = float(abs(at - k))
            weight = keys(distance) if mode == "bicubic" else max(0.0, 1 - distance)
            weights[min(max(k, 0), n - 1)] += weight
    return weights


def expected(x, sizes, mode, factors=None, align_corners=False):
    """Return the sums of all elements, weighted, along one dimension after the other."""
    for axis, size in enumerate(sizes, 2):
        n = x.shape[axis]
        scale = Fraction(n, size) if factors is None else 1 / factors[axis - 2]
        matrix = [row(mode, o, n, size, scale, align_corners) for o in range(size)]
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


SIZES = [(6, 8), (9, 12), (2, 2), (5, 3), (1, 7), (3, 4), (4, 6)]
MODES = ["nearest", "nearest-exact", "bilinear", "bicubic", "area"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", MODES)
def test_sizes(rng, mode, size):
    x = floats(rng, (2, 1, 3, 4), "float64")
    close(nn.interpolate(x, size, mode=mode), expected(x, size, mode), rtol=1e-12)


@pytest.mark.parametrize("size", [(6, 9), (1, 7), (2, 4), (3, 4)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_corners_that_stay(rng, mode, size):
    x = floats(rng, (2, 1, 3, 4), "float64")
    actual = nn.interpolate(x, size, mode=mode, align_corners=True)
    close(actual, expected(x, size, mode, align_corners=True), rtol=1e-12)


FACTORS = [(Fraction(2), Fraction(3, 2)), (Fraction(7, 10), Fraction(13, 10))]


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("mode", MODES)
def test_scale_factors(rng, mode, factors):
    x = floats(rng, (1, 2, 5, 7), "float64")
    size = [math.floor(n * factor) for n, factor in zip(x.shape[2:], factors, strict=True)]
    given = tuple(map(float, factors))
    # Distances are what was asked for, though sizes are rounded, or those of the sizes.
    actual = nn.interpolate(x, scale_factor=given, mode=mode)
    close(actual, expected(x, size, mode, factors), rtol=1e-12)
    actual = nn.interpolate(x, scale_factor=given, mode=mode, recompute_scale_factor=True)
    close(actual, expected(x, size, mode), rtol=1e-12)


@pytest.mark.parametrize(
    ("mode", "shape", "size"),
    [
        ("nearest", (2, 3, 5), 8),
        ("linear", (2, 3, 5), 8),
        ("linear", (2, 3, 8), 4),
        ("area", (2, 3, 8), 3),
        ("area", (1, 1, 23), 3),
        ("nearest-exact", (1, 2, 3, 2, 4), (2, 3, 8)),
        ("trilinear", (1, 2, 3, 2, 4), (6, 3, 2)),
        ("area", (1, 2, 3, 2, 4), (2, 2, 6)),
    ],
)
def test_signals_and_volumes(rng, mode, shape, size):
    x = floats(rng, shape, "float64")
    sizes = (size,) if isinstance(size, int) else size
    close(nn.interpolate(x, size, mode=mode), expected(x, sizes, mode), rtol=1e-12)


def test_places_are_exact():
    """The middle of a row is not the element before it, as with a rounded quotient."""
    for n, size in [(2, 82), (3, 123), (49, 2401), (41, 1)]:
        x = np.arange(n).reshape(1, 1, n)
        same(nn.interpolate(x, size), (np.arange(size) * n // size).reshape(1, 1, -1))


def test_types(rng):
    x = rng.integers(0, 100, (1, 1, 3, 4))
    for dtype in ["bool", "uint8", "int64", "float16", "bfloat16"]:
        y = nn.interpolate(mo.array(x).cast(dtype), scale_factor=2)
        assert y.dtype == dtype
        whole = mo.array(x).cast(dtype).cast("int64").numpy()
        same(y.cast("int64"), whole.repeat(2, 2).repeat(2, 3))
    large = np.array([[[2**62 + 1, -(2**53) - 1]]])
    same(nn.interpolate(large, 4), large.repeat(2, 2))
    # Half floats are summed in float32.
    half = np.full((1, 1, 64, 64), 1000.5, "float16")
    for mode in ["bilinear", "bicubic", "area"]:
        same(nn.interpolate(half, 7, mode=mode), np.full((1, 1, 7, 7), 1000.5, "float16"))
        assert nn.interpolate(mo.array(half).cast("bfloat16"), 3, mode=mode).dtype == "bfloat16"


def test_what_an_area_touches_no_more():
    x = np.array([[[1, np.inf, 3, 4, 5]]])
    close(nn.interpolate(x, 3, mode="area"), [[[np.inf, np.inf, 4.5]]])
    x = np.array([[[1, 2, 3, np.inf, 5, 6, 7]]])
    close(nn.interpolate(x, 3, mode="area"), [[[2, np.inf, 6]]])


@pytest.mark.parametrize("mode", MODES)
def test_gradients(rng, mode):
    x = floats(rng, (1, 1, 3, 4), "float64")
    for size in [(6, 3), (2, 7)]:
        check_gradient(lambda x, size=size: nn.interpolate(x, size, mode=mode) ** 2, x)


def smooth_row(mode, o, n, size, scale):
    """Return the weights of n elements by a filter that is as wide as the result is coarse."""
    if n == size:
        return np.eye(n)[o]
    width = max(scale, 1)
    middle = (o + Fraction(1, 2)) * scale - Fraction(1, 2)
    distances = [float(abs(k - middle) / width) for k in range(n)]
    weights = [keys(d, -0.5) if mode == "bicubic" else max(0.0, 1 - d) for d in distances]
    return np.array(weights) / sum(weights)


def smoothed(x, sizes, mode, scales):
    """Return the weighted sums of all elements along one dimension after the other."""
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        n = x.shape[axis]
        matrix = [smooth_row(mode, o, n, size, scale) for o in range(size)]
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


@pytest.mark.parametrize("size", [(3, 4), (1, 1), (7, 2), (14, 18), (6, 9), (5, 20)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_smoothed(rng, mode, size):
    x = floats(rng, (2, 1, 7, 9), "float64")
    scales = [Fraction(n, m) for n, m in zip((7, 9), size, strict=True)]
    actual = nn.interpolate(x, size, mode=mode, antialias=True)
    close(actual, smoothed(x, size, mode, scales), rtol=1e-12)
    scales = [Fraction(n - 1, max(m - 1, 1)) * (m > 1) for n, m in zip((7, 9), size, strict=True)]
    actual = nn.interpolate(x, size, mode=mode, align_corners=True, antialias=True)
    close(actual, smoothed(x, size, mode, scales), rtol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("factors", [*FACTORS, (Fraction(1, 4), Fraction(51, 50))])
def test_smoothed_by_factors(rng, mode, factors):
    x = floats(rng, (1, 2, 5, 7), "float64")
    size = [math.floor(n * factor) for n, factor in zip(x.shape[2:], factors, strict=True)]
    scales = [1 / factor for factor in factors]
    given = tuple(map(float, factors))
    actual = nn.interpolate(x, scale_factor=given, mode=mode, antialias=True)
    close(actual, smoothed(x, size, mode, scales), rtol=1e-12)


#: Results of PyTorch's function of ``sin(arange(12))`` as an image of 3 x 4, rounded.
OF_ANOTHER_LIBRARY = {
    ("bilinear", (2, 3)): [
        -0.148763826,
        0.314926421,
        0.37325801,
        0.203576813,
        -0.273408278,
        -0.398474935,
    ],
    ("bicubic", (2, 3)): [
        -0.233338699,
        0.351584152,
        0.436631838,
        0.247956194,
        -0.340188432,
        -0.444660095,
    ],
    ("bicubic", (5, 2)): [
        0.590402885,
        0.620091331,
        -0.043772122,
        0.443607984,
        -0.844882646,
        0.086416573,
        0.043080243,
        -0.443537217,
        0.72498969,
        -0.754632759,
    ],
}


@pytest.mark.parametrize("key", OF_ANOTHER_LIBRARY)
def test_smoothed_as_elsewhere(key):
    mode, size = key
    x = np.sin(np.arange(12.0)).reshape(1, 1, 3, 4)
    actual = nn.interpolate(x, size, mode=mode, antialias=True)
    close(actual.reshape(-1), OF_ANOTHER_LIBRARY[key], rtol=0, atol=1e-8)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_gradients_of_smoothed(rng, mode):
    x = floats(rng, (1, 1, 6, 7), "float64")
    for size in [(3, 3), (2, 11), (6, 2)]:
        check_gradient(
            lambda x, size=size: nn.interpolate(x, size, mode=mode, antialias=True) ** 2, x
        )


def test_smoothed_passes_over_nothing(rng):
    """Every element counts; constants stay, in halves as well."""
    x = mo.array(floats(rng, (1, 1, 40, 33), "float64"))
    for mode in ["bilinear", "bicubic"]:
        small = nn.interpolate(x, (3, 2), mode=mode, antialias=True)
        assert (mo.grad(small.sum(), x) != 0).all()
        sparse = nn.interpolate(x, (3, 2), mode=mode)
        assert not (mo.grad(sparse.sum(), x) != 0).all()
        half = np.full((1, 1, 64, 64), 1000.5, "float16")
        same(
            nn.interpolate(half, 7, mode=mode, antialias=True),
            np.full((1, 1, 7, 7), 1000.5, "float16"),
        )


def test_batches_of_nothing():
    for mode in MODES:
        assert nn.interpolate(mo.zeros((0, 2, 3, 4)), (5, 6), mode=mode).shape == (0, 2, 5, 6)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_an_image_is_few_kernels(rng, mode):
    """Two dimensions, one after the other, and no tables of places."""
    x = mo.array(floats(rng, (1, 2, 24, 36)))
    y = nn.interpolate(x, (48, 54), mode=mode)
    mo.grad((y * y).sum(), x).sync()
    program = mo.last_program()
    assert len(program.kernels) <= 8
    assert not {"gather", "scatter"} & {op for kernel in program.kernels for op in kernel.operators}


@pytest.mark.parametrize("size", [192, 40])
def test_threads_share_images(rng, size, compiled):
    """And their gradients, to the same bits."""
    x, weights = mo.array(floats(rng, (2, 8, 96, 96))), mo.array(floats(rng, (2, 8, size, size)))

    def resized():
        y = nn.interpolate(x, size, mode="bilinear")
        return y, mo.grad((y * weights).sum(), x)

    y, gradient = same_bits(resized)
    places = expected(x.numpy().astype("float64"), (size, size), "bilinear")
    close(y, places, rtol=1e-5, atol=1e-5)
    # The sum of what all elements are given is that of what the weights give.
    close(
        gradient.astype("float64").sum((2, 3)),
        weights.numpy().astype("float64").sum((2, 3)),
        rtol=1e-3,
        atol=1e-2,
    )


def test_layers(rng):
    x = floats(rng, (1, 2, 3, 4), "float64")
    close(nn.Upsample((6, 8))(x), expected(x, (6, 8), "nearest"))
    two = (Fraction(2),) * 2
    actual = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)(x)
    close(actual, expected(x, (6, 8), "bilinear", two))
    close(nn.UpsamplingNearest2d(scale_factor=2)(x), expected(x, (6, 8), "nearest", two))
    actual = nn.UpsamplingBilinear2d((5, 7))(x)
    close(actual, expected(x, (5, 7), "bilinear", align_corners=True))
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2, mode='nearest')"
    assert repr(nn.UpsamplingBilinear2d(4)) == "UpsamplingBilinear2d(size=4, mode='bilinear')"


IMAGE = (1, 1, 3, 4)
WRONG = [
    ({}, "neither size nor scale_factor is given"),
    ({"size": 3, "scale_factor": 2}, "both are given"),
    ({"size": 3, "mode": "cubic"}, "mode is 'cubic', expected one of 'nearest'"),
    ({"size": 3, "mode": "linear"}, r"shape \(1, 1, 3, 4\), expected 3 dimensions for mode"),
    ({"size": 3, "align_corners": False}, "align_corners is given for mode 'nearest'"),
    ({"size": (3,)}, r"size is \(3\), expected an integer or 2 of them"),
    ({"size": 2.5}, "size is 2.5, expected an integer"),
    ({"size": (0, 3)}, r"\(3, 4\) made \(0, 3\), expected extents from 1"),
    ({"scale_factor": 0.1}, r"\(3, 4\) made \(0, 0\), expected extents from 1"),
    ({"scale_factor": 1e308}, r"made \(2147483648, 2147483648\), expected extents"),
    ({"scale_factor": -1}, "scale_factor is -1, expected a positive number"),
    ({"scale_factor": math.nan}, "scale_factor is nan, expected a positive number"),
    ({"scale_factor": (2, "a")}, r"scale_factor is \(2, 'a'\), expected a positive number"),
    ({"size": 3, "recompute_scale_factor": True}, "recompute_scale_factor is given without"),
    ({"size": 3, "antialias": True}, "antialias is True for mode 'nearest', expected 'bilinear'"),
    ({"size": 3, "mode": "area", "antialias": True}, "antialias is True for mode 'area'"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"^interpolate: .*{message}.*test_interpolate"):
        nn.interpolate(mo.zeros(IMAGE), **arguments)


def test_wrong_tensors():
    with pytest.raises(TypeError, match="x is int32, expected floats for mode 'bilinear'"):
        nn.interpolate(mo.zeros(IMAGE, "int32"), 3, mode="bilinear")
    with pytest.raises(ValueError, match=r"x has shape \(3, 4\), expected 3 or 4 or 5 dim"):
        nn.interpolate(mo.zeros((3, 4)), 3)
    with pytest.raises(ValueError, match=r"\(0, 4\) made \(3, 3\), expected extents from 1"):
        nn.interpolate(mo.zeros((1, 1, 0, 4)), 3)
