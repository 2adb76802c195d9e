# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains an LSTM encoder-decoder with attention to write dates another way.

"march 7 1985" is to become "1985-03-07", letter by letter. The exit code says whether 90% of
dates that it has not seen are right.
"""

from __future__ import annotations

import argparse
import calendar
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from tqdm import trange

GOAL = 0.9
MONTHS = [name.lower() for name in calendar.month_name[1:]]
LETTERS = " -0123456789abcdefghijklmnopqrstuvwxyz"
#: The letter before a text, the letters of a date, and the longest way to write one.
FIRST, LENGTH, LONGEST = 0, 10, 17


def encode(texts: Sequence[str], length: int) -> np.ndarray:
    """Return texts as numbers of letters, with spaces behind them."""
    return np.array([[LETTERS.index(letter) for letter in text.ljust(length)] for text in texts])


def draw_dates(count: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return dates, written both ways."""
    sources, targets = [], []
    for _ in range(count):
        year, month, day = rng.integers((1900, 1, 1), (2100, 13, 29))
        name = MONTHS[month - 1]
        forms = (f"{name} {day} {year}", f"{day} {name} {year}", f"{name[:3]} {day} {year}")
        sources.append(forms[rng.integers(3)])
        targets.append(f"{year}-{month:02}-{day:02}")
    return sources, targets


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, translate, and return the share of dates that are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    model = mo.models.Seq2Seq(len(LETTERS), len(LETTERS), 64)
    optimizer = mo.optim.Adam(model.parameters(), lr=4e-3)

    @mo.jit
    def step(source: mo.Var, target: mo.Var) -> mo.Var:
        scores = model(source, target[:, :-1])
        flat = scores.reshape(-1, len(LETTERS))
        loss = nn.cross_entropy_loss(flat, target[:, 1:].reshape(-1))
        optimizer.step(loss)
        return loss

    losses: list[float] = []
    for _ in trange(options.steps, desc="training"):
        sources, targets = draw_dates(options.batch, rng)
        target = np.pad(encode(targets, LENGTH), ((0, 0), (1, 0)), constant_values=FIRST)
        loss = step(mo.array(encode(sources, LONGEST)), mo.array(target))
        loss.fetch(lambda value: losses.append(value.item()))
    mo.sync_all()

    sources, targets = draw_dates(200, rng)
    found = model.translate(mo.array(encode(sources, LONGEST)), FIRST, LENGTH).numpy()
    written = ["".join(LETTERS[number] for number in row) for row in found]
    for source, text, target in list(zip(sources, written, targets, strict=True))[:8]:
        print(f"{source:{LONGEST}} -> {text}  {'' if text == target else 'expected ' + target}")
    share = float(np.mean([text == target for text, target in zip(written, targets, strict=True)]))
    print(f"cross entropy {losses[0]:.2f} at first, {losses[-1]:.3f} at last; {share:.1%} right")
    return share


if __name__ == "__main__":
    if (_share := main()) < GOAL:
        sys.exit(f"{_share:.1%} right, expected {GOAL:.0%}")
