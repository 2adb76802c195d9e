# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small GPT on the project's own documents, and has it write.

It reads the documents letter by letter and learns which letter comes next. The exit code says
whether a letter of held-out text costs at most 3.3 bits.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from tqdm import trange

GOAL = 3.3
DOCUMENTS = pathlib.Path(__file__).parents[1] / "docs"


def read_documents() -> tuple[str, np.ndarray]:
    """Return the letters that there are, and the documents as numbers of letters."""
    text = "".join(path.read_text() for path in sorted(DOCUMENTS.glob("*.md")))
    text = "".join(letter for letter in text if letter.isascii())
    letters = "".join(sorted(set(text)))
    numbers = {letter: number for number, letter in enumerate(letters)}
    return letters, np.array([numbers[letter] for letter in text], "int32")


def draw_batch(text: np.ndarray, batch: int, length: int, rng: np.random.Generator) -> mo.Var:
    """Return pieces of the text, each with the letter after it."""
    starts = rng.integers(0, len(text) - length, batch)
    return mo.array(text[starts[:, None] + np.arange(length + 1)])


def bits_of(model: nn.Module, pieces: mo.Var) -> mo.Var:
    """Return what a letter costs, in bits, the mean of all."""
    scores = model(pieces[:, :-1])
    loss = nn.cross_entropy_loss(scores.reshape(-1, scores.shape[-1]), pieces[:, 1:].reshape(-1))
    return loss / math.log(2)


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, write, and return the bits of a letter of held-out text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128, help="letters of a piece")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--begin", default="The compiler ", help="what texts begin with")
    options = parser.parse_args(arguments)

    mo.seed(0)
    rng = np.random.default_rng(0)
    letters, text = read_documents()
    held_out, text = text[: len(text) // 20], text[len(text) // 20 :]
    model = mo.models.GPT2LMHeadModel(
        len(letters), options.length, options.width, options.layers, 4, 0.0, initializer_range=0.08
    )
    optimizer = mo.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.99))
    schedule = mo.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps, eta_min=3e-4)

    @mo.jit
    def step(pieces: mo.Var) -> mo.Var:
        bits = bits_of(model, pieces)
        optimizer.step(bits)
        return bits

    found: list[float] = []
    for _ in trange(options.steps, desc="training"):
        bits = step(draw_batch(text, options.batch, options.length, rng))
        bits.fetch(lambda value: found.append(value.item()))
        schedule.step()
    mo.sync_all()

    model.eval()
    bits = bits_of(model, draw_batch(held_out, 64, options.length, rng)).item()
    begin = mo.array([[letters.index(letter) for letter in options.begin]] * 4)
    count = options.length - len(options.begin)
    for text in model.generate(begin, count, temperature=0.7).numpy():
        print("".join(letters[number] for number in text), end="\n\n")
    print(f"a letter costs {found[0]:.2f} bits at first, {bits:.2f} of held-out text at last")
    return bits


if __name__ == "__main__":
    if (_bits := main()) > GOAL:
        sys.exit(f"a letter costs {_bits:.2f} bits, expected at most {GOAL}")
