# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what others' models have and compute, for test_models.py.

    python test/python/make_model_references.py [NAME...]

It needs PyTorch, torchvision, timm and transformers. Names and shapes of all parameters and
buffers go to data/model_names.json, and what models compute on the numbers of model_cases.py
to data/model_references.json: a few elements of the result, a number for each gradient, and
losses of three steps, in float64; and how far PyTorch's float32 is from that. The latter is the
farthest of several, whose weights differ in the last bit: a sign that changes before a ReLU
moves gradients by more than all roundings do.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import model_cases
import numpy as np
import torch
import torch_twins
from model_cases import CASES, STEPS
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))

from torch_vision import import_models

vision = import_models()

# These import torchvision themselves.
import timm  # noqa: E402
import timm.models.res2net  # noqa: E402
import transformers  # noqa: E402

#: So many float32 results give the distance of the farthest.
DRAWS = 6

DATA = pathlib.Path(__file__).parent / "data"

Maker = Callable[[], nn.Module]


def _shortened(model: nn.Module, outputs: int) -> nn.Module:
    """Return a ResNet of four stages without the last two."""
    model.layer3 = model.layer4 = nn.Identity()
    model.fc = nn.Linear(outputs, 10)
    return model


def _residual(block: type[nn.Module], **options: Any) -> nn.Module:
    return _shortened(vision.ResNet(block, [1, 1, 1, 1], **options), 128 * block.expansion)


def _res2net() -> nn.Module:
    block = timm.models.res2net.Bottle2neck
    options = {"base_width": 26, "block_args": {"scale": 4}}
    return _shortened(timm.models.resnet.ResNet(block, [1, 2, 1, 1], **options), 512)


def _gpt2() -> nn.Module:
    config = transformers.GPT2Config(
        vocab_size=50, n_positions=16, n_embd=24, n_layer=2, n_head=3, use_cache=False
    )
    config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = 0.0
    return transformers.GPT2LMHeadModel(config)


def _bert() -> nn.Module:
    return transformers.BertModel(
        transformers.BertConfig(
            vocab_size=50,
            hidden_size=24,
            num_hidden_layers=2,
            num_attention_heads=3,
            intermediate_size=40,
            max_position_embeddings=16,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )


#: Others' models of the cases.
PEERS: dict[str, Maker] = {
    "resnet_basic": lambda: _residual(vision.resnet.BasicBlock),
    "resnext": lambda: _residual(vision.resnet.Bottleneck, groups=4, width_per_group=16),
    "res2net": _res2net,
    "densenet": lambda: vision.DenseNet(8, (2, 2), 16, 2, num_classes=10),
    "gpt2": _gpt2,
    "bert": _bert,
    "vit": lambda: vision.VisionTransformer(16, 8, 2, 3, 24, 40, num_classes=10),
    "unet": lambda: torch_twins.UNet(3, 2, 4),
    "dcgan_generator": lambda: torch_twins.dcgan_generator(8, 4, 2, 2),
    "dcgan_discriminator": lambda: torch_twins.dcgan_discriminator(4, 2, 2),
    "lsgan_generator": lambda: torch_twins.LSGANGenerator(8, 8),
    "lsgan_discriminator": lambda: torch_twins.LSGANDiscriminator(16),
    "wgan_generator": lambda: torch_twins.WGANGenerator(8, (1, 4, 4)),
    "wgan_critic_loss": lambda: torch_twins.CriticLoss((1, 4, 4)),
    "seq2seq": lambda: torch_twins.Seq2Seq(20, 16, 2),
    "ncf": lambda: torch_twins.NCF(9, 9, 4, 3),
    "vae": lambda: torch_twins.VAE(16, 12, 3),
    "cyclegan_generator": lambda: torch_twins.CycleGANGenerator(3, 2, 4, 2),
    "cyclegan_discriminator": lambda: torch_twins.CycleGANDiscriminator(3, 4),
    "pointnet": lambda: torch_twins.PointNet(5),
    "resnet18": lambda: vision.resnet18(num_classes=10),
    "resnet50": lambda: vision.resnet50(num_classes=10),
    "resnext50_32x4d": lambda: vision.resnext50_32x4d(num_classes=10),
    "wide_resnet50_2": lambda: vision.wide_resnet50_2(num_classes=10),
    "res2net50_26w_4s": lambda: timm.create_model("res2net50_26w_4s", num_classes=10),
    "alexnet": lambda: vision.alexnet(num_classes=10, dropout=0.0),
    "vgg11_bn": lambda: vision.vgg11_bn(num_classes=10, dropout=0.0),
    "squeezenet1_0": lambda: vision.squeezenet1_0(num_classes=10, dropout=0.0),
    "squeezenet1_1": lambda: vision.squeezenet1_1(num_classes=10, dropout=0.0),
    "mobilenet_v2": lambda: vision.mobilenet_v2(num_classes=10, dropout=0.0),
    "efficientnet_b0": lambda: vision.efficientnet_b0(
        num_classes=10, dropout=0.0, stochastic_depth_prob=0.0
    ),
    "densenet121": lambda: vision.densenet121(num_classes=10),
}

#: Models whose names and shapes are written.
NAMED = """
    alexnet densenet121 efficientnet_b0 mobilenet_v2 resnet101 resnet152 resnet18 resnet34
    resnet50 resnext101_32x8d resnext50_32x4d squeezenet1_0 squeezenet1_1 vgg11 vgg11_bn vgg13
    vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn vit_b_16 wide_resnet101_2 wide_resnet50_2
"""


def find_named() -> dict[str, Maker]:
    """Return makers of models of the sizes that are published."""
    named: dict[str, Maker] = {name: getattr(vision, name) for name in NAMED.split()}
    return named | {
        "bert_base": lambda: transformers.BertModel(transformers.BertConfig()),
        "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
        "res2net50_26w_4s": lambda: timm.create_model("res2net50_26w_4s"),
        "unet": lambda: torch_twins.UNet(3, 2, 64),
    }


def set_weights(model: nn.Module, rng: np.random.Generator | None) -> None:
    """Give parameters the values of model_cases.py, or numbers next to these."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            weight = model_cases.make_weight(name, parameter.shape)
            if rng is not None:
                weight *= 1 + 2.0**-24 * rng.standard_normal(weight.shape, "float32")
            parameter.copy_(torch.from_numpy(weight))


def result_of(model: nn.Module, inputs: list[torch.Tensor]) -> torch.Tensor:
    """Return a model's result, the first one of several."""
    result = model(*inputs)
    while not isinstance(result, torch.Tensor):
        result = result[0]
    return result


def compute(
    name: str, dtype: torch.dtype, rng: np.random.Generator | None = None
) -> dict[str, Any]:
    """Return what a model computes in a dtype."""
    case, model = CASES[name], PEERS[name]().to(dtype)
    set_weights(model, rng)
    inputs = [torch.from_numpy(array) for array in model_cases.make_inputs(case)]
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    with torch.no_grad():
        output = result_of(model.eval(), inputs)
    target = torch.from_numpy(model_cases.make_target(output.shape)).to(dtype)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), case.rate)
    losses, gradients = [], {}
    for step in range(STEPS):
        loss = ((result_of(model, inputs) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        for word, parameter in model.named_parameters() if step == 0 else ():
            found = parameter.grad if parameter.grad is not None else torch.zeros(parameter.shape)
            gradient = found.double().numpy()
            gradients[word] = model_cases.project(word, gradient)
        optimizer.step()
        losses.append(loss.item())
    rows = output.double().flatten().numpy()
    return {"output": rows, "losses": np.array(losses), "gradients": gradients}


def distance(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return how far numbers are from others, in parts of the largest one."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def refer(name: str) -> dict[str, Any]:
    """Return a case's entry."""
    exact = compute(name, torch.float64)
    rngs = [None, *map(np.random.default_rng, range(DRAWS - 1))]
    singles = [compute(name, torch.float32, rng) for rng in rngs]

    def farthest(what: str) -> float:
        values = [
            np.array([*found[what].values()]) if what == "gradients" else found[what]
            for found in (exact, *singles)
        ]
        return max(distance(value, values[0]) for value in values[1:])

    return {
        "output": exact["output"][:: max(1, exact["output"].size // 8)].tolist(),
        "size": float(np.abs(exact["output"]).max()),
        "losses": exact["losses"].tolist(),
        "gradients": exact["gradients"],
        "float32": {what: farthest(what) for what in ("output", "losses", "gradients")},
    }


def write(name: str, entries: dict[str, Any]) -> None:
    """Write an entry a line, beside those that are there."""
    path = DATA / name
    found = json.loads(path.read_text()) if path.exists() else {}
    found |= entries
    lines = [f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    """Write both files."""
    chosen = sys.argv[1:]
    named = {key: make for key, make in find_named().items() if not chosen or key in chosen}
    shapes = {}
    for name, make in named.items():
        with torch.device("meta"):
            state = make().state_dict()
        shapes[name] = {word: list(value.shape) for word, value in state.items()}
    write("model_names.json", shapes)
    for name in [name for name in PEERS if not chosen or name in chosen]:
        write("model_references.json", {name: refer(name)})
        print(name, flush=True)


if __name__ == "__main__":
    main()
