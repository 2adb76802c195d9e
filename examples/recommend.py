# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains neural collaborative filtering on made data: who likes what.

Users and items have hidden traits, and a user likes an item whose traits fit. The exit code
says whether, of an item that a user likes and one that they do not, it ranks the former
higher in 85% of pairs that it has not seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from tqdm import trange

GOAL = 0.85
USERS, ITEMS, TRAITS = 300, 200, 4


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, recommend, and return the share of pairs in the right order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=512)
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    users, items = rng.normal(size=(USERS, TRAITS)), rng.normal(size=(ITEMS, TRAITS))
    likes = (users @ items.T > 1).astype("float32")
    is_seen = rng.random(likes.shape) < 0.5
    seen = np.argwhere(is_seen)
    model = mo.models.NCF(USERS, ITEMS, 8)
    optimizer = mo.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-2)

    @mo.jit
    def step(user: mo.Var, item: mo.Var, liked: mo.Var) -> mo.Var:
        loss = nn.bce_with_logits_loss(model(user, item), liked)
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="training"):
        user, item = seen[rng.integers(0, len(seen), options.batch)].T
        loss = step(mo.array(user), mo.array(item), mo.array(likes[user, item]))
        loss.fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    user, item = np.argwhere(~is_seen).T
    scores = np.full(likes.shape, -np.inf)
    scores[user, item] = model.eval()(mo.array(user), mo.array(item)).numpy()
    in_order = []
    for row, liked, hidden in zip(scores, likes, ~is_seen, strict=True):
        better, worse = row[hidden & (liked == 1)], row[hidden & (liked == 0)]
        in_order.append((better[:, None] > worse).ravel())
    share = float(np.concatenate(in_order).mean())
    for who in range(4):
        best = np.argsort(-scores[who])[:8]
        told = ", ".join(f"{item}{'' if likes[who, item] else ' (no)'}" for item in best)
        print(f"user {who} may like items {told}")
    print(f"cross entropy {losses[0]:.3f} at first, {losses[-1]:.3f} at last; {share:.1%} in order")
    return share


if __name__ == "__main__":
    if (_share := main()) < GOAL:
        sys.exit(f"{_share:.1%} in order, expected {GOAL:.0%}")
