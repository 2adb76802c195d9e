# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Res2Net: residual networks with several scales in each block.

Gao et al., "Res2Net: A New Multi-Scale Backbone Architecture", 2019. Names of parameters are
timm's.
"""

from __future__ import annotations

from typing import ClassVar

from .. import nn
from .._core import Var
from ..ops.elementwise.activations import relu
from ..ops.shape.stacking import concat
from .resnet import ResidualBlock, ResNet, inner_width

__all__ = ["Bottle2neck", "res2net50_26w_4s"]


class Bottle2neck(ResidualBlock):
    """A bottleneck whose middle is cut into scales, each of which sees those before it.

    Section 3.1, Figure 2 (b). Where the image's size or its channels change, the scales do
    not see each other, and the last one is pooled.
    """

    scales: ClassVar[int] = 4

    def __init__(
        self,
        inputs: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 26,
    ) -> None:
        width = inner_width(type(self).__name__, inputs, planes, stride, groups, base_width)
        outputs = planes * self.expansion
        self.is_first = stride > 1 or downsample is not None
        self.conv1 = nn.Conv2d(inputs, width * self.scales, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width * self.scales)
        self.convs = nn.ModuleList(
            nn.Conv2d(width, width, 3, stride, padding=1, groups=groups, bias=False)
            for _ in range(self.scales - 1)
        )
        self.bns = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(self.scales - 1))
        self.pool = nn.AvgPool2d(3, stride, padding=1) if self.is_first else nn.Identity()
        self.conv3 = nn.Conv2d(width * self.scales, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = downsample

    def residual(self, x: Var) -> Var:
        """Return what is added to the short cut."""
        *parts, last = relu(self.bn1(self.conv1(x))).split(self.scales, dim=1)
        scales: list[Var] = []
        for part, conv, bn in zip(parts, self.convs, self.bns, strict=True):
            seen = part if self.is_first or not scales else part + scales[-1]
            scales.append(relu(bn(conv(seen))))
        return self.bn3(self.conv3(concat([*scales, self.pool(last)], 1)))


def res2net50_26w_4s(num_classes: int = 1000) -> ResNet:
    """Return `ResNet` of 50 layers, whose blocks have 4 scales of 26 channels (Table 1)."""
    return ResNet(Bottle2neck, (3, 4, 6, 3), num_classes, width_per_group=26)
