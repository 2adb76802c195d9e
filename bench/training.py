# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of the same model by MetaOps and its peers.

Each class holds a model, an optimiser (Adam) and one batch, made from the same
numbers. `steps(n)` takes n steps and waits for the last; `loss()` takes one and
returns the loss before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

RATE = 1e-3


@dataclass
class Task:
    """A model's name, its first weights and a batch."""

    model: str
    weights: Sequence[np.ndarray]
    x: np.ndarray
    y: np.ndarray


def make_task(model: str) -> Task:
    """Return a task with random weights and images."""
    rng = np.random.default_rng(0)
    if model == "mlp":
        x, shapes = rng.random((32, 784)), [(128, 784), (128,), (10, 128), (10,)]
    else:
        x = rng.random((64, 1, 8, 8))
        shapes = [(16, 1, 3, 3), (16,), (16,), (16,), (32, 16, 3, 3), (32,), (32,), (32,)]
        shapes += [(10, 128), (10,)]
    weights = [rng.uniform(-1, 1, s) / np.sqrt(np.prod(s[1:])) for s in shapes]
    labels = rng.integers(0, 10, len(x)).astype("int32")
    return Task(model, [w.astype("float32") for w in weights], x.astype("float32"), labels)


class MetaOps:
    """Lazy, compiled."""

    def __init__(self, task: Task) -> None:
        import metaops as mo
        import models

        self.mo = mo
        self.model = getattr(models, task.model)()
        models.load(self.model, task.weights)
        self.optimizer = mo.optim.Adam(self.model.parameters(), RATE)
        self.x, self.y = mo.array(task.x), mo.array(task.y)

    def _record(self) -> object:
        loss = self.mo.nn.cross_entropy_loss(self.model(self.x), self.y)
        self.optimizer.step(loss)
        return loss

    def steps(self, count: int) -> None:
        """Take steps."""
        for _ in range(count):
            self._record()
        self.mo.sync_all()

    def loss(self) -> float:
        """Take a step."""
        return self._record().item()  # type: ignore[attr-defined]


class Torch:
    """PyTorch, eager."""

    def __init__(self, task: Task) -> None:
        import torch
        import torch_models

        self.torch = torch
        self.model = getattr(torch_models, task.model)()
        torch_models.load(self.model, task.weights)
        self.optimizer = torch.optim.Adam(self.model.parameters(), RATE)
        self.x, self.y = torch.from_numpy(task.x), torch.from_numpy(task.y).long()
        self._forward: Callable = self._loss
        self._move: Callable = self.optimizer.step

    def _loss(self) -> object:
        return self.torch.nn.functional.cross_entropy(self.model(self.x), self.y)

    def _step(self) -> object:
        self.optimizer.zero_grad()
        loss = self._forward()
        loss.backward()
        self._move()
        return loss

    def steps(self, count: int) -> None:
        """Take steps."""
        for _ in range(count):
            self._step()

    def loss(self) -> float:
        """Take a step."""
        return self._step().item()  # type: ignore[attr-defined]


class TorchCompile(Torch):
    """PyTorch, with forward and backward, and the optimiser, compiled."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._forward = self.torch.compile(self._loss)
        self._move = self.torch.compile(self.optimizer.step)


class Jax:
    """JAX, the whole step compiled, parameters and state donated."""

    def __init__(self, task: Task) -> None:
        import jax
        import jax_models as models

        forward = getattr(models, task.model)
        self.x, self.y = jax.numpy.asarray(task.x), jax.numpy.asarray(task.y)
        self.p = [jax.numpy.asarray(weight) for weight in task.weights]
        self.state = (getattr(models, task.model + "_state")(), models.adam_state(self.p))

        def objective(p, moments, x, y):  # type: ignore[no-untyped-def]
            scores, moments = forward(p, moments, x)
            return models.cross_entropy(scores, y), moments

        def step(p, state, x, y):  # type: ignore[no-untyped-def]
            moments, rest = state
            differentiate = jax.value_and_grad(objective, has_aux=True)
            (loss, moments), gradients = differentiate(p, moments, x, y)
            p, rest = models.adam(p, gradients, rest, RATE)
            return loss, p, (moments, rest)

        self._jitted = jax.jit(step, donate_argnums=(0, 1))

    def _step(self) -> object:
        loss, self.p, self.state = self._jitted(self.p, self.state, self.x, self.y)
        return loss

    def steps(self, count: int) -> None:
        """Take steps."""
        for _ in range(count):
            self._step()
        for array in self.p:
            array.block_until_ready()

    def loss(self) -> float:
        """Take a step."""
        return float(self._step())  # type: ignore[arg-type]


CONTESTANTS: dict[str, type] = {
    "MetaOps": MetaOps,
    "PyTorch": Torch,
    "torch.compile": TorchCompile,
    "jax.jit": Jax,
}
