# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vision transformers: images as sequences of patches.

Dosovitskiy et al., "An Image Is Worth 16x16 Words", 2021. Names of parameters are
torchvision's.
"""

from __future__ import annotations

import math

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from ..ops.create import creation
from ..ops.shape.stacking import concat
from .checks import check_counts, check_divisor, check_images

__all__ = ["VisionTransformer", "vit_b_16"]


class EncoderBlock(nn.Module):
    """Attention and two linear layers, each after a norm and beside a sum (equations 2, 3)."""

    def __init__(self, heads: int, width: int, inner: int, dropout: float) -> None:
        self.ln_1 = nn.LayerNorm(width, 1e-6)
        self.self_attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = nn.LayerNorm(width, 1e-6)
        wide, narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.mlp = nn.Sequential(wide, nn.GELU(), nn.Dropout(dropout), narrow, nn.Dropout(dropout))
        for layer in (wide, narrow):
            layer.weight = nn.init.xavier_uniform(layer.weight.shape)
            layer.bias = nn.init.normal((layer.out_features,), std=1e-6)

    def execute(self, x: Var) -> Var:
        """Return the block's states."""
        y = self.ln_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, need_weights=False)[0])
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Places are added, and blocks follow one another."""

    def __init__(
        self, length: int, count: int, heads: int, width: int, inner: int, dropout: float
    ) -> None:
        self.pos_embedding = nn.init.normal((1, length, width), std=0.02)
        self.dropout = nn.Dropout(dropout)
        blocks = (EncoderBlock(heads, width, inner, dropout) for _ in range(count))
        self.layers = {f"encoder_layer_{number}": block for number, block in enumerate(blocks)}
        self.ln = nn.LayerNorm(width, 1e-6)

    def execute(self, x: Var) -> Var:
        """Return the last states."""
        x = self.dropout(x + self.pos_embedding)
        for layer in self.layers.values():
            x = layer(x)
        return self.ln(x)


class VisionTransformer(nn.Module):
    """Patches and a token of the class as a sequence; the token's last state gives scores.

    Parameters
    ----------
    image_size
        The height and the width of images.
    patch_size
        Those of patches, which divide them.
    num_layers
        The number of blocks.
    num_heads
        The number of heads, which divides the width.
    hidden_dim
        The width of states.
    mlp_dim
        The width within the linear layers.
    dropout
        The probability of `Dropout` of embeddings, and of what blocks add.
    num_classes
        How many scores an image gets.
    channels
        Those of images.
    """

    def __init__(
        self,
        image_size: int = 224,
        patch_size: int = 16,
        num_layers: int = 12,
        num_heads: int = 12,
        hidden_dim: int = 768,
        mlp_dim: int = 3072,
        dropout: float = 0.0,
        num_classes: int = 1000,
        channels: int = 3,
    ) -> None:
        name = "VisionTransformer"
        check_counts(name, num_layers=num_layers, mlp_dim=mlp_dim)
        check_counts(name, num_classes=num_classes, channels=channels)
        width = hidden_dim
        check_divisor(name, "image_size", image_size, "patch_size", patch_size)
        check_divisor(name, "hidden_dim", hidden_dim, "num_heads", num_heads)
        PROBABILITY.check(name, dropout=dropout)
        self.channels, self.image_size = channels, image_size
        self.class_token = creation.zeros((1, 1, width))
        self.conv_proj = nn.Conv2d(channels, width, patch_size, patch_size)
        length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(length, num_layers, num_heads, width, mlp_dim, dropout)
        self.heads = {"head": nn.Linear(width, num_classes)}
        patch = self.conv_proj
        spread = 1.0 / math.sqrt(nn.init.fans(patch.weight.shape)[0])
        patch.weight = nn.init.trunc_normal(patch.weight.shape, std=spread)
        patch.bias = creation.zeros((width,))
        self.heads["head"].weight = creation.zeros((num_classes, width))
        self.heads["head"].bias = creation.zeros((num_classes,))

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, channels, H, W).

        Raises
        ------
        ValueError
            If images have another size.
        """
        size = self.image_size
        check_images("VisionTransformer", x, self.channels, size, size)
        patches = self.conv_proj(x).flatten(2).transpose(0, 2, 1)
        token = self.class_token.broadcast((x.shape[0], 1, patches.shape[2]))
        states = self.encoder(concat([token, patches], 1))
        return self.heads["head"](states[:, 0])


def vit_b_16(num_classes: int = 1000, dropout: float = 0.0) -> VisionTransformer:
    """Return `VisionTransformer` of the base size and patches of 16 x 16 (Table 1)."""
    return VisionTransformer(num_classes=num_classes, dropout=dropout)
