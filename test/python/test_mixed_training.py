# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trainings under autocast are as accurate as in float32: digits, and a small GPT."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from sklearn.datasets import load_digits

pytestmark = [pytest.mark.processor, pytest.mark.rest]

TYPES = ["bfloat16", "float16"]


def train(model, loss_of, batches, dtype, lr):
    """Return the losses of a training, in float32 where there is no type."""
    optimizer = mo.optim.AdamW(model.parameters(), lr)
    scaler = mo.amp.GradScaler(enabled=dtype == "float16")
    scope = mo.amp.autocast(dtype or "float16", enabled=dtype is not None)

    @mo.jit
    def step(x, y):
        with scope:
            loss = loss_of(model, x, y)
        scaler.step(optimizer, scaler.scale(loss))
        scaler.update()
        return loss

    return [step(mo.array(x), mo.array(y)).item() for x, y in batches]


def train_on_digits(dtype):
    """Return the accuracy on pictures that were not seen."""
    data = load_digits()
    images, labels = (data.images / 16).astype("float32")[:, None], data.target.astype("int64")
    order = np.random.default_rng(0).permutation(len(labels))
    seen, unseen = order[:1400], order[1400:]
    mo.seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    rng = np.random.default_rng(1)
    drawn = (rng.choice(seen, 100) for _ in range(120))
    batches = [(images[places], labels[places]) for places in drawn]

    def loss_of(model, x, y):
        return nn.cross_entropy_loss(model(x), y)

    train(model, loss_of, batches, dtype, 3e-3)
    model.eval()
    with mo.amp.autocast(dtype or "float16", enabled=dtype is not None):
        told = model(mo.array(images[unseen])).argmax(1)
    return (told.numpy() == labels[unseen]).mean()


class GPT(nn.Module):
    """A small GPT of letters."""

    def __init__(self, words, length, width=32):
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            [
                nn.TransformerEncoderLayer(
                    width, 4, 4 * width, 0.0, batch_first=True, norm_first=True
                )
                for _ in range(2)
            ]
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def execute(self, x):
        length = x.shape[1]
        h = self.words(x) + self.places(mo.arange(length))
        mask = mo.triu(mo.ones((length, length)), 1) > 0
        for block in self.blocks:
            h = block(h, mask)
        return self.head(self.norm(h))


def train_on_text(dtype):
    """Return the mean loss of the last steps."""
    text = np.frombuffer((__doc__ or "").encode() * 8, "uint8")
    letters, places = np.unique(text, return_inverse=True)
    rng, length = np.random.default_rng(0), 24
    starts = [rng.integers(0, len(places) - length - 1, 16) for _ in range(150)]
    rows = [np.stack([places[s : s + length + 1] for s in some]) for some in starts]
    mo.seed(0)
    model = GPT(len(letters), length)

    def loss_of(model, x, y):
        return nn.cross_entropy_loss(model(x).reshape((-1, len(letters))), y.reshape(-1))

    batches = [(row[:, :-1], row[:, 1:]) for row in rows]
    return np.mean(train(model, loss_of, batches, dtype, 1e-2)[-20:])


@pytest.mark.parametrize("dtype", TYPES)
def test_digits_are_told_as_well(dtype):
    wide, low = train_on_digits(None), train_on_digits(dtype)
    assert wide > 0.96
    assert low > wide - 0.01


@pytest.mark.parametrize("dtype", TYPES)
def test_a_small_gpt_learns_as_well(dtype):
    wide, low = train_on_text(None), train_on_text(dtype)
    assert wide < 0.4
    assert low < 1.1 * wide
