# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is trained: models with their batches and optimisers, and their first weights."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Maker = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Subject:
    """A model by its name in models.py, how it is made and trained, and a batch."""

    title: str
    model: str
    arguments: Sequence[Any]
    optimizer: str
    x: Maker
    y: Maker


@dataclass(frozen=True)
class Task:
    """A subject in numbers."""

    subject: Subject
    weights: Sequence[np.ndarray]
    x: np.ndarray
    y: np.ndarray


def numbers(*shape: int) -> Maker:
    """Return a maker of numbers in [0, 1)."""
    return lambda rng: rng.random(shape).astype("float32")


def integers(limit: int, *shape: int) -> Maker:
    """Return a maker of labels or tokens."""
    return lambda rng: rng.integers(0, limit, shape).astype("int32")


SUBJECTS = {
    "mlp": Subject(
        "784-128-10 perceptron, batch 32, Adam",
        "mlp",
        (),
        "Adam",
        numbers(32, 784),
        integers(10, 32),
    ),
    "digits": Subject(
        "The model of examples/digits.py, batch 64, Adam",
        "digits",
        (),
        "Adam",
        numbers(64, 1, 8, 8),
        integers(10, 64),
    ),
    "resnet18-32": Subject(
        "ResNet-18, batch 8 of 32 x 32, SGD with momentum",
        "resnet18",
        (10, True),
        "SGD",
        numbers(8, 3, 32, 32),
        integers(10, 8),
    ),
    "transformer": Subject(
        "Transformer, 4 layers of 256, 4 heads, batch 4 of 128 tokens, Adam",
        "Transformer",
        (256, 128, 256, 4, 4),
        "Adam",
        integers(256, 4, 128),
        integers(256, 4, 128),
    ),
    "resnet18-224": Subject(
        "ResNet-18, batch 2 of 224 x 224, SGD with momentum",
        "resnet18",
        (1000, False),
        "SGD",
        numbers(2, 3, 224, 224),
        integers(1000, 2),
    ),
    "resnet50-224": Subject(
        "ResNet-50, batch 4 of 224 x 224, SGD with momentum",
        "resnet50",
        (1000, False),
        "SGD",
        numbers(4, 3, 224, 224),
        integers(1000, 4),
    ),
}

#: Those that take seconds a step, or minutes to compile by some peer.
LARGE = ("resnet18-224", "resnet50-224")


def weights_for(shapes: Sequence[Shape]) -> list[np.ndarray]:
    """Return weights that keep the size of what flows through them about the same."""
    rng = np.random.default_rng(0)
    result = []
    for shape in shapes:
        if len(shape) == 1:
            weight = rng.uniform(0.5, 1.5, shape)
        else:
            weight = rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        result.append(weight.astype("float32"))
    return result


def make_task(name: str, library: str = "models") -> Task:
    """Return a subject with weights and a batch, the same ones whenever asked.

    `library` has a model with parameters of the same shapes, as all have.
    """
    models = importlib.import_module(library)
    subject = SUBJECTS[name]
    parameters = getattr(models, subject.model)(*subject.arguments).parameters()
    rng = np.random.default_rng(1)
    x, y = subject.x(rng), subject.y(rng).reshape(-1)
    return Task(subject, weights_for([p.shape for p in parameters]), x, y)
