# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows as columns and back, sliding windows, and pixels that become channels."""

import itertools

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from numpy.lib.stride_tricks import sliding_window_view
from util import check_gradient, close, floats, same


def columns(x, kernel, dilation, padding, stride):
    """Return the windows of images, one after the other."""
    (h, w), (dh, dw), (ph, pw), (sh, sw) = kernel, dilation, padding, stride
    padded = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    high, wide = dh * (h - 1) + 1, dw * (w - 1) + 1
    tops = range(0, padded.shape[2] - high + 1, sh)
    lefts = range(0, padded.shape[3] - wide + 1, sw)
    windows = [
        padded[:, :, top : top + high : dh, left : left + wide : dw].reshape(len(x), -1)
        for top, left in itertools.product(tops, lefts)
    ]
    return np.stack(windows, -1)


#: Kernel, dilation, padding, stride.
WINDOWS = [
    ((2, 3), (1, 1), (0, 0), (1, 1)),
    ((3, 2), (1, 2), (1, 0), (1, 1)),
    ((2, 2), (1, 1), (0, 1), (2, 3)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
]


@pytest.mark.parametrize("numbers", WINDOWS)
def test_unfold(rng, numbers):
    x = floats(rng, (2, 3, 5, 6))
    expected = columns(x, *numbers)
    same(nn.unfold(x, *numbers), expected)
    same(nn.unfold(x[0], *numbers), expected[0])
    same(nn.Unfold(*numbers)(x), expected)
    whole = rng.integers(-(2**62), 2**62, (1, 2, 5, 6))
    same(nn.unfold(whole, *numbers), columns(whole, *numbers))


@pytest.mark.parametrize("numbers", WINDOWS)
def test_fold(rng, numbers):
    image = (2, 3, 5, 6)
    # Which element of the images each element of the columns is; 0 is the border.
    numbered = columns(np.arange(1, 181).reshape(image), *numbers)
    x = floats(rng, numbered.shape, "float64")
    expected = np.bincount(numbered.ravel(), x.ravel(), 181)[1:].reshape(image)
    close(nn.fold(x, (5, 6), *numbers), expected, rtol=1e-12)
    close(nn.fold(x[0], (5, 6), *numbers), expected[0], rtol=1e-12)
    close(nn.Fold((5, 6), *numbers)(x), expected, rtol=1e-12)


def test_gradients_of_columns(rng):
    x = floats(rng, (1, 2, 3, 4), "float64")
    check_gradient(lambda x: nn.unfold(x, 2, padding=1) ** 2, x)
    y = floats(rng, (1, 4, 6), "float64")
    check_gradient(lambda y: nn.fold(y, (3, 4), 2) ** 2, y)


def test_columns_of_nothing():
    assert nn.unfold(mo.zeros((0, 2, 3, 4)), 2).shape == (0, 8, 6)
    assert nn.fold(mo.zeros((0, 8, 6)), (3, 4), 2).shape == (0, 2, 3, 4)


WRONG = [
    (lambda: nn.unfold(mo.zeros((3, 4)), 2), r"unfold: x has shape \(3, 4\), expected \(N, C,"),
    (lambda: nn.unfold(mo.zeros((1, 1, 3, 4)), 5), "unfold: a kernel that covers 5 does not fit"),
    (lambda: nn.unfold(mo.zeros((1, 1, 3, 4)), "2"), "unfold: kernel_size is '2', expected"),
    (lambda: nn.Fold((3, 4), 2, stride=(1, 2, 3)), r"Fold: stride is \(1, 2, 3\), expected an"),
    (lambda: nn.fold(mo.zeros((1, 4, 7)), (3, 4), 2), r"fold: x has shape \(1, 4, 7\), expected"),
    (lambda: nn.fold(mo.zeros((1, 5, 6)), (3, 4), 2), r"expected \(N, C \* 4, 6\) or \(C \* 4, 6"),
    (lambda: nn.fold(mo.zeros((1, 4, 6)), (3, 4.5), 2), "fold: output_size is"),
    (lambda: nn.pixel_shuffle(mo.zeros((3, 4, 5)), 2), r"expected \(\.\.\., C \* 4, H, W\)"),
    (lambda: nn.pixel_unshuffle(mo.zeros((1, 4, 5)), 2), r"expected \(\.\.\., H \* 2, W \* 2\)"),
    (lambda: nn.channel_shuffle(mo.zeros((1, 4)), 3), r"expected \(N, C \* 3, \.\.\.\)"),
    (lambda: nn.PixelShuffle(0), "PixelShuffle: upscale_factor is 0, expected a positive integer"),
    (lambda: nn.ChannelShuffle(1.5), r"groups is 1\.5, expected a positive integer"),
    (lambda: nn.Unflatten(1, (2, 3))(mo.zeros((2, 5))), r"dimension 1 of \(2, 5\) cannot be \(2,"),
    (lambda: nn.Unflatten(1, (-1, -1))(mo.zeros((2, 5))), r"cannot be \(-1, -1\)"),
    (lambda: nn.Unflatten(1, (-1, 0))(mo.zeros((2, 5))), r"cannot be \(-1, 0\)"),
    (lambda: mo.sliding_window_view(mo.zeros((2, 5)), 2), "window_shape is 2 for 2 dimensions"),
    (lambda: mo.sliding_window_view(mo.zeros(5), 6), r"a window of \(6\) does not fit into \(5\)"),
    (lambda: mo.sliding_window_view(mo.zeros(5), -1), r"a window of \(-1\) does not fit"),
    (lambda: mo.sliding_window_view(mo.zeros(5), 2, 1), "dimension 1 is out of range"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=f"{message}.*test_fold"):
        call()


@pytest.mark.parametrize(
    ("window", "axis"),
    [((1, 2, 2), None), (2, -1), ((2, 3), (1, 2)), ((2, 2), (2, 2)), ((0,), (1,)), ([3], [1])],
)
def test_sliding_windows(rng, window, axis):
    for dtype in ["float32", "int64", "bool"]:
        x = rng.integers(0, 2, (2, 3, 4)).astype(dtype)
        same(mo.sliding_window_view(x, window, axis), sliding_window_view(x, window, axis))
    same(
        mo.sliding_window_view(x=x, window_shape=window, axis=axis).sum(),
        sliding_window_view(x, window, axis).sum(),
    )


@pytest.mark.usefixtures("compiled")
def test_sliding_windows_are_read_in_place(rng):
    x = mo.array(floats(rng, (64, 64)))
    sums = mo.sliding_window_view(x, (5, 5)).sum((-2, -1))
    close(sums, sliding_window_view(x.numpy(), (5, 5)).sum((-2, -1)), rtol=1e-5, atol=1e-5)
    assert len(mo.last_program().kernels) == 1
    number = mo.array(2.0)
    same(mo.sliding_window_view(number, ()), np.float32(2))
    with pytest.raises(TypeError, match=r"window_shape is 1\.5, expected integers"):
        mo.sliding_window_view(x, 1.5)
    check_gradient(lambda x: mo.sliding_window_view(x, 2, 0) ** 2, floats(rng, (3, 2), "float64"))


def test_pixel_shuffle(rng):
    x = rng.integers(0, 2**62, (2, 12, 3, 4))
    y = nn.pixel_shuffle(x, 2).numpy()
    assert y.shape == (2, 3, 6, 8)
    for c, i, j in itertools.product(range(3), range(6), range(8)):
        same(y[:, c, i, j], x[:, 4 * c + i % 2 * 2 + j % 2, i // 2, j // 2])
    same(nn.pixel_unshuffle(y, 2), x)
    same(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x[0])), x[0])
    same(nn.pixel_shuffle(x[None], 2), y[None])
    assert nn.pixel_shuffle(mo.zeros((0, 4, 2, 3)), 2).shape == (0, 1, 4, 6)
    check_gradient(lambda x: nn.pixel_shuffle(x, 2) ** 2, floats(rng, (4, 1, 2), "float64"))


def test_channel_shuffle(rng):
    x = floats(rng, (2, 6, 3))
    same(nn.channel_shuffle(x, 3), x[:, [0, 2, 4, 1, 3, 5]])
    same(nn.ChannelShuffle(2)(x), x[:, [0, 3, 1, 4, 2, 5]])


def test_unflatten(rng):
    x = floats(rng, (2, 12, 3))
    same(nn.Unflatten(1, (3, 4))(x), x.reshape(2, 3, 4, 3))
    same(nn.Unflatten(-2, (2, -1, 3))(x), x.reshape(2, 2, 2, 3, 3))
    assert nn.Unflatten(1, (0, 3))(mo.zeros((2, 0))).shape == (2, 0, 3)
    same(nn.Flatten()(nn.Unflatten(1, (12, 1))(x)), x.reshape(2, 36))
    with pytest.raises(TypeError, match="Unflatten: unflattened_size is 4, expected integers"):
        nn.Unflatten(1, 4)
    assert repr(nn.Unflatten(1, [3, 4])) == "Unflatten(dim=1, unflattened_size=(3, 4))"


def test_layers_show_their_numbers():
    assert repr(nn.PixelShuffle(2)) == "PixelShuffle(upscale_factor=2)"
    assert repr(nn.PixelUnshuffle(3)) == "PixelUnshuffle(downscale_factor=3)"
    assert repr(nn.ChannelShuffle(2)) == "ChannelShuffle(groups=2)"
    numbers = "kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, 1)"
    assert repr(nn.Unfold(2)) == f"Unfold({numbers})"
    assert repr(nn.Fold(4, 2)) == f"Fold(output_size=(4, 4), {numbers})"
