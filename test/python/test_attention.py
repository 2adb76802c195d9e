# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, against its formula in NumPy."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

attention = nn.scaled_dot_product_attention


def weights_reference(query, key, added, scale, is_safe):
    """Return the softmax of scores; of a row of -inf zeros, or NaN if not safe."""
    scores = query.astype("float64") @ key.astype("float64").swapaxes(-1, -2) * scale + added
    with np.errstate(invalid="ignore"):
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        weights = scores / scores.sum(-1, keepdims=True)
    return np.nan_to_num(weights) if is_safe else weights


def added_of(mask):
    """Return what a mask adds to scores, of booleans True where a key is seen."""
    if mask is None:
        return 0.0
    return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask


def triangle(rows, columns):
    return np.tril(np.ones((rows, columns), bool))


def make_masks(rng):
    some = rng.random((5, 6)) > 0.4
    some[2] = False
    return {
        "none": None,
        "booleans": some,
        "of each batch": rng.random((2, 1, 5, 6)) > 0.3,
        "of keys": np.array([True, True, False, True, False, True]),
        "floats": floats(rng, (5, 6)),
        "floats and infinities": np.where(some, floats(rng, (5, 6)), -np.inf).astype("float32"),
    }


@pytest.mark.parametrize("scale", [None, 0.7])
def test_masks(rng, scale):
    q, k, v = (floats(rng, shape) for shape in ((2, 4, 5, 3), (2, 4, 6, 3), (2, 4, 6, 7)))
    for mask in make_masks(rng).values():
        weights = weights_reference(q, k, added_of(mask), scale or 3**-0.5, True)
        close(attention(q, k, v, mask, scale=scale), weights @ v)
        if scale is None and mask is not None:
            close(attention(q, k, v, mo.array(mask)), weights @ v)


@pytest.mark.parametrize("length", [5, 6, 8])
def test_causal(rng, length):
    q, k, v = (floats(rng, shape) for shape in ((length, 3), (6, 3), (6, 2)))
    weights = weights_reference(q, k, added_of(triangle(length, 6)), 3**-0.5, True)
    close(attention(q, k, v, is_causal=True), weights @ v)


def test_what_broadcasts(rng):
    q, k, v = (floats(rng, shape) for shape in ((4, 5, 3), (2, 1, 6, 3), (6, 2)))
    close(attention(q, k, v), weights_reference(q, k, 0.0, 3**-0.5, True) @ v)
    q, k, v = (floats(rng, shape) for shape in ((1, 5, 3), (4, 6, 3), (2, 1, 6, 2)))
    close(attention(q, k, v), weights_reference(q, k, 0.0, 3**-0.5, True) @ v)


@pytest.mark.parametrize("heads", [(6, 6, 6), (6, 2, 2), (6, 1, 3)])
def test_groups_of_heads(rng, heads):
    q, k, v = (floats(rng, (2, n, 4, 3)) for n in heads)
    wide = [np.repeat(x, heads[0] // x.shape[1], 1) for x in (q, k, v)]
    expected = weights_reference(*wide[:2], added_of(triangle(4, 4)), 3**-0.5, True) @ wide[2]
    close(attention(q, k, v, is_causal=True, enable_gqa=True), expected)


def test_gradients(rng):
    q, k, v = (
        floats(rng, shape, "float64") for shape in ((1, 2, 2, 2), (1, 1, 3, 2), (1, 1, 3, 1))
    )
    mask = np.array([[False] * 3, [True, False, True]])
    check_gradient(lambda q, k, v: attention(q, k, v, mask, enable_gqa=True), q, k, v, rtol=1e-5)


def test_gradients_of_rows_without_keys_are_zero(rng):
    q, k, v = (mo.array(floats(rng, (3, 4))) for _ in range(3))
    mask = np.array([[True] * 3, [False] * 3, [False, True, True]])
    gq, gk, gv = mo.grad((attention(q, k, v, mask) ** 2).sum(), [q, k, v])
    same(gq.numpy()[1], np.zeros(4, "float32"))
    assert all(np.isfinite(g.numpy()).all() for g in (gq, gk, gv))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(rng, dtype):
    q, k, v = (mo.array(floats(rng, (5, 4))).cast(dtype) for _ in range(3))
    y = attention(q, k, v, is_causal=True)
    assert y.dtype == dtype
    exact = [x.cast("float64").numpy() for x in (q, k, v)]
    expected = weights_reference(*exact[:2], added_of(triangle(5, 5)), 0.5, True) @ exact[2]
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-12}[dtype]
    close(y.cast("float64"), expected, rtol=tolerance, atol=tolerance)


def test_large_scores_do_not_overflow():
    q = mo.array([[60.0], [-60.0]]).cast("float16")
    # 3600 squared is beyond float16, not beyond the float32 of the scores.
    close(attention(q * 30, q, q, scale=1.0).cast("float32"), [[60.0], [-60.0]])


def test_nothing():
    assert (
        attention(mo.zeros((2, 0, 3)), mo.zeros((2, 4, 3)), mo.zeros((2, 4, 5))).numpy().size == 0
    )
    close(attention(mo.zeros((2, 3)), mo.zeros((0, 3)), mo.zeros((0, 5))), np.zeros((2, 5)))
    close(attention(mo.zeros((2, 0)), mo.zeros((4, 0)), np.eye(4)), np.full((2, 4), 0.25))


def test_dropout(rng):
    q, k = (floats(rng, (30, 4)) for _ in range(2))
    weights = weights_reference(q, k, 0.0, 0.5, True)
    dropped = attention(q, k, np.eye(30, dtype="float32"), dropout_p=0.25).numpy()
    kept = dropped != 0
    assert 0.7 < kept.mean() < 0.8
    close(dropped[kept], (weights / 0.75)[kept])


def projections(layer, given):
    """Return queries, keys and values, ``(N, heads, L, size)``, of ``(N, L, ...)``."""
    state = {name: value.numpy().astype("float64") for name, value in layer.state_dict().items()}
    E, H = layer.embed_dim, layer.num_heads
    if "in_proj_weight" in state:
        weights = np.split(state["in_proj_weight"], 3)
    else:
        weights = [state[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(state.get("in_proj_bias", np.zeros(3 * E)), 3)
    result = [x @ w.T + b for x, w, b in zip(given, weights, biases, strict=True)]
    for place, name in ((1, "bias_k"), (2, "bias_v")):
        shape = (len(given[0]), 1, E)
        if name in state:
            result[place] = np.concatenate([result[place], np.broadcast_to(state[name], shape)], 1)
        if layer.add_zero_attn:
            result[place] = np.concatenate([result[place], np.zeros(shape)], 1)
    return [x.reshape(*x.shape[:2], H, E // H).swapaxes(1, 2) for x in result], state


def layer_reference(layer, given, added, is_safe):
    """Return the result and the weights of all heads."""
    (q, k, v), state = projections(layer, given)
    more = k.shape[2] - given[1].shape[1]
    added = np.pad(
        np.broadcast_to(added, (*q.shape[:3], k.shape[2] - more)), [(0, 0)] * 3 + [(0, more)]
    )
    weights = weights_reference(q, k, added, q.shape[-1] ** -0.5, is_safe)
    attended = (weights @ v).swapaxes(1, 2).reshape(*given[0].shape[:2], -1)
    return attended @ state["out_proj.weight"].T + state.get("out_proj.bias", 0), weights


def randomised(rng, layer):
    for parameter in layer.parameters():
        parameter.assign(mo.array(floats(rng, parameter.shape, low=-0.7, high=0.7)))
    return layer


LAYERS = {
    "plain": {},
    "without biases": {"bias": False, "batch_first": True},
    "more keys": {"add_bias_kv": True, "add_zero_attn": True},
    "other extents": {"kdim": 3, "vdim": 5, "batch_first": True},
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(rng, name):
    layer = randomised(rng, nn.MultiheadAttention(4, 2, **LAYERS[name]))
    given = [floats(rng, (2, n, e)) for n, e in ((3, 4), (5, layer.kdim), (5, layer.vdim))]

    def check(added, is_safe=False, **options):
        expected, weights = layer_reference(layer, given, added, is_safe)
        own = given if layer.batch_first else [x.swapaxes(0, 1) for x in given]
        result, actual = layer(*own, **options)
        result = result if layer.batch_first else result.transpose(1, 0, 2)
        close(result, expected, atol=5e-6)
        if not options.get("need_weights", True):
            assert actual is None
        elif options.get("average_attn_weights", True):
            close(actual, weights.mean(1))
        else:
            close(actual, weights)

    check(0.0)
    check(0.0, average_attn_weights=False)
    check(added_of(triangle(3, 5)), is_causal=True)
    padded = np.array([[False, True, False, False, True], [True] * 5])
    some = rng.random((3, 5)) < 0.3
    of_padding = added_of(~padded)[:, None, None]
    # A row without keys is 0, also beside weights.
    check(of_padding, True, key_padding_mask=padded)
    check(
        of_padding + added_of(~some),
        True,
        key_padding_mask=padded,
        attn_mask=some,
        need_weights=False,
    )
    each = floats(rng, (4, 3, 5))
    check(each.reshape(2, 2, 3, 5), attn_mask=each, need_weights=False)


def test_self_attention_is_one_product(rng):
    layer = randomised(rng, nn.MultiheadAttention(4, 2))
    x = floats(rng, (3, 2, 4))
    expected, weights = layer_reference(layer, [x.swapaxes(0, 1)] * 3, 0.0, False)
    tensor = mo.array(x)
    for given in ((x, x, x), (tensor, tensor, tensor), (tensor, x, x)):
        result, actual = layer(*given)
        close(result, expected.swapaxes(0, 1), atol=5e-6)
        close(actual, weights.mean(1))
    one, of_one = layer(x[:, 0], x[:, 0], x[:, 0], key_padding_mask=np.zeros(3, bool))
    close(one, expected[0], atol=5e-6)
    close(of_one, weights[0].mean(0))
    assert layer(x[:, 0], x[:, 0], x[:, 0], average_attn_weights=False)[1].shape == (2, 3, 3)


def test_dropout_of_the_layer(rng):
    layer = nn.MultiheadAttention(4, 2, dropout=1.0)
    x = floats(rng, (3, 2, 4))
    result, weights = layer(x, x, x)
    same(weights, np.zeros((2, 3, 3), "float32"))
    close(result, np.zeros((3, 2, 4)))
    close(layer.eval()(x, x, x)[1].sum(-1), np.ones((2, 3)))


def test_names_and_first_values():
    def shapes(layer):
        return {name: value.shape for name, value in layer.state_dict().items()}

    ends = {"in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}
    assert shapes(nn.MultiheadAttention(4, 2)) == {"in_proj_weight": (12, 4), **ends}
    assert shapes(nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True)) == {
        "q_proj_weight": (4, 4),
        "k_proj_weight": (4, 3),
        "v_proj_weight": (4, 5),
        "bias_k": (1, 1, 4),
        "bias_v": (1, 1, 4),
        **ends,
    }
    layer = nn.MultiheadAttention(50, 2)
    same(layer.in_proj_bias, np.zeros(150, "float32"))
    same(layer.out_proj.bias, np.zeros(50, "float32"))
    bound = (6 / 200) ** 0.5
    values = layer.in_proj_weight.numpy()
    assert abs(values).max() <= bound and values.std() == pytest.approx(bound / 3**0.5, rel=0.05)


def zeros(*shape):
    return mo.zeros(shape)


ERRORS = {
    "extents": (
        lambda: attention(zeros(2, 3), zeros(2, 4), zeros(2, 4)),
        ValueError,
        r"query has shape \(2, 3\), key \(2, 4\) and value \(2, 4\), expected \(..., L, E\)",
    ),
    "keys": (lambda: attention(zeros(2, 3), zeros(4, 3), zeros(5, 3)), ValueError, "expected"),
    "rank": (lambda: attention(zeros(3), zeros(4, 3), zeros(4, 3)), ValueError, "expected"),
    "batch": (
        lambda: attention(zeros(2, 4, 3), zeros(3, 4, 3), zeros(3, 4, 3)),
        ValueError,
        "do not broadcast together but for the last two",
    ),
    "heads": (
        lambda: attention(zeros(3, 4, 3), zeros(2, 4, 3), zeros(2, 4, 3), enable_gqa=True),
        ValueError,
        "3 heads of queries, 2 of keys and 2 of values, expected the first to be a multiple",
    ),
    "both": (
        lambda: attention(
            zeros(2, 3), zeros(2, 3), zeros(2, 3), np.ones((2, 2), bool), is_causal=True
        ),
        ValueError,
        "given both attn_mask and is_causal, expected one",
    ),
    "mask": (
        lambda: attention(zeros(2, 3), zeros(2, 3), zeros(2, 3), zeros(3, 2)),
        ValueError,
        r"a mask has shape \(3, 2\), which does not broadcast to \(2, 2\)",
    ),
    "mask's type": (
        lambda: attention(zeros(2, 3), zeros(2, 3), zeros(2, 3), np.ones((2, 2), int)),
        TypeError,
        "a mask is int64, expected booleans or floats",
    ),
    "p": (
        lambda: attention(zeros(2, 3), zeros(2, 3), zeros(2, 3), dropout_p=2),
        ValueError,
        "p is 2, expected a probability",
    ),
    "multiple": (
        lambda: nn.MultiheadAttention(5, 2),
        ValueError,
        "embed_dim is 5 and num_heads 2, expected a multiple",
    ),
    "no heads": (lambda: nn.MultiheadAttention(4, 0), ValueError, "num_heads 0, expected"),
    "layer": (
        lambda: nn.MultiheadAttention(4, 2)(zeros(3, 2, 4), zeros(3, 1, 4), zeros(3, 1, 4)),
        ValueError,
        r"query has shape \(3, 2, 4\), key \(3, 1, 4\).*expected \(L, N, 4\), \(S, N, 4\)",
    ),
    "layer's mask": (
        lambda: nn.MultiheadAttention(4, 2)(*[zeros(3, 2, 4)] * 3, attn_mask=zeros(2, 3, 3)),
        ValueError,
        r"attn_mask has shape \(2, 3, 3\), expected \(3, 3\) or \(4, 3, 3\)",
    ),
    "padding": (
        lambda: nn.MultiheadAttention(4, 2)(*[zeros(3, 2, 4)] * 3, key_padding_mask=zeros(3, 2)),
        ValueError,
        r"key_padding_mask has shape \(3, 2\), expected \(2, 3\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, error, message = ERRORS[name]
    with pytest.raises(error, match=message) as raised:
        action()
    assert "test_attention.py" in str(raised.value)
