# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial values: what is exact, and moments of what is random."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.nn import init
from util import close, same


def normal_cdf(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def normal_pdf(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "mean, std, a, b", [(0.0, 1.0, -2.0, 2.0), (1.0, 0.5, 0.9, 3.0), (0, 0.02, -2.0, 2.0)]
)
def test_truncated_normal(mean, std, a, b, dtype):
    mo.seed(2)
    x = init.trunc_normal((200, 300), mean, std, a, b, dtype).numpy()
    assert x.dtype == dtype and x.min() >= a and x.max() <= b
    low, high = (a - mean) / std, (b - mean) / std
    share = normal_cdf(high) - normal_cdf(low)
    shift = (normal_pdf(low) - normal_pdf(high)) / share
    variance = 1 + (low * normal_pdf(low) - high * normal_pdf(high)) / share - shift**2
    assert abs(x.mean() - (mean + std * shift)) < 0.01 * std
    assert abs(x.std() - std * math.sqrt(variance)) < 0.01 * std
    # The whole distribution.
    for point in np.linspace(-1.5, 2.5, 9):
        expected = (normal_cdf(min(max(point, low), high)) - normal_cdf(low)) / share
        assert abs((x < mean + std * point).mean() - expected) < 0.01


def test_eye_and_dirac():
    for shape in [(3, 3), (2, 4), (4, 2), (0, 2)]:
        same(init.eye(shape), np.eye(*shape, dtype="float32"))
    assert init.eye((2, 2), "float16").dtype == "float16"
    x = mo.array(np.arange(2 * 4 * 25, dtype="float32").reshape(2, 4, 5, 5))
    same(nn.conv2d(x, init.dirac((4, 4, 3, 3)), padding=1), x.numpy())
    same(nn.conv2d(x, init.dirac((4, 2, 3, 3), 2), padding=1, groups=2), x.numpy())
    expected = np.zeros((2, 3, 5), "float32")
    expected[0, 0, 2] = expected[1, 1, 2] = 1
    same(init.dirac((2, 3, 5)), expected)


def test_sparse():
    mo.seed(1)
    w = init.sparse((7, 500), 0.3, 0.1).numpy()
    # 0.3 of 7 rows, rounded up, in all columns and in other places in each.
    same((w == 0).sum(0), np.full(500, 3))
    assert abs((w == 0).mean(1) - 3 / 7).max() < 0.1
    assert abs(w[w != 0].std() - 0.1) < 0.01
    assert (init.sparse((3, 4), 0.0).numpy() != 0).all()
    assert init.sparse((0, 4), 0.5).shape == (0, 4)


def test_variances():
    mo.seed(3)
    for function in (init.kaiming_normal, init.kaiming_uniform):
        assert abs(function((300, 100)).numpy().std() * math.sqrt(100 / 2) - 1) < 0.02
        out = function((300, 100), 3.0, mode="fan_out").numpy().std()
        assert abs(out * math.sqrt(300) / 3 - 1) < 0.02


def test_gains():
    expected = {"linear": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
    assert {name: init.calculate_gain(name) for name in expected} == expected
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / 1.0001)
    assert init.calculate_gain("leaky_relu", 0.5) == math.sqrt(2 / 1.25)


def test_values_of_what_is_there():
    layer = nn.Linear(4, 4)
    weight = layer.weight
    weight.assign(init.eye(weight.shape))
    assert layer.weight is weight
    close(layer(mo.ones((1, 4))), 1 + layer.bias.numpy()[None])
    with pytest.raises(AttributeError, match=r"no xavier_normal_: p\.assign\(mo\.nn\.init\.xavi"):
        init.xavier_normal_(weight)
    assert not hasattr(init, "orthogonal_")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: init.trunc_normal((2,), a=1, b=0), "trunc_normal: std is 1.0, a is 1 and b is 0"),
        (lambda: init.trunc_normal((2,), std=0), "trunc_normal: std is 0"),
        (lambda: init.eye((2,)), r"eye: shape is \(2\), expected two"),
        (lambda: init.dirac((2, 2)), r"dirac: shape is \(2, 2\), expected three to five"),
        (lambda: init.dirac((3, 2, 2), 2), "dirac: 2 groups do not divide the 3 outputs"),
        (lambda: init.sparse((2,), 0.5), r"sparse: shape is \(2\), expected two"),
        (lambda: init.sparse((2, 2), 2), "sparse: sparsity is 2, expected it in"),
        (lambda: init.calculate_gain("gelu"), "nonlinearity is 'gelu', expected one of linear"),
        (lambda: init.kaiming_normal((2, 2), mode="in"), "kaiming_normal: mode is 'in', expected"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
