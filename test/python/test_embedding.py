# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of rows: Embedding and EmbeddingBag, against NumPy. See test_gather, too."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

ROWS, SIZE = 9, 4


def gradient(layer, cotangent, *given):
    return mo.grad((layer(*given) * mo.array(cotangent)).sum(), layer.weight)


@pytest.mark.parametrize("padding", [3, -2])
def test_padding(rng, padding):
    layer = nn.Embedding(ROWS, SIZE, padding_idx=padding)
    row = padding % ROWS
    table = layer.weight.numpy()
    assert layer.padding_idx == row
    assert (table[row] == 0).all() and (np.delete(table, row, 0) != 0).all()
    x = rng.integers(0, ROWS, (3, 5))
    x[0, 0] = row
    same(layer(x), table[x])
    cotangent = floats(rng, (3, 5, SIZE))
    expected = np.zeros((ROWS, SIZE))
    np.add.at(expected, x, cotangent)
    expected[row] = 0
    close(gradient(layer, cotangent, x), expected)
    # The row may get a value, and has no gradient still.
    layer.weight.assign(mo.array(floats(rng, (ROWS, SIZE))))
    same(layer(x), layer.weight.numpy()[x])
    same(gradient(layer, cotangent, x).numpy()[row], np.zeros(SIZE, "float32"))


def test_a_row_beyond_what_the_numbers_hold(rng):
    layer = nn.Embedding(1000, 2, padding_idx=999)
    x = np.array([255, 0], "uint8")
    same(layer(x), layer.weight.numpy()[x])


@pytest.mark.parametrize("order", [2.0, 1.0, np.inf])
def test_largest_norm(rng, order):
    layer = nn.Embedding(ROWS, SIZE, max_norm=1.5, norm_type=order)
    table = layer.weight.numpy()
    table[4] *= 1e-2
    layer.weight.assign(mo.array(table))
    weight = layer.weight
    x = np.array([[0, 4, 7], [7, 7, 2]])
    expected = table.copy()
    for row in (0, 2, 4, 7):
        length = np.linalg.norm(table[row].astype("float64"), order)
        if length > 1.5:
            expected[row] = table[row] * 1.5 / length
    y = layer(x)
    close(y, expected[x])
    assert layer.weight is weight
    close(weight, expected)
    same(weight.numpy()[[1, 3, 4, 5, 6, 8]], table[[1, 3, 4, 5, 6, 8]])
    # The gradient is that by the table as it is now.
    counts = np.bincount(x.ravel(), minlength=ROWS)
    close(gradient(layer, np.ones((2, 3, SIZE), "float32"), x), np.outer(counts, np.ones(SIZE)))


def test_gradients_by_frequency(rng):
    layer = nn.Embedding(ROWS, SIZE, scale_grad_by_freq=True)
    table = layer.weight.numpy()
    table[2, 1] = np.inf
    layer.weight.assign(mo.array(table))
    x = np.array([1, 2, 1, 5, 1])
    same(layer(x), table[x])
    cotangent = floats(rng, (5, SIZE))
    expected = np.zeros((ROWS, SIZE))
    np.add.at(expected, x, cotangent)
    expected[1] /= 3
    actual = gradient(layer, cotangent, x).numpy()
    expected[2, 1] = actual[2, 1] = 0  # of the infinity
    close(actual, expected)


@pytest.mark.parametrize("cls", [nn.Embedding, nn.EmbeddingBag])
def test_given_tables(rng, cls):
    table = floats(rng, (ROWS, SIZE))
    frozen = cls.from_pretrained(table)
    assert frozen.parameters() == [] and list(frozen.state_dict()) == ["weight"]
    same(frozen.weight, table)
    trained = cls.from_pretrained(mo.array(table), freeze=False, padding_idx=-1)
    assert len(trained.parameters()) == 1 and trained.padding_idx == ROWS - 1
    same(trained.weight, table)
    trained.weight.assign(trained.weight * 2)
    same(frozen.weight, table)

    class Own(cls):
        pass

    assert type(Own.from_pretrained(table)) is Own
    assert cls.from_pretrained(table.astype("float64")).weight.dtype == "float64"


def bags_reference(layer, x, offsets, weights):
    """Return one row for each bag, and how many rows it has."""
    table = layer.weight.numpy().astype("float64")
    if offsets is None:
        bags = [range(n * x.shape[1], (n + 1) * x.shape[1]) for n in range(x.shape[0])]
    else:
        ends = offsets[1:] if layer.include_last_offset else [*offsets[1:], x.size]
        bags = [range(a, b) for a, b in zip(offsets, ends, strict=False)]
    rows = []
    for bag in bags:
        places = [k for k in bag if x.ravel()[k] != layer.padding_idx]
        part = table[x.ravel()[places]] * (1 if weights is None else weights.ravel()[places, None])
        reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[layer.mode]
        rows.append(reduce(part, 0) if places else np.zeros(SIZE))
    return np.array(rows).reshape(len(bags), SIZE)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
def test_bags(rng, mode, padding):
    layer = nn.EmbeddingBag(ROWS, SIZE, mode=mode, padding_idx=padding)
    x = rng.permutation(np.r_[np.arange(ROWS), 2])
    for offsets in ([0, 4, 4, 7], [0, 0, 1, 10], [0, 3, 6, 6]):
        close(layer(x, offsets), bags_reference(layer, x, offsets, None))
    layer.include_last_offset = True
    for offsets in ([0, 4, 4, 7, 10], [0, 2, 5, 5, 8]):
        close(layer(x, mo.array(offsets)), bags_reference(layer, x, offsets, None))
    matrix = x.reshape(5, 2)
    close(layer(matrix), bags_reference(layer, matrix, None, None))


def test_offsets_of_all_numbers_of_bags(rng):
    layer = nn.EmbeddingBag(ROWS, SIZE, mode="sum")
    for bags in range(1, 10):
        x = rng.integers(0, ROWS, 12)
        offsets = [0, *sorted(rng.integers(0, 13, bags - 1).tolist())]
        close(layer(x, offsets), bags_reference(layer, x, offsets, None))


def test_weights_of_samples(rng):
    layer = nn.EmbeddingBag(ROWS, SIZE, mode="sum", padding_idx=1)
    x = rng.integers(0, ROWS, 10)
    weights = floats(rng, 10)
    offsets = [0, 2, 2, 7]
    close(layer(x, offsets, weights), bags_reference(layer, x, offsets, weights))
    matrix, of_matrix = x.reshape(2, 5), weights.reshape(2, 5)
    expected = bags_reference(layer, matrix, None, of_matrix)
    close(layer(matrix, per_sample_weights=of_matrix), expected)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_gradients_of_bags(rng, mode):
    layer = nn.EmbeddingBag(5, 2, mode=mode, padding_idx=0)
    x, offsets = np.array([1, 3, 0, 1, 4, 2]), np.array([0, 3, 3, 5])

    def run(table, weights):
        layer.weight = table
        return layer(x, offsets, weights if mode == "sum" else None) ** 2 + weights[0]

    check_gradient(run, floats(rng, (5, 2), "float64"), floats(rng, 6, "float64"), rtol=1e-5)


def test_half_floats_are_summed_wide(rng):
    table = np.full((2, 1), 0.1, "float16")
    layer = nn.EmbeddingBag.from_pretrained(table, mode="sum")
    result = layer(np.zeros((1, 4000), "int64"))
    assert result.dtype == "float16"
    same(result, (table[:1].astype("float32") * 4000).astype("float16"))


def test_nothing():
    same(nn.Embedding(3, 2)(np.zeros((0, 4), "int64")), np.zeros((0, 4, 2), "float32"))
    layer = nn.EmbeddingBag(3, 2, mode="max")
    same(layer(np.zeros((2, 0), "int64")), np.zeros((2, 2), "float32"))
    same(layer(np.zeros(0, "int64"), [0, 0]), np.zeros((2, 2), "float32"))
    same(layer(np.zeros(3, "int64"), np.zeros(0, "int64")), np.zeros((0, 2), "float32"))


def test_what_is_shown():
    assert repr(nn.Embedding(3, 2)) == "Embedding(3, 2)"
    layer = nn.EmbeddingBag(3, 2, max_norm=1.0, padding_idx=-1)
    assert repr(layer) == "EmbeddingBag(3, 2, padding_idx=2, max_norm=1.0, mode='mean')"


BAG = nn.EmbeddingBag(3, 2)
ERRORS = {
    "sparse": (lambda: nn.Embedding(3, 2, sparse=True), ValueError, "sparse is True, expected"),
    "padding": (
        lambda: nn.Embedding(3, 2, padding_idx=3),
        ValueError,
        "padding_idx is 3, expected the number of one of 3 rows",
    ),
    "norm": (lambda: nn.Embedding(3, 2, max_norm=0), ValueError, "max_norm is 0, expected more"),
    "table": (
        lambda: nn.Embedding.from_pretrained(np.ones(3)),
        ValueError,
        r"embeddings have shape \(3,\), expected two dimensions",
    ),
    "integers": (
        lambda: nn.Embedding.from_pretrained(np.ones((3, 2), int)),
        TypeError,
        "embeddings are int64, expected floats",
    ),
    "floats": (lambda: BAG([[1.0]]), TypeError, "EmbeddingBag: input is float32, expected integ"),
    "row": (lambda: BAG([[3]]).numpy(), IndexError, "index 3 is out of range"),
    "mode": (
        lambda: nn.EmbeddingBag(3, 2, mode="min"),
        ValueError,
        "mode is 'min', expected 'sum'",
    ),
    "no offsets": (
        lambda: BAG([1, 2]),
        ValueError,
        r"input has shape \(2,\) and there are no offsets, expected \(bags, n\)",
    ),
    "offsets": (lambda: BAG([[1, 2]], [0]), ValueError, "and there are offsets, expected"),
    "first": (lambda: BAG([1, 2], [1]), ValueError, "the first offset is 1, expected 0"),
    "rank": (lambda: BAG([1, 2], [[0]]), ValueError, r"offsets have shape \(1, 1\), expected one"),
    "type": (lambda: BAG([1, 2], [0.0]), TypeError, "offsets are float32, expected integers"),
    "last": (lambda: BAG([1, 2], [0, 3]).numpy(), IndexError, "index 3 is out of range"),
    "weights": (
        lambda: BAG([[1, 2]], None, [[1.0, 2.0]]),
        ValueError,
        "per_sample_weights with mode 'mean', expected 'sum'",
    ),
    "shape": (
        lambda: nn.EmbeddingBag(3, 2, mode="sum")([[1, 2]], None, [1.0, 2.0]),
        ValueError,
        r"per_sample_weights have shape \(2,\), expected that of the input, \(1, 2\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, error, message = ERRORS[name]
    with pytest.raises(error, match=message) as raised:
        action()
    assert "test_embedding.py" in str(raised.value)
