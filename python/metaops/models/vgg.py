# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""VGG: stacks of convolutions of 3 x 3.

Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition",
2015. Names of parameters are torchvision's.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import nn
from .._core import Var
from ..ops.create import creation
from .checks import check_counts, check_each
from .initial import set_he_weights

__all__ = [
    "VGG",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

#: Channels of each stage's convolutions (Table 1: A, B, D, E).
_STAGES = {
    11: ((64,), (128,), (256,) * 2, (512,) * 2, (512,) * 2),
    13: ((64,) * 2, (128,) * 2, (256,) * 2, (512,) * 2, (512,) * 2),
    16: ((64,) * 2, (128,) * 2, (256,) * 3, (512,) * 3, (512,) * 3),
    19: ((64,) * 2, (128,) * 2, (256,) * 4, (512,) * 4, (512,) * 4),
}


class VGG(nn.Module):
    """Stages of convolutions, each of which halves the image, and three linear layers.

    Parameters
    ----------
    stages
        The channels of each stage's convolutions.
    num_classes
        How many scores an image gets.
    batch_norm
        Whether each convolution is followed by `BatchNorm2d`.
    dropout
        The probability of `Dropout` before the last two linear layers.
    """

    def __init__(
        self,
        stages: Sequence[Sequence[int]],
        num_classes: int = 1000,
        batch_norm: bool = False,
        dropout: float = 0.5,
    ) -> None:
        check_counts("VGG", num_classes=num_classes, stages=len(stages))
        layers: list[nn.Module] = []
        inputs = 3
        for stage in stages:
            check_each("VGG", "stages", stage)
            for outputs in stage:
                layers.append(nn.Conv2d(inputs, outputs, 3, padding=1))
                layers += [nn.BatchNorm2d(outputs)] if batch_norm else []
                layers.append(nn.ReLU())
                inputs = outputs
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(layers)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(inputs * 7 * 7, 4096),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )
        set_he_weights(self)
        for layer in self.classifier:
            if isinstance(layer, nn.Linear):
                layer.weight = nn.init.normal(layer.weight.shape, std=0.01)
                layer.bias = creation.zeros((layer.out_features,))

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def vgg11(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 11 layers (Table 1, A)."""
    return VGG(_STAGES[11], num_classes, False, dropout)


def vgg11_bn(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 11 layers, and batch norms."""
    return VGG(_STAGES[11], num_classes, True, dropout)


def vgg13(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 13 layers (Table 1, B)."""
    return VGG(_STAGES[13], num_classes, False, dropout)


def vgg13_bn(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 13 layers, and batch norms."""
    return VGG(_STAGES[13], num_classes, True, dropout)


def vgg16(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 16 layers (Table 1, D)."""
    return VGG(_STAGES[16], num_classes, False, dropout)


def vgg16_bn(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 16 layers, and batch norms."""
    return VGG(_STAGES[16], num_classes, True, dropout)


def vgg19(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 19 layers (Table 1, E)."""
    return VGG(_STAGES[19], num_classes, False, dropout)


def vgg19_bn(num_classes: int = 1000, dropout: float = 0.5) -> VGG:
    """Return `VGG` of 19 layers, and batch norms."""
    return VGG(_STAGES[19], num_classes, True, dropout)
