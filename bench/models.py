# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that are trained, in MetaOps; residual networks are those of `metaops.models`.

Parameters come in the order of PyTorch's modules of the same structure
(torch_models.py), with the same shapes, so weights go over by position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn
from metaops.models import resnet18, resnet50

__all__ = ["Transformer", "digits", "load", "mlp", "resnet18", "resnet50"]


def mlp(inputs: int = 784, hidden: int = 128, classes: int = 10) -> mo.Module:
    """Return a classifier of two linear layers."""
    return mo.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, classes))


def digits() -> mo.Module:
    """Return the model of examples/digits.py."""
    return mo.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, 10),
    )


class Attention(mo.Module):
    """Scaled dot products of several heads, each position with all before it."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the mixed positions of x, (batch, length, width)."""
        N, L, W = x.shape
        depth = W // self.heads
        q, k, v = (
            part.reshape(N, L, self.heads, depth).transpose(0, 2, 1, 3)
            for part in self.qkv(x).split(3, dim=2)
        )
        scores = (q @ k.transpose(0, 1, 3, 2)) * (1.0 / math.sqrt(depth))
        place = mo.arange(L)
        visible = place.reshape(L, 1) >= place.reshape(1, L)
        weights = mo.softmax(mo.where(visible, scores, -1e9), -1)
        return self.out((weights @ v).transpose(0, 2, 1, 3).reshape(N, L, W))


class Layer(mo.Module):
    """Attention and two linear layers, each after a norm and beside a short cut."""

    def __init__(self, width: int, heads: int) -> None:
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the layer's positions."""
        x = x + self.attention(self.norm1(x))
        return x + self.down(mo.gelu(self.up(self.norm2(x))))


class Transformer(mo.Module):
    """A language model; a token's vector is a row of `embedding`."""

    def __init__(self, tokens: int, length: int, width: int, heads: int, layers: int) -> None:
        self.embedding = mo.randn(tokens, width) * 0.02
        self.place = mo.randn(length, width) * 0.02
        self.layers = mo.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the scores of the tokens after x, (batch, length), integers."""
        # A product with one-hot rows: the row of each token.
        hot = mo.one_hot(x, self.embedding.shape[0])
        vectors = hot.reshape(-1, hot.shape[-1]) @ self.embedding
        vectors = vectors.reshape(*x.shape, -1) + self.place
        return self.head(self.norm(self.layers(vectors)))


def load(model: mo.Module, weights: Sequence[np.ndarray]) -> None:
    """Set the parameters of a model, by position."""
    parameters = model.parameters()
    for parameter, weight in zip(parameters, weights, strict=True):
        assert parameter.shape == weight.shape, (parameter.shape, weight.shape)
        parameter.assign(mo.array(weight))
    mo.sync(parameters)
