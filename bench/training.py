# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of the same model by MetaOps and its peers.

Each class holds a model, an optimiser and one batch, made from the same numbers.
`steps(n)` takes n steps and waits for the last; `loss()` takes one and returns the
loss before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from subjects import Task

RATE = 1e-3
MOMENTUM = 0.9


class MetaOps:
    """Lazy, compiled."""

    def __init__(self, task: Task) -> None:
        import metaops as mo
        import models

        self.mo = mo
        subject = task.subject
        self.model = getattr(models, subject.model)(*subject.arguments)
        models.load(self.model, task.weights)
        parameters = self.model.parameters()
        self.optimizer: mo.optim.Optimizer = (
            mo.optim.Adam(parameters, RATE)
            if subject.optimizer == "Adam"
            else mo.optim.SGD(parameters, RATE, MOMENTUM)
        )
        self.x, self.y = mo.array(task.x), mo.array(task.y)

    def _record(self) -> object:
        scores = self.model(self.x)
        loss = self.mo.nn.cross_entropy_loss(scores.reshape(-1, scores.shape[-1]), self.y)
        self.optimizer.step(loss)
        return loss

    def steps(self, count: int) -> None:
        """Take steps."""
        for _ in range(count):
            self._record()
        self.mo.sync_all()

    def loss(self) -> float:
        """Take a step, to its end: the loss is there before the gradients are."""
        loss = self._record()
        self.mo.sync_all()
        return loss.item()  # type: ignore[attr-defined]


class MetaOpsJit(MetaOps):
    """The whole step recorded once."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._record = self.mo.jit(self._record)  # type: ignore[method-assign]


class Torch:
    """PyTorch, eager."""

    def __init__(self, task: Task) -> None:
        import torch
        import torch_models

        self.torch = torch
        subject = task.subject
        self.model = getattr(torch_models, subject.model)(*subject.arguments)
        torch_models.load(self.model, task.weights)
        parameters = self.model.parameters()
        self.optimizer: torch.optim.Optimizer = (
            torch.optim.Adam(parameters, RATE)
            if subject.optimizer == "Adam"
            else torch.optim.SGD(parameters, RATE, MOMENTUM)
        )
        x = torch.from_numpy(task.x)
        self.x = x if task.x.dtype == np.float32 else x.long()
        self.y = torch.from_numpy(task.y).long()
        self._forward: Callable = self._loss
        self._move: Callable = self.optimizer.step

    def _loss(self) -> object:
        scores = self.model(self.x).flatten(0, -2)
        return self.torch.nn.functional.cross_entropy(scores, self.y)

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

    mode = "default"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._forward = self.torch.compile(self._loss, mode=self.mode)
        self._move = self.torch.compile(self.optimizer.step, mode=self.mode)


class TorchReduced(TorchCompile):
    """PyTorch, compiled for few launches."""

    mode = "reduce-overhead"


class Jax:
    """JAX, the whole step compiled, parameters and state donated."""

    def __init__(self, task: Task) -> None:
        import jax
        import jax_models as models

        subject = task.subject
        model = getattr(models, subject.model)
        move, start = models.OPTIMIZERS[subject.optimizer]
        self.x, self.y = jax.numpy.asarray(task.x), jax.numpy.asarray(task.y)
        self.p = [jax.numpy.asarray(weight) for weight in task.weights]
        moments = models.first_moments(model, self.p, self.x, subject.arguments)
        self.state = (moments, start(self.p))

        def objective(p, moments, x, y):  # type: ignore[no-untyped-def]
            net = models.Net(p, moments)
            scores = model(net, x, *subject.arguments)
            return models.cross_entropy(scores.reshape(-1, scores.shape[-1]), y), net.moments

        def step(p, state, x, y):  # type: ignore[no-untyped-def]
            moments, rest = state
            differentiate = jax.value_and_grad(objective, has_aux=True)
            (loss, moments), gradients = differentiate(p, moments, x, y)
            p, rest = move(p, gradients, rest, RATE)
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
    "mo.jit": MetaOpsJit,
    "PyTorch": Torch,
    "torch.compile": TorchCompile,
    "reduce-overhead": TorchReduced,
    "jax.jit": Jax,
}
