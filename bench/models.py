# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that are measured, in MetaOps.

Parameters come in the order of PyTorch's modules of the same structure
(torch_models.py), with the same shapes, so weights go over by position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import metaops as mo
import numpy as np
from metaops import nn


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


class BasicBlock(mo.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.short = None
        if stride != 1 or inputs != outputs:
            self.short = mo.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the block's image."""
        y = self.norm2(self.conv2(mo.relu(self.norm1(self.conv1(x)))))
        return mo.relu(y + (x if self.short is None else self.short(x)))


class Bottleneck(mo.Module):
    """Three convolutions, the middle one of fewer channels, beside a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        inner = outputs // 4
        self.conv1 = nn.Conv2d(inputs, inner, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(inner)
        self.conv3 = nn.Conv2d(inner, outputs, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(outputs)
        self.short = None
        if stride != 1 or inputs != outputs:
            self.short = mo.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the block's image."""
        y = mo.relu(self.norm1(self.conv1(x)))
        y = self.norm3(self.conv3(mo.relu(self.norm2(self.conv2(y)))))
        return mo.relu(y + (x if self.short is None else self.short(x)))


Block = type[BasicBlock] | type[Bottleneck]


class ResNet(mo.Module):
    """He et al. (2016). `small` images, as CIFAR's, have a stem of one convolution."""

    def __init__(self, block: Block, counts: Sequence[int], classes: int, small: bool) -> None:
        kernel, stride = (3, 1) if small else (7, 2)
        self.conv = nn.Conv2d(3, 64, kernel, stride, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(64)
        self.pool = nn.Identity() if small else nn.MaxPool2d(3, 2, padding=1)
        blocks: list[mo.Module] = []
        inputs, outputs = 64, 256 if block is Bottleneck else 64
        for stage, count in enumerate(counts):
            for place in range(count):
                blocks.append(block(inputs, outputs, 2 if stage > 0 and place == 0 else 1))
                inputs = outputs
            outputs *= 2
        self.blocks = mo.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the scores of images."""
        x = self.blocks(self.pool(mo.relu(self.norm(self.conv(x)))))
        return self.head(x.mean((2, 3)))


def resnet18(classes: int, small: bool) -> mo.Module:
    """Return a network of basic blocks."""
    return ResNet(BasicBlock, (2, 2, 2, 2), classes, small)


def resnet50(classes: int, small: bool) -> mo.Module:
    """Return a network of bottlenecks."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes, small)


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
