# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Borders: `pad` as NumPy's, and the layers with PyTorch's order of widths."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

MODES = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp"]
MODES += ["maximum", "minimum", "mean"]
COPYING = ["edge", "reflect", "symmetric", "wrap"]

#: Narrow ones, ones as wide as x, and ones that repeat x several times.
WIDTHS = [0, 1, (1, 2), [(0, 2), (3, 0)], (2, 11)]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("mode", MODES)
def test_pad_is_numpys(rng, mode, dtype):
    x = np.asarray(rng.integers(-90, 90, (3, 4)), dtype)
    for widths in WIDTHS:
        expected = np.pad(x, widths, mode)
        actual = mo.pad(x, widths, mode)
        assert actual.dtype == dtype
        if dtype == "int64":
            same(actual, expected)
        else:
            close(actual, expected, rtol=1e-5)


@pytest.mark.parametrize("mode", COPYING)
def test_pad_copies_every_type(rng, mode):
    bits = rng.integers(0, 2, (2, 3))
    for dtype in ["bool", "uint8", "float16", "float64"]:
        same(mo.pad(bits.astype(dtype), (1, 2), mode), np.pad(bits.astype(dtype), (1, 2), mode))
    large = np.array([2**62 + 1, -(2**53) - 1, 7])
    same(mo.pad(large, 2, mode), np.pad(large, 2, mode))
    special = np.array([-0.0, np.inf, np.nan], "float32")
    actual, expected = mo.pad(special, 2, mode).numpy(), np.pad(special, 2, mode)
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("mode", [*COPYING, "linear_ramp"])
@pytest.mark.parametrize("extent", [1, 2])
def test_pad_of_few_elements(rng, mode, extent):
    x = rng.random((extent, 3))
    close(mo.pad(x, [(5, 4), (0, 0)], mode), np.pad(x, [(5, 4), (0, 0)], mode), rtol=1e-12)


def test_forms_of_widths(rng):
    x = rng.random((2, 3))
    forms = [2, (2,), [2], (1, 2), ((1, 2),), ((1, 2), (0, 1)), ((1,), (2,)), np.array([[1, 0]])]
    for widths in [*forms, np.array(1), np.int64(2), [[1, 2], [3, 4]]]:
        for mode in ["constant", "edge"]:
            same(mo.pad(x, widths, mode), np.pad(x, widths, mode))
    same(mo.pad(x, {-1: (1, 2)}, "edge"), np.pad(x, ((0, 0), (1, 2)), "edge"))
    same(mo.pad(x, {0: 1}), np.pad(x, ((1, 1), (0, 0))))
    same(mo.pad(x, pad_width=1, constant_values=3), np.pad(x, 1, constant_values=3.0))
    number = np.array(2.0)
    for widths in [0, 3, [], ()]:
        same(mo.pad(number, widths, "reflect"), number)


def test_values_of_borders(rng):
    x = rng.random((2, 3))
    same(mo.pad(x, 2, value=-1.5), np.pad(x, 2, constant_values=-1.5))
    close(
        mo.pad(x, (3, 2), "linear_ramp", end_values=-1.5),
        np.pad(x, (3, 2), "linear_ramp", end_values=-1.5),
        rtol=1e-12,
    )
    whole = rng.integers(-9, 9, (4,))
    expected = np.pad(whole, (5, 3), "linear_ramp", end_values=7)
    same(mo.pad(whole, (5, 3), "linear_ramp", 7), expected)


def test_borders_of_booleans():
    x = np.array([True, False, True])
    for mode in MODES:
        same(mo.pad(x, (2, 1), mode), np.pad(x, (2, 1), mode))


def test_borders_of_nothing():
    x = mo.zeros((0, 3))
    assert mo.pad(x, 1).shape == (2, 5)
    assert mo.pad(x, [(0, 0), (1, 2)], "wrap").shape == (0, 6)
    for mode in MODES[1:]:
        with pytest.raises(ValueError, match=r"dimension 0 of \(0, 3\) is empty.*test_padding"):
            mo.pad(x, 1, mode)


@pytest.mark.parametrize("mode", [*COPYING, "linear_ramp", "mean"])
def test_gradients_of_borders(rng, mode):
    x = floats(rng, (2, 3), "float64")
    check_gradient(lambda x: mo.pad(x, [(1, 1), (2, 7)], mode) ** 2, x)


WRONG = [
    (lambda x: mo.pad(x, 1, 3.0), ValueError, "mode is 3.0, expected one of 'constant', 'edge'"),
    (lambda x: mo.pad(x, 1, "median"), ValueError, "mode is 'median', expected one of"),
    (lambda x: mo.pad(x, 1.5), TypeError, "a width is 1.5, expected an integer or two"),
    (lambda x: mo.pad(x, [(1, "a"), 1]), TypeError, r"a width is \(1, 'a'\), expected"),
    (lambda x: mo.pad(x, (1, 2, 3)), ValueError, r"a width is \(1, 2, 3\), expected one before"),
    (lambda x: mo.pad(x, [(1, 2)] * 3), ValueError, "3 pairs of widths given, expected 2"),
    (lambda x: mo.pad(x, []), ValueError, "0 pairs of widths given, expected 2"),
    (lambda x: mo.pad(x, {2: 1}), ValueError, "dimension 2 is out of range"),
    (lambda x: mo.pad(x, (0, -1), "edge"), ValueError, "widths 0 and -1 of dimension 0, expected"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_borders(call, error, message):
    with pytest.raises(error, match=f"pad: {message}|{message}.*test_padding"):
        call(mo.zeros((2, 3)))


LAYERS = {"Zero": "constant", "Reflection": "reflect", "Replication": "edge", "Circular": "wrap"}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", LAYERS)
def test_layers(rng, name, rank):
    layer = getattr(nn, f"{name}Pad{rank}d")
    x = floats(rng, (2, 2, 3, 4)[: rank + 1])
    sides = (1, 2, 0, 1, 1, 1)[: 2 * rank]
    # The sides of the last dimension come first.
    pairs = [sides[k : k + 2] for k in range(0, 2 * rank, 2)][::-1]
    one = layer(sides)
    same(one(x), np.pad(x, [(0, 0), *pairs], LAYERS[name]))
    same(one(x[None]), np.pad(x, [(0, 0), *pairs], LAYERS[name])[None])
    same(layer(1)(x), np.pad(x, [(0, 0)] + [(1, 1)] * rank, LAYERS[name]))
    assert repr(one) == f"{name}Pad{rank}d({sides})"
    assert not one.state_dict()


def test_constant_layers(rng):
    x = floats(rng, (2, 3, 4))
    same(nn.ConstantPad1d((2, 0), 1.5)(x), np.pad(x, [(0, 0)] * 2 + [(2, 0)], constant_values=1.5))
    expected = np.pad(x, [(0, 0), (0, 1), (2, 0)], constant_values=-1)
    same(nn.ConstantPad2d((2, 0, 0, 1), -1)(x), expected)
    same(nn.ConstantPad2d((-1, 0, 0, -1), 0)(x), x[:, :-1, 1:])
    assert nn.ConstantPad3d(1, 0)(x[None]).shape == (1, 4, 5, 6)
    assert repr(nn.ConstantPad1d(1, 2)) == "ConstantPad1d(padding=(1, 1), value=2)"


def test_wrong_layers():
    with pytest.raises(ValueError, match=r"ZeroPad2d: padding is \(1, 2\), expected an integer or"):
        nn.ZeroPad2d((1, 2))
    with pytest.raises(ValueError, match=r"ReflectionPad1d: padding is 1\.5"):
        nn.ReflectionPad1d(1.5)
    message = r"CircularPad2d\(\(1, 1, 1, 1\)\): input has shape \(3,\), expected 3 or 4 dimensions"
    with pytest.raises(ValueError, match=message):
        nn.CircularPad2d(1)(mo.zeros(3))
