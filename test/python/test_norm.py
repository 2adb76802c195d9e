# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisations, and distances of vectors, against NumPy."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

#: A shape of a batch for each layer.
BATCHES = {
    nn.BatchNorm1d: (5, 3),
    nn.BatchNorm2d: (4, 3, 5, 2),
    nn.BatchNorm3d: (2, 3, 2, 3, 4),
}
IMAGES = {
    nn.InstanceNorm1d: (4, 3, 6),
    nn.InstanceNorm2d: (2, 3, 5, 2),
    nn.InstanceNorm3d: (2, 3, 2, 3, 4),
}


def wide(vector, rank):
    """Return a vector of channels under a shape that broadcasts with images."""
    return np.asarray(vector, "float64").reshape(1, -1, *(1,) * (rank - 2))


def moments(x, axes):
    x = x.astype("float64")
    return x.mean(axes, keepdims=True), x.var(axes, keepdims=True)


def normalised(x, axes, eps=1e-5):
    mean, variance = moments(x, axes)
    return (x - mean) / np.sqrt(variance + eps)


def with_numbers(rng, layer):
    """Give a layer other weights than 1 and 0, and return them."""
    weight, bias = floats(rng, layer.weight.shape, low=0.5, high=1.5), floats(rng, layer.bias.shape)
    layer.weight.assign(weight)
    layer.bias.assign(bias)
    return weight, bias


@pytest.mark.parametrize("momentum", [0.3, None])
@pytest.mark.parametrize("kind", [*BATCHES, *IMAGES])
def test_running_moments(rng, kind, momentum):
    shape = (BATCHES | IMAGES)[kind]
    rank = len(shape)
    per_image = kind in IMAGES
    axes = tuple(range(2, rank)) if per_image else (0, *range(2, rank))
    count = math.prod(shape[axis] for axis in axes)
    layer = kind(3, 1e-3, momentum, True, True)
    weight, bias = with_numbers(rng, layer)
    running = [np.zeros(3), np.ones(3)]
    for step in range(3):
        x = floats(rng, shape) * 3 + 1
        mean, variance = moments(x, axes)
        expected = normalised(x, axes, 1e-3) * wide(weight, rank) + wide(bias, rank)
        close(layer(x), expected, rtol=1e-4, atol=1e-5)
        new = 1 / (step + 1) if momentum is None else momentum
        batch = [m.reshape(-1, 3).mean(0) for m in (mean, variance * count / (count - 1))]
        running = [r * (1 - new) + b * new for r, b in zip(running, batch, strict=True)]
    close(layer.running_mean, running[0], rtol=1e-5, atol=1e-6)
    close(layer.running_var, running[1], rtol=1e-5)
    same(layer.num_batches_tracked, np.int64(3))
    layer.eval()
    expected = (x - wide(running[0], rank)) / np.sqrt(wide(running[1], rank) + 1e-3)
    expected = expected * wide(weight, rank) + wide(bias, rank)
    close(layer(x), expected, rtol=1e-4, atol=1e-5)
    same(layer.num_batches_tracked, np.int64(3))
    if per_image:
        close(layer(x[0]), expected[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [nn.BatchNorm2d, nn.InstanceNorm2d])
def test_without_tracking_the_batch_decides(rng, kind):
    layer = kind(3, affine=False, track_running_stats=False)
    assert layer.state_dict() == {}
    x = floats(rng, (4, 3, 5, 2)) + 1
    axes = (2, 3) if kind is nn.InstanceNorm2d else (0, 2, 3)
    close(layer(x), normalised(x, axes), rtol=1e-5, atol=1e-5)
    close(layer.eval()(x), normalised(x, axes), rtol=1e-5, atol=1e-5)


def test_states_are_pytorchs():
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(nn.BatchNorm3d(2).state_dict()) == names
    assert nn.BatchNorm1d(2).num_batches_tracked.dtype == "int64"
    assert list(nn.InstanceNorm1d(2).state_dict()) == []
    assert list(nn.InstanceNorm1d(2, affine=True).state_dict()) == names[:2]
    assert list(nn.InstanceNorm1d(2, track_running_stats=True).state_dict()) == names[2:]
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    assert list(nn.LayerNorm(3, elementwise_affine=False).state_dict()) == []
    assert nn.GroupNorm(2, 4).state_dict()["bias"].shape == (4,)
    assert nn.RMSNorm((2, 3)).state_dict()["weight"].shape == (2, 3)
    assert [name for name, _ in nn.BatchNorm1d(2).named_parameters()] == names[:2]
    assert "momentum=None, affine=False" in repr(nn.BatchNorm2d(2, momentum=None, affine=False))


def test_batch_norm_as_a_function(rng):
    x, weight = floats(rng, (4, 3, 2)), floats(rng, (3,))
    mean, variance = mo.array(floats(rng, (3,))), mo.array(floats(rng, (3,), low=1))
    expected = (x - wide(mean.numpy(), 3)) / np.sqrt(wide(variance.numpy(), 3) + 0.1)
    y = nn.batch_norm(x, mean, variance, eps=0.1)
    close(y, expected, rtol=1e-5, atol=1e-6)
    y = nn.batch_norm(x, mean, variance, weight, training=True, momentum=1.0)
    close(y, normalised(x, (0, 2)) * wide(weight, 3), rtol=1e-4, atol=1e-5)
    close(mean, x.mean((0, 2)), rtol=1e-5, atol=1e-6)
    close(variance, x.var((0, 2), ddof=1), rtol=1e-5)
    y = nn.batch_norm(x, None, None, None, weight, is_train=True)
    close(y, normalised(x, (0, 2)) + wide(weight, 3), rtol=1e-4, atol=1e-5)
    y = nn.instance_norm(x, mean, variance, use_input_stats=False)
    expected = (x - wide(mean.numpy(), 3)) / np.sqrt(wide(variance.numpy(), 3) + 1e-5)
    close(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(6,), (2, 6), (2, 3, 6)])
def test_layer_and_rms_norm(rng, shape):
    x = floats(rng, shape) + 0.5
    layer = nn.LayerNorm(6, eps=1e-3)
    weight, bias = with_numbers(rng, layer)
    axes = len(shape) - 1
    expected = normalised(x, axes, 1e-3)
    close(layer(x), expected * weight + bias, rtol=1e-4, atol=1e-5)
    close(nn.layer_norm(x, 6, eps=1e-3), expected, rtol=1e-4, atol=1e-5)
    close(nn.layer_norm(x, (6,), None, bias, 1e-3), expected + bias, rtol=1e-4, atol=1e-5)
    root = np.sqrt((x.astype("float64") ** 2).mean(axes, keepdims=True) + 1e-3)
    layer = nn.RMSNorm(6, eps=1e-3)
    layer.weight.assign(weight)
    close(layer(x), x / root * weight, rtol=1e-5)
    close(nn.rms_norm(x, 6, eps=1e-3), x / root, rtol=1e-5)


def test_norms_over_several_dimensions(rng):
    x, weight = floats(rng, (2, 3, 4)), floats(rng, (3, 4))
    close(nn.layer_norm(x, (3, 4), weight), normalised(x, (1, 2)) * weight, rtol=1e-4, atol=1e-5)
    root = np.sqrt((x.astype("float64") ** 2).mean((1, 2), keepdims=True))
    close(nn.rms_norm(x, [3, 4]), x / root, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_eps_of_a_root_mean_square_is_that_of_the_type(dtype):
    eps = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}[dtype]
    y = nn.rms_norm(mo.full((1, 4), math.sqrt(eps), dtype), 4)
    assert y.dtype == dtype
    close(y.cast("float64"), np.full((1, 4), math.sqrt(0.5)), rtol=4e-3)


@pytest.mark.parametrize("groups, shape", [(2, (3, 6)), (3, (2, 6, 4)), (1, (2, 6, 3, 2))])
def test_group_norm(rng, groups, shape):
    x = floats(rng, shape) * 2 + 3
    layer = nn.GroupNorm(groups, 6)
    weight, bias = with_numbers(rng, layer)
    grouped = normalised(x.reshape(shape[0], groups, -1), 2).reshape(shape)
    expected = grouped * wide(weight, len(shape)) + wide(bias, len(shape))
    close(layer(x), expected, rtol=1e-4, atol=1e-5)
    close(nn.group_norm(x, groups), grouped, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_local_response_norm(rng, size):
    x = floats(rng, (2, 5, 3)) * 3
    squares = np.pad(x.astype("float64") ** 2, ((0, 0), (size // 2, (size - 1) // 2), (0, 0)))
    sums = sum(squares[:, k : k + 5] for k in range(size))
    expected = x / (2 + 0.1 * sums / size) ** 0.6
    close(nn.local_response_norm(x, size, 0.1, 0.6, 2.0), expected, rtol=1e-5)
    expected = x / (1 + 1e-4 * sums / size) ** 0.75
    close(nn.LocalResponseNorm(size)(x), expected, rtol=1e-5)


#: Layers of three channels of five numbers, and the axes of their moments.
HALVES = {
    "batch": (nn.BatchNorm1d(3), lambda x: normalised(x, (0, 2))),
    "instance": (nn.InstanceNorm1d(3), lambda x: normalised(x, 2)),
    "layer": (nn.LayerNorm((3, 5)), lambda x: normalised(x, (1, 2))),
    "group": (nn.GroupNorm(1, 3), lambda x: normalised(x, (1, 2))),
    "rms": (nn.RMSNorm(5), lambda x: x / np.sqrt((x**2).mean(2, keepdims=True))),
    "response": (
        nn.LocalResponseNorm(1, alpha=1.0, beta=0.5, k=0.0),
        lambda x: np.sign(x),
    ),
    "vectors": (nn.normalize, lambda x: x / np.sqrt((x**2).sum(1, keepdims=True))),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", HALVES)
def test_halves(rng, name, dtype):
    """Squares are beyond what float16 holds."""
    layer, reference = HALVES[name]
    x = mo.array(floats(rng, (4, 3, 5)) * 600 + 100).cast(dtype)
    y = layer(x)
    assert y.dtype == dtype
    expected = reference(x.cast("float64").numpy())
    tolerance = 2e-3 if dtype == "float16" else 1e-2
    close(y.cast("float64"), expected, rtol=tolerance, atol=tolerance)


def test_distances_of_halves():
    x, y = mo.full((2, 4), 300, "float16"), mo.full((2, 4), -100, "float16")
    distance = nn.pairwise_distance(x, y)
    same(distance, np.full(2, 800, "float16"))
    same(nn.cosine_similarity(x, y), np.full(2, -1, "float16"))
    assert nn.cosine_similarity(x, y.bfloat16()).dtype == "float32"
    assert nn.cosine_similarity(x, y.float64()).dtype == "float64"
    assert nn.normalize(np.array([[3, 4]])).dtype == "float32"


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, math.inf])
def test_normalize_and_distances(rng, p):
    x, y = floats(rng, (4, 3, 5)), floats(rng, (3, 5))
    norm = np.linalg.norm(x.astype("float64"), p, 1, keepdims=True)
    close(nn.normalize(x, p), x / norm, rtol=1e-5)
    both = (np.abs(x.astype("float64")) ** 2).sum((0, 2), keepdims=True) ** 0.5
    close(nn.normalize(x, dim=(0, 2)), x / both, rtol=1e-5)
    expected = np.linalg.norm(x.astype("float64") - y + 1e-6, p, -1)
    close(nn.pairwise_distance(x, y, p), expected, rtol=1e-5)
    close(nn.PairwiseDistance(p, keepdim=True)(x, y), expected[..., None], rtol=1e-5)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cosine_similarity(rng, dim):
    x, y = floats(rng, (4, 3, 5)), floats(rng, (3, 1))
    a, b = (v.astype("float64") for v in np.broadcast_arrays(x, y))
    expected = (a * b).sum(dim) / np.sqrt((a * a).sum(dim) * (b * b).sum(dim))
    close(nn.cosine_similarity(x, y, dim), expected, rtol=1e-5, atol=1e-6)
    close(nn.CosineSimilarity(dim)(x1=x, x2=y), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cosine_similarity_at_the_least_norm(dtype):
    """A vector that is as long as epsilon has the slopes of one that is longer."""
    x = mo.array(np.array([[0, 0.5, 0], [0, 0.25, 0]], dtype))
    y = mo.array(np.array([[0.5, 1, 0], [0.5, 1, 0]], dtype))
    length = 1.25**0.5
    expected = np.array([[1, 0, 0], [1, 2, 0]]) / length
    slope = mo.grad(nn.cosine_similarity(x, y, eps=0.5).sum(), x)
    close(slope, expected.astype(dtype), rtol=1e-6, atol=1e-7)


def test_vectors_of_length_zero():
    """Values and gradients are finite."""
    x = mo.array(np.array([[0.0, 0.0], [3.0, 4.0]]))
    y = nn.normalize(x)
    close(y, [[0, 0], [0.6, 0.8]])
    assert np.isfinite(mo.grad(y.sum(), x).numpy()).all()
    similarity = nn.cosine_similarity(x, x)
    close(similarity, [0, 1])
    close(mo.grad(similarity.sum(), x), np.zeros((2, 2)), atol=1e-7)
    close(mo.grad(nn.pairwise_distance(x, x, eps=0.0).sum(), x), np.zeros((2, 2)))


GRADIENTS = {
    "batch_norm": lambda x, w: nn.batch_norm(x, None, None, w, is_train=True),
    "instance_norm": lambda x, w: nn.instance_norm(x, weight=w),
    "layer_norm": lambda x, w: nn.layer_norm(x * w.reshape(1, 2, 1), (2, 3)),
    "rms_norm": lambda x, w: nn.rms_norm(x * w.reshape(1, 2, 1), 3, eps=0.1),
    "group_norm": lambda x, w: nn.group_norm(x, 1, w),
    "local_response_norm": lambda x, w: nn.local_response_norm(x * w.reshape(1, 2, 1), 2, 0.5),
    "normalize": lambda x, w: nn.normalize(x * w.reshape(1, 2, 1), 3),
    "cosine_similarity": lambda x, w: nn.cosine_similarity(x, w.reshape(1, 2, 1)),
    "pairwise_distance": lambda x, w: nn.pairwise_distance(x, w.reshape(1, 2, 1)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(rng, name):
    x, w = floats(rng, (2, 2, 3), "float64"), floats(rng, (2,), "float64", 0.5, 1.5)
    check_gradient(lambda x, w: GRADIENTS[name](x, w) ** 2, x, w, rtol=1e-5, atol=1e-6)


def test_nothing_to_normalise():
    for layer, shape in [
        (nn.BatchNorm2d(3, momentum=None), (0, 3, 2, 2)),
        (nn.BatchNorm1d(3, track_running_stats=False), (0, 3)),
        (nn.InstanceNorm1d(3, track_running_stats=True), (0, 3, 4)),
        (nn.GroupNorm(2, 4), (0, 4, 2)),
        (nn.LayerNorm(4), (0, 4)),
        (nn.RMSNorm(4), (0, 4)),
        (nn.LocalResponseNorm(2), (0, 4, 2)),
        (nn.normalize, (0, 4)),
    ]:
        assert layer(mo.zeros(shape)).numpy().shape == shape
        for running in getattr(layer, "buffers", list)():
            assert np.isfinite(running.numpy()).all()
    same(nn.cosine_similarity(mo.zeros((3, 0)), mo.zeros((3, 0))), np.zeros(3, "float32"))


def test_a_call_that_raises_changes_nothing(rng):
    layer = nn.BatchNorm1d(3)
    with pytest.raises(ValueError, match="more than one element for each channel while"):
        layer(floats(rng, (1, 3)))
    same(layer.num_batches_tracked, np.int64(0))
    layer = nn.InstanceNorm1d(3, track_running_stats=True)
    with pytest.raises(ValueError, match="more than one element for each channel of an image"):
        layer(floats(rng, (4, 3, 1)))
    same(layer.num_batches_tracked, np.int64(0))
    x = floats(rng, (4, 3, 1))
    close(layer.eval()(x), x / math.sqrt(1 + 1e-5))


X = mo.ones((4, 3, 2))


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e3, 1e18, 1e20, 1e25])
@pytest.mark.parametrize(
    ("size", "alpha", "beta", "k"), [(3, 1e-4, 0.75, 1.0), (5, 1.0, 0.5, 2.0), (2, 0.5, 1.0, 0.3)]
)
def test_responses_to_large_numbers(rng, scale, size, alpha, beta, k):
    """Squares overflow, the result does not; small ones count beside small sums alone."""
    x = (floats(rng, (2, 6, 3)) * scale).astype("float32")
    wide = x.astype("longdouble")
    expected = np.empty_like(wide)
    for c in range(6):
        first = c - size // 2
        mean = (wide[:, max(0, first) : first + size] ** 2).sum(1) / size
        expected[:, c] = wide[:, c] / (k + alpha * mean) ** beta
    actual = nn.local_response_norm(x, size, alpha, beta, k)
    close(actual, expected.astype("float64"), rtol=2e-6, atol=1e-38)
    given = mo.array(x)
    slope = mo.grad(nn.local_response_norm(given, size, alpha, beta, k).sum(), given)
    wide = mo.array(x, "float64")
    exact = mo.grad(nn.local_response_norm(wide, size, alpha, beta, k).sum(), wide).numpy()
    close(slope, exact, rtol=1e-4, atol=1e-5 * abs(exact).max() + 1e-38)


ERRORS = {
    "batch rank": (lambda: nn.BatchNorm3d(3)(X), r"BatchNorm3d: .*\(4, 3, 2\).* with 5 dimensions"),
    "batch channels": (lambda: nn.BatchNorm1d(2)(X), r"expected \(N, 2, \.\.\.\) with 2 or 3"),
    "function's rank": (lambda: nn.batch_norm(X[0, 0], None, None), "at least 2 dimensions"),
    "nothing running": (lambda: nn.batch_norm(X, None, None), "no running mean and variance"),
    "one running": (lambda: nn.batch_norm(X, mo.ones(3), None), "no running mean and variance"),
    "running": (lambda: nn.batch_norm(X, mo.ones(2), mo.ones(3)), r"running_mean has shape \(2,\)"),
    "one element": (
        lambda: nn.batch_norm(mo.ones((1, 3)), None, None, is_train=True),
        "batch_norm: .*expected more than one element",
    ),
    "weight": (lambda: nn.instance_norm(X, weight=mo.ones(2)), r"weight has shape \(2,\)"),
    "instance rank": (
        lambda: nn.InstanceNorm3d(3)(X),
        r"InstanceNorm3d: .*expected \(N, 3, D, H, W\) or \(3, D, H, W\)",
    ),
    "layer": (lambda: nn.layer_norm(X, 3), r"layer_norm: .*expected \(\.\.\., 3\)"),
    "layer's weight": (lambda: nn.layer_norm(X, 2, mo.ones(3)), r"weight has shape \(3,\)"),
    "no extents": (lambda: nn.LayerNorm(()), "LayerNorm: normalized_shape is"),
    "rms": (lambda: nn.RMSNorm((3, 3))(X), r"RMSNorm: .*expected \(\.\.\., 3, 3\)"),
    "groups": (lambda: nn.group_norm(X, 2), "group_norm: 3 channels are not divisible into 2"),
    "layer's groups": (lambda: nn.GroupNorm(2, 3), "GroupNorm: 3 channels"),
    "group's channels": (lambda: nn.GroupNorm(2, 4)(X), r"GroupNorm: .*expected \(N, 4, \.\.\.\)"),
    "response's rank": (lambda: nn.LocalResponseNorm(2)(X[0]), "at least 3 dimensions"),
    "response's size": (lambda: nn.local_response_norm(X, 0), "size is 0"),
    "order": (lambda: nn.normalize(X, -1), "order is -1"),
    "dimension": (lambda: nn.normalize(X, dim=3), "dimension 3 is out of range"),
    "shapes": (
        lambda: nn.cosine_similarity(X, mo.ones((2, 2))),
        r"shapes \(4, 3, 2\) and \(2, 2\) do not broadcast",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, message = ERRORS[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_norm\.py"):
        call()


def test_what_is_running_is_a_var():
    with pytest.raises(TypeError, match=r"running_mean is .*expected a Var"):
        nn.batch_norm(X, np.ones(3), np.ones(3))


#: By what they are called, with channels second but for the first.
NORMALISED = {
    "layer_norm": lambda x: mo.nn.layer_norm(x, x.shape[1:]),
    "batch_norm": lambda x: mo.nn.batch_norm(x, None, None, is_train=True),
    "instance_norm": lambda x: mo.nn.instance_norm(x),
    "group_norm": lambda x: mo.nn.group_norm(x, 2),
}


@pytest.mark.parametrize("name", NORMALISED)
@pytest.mark.parametrize("offset", [0.0, 100.3, 10000.3, 1e10, 1e30])
def test_equal_numbers_become_0(name, offset):
    """A mean that is rounded leaves a distance, which a small deviation would make large."""
    x = mo.full((3, 4, 9, 11), offset)
    result = NORMALISED[name](x).numpy()
    assert np.abs(result).max() <= (1e-6 if offset < 1e6 else 0.1)


@pytest.mark.parametrize("name", NORMALISED)
@pytest.mark.parametrize("offset", [1.0, 1e2, 1e4, -1e6])
def test_a_mean_that_is_large_beside_the_deviation_costs_no_digits(name, offset):
    rng = np.random.default_rng(4)
    x = (offset * (1 + 1e-5 * rng.normal(size=(3, 4, 9, 11)))).astype("float32")
    weights = rng.normal(size=x.shape)
    found = []
    for dtype in ("float32", "float64"):
        given = mo.array(x.astype(dtype))
        result = NORMALISED[name](given)
        gradient = mo.grad((result * mo.array(weights.astype(dtype))).sum(), given)
        found.append((result.numpy(), gradient.numpy()))
    # Squares of rows are not corrected: the square of what rounding does to the mean.
    tolerance = 2e-4 if name == "layer_norm" else 3e-6
    for single, double in zip(*found, strict=True):
        np.testing.assert_allclose(single, double, atol=tolerance * np.abs(double).max())


def test_a_variance_of_equal_numbers_is_0():
    for offset in (0.1, 100.3, 10000.3):
        assert mo.var(mo.full((4096,), offset)).item() < 1e-12
    rng = np.random.default_rng(5)
    x = (1e4 + 1e-2 * rng.normal(size=(6, 500))).astype("float32")
    expected = np.var(x.astype("float64"), axis=1)
    np.testing.assert_allclose(mo.var(mo.array(x), 1).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm", "group_norm", "layer_norm"])
@pytest.mark.parametrize(("dtype", "size"), [("float32", 1e28), ("float64", 1e200)])
def test_deviations_of_large_numbers_do_not_overflow(name, dtype, size):
    rng = np.random.default_rng(6)
    x = 1 + 0.3 * rng.normal(size=(3, 4, 9, 11))
    expected = NORMALISED[name](mo.array(x * 1e6)).numpy()
    result = NORMALISED[name](mo.array((x * size).astype(dtype))).numpy()
    np.testing.assert_allclose(result, expected, atol=2e-5)


def test_a_variance_that_overflows_is_infinite():
    for dtype, size in (("float32", 1e30), ("float64", 1e200)):
        for count in (5, 40000):
            x = size * np.random.default_rng(7).uniform(1, 3, count)
            assert mo.var(mo.array(x.astype(dtype))).item() == math.inf


def test_equal_numbers_have_derivatives():
    """The second derivative of a variance, and of a norm the third, do not end at 0."""
    direction = np.random.default_rng(8).normal(size=40000)
    for offset in (0.0, 0.1, 10000.3):
        x = mo.full((40000,), offset, dtype="float64")
        gradient = mo.grad(mo.var(x), x)
        moved = mo.grad((gradient * mo.array(direction)).sum(), x).numpy()
        exact = 2 * (direction - direction.mean()) / 40000
        np.testing.assert_allclose(moved, exact, atol=1e-9 * np.abs(exact).max())
