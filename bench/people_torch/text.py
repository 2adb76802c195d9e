# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation of text with caches, and beams."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .hand import Hand, Make, Step, loop

#: The rows of a cache that is written, and the tokens after which a text begins anew.
MOST, LENGTH = 64, 24


def concatenated(past: Tensor, row: Tensor, i: int) -> Tensor:
    """Return a cache that is longer by a row."""
    return row if i == 0 else torch.cat([past, row])


def inserted(past: Tensor, row: Tensor, i: int) -> Tensor:
    """Return a cache of fixed size with a row written."""
    past[i : i + 1] = row
    return past


def decoding(cache: str, named: bool) -> Make:
    """Return a loop of tokens: attention over all keys so far, and a greedy choice."""
    extended = inserted if cache == "insert" else concatenated

    def make(hand: Hand) -> Step:
        table, q, k, v = (hand.array(*s, scale=0.5) for s in [(20, 8), (8, 8), (8, 8), (8, 8)])
        token = torch.tensor([3])
        keys, values = torch.zeros(MOST, 8), torch.zeros(MOST, 8)

        @torch.no_grad()
        def step(i: int) -> list[Any]:
            nonlocal token, keys, values
            i %= LENGTH
            x = table[token]
            keys, values = extended(keys, x @ k, i), extended(values, x @ v, i)
            scores = (x @ q) @ keys.T
            if cache == "insert":
                scores = torch.where(torch.arange(MOST) <= i, scores, -1e9)
            logits = (x + F.softmax(scores, dim=1) @ values) @ table.T
            token = logits.argmax(1)
            return [token.item()]

        return step

    make.__name__ = f"decoding_with_{cache}_{'named' if named else 'unnamed'}"
    return make


for _named in (False, True):
    loop(decoding("concat", _named))
    loop(decoding("insert", _named))


@loop
def beams(hand: Hand) -> Step:
    table = hand.array(12, 6, scale=0.7)
    cache, scores = hand.array(3, 4, 6), torch.zeros(3)

    @torch.no_grad()
    def step(i: int) -> list[Any]:
        nonlocal cache, scores
        logits = torch.tanh(cache.sum(1)) @ table.T
        total = (scores.reshape(3, 1) + logits).reshape(-1)
        best, place = torch.topk(total, 3)
        row = place // 12
        cache = cache[row] * 0.9
        scores = best - best.max()
        return [scores.sum().item()]

    return step
