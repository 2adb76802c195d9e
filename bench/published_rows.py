# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature that are measured, and what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: The first ten are those of Table 1 of Hu et al. (2020).
IMAGES = (
    "resnet50",
    "resnet152",
    "wide_resnet50_2",
    "wide_resnet101_2",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "res2net50_26w_4s",
    "alexnet",
    "vgg11",
    "squeezenet1_1",
    "resnet18",
    "mobilenet_v2",
    "efficientnet_b0",
    "densenet121",
    "vit_b_16",
)
TEXTS = ("gpt2", "bert_base")
ADVERSARIES = ("dcgan", "lsgan", "wgan_gp")
NAMES = (*IMAGES, *TEXTS, *ADVERSARIES)
QUICK = ("squeezenet1_1", "resnet18", "mobilenet_v2", "wgan_gp")

#: Measured tasks, and of how many images or texts.
TASKS = {"inference 1": 1, "inference 8": 8, "training 8": 8, "training 64": 64}

SIZE, CLASSES = 224, 1000
LENGTH, TOKENS = 128, 30000
NOISE = 100
#: The images that adversaries make.
MADE = {"dcgan": (3, 64, 64), "lsgan": (1, 32, 32), "wgan_gp": (1, 28, 28)}

RATE, MOMENTUM = 1e-3, 0.9
#: Of the optimisers of adversaries, Adam.
ADVERSARY_RATE, BETAS = 2e-4, (0.5, 0.999)
#: Calls whose results are compared.
COMPARED = 3


def without_dropout(model: Any) -> Any:
    """Return a model, of any library, whose layers leave nothing out."""
    for layer in model.modules():
        if type(layer).__name__ in ("Dropout", "Dropout2d", "StochasticDepth"):
            layer.p = 0.0
    return model


@dataclass(frozen=True)
class Batch:
    """What a call of a task is given.

    Attributes
    ----------
    x
        Images, tokens, or the real images of adversaries.
    y
        Labels, or what states of tokens shall be; the noise of adversaries.
    share
        The places of slopes between images.
    """

    x: np.ndarray
    y: np.ndarray
    share: np.ndarray


def has_task(name: str, task: str) -> bool:
    """Return whether a model is measured at a task: adversaries are trained alone, by 64."""
    return (task == "training 64") == (name in ADVERSARIES)


def unit_of(name: str) -> str:
    """Return what is counted a second."""
    return "tokens" if name in TEXTS else "images"


def units_of(name: str, task: str) -> int:
    """Return how many of these a call has."""
    return TASKS[task] * (LENGTH if name in TEXTS else 1)


def make_batch(name: str, task: str) -> Batch:
    """Return a batch, the same one whenever asked."""
    rng, count = np.random.default_rng(1), TASKS[task]
    share = rng.random(count, "float32")
    if name in ADVERSARIES:
        real = rng.random((count, *MADE[name]), "float32") * 2 - 1
        return Batch(real, rng.standard_normal((count, NOISE), "float32"), share)
    if name in TEXTS:
        tokens = rng.integers(0, TOKENS, (count, LENGTH))
        states = rng.standard_normal((count, LENGTH, 768), "float32")
        return Batch(tokens, states, share)
    images = rng.random((count, 3, SIZE, SIZE), "float32")
    return Batch(images, rng.integers(0, CLASSES, count), share)
