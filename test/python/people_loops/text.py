# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation of text with caches, and beams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo

from .hand import Hand, Step, loop


def decoding(cache: str, named: bool) -> Callable[[Hand], Step]:
    """A token after another: attention over all keys so far, and a greedy choice."""

    def make(hand: Hand) -> Step:
        most = 64
        table, q, k, v = (hand.array(*s, scale=0.5) for s in [(20, 8), (8, 8), (8, 8), (8, 8)])
        state: dict[str, Any] = {"token": mo.array([3])}
        if cache == "insert":
            state["keys"], state["values"] = mo.zeros((most, 8)), mo.zeros((most, 8))
        else:
            state["keys"] = state["values"] = None
        rows: dict[str, list[Any]] = {"keys": [], "values": []}

        def extend(name: str, row: Any, i: int) -> Any:
            if cache == "insert":
                state[name][i : i + 1] = row
            elif cache == "list":
                if i == 0:
                    rows[name].clear()
                rows[name].append(row)
                state[name] = mo.concat(rows[name])
            elif state[name] is None:
                state[name] = row
            else:
                state[name] = mo.concat([state[name], row])
            return state[name]

        def step(i: int) -> list[Any]:
            i %= 24
            if i == 0 and cache != "insert":
                state["keys"] = state["values"] = None
            n = hand.begin()
            with mo.no_grad():
                x = table[state["token"]]
                keys, values = extend("keys", x @ k, i), extend("values", x @ v, i)
                scores = (x @ q) @ keys.T
                if cache == "insert":
                    scores = mo.where(mo.arange(most) <= i, scores, -1e9)
                weights = mo.softmax(scores, dim=1)
                if named:
                    n.weights = weights
                logits = (x + weights @ values) @ table.T
                del weights, scores
                hand.drop()
                state["token"] = logits.argmax(1)
                return [state["token"].item()]

        return step

    make.__name__ = f"decoding_with_{cache}_{'named' if named else 'unnamed'}"
    return make


for _named in (False, True):
    loop(programs=1)(decoding("concat", _named))
    loop(programs=1)(decoding("insert", _named))
    loop(programs=1)(decoding("list", _named))


@loop(programs=1)
def beams(hand: Hand) -> Step:
    table = hand.array(12, 6, scale=0.7)
    state = {"cache": hand.array(3, 4, 6), "scores": mo.zeros(3)}

    def step(i: int) -> list[Any]:
        n = hand.begin()
        with mo.no_grad():
            n.logits = mo.tanh(state["cache"].sum(1)) @ table.T
            total = (state["scores"].reshape(3, 1) + n.logits).reshape(-1)
            best, place = mo.topk(total, 3)
            hand.drop()
            row = place // 12
            state["cache"] = state["cache"][row] * 0.9
            state["scores"] = best - best.max()
            return [state["scores"].sum().item()]

    return step
