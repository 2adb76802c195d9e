# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with several ways to a result: at special values each has the other's."""

import itertools
import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, same

INF, NAN = math.inf, math.nan


def doubles(*numbers):
    return mo.array(np.array(numbers, "float64"))


PADDING = np.array([[False, False, True], [True, True, True]])


@pytest.mark.parametrize("options", [{}, {"add_zero_attn": True}, {"kdim": 4, "vdim": 4}], ids=str)
@pytest.mark.parametrize("added", [False, True])
def test_a_padded_sample_does_not_spoil_the_others(options, added):
    """Attention with its weights and without them has one result, and one gradient."""
    mo.seed(0)
    layer = nn.MultiheadAttention(4, 2, batch_first=True, **options)
    x = mo.randn((2, 3, 4))
    mask = mo.array(np.where(PADDING, -np.float32(INF), 0)) if added else mo.array(PADDING)
    found = []
    for needs_weights in (False, True):
        result, weights = layer(
            x, x, x, key_padding_mask=mask, need_weights=needs_weights, is_causal=True
        )
        found.append([result, *mo.grad((result[0] ** 2).sum(), layer.parameters())])
        assert all(mo.isfinite(value).all().item() for value in found[-1])
        if needs_weights and not options:
            same(weights[1], np.zeros((3, 3), "float32"))
            close(weights[0].sum(-1), np.ones(3))
    for one, other in zip(*found, strict=True):
        close(one, other.numpy(), atol=1e-6)


def test_interpolation_beside_infinities():
    x = np.array([-1, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 3, NAN])
    points = np.arange(3.0)
    for values in itertools.product([1.0, INF, -INF, NAN, 2.0], repeat=3):
        with np.errstate(invalid="ignore"):
            expected = np.interp(x, points, values)
        same(mo.interp(mo.array(x), mo.array(points), doubles(*values)), expected)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [(), (0.5,), ([0.0, 1, 2, 3],), ([0.0, 1, 3, 4],)], ids=repr)
def test_slopes_beside_holes(spacing, edge_order):
    for values in itertools.product([0.0, NAN, 2.0, INF], repeat=4):
        x = np.array(values)
        with np.errstate(invalid="ignore"):
            expected = np.gradient(x, *map(np.asarray, spacing), edge_order=edge_order)
        given = (mo.array(np.asarray(step)) for step in spacing)
        close(mo.gradient(mo.array(x), *given, edge_order=edge_order), expected)


@pytest.mark.parametrize("method", ["linear", "midpoint", "nearest", "lower", "higher"])
def test_quantiles_of_numbers_and_tensors(method):
    """A share that is a number is found another way than one in a tensor."""
    for values in itertools.product([0.0, INF, -INF, NAN, 2.0], repeat=3):
        x = doubles(*values)
        for share in (0.0, 0.25, 0.5, 0.6, 1.0):
            for f in (mo.quantile, mo.nanquantile):
                several = f(x, np.array([share]), method=method)
                same(several, f(x, share, method=method).numpy()[None])
            if not any(map(math.isnan, values)):
                alone = mo.quantile(x, share, method=method)
                same(mo.nanquantile(x, share, method=method), alone.numpy())
    # From one infinity on there is one way only.
    same(mo.quantile(doubles(-INF, 3.0), np.array([0, 0.25, 1])), np.array([-INF, -INF, 3.0]))


def test_sets_have_one_nan_at_most():
    x, y = np.array([1.0, NAN, 2, NAN]), np.array([NAN, 1.0, NAN, 5])
    for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d"):
        same(getattr(mo, name)(mo.array(x), mo.array(y)), getattr(np, name)(x, y))
    same(mo.union1d(mo.array(x), mo.array(x)), np.union1d(x, x))


@pytest.mark.parametrize("p", [0.999999, 1.0])
def test_what_is_dropped_is_zero(p):
    x = mo.array(np.array([[[INF], [NAN], [-INF], [3]]], "float32"))
    for f in (nn.dropout, nn.dropout1d):
        result = f(x, p)
        same(result, np.zeros((1, 4, 1), "float32"))
        same(mo.grad(result.sum(), x), np.zeros((1, 4, 1), "float32"))
    same(nn.alpha_dropout(x, 1.0, True), np.zeros((1, 4, 1), "float32"))


def test_what_has_no_share_in_a_loss():
    """Logarithms and probabilities, labels and probabilities, numbers and logarithms."""
    x = doubles(-INF, -1, 0)
    by_probability = nn.kl_div(x, doubles(0, 1, 0), "none")
    by_logarithm = nn.kl_div(x, doubles(-INF, 0, -INF), "none", log_target=True)
    same(by_probability, np.array([0.0, 1, 0]))
    same(by_logarithm, np.array([0.0, 1, 0]))
    scores, label = doubles(1, -INF, 2).unsqueeze(0), mo.array([2])
    of_label = nn.cross_entropy_loss(scores, label)
    close(nn.cross_entropy_loss(scores, doubles(0, 0, 1).unsqueeze(0)), of_label.numpy())
    count = doubles(0)
    same(
        nn.poisson_nll_loss(doubles(-INF), count),
        nn.poisson_nll_loss(doubles(0), count, log_input=False).numpy(),
    )
    # The slope by a share of 0 is there where it is finite.
    share = doubles(0, 1)
    loss = nn.kl_div(doubles(-2, -1), share, "sum")
    same(mo.grad(loss, share), np.array([2.0, 2.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_entropies_with_and_without_a_weight(dtype):
    x = np.array([20, -20, 60, -60, 20, -20, 0], dtype)
    target = np.array([1, 0, 1, 0, 0, 1, 0.5], dtype)
    ones = mo.ones(7, dtype)
    plain = nn.bce_with_logits_loss(x, target, "none")
    weighted = nn.bce_with_logits_loss(x, target, "none", pos_weight=ones)
    small = math.log1p(math.exp(-20))
    expected = [small, small, math.exp(-60), math.exp(-60), 20, 20, math.log(2)]
    for loss in (plain, weighted):
        close(loss, np.array(expected), rtol=1e-6, atol=0)
