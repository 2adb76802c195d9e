# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of sequences and of many classes, against sums over all that can happen."""

import itertools

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close

BLANK = 2
STEPS = [5, 4, 3, 5, 2]
TARGETS = [[0, 1], [1, 1], [3], [], [0, 0]]
LENGTHS = [len(target) for target in TARGETS]
#: The last target needs a blank between its labels, for which there is no time.
IMPOSSIBLE = 4


def collapsed(path):
    """Return what a path of labels and blanks emits."""
    return [label for label, _ in itertools.groupby(path) if label != BLANK]


def losses(log_probs):
    """Return the loss of each sequence, as the sum over all paths that emit its target."""
    found = []
    for n, (steps, target) in enumerate(zip(STEPS, TARGETS, strict=True)):
        paths = itertools.product(range(log_probs.shape[-1]), repeat=steps)
        total = sum(
            np.exp(sum(log_probs[t, n, label] for t, label in enumerate(path)))
            for path in paths
            if collapsed(path) == target
        )
        found.append(-np.log(total) if total else np.inf)
    return np.array(found)


@pytest.fixture
def log_probs(rng):
    x = rng.standard_normal((5, len(TARGETS), 4))
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def padded():
    width = max(LENGTHS)
    return np.array([target + [BLANK] * (width - len(target)) for target in TARGETS])


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_is_the_sum_over_paths(log_probs, zero_infinity):
    expected = losses(log_probs)
    if zero_infinity:
        expected[IMPOSSIBLE] = 0
    options = {"blank": BLANK, "zero_infinity": zero_infinity}
    x = log_probs.astype("float32")
    joined = np.concatenate(TARGETS).astype("int64")
    for targets in (padded(), joined):
        each = nn.ctc_loss(x, targets, STEPS, LENGTHS, reduction="none", **options)
        close(each, expected, rtol=1e-5)
    close(nn.CTCLoss(reduction="sum", **options)(x, joined, STEPS, LENGTHS), expected.sum(), 1e-5)
    mean = np.mean(expected / np.maximum(LENGTHS, 1))
    close(nn.CTCLoss(**options)(x, padded(), STEPS, LENGTHS), mean, 1e-5)


def test_ctc_of_one_sequence(log_probs):
    one = nn.ctc_loss(log_probs[:, 0], [0, 1], 5, 2, BLANK, "none")
    close(one, losses(log_probs)[0], rtol=1e-10)


def test_ctc_gradients(log_probs):
    def loss(x):
        return nn.ctc_loss(x, padded(), STEPS, LENGTHS, BLANK, "none", True)

    check_gradient(loss, log_probs, order=1)
    x = mo.array(log_probs)
    gradient = mo.grad(loss(x).sum(), x).numpy()
    assert np.all(np.isfinite(gradient)) and np.all(gradient[:, IMPOSSIBLE] == 0)
    # Beyond the end of a sequence nothing has a part in it.
    for n, steps in enumerate(STEPS):
        assert np.all(gradient[steps:, n] == 0)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((np.zeros((5, 2, 4), int), np.zeros((2, 2), int), [5, 5], [2, 2]), TypeError, "int64"),
        ((np.zeros((5, 2, 4)), np.zeros((2, 2)), [5, 5], [2, 2]), TypeError, "float64"),
        ((np.zeros((5, 2, 4)), np.zeros((3, 2), int), [5, 5], [2, 2]), ValueError, "ctc_loss"),
        ((np.zeros((5, 2, 4)), np.ones((2, 2), int), [6, 5], [2, 2]), ValueError, "6"),
        ((np.zeros((5, 2, 4)), np.ones((2, 2), int), [5, 5], [2, 2], 4), ValueError, "blank"),
    ],
)
def test_ctc_errors(arguments, kind, message):
    with pytest.raises(kind, match=f"{message}.*test_ctc.py:"):
        nn.ctc_loss(*arguments)


def test_adaptive_softmax(rng):
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=True)
    x = rng.standard_normal((6, 8)).astype("float32")
    target = np.array([0, 3, 4, 9, 10, 19])

    def softmax(scores):
        scores = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
        return scores

    head = softmax(x @ layer.head.weight.numpy().T + layer.head.bias.numpy())
    parts = [head[:, :4]]
    for k, cluster in enumerate(layer.tail):
        inner, outer = (linear.weight.numpy() for linear in cluster)
        assert inner.shape == (8 // 2 ** (k + 1), 8)
        parts.append(softmax(x @ inner.T @ outer.T) + head[:, 4 + k : 5 + k])
    expected = np.concatenate(parts, 1)
    close(layer.log_prob(x), expected, rtol=1e-4, atol=1e-5)
    close(np.exp(expected).sum(1), np.ones(6), rtol=1e-5)
    close(layer.predict(x), expected.argmax(1))
    output, loss = layer(x, target)
    close(output, expected[np.arange(6), target], rtol=1e-4, atol=1e-5)
    close(loss, -expected[np.arange(6), target].mean(), rtol=1e-4)
    with pytest.raises(ValueError, match=r"cutoffs are .*expected rising integers"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 20, [10, 4])


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (3, 2, 5)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_orthogonal(shape, dtype):
    x = nn.init.orthogonal(shape, 2.0, dtype)
    assert x.shape == shape and x.dtype == dtype
    matrix = x.numpy().reshape(shape[0], -1)
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    close(gram, 4 * np.eye(len(gram), dtype=dtype), atol=1e-5)
    with pytest.raises(ValueError, match="at least two dimensions"):
        nn.init.orthogonal((3,))
