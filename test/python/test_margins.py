# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of differences, distributions and margins against NumPy in float64."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

N, C = 6, 5
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda a: a}
RNG = np.random.default_rng(5)

X, T = floats(RNG, (N, C), "float64", -2, 2), floats(RNG, (N, C), "float64", -2, 2)
P = RNG.uniform(0.05, 1, (N, C))
SIGNS = RNG.choice([-1.0, 1.0], (N, C))
LABELS = RNG.integers(0, C, N)
WEIGHT = RNG.uniform(0.5, 2, C)
COUNTS = RNG.integers(0, 6, (N, C)).astype("float64")
#: Labels of several classes, which end at -1; what is behind does not matter.
SETS = np.array(
    [
        [0, 3, -1, 1, 2],
        [-1, 0, 0, 0, 0],
        [4, 3, 2, 1, 0],
        [2, -1, -1, 4, 4],
        [1, 1, -1, 0, 0],
        [3, 0, 1, -1, 2],
    ]
)


def softplus(x):
    return np.logaddexp(0, x)


def huber(x, t, delta=1.0):
    d = abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def poisson(x, t, log_input=True, full=False):
    loss = np.exp(x) - t * x if log_input else x - t * np.log(x + 1e-8)
    many = np.maximum(t, 2)
    stirling = many * np.log(many) - many + np.log(2 * np.pi * many) / 2
    return loss + np.where(t > 1, stirling, 0) if full else loss


def gaussian(x, t, var, full=False):
    var = np.maximum(var, 1e-6)
    return (np.log(var) + (x - t) ** 2 / var + full * math.log(2 * math.pi)) / 2


def hinge(x, t, margin=1.0):
    return np.where(t == 1, x, np.maximum(0, margin - x))


def cosine(x, y, t, margin=0.0):
    cos = (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.where(t == 1, 1 - cos, np.maximum(0, cos - margin))


def triplet(a, p, n, margin=1.0, order=2.0, swap=False):
    def distance(x, y):
        return (abs(x - y + 1e-6) ** order).sum(-1) ** (1 / order)

    apart = np.minimum(distance(a, n), distance(p, n)) if swap else distance(a, n)
    return np.maximum(0, margin + distance(a, p) - apart)


def multi_margin(x, labels, p=1, margin=1.0, weight=None):
    loss = np.zeros(len(x))
    for n, label in enumerate(labels):
        lacking = np.maximum(0, margin - x[n, label] + np.delete(x[n], label)) ** p
        loss[n] = lacking.sum() / x.shape[1] * (1 if weight is None else weight[label])
    return loss


def multilabel_margin(x, sets):
    loss = np.zeros(len(x))
    for n, row in enumerate(sets):
        labels = list(row[: list(row).index(-1)]) if -1 in row else list(row)
        others = [k for k in range(x.shape[1]) if k not in labels]
        loss[n] = sum(max(0, 1 - x[n, t] + x[n, k]) for t in labels for k in others) / x.shape[1]
    return loss


def multilabel_soft_margin(x, t, weight=1.0):
    return (weight * (t * softplus(-x) + (1 - t) * softplus(x))).mean(-1)


#: The module, with options; the function; tensors; the formula.
LOSSES = {
    "huber": (nn.HuberLoss, {}, nn.huber_loss, (X, T), huber),
    "huber of 0.5": (
        nn.HuberLoss,
        {"delta": 0.5},
        nn.huber_loss,
        (X, T),
        lambda x, t: huber(x, t, 0.5),
    ),
    "smooth l1": (nn.SmoothL1Loss, {}, nn.smooth_l1_loss, (X, T), huber),
    "smooth l1 of 2": (
        nn.SmoothL1Loss,
        {"beta": 2.0},
        nn.smooth_l1_loss,
        (X, T),
        lambda x, t: huber(x, t, 2.0) / 2,
    ),
    "smooth l1 of 0": (
        nn.SmoothL1Loss,
        {"beta": 0},
        nn.smooth_l1_loss,
        (X, T),
        lambda x, t: abs(x - t),
    ),
    "kl": (nn.KLDivLoss, {}, nn.kl_div, (X, P), lambda x, t: t * (np.log(t) - x)),
    "kl of logarithms": (
        nn.KLDivLoss,
        {"log_target": True},
        nn.kl_div,
        (X, T),
        lambda x, t: np.exp(t) * (t - x),
    ),
    "poisson": (nn.PoissonNLLLoss, {}, nn.poisson_nll_loss, (X, COUNTS), poisson),
    "poisson of counts": (
        nn.PoissonNLLLoss,
        {"log_input": False, "full": True},
        nn.poisson_nll_loss,
        (P, COUNTS),
        lambda x, t: poisson(x, t, False, True),
    ),
    "gaussian": (nn.GaussianNLLLoss, {}, nn.gaussian_nll_loss, (X, T, P), gaussian),
    "gaussian of rows": (
        nn.GaussianNLLLoss,
        {"full": True},
        nn.gaussian_nll_loss,
        (X, T, P[:, 0]),
        lambda x, t, v: gaussian(x, t, v[:, None], True),
    ),
    "soft margin": (
        nn.SoftMarginLoss,
        {},
        nn.soft_margin_loss,
        (X, SIGNS),
        lambda x, t: softplus(-t * x),
    ),
    "hinge": (nn.HingeEmbeddingLoss, {}, nn.hinge_embedding_loss, (X, SIGNS), hinge),
    "hinge of 0.3": (
        nn.HingeEmbeddingLoss,
        {"margin": 0.3},
        nn.hinge_embedding_loss,
        (X, SIGNS),
        lambda x, t: hinge(x, t, 0.3),
    ),
    "ranking": (
        nn.MarginRankingLoss,
        {"margin": 0.4},
        nn.margin_ranking_loss,
        (X, T, SIGNS),
        lambda x, y, t: np.maximum(0, 0.4 - t * (x - y)),
    ),
    "cosine": (
        nn.CosineEmbeddingLoss,
        {"margin": 0.1},
        nn.cosine_embedding_loss,
        (X, T, SIGNS[:, 0]),
        lambda x, y, t: cosine(x, y, t, 0.1),
    ),
    "triplet": (nn.TripletMarginLoss, {}, nn.triplet_margin_loss, (X, T, P), triplet),
    "triplet with swap": (
        nn.TripletMarginLoss,
        {"margin": 3.0, "p": 3, "swap": True},
        nn.triplet_margin_loss,
        (X, T, P),
        lambda a, p, n: triplet(a, p, n, 3.0, 3.0, True),
    ),
    "triplet with distance": (
        nn.TripletMarginWithDistanceLoss,
        {"distance_function": lambda x, y: abs(x - y).sum(-1), "margin": 2.0, "swap": True},
        nn.triplet_margin_with_distance_loss,
        (X, T, P),
        lambda a, p, n: np.maximum(
            0, 2 + abs(a - p).sum(-1) - np.minimum(abs(a - n).sum(-1), abs(p - n).sum(-1))
        ),
    ),
    "multi margin": (nn.MultiMarginLoss, {}, nn.multi_margin_loss, (X, LABELS), multi_margin),
    "multi margin with weight": (
        nn.MultiMarginLoss,
        {"p": 2, "margin": 0.7, "weight": WEIGHT},
        nn.multi_margin_loss,
        (X, LABELS),
        lambda x, t: multi_margin(x, t, 2, 0.7, WEIGHT),
    ),
    "multilabel margin": (
        nn.MultiLabelMarginLoss,
        {},
        nn.multilabel_margin_loss,
        (X, SETS),
        multilabel_margin,
    ),
    "multilabel soft margin": (
        nn.MultiLabelSoftMarginLoss,
        {"weight": WEIGHT},
        nn.multilabel_soft_margin_loss,
        (X, (SIGNS + 1) / 2),
        lambda x, t: multilabel_soft_margin(x, t, WEIGHT),
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_values(dtype):
    """All reductions of all losses, of modules and of functions, in one program."""
    losses = {}
    for name, (kind, options, function, tensors, _) in LOSSES.items():
        given = [mo.array(t.astype(dtype) if t.dtype == "float64" else t) for t in tensors]
        for reduction in REDUCTIONS:
            losses[name, reduction] = kind(reduction=reduction, **options)(*given)
        losses[name, "function"] = function(*given, reduction="none", **options)
    mo.sync(list(losses.values()))
    tolerance = {"float64": 1e-13, "float16": 4e-3}[dtype]
    for (name, reduction), loss in losses.items():
        tensors, formula = LOSSES[name][3:]
        rounded = [
            t.astype(dtype).astype("float64") if t.dtype == "float64" else t for t in tensors
        ]
        # The formulas know no rounded variances.
        expected = REDUCTIONS.get(reduction, REDUCTIONS["none"])(formula(*rounded))
        assert loss.dtype == dtype, name
        scale = abs(formula(*rounded)).max()
        close(loss.cast("float64"), expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("names", [list(LOSSES)[k::4] for k in range(4)])
def test_gradients(names):
    for name in names:
        _, options, function, tensors, _ = LOSSES[name]
        # Of integers there is none, and those by targets of 1 and -1 mean nothing.
        count = (
            1
            if any(t is c for t in tensors for c in (COUNTS, LABELS, SETS, SIGNS))
            else len(tensors)
        )
        count = 2 if name in ("ranking", "cosine") else count

        def loss(*given, function=function, options=options, rest=tensors[count:]):
            return function(*given, *rest, **options)

        order = 1 if "triplet" in name else 2
        small = [t[:2] for t in tensors[:count]]
        rest = tuple(t[:2] for t in tensors[count:])
        check_gradient(
            lambda *given, loss=loss, rest=rest: loss(*given, rest=rest), *small, order=order
        )


def test_few_kernels(compiled):
    """One where a loss is element-wise; with labels, one more for each sum over classes."""
    most = {
        "gaussian of rows": 2,
        "cosine": 2,
        "multilabel soft margin": 2,
        "multi margin": 5,
        "multilabel margin": 8,
    }
    for name, (_, options, function, tensors, _) in LOSSES.items():
        if "triplet" in name or "weight" in name:
            continue
        given = [mo.array(t) for t in tensors]
        mo.sync([function(*given, reduction="none", **options)])
        assert len(mo.last_program().kernels) <= most.get(name, 1), name


def test_kl_of_batches_and_zeros():
    expected = (P * (np.log(P) - X)).sum() / N
    close(nn.kl_div(X, P, "batchmean"), expected, rtol=1e-13)
    close(nn.KLDivLoss("batchmean")(X, P), expected, rtol=1e-13)
    x = mo.array([-np.inf, -1.0])
    loss = nn.kl_div(x, [0.0, 1.0], "none")
    same(loss, np.float32([0, 1]))
    same(mo.grad(loss, x), np.float32([0, -1]))
    with pytest.raises(ValueError, match=r"kl_div: input has shape \(\), which has no batch"):
        nn.kl_div(0.0, 0.0, "batchmean")
    with pytest.raises(ValueError, match="mse_loss: reduction is 'batchmean'"):
        nn.mse_loss(X, T, "batchmean")


def test_large_differences_of_half_floats():
    """The squares, and the sums, are beyond what a half float holds."""
    x = mo.array(np.array([300, -6e4, 0.25], "float16"))
    zeros = np.zeros(3, "float16")
    for loss in (nn.huber_loss, nn.smooth_l1_loss):
        same(loss(x, zeros, "none"), np.array([299.5, 6e4, 0.03125], "float16"))
        same(mo.grad(loss(x, zeros, "sum"), x), np.array([1, -1, 0.25], "float16"))
    many = np.full(70000, 2, "float16")
    same(nn.huber_loss(many, np.zeros_like(many)), np.float16(1.5))
    large = np.array([[300, 400], [400, -300]], "float16")
    same(nn.cosine_embedding_loss(large, large, [1, -1], reduction="none"), np.float16([0, 1]))


def test_small_variances():
    var = mo.array(np.array([0.0, 1e-9, 0.5]))
    loss = nn.gaussian_nll_loss(np.ones(3), np.zeros(3), var, eps=1e-3, reduction="sum")
    at = np.array([1e-3, 1e-3, 0.5])
    close(loss, (np.log(at) + 1 / at).sum() / 2, rtol=1e-14)
    # Where the variance is too small, it is learnt that it is.
    close(mo.grad(loss, var), (1 / at - 1 / at**2) / 2, rtol=1e-14)
    close(nn.gaussian_nll_loss(X, T, 2.0, reduction="none"), gaussian(X, T, 2.0), rtol=1e-13)


def test_edges_of_margins():
    """There the gradient is that of the side where the margin is not kept, as PyTorch's."""
    x, y = mo.array([1.0, 2.0]), mo.array([1.0, 2.0])
    same(mo.grad(nn.margin_ranking_loss(x, y, [1, -1], reduction="sum"), x), np.float32([-1, 1]))
    same(mo.grad(nn.hinge_embedding_loss(x, [-1, -1], reduction="sum"), x), np.float32([-1, 0]))
    # Equal rows have a distance with a finite gradient.
    rows = mo.array(np.ones((2, 3)))
    loss = nn.triplet_margin_loss(rows, np.ones((2, 3)), np.zeros((2, 3)), 4.0)
    assert np.isfinite(mo.grad(loss, rows).numpy()).all()


def test_single_examples():
    close(nn.multi_margin_loss(X[0], LABELS[0], reduction="none"), multi_margin(X, LABELS)[0])
    close(nn.multilabel_margin_loss(X[0], SETS[0], "none"), multilabel_margin(X, SETS)[0])
    close(nn.cosine_embedding_loss(X[0], T[0], 1.0, reduction="none"), cosine(X[0], T[0], 1.0))
    close(nn.triplet_margin_loss(X[0], T[0], P[0], 9.0), triplet(X[0], T[0], P[0], 9.0))


def test_no_examples():
    none = mo.zeros((0, 3))
    for loss in (nn.huber_loss, nn.smooth_l1_loss, nn.soft_margin_loss, nn.kl_div):
        same(loss(none, none, "sum"), np.float32(0))
        assert np.isnan(loss(none, none).item()) and loss(none, none, "none").shape == (0, 3)
    labels = np.zeros(0, int)
    assert nn.multi_margin_loss(none, labels, reduction="none").shape == (0,)
    assert nn.multilabel_margin_loss(none, np.zeros((0, 3), int), "none").shape == (0,)
    assert nn.triplet_margin_loss(none, none, none, reduction="none").shape == (0,)
    assert nn.cosine_embedding_loss(none, none, mo.zeros(0), reduction="none").shape == (0,)


@pytest.mark.parametrize(
    "loss, labels",
    [(nn.multi_margin_loss, np.array([0, 5])), (nn.multilabel_margin_loss, SETS[:2] * 0 - 2)],
)
def test_labels_out_of_range(loss, labels):
    with pytest.raises(IndexError, match=r"label (5|-2) is out of range for 5 classes"):
        loss(X[:2], labels).item()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: nn.huber_loss(X, T, delta=0), "huber_loss: delta is 0, expected a positive"),
        (lambda: nn.smooth_l1_loss(X, T, beta=-1), "smooth_l1_loss: beta is -1, expected"),
        (lambda: nn.smooth_l1_loss(X, T[0]), r"smooth_l1_loss: input has shape \(6, 5\) and the"),
        (lambda: nn.gaussian_nll_loss(X, T, P[0]), r"\(6, 5\) and var \(5,\), expected \(6, 5\),"),
        (lambda: nn.gaussian_nll_loss(X, T, P, eps=0), "gaussian_nll_loss: eps is 0"),
        (lambda: nn.margin_ranking_loss(X, T, SIGNS[0]), r"the target \(5,\), expected one shape"),
        (lambda: nn.cosine_embedding_loss(X, T, SIGNS), r"expected \(N, D\), \(N, D\) and \(N,\)"),
        (lambda: nn.triplet_margin_loss(X, T, P[0]), r"and \(5,\), expected one shape"),
        (lambda: nn.multi_margin_loss(X, LABELS, 3), "multi_margin_loss: p is 3, expected 1 or 2"),
        (lambda: nn.multi_margin_loss(X, SETS), r"the target \(6, 5\), expected \(N, C\) and"),
        (lambda: nn.multi_margin_loss(X, LABELS, weight=[1.0]), r"weight has shape \(1,\), exp"),
        (lambda: nn.multilabel_margin_loss(X, LABELS), r"expected \(N, C\) and \(N, C\), or"),
        (lambda: nn.HingeEmbeddingLoss(reduction="max"), "HingeEmbeddingLoss: reduction is 'max'"),
        (lambda: nn.KLDivLoss("batch"), "KLDivLoss: reduction is 'batch'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_labels_are_integers():
    with pytest.raises(TypeError, match="multi_margin_loss: scores are float64 and the target fl"):
        nn.multi_margin_loss(X, WEIGHT[[0] * N])
    assert [name for name, _ in nn.MultiMarginLoss(weight=WEIGHT).named_buffers()] == ["weight"]
