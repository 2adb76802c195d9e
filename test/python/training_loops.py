# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training loops, each with a step that may be recorded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import metaops as mo
import numpy as np
from metaops import nn, optim
from metaops.optim import lr_scheduler
from util import floats

BATCH, FEATURES, CLASSES = 12, 6, 4

#: Takes tensors, and returns some.
Step = Callable[..., Any]
#: Makes the same function of a step, or one that is recorded once.
Wrap = Callable[[Step], Step]


@dataclass
class Loop:
    """A loop's step, and all that it changes."""

    #: Calls the step of a number.
    step: Callable[[int], Any]
    #: Models, and Vars by themselves.
    tensors: Sequence[mo.Module | mo.Var]
    optimizers: Sequence[optim.Optimizer] = ()
    schedules: Sequence[lr_scheduler.LRScheduler] = ()
    #: The arrays that callbacks were given.
    fetched: list[Any] = field(default_factory=list)

    def state(self) -> tuple[list[np.ndarray], list[Any]]:
        """Return the values of all tensors, and what is counted in Python."""
        tensors: list[mo.Var] = []
        for each in self.tensors:
            tensors += each.state_dict().values() if isinstance(each, mo.Module) else [each]
        counts: list[Any] = [schedule.state_dict() for schedule in self.schedules]
        for optimizer in self.optimizers:
            for name, value in optimizer.state_dict().items():
                if isinstance(value, mo.Var):
                    tensors.append(value)
                else:
                    counts.append((name, value))
        return [tensor.numpy() for tensor in tensors], counts


LOOPS: dict[str, Callable[[Wrap], Loop]] = {}


def loop(make: Callable[[Wrap], Loop]) -> Callable[[Wrap], Loop]:
    """Add a loop to those that are tested."""
    LOOPS[make.__name__] = make
    return make


def rows(i: int, *shape: int) -> mo.Var:
    """Return the data of a step."""
    return mo.array(floats(np.random.default_rng(i), shape or (BATCH, FEATURES)))


def labels(i: int) -> mo.Var:
    """Return the labels of a step."""
    return mo.array(np.random.default_rng(i).integers(0, CLASSES, BATCH))


def perceptron(inputs: int = FEATURES, outputs: int = CLASSES) -> mo.Module:
    """Return a small network."""
    return mo.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


def supervised(
    wrap: Wrap,
    model: mo.Module,
    optimizer: optim.Optimizer,
    *schedules: lr_scheduler.LRScheduler,
    shape: tuple[int, ...] = (),
) -> Loop:
    """Return a loop of a classifier."""

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        for schedule in schedules:
            schedule.step()
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i, *shape), labels(i)), [model], [optimizer], schedules)


@loop
def mlp(wrap: Wrap) -> Loop:
    model = perceptron()
    return supervised(wrap, model, optim.SGD(model.parameters(), 0.1, 0.9, nesterov=True))


@loop
def mlp_with_schedule_and_dropout(wrap: Wrap) -> Loop:
    model = mo.Sequential(nn.Linear(FEATURES, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4))
    optimizer = optim.AdamW(model.parameters(), 0.05)
    return supervised(wrap, model, optimizer, lr_scheduler.CosineAnnealingLR(optimizer, 9))


@loop
def one_cycle(wrap: Wrap) -> Loop:
    """The schedule moves a beta, too."""
    model = perceptron()
    optimizer = optim.NAdam(model.parameters(), 0.05)
    return supervised(wrap, model, optimizer, lr_scheduler.OneCycleLR(optimizer, 0.1, 100))


@loop
def cnn(wrap: Wrap) -> Loop:
    model = mo.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        nn.BatchNorm(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64, CLASSES),
    )
    return supervised(wrap, model, optim.Adam(model.parameters(), 0.02), shape=(BATCH, 1, 8, 8))


@loop
def groups_and_a_frozen_layer(wrap: Wrap) -> Loop:
    model = mo.Sequential(nn.Linear(FEATURES, 8), nn.Linear(8, 8), nn.Linear(8, CLASSES))
    model[1].requires_grad_(False)
    slow = {"params": model[0].parameters(), "lr": 0.001, "weight_decay": 0.1}
    optimizer = optim.RMSprop([slow, {"params": model[2].parameters()}], 0.01, momentum=0.5)
    return supervised(wrap, model, optimizer, lr_scheduler.StepLR(optimizer, 3, 0.5))


@loop
def halves(wrap: Wrap) -> Loop:
    model = perceptron().to("bfloat16")
    optimizer = optim.Adam(model.parameters(), 0.05, master=True)

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x.cast("bfloat16")).cast("float32"), y)
        optimizer.step(loss)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model], [optimizer])


@loop
def clipping(wrap: Wrap) -> Loop:
    model = perceptron()
    optimizer = optim.Adagrad(model.parameters(), 0.1, lr_decay=0.1)

    def step(x: mo.Var, y: mo.Var) -> Any:
        loss = nn.cross_entropy_loss(model(x), y)
        gradients, norm = optim.clip_grad_norm(mo.grad(loss, optimizer.parameters), 0.5)
        optimizer.apply(gradients)
        return {"loss": loss, "norm": norm}

    call = wrap(step)
    return Loop(lambda i: [*call(rows(i), labels(i)).values()], [model], [optimizer])


@loop
def averages(wrap: Wrap) -> Loop:
    """Exponential means of the parameters, updated behind each step."""
    model = perceptron()
    optimizer = optim.RAdam(model.parameters(), 0.05)
    means = [parameter.copy() for parameter in model.parameters()]

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        for mean, parameter in zip(means, model.parameters(), strict=True):
            mean.update(0.9 * mean + 0.1 * parameter)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model, *means], [optimizer])


@loop
def accumulation(wrap: Wrap) -> Loop:
    """Gradients of three batches are summed in Vars, and applied by another function."""
    model = perceptron()
    optimizer = optim.Adam(model.parameters(), 0.05)
    sums = [mo.zeros(parameter.shape).sync() for parameter in optimizer.parameters]

    def add(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y) / 3
        for total, each in zip(sums, mo.grad(loss, optimizer.parameters), strict=True):
            total.update(total + each)
        return loss

    def apply() -> None:
        optimizer.apply(sums)
        for total in sums:
            total.update(mo.zeros_like(total))

    add_up, move = wrap(add), wrap(apply)

    def step(i: int) -> mo.Var:
        loss = add_up(rows(i), labels(i))
        if i % 3 == 2:
            move()
        return loss

    return Loop(step, [model, *sums], [optimizer])


@loop
def accumulation_inside(wrap: Wrap) -> Loop:
    """A list of batches is one step."""
    model = perceptron()
    optimizer = optim.Adam(model.parameters(), 0.05)

    def step(batches: list[tuple[mo.Var, mo.Var]]) -> list[mo.Var]:
        losses = [nn.cross_entropy_loss(model(x), y) for x, y in batches]
        optimizer.step(losses)
        return losses

    call = wrap(step)
    return Loop(
        lambda i: call([(rows(3 * i + k), labels(3 * i + k)) for k in range(3)]),
        [model],
        [optimizer],
    )


def _gan(wrap: Wrap, wrap_all: Wrap) -> Loop:
    generator, critic = perceptron(3, 2), perceptron(2, 1)
    of_generator = optim.Adam(generator.parameters(), 0.01, (0.5, 0.9))
    of_critic = optim.RMSprop(critic.parameters(), 0.01)

    def train_critic(real: mo.Var) -> mo.Var:
        fake = generator(mo.randn(BATCH, 3)).detach()
        loss = mo.softplus(critic(fake)).mean() + mo.softplus(-critic(real)).mean()
        of_critic.step(loss)
        return loss

    def train_generator() -> mo.Var:
        loss = mo.softplus(-critic(generator(mo.randn(BATCH, 3)))).mean()
        of_generator.step(loss)
        return loss

    first, second = wrap(train_critic), wrap(train_generator)
    both = wrap_all(lambda real: [first(real), second()])
    return Loop(lambda i: both(rows(i, BATCH, 2)), [generator, critic], [of_generator, of_critic])


@loop
def gan(wrap: Wrap) -> Loop:
    """Two networks in one function."""
    return _gan(lambda function: function, wrap)


@loop
def gan_of_two_functions(wrap: Wrap) -> Loop:
    return _gan(wrap, lambda function: function)


@loop
def gan_of_functions_in_a_function(wrap: Wrap) -> Loop:
    return _gan(wrap, wrap)


@loop
def gradient_penalty(wrap: Wrap) -> Loop:
    critic = perceptron(2, 1)
    optimizer = optim.Adam(critic.parameters(), 0.01)

    def step(x: mo.Var) -> mo.Var:
        slopes = mo.grad(critic(x).sum(), x)
        loss = critic(x).mean() + 10 * (((slopes**2).sum(1) + 1e-6).sqrt() - 1).square().mean()
        optimizer.step(loss)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i, BATCH, 2)), [critic], [optimizer])


@loop
def meta_step(wrap: Wrap) -> Loop:
    """A gradient through a step of gradient descent."""
    weight, bias = mo.array(floats(np.random.default_rng(1), (FEATURES, 1))), mo.zeros(1).sync()
    optimizer = optim.SGD([weight, bias], 0.05)

    def loss_of(w: mo.Var, b: mo.Var, x: mo.Var) -> mo.Var:
        return ((mo.tanh(x @ w + b) - x.sum(1, True)) ** 2).mean()

    def step(x: mo.Var, other: mo.Var) -> mo.Var:
        slopes = mo.grad(loss_of(weight, bias, x), [weight, bias])
        moved = [p - 0.1 * slope for p, slope in zip((weight, bias), slopes, strict=True)]
        loss = loss_of(*moved, other)
        optimizer.step(loss)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), rows(i + 100)), [weight, bias], [optimizer])


@loop
def by_hand(wrap: Wrap) -> Loop:
    """Parameters are rebound by operators in place."""
    w = mo.array(floats(np.random.default_rng(1), (FEATURES, CLASSES)))
    v = mo.zeros((FEATURES, CLASSES)).sync()

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        nonlocal w, v
        loss = nn.cross_entropy_loss(x @ w, y)
        v.update(0.9 * v + mo.grad(loss, w))
        w -= 0.05 * v
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [w, v])


@loop
def recurrent(wrap: Wrap) -> Loop:
    """Time that is cut: the state is a result, and the next step's argument."""
    model = nn.LSTM(FEATURES, 5)
    optimizer = optim.Adam(model.parameters(), 0.02)

    def step(x: mo.Var, state: tuple[mo.Var, mo.Var]) -> Any:
        y, state = model(x, state)
        loss = ((y - x.sum(-1, True)) ** 2).mean()
        optimizer.step(loss)
        return loss, tuple(part.detach() for part in state)

    call = wrap(step)
    state = mo.zeros((1, 2, 5)).sync(), mo.zeros((1, 2, 5)).sync()

    def advance(i: int) -> mo.Var:
        nonlocal state
        loss, state = call(rows(i, 4, 2, FEATURES), state)
        return loss

    return Loop(advance, [model], [optimizer])


@loop
def lengths(wrap: Wrap) -> Loop:
    """Batches of several lengths: a recording of each."""
    model = perceptron()
    optimizer = optim.Adamax(model.parameters(), 0.05)

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        return loss

    call = wrap(step)

    def advance(i: int) -> mo.Var:
        count = BATCH - 3 * (i % 3)
        return call(rows(i)[:count].sync(), labels(i)[:count].sync())

    return Loop(advance, [model], [optimizer])


@loop
def modes(wrap: Wrap) -> Loop:
    """A step that evaluates, too: statistics are those before the step."""
    model = mo.Sequential(nn.Linear(FEATURES, 8), nn.BatchNorm(8), nn.Dropout(0.5), nn.Linear(8, 4))
    optimizer = optim.Adadelta(model.train().parameters())

    def step(x: mo.Var, y: mo.Var) -> Any:
        model.eval()
        with mo.no_grad():
            correct = (model(x).argmax(1) == y).cast("float32").mean()
        model.train()
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        return loss, correct

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model], [optimizer])


@loop
def callbacks(wrap: Wrap) -> Loop:
    """Each loss is fetched."""
    model = perceptron()
    optimizer = optim.ASGD(model.parameters(), 0.05, t0=4)
    fetched: list[Any] = []

    def keep(value: np.ndarray) -> None:
        fetched.append(value.copy())

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        loss.fetch(keep)
        optimizer.step(loss)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model], [optimizer], fetched=fetched)


@loop
def rates_from_outside(wrap: Wrap) -> Loop:
    """Options are set between steps: numbers, and one that makes another formula."""
    model = perceptron()
    optimizer = optim.Adam(model.parameters(), 0.05)
    inner = supervised(wrap, model, optimizer)

    def step(i: int) -> Any:
        optimizer.lr = 0.1 / (1 + i)
        if i % 4 == 0:
            optimizer.betas = (0.9 - 0.01 * i, 0.99)
        optimizer.weight_decay = 0.1 if 5 <= i < 9 else 0.0
        optimizer.amsgrad = i >= 7
        return inner.step(i)

    return Loop(step, [model], [optimizer])


@loop
def norms_of_weights(wrap: Wrap) -> Loop:
    """Each call improves an estimate of the largest singular value."""
    model = mo.Sequential(nn.utils.spectral_norm(nn.Linear(FEATURES, 8)), nn.Linear(8, CLASSES))
    return supervised(wrap, model, optim.Rprop(model.parameters(), 0.01))


@loop
def matrices(wrap: Wrap) -> Loop:
    """Two optimisers share a model and a loss."""
    model = perceptron()
    weights = [p for p in model.parameters() if p.ndim == 2]
    biases = [p for p in model.parameters() if p.ndim == 1]
    of_weights, of_biases = optim.Muon(weights, 0.02), optim.Adafactor(biases, 0.02)

    def step(x: mo.Var, y: mo.Var) -> mo.Var:
        loss = nn.cross_entropy_loss(model(x), y)
        of_weights.step(loss)
        of_biases.step(loss)
        return loss

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model], [of_weights, of_biases])


@loop
def two_steps(wrap: Wrap) -> Loop:
    """The second loss is of what the first step has moved, and the rate is another one."""
    model = perceptron()
    optimizer = optim.Adam(model.parameters(), 0.05)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.9)

    def step(x: mo.Var, y: mo.Var) -> Any:
        first = nn.cross_entropy_loss(model(x), y)
        optimizer.step(first)
        schedule.step()
        second = nn.cross_entropy_loss(model(x), y)
        optimizer.step(second)
        return first, second

    call = wrap(step)
    return Loop(lambda i: call(rows(i), labels(i)), [model], [optimizer], [schedule])
