# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of several models, or by several losses, in turn."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from .hand import Hand, Make, Step, classifier, loop, move, seeded


@loop
def actor_and_critic(hand: Hand) -> Step:
    body, actor = hand.parameter(6, 8, scale=0.4), hand.parameter(8, 3)
    critic = hand.parameter(8, 1)
    optimizer = torch.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        h = torch.tanh(hand.array(12, 6) @ body)
        policy = F.softmax(h @ actor, dim=1)
        value = h @ critic
        actor_loss = (policy * policy.log()).sum(1).mean()
        critic_loss = ((value - 1.0) ** 2).mean()
        optimizer.zero_grad()
        actor_loss.backward(retain_graph=True)
        optimizer.step()
        move(optimizer, critic_loss)
        return [actor_loss.item(), critic_loss.item()]

    return step


@loop
def actor_and_critic_at_once(hand: Hand) -> Step:
    body, actor = hand.parameter(6, 8, scale=0.4), hand.parameter(8, 3)
    critic = hand.parameter(8, 1)
    optimizer = torch.optim.Adam([body, actor, critic], 0.01)

    def step(i: int) -> list[Any]:
        h = torch.tanh(hand.array(12, 6) @ body)
        actor_loss = ((h @ actor) ** 2).mean()
        critic_loss = ((h @ critic - 1.0) ** 2).mean()
        move(optimizer, actor_loss + critic_loss)
        return [actor_loss.item()]

    return step


def gan(critics: int) -> Make:
    """Return a loop of a generator, and of a critic that takes so many steps for one."""

    def make(hand: Hand) -> Step:
        generator = seeded(hand, nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)))
        critic = seeded(hand, nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
        of_generator = torch.optim.Adam(generator.parameters(), 0.01)
        of_critic = torch.optim.Adam(critic.parameters(), 0.01)

        def step(i: int) -> list[Any]:
            for _ in range(critics):
                real, noise = hand.array(12, 2), hand.array(12, 3)
                fake = generator(noise)
                move(of_critic, critic(fake.detach()).mean() - critic(real).mean())
            loss = -critic(fake).mean()
            move(of_generator, loss)
            return [loss.item()]

        return step

    make.__name__ = f"gan_of_{critics}_critics"
    return make


loop(gan(1))
loop(gan(3))


@loop
def serving_between_steps(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.indices(4, 16)
        move(optimizer, F.cross_entropy(net(x), y))
        net.eval()
        with torch.no_grad():
            answer = net(hand.array(1, 8)).numpy()
        net.train()
        return [answer]

    return step


@loop
def two_heads_in_turn(hand: Hand) -> Step:
    body = hand.parameter(6, 8, scale=0.4)
    one, two = hand.parameter(8, 3), hand.parameter(8, 3)
    optimizer = torch.optim.Adam([body, one, two], 0.01, weight_decay=0.1)

    def step(i: int) -> list[Any]:
        h = torch.tanh(hand.array(12, 6) @ body)
        loss = ((h @ (one if i % 2 else two)) ** 2).mean()
        move(optimizer, loss)
        return [loss.item(), float(i + 1)]

    return step


@loop
def ten_models_in_turn(hand: Hand) -> Step:
    models = [hand.parameter(6, 3, scale=0.3) for _ in range(10)]
    optimizers = [torch.optim.SGD([w], 0.02) for w in models]

    def step(i: int) -> list[Any]:
        loss = ((hand.array(12, 6) @ models[i % 10]) ** 2).mean()
        move(optimizers[i % 10], loss)
        return [loss.item()]

    return step


@loop
def statistics_between_loss_and_gradient(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        x, y = hand.array(16, 8), hand.indices(4, 16)
        loss = F.cross_entropy(net(x), y)
        seen = [loss.item(), net[1].running_var.numpy()]
        move(optimizer, loss)
        return seen

    return step


@loop
def siamese(hand: Hand) -> Step:
    net = seeded(hand, classifier())
    optimizer = torch.optim.SGD(net.parameters(), 0.02)

    def step(i: int) -> list[Any]:
        a = net(hand.array(16, 8))
        first = a.sum().item()
        b = net(hand.array(16, 8))
        loss = ((a - b) ** 2).mean()
        move(optimizer, loss)
        return [first, loss.item()]

    return step
