# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature, beside others' implementations of them.

What these have and compute is in data/model_names.json and data/model_references.json, which
make_model_references.py has written.
"""

from __future__ import annotations

import ast
import functools
import json
import pathlib
import re

import metaops as mo
import model_cases
import numpy as np
import pytest
from metaops import models, nn
from model_cases import CASES, FIRST, STEPS

pytestmark = pytest.mark.processor

DATA = pathlib.Path(__file__).parent / "data"
MODELS_PAGE = (DATA.parents[2] / "docs/Models.md").read_text()
NAMES = json.loads((DATA / "model_names.json").read_text())
REFERENCES = json.loads((DATA / "model_references.json").read_text())

LOSSES = ("_loss", "_penalty")

#: The numbers of parameters, as docs/Models.md tells them.
PUBLISHED = {
    name: int(count.replace(",", ""))
    for name, count in re.findall(r"^\| `(\w+)` \|.* ([0-9,]+) \|$", MODELS_PAGE, re.MULTILINE)
}


# Names, shapes and sizes


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_names_and_shapes_are_those_of_others(name):
    model = getattr(models, name)()
    assert sum(p.size for p in model.parameters()) == PUBLISHED[name]
    shapes = {word: list(value.shape) for word, value in model.state_dict().items()}
    assert shapes == NAMES[name]


def test_all_models_are_in_the_tables():
    functions = {n for n in models.__all__ if not isinstance(getattr(models, n), type)}
    functions = {n for n in functions if not n.endswith(LOSSES)}
    assert functions == PUBLISHED.keys() == NAMES.keys() and len(functions) == 28
    assert CASES.keys() == REFERENCES.keys()


# Results


def distance(actual, expected, size=None):
    """Return how far numbers are from others, in parts of the largest one."""
    actual, expected = np.asarray(actual, "float64"), np.asarray(expected)
    assert actual.shape == expected.shape
    return np.abs(actual - expected).max() / (size or np.abs(expected).max())


def result_of(model, inputs):
    """Return a model's result, the first one of several."""
    result = model(*inputs)
    while not isinstance(result, mo.Var):
        result = result[0]
    return result


def prepared(name, dtype):
    """Return a case's model with its first weights, and its inputs."""
    model = CASES[name].make()
    for word, parameter in model.named_parameters():
        weight = model_cases.make_weight(word, parameter.shape)
        parameter.assign(mo.array(weight.astype(dtype)))
    arrays = model_cases.make_inputs(CASES[name])
    inputs = [mo.array(x.astype(dtype) if x.dtype == "float64" else x) for x in arrays]
    return model.to(dtype), inputs


def compute(name, dtype):
    """Return distances of what a model computes from its reference."""
    reference = REFERENCES[name]
    model, inputs = prepared(name, dtype)
    output = result_of(model.eval(), inputs)
    rows = output.numpy().ravel()[:: max(1, output.size // 8)]
    target = mo.array(model_cases.make_target(output.shape).astype(dtype))
    model.train()
    optimizer = mo.optim.SGD(model.parameters(), CASES[name].rate)
    losses, gradients = [], {}
    for step in range(STEPS):
        loss = ((result_of(model, inputs) - target) ** 2).mean()
        words, parameters = zip(*model.named_parameters(), strict=True)
        if not gradients:
            found = mo.grad(loss, list(parameters))
            mo.sync([loss, *found])
            values = (gradient.numpy().astype("float64") for gradient in found)
            gradients = dict(zip(words, map(model_cases.project, words, values), strict=True))
        losses.append(loss.item())
        if step < STEPS - 1:
            optimizer.step(loss)
    assert gradients.keys() == reference["gradients"].keys()
    pairs = [(gradients[word], reference["gradients"][word]) for word in gradients]
    return {
        "output": distance(rows, reference["output"], reference["size"]),
        "losses": distance(losses, reference["losses"]),
        "gradients": distance(*np.array(pairs).T),
    }


@pytest.mark.parametrize(
    "name", [n if n in FIRST else pytest.param(n, marks=pytest.mark.rest) for n in CASES]
)
def test_results_gradients_and_losses(name):
    for what, found in compute(name, "float64").items():
        assert found < 1e-10, (what, found)


#: In training an argument of a ReLU is nearer to 0 than float32 is to it, so that a rounding
#: decides of its gradient.
NEAR_KINKS = ("pointnet",)


@pytest.mark.rest
@pytest.mark.parametrize("name", CASES)
def test_single_floats_are_as_near_as_others(name):
    """Sums are in another order: at most twice as far from float64 as PyTorch's are."""
    theirs = REFERENCES[name]["float32"]
    for what, found in compute(name, "float32").items():
        if what == "output" or name not in NEAR_KINKS:
            assert found < max(2 * theirs[what], 3e-6), (what, found, theirs[what])


# Training, and states


def test_training_lowers_the_loss():
    model = models.ResNet(models.BasicBlock, (1,), 4, small_images=True)
    optimizer = mo.optim.SGD(model.parameters(), 0.05, 0.9)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 16)
    images = rng.normal(size=(16, 3, 8, 8)) + labels[:, None, None, None]
    x, y = mo.array(images.astype("float32")), mo.array(labels)
    losses, loss = [], None
    for step in range(12):
        if step:
            optimizer.step(loss)
        loss = nn.cross_entropy_loss(model(x), y)
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_states_go_through_files(tmp_path):
    first, second = (models.GPT2LMHeadModel(30, 8, 12, 2, 3) for _ in range(2))
    path = tmp_path / "gpt2.safetensors"
    first.save(path)
    second.load(path)
    x = mo.array(np.arange(8).reshape(1, 8))
    np.testing.assert_array_equal(first.eval()(x).numpy(), second.eval()(x).numpy())
    # Files of others have no second name of the embeddings.
    state = {name: value for name, value in first.state_dict().items() if name != "lm_head.weight"}
    assert models.GPT2LMHeadModel(30, 8, 12, 2, 3).load_state_dict(state) == ([], [])


def test_files_with_other_names():
    """As the files of transformers that are best known have them; docs/Models.md."""
    bert = models.BertModel(30, 12, 1, 2, 16, 8)
    state = {f"bert.{name}": value for name, value in bert.state_dict().items()}
    for name in [name for name in state if "LayerNorm" in name]:
        state[name.replace("weight", "gamma").replace("bias", "beta")] = state.pop(name)
    state |= {"cls.predictions.bias": mo.zeros(30), "bert.embeddings.position_ids": mo.arange(8)}
    rename = {r"^bert\.": "", "gamma$": "weight", "beta$": "bias"}
    ignore = [r"^cls\.", "position_ids$"]
    other = models.BertModel(30, 12, 1, 2, 16, 8)
    assert other.load_state_dict(state, rename=rename, ignore=ignore) == ([], [])
    gpt = models.GPT2LMHeadModel(30, 8, 12, 2, 3)
    state = {f"{name}": value for name, value in gpt.transformer.state_dict().items()}
    state |= {f"h.{number}.attn.bias": mo.ones((1, 1, 8, 8)) for number in range(2)}
    other = models.GPT2LMHeadModel(30, 8, 12, 2, 3)
    found = other.load_state_dict(state, rename={"^": "transformer."}, ignore=[r"\.attn\.bias$"])
    assert found == ([], [])
    for first, second in (
        (other.transformer.wte, gpt.transformer.wte),
        (other.lm_head, gpt.lm_head),
    ):
        np.testing.assert_array_equal(first.weight.numpy(), second.weight.numpy())


def rename_of(model):
    """Return the `rename=` that docs/Models.md gives for a model's files."""
    found = re.search(
        rf"^{model}\.load_state_dict\(.*?rename=(\{{.*?\}})", MODELS_PAGE, re.M | re.S
    )
    return ast.literal_eval(found[1])


def test_files_of_older_versions():
    """As torchvision's of these models are; those of batch norms lack a buffer."""
    make = functools.partial(models.DenseNet, 4, (2, 1), 8, 2, 3)
    dense, other = make(), make()
    dense.features["norm0"].running_mean.assign(mo.ones(8))
    state = {
        re.sub(r"(denselayer\d\.(?:norm|conv))(\d)", r"\1.\2", name): value
        for name, value in dense.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    assert "features.denseblock1.denselayer2.norm.1.weight" in state
    other(mo.ones((2, 3, 64, 64)))
    assert other.load_state_dict(state, rename=rename_of("dense")) == ([], [])
    x = mo.array(np.random.default_rng(0).normal(size=(2, 3, 64, 64)).astype("float32"))
    np.testing.assert_array_equal(other.eval()(x).numpy(), dense.eval()(x).numpy())
    assert other.features["norm0"].num_batches_tracked.item() == 1
    del state["features.norm0.running_mean"]
    with pytest.raises(KeyError, match=r"missing names \['features.norm0.running_mean'\]; unk"):
        other.load_state_dict(state, rename=rename_of("dense"))
    make = functools.partial(models.VisionTransformer, 16, 8, 2, 2, 8, 12, num_classes=3)
    vit, other = make(), make()
    old = {"mlp.0": "mlp.linear_1", "mlp.3": "mlp.linear_2"}
    state = {
        re.sub(r"mlp\.[03]", lambda found: old[found[0]], name): value
        for name, value in vit.state_dict().items()
    }
    assert sum("linear_" in name for name in state) == 8
    assert other.load_state_dict(state, rename=rename_of("vit")) == ([], [])
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), vit.state_dict()[name].numpy())


def test_the_cost_of_an_image():
    rng = np.random.default_rng(0)
    x, logits = rng.random((4, 6)), rng.normal(size=(4, 6))
    mean, log_variance = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    output = models.VAEOutput(mo.array(logits), mo.array(mean), mo.array(log_variance))
    p = 1 / (1 + np.exp(-logits))
    pixels = -(x * np.log(p) + (1 - x) * np.log(1 - p)).sum(1)
    # The divergence of normal numbers from those of mean 0 and deviation 1.
    divergence = 0.5 * (np.exp(log_variance) + mean**2 - 1 - log_variance).sum(1)
    found = models.vae_loss(output, mo.array(x)).item()
    np.testing.assert_allclose(found, (pixels + divergence).mean())
    with pytest.raises(TypeError, match=r"vae_loss: output is .*, expected what a VAE returns"):
        models.vae_loss(mo.array(x), mo.array(x))
    with pytest.raises(TypeError, match=r"vae_loss: x is .*, expected a Var"):
        models.vae_loss(output, x)
