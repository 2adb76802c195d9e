# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Winograd's convolution beside the sum of products that it stands for."""

from fractions import Fraction

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.nn import winograd
from util import AVX512, check_gradient, close, conv2d_reference, floats, on_processor, same

PROCESSOR = on_processor(mo.zeros(()))

#: Images, kernels and padding: results that fill tiles and that do not, fewer than one,
#: padding wider than the kernel, one channel, and several columns of vectors.
SHAPES = [
    ((2, 3, 10, 6), 4, (0, 0)),
    ((2, 3, 7, 9), 4, (1, 1)),
    ((1, 2, 3, 3), 1, (0, 0)),
    ((1, 1, 1, 1), 1, (1, 1)),
    ((2, 5, 4, 13), 3, (3, 0)),
    ((3, 1, 5, 2), 2, (0, 4)),
    ((1, 17, 12, 8), 33, (2, 5)),
]


def numbers(rng, shape, K, dtype="float64"):
    return floats(rng, shape, dtype), floats(rng, (K, shape[1], 3, 3), dtype)


@pytest.fixture
def large(rng, monkeypatch):
    """Images and kernels for which the flag makes a difference, with a padding of 1."""
    count, channels, extent = 4, 64, 20
    if not PROCESSOR:
        # An emulated device takes minutes for so many. If transforms are taken to cost
        # nothing, the flag makes a difference for fewer, too.
        monkeypatch.setattr(winograd, "_TRANSFORM_COST", 0)
        count, channels, extent = 2, 16, 12
    x = rng.standard_normal((count, channels, extent, extent)).astype("float32")
    w = rng.standard_normal((channels, channels, 3, 3)) / (3 * channels**0.5)
    w = w.astype("float32")
    assert winograd.applies(mo.array(x), mo.array(w), (1, 1), (1, 1), (1, 1), 1)
    return x, w


def with_flag(x, w, *arguments, **parameters):
    with mo.flag_scope(convolution="winograd"):
        return nn.conv2d(mo.array(x), mo.array(w), *arguments, **parameters)


# The form


def test_transforms_are_those_of_the_paper():
    """At 0, 1, -1, 2, -2: Lavin and Gray, section 4.3."""
    points = [Fraction(k) for k in (0, 1, -1, 2, -2)]
    images, kernels, results = winograd._transforms(points, 4)
    same(
        images,
        np.array(
            [
                [4, 0, -5, 0, 1, 0],
                [0, -4, -4, 1, 1, 0],
                [0, 4, -4, -1, 1, 0],
                [0, -2, -1, 2, 1, 0],
                [0, 2, -1, -2, 1, 0],
                [0, 4, 0, -5, 0, 1],
            ],
            "float64",
        ),
    )
    same(
        kernels,
        np.array(
            [
                [1 / 4, 0, 0],
                [-1 / 6, -1 / 6, -1 / 6],
                [-1 / 6, 1 / 6, -1 / 6],
                [1 / 24, 1 / 12, 1 / 6],
                [1 / 24, -1 / 12, 1 / 6],
                [0, 0, 1],
            ]
        ),
    )
    same(
        results,
        np.array(
            [
                [1, 1, 1, 1, 1, 0],
                [0, 1, -1, 2, -2, 0],
                [0, 1, 1, 4, 4, 0],
                [0, 1, -1, 8, -8, 1],
            ],
            "float64",
        ),
    )


@pytest.mark.parametrize("shape, K, padding", SHAPES)
def test_values(rng, shape, K, padding):
    x, w = numbers(rng, shape, K)
    y = winograd.convolve(mo.array(x), mo.array(w), padding)
    close(y, conv2d_reference(x, w, padding=padding), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32(rng, dtype):
    x, w = (mo.array(n).cast(dtype) for n in numbers(rng, (2, 5, 9, 6), 3))
    y = winograd.convolve(x, w, (1, 1))
    assert y.dtype == dtype
    expected = winograd.convolve(x.float32(), w.float32(), (1, 1)).cast(dtype)
    same(y.float32(), expected.float32().numpy())


def test_extents_that_grow(rng):
    w = floats(rng, (5, 4, 3, 3), "float64")
    for width in range(6, 15):
        x = floats(rng, (1, 4, 6, width), "float64")
        y = winograd.convolve(mo.array(x), mo.array(w), (1, 1))
        close(y, conv2d_reference(x, w, padding=(1, 1)), rtol=1e-12, atol=1e-12)


@pytest.mark.processor
def test_kernels(large, compiled):
    """Four transforms, the product, and what lies in another order for them."""
    x, w = (mo.array(n).sync() for n in large)
    with_flag(x, w, padding=1).sync()
    kernels = mo.last_program().kernels
    assert len(kernels) == (8 if AVX512 else 9), str(mo.last_program())
    # Nothing of the size of the direct form's products, or of all windows, is written.
    tiles = 4 * 5 * 5
    assert max(kernel.bytes_written for kernel in kernels) == 36 * tiles * 64 * 4


# Rounding


def error(y, exact):
    """Return the root of the mean square of the error, relative to the results'."""
    return np.sqrt(np.mean((y.numpy() - exact) ** 2) / np.mean(exact**2))


@pytest.mark.parametrize("sign", [np.asarray, np.abs])
def test_error(large, sign):
    """Sums of products that cancel have more rounding than the sums they make.

    How much more no bound says that is near: Barabasz et al., "Error Analysis and
    Improving the Accuracy of Winograd Convolution for Deep Neural Networks", 2020.
    Measured are 8e-7 and 7e-7, 4e-7 for the direct form, and 1.7e-6 with the points
    0, 1, -1, 2, -2.
    """
    x, w = large
    x = sign(x)
    exact = nn.conv2d(mo.array(x, "float64"), mo.array(w, "float64"), padding=1).numpy()
    assert error(with_flag(x, w, padding=1), exact) < 1.2e-6
    assert error(with_flag(x.astype("float64"), w.astype("float64"), padding=1), exact) < 3e-15


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_not_finite_takes_its_tiles(rng, value):
    x, w = numbers(rng, (1, 2, 14, 10), 3)
    x[0, 1, 5, 3] = value
    y = winograd.convolve(mo.array(x), mo.array(w), (0, 0)).numpy()
    # Tiles of results begin at 0 and 4, and read two rows and columns behind their ends.
    assert np.isnan(y[:, :, :8, :4]).all()
    assert np.isfinite(y[:, :, 8:]).all() and np.isfinite(y[:, :, :, 4:]).all()


# Gradients


@pytest.mark.parametrize(
    "shape, K, padding", [((1, 2, 5, 6), 2, (1, 1)), ((1, 1, 7, 3), 1, (0, 2))]
)
def test_gradients(rng, shape, K, padding):
    x, w = numbers(rng, shape, K)
    check_gradient(lambda x, w: winograd.convolve(x, w, padding), x, w)


# The last one takes an emulated device long.
@pytest.mark.parametrize("shape, K, padding", SHAPES if PROCESSOR else SHAPES[:-1])
def test_gradients_are_those_of_the_direct_form(rng, shape, K, padding):
    x, w = (mo.array(n) for n in numbers(rng, shape, K))
    results = []
    for convolve in (winograd.convolve, nn.conv2d):
        y = convolve(x, w, padding=padding)
        weights = mo.array(np.cos(np.arange(y.size)).reshape(y.shape))
        gradients = mo.grad((y * y * weights).sum(), [x, w])
        results.append([y, *gradients, *mo.grad((gradients[0].square()).sum(), [x, w])])
    for ours, direct in zip(*results, strict=True):
        close(ours, direct.numpy(), rtol=1e-9, atol=1e-9)


# The flag


def test_the_direct_form_is_the_default(large):
    assert mo.flags.convolution == "direct"
    with pytest.raises(ValueError, match="given 'fft', expected 'direct' or 'winograd'"):
        mo.flags.convolution = "fft"
    x, w = large
    before = nn.conv2d(mo.array(x), mo.array(w), padding=1).numpy()
    ours = with_flag(x, w, padding=1).numpy()
    assert (ours != before).any(), "another form rounds differently"
    same(ours, winograd.convolve(mo.array(x), mo.array(w), (1, 1)))
    same(nn.conv2d(mo.array(x), mo.array(w), padding=1), before)


def test_layers_follow_the_flag_when_they_are_called(large):
    x, w = large
    layer = nn.Conv2d(w.shape[1], w.shape[0], 3, padding=1)
    layer.weight.assign(mo.array(w))
    bias = layer.bias.numpy().reshape(1, -1, 1, 1)
    with mo.flag_scope(convolution="winograd"):
        y = layer(mo.array(x))
    same(y, winograd.convolve(mo.array(x), mo.array(w), (1, 1)).numpy() + bias)


@pytest.mark.parametrize(
    "kernel, parameters",
    [
        ((3, 3), {"stride": 2}),
        ((3, 3), {"stride": (1, 2)}),
        ((3, 3), {"dilation": 2}),
        ((3, 3), {"groups": 2}),
        ((1, 1), {}),
        ((3, 1), {}),
        ((5, 5), {}),
    ],
)
def test_other_convolutions_stay_direct(rng, large, kernel, parameters):
    x, w = large
    w = floats(rng, (w.shape[0], w.shape[1] // parameters.get("groups", 1), *kernel))
    expected = nn.conv2d(mo.array(x), mo.array(w), padding=1, **parameters).numpy()
    same(with_flag(x, w, padding=1, **parameters), expected)


@pytest.mark.parametrize(
    "x, w, padding",
    [
        # Too few channels, too few tiles for the kernels' transforms, none at all.
        ((4, 3, 20, 20), (64, 3, 3, 3), 0),
        ((1, 64, 7, 7), (64, 64, 3, 3), 1),
        ((0, 64, 20, 20), (64, 64, 3, 3), 0),
    ],
)
def test_convolutions_that_would_gain_nothing_stay_direct(rng, x, w, padding):
    x, w = floats(rng, x), floats(rng, w)
    expected = nn.conv2d(mo.array(x), mo.array(w), padding=padding).numpy()
    same(with_flag(x, w, padding=padding), expected)


def test_integers_stay_direct(rng, large):
    x, w = (rng.integers(-9, 9, n.shape, dtype="int32") for n in large)
    same(with_flag(x, w, padding=1), nn.conv2d(mo.array(x), mo.array(w), padding=1).numpy())


def test_a_model_learns(large):
    """Updates, the history and the cache of programs see only another graph."""
    x, w = large
    losses = []
    for form in ("direct", "winograd"):
        layer = nn.Conv2d(w.shape[1], w.shape[0], 3, padding=1, bias=False)
        layer.weight.assign(mo.array(w))
        optimizer = mo.optim.SGD(layer.parameters(), lr=0.1)
        with mo.flag_scope(convolution=form):
            for _ in range(3):
                loss = (layer(mo.array(x)) - mo.array(x)).square().mean()
                optimizer.step(loss)
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
