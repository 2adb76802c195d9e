# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The network of DDPM: a U-Net that is told the step.

Ho, Jain and Abbeel, "Denoising Diffusion Probabilistic Models", 2020, appendix B.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from .._errors import at_line
from ..ops.create import creation
from ..ops.elementwise.activations import silu
from ..ops.elementwise.functions import cos, exp, sin
from ..ops.shape.stacking import concat
from .checks import check_counts, check_each, check_multiple

__all__ = ["DDPMUNet"]


def time_embedding(t: Var, width: int) -> Var:
    """Return sines and cosines of steps, ``(N, width)`` (Vaswani et al., 2017, section 3.5)."""
    half = width // 2
    rates = exp(creation.arange(half, dtype="float32") * (-math.log(10000.0) / (half - 1)))
    angles = t.cast("float32").reshape(-1, 1) * rates
    return concat([sin(angles), cos(angles)], 1)


def _zeroed(layer: nn.Conv2d) -> nn.Conv2d:
    """Return a convolution that gives 0 at first."""
    layer.weight = creation.zeros(layer.weight.shape)
    if layer.bias is not None:
        layer.bias = creation.zeros(layer.bias.shape)
    return layer


class ResidualBlock(nn.Module):
    """Two convolutions beside a short cut; the step is added between them."""

    def __init__(self, inputs: int, outputs: int, times: int, groups: int, dropout: float) -> None:
        self.norm1 = nn.GroupNorm(groups, inputs, eps=1e-6)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(times, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=1e-6)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = _zeroed(nn.Conv2d(outputs, outputs, 3, padding=1))
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def execute(self, x: Var, time: Var) -> Var:
        """Return the block's image."""
        y = self.conv1(silu(self.norm1(x)))
        y = y + self.time(silu(time)).reshape(*y.shape[:2], 1, 1)
        return self.short(x) + self.conv2(self.dropout(silu(self.norm2(y))))


class AttentionBlock(nn.Module):
    """Each pixel attends to all, beside a short cut."""

    def __init__(self, width: int, groups: int) -> None:
        self.norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.proj = _zeroed(nn.Conv2d(width, width, 1))

    def execute(self, x: Var, time: Var) -> Var:
        """Return the block's image."""
        N, C, H, W = x.shape
        pixels = self.qkv(self.norm(x)).reshape(N, 3, C, H * W).transpose(1, 0, 3, 2)
        seen = nn.scaled_dot_product_attention(pixels[0], pixels[1], pixels[2])
        return x + self.proj(seen.transpose(0, 2, 1).reshape(N, C, H, W))


class Halved(nn.Module):
    """Halves the image."""

    def __init__(self, width: int) -> None:
        self.conv = nn.Conv2d(width, width, 3, stride=2, padding=1)

    def execute(self, x: Var, time: Var) -> Var:
        """Return the image of half the size."""
        return self.conv(x)


class Doubled(nn.Module):
    """Doubles the image."""

    def __init__(self, width: int) -> None:
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def execute(self, x: Var, time: Var) -> Var:
        """Return the image of twice the size."""
        return self.conv(nn.interpolate(x, scale_factor=2, mode="nearest"))


class Stage(nn.Module):
    """Parts that are told the step, one after the other."""

    def __init__(self, *parts: nn.Module) -> None:
        self.parts = nn.ModuleList(parts)

    def execute(self, x: Var, time: Var) -> Var:
        """Return the last part's image."""
        for part in self.parts:
            x = part(x, time)
        return x


class DDPMUNet(nn.Module):
    """Noisy images and their steps to the noise that is in them.

    Parameters
    ----------
    channels
        Those of images.
    width
        The channels at the images' full size, a multiple of `groups`.
    multiples
        The channels of each level in multiples of these; each level but the first has images
        of half the size of the one before.
    blocks
        How many residual blocks a level has on the way down; it is one more on the way up.
    attention
        The levels whose pixels attend to each other.
    dropout
        The part of what is within a block that is dropped.
    groups
        The groups of norms.
    """

    def __init__(
        self,
        channels: int = 3,
        width: int = 128,
        multiples: Sequence[int] = (1, 2, 2, 2),
        blocks: int = 2,
        attention: Sequence[int] = (1,),
        dropout: float = 0.1,
        groups: int = 32,
    ) -> None:
        check_counts("DDPMUNet", channels=channels, blocks=blocks, groups=groups)
        check_multiple("DDPMUNet", "width", width, max(groups, 4))
        check_each("DDPMUNet", "multiples", multiples)
        PROBABILITY.check("DDPMUNet", dropout=dropout)
        self.channels, self.width, self.levels = channels, width, len(multiples)
        times = 4 * width
        self.time = nn.Sequential(nn.Linear(width, times), nn.SiLU(), nn.Linear(times, times))
        self.first = nn.Conv2d(channels, width, 3, padding=1)

        def block(inputs: int, outputs: int, level: int) -> list[nn.Module]:
            made: list[nn.Module] = [ResidualBlock(inputs, outputs, times, groups, dropout)]
            return [*made, AttentionBlock(outputs, groups)] if level in attention else made

        #: The channels of images that the way up sees beside its own.
        seen, inputs = [width], width
        self.down = nn.ModuleList()
        for level, multiple in enumerate(multiples):
            for _ in range(blocks):
                self.down.append(Stage(*block(inputs, multiple * width, level)))
                inputs = multiple * width
                seen.append(inputs)
            if level < self.levels - 1:
                self.down.append(Halved(inputs))
                seen.append(inputs)
        ends = [ResidualBlock(inputs, inputs, times, groups, dropout) for _ in range(2)]
        self.middle = Stage(ends[0], AttentionBlock(inputs, groups), ends[1])
        self.up = nn.ModuleList()
        for level, multiple in reversed(list(enumerate(multiples))):
            for number in range(blocks + 1):
                parts = block(inputs + seen.pop(), multiple * width, level)
                inputs = multiple * width
                if level and number == blocks:
                    parts.append(Doubled(inputs))
                self.up.append(Stage(*parts))
        self.norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.last = _zeroed(nn.Conv2d(width, channels, 3, padding=1))

    def execute(self, x: Var, t: Var) -> Var:
        """Return the noise in images ``(N, channels, H, W)`` after steps ``(N,)``.

        Raises
        ------
        ValueError
            If H or W cannot be halved between all levels, or a shape is another one.
        """
        divisor = 1 << (self.levels - 1)
        if x.ndim != 4 or x.shape[1] != self.channels or any(n % divisor for n in x.shape[2:]):
            raise at_line(
                ValueError(
                    f"DDPMUNet: images have shape {x.shape}, expected (N, {self.channels}, H, W)"
                    f" of multiples of {divisor}"
                )
            )
        if t.shape != x.shape[:1]:
            raise at_line(ValueError(f"DDPMUNet: t has shape {t.shape}, expected {x.shape[:1]}"))
        time = self.time(time_embedding(t, self.width).cast(x.dtype))
        x = self.first(x)
        seen = [x]
        for stage in self.down:
            x = stage(x, time)
            seen.append(x)
        x = self.middle(x, time)
        for stage in self.up:
            x = stage(concat([x, seen.pop()], 1), time)
        return self.last(silu(self.norm(x)))
