# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MobileNetV2: inverted residuals with linear bottlenecks.

Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018. Names of
parameters are torchvision's.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from ..ops.create import creation
from .checks import check_counts
from .initial import set_he_weights
from .mobile_blocks import convolution

__all__ = ["MobileNetV2", "mobilenet_v2"]

#: Expansion, channels, blocks and first stride of each stage (Table 2).
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class InvertedResidual(nn.Module):
    """Expands channels, convolves each of them, and projects without an activation.

    Section 3.3, Table 1. The sum with the input is there where shapes agree.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        hidden = inputs * expansion
        self.use_res_connect = stride == 1 and inputs == outputs
        expand = [convolution(inputs, hidden, 1, activation=nn.ReLU6)] if expansion != 1 else []
        self.conv = nn.Sequential(
            *expand,
            convolution(hidden, hidden, 3, stride, groups=hidden, activation=nn.ReLU6),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def execute(self, x: Var) -> Var:
        """Return the block's image."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """A convolution, stages of inverted residuals, and a convolution to 1,280 channels.

    Parameters
    ----------
    num_classes
        How many scores an image gets.
    dropout
        The probability of `Dropout` before the linear layer.
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.2) -> None:
        check_counts("MobileNetV2", num_classes=num_classes)
        layers: list[nn.Module] = [convolution(3, 32, 3, 2, activation=nn.ReLU6)]
        inputs = 32
        for expansion, outputs, count, stride in _STAGES:
            for place in range(count):
                first = stride if place == 0 else 1
                layers.append(InvertedResidual(inputs, outputs, first, expansion))
                inputs = outputs
        layers.append(convolution(inputs, 1280, 1, activation=nn.ReLU6))
        self.features = nn.Sequential(layers)
        head = nn.Linear(1280, num_classes)
        self.classifier = nn.Sequential(nn.Dropout(dropout), head)
        set_he_weights(self)
        head.weight = nn.init.normal(head.weight.shape, std=0.01)
        head.bias = creation.zeros((head.out_features,))

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        return self.classifier(self.features(x).mean((2, 3)))


def mobilenet_v2(num_classes: int = 1000, dropout: float = 0.2) -> MobileNetV2:
    """Return `MobileNetV2`."""
    return MobileNetV2(num_classes, dropout)
