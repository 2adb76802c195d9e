# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DCGAN: images out of noise by transposed convolutions.

Radford, Metz and Chintala, "Unsupervised Representation Learning with Deep Convolutional
Generative Adversarial Networks", 2016. Names of parameters are those of PyTorch's example.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from ..ops.create import creation
from .checks import check_counts

__all__ = ["DCGANDiscriminator", "DCGANGenerator"]


def _set_weights(model: nn.Module) -> None:
    """Set weights as section 4 says: normal numbers of deviation 0.02."""
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
            layer.weight = nn.init.normal(layer.weight.shape, std=0.02)
        elif isinstance(layer, nn.BatchNorm2d):
            layer.weight = nn.init.normal((layer.num_features,), 1.0, 0.02)
            layer.bias = creation.zeros((layer.num_features,))


class DCGANGenerator(nn.Module):
    """Noise to images of 64 x 64 in [-1, 1] (section 3, Figure 1).

    Parameters
    ----------
    noise
        How many numbers an image is made of.
    features
        The channels before the last layer.
    channels
        Those of images.
    stages
        How often the first image, of 4 x 4, is doubled; 4 make it 64 x 64.
    """

    def __init__(
        self, noise: int = 100, features: int = 64, channels: int = 3, stages: int = 4
    ) -> None:
        check_counts(
            "DCGANGenerator", noise=noise, features=features, channels=channels, stages=stages
        )
        self.noise = noise
        width = features << (stages - 1)
        layers: list[nn.Module] = [nn.ConvTranspose2d(noise, width, 4, bias=False)]
        for _ in range(stages - 1):
            layers += [nn.BatchNorm2d(width), nn.ReLU()]
            layers.append(nn.ConvTranspose2d(width, width // 2, 4, 2, padding=1, bias=False))
            width //= 2
        layers += [nn.BatchNorm2d(width), nn.ReLU()]
        layers.append(nn.ConvTranspose2d(width, channels, 4, 2, padding=1, bias=False))
        self.main = nn.Sequential(*layers, nn.Tanh())
        _set_weights(self)

    def execute(self, x: Var) -> Var:
        """Return images of noise, ``(N, noise)``."""
        return self.main(x.reshape(x.shape[0], self.noise, 1, 1))


class DCGANDiscriminator(nn.Module):
    """Images of 64 x 64 to scores: the higher, the more an image is taken for a real one.

    Parameters
    ----------
    features
        The channels behind the first layer.
    channels
        Those of images.
    stages
        How often the image is halved until it is 4 x 4; 4 are for 64 x 64.
    batch_norm
        Whether there are batch norms; a critic with a gradient penalty has none.
    """

    def __init__(
        self, features: int = 64, channels: int = 3, stages: int = 4, batch_norm: bool = True
    ) -> None:
        check_counts("DCGANDiscriminator", features=features, channels=channels, stages=stages)
        width = features
        first = nn.Conv2d(channels, width, 4, 2, padding=1, bias=False)
        layers: list[nn.Module] = [first, nn.LeakyReLU(0.2)]
        for _ in range(stages - 1):
            layers.append(nn.Conv2d(width, 2 * width, 4, 2, padding=1, bias=False))
            layers += [nn.BatchNorm2d(2 * width)] if batch_norm else []
            layers.append(nn.LeakyReLU(0.2))
            width *= 2
        self.main = nn.Sequential(*layers, nn.Conv2d(width, 1, 4, bias=False))
        _set_weights(self)

    def execute(self, x: Var) -> Var:
        """Return the scores of images, ``(N,)``: logits of their being real."""
        return self.main(x).flatten()
