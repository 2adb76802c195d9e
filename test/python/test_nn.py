# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers against NumPy."""

import itertools
import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, conv2d_reference, floats, same


@pytest.mark.parametrize("stride", [1, 2, (2, 1)])
@pytest.mark.parametrize("padding", [0, 1, (0, 2)])
@pytest.mark.parametrize("dilation", [1, (1, 2)])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_conv2d(rng, stride, padding, dilation, groups):
    pairs = [(n, n) if isinstance(n, int) else n for n in (stride, padding, dilation)]
    layer = nn.Conv2d(4, 8, (3, 2), stride, padding, dilation, groups)
    x = floats(rng, (2, 4, 6, 7))
    expected = conv2d_reference(x, layer.weight.numpy(), layer.bias.numpy(), *pairs, groups)
    close(layer(mo.array(x)), expected, rtol=1e-5, atol=1e-5)


def test_true_is_a_padding_of_one(rng):
    x = mo.array(rng.standard_normal((1, 2, 5, 5)).astype("float32"))
    w = mo.array(rng.standard_normal((3, 2, 3, 3)).astype("float32"))
    expected = mo.nn.conv2d(x, w, padding=1).numpy()
    np.testing.assert_array_equal(mo.nn.conv2d(x, w, padding=True).numpy(), expected)


def test_conv2d_of_unit_and_empty_extents(rng):
    w = floats(rng, (3, 2, 1, 1))
    x = floats(rng, (1, 2, 1, 1))
    close(nn.conv2d(mo.array(x), mo.array(w)), conv2d_reference(x, w), rtol=1e-5)
    assert nn.conv2d(mo.zeros((0, 2, 4, 4)), mo.array(w)).numpy().shape == (0, 3, 4, 4)


def test_conv2d_is_one_kernel_per_layer(rng, compiled):
    layer = nn.Conv2d(4, 8, 3, padding=1, groups=2)
    mo.sync(layer.parameters())
    layer(mo.array(floats(rng, (2, 4, 6, 6))).sync()).sync()
    assert len(mo.last_program().kernels) <= 2, str(mo.last_program())


def test_initial_values():
    layer = nn.Conv2d(3, 64, 5)
    bound = 1 / math.sqrt(3 * 25)
    for tensor in layer.parameters():
        assert 0.9 * bound < np.abs(tensor.numpy()).max() <= bound
    w = nn.init.xavier_uniform((200, 100)).numpy()
    assert 0.99 * math.sqrt(6 / 300) < np.abs(w).max() <= math.sqrt(6 / 300)
    assert abs(nn.init.xavier_normal((200, 100)).numpy().std() - math.sqrt(2 / 300)) < 0.002
    assert abs(nn.init.kaiming_uniform((200, 100)).numpy().std() - math.sqrt(2 / 100)) < 0.003
    assert abs(nn.init.kaiming_normal((200, 100)).numpy().std() - math.sqrt(2 / 100)) < 0.003
    same(nn.init.constant((2,), 3), np.full(2, 3, "float32"))
    with pytest.raises(ValueError, match="two dimensions"):
        nn.init.fans((3,))


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (4, 3, 2, 5)])
def test_batch_norm(rng, shape):
    layer = nn.BatchNorm(3, eps=1e-3, momentum=0.3)
    scale, shift = floats(rng, (3,), low=0.5, high=1.5), floats(rng, (3,))
    layer.weight.assign(mo.array(scale))
    layer.bias.assign(mo.array(shift))
    axes = (0, *range(2, len(shape)))
    wide = (1, 3) + (1,) * (len(shape) - 2)
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(3):
        x = floats(rng, shape) * 3 + 5
        m, v = x.mean(axes, dtype="float64"), x.var(axes, dtype="float64")
        expected = (x - m.reshape(wide)) / np.sqrt(v.reshape(wide) + 1e-3)
        expected = expected * scale.reshape(wide) + shift.reshape(wide)
        close(layer(mo.array(x)), expected, rtol=1e-4, atol=1e-5)
        count = x.size / 3
        mean = 0.7 * mean + 0.3 * m
        variance = 0.7 * variance + 0.3 * v * count / (count - 1)
    close(layer.running_mean, mean, rtol=1e-5)
    close(layer.running_var, variance, rtol=1e-5)
    layer.eval()
    x = floats(rng, shape)
    expected = (x - mean.reshape(wide)) / np.sqrt(variance.reshape(wide) + 1e-3)
    expected = expected * scale.reshape(wide) + shift.reshape(wide)
    close(layer(mo.array(x)), expected, rtol=1e-4, atol=1e-5)
    close(layer.running_mean, mean, rtol=1e-5)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    buffers = ["running_mean", "running_var", "num_batches_tracked"]
    assert [name for name, _ in layer.named_buffers()] == buffers


def test_batch_norm_of_a_large_mean(rng):
    x = floats(rng, (64, 2)) + np.float32(4096)
    expected = (x - x.mean(0, dtype="float64")) / np.sqrt(x.var(0, dtype="float64") + 1e-5)
    # The mean is rounded to f32: by 2^-12 at most, of a deviation of about 1.2.
    close(nn.BatchNorm1d(2, affine=False)(mo.array(x)), expected, rtol=1e-5, atol=2.0**-12)


@pytest.mark.parametrize(
    "layer, axes",
    [
        (nn.BatchNorm2d(3), (0, 2, 3)),
        (nn.InstanceNorm2d(3), (2, 3)),
        (nn.LayerNorm((5, 6)), (2, 3)),
    ],
)
def test_norms_of_half_floats(layer, axes, rng):
    """Squares are beyond what a half float holds."""
    x = (floats(rng, (4, 3, 5, 6)) * 300).astype("float16")
    wide = x.astype("float64")
    expected = (wide - wide.mean(axes, keepdims=True)) / wide.std(axes, keepdims=True)
    y = layer(x)
    assert y.dtype == "float16"
    close(y, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.BatchNorm1d(3), (1, 3)),
        (nn.BatchNorm1d(3), (1, 3, 1)),
        (nn.BatchNorm2d(3), (1, 3, 1, 1)),
        (nn.BatchNorm(3), (1, 3, 1, 1, 1)),
        (nn.InstanceNorm2d(3), (4, 3, 1, 1)),
    ],
)
def test_norms_of_one_element(rng, layer, shape):
    x = floats(rng, shape)
    name = f"{type(layer).__name__}: input has shape .*expected more than one element"
    with pytest.raises(ValueError, match=rf"{name}.*test_nn\.py:"):
        layer(mo.array(x))
    if isinstance(layer, nn.BatchNorm):
        same(layer.running_mean, np.zeros(3, "float32"))
        close(layer.eval()(mo.array(x)), x / np.sqrt(1 + 1e-5))


def test_batch_norm_of_nothing():
    layer = nn.BatchNorm1d(3)
    assert layer(mo.zeros((0, 3))).numpy().shape == (0, 3)
    same(layer.running_mean, np.zeros(3, "float32"))
    same(layer.running_var, np.ones(3, "float32"))


#: A layer, and the shape that it takes.
LAYERS = {
    "Linear": (nn.Linear(3, 2), (4, 3)),
    "Conv2d": (nn.Conv2d(3, 2, 2), (1, 3, 4, 4)),
    "BatchNorm": (nn.BatchNorm(3), (4, 3)),
    "InstanceNorm2d": (nn.InstanceNorm2d(3), (1, 3, 2, 2)),
    "LayerNorm": (nn.LayerNorm(3), (4, 3)),
    "MaxPool2d": (nn.MaxPool2d(2), (1, 1, 4, 4)),
    "AvgPool2d": (nn.AvgPool2d(2, padding=1, count_include_pad=False), (1, 1, 4, 4)),
    "global_avg_pool2d": (nn.global_avg_pool2d, (1, 1, 4, 4)),
    "Dropout": (nn.Dropout(0.0), (4,)),
    "Flatten": (nn.Flatten(), (2, 3, 4)),
    "ReLU": (nn.ReLU(), (3,)),
    "Softmax": (nn.Softmax(), (3,)),
    "Sequential": (mo.Sequential(nn.Linear(3, 2), nn.GELU(), nn.Linear(2, 1)), (4, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_take_arrays_and_lists(rng, name):
    layer, shape = LAYERS[name]
    x = floats(rng, shape)
    expected = layer(mo.array(x)).numpy()
    same(layer(x), expected)
    same(layer(x.tolist()), expected)


def test_embeddings_take_arrays_and_lists():
    layer = nn.Embedding(4, 2)
    same(layer([[0, 3]]), layer.weight.numpy()[[[0, 3]]])
    same(layer(np.array(2, "uint8")), layer.weight.numpy()[2])
    same(layer(2), layer.weight.numpy()[2])


def test_other_norms(rng):
    x = floats(rng, (2, 3, 4, 5))

    def normalised(axes):
        mean = x.mean(axes, keepdims=True, dtype="float64")
        return (x - mean) / np.sqrt(x.var(axes, keepdims=True, dtype="float64") + 1e-5)

    close(nn.InstanceNorm2d(3)(mo.array(x)), normalised((2, 3)), rtol=1e-4, atol=1e-5)
    close(nn.LayerNorm(np.int64(5))(mo.array(x)), normalised((3,)), rtol=1e-5, atol=1e-6)
    layer = nn.LayerNorm((4, 5))
    scale = floats(rng, (4, 5))
    layer.weight.assign(mo.array(scale))
    close(layer(mo.array(x)), normalised((2, 3)) * scale, rtol=1e-4, atol=1e-5)


def pool_reference(x, kernel, stride, padding, combine, fill):
    widths = ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2)
    padded = np.pad(x, widths, constant_values=fill)
    H = (x.shape[2] + 2 * padding[0] - kernel[0]) // stride[0] + 1
    W = (x.shape[3] + 2 * padding[1] - kernel[1]) // stride[1] + 1
    y = np.zeros((*x.shape[:2], H, W), x.dtype)
    for i, j in itertools.product(range(H), range(W)):
        top, left = i * stride[0], j * stride[1]
        window = padded[:, :, top : top + kernel[0], left : left + kernel[1]]
        y[:, :, i, j] = combine(window, axis=(2, 3))
    return y


@pytest.mark.parametrize(
    "kernel, stride, padding",
    [((2, 2), (2, 2), (0, 0)), ((3, 2), (1, 2), (1, 0)), ((3, 3), (2, 2), (1, 1))],
)
def test_pools(rng, kernel, stride, padding):
    x = floats(rng, (2, 3, 6, 7)) - 5
    v = mo.array(x)
    largest = pool_reference(x, kernel, stride, padding, np.max, -np.inf)
    same(nn.MaxPool2d(kernel, stride, padding)(v), largest)
    mean = pool_reference(x, kernel, stride, padding, np.mean, 0)
    close(nn.AvgPool2d(kernel, stride, padding)(v), mean, rtol=1e-5)
    count = pool_reference(np.ones_like(x), kernel, stride, padding, np.sum, 0)
    total = pool_reference(x, kernel, stride, padding, np.sum, 0)
    layer = nn.AvgPool2d(kernel, stride, padding, count_include_pad=False)
    close(layer(v), total / count, rtol=1e-5)


def test_pools_by_default(rng):
    x = floats(rng, (1, 2, 4, 6))
    same(nn.MaxPool2d(2)(mo.array(x)), x.reshape(1, 2, 2, 2, 3, 2).max((3, 5)))
    close(nn.global_avg_pool2d(mo.array(x)), x.mean((2, 3), keepdims=True))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


erf = np.vectorize(math.erf, otypes=["float64"])

ACTIVATIONS = {
    "ReLU": (nn.ReLU(), lambda x: np.maximum(x, 0)),
    "ReLU6": (nn.ReLU6(), lambda x: np.clip(x, 0, 6)),
    "LeakyReLU": (nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    "ELU": (nn.ELU(1.5), lambda x: np.where(x > 0, x, 1.5 * (np.exp(np.minimum(x, 0)) - 1))),
    "Sigmoid": (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
    "Softplus": (nn.Softplus(), lambda x: np.log1p(np.exp(x))),
    "SiLU": (nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
    "Tanh": (nn.Tanh(), np.tanh),
    "GELU": (nn.GELU(), lambda x: x * (1 + erf(x / math.sqrt(2))) / 2),
    "GELU with tanh": (
        nn.GELU("tanh"),
        lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    ),
    "Softmax": (nn.Softmax(1), lambda x: softmax(x, 1)),
    "LogSoftmax": (nn.LogSoftmax(-1), lambda x: np.log(softmax(x, -1))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(rng, name):
    layer, reference = ACTIVATIONS[name]
    x = floats(rng, (3, 4, 5), low=-8, high=8)
    close(layer(mo.array(x)), reference(x.astype("float64")), rtol=1e-5, atol=2e-6)


def test_activations_as_functions_and_methods(rng):
    x = mo.array(floats(rng, (4,)))
    for name in ["relu", "sigmoid", "softplus", "silu", "gelu", "softmax", "log_softmax"]:
        same(getattr(x, name)(), getattr(mo, name)(x).numpy())
    close(mo.log_sigmoid(x), np.log(mo.sigmoid(x).numpy()), rtol=1e-5)


def test_relu_keeps_nan():
    x = mo.array([np.nan, -1.0, 2.0])
    close(mo.relu(x), [np.nan, 0, 2])


def test_softmax_of_large_numbers():
    x = mo.array([[1e4, 1e4, -1e4], [-1e4, -1e4, -1e4]])
    close(mo.softmax(x), [[0.5, 0.5, 0], [1 / 3] * 3])


def test_dropout():
    x = mo.ones((200, 50))
    y = nn.Dropout(0.25)(x).numpy()
    assert set(np.unique(y)) == {np.float32(0), np.float32(1) / np.float32(0.75)}
    assert abs((y == 0).mean() - 0.25) < 0.03
    same(nn.Dropout(0.25).eval()(x), x.numpy())
    same(nn.dropout(x, 0.0), x.numpy())
    same(nn.dropout(x, 1.0), np.zeros((200, 50), "float32"))
    g = mo.grad(nn.dropout(x, 0.5).sum(), x).numpy()
    assert set(np.unique(g)) == {np.float32(0), np.float32(2)}


def test_linear(rng):
    layer = nn.Linear(3, 5)
    w, b = layer.weight.numpy(), layer.bias.numpy()
    for shape in [(3,), (4, 3), (2, 4, 3), (0, 3)]:
        x = floats(rng, shape)
        close(layer(mo.array(x)), x @ w.T + b, rtol=1e-5)
    assert nn.Linear(3, 5, bias=False).bias is None


def test_flatten_and_identity(rng):
    x = floats(rng, (2, 3, 4))
    same(nn.Flatten()(mo.array(x)), x.reshape(2, 12))
    same(nn.Identity()(mo.array(x)), x)
