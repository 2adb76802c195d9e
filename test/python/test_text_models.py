# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of texts: what they write, their caches, and texts that do not fit."""

import math

import metaops as mo
import model_cases
import numpy as np
import pytest
from metaops import models, nn

pytestmark = pytest.mark.processor


def make_gpt(vocabulary=40, places=16, dropout=0.1):
    """Return a small model with weights that make it write many tokens."""
    model = models.GPT2LMHeadModel(vocabulary, places, 12, 1, 3, dropout)
    for name, parameter in model.named_parameters():
        weight = model_cases.make_weight(name, parameter.shape)
        parameter.assign(mo.array((2 * weight).astype("float32")))
    return model


def test_texts_are_those_of_whole_passes():
    model = make_gpt().eval()
    tokens = mo.array(np.random.default_rng(0).integers(0, 40, (2, 5)))
    generate = mo.jit(lambda tokens: model.generate(tokens, 6))
    texts = generate(tokens).numpy()
    np.testing.assert_array_equal(texts[:, :5], tokens.numpy())
    np.testing.assert_array_equal(texts[:, 5:], model(mo.array(texts)).numpy().argmax(2)[:, 4:-1])
    assert len({*texts[:, 5:].ravel().tolist()}) > 8
    np.testing.assert_array_equal(model.generate(tokens, 6).numpy(), texts)
    drawn = model.generate(tokens, 8, temperature=1.0).numpy()
    assert drawn.shape == (2, 13) and (drawn[:, :5] == tokens.numpy()).all()
    assert drawn.min() >= 0 and drawn.max() < 40


@pytest.mark.rest
def test_translations_are_those_of_whole_passes():
    model = models.Seq2Seq(20, 20, 16, 2)
    source = mo.array(np.random.default_rng(0).integers(0, 20, (3, 6)))
    texts = model.translate(source, 1, 4).numpy()
    target = np.concatenate([np.full((3, 1), 1), texts[:, :-1]], 1)
    np.testing.assert_array_equal(model(source, mo.array(target)).numpy().argmax(2), texts)


@pytest.mark.rest
def test_padding_of_texts_is_not_read():
    model = models.BertModel(30, 12, 1, 2, 16, 8).eval()
    tokens = np.random.default_rng(0).integers(1, 30, (2, 6))
    short = model(mo.array(tokens[:, :4]))
    mask = mo.array(np.arange(6)[None] < np.full((2, 1), 4))
    masked = model(mo.array(tokens), mask)
    np.testing.assert_allclose(
        masked.last_hidden_state[:, :4].numpy(), short.last_hidden_state.numpy(), atol=1e-5
    )
    np.testing.assert_allclose(masked.pooler_output.numpy(), short.pooler_output.numpy(), atol=1e-5)


# Tokens


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_tokens_are_wider_than_prompts(dtype):
    model = make_gpt(1000)
    prompt = np.array([[1, 2, 3]])
    expected = model.generate(mo.array(prompt), 5).numpy()
    assert expected[:, 3:].max() > 255 and expected.dtype == "int64"
    found = model.generate(mo.array(prompt.astype(dtype)), 5).numpy()
    assert found.dtype == "int64"
    np.testing.assert_array_equal(found, expected)
    translator = models.Seq2Seq(5, 1000, 8)
    translator.head.bias = mo.arange(1000).cast("float32")
    texts = translator.translate(mo.array(prompt.astype(dtype)), 999, 2).numpy()
    assert texts.dtype == "int64" and texts.tolist() == [[999, 999]]


def test_nothing_is_dropped_from_what_is_written():
    """Also while a model is trained, which it then still is."""
    model, tokens = make_gpt(dropout=0.9), mo.array([[1, 2, 3]])
    model.transformer.h[0].mlp.eval()
    expected = model.generate(tokens, 8).numpy()
    np.testing.assert_array_equal(mo.jit(model.generate)(tokens, 8).numpy(), expected)
    assert model.is_train and model.transformer.drop.is_train
    assert not model.transformer.h[0].mlp.is_train
    np.testing.assert_array_equal(model.eval().generate(tokens, 8).numpy(), expected)
    translator = models.Seq2Seq(20, 20, 16, 2, 0.9)
    found = translator.translate(tokens, 1, 6).numpy()
    assert translator.encoder.is_train
    np.testing.assert_array_equal(translator.eval().translate(tokens, 1, 6).numpy(), found)


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "BertModel"])
def test_dropout_is_that_of_layers(name):
    """Of attention, too: layers that have a p of 0 drop nothing while trained."""
    tokens = mo.array([[1, 2, 3, 4]])
    if name == "BertModel":
        model = models.BertModel(40, 12, 1, 3, 16, 16, 2, 0.5)
    else:
        model = models.GPT2LMHeadModel(40, 16, 12, 1, 3, 0.5)

    def compute():
        result = model(tokens)
        return (result if name != "BertModel" else result.last_hidden_state).numpy()

    assert (compute() != compute()).any()
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    np.testing.assert_array_equal(compute(), compute())


def test_likelier_tokens_are_drawn_oftener():
    """With a temperature, as often as scores divided by it say."""
    model, prompt = make_gpt(4), mo.zeros((4000, 1), "int64")
    scores = model.eval()(prompt[:1]).numpy()[0, 0].astype("float64")
    drawn = model.generate(prompt, 1, temperature=3.0).numpy()[:, 1]
    weights = np.exp(scores / 3)
    expected = weights / weights.sum()
    assert expected.max() < 0.9
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 4000, expected, atol=0.04)
    cold = model.generate(prompt[:3], 3, temperature=1e-30).numpy()
    np.testing.assert_array_equal(cold, model.generate(prompt[:3], 3).numpy())


# Caches


@pytest.mark.parametrize("recorded", [False, True])
def test_texts_are_read_in_parts(recorded):
    """At places that are numbers of Python, or of a program."""
    model = make_gpt().to("float64").eval()
    tokens = np.random.default_rng(0).integers(0, 40, (2, 10))
    step = mo.jit(model.step) if recorded else model.step
    cache, found, place = model.make_cache(2, 16), [], 0
    for count in (4, 1, 3, 2):
        part = mo.array(tokens[:, place : place + count])
        scores, cache = step(part, cache, mo.array(place) if recorded else place)
        found.append(scores.numpy())
        place += count
    expected = model(mo.array(tokens)).numpy()
    np.testing.assert_allclose(np.concatenate(found, 1), expected, atol=1e-12)


# Embeddings are the last layer


def test_embeddings_stay_the_last_layer(tmp_path):
    """Through types, states of other models, and steps."""
    model = models.GPT2LMHeadModel(30, 8, 12, 1, 3).to("float64")
    other = models.GPT2LMHeadModel(30, 8, 12, 1, 3).to("float64")
    model.load_state_dict({name: value.numpy() for name, value in other.state_dict().items()})
    first = model.transformer.wte.weight.numpy()
    np.testing.assert_array_equal(first, other.lm_head.weight.numpy())
    tokens = mo.array([[1, 2, 3]])
    mo.optim.SGD(model.parameters(), 0.1).step((model(tokens) ** 2).mean())
    for layer in (model.lm_head, model.transformer.wte):
        assert layer.weight.dtype == "float64" and (layer.weight.numpy() != first).any()
    assert model.lm_head.weight is model.transformer.wte.weight
    assert len(model.parameters()) == len({id(p) for p in model.parameters()}) == 16


# Arguments that do not fit


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda gpt: gpt(mo.zeros((1, 9), "int64")), "texts have 9 tokens, expected 1 to 8"),
        (lambda gpt: gpt(mo.zeros((3,), "int64")), r"texts have shape \(3,\), expected \(N, L\)"),
        (lambda gpt: gpt(mo.zeros((1, 3))), "texts are float32, expected integers"),
        (lambda gpt: gpt.generate(mo.zeros((1, 4), "int64"), 6), "texts have 4 . 6 tokens"),
        (lambda gpt: gpt.generate(mo.zeros((1, 0), "int64"), 6), "texts have 0 tokens"),
        (lambda gpt: gpt.generate(mo.zeros((4,), "int64"), 2), r"texts have shape \(4,\)"),
        (lambda gpt: gpt.generate(mo.zeros((1, 1), "int64"), 0), "max_new_tokens is 0"),
        (lambda gpt: gpt.generate(mo.zeros((1, 1), "int64"), 2, -1.0), "temperature is -1.0"),
        (lambda gpt: gpt.generate(mo.zeros((1, 1), "int64"), 2, math.nan), "temperature is nan"),
        (lambda gpt: gpt.make_cache(1, 9), "make_cache: length is 9, expected at most 8"),
        (lambda gpt: gpt.make_cache(1, 0), "make_cache: length is 0"),
        (lambda gpt: gpt.step(mo.array([1]), gpt.make_cache(1, 4), 0), r"step: texts have shape"),
    ],
)
def test_texts_that_do_not_fit(call, message):
    """An error tells the line."""
    gpt = models.GPT2LMHeadModel(30, 8, 12, 1, 3)
    with pytest.raises((ValueError, TypeError), match=message + r".*test_text_models.py:\d+\)$"):
        call(gpt)


def test_states_of_texts_that_do_not_fit():
    bert = models.BertModel(30, 12, 1, 2, 16, 8)
    tokens = mo.zeros((2, 3), "int64")
    for texts, beside, message in (
        (mo.zeros((1, 9), "int64"), (), "texts have 9 tokens, expected 1 to 8"),
        (mo.zeros((3,), "int64"), (), r"texts have shape \(3,\), expected \(N, L\)"),
        (tokens, (mo.ones((3,)),), r"attention_mask has shape \(3,\), expected \(2, 3\)"),
        (tokens, (None, mo.ones((1, 3))), r"token_type_ids has shape \(1, 3\)"),
    ):
        with pytest.raises(ValueError, match=message):
            bert(texts, *beside)


def test_translations_that_do_not_fit():
    translator = models.Seq2Seq(20, 10, 8)
    tokens = mo.zeros((2, 3), "int64")
    for call, message in (
        (lambda: translator.translate(tokens, 10, 4), "first is 10, expected a token below 10"),
        (lambda: translator.translate(tokens, -1, 4), "translate: first is -1"),
        (lambda: translator.translate(tokens[0], 1, 4), r"translate: texts have shape \(3,\)"),
        (lambda: translator(tokens, tokens[:, :0]), "Seq2Seq: texts have 0 tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
