# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses against the formulas that PyTorch documents, in NumPy and float64."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda a: a}
#: Scores, (N, C, ...).
SHAPES = [(5, 4), (2, 3, 4), (2, 3, 2, 2)]


def log_softmax(x):
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def along_classes(weight, rank):
    return weight.reshape((1, -1) + (1,) * (rank - 2))


def loss_of_labels(log_p, target, reduction, weight=None, ignore_index=-100, smoothing=0.0):
    """nll_loss, and cross_entropy by labels of a log_softmax."""
    classes = log_p.shape[1]
    weight = np.ones(classes) if weight is None else weight
    counted = target != ignore_index
    labels = np.where(counted, target, 0)
    share = np.where(counted, weight[labels], 0)
    loss = -share * np.take_along_axis(log_p, labels[:, None], 1)[:, 0]
    of_all = np.where(counted, -(log_p * along_classes(weight, log_p.ndim)).sum(1), 0)
    loss = (1 - smoothing) * loss + smoothing / classes * of_all
    if reduction == "none":
        return loss
    with np.errstate(invalid="ignore"):
        return loss.sum() if reduction == "sum" else loss.sum() / share.sum()


def loss_of_probabilities(log_p, target, reduction, weight=None, smoothing=0.0):
    """cross_entropy by probabilities of a log_softmax."""
    classes = log_p.shape[1]
    weight = np.ones(classes) if weight is None else weight
    target = target * (1 - smoothing) + smoothing / classes
    loss = -(log_p * target * along_classes(weight, log_p.ndim)).sum(1)
    return REDUCTIONS[reduction](loss)


def labels_for(rng, shape, ignored=None):
    labels = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    if ignored is not None:
        labels[rng.random(labels.shape) < 0.4] = ignored
        labels.flat[0], labels.flat[1] = ignored, 0
    return labels


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy(rng, shape, reduction):
    x, target = floats(rng, shape, "float64", -4, 4), labels_for(rng, shape)
    expected = loss_of_labels(log_softmax(x), target, reduction)
    narrow = mo.array(x.astype("float32"))
    close(nn.cross_entropy_loss(narrow, target, reduction), expected, rtol=1e-5)
    for dtype in ["int8", "uint8", "int32", "uint64"]:
        loss = nn.CrossEntropyLoss(reduction)(x, target.astype(dtype))
        close(loss, expected, rtol=1e-13)
    close(nn.nll_loss(log_softmax(x), target, reduction), expected, rtol=1e-13)
    same(nn.NLLLoss(reduction)(x, target), nn.nll_loss(x, target, reduction).numpy())


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("ignored", [None, -100, 1, 255])
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_of_labels_with_options(rng, shape, ignored, is_weighted, smoothing):
    x, target = floats(rng, shape, "float64", -4, 4), labels_for(rng, shape, ignored)
    weight = floats(rng, (shape[1],), "float64", 0.2, 3) if is_weighted else None
    options = {} if ignored is None else {"ignore_index": ignored}
    for reduction in REDUCTIONS:
        given = {"weight": weight, **options}
        expected = loss_of_labels(log_softmax(x), target, reduction, smoothing=smoothing, **given)
        layer = nn.CrossEntropyLoss(reduction, label_smoothing=smoothing, **given)
        close(layer(x, target), expected, rtol=1e-13)
        if not smoothing:
            expected = loss_of_labels(x, target, reduction, **given)
            close(nn.NLLLoss(reduction, **given)(x, target), expected, rtol=1e-13)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_of_probabilities(rng, shape, smoothing, is_weighted):
    x, target = floats(rng, shape, "float64", -4, 4), floats(rng, shape, "float64", 0, 1)
    weight = floats(rng, (shape[1],), "float64", 0.2, 3) if is_weighted else None
    for reduction in REDUCTIONS:
        expected = loss_of_probabilities(log_softmax(x), target, reduction, weight, smoothing)
        loss = nn.cross_entropy_loss(x, target, reduction, weight=weight, label_smoothing=smoothing)
        close(loss, expected, rtol=1e-13)


def test_gradient_of_cross_entropy(rng):
    x = floats(rng, (4, 3), "float64")
    target, weight = np.array([2, -100, 0, 1]), np.array([0.5, 2.0, 1.0])
    check_gradient(
        lambda x: nn.cross_entropy_loss(x, target, weight=weight, label_smoothing=0.2), x
    )
    check_gradient(lambda x: nn.cross_entropy_loss(x, target, "none"), x)
    check_gradient(nn.cross_entropy_loss, x, floats(rng, (4, 3), "float64", 0.1, 1))


def test_cross_entropy_of_one_example(rng):
    x = floats(rng, (5,), "float64")
    expected = -log_softmax(x[None])[0, 3]
    for reduction in REDUCTIONS:
        close(nn.cross_entropy_loss(x, 3, reduction), expected)
        close(nn.nll_loss(x, 3, reduction), -x[3])
    target = floats(rng, (5,), "float64", 0, 1)
    close(nn.cross_entropy_loss(x, target, "none"), -(log_softmax(x[None])[0] * target).sum())


def test_all_labels_ignored(rng):
    x = mo.array(floats(rng, (3, 4)))
    target = np.full(3, -100)
    loss = nn.cross_entropy_loss(x, target)
    assert np.isnan(loss.item())
    same(mo.grad(loss, x), np.zeros((3, 4), "float32"))
    same(nn.cross_entropy_loss(x, target, "sum"), np.float32(0))
    same(nn.cross_entropy_loss(x, target, "none"), np.zeros(3, "float32"))
    assert np.isnan(nn.cross_entropy_loss(mo.zeros((0, 4)), np.zeros(0, int)).item())


def test_large_scores_and_half_floats(rng):
    assert nn.cross_entropy_loss([[1e4, -1e4]], [1]).item() == 2e4
    # The sum of the losses, and their number, are beyond what a half float holds.
    x = np.tile(np.array([[0, 30]], "float16"), (70000, 1))
    loss = nn.cross_entropy_loss(x, np.zeros(70000, int))
    same(loss, np.float16(30))


@pytest.mark.parametrize("bad", [3, -1, -3, 2**40, -101])
@pytest.mark.parametrize("is_computed", [False, True])
def test_labels_out_of_range(rng, bad, is_computed):
    def target(label):
        labels = mo.array(np.array([0, label, 2]))
        return labels + 0 if is_computed else labels

    x = mo.array(floats(rng, (3, 3)))
    message = f"label {bad} is out of range for 3 classes, .*test_losses"
    for f in [
        nn.cross_entropy_loss,
        nn.nll_loss,
        lambda x, t: nn.cross_entropy_loss(x, t, "none"),
        lambda x, t: nn.cross_entropy_loss(x, t, weight=[1.0, 2.0, 3.0]),
        lambda x, t: nn.cross_entropy_loss(x, t, label_smoothing=0.5),
        lambda x, t: mo.grad(nn.cross_entropy_loss(x, t), x),
        lambda x, t: mo.one_hot(t, 3),
    ]:
        with pytest.raises(IndexError, match=message):
            f(x, target(bad)).numpy()
        f(x, target(1)).numpy()


def test_a_label_out_of_range_leaves_the_parameters(rng):
    model = nn.Linear(4, 3)
    optimizer = mo.optim.SGD(model.parameters(), 0.1)
    x = floats(rng, (2, 4))
    optimizer.step(nn.cross_entropy_loss(model(x), [0, 1]))
    before = model.weight.numpy()
    optimizer.step(nn.cross_entropy_loss(model(x), mo.array([0, 1]) * 3))
    with pytest.raises(IndexError, match="label 3 is out of range for 3 classes"):
        mo.sync_all()
    same(model.weight, before)


@pytest.mark.host_memory
def test_labels_in_memory_that_others_write(rng):
    target = np.array([0, 1, 2])
    loss = nn.cross_entropy_loss(mo.array(floats(rng, (3, 3))), mo.asarray(target))
    target[1] = 7
    with pytest.raises(IndexError, match="label 7 is out of range for 3 classes"):
        loss.item()


def test_scores_of_minus_infinity():
    x = mo.array([[0.0, -np.inf, 0.0], [1.0, 1.0, -np.inf]])
    loss = nn.cross_entropy_loss(x, [0, 1])
    close(loss, np.log(2))
    close(mo.grad(loss, x), [[-0.25, 0, 0.25], [0.25, -0.25, 0]])


def test_labels_that_are_given_need_no_program(rng, compiled):
    model = nn.Linear(4, 3)
    optimizer = mo.optim.SGD(model.parameters(), 0.1)

    def step():
        x, target = mo.array(floats(rng, (2, 4))), mo.array(rng.integers(0, 3, 2))
        optimizer.step(nn.cross_entropy_loss(model(x), target))

    for _ in range(3):
        step()
    mo.sync_all()
    before = mo.stats()
    for _ in range(5):
        step()
    mo.sync_all()
    after = mo.stats()
    assert after["programs_run"] - before["programs_run"] == 5
    assert after["programs_compiled"] == before["programs_compiled"]


def test_errors_of_cross_entropy():
    x = mo.zeros((2, 3))
    for arguments, options, message in [
        (([0, 1, 2],), {}, r"scores have shape \(2, 3\) and the target is int64 of shape \(3,\)"),
        (([[0, 1]],), {}, r".* expected integers of shape \(2,\) or floats of shape \(2, 3\)"),
        ((mo.zeros((2, 3), "int64"),), {}, r".* the target is int64 of shape \(2, 3\), expected"),
        (([0, 1],), {"weight": [1.0, 2.0]}, r"weight has shape \(2,\), expected \(3,\)"),
        (([0, 1],), {"label_smoothing": 1.5}, "label_smoothing is 1.5"),
        (([0, 1], "median"), {}, "reduction is 'median'"),
        (([0, 1], mo.ones((3,))), {}, "reduction is a Var"),
    ]:
        with pytest.raises(ValueError, match=f"cross_entropy_loss: {message}.*test_losses.py:"):
            nn.cross_entropy_loss(x, *arguments, **options)
    for loss in [nn.cross_entropy_loss, nn.nll_loss]:
        with pytest.raises(TypeError, match=r"float32 of shape \(2,\), expected integers"):
            loss(x, mo.zeros((2,)))
    with pytest.raises(TypeError, match="the target is float32"):
        nn.nll_loss(x, mo.zeros((2, 3)))
    with pytest.raises(TypeError, match="scores are int64"):
        nn.cross_entropy_loss([[1, 2]], [0])


def test_weights_are_buffers():
    layer = nn.CrossEntropyLoss(weight=[1.0, 2.0])
    assert layer.parameters() == [] and list(layer.state_dict()) == ["weight"]
    assert list(nn.CrossEntropyLoss().state_dict()) == []


def test_losses_of_one_shape(rng):
    x, t = floats(rng, (4, 3), "float64"), floats(rng, (4, 3), "float64")
    p, b = rng.uniform(0.01, 0.99, (4, 3)), rng.integers(0, 2, (4, 3))
    logits = np.log(p / (1 - p))
    entropy = -(b * np.log(p) + (1 - b) * np.log(1 - p))
    for reduction, combine in REDUCTIONS.items():
        close(nn.MSELoss(reduction)(x, t), combine((x - t) ** 2), rtol=1e-13)
        close(nn.L1Loss(reduction)(x, mo.array(t)), combine(np.abs(x - t)), rtol=1e-13)
        close(nn.BCELoss(reduction)(p, b), combine(entropy), rtol=1e-13)
        close(nn.BCEWithLogitsLoss(reduction)(logits, b), combine(entropy), rtol=1e-12)
    for loss in (nn.mse_loss, nn.l1_loss, nn.bce_loss, nn.bce_with_logits_loss):
        with pytest.raises(ValueError, match=r"\(2,\) and the target \(3,\).*test_losses.py:"):
            loss([0.0, 1.0], [0.0, 1.0, 0.0])


def test_weights_of_binary_cross_entropy(rng):
    x, b = floats(rng, (4, 3), "float64", -3, 3), rng.integers(0, 2, (4, 3)).astype("float64")
    p = 1 / (1 + np.exp(-x))
    weight, positive = floats(rng, (4, 1), "float64", 0, 3), floats(rng, (3,), "float64", 0, 3)
    for reduction, combine in REDUCTIONS.items():
        expected = -weight * (b * np.log(p) + (1 - b) * np.log(1 - p))
        close(nn.BCELoss(reduction, weight=weight)(p, b), combine(expected), rtol=1e-12)
        close(nn.BCEWithLogitsLoss(reduction, weight=weight)(x, b), combine(expected), rtol=1e-12)
        expected = -weight * (positive * b * np.log(p) + (1 - b) * np.log(1 - p))
        layer = nn.BCEWithLogitsLoss(reduction, weight=weight, pos_weight=positive)
        close(layer(x, b), combine(expected), rtol=1e-12)
    assert layer.parameters() == [] and set(layer.state_dict()) == {"weight", "pos_weight"}
    large = nn.bce_with_logits_loss([1000.0, -1000.0], [0.0, 1.0], "none", pos_weight=3)
    close(large, np.float32([1000, 3000]))
    for name, shape in [("weight", (2, 3)), ("pos_weight", (1, 4, 3)), ("weight", (5, 1, 1))]:
        with pytest.raises(ValueError, match=rf"{name}.* shape.*test_losses\.py:"):
            nn.bce_with_logits_loss(x, b, **{name: np.ones(shape)})


def test_gradient_of_binary_cross_entropy(rng):
    p, t = floats(rng, (6,), "float64", 0.05, 0.95), floats(rng, (6,), "float64", 0, 1)
    check_gradient(nn.bce_loss, p, t)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_binary_cross_entropy_of_certainties(dtype):
    """PyTorch bounds the logarithm by -100 and the slope's divisor by 1e-12."""
    x = np.array([0, 0, 0, 1, 1, 1, 1e-30, 1e-13, 0.25], dtype)
    t = np.array([0, 1, 0.5, 0, 1, 0.5, 1, 1, 0], dtype)
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(x), -100), np.maximum(np.log(1 - x), -100)
    v = mo.array(x)
    loss = nn.bce_loss(v, t, "none")
    close(loss, -(t * logs[0] + (1 - t) * logs[1]), rtol=1e-6)
    close(mo.grad(loss, v), (x - t) / np.maximum(x * (1 - x), 1e-12), rtol=1e-5)
    assert nn.bce_loss(v, t).dtype == dtype


def test_a_wrong_certainty_is_unlearnt():
    logit = mo.array(np.array([-40.0, 40.0], "float32"))
    # In float32 these are exactly 0 and 1.
    p = mo.where(mo.sigmoid(logit) > 0.5, 1.0, 0.0)
    g = mo.grad(nn.bce_loss(p, [1.0, 0.0]), p).numpy()
    assert g[0] < -1e11 and g[1] > 1e11
    large = mo.array([1000.0, -1000.0])
    close(nn.bce_with_logits_loss(large, np.array([0, 1]), "none"), [1000, 1000])
    close(mo.grad(nn.bce_with_logits_loss(large, np.array([0, 1]), "sum"), large), [1, -1])


def test_binary_cross_entropy_of_half_floats():
    x = mo.array(np.array([0, 1, 0.5], "float16"))
    loss = nn.bce_loss(x, np.array([1, 1, 1]), "none")
    close(loss, np.array([100, 0, np.log(2)]), rtol=1e-3)
    assert loss.dtype == "float16"


def test_what_is_no_probability_gives_nan():
    assert np.isnan(nn.bce_loss([-0.5, 1.5, np.nan], [0.0, 1.0, 1.0], "none").numpy()).all()
