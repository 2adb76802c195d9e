# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions against their formulas in NumPy and float64."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same


def sigmoid(x):
    return np.where(x >= 0, 1, np.exp(-np.abs(x))) / (1 + np.exp(-np.abs(x)))


def softplus(x, beta=1.0):
    return np.logaddexp(0, beta * x) / beta


def shifted_exponential(x, alpha=1.0, rate=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) * rate))


def gelu_by_tanh(x):
    near = np.clip(x, -30, 30)
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (near + 0.044715 * near**3)))


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772

#: A layer, the function that it is the layer of, the formula.
ACTIVATIONS = {
    "CELU": (nn.CELU(), mo.celu, shifted_exponential),
    "CELU of 2": (nn.CELU(2.0), None, lambda x: shifted_exponential(x, 2.0, 0.5)),
    "ELU": (nn.ELU(), mo.elu, shifted_exponential),
    "ELU of 2": (nn.ELU(2.0), None, lambda x: shifted_exponential(x, 2.0)),
    "GELU": (nn.GELU(), mo.gelu, gelu),
    "GELU by tanh": (nn.GELU("tanh"), None, gelu_by_tanh),
    "Hardshrink": (nn.Hardshrink(), mo.hardshrink, lambda x: np.where(abs(x) > 0.5, x, 0)),
    "Hardsigmoid": (nn.Hardsigmoid(), mo.hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "Hardswish": (nn.Hardswish(), mo.hardswish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Hardtanh": (nn.Hardtanh(), mo.hardtanh, lambda x: np.clip(x, -1, 1)),
    "Hardtanh of 2": (nn.Hardtanh(-2.0, 0.5), None, lambda x: np.clip(x, -2, 0.5)),
    "LeakyReLU": (nn.LeakyReLU(), mo.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    "LogSigmoid": (nn.LogSigmoid(), mo.log_sigmoid, lambda x: -softplus(-x)),
    "Mish": (nn.Mish(), mo.mish, lambda x: x * np.tanh(softplus(x))),
    "PReLU": (nn.PReLU(), None, lambda x: np.where(x > 0, x, 0.25 * x)),
    "ReLU": (nn.ReLU(), mo.relu, lambda x: np.maximum(x, 0)),
    "ReLU6": (nn.ReLU6(), mo.relu6, lambda x: np.clip(x, 0, 6)),
    "RReLU": (nn.RReLU().eval(), nn.rrelu, lambda x: np.where(x > 0, x, 11 / 48 * x)),
    "SELU": (nn.SELU(), mo.selu, lambda x: SCALE * shifted_exponential(x, ALPHA)),
    "SiLU": (nn.SiLU(), mo.silu, lambda x: x * sigmoid(x)),
    "Sigmoid": (nn.Sigmoid(), mo.sigmoid, sigmoid),
    "Softplus": (nn.Softplus(), mo.softplus, softplus),
    "Softplus of 3": (nn.Softplus(3.0), None, lambda x: softplus(x, 3.0)),
    "Softshrink": (
        nn.Softshrink(),
        mo.softshrink,
        lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    ),
    "Softsign": (nn.Softsign(), mo.softsign, lambda x: x / (1 + abs(x))),
    "Tanh": (nn.Tanh(), mo.tanh, np.tanh),
    "Tanhshrink": (nn.Tanhshrink(), mo.tanhshrink, lambda x: x - np.tanh(x)),
    "Threshold": (nn.Threshold(0.3, 7.0), None, lambda x: np.where(x > 0.3, x, 7)),
}
#: The width of a rounding of one.
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@pytest.mark.parametrize("dtype", EPS)
def test_values(rng, dtype):
    """All of them in one program, over numbers of usual and of extreme sizes."""
    largest = {"float16": 6e4, "bfloat16": 1e38, "float32": 1e38}.get(dtype, 1e300)
    edges = np.array([0, 0.5, 1, 2, 3, 6, 11, 30, 100, 1e3, 1e4, largest])
    given = mo.array(np.concatenate([floats(rng, (200,), "float64", -8, 8), edges, -edges]))
    x = given.cast(dtype)
    at = x.cast("float64").numpy()
    layers = {name: layer(x).cast("float64") for name, (layer, _, _) in ACTIVATIONS.items()}
    mo.sync(list(layers.values()))
    for name, (_, _, formula) in ACTIVATIONS.items():
        expected = formula(at)
        found = layers[name].numpy()
        # A difference of numbers near 1 has their rounding errors.
        bound = 8 * EPS[dtype] * np.maximum(abs(expected), 2)
        # Past its threshold of 20, Softplus is x.
        bound += 3e-9 if "Softplus" in name else 0
        assert (abs(found - expected) <= bound).all(), name


@pytest.mark.parametrize("dtype", EPS)
def test_gradients_of_large_numbers(dtype):
    """They are the slopes of the ends, where squares of x would overflow."""
    largest = {"float16": 6e4, "bfloat16": 1e38, "float32": 1e38}.get(dtype, 1e300)
    x = mo.array(np.array([-largest, -1e3, 1e3, largest])).cast(dtype)
    flat = {"Hardsigmoid", "Hardtanh", "Hardtanh of 2", "ReLU6", "Sigmoid", "Softsign", "Tanh"}
    flat |= {"LogSigmoid"}
    left = {"LeakyReLU": 0.01, "PReLU": 0.25, "RReLU": 11 / 48, "LogSigmoid": 1}
    left |= dict.fromkeys(["Hardshrink", "Softshrink", "Tanhshrink"], 1)
    right = dict.fromkeys(flat, 0) | {"SELU": SCALE}
    found = {name: mo.grad(layer(x), x) for name, (layer, _, _) in ACTIVATIONS.items()}
    mo.sync(list(found.values()))
    for name, gradient in found.items():
        at_left, at_right = left.get(name, 0), right.get(name, 1)
        expected = np.array([at_left, at_left, at_right, at_right])
        tolerance = 1e-5 if name == "Softsign" else 1e-200
        close(gradient.cast("float64"), expected, rtol=2 * EPS[dtype], atol=tolerance)


def test_gradients(rng):
    """Of all of them at once, away from the corners."""
    x = floats(rng, (9,), "float64", -4, 4)
    corners = np.array([-3, -2, -1, -0.5, 0, 0.3, 0.5, 1, 3])
    x = np.where(abs(x[:, None] - corners).min(1) < 1e-3, x + 0.01, x)
    check_gradient(lambda x: mo.stack([f(x) for f, _, _ in ACTIVATIONS.values()]), x, rtol=1e-5)


def test_layers_are_the_functions(rng):
    x = mo.array(floats(rng, (3, 5)))
    pairs = [(layer(x), f(x)) for layer, f, _ in ACTIVATIONS.values() if f]
    mo.sync([y for pair in pairs for y in pair])
    for a, b in pairs:
        same(a, b.numpy())
    for layer, _, _ in ACTIVATIONS.values():
        assert layer(mo.zeros((0, 3))).shape == (0, 3) and layer(mo.zeros(())).shape == ()


def test_each_is_one_kernel(rng, compiled):
    x = mo.array(floats(rng, (6, 8)))
    for name, (layer, _, _) in ACTIVATIONS.items():
        mo.sync([layer(x)])
        assert len(mo.last_program().kernels) == 1, name


def test_integers_and_nan():
    integers = np.array([-3, 0, 1, 4])
    for name, (layer, _, formula) in ACTIVATIONS.items():
        if name not in ("Threshold", "LeakyReLU", "PReLU", "RReLU", "SiLU", "Sigmoid"):
            close(layer(integers), formula(integers), rtol=1e-5)
        assert np.isnan(layer(np.array([np.nan])).numpy()).all(), name


#: Functions, corners, the gradients there: those by PyTorch.
CORNERS = {
    "celu": (mo.celu, [0.0], [1]),
    "hardshrink": (mo.hardshrink, [-0.5, 0.5], [0, 0]),
    "hardsigmoid": (mo.hardsigmoid, [-3.0, 3.0], [0, 0]),
    "hardswish": (mo.hardswish, [-3.0, 3.0], [0, 1]),
    "hardtanh": (mo.hardtanh, [-1.0, 1.0], [0, 0]),
    "mish": (mo.mish, [0.0], [0.6]),
    "prelu": (lambda x: mo.prelu(x, 0.25), [0.0], [0.25]),
    "selu": (mo.selu, [0.0], [SCALE * ALPHA]),
    "softplus": (mo.softplus, [0.0], [0.5]),
    "softshrink": (mo.softshrink, [-0.5, 0.5], [0, 0]),
    "softsign": (mo.softsign, [0.0], [1]),
    "tanhshrink": (mo.tanhshrink, [0.0], [0]),
    "threshold": (lambda x: mo.threshold(x, 2.0, 5.0), [2.0], [0]),
}


def test_corners():
    points = {name: mo.array(np.array(at)) for name, (_, at, _) in CORNERS.items()}
    slopes = {name: mo.grad(f(points[name]), points[name]) for name, (f, _, _) in CORNERS.items()}
    mo.sync(list(slopes.values()))
    for name, (_, _, expected) in CORNERS.items():
        close(slopes[name], np.array(expected, "float64"), rtol=1e-15, atol=0)


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def test_along_a_dimension(rng):
    x = floats(rng, (2, 4, 3, 6), "float64", -5, 5)
    for dim in (1, -1):
        close(nn.Softmax(dim)(x), softmax(x, dim), rtol=1e-14)
        close(nn.Softmin(dim)(x), softmax(-x, dim), rtol=1e-14)
        close(nn.LogSoftmax(dim)(x), np.log(softmax(x, dim)), rtol=1e-13)
        a, b = np.split(x, 2, dim)
        close(nn.GLU(dim)(x), a * sigmoid(b), rtol=1e-14)
    close(nn.Softmax2d()(x), softmax(x, 1), rtol=1e-14)
    close(nn.Softmax2d()(x[0]), softmax(x[0], 0), rtol=1e-14)
    check_gradient(lambda x: mo.glu(x, 0), x[:, 0, :, 0])
    assert mo.glu(mo.zeros((3, 0))).shape == (3, 0)


def test_glu_is_one_kernel(rng, compiled):
    mo.sync([mo.glu(mo.array(floats(rng, (6, 8))))])
    assert len(mo.last_program().kernels) == 1


def test_prelu(rng):
    x, weight = floats(rng, (2, 3, 4), "float64"), floats(rng, (3,), "float64")
    expected = np.where(x > 0, x, weight[:, None] * x)
    close(mo.prelu(x, weight), expected, rtol=1e-15)
    check_gradient(mo.prelu, x, weight)
    layer = nn.PReLU(3, 0.5)
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    same(layer.weight, np.full(3, 0.5, "float32"))
    assert repr(layer) == "PReLU(num_parameters=3)"
    with pytest.raises(ValueError, match=r"prelu: input has shape \(2, 3, 4\).*\(2,\), expected"):
        mo.prelu(x, weight[:2])
    close(mo.prelu(x[0, 0], 0.5), np.where(x[0, 0] > 0, x[0, 0], 0.5 * x[0, 0]))


def test_rrelu():
    mo.seed(3)
    x = mo.array(-np.arange(1.0, 1001.0))
    layer = nn.RReLU(0.1, 0.3)
    y = layer(x)
    slopes = y.numpy() / x.numpy()
    assert slopes.min() >= 0.1 and slopes.max() < 0.3 and abs(slopes.mean() - 0.2) < 0.01
    # The gradient is that of the very slopes.
    y = layer(x)
    close(mo.grad(y, x), y.numpy() / x.numpy(), rtol=1e-12)
    same(layer(np.array([2.0, 0.0])), np.array([2.0, 0.0]))
    with pytest.raises(ValueError, match="RReLU: lower is 1, above upper, which is 0"):
        nn.RReLU(1, 0)


def test_gumbel_softmax(rng):
    mo.seed(4)
    probabilities = np.array([0.5, 0.3, 0.2])
    logits = mo.array(np.tile(np.log(probabilities), (20000, 1)))
    soft = nn.gumbel_softmax(logits, 0.7)
    close(soft.sum(1), np.ones(20000))
    # The largest is each class as often as its probability says.
    shares = np.bincount(soft.numpy().argmax(1), minlength=3) / 20000
    np.testing.assert_allclose(shares, probabilities, atol=0.015)
    hard = nn.gumbel_softmax(logits, 0.7, hard=True)
    assert np.isin(hard.numpy().round(12), [0, 1]).all()
    np.testing.assert_allclose(hard.numpy().mean(0), probabilities, atol=0.015)
    # The gradient of the sum is 0 as that of a softmax, that of a class is not.
    slope = mo.grad((hard * mo.array([1.0, 0.0, 0.0])).sum(), logits).numpy()
    assert abs(slope.sum(1)).max() < 1e-12 and abs(slope).max() > 0.1
    assert nn.gumbel_softmax(mo.zeros((2, 3), "float16"), dim=0).dtype == "float16"
    with pytest.raises(ValueError, match="gumbel_softmax: tau is 0, expected a positive"):
        nn.gumbel_softmax(logits, 0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: mo.gelu(x, True), "gelu: approximate is True, expected 'none' or 'tanh'"),
        (lambda x: nn.GELU("erf"), "GELU: approximate is 'erf', expected"),
        (lambda x: mo.glu(x), "glu: dimension 1 has extent 3, expected an even number"),
        (lambda x: mo.glu(x, 2), "dimension 2 is out of range"),
        (lambda x: mo.hardtanh(x, 1, 0), "hardtanh: min_val is 1, above max_val, which is 0"),
        (lambda x: mo.softshrink(x, -1), "softshrink: lambd is -1, expected"),
        (lambda x: mo.celu(x, 0), "celu: alpha is 0"),
        (lambda x: mo.softplus(x, 0), "softplus: beta is 0"),
        (nn.Softmax2d(), r"Softmax2d: input has shape \(2, 3\), expected \(N, C, H, W\)"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message + r".*test_activations\.py"):
        call(mo.zeros((2, 3)))


def test_repr():
    expected = {
        "CELU": "CELU(alpha=1.0)",
        "GELU": "GELU(approximate='none')",
        "Hardshrink": "Hardshrink(0.5)",
        "Hardtanh": "Hardtanh(min_val=-1.0, max_val=1.0)",
        "LeakyReLU": "LeakyReLU(negative_slope=0.01)",
        "Mish": "Mish()",
        "Softplus": "Softplus(beta=1.0, threshold=20.0)",
        "Threshold": "Threshold(threshold=0.3, value=7.0)",
    }
    assert {name: repr(ACTIVATIONS[name][0]) for name in expected} == expected
    assert repr(nn.Softmax(1)) == "Softmax(dim=1)"


@pytest.mark.parametrize("place", [0, 1, 15, 16, 31, 40, 66])
def test_one_number_of_another_sign(place):
    """Vectors of which no lane needs an exponential do without; a lane of one has its own."""
    x = np.random.default_rng(place).uniform(0.1, 4, 67).astype("float32")
    x[place] *= -1
    for values in (x, -x):
        wide = values.astype("float64")
        close(mo.elu(values), np.where(wide > 0, wide, np.expm1(wide)), rtol=1e-6)
        close(
            mo.where(values > 0, values, mo.exp(values)),
            np.where(wide > 0, wide, np.exp(wide)),
            rtol=1e-6,
        )
        close(
            mo.where(values > 0, mo.exp(-values), values),
            np.where(wide > 0, np.exp(-wide), wide),
            rtol=1e-6,
        )
