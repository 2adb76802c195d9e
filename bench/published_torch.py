# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature in PyTorch, eager and compiled: what is timed of them.

Images' are torchvision's and timm's, texts' are transformers', and adversaries those that the
tests of models have.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from published_rows import (
    ADVERSARIES,
    ADVERSARY_RATE,
    BETAS,
    MADE,
    MOMENTUM,
    NOISE,
    RATE,
    TEXTS,
    Batch,
    without_dropout,
)
from torch import Tensor, nn

__all__ = ["make_step", "prepare", "save_weights"]

Step = Callable[[], np.ndarray]
#: Returns a function, compiled or as it is.
Compile = Callable[[Any], Any]


def _import_twins() -> ModuleType:
    folder = str(Path(__file__).parents[1] / "test" / "python")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module("torch_twins")


def prepare(name: str, compiles: bool) -> None:
    """Have the libraries of a model be imported and used once."""
    if name in ADVERSARIES:
        _import_twins()
    else:
        from torch_vision import import_models

        import_models()
    if name in TEXTS:
        import transformers

        # It imports a model's module where its name is looked up.
        assert transformers.GPT2LMHeadModel and transformers.BertModel
    if name.startswith("res2net"):
        import timm  # noqa: F401

    def add(x: Tensor) -> Tensor:
        return x + 1

    (torch.compile(add) if compiles else add)(torch.ones(1))


def _adversary_models(name: str) -> tuple[nn.Module, nn.Module]:
    torch_twins = _import_twins()
    if name == "dcgan":
        generator = torch_twins.dcgan_generator(NOISE, 64, 3, 4)
        return generator, torch_twins.dcgan_discriminator(64, 3, 4)
    if name == "lsgan":
        return torch_twins.LSGANGenerator(NOISE, 32), torch_twins.LSGANDiscriminator(32)
    made = torch_twins.WGANGenerator(NOISE, MADE[name])
    return made, torch_twins.CriticLoss(MADE[name])


def make_models(name: str) -> dict[str, nn.Module]:
    """Return the networks of a name, without dropout."""
    torch.manual_seed(0)
    if name in ADVERSARIES:
        generator, discriminator = _adversary_models(name)
        return {"generator": generator, "discriminator": discriminator}
    from torch_vision import import_models

    vision = import_models()
    if name in TEXTS:
        import transformers  # which imports torchvision, too

        if name == "gpt2":
            config = transformers.GPT2Config(use_cache=False)
            config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = 0.0
            return {"model": transformers.GPT2LMHeadModel(config)}
        options = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        return {"model": transformers.BertModel(transformers.BertConfig(**options))}
    if name.startswith("res2net"):
        import timm

        return {"model": without_dropout(timm.create_model(name))}
    return {"model": without_dropout(getattr(vision, name)())}


def save_weights(name: str, path: str) -> None:
    """Write first weights, by the names that both libraries have."""
    states = {key: model.state_dict() for key, model in make_models(name).items()}
    if name == "wgan_gp":
        critic = states["discriminator"]
        states["discriminator"] = {key.removeprefix("critic."): x for key, x in critic.items()}
    torch.save(states, path)


def make_step(name: str, is_training: bool, batch: Batch, weights: str, compiles: bool) -> Step:
    """Return what a call computes: scores, or the loss before a step, of weights of a file."""
    own, states = make_models(name), torch.load(weights)
    for key, model in own.items():
        if name == "wgan_gp" and key == "discriminator":
            states[key] = {f"critic.{word}": x for word, x in states[key].items()}
        model.load_state_dict(states[key])
        model.train(is_training)
    compiled: Compile = torch.compile if compiles else lambda function: function
    if name in ADVERSARIES:
        return _adversaries(name, own["generator"], own["discriminator"], batch, compiled)
    return (_training if is_training else _inference)(name, own["model"], batch, compiled)


def _result(name: str, model: nn.Module, x: Tensor) -> Tensor:
    result = model(x)
    if name == "gpt2":
        return result.logits
    return result.last_hidden_state if name == "bert_base" else result


def _inference(name: str, model: nn.Module, batch: Batch, compiled: Compile) -> Step:
    x = torch.from_numpy(batch.x)
    call = compiled(lambda x: _result(name, model, x))

    def run() -> np.ndarray:
        with torch.inference_mode():
            return np.asarray(call(x).numpy())

    return run


def _loss(name: str, result: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if name == "bert_base":
        return ((result - y) ** 2).mean()
    if name in TEXTS:
        return F.cross_entropy(result[:, :-1].flatten(0, 1), x[:, 1:].flatten())
    return F.cross_entropy(result, y)


def _training(name: str, model: nn.Module, batch: Batch, compiled: Compile) -> Step:
    x, y = torch.from_numpy(batch.x), torch.from_numpy(batch.y)
    optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
    loss_of = compiled(lambda x, y: _loss(name, _result(name, model, x), x, y))
    move = compiled(optimizer.step)

    def run() -> np.ndarray:
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        move()
        return np.asarray(loss.detach().numpy())

    return run


def _adversaries(
    name: str, generator: nn.Module, discriminator: nn.Module, batch: Batch, compiled: Compile
) -> Step:
    real, noise, share = (torch.from_numpy(x) for x in (batch.x, batch.y, batch.share))
    both = [
        torch.optim.Adam(model.parameters(), ADVERSARY_RATE, BETAS)
        for model in (generator, discriminator)
    ]
    moves = [compiled(optimizer.step) for optimizer in both]

    def loss_of(scores: Tensor, target: float) -> Tensor:
        if name == "lsgan":
            return 0.5 * ((scores - target) ** 2).mean()
        return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, target))

    def of_discriminator(fake: Tensor) -> Tensor:
        if name == "wgan_gp":
            return discriminator(fake=fake, real=real, share=share)
        return loss_of(discriminator(real), 1.0) + loss_of(discriminator(fake), 0.0)

    def of_generator(fake: Tensor) -> Tensor:
        if name == "wgan_gp":
            return -discriminator._scores(fake).mean()
        return loss_of(discriminator(fake), 1.0)

    # A slope within a loss is differentiated again, which compiled functions cannot.
    first = of_discriminator if name == "wgan_gp" else compiled(of_discriminator)
    second, make = compiled(of_generator), compiled(generator)

    def run() -> np.ndarray:
        fake = make(noise)
        both[1].zero_grad()
        loss = first(fake.detach())
        loss.backward()
        moves[1]()
        both[0].zero_grad()
        later = second(fake)
        later.backward()
        moves[0]()
        return np.asarray([loss.item(), later.item()])

    return run
