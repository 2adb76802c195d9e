# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""EfficientNet: depth, width and resolution that are scaled together; its smallest one.

Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019.
Names of parameters are torchvision's.
"""

from __future__ import annotations

import math

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from ..ops.create import creation
from .checks import check_counts
from .initial import set_he_weights
from .mobile_blocks import SqueezeExcitation, StochasticDepth, convolution

__all__ = ["EfficientNet", "efficientnet_b0"]

#: Expansion, kernel, first stride, channels and blocks of each stage (Table 1).
_STAGES = (
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)


class MBConv(nn.Module):
    """An inverted residual whose channels are scaled before they are projected.

    Section 4; the squeezed channels are a quarter of the block's inputs.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int, drop: float
    ) -> None:
        hidden = inputs * expansion
        self.use_res_connect = stride == 1 and inputs == outputs
        expand = [convolution(inputs, hidden, 1, activation=nn.SiLU)] if expansion != 1 else []
        self.block = nn.Sequential(
            *expand,
            convolution(hidden, hidden, kernel, stride, groups=hidden, activation=nn.SiLU),
            SqueezeExcitation(hidden, max(1, inputs // 4)),
            convolution(hidden, outputs, 1),
        )
        self.stochastic_depth = StochasticDepth(drop)

    def execute(self, x: Var) -> Var:
        """Return the block's image."""
        y = self.block(x)
        return x + self.stochastic_depth(y) if self.use_res_connect else y


class EfficientNet(nn.Module):
    """A convolution, stages of `MBConv`, and a convolution to 1,280 channels.

    Parameters
    ----------
    num_classes
        How many scores an image gets.
    dropout
        The probability of `Dropout` before the linear layer.
    stochastic_depth
        The probability with which the last block is left out; it grows from 0.
    """

    def __init__(
        self, num_classes: int = 1000, dropout: float = 0.2, stochastic_depth: float = 0.2
    ) -> None:
        check_counts("EfficientNet", num_classes=num_classes)
        PROBABILITY.check("EfficientNet", stochastic_depth=stochastic_depth)
        layers: list[nn.Module] = [convolution(3, 32, 3, 2, activation=nn.SiLU)]
        inputs, total, made = 32, sum(stage[-1] for stage in _STAGES), 0
        for expansion, kernel, stride, outputs, count in _STAGES:
            stage = []
            for place in range(count):
                first = stride if place == 0 else 1
                drop = stochastic_depth * made / total
                stage.append(MBConv(inputs, outputs, kernel, first, expansion, drop))
                inputs = outputs
                made += 1
            layers.append(nn.Sequential(stage))
        layers.append(convolution(inputs, 4 * inputs, 1, activation=nn.SiLU))
        self.features = nn.Sequential(layers)
        head = nn.Linear(4 * inputs, num_classes)
        self.classifier = nn.Sequential(nn.Dropout(dropout), head)
        set_he_weights(self)
        bound = 1.0 / math.sqrt(head.out_features)
        head.weight = nn.init.uniform(head.weight.shape, -bound, bound)
        head.bias = creation.zeros((head.out_features,))

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        return self.classifier(self.features(x).mean((2, 3)))


def efficientnet_b0(
    num_classes: int = 1000, dropout: float = 0.2, stochastic_depth: float = 0.2
) -> EfficientNet:
    """Return `EfficientNet` B0, the one that others are scaled from (Table 1)."""
    return EfficientNet(num_classes, dropout, stochastic_depth)
