# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of one to three dimensions, and transposed ones, against NumPy."""

import itertools

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats

FUNCTIONS = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TRANSPOSED = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}
LAYERS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
TRANSPOSED_LAYERS = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def reference(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, mode="zeros"):
    """Cross-correlate in float64: products with each element of the kernel, added up."""
    rank = x.ndim - 2
    stride, dilation = (np.broadcast_to(n, rank) for n in (stride, dilation))
    if padding == "same":
        totals = dilation * (np.array(w.shape[2:]) - 1)
        widths = [(n // 2, n - n // 2) for n in totals]
    else:
        padding = 0 if padding == "valid" else padding
        widths = [(n, n) for n in np.broadcast_to(padding, rank)]
    padded = np.pad(x.astype("float64"), [(0, 0), (0, 0), *widths], MODES[mode])
    extents = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(padded.shape[2:], w.shape[2:], stride, dilation, strict=True)
    ]
    parts = []
    for xs, ws in zip(np.split(padded, groups, 1), np.split(w, groups, 0), strict=True):
        y = np.zeros((len(x), len(ws), *extents))
        for place in np.ndindex(*w.shape[2:]):
            key = tuple(
                slice(k * d, k * d + s * (n - 1) + 1, s)
                for k, d, s, n in zip(place, dilation, stride, extents, strict=True)
            )
            y += np.einsum("nc...,kc->nk...", xs[(..., *key)], ws[(..., *place)])
        parts.append(y)
    y = np.concatenate(parts, 1)
    return y if bias is None else y + bias.reshape(-1, *(1,) * rank)


def transposed_reference(x, w, bias=None, stride=1, padding=0, rest=0, groups=1, dilation=1):
    """Add up the products of each element with the kernel, in float64."""
    rank = x.ndim - 2
    stride, padding, rest, dilation = (
        np.broadcast_to(n, rank) for n in (stride, padding, rest, dilation)
    )
    zipped = zip(x.shape[2:], w.shape[2:], stride, rest, dilation, strict=True)
    extents = [(n - 1) * s + d * (k - 1) + r + 1 for n, k, s, r, d in zipped]
    parts = []
    for xs, ws in zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True):
        y = np.zeros((len(x), w.shape[1], *extents))
        for place in np.ndindex(*w.shape[2:]):
            key = tuple(
                slice(k * d, k * d + s * (n - 1) + 1, s)
                for k, d, s, n in zip(place, dilation, stride, x.shape[2:], strict=True)
            )
            y[(..., *key)] += np.einsum("nc...,ck->nk...", xs, ws[(..., *place)], dtype="float64")
        parts.append(y)
    y = np.concatenate(parts, 1)
    y = y[(..., *(slice(p, n - p) for p, n in zip(padding, extents, strict=True)))]
    return y if bias is None else y + bias.reshape(-1, *(1,) * rank)


#: Kernel, stride, padding, dilation, groups.
CASES = {
    1: [
        ((3,), 1, 1, 1, 1),
        ((4,), 2, (2,), 2, 2),
        ((2,), 3, 0, 1, 4),
        ((4,), 1, "same", 1, 1),
        ((3,), 1, "same", 2, 2),
        ((1,), 2, "valid", 1, 1),
    ],
    2: [
        ((3, 2), 1, "same", (1, 3), 1),
        ((2, 4), 1, "same", 1, 4),
        ((3, 3), (2, 1), "valid", 1, 2),
    ],
    3: [
        ((3, 2, 3), 1, 1, 1, 1),
        ((2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 2, 1), 2),
        ((2, 2, 3), 1, "same", 1, 4),
    ],
}
EXTENTS = {1: (9,), 2: (6, 7), 3: (5, 6, 4)}


@pytest.mark.parametrize("rank, case", [(r, case) for r in CASES for case in CASES[r]])
def test_convolutions(rng, rank, case):
    kernel, stride, padding, dilation, groups = case
    x = floats(rng, (2, 4, *EXTENTS[rank]))
    w, b = floats(rng, (8, 4 // groups, *kernel)), floats(rng, (8,))
    expected = reference(x, w, b, stride, padding, dilation, groups)
    numbers = (stride, padding, dilation, groups)
    y = FUNCTIONS[rank](x, w, b, *numbers)
    close(y, expected, rtol=1e-5, atol=1e-5)
    close(FUNCTIONS[rank](x[1], w, b, *numbers), expected[1], rtol=1e-5, atol=1e-5)
    layer = LAYERS[rank](4, 8, kernel, *numbers)
    layer.load_state_dict({"weight": w, "bias": b})
    np.testing.assert_array_equal(layer(x).numpy(), y.numpy())


#: Kernel, stride, padding, output_padding, groups, dilation.
TRANSPOSED_CASES = {
    1: [
        ((3,), 1, 1, 0, 1, 1),
        ((4,), 2, 1, (1,), 2, 1),
        ((3,), 3, 0, 2, 4, 2),
        ((3,), 2, 1, 1, 1, 2),
        ((4,), 4, 3, 2, 2, 6),
    ],
    2: [
        ((3, 3), 1, 1, 0, 1, 1),
        ((3, 3), 2, 1, 1, 1, 1),
        ((4, 2), (2, 3), (1, 0), (0, 1), 2, (1, 2)),
        ((2, 2), 2, 0, 0, 4, 1),
        ((2, 3), 1, 0, (1, 2), 1, (2, 3)),
        ((3, 3), 2, 2, 1, 1, 2),
        ((3, 2), (2, 3), (2, 1), (1, 0), 2, (3, 2)),
    ],
    3: [((2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 0, 1), 1, 1), ((2, 2, 2), 2, 0, 0, 2, (1, 2, 1))],
}


@pytest.mark.parametrize(
    "rank, case", [(r, case) for r in TRANSPOSED_CASES for case in TRANSPOSED_CASES[r]]
)
def test_transposed_convolutions(rng, rank, case):
    kernel, stride, padding, rest, groups, dilation = case
    x = floats(rng, (2, 4, *(n - 2 for n in EXTENTS[rank])))
    w, b = floats(rng, (4, 8 // groups, *kernel)), floats(rng, (8,))
    expected = transposed_reference(x, w, b, *case[1:])
    y = TRANSPOSED[rank](x, w, b, *case[1:])
    close(y, expected, rtol=1e-5, atol=1e-5)
    close(TRANSPOSED[rank](x[1], w, b, *case[1:]), expected[1], rtol=1e-5, atol=1e-5)
    layer = TRANSPOSED_LAYERS[rank](4, 8, kernel, stride, padding, rest, groups, True, dilation)
    layer.load_state_dict({"weight": w, "bias": b})
    np.testing.assert_array_equal(layer(x).numpy(), y.numpy())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_transposed_convolution_is_the_gradient_by_the_image(rng, rank):
    kernel, numbers = (3, 2, 2)[:rank], (2, 1, (2, 1, 1)[:rank], 2)
    x = mo.array(floats(rng, (2, 4, *EXTENTS[rank])))
    w = mo.array(floats(rng, (6, 2, *kernel)))
    y = FUNCTIONS[rank](x, w, None, *numbers)
    cotangent = mo.array(floats(rng, y.shape))
    expected = mo.grad((y * cotangent).sum(), x).numpy()
    stride, padding, dilation, groups = numbers
    layer = TRANSPOSED_LAYERS[rank](6, 4, kernel, stride, padding, 0, groups, False, dilation)
    layer.weight.assign(w)
    close(layer(cotangent, EXTENTS[rank]), expected, rtol=1e-5, atol=1e-5)
    close(layer(cotangent, x.shape), expected, rtol=1e-5, atol=1e-5)


def test_output_sizes_out_of_range():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    assert layer(mo.zeros((1, 1, 4, 4)), (8, 7)).shape == (1, 1, 8, 7)
    message = r"ConvTranspose2d: output_size is \(9, 7\), expected between \(7, 7\) and \(8, 8\)"
    with pytest.raises(ValueError, match=message + ".*test_conv"):
        layer(mo.zeros((1, 1, 4, 4)), (9, 7))
    with pytest.raises(ValueError, match=r"output_size is .*expected an integer or two"):
        layer(mo.zeros((1, 1, 4, 4)), (7, 7, 7))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    "rank, padding", [(1, 2), (1, "same"), (2, (2, 1)), (2, "same"), (3, (1, 0, 2))]
)
def test_padding_modes(rng, mode, rank, padding):
    x = floats(rng, (2, 2, *EXTENTS[rank]))
    layer = LAYERS[rank](2, 3, (4, 3, 2)[:rank], padding=padding, padding_mode=mode)
    w, b = layer.weight.numpy(), layer.bias.numpy()
    expected = reference(x, w, b, padding=padding, mode=mode)
    close(layer(x), expected, rtol=1e-5, atol=1e-5)
    close(layer(x[0]), expected[0], rtol=1e-5, atol=1e-5)
    assert f"padding_mode='{mode}'" in repr(layer)


def test_borders_as_wide_as_they_may_be(rng):
    x = floats(rng, (1, 1, 3))
    for mode, width in [("reflect", 2), ("circular", 3), ("replicate", 7)]:
        layer = nn.Conv1d(1, 1, 1, padding=width, padding_mode=mode, bias=False)
        expected = np.pad(x, [(0, 0), (0, 0), (width, width)], MODES[mode])
        close(layer(x) / layer.weight.reshape(()), expected, rtol=1e-5)
        if mode != "replicate":
            layer = nn.Conv1d(1, 1, 1, padding=width + 1, padding_mode=mode)
            with pytest.raises(ValueError, match=f"Conv1d: a {mode} border of {width + 1} is wide"):
                layer(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_summed_in_float32(rng, dtype):
    """2048 products of 1 and a bit: halves would stop counting at 2048."""
    x, w = mo.ones((1, 2048, 3), dtype), mo.full((1, 2048, 1), 1.5, dtype)
    y = nn.conv1d(x, w)
    assert y.dtype == dtype
    close(y.float32(), np.full((1, 1, 3), 3072))
    t = nn.conv_transpose1d(x, w.reshape(2048, 1, 1))
    assert t.dtype == dtype
    close(t.float32(), np.full((1, 1, 3), 3072))


def test_integers_are_exact():
    x = mo.array(np.array([[[2**53 + 1, 1, -1]]]))
    w = mo.array(np.array([[[3]]]))
    expected = [[[3 * 2**53 + 3, 3, -3]]]
    for f in (nn.conv1d, nn.conv_transpose1d):
        y = f(x, w)
        assert y.dtype == "int64" and y.tolist() == expected


def test_gradients(rng):
    cases = [
        (lambda x, w: nn.conv1d(x, w, None, 2, 1, 2, 2) ** 2, (1, 4, 5), (2, 2, 2)),
        (lambda x, w: nn.conv3d(x, w, None, 1, "same") ** 2, (1, 1, 2, 2, 2), (1, 1, 2, 1, 2)),
        (lambda x, w: nn.conv_transpose1d(x, w, None, 2, 1, 1) ** 2, (1, 2, 3), (2, 2, 3)),
        (
            lambda x, w: nn.conv_transpose2d(x, w, None, 2, 0, 0, 2) ** 2,
            (1, 2, 2, 2),
            (2, 1, 2, 2),
        ),
    ]
    for f, x, w in cases:
        check_gradient(f, floats(rng, x, "float64"), floats(rng, w, "float64"))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_gradients_of_borders(rng, mode):
    layer = nn.Conv2d(1, 1, (2, 3), padding=(1, 2), padding_mode=mode, bias=False)

    def f(x, w):
        layer.weight = w
        return layer(x) ** 2

    check_gradient(f, floats(rng, (1, 3, 3), "float64"), floats(rng, (1, 1, 2, 3), "float64"))


def test_contractions_are_not_laid_out(rng, compiled):
    """No kernel writes more than a result, or an image with its border."""
    for rank, transposed in itertools.product((1, 2, 3), (False, True)):
        extents = {1: (256,), 2: (24, 24), 3: (10, 10, 10)}[rank]
        f = (TRANSPOSED if transposed else FUNCTIONS)[rank]
        x = mo.array(floats(rng, (2, 16, *extents))).sync()
        w = mo.array(floats(rng, (16, 16, *(3,) * rank))).sync()
        y = f(x, w, None, 2 if transposed else 1, 1).sync()
        program = mo.last_program()
        # With what tiles take beyond the end; each window's elements would be more.
        most = 1.2 * max(y.size, 1.75 * x.size)
        assert len(program.kernels) <= 4, (rank, transposed, str(program))
        written = [kernel.bytes_written for kernel in program.kernels]
        assert max(written) <= 4 * most, (rank, transposed, str(program))


def test_nothing_to_convolve():
    w = mo.ones((3, 2, 2))
    assert nn.conv1d(mo.zeros((0, 2, 4)), w).numpy().shape == (0, 3, 3)
    assert nn.conv_transpose1d(mo.zeros((0, 3, 4)), w).numpy().shape == (0, 2, 5)
    empty = nn.conv1d(mo.zeros((1, 0, 4)), mo.zeros((3, 0, 2)))
    close(empty, np.zeros((1, 3, 3)))
    close(nn.conv_transpose1d(mo.zeros((1, 0, 4)), mo.zeros((0, 2, 2))), np.zeros((1, 2, 5)))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_states_are_pytorchs(rank):
    layer = LAYERS[rank](4, 6, 3, groups=2)
    shapes = {name: value.shape for name, value in layer.state_dict().items()}
    assert shapes == {"weight": (6, 2, *(3,) * rank), "bias": (6,)}
    layer = TRANSPOSED_LAYERS[rank](4, 6, 3, groups=2, bias=False)
    shapes = {name: value.shape for name, value in layer.state_dict().items()}
    assert shapes == {"weight": (4, 3, *(3,) * rank)}
    bound = 1 / np.sqrt(3 * 3**rank)
    assert 0.5 * bound < np.abs(layer.weight.numpy()).max() <= bound


W2, X2 = mo.ones((2, 2, 3, 3)), mo.ones((1, 2, 4, 4))
ERRORS = {
    "rank": (lambda: nn.conv1d(X2, W2), r"conv1d: input.*\(N, C, L\) or \(C, L\)"),
    "kernel's rank": (
        lambda: nn.conv1d(mo.ones((2, 4)), W2),
        r"conv1d: .*weight \(2, 2, 3, 3\), expected .* and \(K, C / groups, l\)",
    ),
    "same": (lambda: nn.conv2d(X2, W2, None, 2, "same"), r"'same' and stride \(2, 2\)"),
    "padding": (lambda: nn.conv2d(X2, W2, None, 1, "full"), "padding is 'full'"),
    "layer's padding": (lambda: nn.Conv2d(2, 2, 3, 2, "same"), "Conv2d: padding is 'same'"),
    "dilation": (lambda: nn.conv2d(X2, W2, None, 1, "same", 0), "positive"),
    "mode": (
        lambda: nn.Conv2d(2, 2, 3, padding_mode="mirror"),
        "Conv2d: padding_mode is 'mirror', expected one of zeros, reflect",
    ),
    "transposed mode": (
        lambda: nn.ConvTranspose1d(2, 2, 3, padding_mode="reflect"),
        "ConvTranspose1d: padding_mode is 'reflect', expected 'zeros'",
    ),
    "stride of three": (lambda: nn.Conv3d(2, 2, 3, (1, 2)), "an integer or three"),
    "stride of one": (lambda: nn.conv1d(X2[0], mo.ones((2, 4, 3)), None, (1, 2)), "conv1d: stride"),
    "transposed rank": (
        lambda: nn.conv_transpose2d(X2, W2[0]),
        r"conv_transpose2d: .*and \(C, K / groups, h, w\)",
    ),
    "transposed channels": (
        lambda: nn.conv_transpose2d(X2, mo.ones((3, 2, 3, 3))),
        "2 input channels.*expected C = weight",
    ),
    "transposed groups": (
        lambda: nn.conv_transpose2d(X2, W2, groups=3),
        "3 groups do not agree",
    ),
    "output_padding": (
        lambda: nn.conv_transpose2d(X2, W2, None, 2, 0, 2),
        r"output_padding is \(2, 2\), expected fewer",
    ),
    "transposed padding": (lambda: nn.conv_transpose2d(X2, W2, None, 1, 4), "positive ones"),
    "transposed stride": (lambda: nn.conv_transpose2d(X2, W2, None, 0), "to be positive"),
    "bias": (lambda: nn.conv2d(X2, W2, mo.ones(3)), r"conv2d: bias has shape \(3,\)"),
    "transposed bias": (lambda: nn.conv_transpose2d(X2, W2, mo.ones(3)), r"expected \(2,\)"),
    "layer's input": (
        lambda: nn.Conv1d(3, 4, 2)(mo.zeros((1, 4, 5))),
        r"Conv1d\(3, 4, .*expected \(N, 3, L\) or \(3, L\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, message = ERRORS[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_conv\.py"):
        call()


def test_winograds_form_takes_all_of_conv2d(rng):
    x, w = floats(rng, (8, 16, 16), low=-1, high=1), floats(rng, (8, 8, 3, 3), low=-1, high=1)
    expected = reference(x[None], w, padding="same")[0]
    with mo.flag_scope(convolution="winograd"):
        close(nn.conv2d(x, w, padding="same"), expected, rtol=1e-4, atol=1e-4)
        expected = reference(x[:, 0][None], w[:, :, 0])[0]
        close(nn.conv1d(x[:, 0], w[:, :, 0]), expected, rtol=1e-5, atol=1e-5)
