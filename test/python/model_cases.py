# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are compared with others' of the same names, and the numbers that they get.

make_model_references.py runs others' implementations on these, and writes what they compute
to data/model_references.json.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import metaops as mo
import numpy as np
from metaops import models, nn

STEPS = 3


@dataclass(frozen=True)
class Case:
    """A model, and the shapes of its inputs.

    Of inputs that are integers, `tokens` says how many there are. Some deep models take small
    steps: after large ones what was a rounding is no more.
    """

    make: Callable[[], nn.Module]
    shapes: Sequence[tuple[int, ...]]
    tokens: int = 0
    rate: float = 0.01


def _image(
    model: Any, *args: Any, size: int = 64, batch: int = 4, rate: float = 0.01, **options: Any
) -> Case:
    make = functools.partial(model, *args, **options)
    return Case(make, [(batch, 3, size, size)], rate=rate)


#: Small models, which have each kind of block.
SMALL = {
    "resnet_basic": _image(models.ResNet, models.BasicBlock, (1, 1), 10, size=32),
    "resnext": _image(models.ResNet, models.Bottleneck, (1, 1), 10, 4, 16, size=32),
    "res2net": _image(models.ResNet, models.Bottle2neck, (1, 2), 10, 1, 26, size=32),
    "densenet": _image(models.DenseNet, 8, (2, 2), 16, 2, 10, size=32),
}


class CriticLoss(nn.Module):
    """The loss of WGAN-GP's critic, whose gradient has derivatives of the second order."""

    def __init__(self) -> None:
        self.critic = models.WGANCritic((1, 4, 4))

    def execute(self, real: mo.Var, fake: mo.Var, share: mo.Var) -> mo.Var:
        """Return the loss of a batch."""
        return models.wasserstein_critic_loss(self.critic, real, fake, 10.0, share)


def _tokens(limit: int, shape: tuple[int, ...], model: Any, *args: Any, count: int = 1) -> Case:
    return Case(functools.partial(model, *args), [shape] * count, limit)


SMALL |= {
    "gpt2": _tokens(50, (2, 12), models.GPT2LMHeadModel, 50, 16, 24, 2, 3, 0.0),
    "bert": _tokens(50, (2, 12), models.BertModel, 50, 24, 2, 3, 40, 16, 2, 0.0),
    "vit": _image(models.VisionTransformer, 16, 8, 2, 3, 24, 40, 0.0, 10, size=16, batch=2),
    "unet": _image(models.UNet, 3, 2, 4, size=18, batch=2),
    "dcgan_generator": Case(lambda: models.DCGANGenerator(8, 4, 2, 2), [(4, 8)]),
    "dcgan_discriminator": Case(lambda: models.DCGANDiscriminator(4, 2, 2), [(4, 2, 16, 16)]),
    "lsgan_generator": Case(lambda: models.LSGANGenerator(8, 8), [(3, 8)]),
    "lsgan_discriminator": Case(lambda: models.LSGANDiscriminator(16, 1, 0.0), [(4, 1, 16, 16)]),
    "wgan_generator": Case(lambda: models.WGANGenerator(8, (1, 4, 4)), [(4, 8)]),
    "wgan_critic_loss": Case(CriticLoss, [(4, 1, 4, 4), (4, 1, 4, 4), (4,)]),
    "seq2seq": _tokens(20, (3, 7), models.Seq2Seq, 20, 20, 16, 2, count=2),
    "ncf": _tokens(9, (16,), models.NCF, 9, 9, 4, 3, count=2),
    "cyclegan_generator": Case(lambda: models.CycleGANGenerator(3, 2, 4, 2), [(2, 3, 16, 12)]),
    "cyclegan_discriminator": Case(lambda: models.CycleGANDiscriminator(3, 4), [(2, 3, 40, 32)]),
    "pointnet": Case(lambda: models.PointNet(5, True, 0.0), [(12, 3, 5)]),
    "vae": Case(lambda: models.VAE(16, 12, 3), [(5, 16), (5, 3)]),
}

#: Whole models.
WHOLE = {
    "resnet18": _image(models.resnet18, 10, rate=1e-3),
    "resnet50": _image(models.resnet50, 10, rate=1e-3),
    "resnext50_32x4d": _image(models.resnext50_32x4d, 10, rate=1e-3),
    "wide_resnet50_2": _image(models.wide_resnet50_2, 10),
    "res2net50_26w_4s": _image(models.res2net50_26w_4s, 10, rate=1e-3),
    "alexnet": _image(models.alexnet, 10, 0.0, batch=2),
    "vgg11_bn": _image(models.vgg11_bn, 10, 0.0, size=32),
    "squeezenet1_0": _image(models.squeezenet1_0, 10, 0.0),
    "squeezenet1_1": _image(models.squeezenet1_1, 10, 0.0),
    "mobilenet_v2": _image(models.mobilenet_v2, 10, 0.0),
    "efficientnet_b0": _image(models.efficientnet_b0, 10, 0.0, 0.0),
    "densenet121": _image(models.densenet121, 10),
}

CASES = SMALL | WHOLE
#: Those that are computed at each change.
FIRST = ("wgan_critic_loss", "ncf")


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def make_weight(name: str, shape: Sequence[int]) -> np.ndarray:
    """Return a parameter's first value, which keeps the size of what flows through it."""
    rng = _rng(name)
    if len(shape) == 1:
        low, high = (-0.1, 0.1) if name.endswith("bias") else (0.5, 1.5)
        return rng.uniform(low, high, shape)
    bound = np.sqrt(3 / np.prod(shape[1:]))
    return (rng.random(tuple(shape), "float32") * (2 * bound) - bound).astype("float64")


def make_inputs(case: Case) -> list[np.ndarray]:
    """Return a batch."""
    rng = _rng("input")
    if case.tokens:
        return [rng.integers(0, case.tokens, shape) for shape in case.shapes]
    return [rng.normal(size=shape) for shape in case.shapes]


def make_target(shape: Sequence[int]) -> np.ndarray:
    """Return what a model shall compute: the loss is the mean of squared differences."""
    return _rng("target").normal(size=tuple(shape))


def project(name: str, gradient: np.ndarray) -> float:
    """Return a gradient's part along a direction, one number that stands for all."""
    direction = _rng("direction " + name).choice([-1.0, 1.0], gradient.shape)
    return float((gradient * direction).sum() / np.sqrt(gradient.size))
