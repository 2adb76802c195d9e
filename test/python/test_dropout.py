# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout of elements and channels, and small layers: Bilinear and Identity."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

LIMIT = -1.7580993408473766
#: A layer, its function, a shape, and the dimensions with a decision of their own.
CASES = [
    (nn.Dropout, nn.dropout, (40, 50), 2),
    (nn.Dropout1d, nn.dropout1d, (40, 50, 3), 2),
    (nn.Dropout1d, nn.dropout1d, (900, 3), 1),
    (nn.Dropout2d, nn.dropout2d, (40, 50, 3, 2), 2),
    (nn.Dropout3d, nn.dropout3d, (40, 50, 1, 3, 2), 2),
    (nn.Dropout3d, nn.dropout3d, (900, 1, 3, 2), 1),
]
ALPHA_CASES = [
    (nn.AlphaDropout, nn.alpha_dropout, (40, 50), 2),
    (nn.FeatureAlphaDropout, nn.feature_alpha_dropout, (40, 50, 2), 2),
    (nn.FeatureAlphaDropout, nn.feature_alpha_dropout, (40, 50), 2),
]


def decisions(kept, dims):
    """Return the decision for each channel; all elements of one are alike."""
    flat = kept.reshape(*kept.shape[:dims], -1)
    assert (flat == flat[..., :1]).all()
    return flat[..., 0]


@pytest.mark.parametrize("cls, function, shape, dims", CASES)
def test_what_is_dropped(rng, cls, function, shape, dims):
    x = floats(rng, shape, low=1.0, high=2.0)
    for y in (cls(0.25)(x), function(x, 0.25)):
        kept = y.numpy() != 0
        assert 0.7 < decisions(kept, dims).mean() < 0.8
        same(y, np.where(kept, x / np.float32(0.75), np.float32(0)))
    assert (cls(0.25)(x).numpy() != cls(0.25)(x).numpy()).any()


@pytest.mark.parametrize("cls, function, shape, dims", ALPHA_CASES)
def test_what_is_set(rng, cls, function, shape, dims):
    p = 0.25
    x = rng.standard_normal(shape).astype("float32")
    scale = ((1 - p) * (1 + p * LIMIT**2)) ** -0.5
    set_to = (LIMIT - p * LIMIT) * scale
    for y in (cls(p)(x), function(x, p, is_train=True)):
        kept = abs(y.numpy() - set_to) > 1e-5
        assert 0.7 < decisions(kept, dims).mean() < 0.8
        close(y, np.where(kept, x, LIMIT) * scale - scale * p * LIMIT)
        assert abs(y.numpy().mean()) < 0.1 and abs(y.numpy().std() - 1) < 0.1
    # As in PyTorch, the functions do nothing unless they are told to.
    same(function(x, p), x)


@pytest.mark.parametrize("cls, function, shape, dims", CASES + ALPHA_CASES)
def test_nothing_and_everything(rng, cls, function, shape, dims):
    x = mo.array(floats(rng, shape))
    same(cls(0.5).eval()(x), x.numpy())
    same(function(x, 0.5, is_train=False), x.numpy())
    same(cls(0.0)(x), x.numpy())
    assert (cls(1.0)(x).numpy() == 0).all()
    same(cls()(mo.zeros((0, *shape[1:]))), np.zeros((0, *shape[1:]), "float32"))
    y = cls(0.5)(x)
    slope = mo.grad(y.sum(), x).numpy()
    assert len(np.unique(slope)) == 2 and slope.min() == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype):
    x = mo.ones((4, 5, 2), dtype)
    for cls, *_ in (CASES[0], CASES[1], *ALPHA_CASES):
        assert cls()(x).dtype == dtype


ERRORS = {
    "one": (lambda: nn.Dropout1d()(mo.zeros(3)), r"input has shape \(3,\), expected 2 or 3 dim"),
    "two": (lambda: nn.Dropout2d()(mo.zeros((3, 2, 2))), r"\(3, 2, 2\), expected 4 dimensions"),
    "three": (lambda: nn.dropout3d(mo.zeros((3, 2))), r"\(3, 2\), expected 4 or 5 dimensions"),
    "features": (lambda: nn.FeatureAlphaDropout()(mo.zeros(3)), r"expected \(N, C, \.\.\.\)"),
    "p": (lambda: nn.AlphaDropout(1.5), "AlphaDropout: p is 1.5, expected a probability"),
    "negative": (lambda: nn.dropout1d(mo.zeros((3, 2)), -1), "dropout1d: p is -1, expected"),
    "bilinear": (
        lambda: nn.Bilinear(2, 3, 4)(mo.zeros((5, 2)), mo.zeros((4, 3))),
        r"inputs have shapes \(5, 2\) and \(4, 3\), expected \(\.\.\., 2\) and \(\.\.\., 3\)",
    ),
    "bilinear 0-d": (
        lambda: nn.Bilinear(2, 3, 4)(mo.zeros(2), mo.zeros(())),
        r"inputs have shapes \(2,\) and \(\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, message = ERRORS[name]
    with pytest.raises(ValueError, match=message) as raised:
        action()
    assert "test_dropout.py" in str(raised.value)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
def test_bilinear(rng, batch):
    layer = nn.Bilinear(2, 3, 4)
    x, y = floats(rng, (*batch, 2)), floats(rng, (*batch, 3))
    weight, bias = (parameter.numpy() for parameter in layer.parameters())
    close(layer(x, y), np.einsum("...i,oij,...j->...o", x, weight, y) + bias)
    layer.bias = None
    close(layer(x, y), np.einsum("...i,oij,...j->...o", x, weight, y))


def test_gradients_of_bilinear(rng):
    layer = nn.Bilinear(2, 3, 2)

    def run(x, y, weight, bias):
        layer.weight, layer.bias = weight, bias
        return layer(x, y)

    shapes = [(2, 2), (2, 3), (2, 2, 3), (2,)]
    check_gradient(run, *(floats(rng, shape, "float64") for shape in shapes))


def test_state_of_bilinear():
    layer = nn.Bilinear(25, 3, 40)
    shapes = {name: value.shape for name, value in layer.state_dict().items()}
    assert shapes == {"weight": (40, 25, 3), "bias": (40,)}
    values = layer.weight.numpy()
    assert abs(values).max() < 0.2 and values.std() == pytest.approx(0.2 / 3**0.5, rel=0.05)
    assert list(nn.Bilinear(2, 3, 4, bias=False).state_dict()) == ["weight"]
    assert repr(layer) == "Bilinear(25, 3, 40, bias=True)"


def test_identity_takes_any_arguments(rng):
    x = mo.array(floats(rng, (3,)))
    layer = nn.Identity(54, unused=0.1)
    same(layer(x), x.numpy())
    assert layer(x) is not x and layer.state_dict() == {}
    assert repr(layer) == "Identity()"
