# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformers, against their equations in NumPy; attention has a test of its own."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, floats, same

D, HEADS, INNER = 4, 2, 6
ERF = np.vectorize(math.erf)
FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + ERF(x * 0.5**0.5)),
}


class Reference:
    """The equations, with the parameters of a state, for inputs ``(N, L, D)``."""

    def __init__(self, module, norm_first=False, activation="relu"):
        self.state = {k: v.numpy().astype("float64") for k, v in module.state_dict().items()}
        self.norm_first = norm_first
        self.function = FUNCTIONS[activation]

    def linear(self, name, x):
        return x @ self.state[f"{name}.weight"].T + self.state.get(f"{name}.bias", 0)

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        return x * self.state[f"{name}.weight"] + self.state.get(f"{name}.bias", 0)

    def attention(self, name, x, memory, added):
        weights = np.split(self.state[f"{name}.in_proj_weight"], 3)
        biases = np.split(self.state.get(f"{name}.in_proj_bias", np.zeros(3 * D)), 3)
        q, k, v = (
            (y @ w.T + b).reshape(*y.shape[:2], HEADS, D // HEADS).swapaxes(1, 2)
            for y, w, b in zip((x, memory, memory), weights, biases, strict=True)
        )
        scores = q @ k.swapaxes(-1, -2) * (D // HEADS) ** -0.5 + added
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = scores / scores.sum(-1, keepdims=True) @ v
        return self.linear(f"{name}.out_proj", attended.swapaxes(1, 2).reshape(x.shape))

    def perceptron(self, name, x):
        return self.linear(f"{name}linear2", self.function(self.linear(f"{name}linear1", x)))

    def around(self, norm, function, x):
        if self.norm_first:
            return x + function(self.norm(norm, x))
        return self.norm(norm, x + function(x))

    def encoder_layer(self, name, x, added=0.0):
        own = f"{name}self_attn"
        x = self.around(f"{name}norm1", lambda x: self.attention(own, x, x, added), x)
        return self.around(f"{name}norm2", lambda x: self.perceptron(name, x), x)

    def decoder_layer(self, name, x, memory, added=0.0, to_memory=0.0):
        own, other = f"{name}self_attn", f"{name}multihead_attn"
        x = self.around(f"{name}norm1", lambda x: self.attention(own, x, x, added), x)
        x = self.around(f"{name}norm2", lambda x: self.attention(other, x, memory, to_memory), x)
        return self.around(f"{name}norm3", lambda x: self.perceptron(name, x), x)

    def transformer(self, src, tgt, padding, added):
        for layer in range(2):
            src = self.encoder_layer(f"encoder.layers.{layer}.", src, padding)
        src = self.norm("encoder.norm", src)
        for layer in range(2):
            tgt = self.decoder_layer(f"decoder.layers.{layer}.", tgt, src, added, padding)
        return self.norm("decoder.norm", tgt)


def randomised(rng, module):
    for parameter in module.parameters():
        parameter.assign(mo.array(floats(rng, parameter.shape, low=-0.7, high=0.7)))
    return module


def infinite(mask):
    return np.where(mask, -np.inf, 0.0)


OPTIONS = [
    {},
    {"norm_first": True, "activation": "gelu", "batch_first": True, "bias": False},
]
LATER = np.triu(np.ones((3, 3), bool), 1)


@pytest.mark.parametrize("options", OPTIONS)
def test_layers(rng, options):
    settings = {k: v for k, v in options.items() if k in ("norm_first", "activation")}
    x, memory = floats(rng, (2, 3, D)), floats(rng, (2, 5, D))

    def sides(array):
        return array if options.get("batch_first") else array.swapaxes(0, 1)

    layer = randomised(rng, nn.TransformerEncoderLayer(D, HEADS, INNER, 0.0, **options))
    equations = Reference(layer, **settings)
    close(layer(sides(x)), sides(equations.encoder_layer("", x)), atol=1e-5)
    expected = sides(equations.encoder_layer("", x, infinite(LATER)))
    close(layer(sides(x), LATER), expected, atol=1e-5)
    close(layer(sides(x), is_causal=True), expected, atol=1e-5)

    layer = randomised(rng, nn.TransformerDecoderLayer(D, HEADS, INNER, 0.0, **options))
    equations = Reference(layer, **settings)
    absent = np.array([[False, False, True], [False] * 3])
    unseen = np.array([[False] * 4 + [True], [True] + [False] * 4])
    some = floats(rng, (3, 5))
    added = infinite(LATER) + infinite(absent)[:, None, None]
    to_memory = some + infinite(unseen)[:, None, None]
    expected = sides(equations.decoder_layer("", x, memory, added, to_memory))
    masks = {"memory_mask": some, "tgt_key_padding_mask": absent, "memory_key_padding_mask": unseen}
    close(layer(sides(x), sides(memory), LATER, **masks), expected, atol=1e-5)


def test_one_sequence(rng):
    net = randomised(rng, nn.Transformer(D, HEADS, 1, 1, INNER, batch_first=True)).eval()
    src, tgt = floats(rng, (1, 5, D)), floats(rng, (1, 3, D))
    close(net(src[0], tgt[0]), net(src, tgt).numpy()[0], atol=1e-5)


def test_transformer(rng):
    net = randomised(rng, nn.Transformer(D, HEADS, 2, 2, INNER, dropout=0.0))
    src, tgt = floats(rng, (2, 5, D)), floats(rng, (2, 3, D))
    padded = np.array([[False] * 3 + [True] * 2, [False] * 5])
    expected = Reference(net).transformer(
        src, tgt, infinite(padded)[:, None, None], infinite(LATER)
    )
    masks = {"src_key_padding_mask": padded, "memory_key_padding_mask": padded}
    given = (src.swapaxes(0, 1), tgt.swapaxes(0, 1))
    later = nn.Transformer.generate_square_subsequent_mask(3)
    close(net(*given, tgt_mask=later, **masks), expected.swapaxes(0, 1), atol=2e-5)
    close(net(*given, tgt_is_causal=True, **masks), expected.swapaxes(0, 1), atol=2e-5)


def test_a_row_without_keys_attends_to_nothing(rng):
    layer = randomised(rng, nn.TransformerEncoderLayer(D, HEADS, INNER, 0.0)).eval()
    x = mo.array(floats(rng, (3, 2, D)))
    y = layer(x, src_key_padding_mask=np.array([[True] * 3, [False] * 3]))
    assert np.isfinite(y.numpy()).all()
    alone = layer(x[:, 1:])
    close(y[:, 1:], alone.numpy(), atol=1e-5)
    gradients = mo.grad((y * y).sum(), [x, *layer.parameters()])
    assert all(np.isfinite(gradient.numpy()).all() for gradient in gradients)


def test_training_lowers_the_loss(rng):
    mo.seed(1)
    layer = nn.TransformerEncoderLayer(D, HEADS, INNER, batch_first=True)
    net = nn.TransformerEncoder(layer, 2, nn.LayerNorm(D))
    optimizer = mo.optim.Adam(net.parameters(), lr=0.02)
    x, y = (mo.array(floats(rng, (4, 3, D))) for _ in range(2))

    def loss():
        return nn.mse_loss(net(x), y)

    net.eval()
    before = loss().item()
    net.train()
    for _ in range(30):
        optimizer.step(loss())
    net.eval()
    assert loss().item() < 0.8 * before
    first, second = (list(part.state_dict().values()) for part in net.layers)
    # Copies that began alike, each with parameters of its own.
    assert all(abs(a.numpy() - b.numpy()).max() > 1e-3 for a, b in zip(first, second, strict=True))
    assert abs(layer.linear1.weight.numpy() - net.layers[0].linear1.weight.numpy()).max() > 1e-3


def test_dropout_is_where_it_should_be(rng):
    layer = nn.TransformerEncoderLayer(D, HEADS, INNER, dropout=1.0)
    x = floats(rng, (3, 2, D))
    twice = nn.LayerNorm(D)(nn.LayerNorm(D)(x))
    close(layer(x), twice.numpy(), atol=1e-6)
    assert abs(layer.eval()(x).numpy() - twice.numpy()).max() > 1e-2


def test_names():
    net = nn.Transformer(D, HEADS, 1, 1, INNER)
    attention = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    linears = [f"linear{k}.{what}" for k in (1, 2) for what in ("weight", "bias")]
    norms = [f"norm{k}.{what}" for k in (1, 2, 3) for what in ("weight", "bias")]
    encoder = [f"self_attn.{name}" for name in attention] + linears + norms[:4]
    decoder = [f"{kind}_attn.{name}" for kind in ("self", "multihead") for name in attention]
    decoder += linears + norms
    expected = [f"encoder.layers.0.{name}" for name in encoder]
    expected += ["encoder.norm.weight", "encoder.norm.bias"]
    expected += [f"decoder.layers.0.{name}" for name in decoder]
    expected += ["decoder.norm.weight", "decoder.norm.bias"]
    assert list(net.state_dict()) == expected
    assert net.encoder.layers[0].linear1.weight.shape == (INNER, D)
    without = nn.Transformer(D, HEADS, 1, 1, INNER, bias=False)
    assert list(without.state_dict()) == [name for name in expected if "bias" not in name]
    # Layers of a transformer do not begin alike.
    two = nn.Transformer(D, HEADS, 2, 1, INNER).encoder.layers
    assert abs(two[0].linear1.weight.numpy() - two[1].linear1.weight.numpy()).max() > 1e-3


def test_mask_of_later_places():
    mask = nn.Transformer.generate_square_subsequent_mask
    same(mask(3), np.where(LATER, -np.inf, 0).astype("float32"))
    assert mask(2, dtype="float16").dtype == "float16"
    assert mask(0).numpy().shape == (0, 0)
    with pytest.raises(TypeError, match=r"generate_square_subsequent_mask: .*'size_'"):
        mask(size_=3)


class Scale(mo.Module):
    """A layer of another kind."""

    def execute(self, x, *others, **masks):
        """Return x times a number."""
        return x * 2


def test_parts_of_another_kind(rng):
    x = floats(rng, (3, 2, D))
    same(nn.TransformerEncoder(Scale(), 2)(x), x * 4)
    same(nn.TransformerDecoder(Scale(), 3)(x, x), x * 8)
    net = nn.Transformer(D, HEADS, custom_encoder=Scale(), custom_decoder=Scale())
    same(net(x, x), x * 2)
    layer = nn.TransformerEncoderLayer(D, HEADS, INNER, 0.0, activation=lambda x: x * 0)
    layer.linear2.bias.assign(mo.zeros(D))
    middle = layer.norm1(mo.array(x) + layer.self_attn(x, x, x)[0])
    close(layer(x), layer.norm2(middle).numpy(), atol=1e-6)


ERRORS = {
    "activation": (
        lambda: nn.TransformerEncoderLayer(D, HEADS, activation="sin"),
        ValueError,
        "activation is 'sin', expected 'relu', 'gelu' or a function",
    ),
    "layers": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS), 0),
        ValueError,
        "TransformerEncoder: num_layers is 0, expected 1 to",
    ),
    "no layer": (lambda: nn.TransformerDecoder(3, 1), TypeError, "a layer is 3, expected a module"),
    "heads": (
        lambda: nn.TransformerEncoderLayer(D, 3),
        ValueError,
        "embed_dim is 4 and num_heads 3, expected a multiple",
    ),
    "shape": (
        lambda: nn.TransformerEncoderLayer(D, HEADS)(mo.zeros((3, 2, 5))),
        ValueError,
        r"query has shape \(3, 2, 5\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, error, message = ERRORS[name]
    with pytest.raises(error, match=message) as raised:
        action()
    assert "test_transformer.py" in str(raised.value)
