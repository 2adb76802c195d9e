# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lengths of vectors whose squares are no numbers of their type."""

import math
import re

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, floats, same

#: Powers of two by which nothing is rounded, but squares overflow or vanish.
SCALES = {
    "float32": [2.0**66, 2.0**100, 2.0**-98],
    "float64": [2.0**600, 2.0**900, 2.0**-700],
    "bfloat16": [2.0**66, 2.0**-98],
}
CASES = [(dtype, scale) for dtype, scales in SCALES.items() for scale in scales]
MASK = np.array([[True, True, False, True, True]])

#: Functions that grow as their argument does.
LENGTHS = {
    "norm": lambda x: mo.norm(x, 2, 1),
    "norm of all": lambda x: mo.norm(x),
    "norm, kept": lambda x: mo.norm(x, dim=-1, keepdims=True),
    "norm of order 3": lambda x: mo.norm(x, 3, 1),
    "norm of order 1.5": lambda x: mo.norm(x, 1.5, 0),
    "norm of order 10": lambda x: mo.norm(x, 10, (0, 1)),
    "norm of order 0.5": lambda x: mo.norm(x, 0.5, 1, True),
    "matrix_norm": lambda x: mo.matrix_norm(x),
    "std": lambda x: mo.std(x, 1),
    "std of some": lambda x: mo.std(x, 1, correction=1, where=mo.array(MASK)),
    "nanstd": lambda x: mo.nanstd(x, 0, True),
    "cdist": lambda x: mo.cdist(x, x[:2]),
    "cdist of order 3": lambda x: mo.cdist(x, x[:2], 3),
    "pdist": mo.pdist,
    "pairwise_distance": lambda x: nn.pairwise_distance(x, x[::-1], eps=0),
}
#: Functions of directions alone.
DIRECTIONS = {
    "normalize": lambda x: nn.normalize(x, eps=0),
    "normalize by order 3": lambda x: nn.normalize(x, 3, 0, 0),
    "cosine_similarity": lambda x: nn.cosine_similarity(x, x[::-1], eps=0),
    "corrcoef": mo.corrcoef,
    "layer_norm": lambda x: nn.layer_norm(x, 5, eps=0),
    "rms_norm": lambda x: nn.rms_norm(x, 5, eps=0),
    "group_norm": lambda x: nn.group_norm(x, 1, eps=0),
}
#: Those that add a number to squares: beside large ones it is nothing.
LARGE = {
    "normalize": nn.normalize,
    "cosine_similarity": lambda x: nn.cosine_similarity(x, x[::-1]),
    "cosine_embedding_loss": lambda x: nn.cosine_embedding_loss(x, x[::-1], mo.array([1, -1, 1])),
    "layer_norm": lambda x: nn.layer_norm(x, 5),
    "rms_norm": lambda x: nn.rms_norm(x, 5),
    "group_norm": lambda x: nn.group_norm(x, 1),
    "instance_norm": lambda x: nn.instance_norm(x.unsqueeze(0)),
    "batch_norm": lambda x: nn.batch_norm(x, None, None, is_train=True),
}


def given(rng, dtype):
    """Return rows, one of them with a zero."""
    x = floats(rng, (3, 5), "float64", -2, 2)
    x[1, 2] = 0
    return mo.array(x).cast(dtype)


def derivatives(f, x, weights):
    """Return a weighted sum of a function's results, and its first and second derivatives."""
    y = f(x)
    y = y * weights[: y.size].reshape(y.shape)
    slope = mo.grad(y.sum(), x)
    return y, slope, mo.grad((slope * weights[: x.size].reshape(x.shape)).sum(), x)


def check(f, rng, dtype, scale, degree, orders, tolerance=None):
    """Compare a function of degree 0 or 1 at numbers of two sizes."""
    usual = given(rng, dtype)
    weights = mo.array(floats(rng, 20)).cast(dtype)
    expected = derivatives(f, usual, weights)
    actual = derivatives(f, usual * scale, weights)
    rtol = tolerance or {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2}[dtype]
    for order in range(orders):
        # Brought back by two factors: one alone may be none.
        back = scale ** ((order - degree) / 2)
        found = actual[order].cast("float64") * back * back
        wanted = expected[order].cast("float64").numpy()
        close(found, wanted, rtol=rtol, atol=rtol * abs(wanted).max())


@pytest.mark.parametrize(("dtype", "scale"), CASES, ids=str)
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths(rng, name, dtype, scale):
    orders = 2 if dtype == "bfloat16" or "of order" in name else 3
    check(LENGTHS[name], rng, dtype, scale, 1, orders)


@pytest.mark.parametrize(("dtype", "scale"), CASES, ids=str)
@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions(rng, name, dtype, scale):
    check(DIRECTIONS[name], rng, dtype, scale, 0, 1 if dtype == "bfloat16" else 2)


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("name", LARGE)
def test_large_beside_an_epsilon(rng, name, dtype):
    usual, large = given(rng, dtype), SCALES[dtype][0]
    f = LARGE[name]
    # So large already that what is added to squares does not count.
    expected = f(usual * 2.0**30).cast("float64").numpy()
    rtol = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2}[dtype]
    close(f(usual * large).cast("float64"), expected, rtol=rtol, atol=rtol)
    weights = floats(rng, expected.shape, "float64")
    slopes = []
    for scale in (2.0**30, large):
        x = usual * scale
        (slope,) = mo.grad((f(x) * mo.array(weights).cast(dtype)).sum(), [x])
        slopes.append((slope.cast("float64") * scale).numpy())
    limit = 10 * rtol * max(abs(slopes[0]).max(), 1e-3)
    close(slopes[1], slopes[0], rtol=10 * rtol, atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_ends_of_the_range(dtype):
    info = np.finfo(dtype)
    ends = [info.max / 2, -info.max / 2, info.tiny, info.smallest_subnormal, 0.0, math.inf]
    x = mo.array(np.array([[end, 0, 0] for end in ends], dtype))
    for order in (2, 3, 1, math.inf):
        close(mo.norm(x, order, 1), np.abs(ends).astype(dtype), rtol=2e-6, atol=0)
    same(mo.norm(mo.zeros((3, 0), dtype), 2, 1), np.zeros(3, dtype))
    z = mo.zeros(3, dtype)
    same(mo.grad(mo.norm(z), z), np.zeros(3, dtype))
    hole = mo.array(np.array([math.nan, 1], dtype))
    assert math.isnan(mo.norm(hole).item()) and math.isnan(mo.std(hole).item())


def test_usual_rows_keep_their_digits():
    """Beside rows of other sizes, and to the bit."""
    x = np.array([[3, 4, 12], [3e20, 4e20, 12e20], [3e-30, 4e-30, 12e-30], [0, 0, 0]], "float32")
    close(mo.norm(x, 2, 1), np.array([13, 13e20, 13e-30, 0], "float32"), rtol=2e-7, atol=0)
    assert mo.norm(x[0]).item() == 13
    far = np.array([[0, 0], [3, 4], [1e30, 0]], "float32")
    close(mo.cdist(far, far[:1]), np.array([[0], [5], [1e30]], "float32"), rtol=2e-7, atol=0)


@pytest.mark.parametrize("name", ["norm", "norm of all", "norm, kept", "std", "normalize"])
def test_derivatives_are_those_of_wider_numbers(rng, name):
    f = (LENGTHS | DIRECTIONS)[name]
    x = floats(rng, (3, 5), "float64", -2, 2)
    x[1, 2] = 0
    weights = [floats(rng, 20, "float64") for _ in range(3)]
    found = {}
    for dtype in ("float32", "float64"):
        point = mo.array(x).cast(dtype)
        values = [f(point)]
        for each in weights:
            value = values[-1]
            part = mo.array(each).cast(dtype)[: value.size].reshape(value.shape)
            values.append(mo.grad((value * part).sum(), point))
        found[dtype] = [value.cast("float64").numpy() for value in values]
    for actual, expected in zip(found["float32"], found["float64"], strict=True):
        close(actual, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())


def test_tangents_of_norms(rng):
    x = mo.array(floats(rng, (3, 5), "float32", -2, 2) * np.float32(1e25))
    t = mo.array(floats(rng, (3, 5)))
    (slope,) = mo.jvp([mo.norm(x, dim=1)], [x], [t])
    wide = x.cast("float64")
    expected = (wide * t.cast("float64")).sum(1) / mo.norm(wide, dim=1)
    close(slope, expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("divisor", [None, 5.0])
def test_gradients_of_norms_are_computed_in_float32(rng, divisor):
    """Only squares are wider."""
    x = mo.array(floats(rng, (64, 32)))
    y = mo.norm(x, dim=1) if divisor is None else mo.std(x, 1)
    mo.grad((y * mo.array(floats(rng, 64))).sum(), x).sync()
    casts = re.findall(r"cast .*tensor<64x32xf(\d+)> -> tensor<64x32xf(\d+)>", ir("fused"))
    assert casts and set(casts) == {("32", "64")}


@pytest.mark.parametrize("exponent", [-35, -33, 0, 30, 37])
def test_slopes_of_norms_meet_any_cotangent(rng, exponent):
    """Of a small row's norm the logarithm has a large gradient, and each tangent is as small."""
    x = (floats(rng, (5, 7)) * 10.0**exponent).astype(np.float32)
    wide = x.astype(np.float64)
    length = np.sqrt((wide * wide).sum(1, keepdims=True))
    v = mo.array(x)
    close(mo.grad(mo.log(mo.norm(v, dim=1)).sum(), v) * x, wide * wide / length**2, rtol=1e-5)
    tangent = (floats(rng, (5, 7)) * 10.0**exponent).astype(np.float32)
    (moved,) = mo.jvp([mo.norm(v, dim=1)], [v], [mo.array(tangent)])
    expected = (wide * tangent.astype(np.float64)).sum(1) / length[:, 0]
    close(moved.numpy() / length[:, 0], expected / length[:, 0], rtol=1e-4, atol=1e-5)


@pytest.mark.processor
def test_roots_of_many_norms_are_of_vectors(rng, own_kernels):
    mo.norm(mo.array(floats(rng, (4096, 16))), dim=1).sync()
    roots = re.findall(r"math.sqrt .*", ir("loops"))
    assert roots and all("vector<" in root for root in roots)


def ir(phase):
    """Return the text of the last program at a phase."""
    return mo.last_program().ir(phase)


def test_gradients_of_a_norm_that_are_clipped():
    large = [np.array([3e25, 0], "float32"), np.array([4e25], "float32")]
    clipped, norm = mo.optim.clip_grad_norm([mo.array(g) for g in large], 1.0)
    close(norm, np.array(5e25, "float32"), rtol=1e-6)
    close(clipped[0], np.array([0.6, 0]), rtol=1e-6)
    close(clipped[1], np.array([0.8]), rtol=1e-6)


def test_triangular_numbers_whose_mode_is_a_bound():
    low, mode, high = (mo.array(np.float32(x)) for x in (0, 0, 1))
    numbers = mo.triangular((1000,), low, mode, high)
    gradients = mo.grad(numbers.mean(), [low, mode, high])
    assert all(math.isfinite(gradient.item()) for gradient in gradients)
    assert sum(gradient.item() for gradient in gradients) == pytest.approx(1, rel=1e-5)


def test_a_bound_that_is_infinite_moves_nothing():
    mean, std = mo.array(0.0), mo.array(1.0)
    for low, high in ((-math.inf, 1.0), (-2.0, math.inf), (mo.array([-math.inf, 0.0]), 2.0)):
        numbers = mo.truncated_normal((100, 2), low, high, mean, std)
        assert all(math.isfinite(g.item()) for g in mo.grad(numbers.sum(), [mean, std]))
