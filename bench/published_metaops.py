# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature in MetaOps: what is timed of them."""

from __future__ import annotations

from collections.abc import Callable

import metaops as mo
import numpy as np
from metaops import models, nn
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

__all__ = ["make_step", "prepare"]

Step = Callable[[], np.ndarray]


def prepare() -> None:
    """Have the library be imported and used once."""
    (mo.ones(1) + 1).sync()


def make_models(name: str) -> dict[str, nn.Module]:
    """Return the networks of a name, without dropout."""
    if name == "dcgan":
        made = models.DCGANGenerator(), models.DCGANDiscriminator()
    elif name == "lsgan":
        made = models.LSGANGenerator(NOISE), models.LSGANDiscriminator()
    elif name == "wgan_gp":
        made = models.WGANGenerator(NOISE, MADE[name]), models.WGANCritic(MADE[name])
    else:
        return {"model": without_dropout(getattr(models, name)())}
    return {"generator": made[0], "discriminator": without_dropout(made[1])}


def make_step(name: str, is_training: bool, batch: Batch, weights: str) -> Step:
    """Return what a call computes: scores, or the loss before a step, of weights of a file."""
    own, states = make_models(name), mo.load(weights)
    for key, model in own.items():
        model.load_state_dict(states[key])
        model.train(is_training)
        mo.sync(model.parameters())
    if name in ADVERSARIES:
        return _adversaries(name, own["generator"], own["discriminator"], batch)
    return (_training if is_training else _inference)(name, own["model"], batch)


def _result(name: str, model: nn.Module, x: mo.Var) -> mo.Var:
    result = model(x)
    return result.last_hidden_state if name == "bert_base" else result


def _inference(name: str, model: nn.Module, batch: Batch) -> Step:
    x = mo.array(batch.x)
    call = mo.jit(lambda x: _result(name, model, x))

    def run() -> np.ndarray:
        with mo.no_grad():
            return np.asarray(call(x).numpy())

    return run


def _loss(name: str, result: mo.Var, x: mo.Var, y: mo.Var) -> mo.Var:
    if name == "bert_base":
        return ((result - y) ** 2).mean()
    if name in TEXTS:
        scores = result[:, :-1]
        return nn.cross_entropy_loss(scores.reshape(-1, scores.shape[-1]), x[:, 1:].flatten())
    return nn.cross_entropy_loss(result, y)


def _training(name: str, model: nn.Module, batch: Batch) -> Step:
    x, y = mo.array(batch.x), mo.array(batch.y)
    optimizer = mo.optim.SGD(model.parameters(), RATE, MOMENTUM)

    @mo.jit
    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = _loss(name, _result(name, model, x), x, y)
        optimizer.step(loss)
        return loss

    def run() -> np.ndarray:
        loss = step(x, y)
        mo.sync_all()
        return np.asarray(loss.numpy())

    return run


def _adversaries(name: str, generator: nn.Module, discriminator: nn.Module, batch: Batch) -> Step:
    real, noise, share = mo.array(batch.x), mo.array(batch.y), mo.array(batch.share)
    both = [
        mo.optim.Adam(model.parameters(), ADVERSARY_RATE, betas=BETAS)
        for model in (generator, discriminator)
    ]
    loss_of = models.adversarial_loss if name == "dcgan" else models.least_squares_loss

    def losses(fake: mo.Var) -> mo.Var:
        if name == "wgan_gp":
            return models.wasserstein_critic_loss(discriminator, real, fake, 10.0, share)
        return loss_of(discriminator(real), True) + loss_of(discriminator(fake), False)

    @mo.jit
    def step(noise: mo.Var) -> mo.Var:
        fake = generator(noise)
        of_discriminator = losses(fake.detach())
        both[1].step(of_discriminator)
        scores = discriminator(fake)
        loss = models.wasserstein_loss(scores) if name == "wgan_gp" else loss_of(scores, True)
        both[0].step(loss)
        return mo.stack([of_discriminator, loss])

    def run() -> np.ndarray:
        found = step(noise)
        mo.sync_all()
        return np.asarray(found.numpy())

    return run
