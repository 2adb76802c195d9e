# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AlexNet, of one tower.

Krizhevsky, "One Weird Trick for Parallelizing Convolutional Neural Networks", 2014, section
5. Names of parameters are torchvision's.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .checks import check_counts

__all__ = ["AlexNet", "alexnet"]


class AlexNet(nn.Module):
    """Five convolutions and three linear layers.

    Parameters
    ----------
    num_classes
        How many scores an image gets.
    dropout
        The probability of `Dropout` before the first two linear layers.
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        check_counts("AlexNet", num_classes=num_classes)
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(),
            nn.Linear(4096, num_classes),
        )

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def alexnet(num_classes: int = 1000, dropout: float = 0.5) -> AlexNet:
    """Return `AlexNet`."""
    return AlexNet(num_classes, dropout)
