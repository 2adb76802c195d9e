# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that differentiate within a step: to second order, by moved parameters, by states."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import grad

from .hand import Hand, Step, apply, loop, move


@loop
def sharpness_aware(hand: Hand) -> Step:
    w = hand.parameter(6, 3, scale=0.4)
    optimizer = torch.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        x = hand.array(12, 6)
        loss = (torch.tanh(x @ w) ** 2).mean()
        (g,) = grad(loss, w)
        moved = (w.detach() + 0.05 * g / (g * g).sum().sqrt()).requires_grad_()
        second = (torch.tanh(x @ moved) ** 2).mean()
        (gradient,) = grad(second, moved)
        apply(optimizer, w, gradient)
        return [second.item()]

    return step


@loop
def inner_steps(hand: Hand) -> Step:
    w = hand.parameter(6, 3, scale=0.4)
    optimizer = torch.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        x, y = hand.array(12, 6), hand.array(12, 3)
        fast = w
        for _ in range(2):
            inner = ((x @ fast - y) ** 2).mean()
            (gradient,) = grad(inner, fast, create_graph=True)
            fast = fast - 0.1 * gradient
        outer = ((x @ fast - y) ** 2).mean()
        move(optimizer, outer)
        return [outer.item()]

    return step


@loop
def gradient_penalty(hand: Hand) -> Step:
    w = hand.parameter(6, 1, scale=0.4)
    optimizer = torch.optim.SGD([w], 0.02)

    def step(i: int) -> list[Any]:
        x = hand.array(12, 6).requires_grad_()
        out = torch.tanh(x @ w).sum()
        (slope,) = grad(out, x, create_graph=True)
        loss = out * 0.1 + ((slope * slope).sum(1).sqrt() - 1.0).pow(2).mean()
        move(optimizer, loss)
        return [loss.item()]

    return step


@loop
def hamiltonian(hand: Hand) -> Step:
    state = hand.array(8)

    def slope(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_()
        return grad((x * x * 0.5 + torch.cos(x)).sum(), x)[0]

    def step(i: int) -> list[Any]:
        nonlocal state
        x, p = state, hand.array(8)
        for _ in range(3):
            p = p - 0.05 * slope(x)
            x = x + 0.1 * p
            p = p - 0.05 * slope(x)
        state = x
        return [state.sum().item()]

    return step


@loop
def newton(hand: Hand) -> Step:
    state = hand.array(6)

    def step(i: int) -> list[Any]:
        nonlocal state
        x = (state + 0.01).requires_grad_()
        (g,) = grad((x**4 * 0.25 + torch.exp(-x)).sum(), x, create_graph=True)
        (h,) = grad(g.sum(), x)
        state = (x - 0.5 * g / (h + 1.0)).detach()
        return [state.sum().item()]

    return step
