# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions by segments."""

import math

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

REDUCE = {
    "segment_sum": (lambda part: part.sum(0), 0),
    "segment_prod": (lambda part: part.prod(0), 1),
    "segment_max": (lambda part: part.max(0), -math.inf),
    "segment_min": (lambda part: part.min(0), math.inf),
    "segment_mean": (lambda part: part.mean(0), math.nan),
    "segment_logsumexp": (lambda part: np.logaddexp.reduce(part, 0), -math.inf),
}


def expected_of(name, x, segments, count):
    reduce, empty = REDUCE[name]
    parts = [x[segments == k] for k in range(count)]
    return np.stack([reduce(part) if len(part) else np.full(x.shape[1:], empty) for part in parts])


@pytest.mark.parametrize("name", REDUCE)
@pytest.mark.parametrize("shape", [(20,), (20, 3), (20, 2, 3)], ids=str)
def test_floats(rng, name, shape):
    x = floats(rng, shape, "float64")
    segments = rng.choice([0, 1, 3, 4, 6], 20)
    f = getattr(mo, name)
    close(f(x, segments, 8), expected_of(name, x, segments, 8), rtol=1e-12)
    count = segments.max() + 1
    close(f(x, segments), expected_of(name, x, segments, count), rtol=1e-12)
    # What is outside takes no part.
    close(f(x, segments - 1, 4), expected_of(name, x, segments - 1, 4), rtol=1e-12)


@pytest.mark.parametrize("name", REDUCE)
def test_segments_of_matrices_of_numbers(rng, name):
    x = floats(rng, (4, 5, 2), "float64")
    segments = rng.integers(0, 3, (4, 5))
    expected = expected_of(name, x.reshape(20, 2), segments.reshape(20), 3)
    close(getattr(mo, name)(x, segments, 3), expected, rtol=1e-12)


def test_types(rng):
    n = rng.integers(-100, 100, 30)
    segments = rng.integers(0, 3, 30).astype("uint8")
    for dtype in ["int8", "int64"]:
        x = n.astype(dtype)
        same(mo.segment_max(x, segments, 3), expected_of("segment_max", x, segments, 3))
        parts = [x[segments == k].sum(dtype=dtype) for k in range(3)]
        same(mo.segment_sum(x, segments, 3), np.array(parts))
    same(mo.segment_sum(np.array([2**53 + 1, 2]), [0, 0], 1), np.array([2**53 + 3]))
    same(mo.segment_max(n[:0], segments[:0], 2), np.full(2, -(2**63)))
    half = np.full(4096, 0.5, "float16")
    same(mo.segment_mean(half, np.zeros(4096, int), 1), np.array([0.5], "float16"))
    same(mo.segment_sum(half, np.zeros(4096, int), 1), np.array([2048], "float16"))
    assert mo.segment_mean(n, segments, 3).dtype == "float32"
    assert mo.segment_sum(np.zeros((0, 3)), np.zeros(0, int)).shape == (0, 3)


@pytest.mark.parametrize("name", REDUCE)
def test_gradients(rng, name):
    x = floats(rng, (6, 2), "float64")
    segments = mo.array(np.array([0, 2, 0, 1, 1, 2]))
    f = getattr(mo, name)
    check_gradient(lambda x: f(x, segments, 3) ** 2, x, rtol=1e-5, atol=1e-6)


def test_logarithms_of_sums_at_special_points():
    inf, nan = math.inf, math.nan
    x = np.array([-inf, -inf, inf, 1, inf, -inf, nan, -inf, -inf, 3, 1000, 1000])
    segments = np.repeat(np.arange(6), 2)
    expected = [-inf, inf, inf, nan, 3, 1000 + math.log(2)]
    for dtype in ["float64", "float32"]:
        close(mo.segment_logsumexp(x.astype(dtype), segments, 6), np.array(expected, dtype))
    halves = np.zeros(4096, "float16")
    for dtype in ["float16", "bfloat16"]:
        result = mo.segment_logsumexp(mo.array(halves).cast(dtype), np.zeros(4096, int), 1)
        assert result.dtype == dtype and abs(result.cast("float32").item() - 8.3178) < 0.05
    assert mo.segment_logsumexp([1, 1], [0, 0]).dtype == "float32"


def test_gradients_of_logarithms_of_sums_at_special_points():
    inf = math.inf
    x = mo.array(np.array([-inf, -inf, inf, 1, inf, inf, -inf, 3, 1000, 1000, 800.0]))
    segments = mo.array(np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 9]))
    result = mo.segment_logsumexp(x, segments, 6)
    (gradient,) = mo.grad(result.sum(), [x])
    # An infinite result is the extreme that some share; the last one takes no part.
    close(gradient, np.array([0.5, 0.5, 1, 0, 0.5, 0.5, 0, 1, 0.5, 0.5, 0]))
    (tangent,) = mo.jvp([result], [x], [mo.ones(11, dtype="float64")])
    close(tangent, np.array([1, 1, 1, 1, 1, 0.0]))


def test_combiners_of_reductions(rng):
    x = floats(rng, (5, 37), "float64")
    close(mo.array(x).reindex_reduce("logaddexp", (5,), ("i0",)), np.logaddexp.reduce(x, 1))
    n = mo.array(np.arange(3))
    with pytest.raises(TypeError, match="logaddexp: given int64, expected floats"):
        n.reindex_reduce("logaddexp", (), ())
    with pytest.raises(ValueError, match="there is no reduction 'linear'; expected add, mul, max"):
        n.reindex_reduce("linear", (), ())


def test_nothing_is_computed_with_a_number(rng):
    x, segments = mo.array(floats(rng, (9,))), mo.array(rng.integers(0, 3, 9)) + 0
    before = mo.stats()["programs_run"]
    y = mo.segment_sum(x, segments, 3)
    assert mo.stats()["programs_run"] == before and y.shape == (3,)


@pytest.mark.parametrize("name", REDUCE)
def test_errors(name):
    f, x = getattr(mo, name), np.ones((3, 2))
    with pytest.raises(TypeError, match=f"{name}: segment_ids is of float32, expected integers"):
        f(x, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"segment_ids has shape \(2,\), expected the first"):
        f(x, [0, 1])
    with pytest.raises(ValueError, match=f"{name}: a number is -1, expected 0 or more"):
        f(x, [0, 1, -1])
    with pytest.raises(ValueError, match="num_segments is -1, expected 0 or more"):
        f(x, [0, 1, 1], -1)
    with pytest.raises(TypeError, match=r"num_segments is 1\.5, expected an integer"):
        f(x, [0, 1, 1], 1.5)
