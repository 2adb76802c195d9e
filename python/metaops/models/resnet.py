# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Residual networks, wide ones, and those of grouped convolutions.

He et al., "Deep Residual Learning for Image Recognition", 2016; Zagoruyko and Komodakis,
"Wide Residual Networks", 2016; Xie et al., "Aggregated Residual Transformations for Deep
Neural Networks", 2017. Names of parameters are torchvision's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from .. import nn
from .._core import Var
from .._errors import at_line
from ..ops.elementwise.activations import relu
from .checks import check_counts, check_each
from .initial import set_he_weights

__all__ = [
    "BasicBlock",
    "Bottleneck",
    "ResNet",
    "resnet101",
    "resnet152",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnext101_32x8d",
    "resnext50_32x4d",
    "wide_resnet101_2",
    "wide_resnet50_2",
]


def check_block(
    what: str, inputs: int, planes: int, stride: int, groups: int, base_width: int
) -> None:
    """Raise an error unless all numbers of a block are integers of at least 1."""
    check_counts(what, inputs=inputs, planes=planes, stride=stride)
    check_counts(what, groups=groups, base_width=base_width)


def inner_width(
    what: str, inputs: int, planes: int, stride: int, groups: int, base_width: int
) -> int:
    """Return the channels within a block whose groups have a width where planes are 64.

    Raises
    ------
    TypeError, ValueError
        If there are none, or a number of the block is no integer of at least 1.
    """
    check_block(what, inputs, planes, stride, groups, base_width)
    width = planes * base_width // 64 * groups
    if not width:
        raise at_line(
            ValueError(
                f"{what}: planes is {planes} and base_width {base_width}, expected a product of"
                " at least 64"
            )
        )
    return width


class ResidualBlock(nn.Module):
    """Convolutions beside a short cut (He et al., section 3.2)."""

    #: The channels that a block makes, in multiples of its planes.
    expansion: ClassVar[int] = 4

    downsample: nn.Module | None

    def residual(self, x: Var) -> Var:
        """Return what is added to the short cut."""
        raise NotImplementedError

    def execute(self, x: Var) -> Var:
        """Return the block's image."""
        return relu(self.residual(x) + (x if self.downsample is None else self.downsample(x)))


class BasicBlock(ResidualBlock):
    """Two convolutions beside a short cut (He et al., section 4.1).

    It has one group, of `base_width` 64: wide and grouped networks are of `Bottleneck`.
    """

    expansion: ClassVar[int] = 1

    def __init__(
        self,
        inputs: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
    ) -> None:
        name = type(self).__name__
        check_block(name, inputs, planes, stride, groups, base_width)
        if (groups, base_width) != (1, 64):
            raise at_line(
                ValueError(
                    f"{name}: groups is {groups} and base_width {base_width}, expected 1 and 64"
                )
            )
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def residual(self, x: Var) -> Var:
        """Return what is added to the short cut."""
        return self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))


class Bottleneck(ResidualBlock):
    """Three convolutions, the middle one of fewer channels, beside a short cut.

    He et al., section 4.1. The stride is that of the middle one, and its `groups` have
    `base_width` channels each in the first stage.
    """

    def __init__(
        self,
        inputs: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
    ) -> None:
        width = inner_width(type(self).__name__, inputs, planes, stride, groups, base_width)
        outputs = planes * self.expansion
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = downsample

    def residual(self, x: Var) -> Var:
        """Return what is added to the short cut."""
        y = relu(self.bn1(self.conv1(x)))
        y = relu(self.bn2(self.conv2(y)))
        return self.bn3(self.conv3(y))


class Block(Protocol):
    """A kind of block: it makes `planes * expansion` channels."""

    @property
    def expansion(self) -> int: ...

    def __call__(
        self,
        inputs: int,
        planes: int,
        stride: int,
        downsample: nn.Module | None,
        groups: int,
        base_width: int,
    ) -> nn.Module: ...


class ResNet(nn.Module):
    """A stem, four stages of blocks, and a linear layer of the mean of the image.

    Parameters
    ----------
    block
        The kind of block: `BasicBlock`, `Bottleneck` or `Bottle2neck`.
    layers
        How many blocks each stage has.
    num_classes
        How many scores an image gets.
    groups
        Of the middle convolutions, ResNeXt's cardinality; 1 with `BasicBlock`.
    width_per_group
        Channels of a group in the first stage, for `planes` of 64; 64 with `BasicBlock`.
    small_images
        Whether the stem is one convolution of 3 x 3 that keeps the image's size, as for CIFAR
        (He et al., section 4.2), not one of 7 x 7 and a pooling that quarter it.
    """

    def __init__(
        self,
        block: Block,
        layers: Sequence[int],
        num_classes: int = 1000,
        groups: int = 1,
        width_per_group: int = 64,
        small_images: bool = False,
    ) -> None:
        check_counts("ResNet", num_classes=num_classes)
        check_counts("ResNet", groups=groups, width_per_group=width_per_group)
        check_each("ResNet", "layers", layers)
        self.groups, self.base_width = groups, width_per_group
        kernel, stride = (3, 1) if small_images else (7, 2)
        self.conv1 = nn.Conv2d(3, 64, kernel, stride, padding=kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool: nn.Module = nn.Identity() if small_images else nn.MaxPool2d(3, 2, padding=1)
        first, *others = layers
        outputs = 64 * block.expansion
        self.layer1 = self._make_stage(block, 64, 64, first, 1)
        for number, count in enumerate(others, 1):
            stage = self._make_stage(block, outputs, 64 << number, count, 2)
            setattr(self, f"layer{number + 1}", stage)
            outputs *= 2
        self._stages = len(layers)
        self.fc = nn.Linear(outputs, num_classes)
        set_he_weights(self)

    def _make_stage(
        self, block: Block, inputs: int, planes: int, count: int, stride: int
    ) -> nn.Sequential:
        """Return blocks, the first of which changes the image's size and channels."""
        outputs = planes * block.expansion
        downsample = None
        if stride != 1 or inputs != outputs:
            convolution = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            downsample = nn.Sequential(convolution, nn.BatchNorm2d(outputs))
        blocks = [block(inputs, planes, stride, downsample, self.groups, self.base_width)]
        for _ in range(1, count):
            blocks.append(block(outputs, planes, 1, None, self.groups, self.base_width))
        return nn.Sequential(blocks)

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        x = self.maxpool(relu(self.bn1(self.conv1(x))))
        for number in range(1, self._stages + 1):
            x = getattr(self, f"layer{number}")(x)
        return self.fc(x.mean((2, 3)))


def resnet18(num_classes: int = 1000, small_images: bool = False) -> ResNet:
    """Return `ResNet` of 18 layers (He et al., Table 1)."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, small_images=small_images)


def resnet34(num_classes: int = 1000, small_images: bool = False) -> ResNet:
    """Return `ResNet` of 34 layers (He et al., Table 1)."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, small_images=small_images)


def resnet50(num_classes: int = 1000, small_images: bool = False) -> ResNet:
    """Return `ResNet` of 50 layers (He et al., Table 1)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, small_images=small_images)


def resnet101(num_classes: int = 1000, small_images: bool = False) -> ResNet:
    """Return `ResNet` of 101 layers (He et al., Table 1)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, small_images=small_images)


def resnet152(num_classes: int = 1000, small_images: bool = False) -> ResNet:
    """Return `ResNet` of 152 layers (He et al., Table 1)."""
    return ResNet(Bottleneck, (3, 8, 36, 3), num_classes, small_images=small_images)


def wide_resnet50_2(num_classes: int = 1000) -> ResNet:
    """Return `ResNet` of 50 layers, whose inner channels are doubled (Zagoruyko, Table 8)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, width_per_group=128)


def wide_resnet101_2(num_classes: int = 1000) -> ResNet:
    """Return `ResNet` of 101 layers, whose inner channels are doubled."""
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, width_per_group=128)


def resnext50_32x4d(num_classes: int = 1000) -> ResNet:
    """Return `ResNet` of 50 layers and 32 groups of 4 channels (Xie et al., Table 1)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, 32, 4)


def resnext101_32x8d(num_classes: int = 1000) -> ResNet:
    """Return `ResNet` of 101 layers and 32 groups of 8 channels."""
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, 32, 8)
