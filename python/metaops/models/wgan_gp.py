# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WGAN-GP: a critic whose slope is held at 1.

Gulrajani et al., "Improved Training of Wasserstein GANs", 2017, whose losses are
`wasserstein_critic_loss` and `wasserstein_loss`. The networks, and the names of their
parameters, are those of eriklindernoren's PyTorch-GAN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import nn
from .._core import Var
from .checks import check_counts, check_each

__all__ = ["WGANCritic", "WGANGenerator"]


class WGANGenerator(nn.Module):
    """Noise to images in [-1, 1], by five linear layers.

    Parameters
    ----------
    noise
        How many numbers an image is made of.
    shape
        The channels, the height and the width of images.
    """

    def __init__(self, noise: int = 100, shape: Sequence[int] = (1, 28, 28)) -> None:
        check_counts("WGANGenerator", noise=noise)
        check_each("WGANGenerator", "shape", shape)
        self.shape = tuple(shape)
        layers: list[nn.Module] = [nn.Linear(noise, 128), nn.LeakyReLU(0.2)]
        for width in (256, 512, 1024):
            layers += [nn.Linear(width // 2, width), nn.BatchNorm1d(width, 0.8)]
            layers.append(nn.LeakyReLU(0.2))
        layers += [nn.Linear(1024, math.prod(shape)), nn.Tanh()]
        self.model = nn.Sequential(layers)

    def execute(self, x: Var) -> Var:
        """Return images of noise, ``(N, noise)``."""
        return self.model(x).reshape(x.shape[0], *self.shape)


class WGANCritic(nn.Module):
    """Images to scores, by three linear layers without norms (section 4).

    Parameters
    ----------
    shape
        The channels, the height and the width of images.
    """

    def __init__(self, shape: Sequence[int] = (1, 28, 28)) -> None:
        check_each("WGANCritic", "shape", shape)
        self.model = nn.Sequential(
            nn.Linear(math.prod(shape), 512),
            nn.LeakyReLU(0.2),
            nn.Linear(512, 256),
            nn.LeakyReLU(0.2),
            nn.Linear(256, 1),
        )

    def execute(self, x: Var) -> Var:
        """Return the scores of images, ``(N,)``."""
        return self.model(x.flatten(1)).flatten()
