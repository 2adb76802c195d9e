# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms of windows, and cosine transforms: values by their definitions, derivatives."""

import pathlib

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close

HERE = pathlib.Path(__file__).name


def windows(x, size, step, weights):
    """Return the transforms of windows of one signal."""
    starts = range(0, len(x) - size + 1, step)
    return np.fft.fft([x[i : i + size] * weights for i in starts]).T


@pytest.mark.parametrize("size", [1, 8, 15])
@pytest.mark.parametrize("step", [None, 1, 5])
@pytest.mark.parametrize("is_complex", [False, True])
def test_windows_are_transformed(rng, size, step, is_complex):
    x = rng.normal(size=(2, 40)) + (1j * rng.normal(size=(2, 40)) if is_complex else 0)
    weights = rng.uniform(1, 2, size)
    rows = slice(None) if is_complex else slice(size // 2 + 1)
    given = mo.fft.stft(mo.array(x), size, step, window=mo.array(weights), center=False)
    hop = max(size // 4, 1) if step is None else step
    close(given, np.stack([windows(each, size, hop, weights)[rows] for each in x]), rtol=1e-10)
    whole = mo.fft.stft(mo.array(x), size, step, onesided=False, normalized=True)
    padded = np.pad(x, ((0, 0), (size // 2, size // 2)), mode="reflect")
    expected = [windows(each, size, hop, np.ones(size)) for each in padded]
    close(whole, np.stack(expected) / np.sqrt(size), rtol=1e-10)


@pytest.mark.parametrize("mode", ["reflect", "constant", "replicate", "circular", "symmetric"])
def test_borders(rng, mode):
    x = rng.normal(size=30)
    numpys = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    given = mo.fft.stft(mo.array(x), 8, pad_mode=mode)
    close(given, windows(np.pad(x, 4, mode=numpys), 8, 2, np.ones(8))[:5], rtol=1e-10)


def test_short_windows_are_in_the_middle(rng):
    x, weights = rng.normal(size=32), np.hanning(7)[1:-1]
    given = mo.fft.stft(mo.array(x), 8, 4, 5, weights, center=False)
    close(given, windows(x, 8, 4, np.pad(weights, (1, 2)))[:5], rtol=1e-10)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    ("size", "step", "length"), [(8, 2, None), (8, 3, 6), (9, 4, 9), (1, 1, 1)]
)
def test_signals_come_back(rng, center, normalized, size, step, length):
    weights = rng.uniform(1, 2, size if length is None else length)
    for x in (rng.normal(size=(3, 41)), rng.normal(size=41) + 1j * rng.normal(size=41)):
        form = {"window": mo.array(weights), "center": center, "normalized": normalized}
        made = mo.fft.stft(mo.array(x), size, step, length, **form)
        is_complex = x.dtype.kind == "c"
        back = mo.fft.istft(made, size, step, length, **form, return_complex=is_complex).numpy()
        reached = back.shape[-1]
        # Short windows do not reach the ends.
        inner = slice(1, min(reached, 40))
        np.testing.assert_allclose(back[..., inner], x[..., inner], atol=1e-12)
        assert reached >= 41 - step
        exact = mo.fft.istft(
            made, size, step, length, **form, length=50, return_complex=is_complex
        ).numpy()
        np.testing.assert_array_equal(exact[..., :reached], back)
        assert exact.shape[-1] == 50 and (exact[..., 48:] == 0).all()


def test_what_no_window_reaches_is_zero():
    made = mo.fft.stft(mo.ones(16), 4, 4, window=np.array([0.0, 1.0, 1.0, 0.0]), center=False)
    back = mo.fft.istft(made, 4, 4, window=np.array([0.0, 1.0, 1.0, 0.0]), center=False)
    close(back, np.tile([0, 1, 1, 0], 4))


def test_derivatives_of_windows(rng):
    weights, form = mo.array(np.hanning(10)[1:-1]), {"n_fft": 8, "hop_length": 3}

    def energy(x, w):
        return (mo.abs(mo.fft.stft(x, **form, window=w)) ** 2 * 0.5).sum()

    def rebuilt(x):
        made = mo.fft.stft(x, **form, window=weights)
        return (mo.fft.istft(made * mo.abs(made), **form, window=weights) ** 3).sum()

    x = rng.normal(size=14)
    check_gradient(lambda x: energy(x, weights), x)
    check_gradient(lambda w: energy(mo.array(x), w), np.hanning(10)[1:-1])
    check_gradient(rebuilt, x)
    y = mo.array(x)
    (tangent,) = mo.jvp([rebuilt(y)], [y], [y])
    close(tangent, (mo.grad(rebuilt(y), y) * y).sum(), rtol=1e-10)


def test_transforms_of_windows_are_recorded_and_mapped(rng):
    x = mo.array(rng.normal(size=(3, 24)))
    expected = mo.fft.stft(x, 8).numpy()
    close(mo.jit(lambda x: mo.fft.stft(x, 8))(x), expected, rtol=1e-12)
    close(mo.vmap(lambda x: mo.fft.stft(x, 8))(x), expected, rtol=1e-12)


def matrix(kind, n):
    """Return the matrix of a cosine transform."""
    k, j = np.arange(n)[:, None], np.arange(n)
    if kind == 2:
        return 2 * np.cos(np.pi * k * (2 * j + 1) / (2 * n))
    return np.where(j == 0, 1, 2 * np.cos(np.pi * (2 * k + 1) * j / (2 * n)))


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16, 101, 512])
def test_cosine_transforms(rng, n, kind):
    x, close_to = rng.normal(size=(3, n)), {"rtol": 1e-9, "atol": 1e-11}
    made = matrix(kind, n)
    given = mo.array(x)
    close(mo.fft.dct(given, kind), x @ made.T, **close_to)
    close(mo.fft.dct(given, kind, norm="forward"), x @ made.T / (2 * n), **close_to)
    close(mo.fft.idct(given, kind), x @ np.linalg.inv(made).T, **close_to)
    close(mo.fft.idct(given, kind, norm="forward"), x @ np.linalg.inv(made).T * (2 * n), **close_to)
    orthogonal = mo.fft.dct(mo.array(np.eye(n)), kind, norm="ortho").numpy()
    close(orthogonal @ orthogonal.T, np.eye(n), atol=1e-12)
    close(mo.fft.idct(mo.array(np.eye(n)), kind, norm="ortho"), orthogonal.T, atol=1e-12)
    single = mo.fft.dct(mo.array(x.astype("float32")), kind)
    assert str(single.dtype) == "float32"
    scale = np.sqrt(np.mean((x @ made.T) ** 2))
    assert np.abs(single.numpy() - x @ made.T).max() < 3e-6 * scale


def test_cosine_transforms_of_dimensions_and_lengths(rng):
    x = rng.normal(size=(4, 5, 6))
    close(mo.fft.dct(mo.array(x), dim=0), np.tensordot(matrix(2, 4), x, 1), rtol=1e-10)
    cut, filled = x[:, :3], np.pad(x, ((0, 0), (0, 2), (0, 0)))
    for n, line in ((3, cut), (7, filled)):
        expected = np.moveaxis(np.tensordot(matrix(3, n), line, (1, 1)), 0, 1)
        close(mo.fft.dct(mo.array(x), 3, n, 1), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("n", [4, 5])
def test_derivatives_of_cosine_transforms(rng, kind, n):
    def loss(x):
        return (mo.fft.dct(x, kind, norm="ortho") ** 3).sum()

    check_gradient(loss, rng.normal(size=(2, n)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: mo.fft.stft(x, 0), ValueError, "n_fft is 0"),
        (lambda x: mo.fft.stft(x, 8, 0), ValueError, "hop_length is 0"),
        (lambda x: mo.fft.stft(x, 8, 2, 9), ValueError, "win_length is 9"),
        (lambda x: mo.fft.stft(x, 8, window=mo.ones(7)), ValueError, r"window has shape \(7,\)"),
        (lambda x: mo.fft.stft(x, 8, window=mo.ones(8) * 1j), TypeError, "window is"),
        (lambda x: mo.fft.stft(x, 64, center=False), ValueError, "signals have 30 elements"),
        (lambda x: mo.fft.stft(x * 1j, 8, onesided=True), TypeError, "x is complex"),
        (lambda x: mo.fft.stft(x, 8, pad_mode="no"), ValueError, "mode is 'no'"),
        (lambda x: mo.fft.stft(x[0], 8), ValueError, "x has no dimension"),
        (lambda x: mo.fft.istft(x, 8), ValueError, "fewer than two dimensions"),
        (lambda x: mo.fft.istft(mo.fft.stft(x, 8), 16), ValueError, r"x has shape \(5, 16\)"),
        (lambda x: mo.fft.istft(mo.fft.stft(x, 8), 8, length=0), ValueError, "length is 0"),
        (
            lambda x: mo.fft.istft(mo.fft.stft(x, 8), 8, onesided=True, return_complex=True),
            ValueError,
            "return_complex is True",
        ),
        (lambda x: mo.fft.dct(x, 4), ValueError, "type is 4"),
        (lambda x: mo.fft.idct(x, norm="no"), ValueError, "norm is 'no'"),
        (lambda x: mo.fft.dct(x * 1j), TypeError, "expected real numbers"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=rf"{text}.*{HERE}"):
        call(mo.ones(30))
