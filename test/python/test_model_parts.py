# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models' first weights and parts, what they cannot be made of, and images that do not fit."""

import inspect
import math

import metaops as mo
import numpy as np
import pytest
from metaops import models, nn
from metaops.models.mobile_blocks import StochasticDepth

pytestmark = pytest.mark.processor

LOSSES = ("_loss", "_penalty")


# First weights


#: A model, and the deviations of its weights; those with 0 are 0.
FIRST_WEIGHTS = {
    "vit": (
        lambda: models.VisionTransformer(32, 8, 1, 4, 128, 512),
        {
            "conv_proj.weight": 1 / math.sqrt(3 * 64),
            "conv_proj.bias": 0,
            "class_token": 0,
            "encoder.pos_embedding": 0.02,
            "encoder.layers.encoder_layer_0.mlp.0.weight": math.sqrt(2 / (128 + 512)),
            "encoder.layers.encoder_layer_0.mlp.0.bias": 1e-6,
            "heads.head.weight": 0,
            "heads.head.bias": 0,
        },
    ),
    "gpt2": (
        lambda: models.GPT2LMHeadModel(300, 32, 64, 2, 4),
        {
            "transformer.wte.weight": 0.02,
            "transformer.wpe.weight": 0.02,
            "transformer.h.0.attn.c_attn.weight": 0.02,
            "transformer.h.0.attn.c_attn.bias": 0,
            "transformer.h.1.mlp.c_proj.weight": 0.02 / math.sqrt(2 * 2),
            "transformer.h.1.mlp.c_fc.weight": 0.02,
        },
    ),
    "bert": (
        lambda: models.BertModel(300, 64, 1, 4, 128, 32),
        {
            "embeddings.position_embeddings.weight": 0.02,
            "encoder.layer.0.attention.self.query.weight": 0.02,
            "encoder.layer.0.attention.self.query.bias": 0,
            "encoder.layer.0.intermediate.dense.weight": 0.02,
            "pooler.dense.bias": 0,
        },
    ),
    "resnet": (
        lambda: models.ResNet(models.BasicBlock, (1, 1), 10),
        {
            "conv1.weight": math.sqrt(2 / (64 * 49)),
            "layer2.0.conv1.weight": math.sqrt(2 / (128 * 9)),
            "layer2.0.downsample.0.weight": math.sqrt(2 / 128),
            "fc.weight": 1 / math.sqrt(3 * 128),
        },
    ),
    "densenet": (
        lambda: models.DenseNet(32, (2,)),
        {"features.denseblock1.denselayer2.conv2.weight": math.sqrt(2 / (128 * 9))},
    ),
    "vgg": (
        lambda: models.VGG(((16,),), 10),
        {
            "features.0.weight": math.sqrt(2 / (16 * 9)),
            "features.0.bias": 0,
            "classifier.6.weight": 0.01,
            "classifier.6.bias": 0,
        },
    ),
    "squeezenet": (
        lambda: models.squeezenet1_1(20),
        {
            "features.0.weight": math.sqrt(2 / (3 * 9)),
            "features.3.expand3x3.weight": math.sqrt(2 / (16 * 9)),
            "features.3.expand3x3.bias": 0,
            "classifier.1.weight": 0.01,
            "classifier.1.bias": 0,
        },
    ),
    "mobilenet": (
        lambda: models.mobilenet_v2(10),
        {
            "features.2.conv.0.0.weight": math.sqrt(2 / 96),
            "features.17.conv.1.0.weight": math.sqrt(2 / (960 * 9)),
            "classifier.1.weight": 0.01,
            "classifier.1.bias": 0,
        },
    ),
    "efficientnet": (
        lambda: models.efficientnet_b0(10),
        {"classifier.1.weight": 1 / math.sqrt(3 * 10), "classifier.1.bias": 0},
    ),
    "dcgan": (
        lambda: models.DCGANGenerator(),
        {"main.0.weight": 0.02, "main.1.bias": 0, "main.12.weight": 0.02},
    ),
}


@pytest.mark.parametrize("name", FIRST_WEIGHTS)
def test_first_weights(name):
    """Their deviations are those of papers and libraries, within what numbers so many have."""
    make, expected = FIRST_WEIGHTS[name]
    mo.seed(0)
    state = make().state_dict()
    for word, deviation in expected.items():
        values = state[word].numpy().astype("float64")
        if not deviation:
            assert not values.any(), word
            continue
        share = np.sqrt((values**2).mean()) / deviation
        assert abs(share - 1) < 4 / math.sqrt(2 * values.size), (word, share)
        assert abs(values.mean()) < 4 * deviation / math.sqrt(values.size), word


def test_padding_is_0_at_first():
    rows = models.BertModel(300, 64, 1, 4, 128, 32).embeddings.word_embeddings.weight.numpy()
    assert not rows[0].any() and rows[1:].any(1).all()
    np.testing.assert_allclose(rows[1:].std(), 0.02, rtol=0.03)


# Parts


def test_branches_are_left_out_as_often_as_they_say():
    depth = StochasticDepth(0.25)
    kept = depth(mo.ones((4000, 2, 3))).numpy()
    assert {*np.unique(kept).tolist()} == {0.0, np.float32(4 / 3)}
    assert (kept == kept[:, :1, :1]).all() and abs((kept[:, 0, 0] > 0).mean() - 0.75) < 0.03
    assert not StochasticDepth(1.0)(mo.ones((3, 2))).numpy().any()
    assert (depth.eval()(mo.ones((4, 2))).numpy() == 1).all()


# Models that cannot be made


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: models.resnet18(0), r"ResNet: num_classes is 0"),
        (lambda: models.ResNet(models.BasicBlock, (1, 0)), "ResNet: layers is 0"),
        (lambda: models.ResNet(models.BasicBlock, ()), "ResNet: layers is empty"),
        (lambda: models.ResNet(models.BasicBlock, (1,), 10, 4), "groups is 4 and base_width 64"),
        (lambda: models.ResNet(models.BasicBlock, (1,), 10, 1, 128), "base_width 128, expected"),
        (lambda: models.Bottleneck(4, 2, base_width=16), "planes is 2 and base_width 16"),
        (lambda: models.Bottle2neck(4, 2, base_width=16), "planes is 2 and base_width 16"),
        (lambda: models.DenseNet(block_config=()), "DenseNet: block_config is empty"),
        (lambda: models.DenseNet(block_config=(1, 0)), "DenseNet: block_config is 0"),
        (lambda: models.VGG(()), "VGG: stages is 0"),
        (lambda: models.VGG(((4,), ())), "VGG: stages is empty"),
        (lambda: models.VGG(((4, 0),)), "VGG: stages is 0"),
        (lambda: models.WGANGenerator(8, (1, -2, -2)), "WGANGenerator: shape is -2"),
        (lambda: models.WGANCritic(()), "WGANCritic: shape is empty"),
        (lambda: models.VisionTransformer(16, 8, 1, 5, 8), "hidden_dim is 8 and num_heads 5"),
        (lambda: models.gpt2(dropout=1.5), "dropout is 1.5, expected one in"),
        (lambda: models.bert_base(-0.5), "dropout is -0.5"),
        (lambda: models.efficientnet_b0(10, 0.2, 1.5), "stochastic_depth is 1.5"),
        (lambda: models.resnet18(10.5), "num_classes is 10.5"),
        (lambda: models.vgg11(-1), "VGG: num_classes is -1"),
        (lambda: models.alexnet(10, 2.0), "is 2.0"),
        (lambda: models.GPT2LMHeadModel(n_embd=10, n_head=4), "n_embd is 10 and n_head 4"),
        (lambda: models.BertModel(hidden_size=10), "hidden_size is 10 and num_attention_heads 12"),
        (lambda: models.VisionTransformer(30, 16), "image_size is 30 and patch_size 16"),
        (lambda: models.NCF(5, 0), "NCF: items is 0"),
        (lambda: models.UNet(width=0), "UNet: width is 0"),
        (lambda: models.DCGANGenerator(stages=0), "DCGANGenerator: stages is 0"),
        (lambda: models.resnet19(), "metaops.models has no resnet19"),
        (lambda: models.resnet18(classes=3), "resnet18: "),
    ],
)
def test_what_models_cannot_be(make, message):
    with pytest.raises((ValueError, TypeError, AttributeError), match=message):
        make()


#: Arguments that models need beside a number that is wrong.
BESIDE = {
    "BasicBlock": {"inputs": 4, "planes": 4},
    "BertModel": {"vocab_size": 5},
    "Bottle2neck": {"inputs": 4, "planes": 4},
    "Bottleneck": {"inputs": 4, "planes": 4},
    "GPT2LMHeadModel": {"vocab_size": 5},
    "NCF": {"users": 3, "items": 3},
    "ResNet": {"block": models.BasicBlock, "layers": (1,)},
    "Seq2Seq": {"source_size": 3, "target_size": 3},
    "SqueezeNet": {"features": nn.Sequential()},
    "VGG": {"stages": ((4,),)},
}


#: Numbers that no parameter of a type can be.
WRONG = {"int": (-1, 0, 1.5), "float": (-1.0, math.nan)}
#: The parameters that are numbers, by functions and classes.
NUMBERS = {
    name: [(p.name, WRONG[p.annotation]) for p in parameters if p.annotation in WRONG]
    for name in models.__all__
    if not name.endswith(LOSSES)
    and (parameters := inspect.signature(getattr(models, name)).parameters.values())
}


@pytest.mark.parametrize("name", [name for name, parameters in NUMBERS.items() if parameters])
def test_numbers_out_of_domains(name):
    """An error tells the line."""
    for parameter, wrong in NUMBERS[name]:
        for number in wrong:
            with pytest.raises((ValueError, TypeError), match=r"test_model_parts.py:\d+\)$"):
                getattr(models, name)(**{**BESIDE.get(name, {}), parameter: number})


@pytest.mark.parametrize(
    "make, size, message",
    [
        (
            lambda: models.VisionTransformer(16, 8, 1, 2, 8, 8),
            (1, 3, 8, 8),
            r"expected \(N, 3, 16, 16\)",
        ),
        (
            lambda: models.VisionTransformer(16, 8, 1, 2, 8, 8),
            (3, 16, 16),
            r"expected \(N, 3, 16, 16\)",
        ),
        (
            lambda: models.VisionTransformer(16, 8, 1, 2, 8, 8),
            (1, 1, 16, 16),
            r"have shape \(1, 1, 16",
        ),
        (
            lambda: models.UNet(3, 2, 4),
            (2, 3, 15, 18),
            "UNet: images have shape .* of at least 16 x 16",
        ),
        (lambda: models.UNet(3, 2, 4), (2, 1, 18, 18), r"expected \(N, 3, H, W\)"),
        (lambda: models.UNet(3, 2, 4), (3, 18, 18), r"have shape \(3, 18, 18\)"),
        (lambda: models.LSGANDiscriminator(16), (2, 1, 32, 32), r"expected \(N, 1, 16, 16\)"),
    ],
)
def test_images_that_do_not_fit(make, size, message):
    with pytest.raises(ValueError, match=message + r".*test_model_parts.py:\d+\)$"):
        make()(mo.zeros(size))


# Recorded, and with less memory


RECORDED = {
    "ResNet": (lambda: models.ResNet(models.BasicBlock, (1, 1), 5), (2, 3, 32, 32)),
    "GPT2LMHeadModel": (lambda: models.GPT2LMHeadModel(20, 8, 12, 2, 3, 0.2), (2, 6)),
    "UNet": (lambda: models.UNet(3, 2, 2), (2, 3, 17, 16)),
}


def train(model, x, step):
    """Return the losses of three steps, and the state after them."""
    optimizer = mo.optim.SGD(model.parameters(), 0.05)

    def move(x):
        loss = (model(x) ** 2).mean()
        optimizer.step(loss)
        return loss

    mo.seed(5)
    losses = [step(move)(x).item() for _ in range(3)]
    return losses, [value.numpy() for value in model.state_dict().values()]


@pytest.mark.rest
@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("way", ["recorded", "checkpoints"])
def test_steps_are_those_of_plain_ones(name, way):
    """Recorded by jit, and with blocks that are computed twice: dropout and batch norms, too."""
    make, shape = RECORDED[name]
    rng = np.random.default_rng(0)
    tokens = name == "GPT2LMHeadModel"
    x = mo.array(rng.integers(0, 20, shape) if tokens else rng.normal(size=shape))
    results = []
    for changed in (False, True):
        mo.seed(1)
        model = make().to("float64")
        if changed and way == "checkpoints":
            if tokens:
                model.transformer.h = [nn.Checkpoint(block) for block in model.transformer.h]
            else:
                block = "layer2" if name == "ResNet" else "down2"
                setattr(model, block, nn.Checkpoint(getattr(model, block)))
        recorded = way == "recorded" and changed
        results.append(train(model, x, mo.jit if recorded else lambda move: move))
    (losses, state), (found, after) = results
    assert losses[2] < losses[0] and len(state) == len(after)
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    for own, expected in zip(after, state, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-7, atol=1e-9)
