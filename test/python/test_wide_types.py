# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is between arguments and results: tensors of several types, sums of many halves."""

from __future__ import annotations

import math
from functools import partial

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, same

HALVES = ["float16", "bfloat16"]

# Tensors of several types

SIGNS = np.array([[1, -1, 1], [-1, 1, -1]])

#: Functions of two tensors, with numbers of the first one that are integers.
TWO = {
    "average": lambda x, y: mo.average(x, weights=y),
    "bce_loss": lambda x, y: nn.bce_loss(x, y * 0.25),
    "bce_with_logits_loss": nn.bce_with_logits_loss,
    "cdist": mo.cdist,
    "cosine_embedding_loss": lambda x, y: nn.cosine_embedding_loss(x, y, SIGNS[:, 0]),
    "cosine_similarity": nn.cosine_similarity,
    "cumulative_trapezoid": mo.cumulative_trapezoid,
    "gaussian_nll_loss": lambda x, y: nn.gaussian_nll_loss(x, y, y * y),
    "gradient": lambda x, y: mo.gradient(x[0], mo.cumsum(mo.abs(y[0]) + 1.0)),
    "huber_loss": nn.huber_loss,
    "interp": lambda x, y: mo.interp(x, mo.array([0, 2]), y[0, :2]),
    "kl_div": lambda x, y: nn.kl_div(x, mo.abs(y)),
    "l1_loss": nn.l1_loss,
    "lerp": lambda x, y: mo.lerp(x, y, 0.25),
    "logaddexp": mo.logaddexp,
    "logaddexp2": mo.logaddexp2,
    "logsumexp": lambda x, y: mo.logsumexp(x, weights=mo.abs(y)),
    "margin_ranking_loss": lambda x, y: nn.margin_ranking_loss(x, y, SIGNS, 2.0),
    "mse_loss": nn.mse_loss,
    "multilabel_soft_margin_loss": nn.multilabel_soft_margin_loss,
    "pairwise_distance": nn.pairwise_distance,
    "poisson_nll_loss": nn.poisson_nll_loss,
    "prelu": lambda x, y: mo.prelu(x, y[0]),
    "smooth_l1_loss": nn.smooth_l1_loss,
    "scaled_dot_product_attention": lambda x, y: nn.scaled_dot_product_attention(x, y, y),
    "soft_margin_loss": nn.soft_margin_loss,
    "trapezoid": mo.trapezoid,
    "triplet_margin_loss": lambda x, y: nn.triplet_margin_loss(x, y, mo.abs(y), 9.0),
    "triplet_margin_with_distance_loss": lambda x, y: nn.triplet_margin_with_distance_loss(
        x, y, mo.abs(y), distance_function=lambda a, b: mo.abs(a - b).sum(-1), margin=9.0
    ),
    "betainc": lambda x, y: mo.betainc(x + 1, mo.abs(y), 0.25),
    "gammainc": lambda x, y: mo.gammainc(x + 1, mo.abs(y)),
    "gammaincc": lambda x, y: mo.gammaincc(x + 1, mo.abs(y)),
    "xlog1py": lambda x, y: mo.xlog1py(x, mo.abs(y)),
    "xlogy": lambda x, y: mo.xlogy(x, mo.abs(y)),
    "zeta": lambda x, y: mo.zeta(x + 2, mo.abs(y)),
}
#: Losses whose other tensor holds labels, or signs that are only compared.
LABELLED = {
    "cross_entropy_loss",
    "ctc_loss",
    "hinge_embedding_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
}
FIRST = np.array([[1, 0, 1], [0, 1, 1]])
SECOND = np.array([[1.5, -2.25, 0.75], [3.0, 0.5, -1.5]])


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(
    "first, second, expected",
    [
        ("int64", "float64", "float64"),
        ("uint8", "float32", "float32"),
        ("bool", "float16", "float16"),
        ("float32", "float64", "float64"),
        ("float16", "bfloat16", "float32"),
        ("bfloat16", "float32", "float32"),
    ],
)
def test_the_first_tensor_does_not_decide(name, first, second, expected):
    x, y = mo.array(FIRST).cast(first), mo.array(SECOND).cast(second)
    given = TWO[name](x, y)
    assert given.dtype == expected
    wide = "float64" if expected == "float64" else "float32"
    exact = TWO[name](x.cast("float64"), y.cast("float64"))
    rtols = {"float64": 1e-12, "float32": 2e-5, "float16": 1e-3, "bfloat16": 8e-3}
    rtol = rtols[expected]
    close(given.cast(wide), exact, rtol=rtol, atol=rtol / 10)
    # So the gradient by the second is not that of a number that was cut.
    by_second = mo.grad(given.cast(wide).sum(), y)
    rtol = 2 * max(rtol, rtols[second])
    close(by_second.cast(wide), mo.grad(exact.sum(), y).cast(wide), rtol=rtol, atol=rtol / 2)


def test_no_loss_is_left_out():
    losses = {name for name in nn.__all__ if name.endswith("_loss")} | {"kl_div"}
    assert losses <= TWO.keys() | LABELLED


@pytest.mark.parametrize("target", [[2, 0], [[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]])
def test_cross_entropy_with_targets_of_another_type(target):
    x, labels = mo.array(SECOND).cast("float16"), mo.array(np.array(target))
    given = nn.cross_entropy_loss(x, labels)
    # Probabilities are promoted, labels are no numbers of the loss.
    assert given.dtype == ("float64" if labels.dtype == "float64" else "float16")
    close(given, nn.cross_entropy_loss(x.cast("float64"), labels), rtol=1e-3)


def test_python_numbers_adopt_the_type():
    x = mo.array(SECOND).cast("float16")
    assert mo.logaddexp(x, 1.5).dtype == mo.lerp(x, 0.1, 0.3).dtype == "float16"
    assert mo.xlogy(2, x).dtype == mo.gradient(x[0], 0.1).dtype == "float16"
    close(mo.lerp(x, 0.1, 0.3).cast("float32"), SECOND + 0.3 * (0.1 - SECOND), rtol=1e-3)
    assert mo.logaddexp(1, 2).dtype == "float32"


def test_weights_are_of_the_type_of_the_loss():
    x, weight = mo.array(SECOND, "float32"), mo.array(np.array([0.5, 2.0, 1.0]))
    assert nn.bce_with_logits_loss(x, FIRST, weight=weight).dtype == "float32"
    assert nn.cross_entropy_loss(x, [0, 2], weight=weight).dtype == "float32"
    # Integers of the scores cut no weight.
    close(
        nn.bce_with_logits_loss(mo.array(FIRST), FIRST, weight=weight, reduction="sum"),
        nn.bce_with_logits_loss(
            mo.array(FIRST, "float64"), FIRST, weight=weight, reduction="sum"
        ).numpy(),
    )


def test_ends_of_differences_are_not_cut():
    x = mo.array(np.array([1, 4, 9], "int8"))
    same(mo.ediff1d(x, 7), np.array([3, 5, 7], "int8"))
    close(mo.ediff1d(x, 0.5, 1.5), [1.5, 3, 5, 0.5])
    assert mo.ediff1d(x.cast("float16"), mo.array([0.1])).dtype == "float16"


# Integers


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_moments_of_large_integers(dtype):
    x = np.array([1_000_000_000, 1_000_000_001, 1_000_000_005, 1_000_000_006], dtype)
    for name in ("var", "std", "mean", "nanvar", "nanmean"):
        given = getattr(mo, name)(mo.array(x))
        assert given.dtype == "float32"
        close(given, np.float32(getattr(np, name)(x)))
    close(mo.array(x).mean(), np.float32(x.mean()))
    close(mo.var(mo.array(x), correction=1), np.var(x, ddof=1))
    close(mo.median(mo.array(x)), np.float32(np.median(x)))


def test_means_that_cancel():
    x = np.array([2**31 - 1, -(2**31), 5], "int32")
    close(mo.array(x).mean(), x.mean())
    close(mo.array(x).mean(0, True), x.mean(0, keepdims=True))
    close(mo.mean(mo.array(x[:2])), -0.5)


def test_float_power_is_of_float64():
    for dtype, value in (("float32", 1e30), ("float16", 300.0), ("int32", 10), ("uint8", 255)):
        x = np.array([value], dtype)
        close(mo.float_power(mo.array(x), 5), np.float_power(x, 5), rtol=1e-12)
        assert mo.float_power(mo.array(x), 5).dtype == "float64"
    close(mo.float_power(2, mo.array(np.int8([-3, 100]))), np.float_power(2, [-3, 100]))
    close(np.float_power(mo.array(np.float32([2.5])), -7), [2.5**-7], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint32"])
def test_powers_and_slopes_of_integers_have_64_bits(dtype):
    x = np.array([1, 0, 1] if dtype == "bool" else [1, 100, 17], dtype)
    same(mo.vander(mo.array(x), 8), np.vander(x, 8))
    same(mo.polyder(mo.array(x)), np.polyder(x.astype("int64")))


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_convolutions_of_integers(rng, rank, dtype):
    ends = np.iinfo(dtype)
    shape = (2, 3) + (6,) * rank
    x = rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
    w = rng.integers(ends.min, ends.max, (3, 3) + (2,) * rank, dtype, endpoint=True)
    long = "uint64" if dtype == "uint8" else "int64"
    for name in (f"conv{rank}d", f"conv_transpose{rank}d"):
        given = getattr(nn, name)(mo.array(x), mo.array(w))
        assert given.dtype == long
        same(given, getattr(nn, name)(mo.array(x).cast(long), mo.array(w).cast(long)).numpy())
        exact = getattr(nn, name)(mo.array(x).cast("float64"), mo.array(w).cast("float64"))
        close(given.cast("float64"), exact.numpy(), rtol=0, atol=0)


def test_attention_of_integers(rng):
    q, k, v = (rng.integers(-128, 128, (2, 5, 4), "int8") for _ in range(3))
    attend = partial(nn.scaled_dot_product_attention, scale=1e-3)
    given = attend(*map(mo.array, (q, k, v)))
    assert given.dtype == "float32"
    close(given, attend(*(mo.array(x.astype("float64")) for x in (q, k, v))), rtol=1e-5)


def test_the_least_of_booleans():
    x = mo.array(np.zeros((1, 1, 5), bool))
    assert not nn.adaptive_max_pool1d(x, 3).numpy().any()
    assert not nn.max_pool1d(x, 3, padding=1).numpy().any()


def test_magnitudes_that_no_unsigned_integer_has():
    x = mo.array(np.array([0, 1, 2, 3, 255], "uint8"))
    same(mo.hardshrink(x, 2), np.array([0, 0, 0, 3, 255], "uint8"))


# Halves


@pytest.mark.parametrize("dtype", HALVES)
def test_softmax_of_many_classes(dtype):
    count = 70_000
    x = mo.zeros((2, count), dtype)
    digits = 0.01
    close(mo.softmax(x)[:, :2].cast("float32"), np.full((2, 2), 1 / count), rtol=digits, atol=0)
    close(mo.log_softmax(x)[0, 0].cast("float32"), -math.log(count), rtol=digits)
    close(mo.logsumexp(x, 1).cast("float32"), [math.log(count)] * 2, rtol=digits)
    close(nn.cross_entropy_loss(x, [5, 9]).cast("float32"), math.log(count), rtol=digits)
    by_x = mo.grad(mo.log_softmax(x)[:, 7].cast("float32").sum(), x)
    close(by_x[:, 6:8].cast("float32"), [[-1 / count, 1 - 1 / count]] * 2, rtol=digits)


@pytest.mark.parametrize("dtype", HALVES)
def test_losses_of_large_differences(dtype):
    x, y = mo.full((70_000,), 200.0, dtype), mo.full((70_000,), -100.0, dtype)
    # The square, and the sum, are no float16; the mean of magnitudes is.
    close(nn.l1_loss(x, y).cast("float32"), 300.0, rtol=1e-2)
    close(nn.mse_loss(x / 10, y / 10).cast("float32"), 900.0, rtol=2e-2)
    close(mo.cdist(x[None, :4], y[None, :4]).cast("float32"), [[600.0]], rtol=1e-2)


@pytest.mark.parametrize("dtype", HALVES)
def test_sums_and_products_with_a_first_number(dtype):
    x = mo.full((700,), 100.0, dtype)
    # Neither is a float16 before that number has its part.
    close(x.sum(initial=-20_000).cast("float32"), 50_000, rtol=4e-3)
    close(mo.prod(x[:3], initial=1e-3).cast("float32"), 1000, rtol=4e-3)
    assert x.sum(initial=1).dtype == mo.prod(x[:2], initial=mo.array([2.0])).dtype == dtype


@pytest.mark.parametrize("dtype", HALVES)
def test_densities_of_many_halves(dtype):
    """Weights whose sum is no float16."""
    x, weight = mo.array(np.linspace(0, 1, 300)).cast(dtype), mo.full((300,), 600.0, dtype)
    density, edges = mo.histogram(x, 4, density=True, weights=weight)
    close((density * (edges[1:] - edges[:-1])).sum(), 1.0, rtol=1e-2)
    density, *_ = mo.histogram2d(x, x, 2, density=True, weights=weight)
    close(density.sum(), 4.0, rtol=2e-2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_a_recurrent_step_rounds_its_state_alone(rng, cell, dtype):
    # Products and biases are exact in halves.
    layer = cell(4, 4, bias=False)
    for name in ("weight_ih", "weight_hh"):
        weight = getattr(layer, name)
        weight.assign(mo.array(rng.integers(-1, 2, weight.shape) * 0.5, "float32"))
    x, h, c = (mo.array(rng.integers(-4, 5, (3, 4)) * 0.25, "float32") for _ in range(3))

    def states(dtype):
        given = [tensor.cast(dtype) for tensor in (x, h, c)]
        found = layer(given[0], tuple(given[1:]) if cell is nn.LSTMCell else given[1])
        return list(found) if isinstance(found, tuple) else [found]

    wide = states("float32")
    layer.to(dtype)
    for actual, exact in zip(states(dtype), wide, strict=True):
        assert actual.dtype == dtype
        same(actual, exact.cast(dtype).numpy())


@pytest.mark.parametrize("dtype", HALVES)
def test_running_moments_are_rounded_once(rng, dtype):
    x = mo.array(rng.standard_normal((64, 3))).cast(dtype)
    given = [mo.array(np.array([100.0, 0.125, 3.0])).cast(dtype) for _ in range(2)]
    wide = [tensor.cast("float32") for tensor in given]
    for running, wide_x in ((given, x), (wide, x.cast("float32"))):
        nn.batch_norm(wide_x, *running, is_train=True, momentum=0.3)
    for actual, exact in zip(given, wide, strict=True):
        same(actual, exact.cast(dtype).numpy())


@pytest.mark.parametrize("dtype", HALVES)
def test_an_adaptive_softmax_is_rounded_once(rng, dtype):
    layer = nn.AdaptiveLogSoftmaxWithLoss(4, 9, [3, 6], div_value=1.0)
    for weight in layer.parameters():
        weight.assign(mo.array(rng.integers(-2, 3, weight.shape) * 0.5, "float32"))
    x = mo.array(rng.integers(-4, 5, (5, 4)) * 0.25, "float32")
    target = np.array([0, 2, 4, 7, 8])
    wide = [layer.log_prob(x), *layer(x, target)]
    layer.to(dtype)
    given = [layer.log_prob(x.cast(dtype)), *layer(x.cast(dtype), target)]
    for actual, exact in zip(given, wide, strict=True):
        same(actual, exact.cast(dtype).numpy())


@pytest.mark.parametrize("dtype", HALVES)
def test_numbers_are_not_rounded_to_halves(dtype):
    tenth = mo.array(0.1).cast(dtype)
    above = tenth.item() > 0.1
    for call in (
        lambda: mo.hardshrink(tenth, 0.1) != 0,
        lambda: mo.threshold(tenth, 0.1, 0.0) != 0,
    ):
        assert call().item() == above
    x = mo.full((1,), 3.0, dtype)
    same(mo.leaky_relu(-x, 0.01), mo.array(np.float32([-0.03])).cast(dtype).numpy())
    same(mo.rad2deg(x), mo.array(np.rad2deg(np.float32([3]))).cast(dtype).numpy())


# float32


def test_rows_with_infinities():
    """NaN, as in PyTorch, where an infinity is less another one."""
    inf = math.inf
    x = np.array([[1, inf], [1, -inf], [-inf, -inf], [inf, inf], [math.nan, 1]], "float32")
    nan = math.nan
    expected = [[nan, nan], [0, -inf], [nan, nan], [nan, nan], [nan, nan]]
    for dtype in ("float32", "float64", *HALVES):
        given = mo.array(x).cast(dtype)
        close(mo.log_softmax(given).cast("float32"), expected)
        close(mo.softmax(given).cast("float32"), np.exp(expected))
        close(mo.logsumexp(given, 1).cast("float32"), [inf, 1, -inf, inf, nan])


def test_large_logits_keep_the_digits_of_their_differences():
    x = mo.array(np.float32([1e6, 1e6 + 0.5, 1e6 - 2]))
    close(mo.log_softmax(x), mo.log_softmax(x.cast("float64")), rtol=1e-6)


def test_nothing_is_cast_in_float32(compiled):
    x = mo.rand(4, 6)
    for call in (mo.sigmoid, mo.softmax, mo.log_softmax, mo.gelu, lambda x: nn.mse_loss(x, x)):
        call(x).sync()
        assert "metaop.cast" not in mo.last_program().ir("graph")
