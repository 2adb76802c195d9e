# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LSGAN: adversarial networks that are trained by squares.

Mao et al., "Least Squares Generative Adversarial Networks", 2017, whose losses are
`least_squares_loss`. The networks, and the names of their parameters, are those of
eriklindernoren's PyTorch-GAN.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .checks import check_counts, check_images, check_multiple

__all__ = ["LSGANDiscriminator", "LSGANGenerator"]


class LSGANGenerator(nn.Module):
    """Noise to images in [-1, 1], by doublings of the nearest pixel and convolutions.

    Parameters
    ----------
    noise
        How many numbers an image is made of.
    size
        The height and the width of images, a multiple of 4.
    channels
        Those of images.
    """

    def __init__(self, noise: int = 100, size: int = 32, channels: int = 1) -> None:
        check_counts("LSGANGenerator", noise=noise, channels=channels)
        check_multiple("LSGANGenerator", "size", size, 4)
        self.size = size // 4
        self.l1 = nn.Sequential(nn.Linear(noise, 128 * self.size**2))
        self.conv_blocks = nn.Sequential(
            nn.Upsample(scale_factor=2),
            nn.Conv2d(128, 128, 3, padding=1),
            nn.BatchNorm2d(128, 0.8),
            nn.LeakyReLU(0.2),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(128, 64, 3, padding=1),
            nn.BatchNorm2d(64, 0.8),
            nn.LeakyReLU(0.2),
            nn.Conv2d(64, channels, 3, padding=1),
            nn.Tanh(),
        )

    def execute(self, x: Var) -> Var:
        """Return images of noise, ``(N, noise)``."""
        return self.conv_blocks(self.l1(x).reshape(x.shape[0], 128, self.size, self.size))


class LSGANDiscriminator(nn.Module):
    """Images to scores, which shall be 1 of real ones and 0 of others.

    Parameters
    ----------
    size
        The height and the width of images, a multiple of 16.
    channels
        Those of images.
    dropout
        The probability with which channels are left out.
    """

    def __init__(self, size: int = 32, channels: int = 1, dropout: float = 0.25) -> None:
        check_counts("LSGANDiscriminator", channels=channels)
        check_multiple("LSGANDiscriminator", "size", size, 16)
        layers: list[nn.Module] = []
        inputs = channels
        for outputs in (16, 32, 64, 128):
            layers += [nn.Conv2d(inputs, outputs, 3, 2, padding=1), nn.LeakyReLU(0.2)]
            layers.append(nn.Dropout2d(dropout))
            layers += [nn.BatchNorm2d(outputs, 0.8)] if outputs > 16 else []
            inputs = outputs
        self.channels, self.size = channels, size
        self.model = nn.Sequential(layers)
        self.adv_layer = nn.Linear(inputs * (size // 16) ** 2, 1)

    def execute(self, x: Var) -> Var:
        """Return the scores of images, ``(N,)``.

        Raises
        ------
        ValueError
            If images have another size.
        """
        check_images("LSGANDiscriminator", x, self.channels, self.size, self.size)
        return self.adv_layer(self.model(x).flatten(1)).flatten()
