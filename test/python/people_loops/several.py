# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of several models, or by several losses, in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo

from .hand import Hand, Step, classifier, loop, seeded


@loop(programs=3, repeated=2)
def actor_and_critic(hand: Hand) -> Step:
    body, actor, critic = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 1)
    optimizer = mo.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.h = mo.tanh(n.x @ body)
        policy = mo.softmax(n.h @ actor, dim=1)
        value = n.h @ critic
        hand.drop()
        actor_loss = (policy * policy.log()).sum(1).mean()
        critic_loss = ((value - 1.0) ** 2).mean()
        optimizer.step(actor_loss)
        optimizer.step(critic_loss)
        return [actor_loss.item(), critic_loss.item()]

    return step


@loop()
def actor_and_critic_at_once(hand: Hand) -> Step:
    body, actor, critic = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 1)
    optimizer = mo.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        n.h = mo.tanh(n.x @ body)
        actor_loss = ((n.h @ actor) ** 2).mean()
        critic_loss = ((n.h @ critic - 1.0) ** 2).mean()
        hand.drop()
        optimizer.step([actor_loss, critic_loss])
        return [actor_loss.item()]

    return step


def gan(critics: int) -> Callable[[Hand], Step]:
    def make(hand: Hand) -> Step:
        generator = seeded(
            hand, mo.nn.Sequential(mo.nn.Linear(3, 8), mo.nn.Tanh(), mo.nn.Linear(8, 2))
        )
        critic = seeded(
            hand, mo.nn.Sequential(mo.nn.Linear(2, 8), mo.nn.Tanh(), mo.nn.Linear(8, 1))
        )
        of_generator = mo.optim.Adam(generator.parameters(), 0.01)
        of_critic = mo.optim.Adam(critic.parameters(), 0.01)

        def step(i: int) -> list[Any]:
            n = hand.begin()
            for _ in range(critics):
                n.real, n.noise = hand.array(12, 2), hand.array(12, 3)
                n.fake = generator(n.noise)
                loss = critic(n.fake.detach()).mean() - critic(n.real).mean()
                of_critic.step(loss)
            loss = -critic(n.fake).mean()
            hand.drop()
            of_generator.step(loss)
            return [loss.item()]

        return step

    make.__name__ = f"gan_of_{critics}_critics"
    return make


loop(programs=2, repeated=2)(gan(1))


loop(programs=3)(gan(3))


@loop(programs=2)
def serving_between_steps(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        loss = mo.nn.cross_entropy_loss(net(n.x), n.y)
        hand.drop()
        optimizer.step(loss)
        net.eval()
        with mo.no_grad():
            answer = net(hand.array(1, 8)).numpy()
        net.train()
        return [answer]

    return step


@loop(programs=1)
def two_heads_in_turn(hand: Hand) -> Step:
    body, one, two = hand.array(6, 8, scale=0.4), hand.array(8, 3), hand.array(8, 3)
    optimizer = mo.optim.Adam([body, one, two], 0.01, weight_decay=0.1)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.h = mo.tanh(hand.array(12, 6) @ body)
        loss = ((n.h @ (one if i % 2 else two)) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item(), float(optimizer.steps)]

    return step


@loop(programs=1)
def ten_models_in_turn(hand: Hand) -> Step:
    models = [hand.array(6, 3, scale=0.3) for _ in range(10)]
    optimizers = [mo.optim.SGD([w], 0.02) for w in models]

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x = hand.array(12, 6)
        loss = ((n.x @ models[i % 10]) ** 2).mean()
        hand.drop()
        optimizers[i % 10].step(loss)
        return [loss.item()]

    return step


@loop(programs=2)
def statistics_between_loss_and_gradient(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        loss = mo.nn.cross_entropy_loss(net(n.x), n.y)
        hand.drop()
        seen = [loss.item(), net[1].running_var.numpy()]
        optimizer.step(loss)
        return seen

    return step


@loop(programs=2)
def siamese(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.a = net(hand.array(16, 8))
        first = n.a.sum().item()
        n.b = net(hand.array(16, 8))
        loss = ((n.a - n.b) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [first, loss.item()]

    return step


@loop(programs=1)
def twins(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.a = net(hand.array(16, 8))
        n.b = net(hand.array(16, 8))
        loss = ((n.a - n.b) ** 2).mean()
        hand.drop()
        optimizer.step(loss)
        return [loss.item(), net[1].running_mean.numpy()]

    return step


@loop(programs=2, repeated=2)
def gan_with_statistics(hand: Hand) -> Step:
    generator = seeded(
        hand,
        mo.nn.Sequential(mo.nn.Linear(3, 8), mo.nn.BatchNorm1d(8), mo.nn.Linear(8, 8)),
    )
    critic = seeded(hand, classifier(hand))
    of_generator, of_critic = (mo.optim.Adam(net.parameters(), 0.01) for net in (generator, critic))

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.fake = generator(hand.array(12, 3))
        of_real = mo.softplus(-critic(hand.array(12, 8))).mean()
        of_fake = mo.softplus(critic(n.fake.detach())).mean()
        of_critic.step(of_real + of_fake)
        loss = mo.softplus(-critic(n.fake)).mean()
        hand.drop()
        of_generator.step(loss)
        return [loss.item(), of_fake.item(), critic[1].running_var.numpy()]

    return step


@loop(programs=1.1)
def batches_at_random_lines(hand: Hand) -> Step:
    net = seeded(hand, classifier(hand))
    optimizer = mo.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        n = hand.begin()
        n.x, n.y = hand.array(16, 8), hand.indices(4, 16)
        if hand.rng.random() < 0.5:
            n.z = net(n.x)
        else:
            n.z = net(n.x + 0.1)
        loss = mo.nn.cross_entropy_loss(n.z, n.y)
        hand.drop()
        optimizer.step(loss)
        return [loss.item()] if i % 10 == 9 else []

    return step
