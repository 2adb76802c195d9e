# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DenseNet: each layer sees all those before it.

Huang et al., "Densely Connected Convolutional Networks", 2017. Names of parameters are
torchvision's.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import nn
from .._core import Var
from ..ops.create import creation
from ..ops.elementwise.activations import relu
from ..ops.shape.stacking import concat
from .checks import check_counts, check_each

__all__ = ["DenseNet", "densenet121"]


class DenseLayer(nn.Module):
    """A convolution of 1 x 1, and one of 3 x 3 to `growth` channels (section 3)."""

    def __init__(self, inputs: int, growth: int, bottleneck: int) -> None:
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, bottleneck * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(bottleneck * growth)
        self.conv2 = nn.Conv2d(bottleneck * growth, growth, 3, padding=1, bias=False)

    def execute(self, x: Var) -> Var:
        """Return the layer's new channels."""
        return self.conv2(relu(self.norm2(self.conv1(relu(self.norm1(x))))))


class DenseBlock(nn.Module):
    """Layers, each of which gets the channels of all before it (equation 2)."""

    def __init__(self, inputs: int, count: int, growth: int, bottleneck: int) -> None:
        self._count = count
        for number in range(count):
            layer = DenseLayer(inputs + number * growth, growth, bottleneck)
            setattr(self, f"denselayer{number + 1}", layer)

    def execute(self, x: Var) -> Var:
        """Return the input's channels, and those of all layers."""
        channels = [x]
        for number in range(self._count):
            layer = getattr(self, f"denselayer{number + 1}")
            channels.append(layer(concat(channels, 1) if number else x))
        return concat(channels, 1)


class Transition(nn.Module):
    """Halves the channels and the image between blocks (section 3)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.norm = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.pool = nn.AvgPool2d(2)

    def execute(self, x: Var) -> Var:
        """Return the image of half the size."""
        return self.pool(self.conv(relu(self.norm(x))))


class DenseNet(nn.Module):
    """A convolution, dense blocks with transitions between them, and a linear layer.

    Parameters
    ----------
    growth_rate
        How many channels a layer adds, k.
    block_config
        How many layers each block has.
    num_init_features
        The channels of the first convolution.
    bn_size
        The channels between a layer's convolutions, in multiples of k.
    num_classes
        How many scores an image gets.
    """

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        num_classes: int = 1000,
    ) -> None:
        check_counts("DenseNet", growth_rate=growth_rate, num_init_features=num_init_features)
        check_counts("DenseNet", bn_size=bn_size, num_classes=num_classes)
        check_each("DenseNet", "block_config", block_config)
        channels, growth = num_init_features, growth_rate
        features: dict[str, nn.Module] = {
            "conv0": nn.Conv2d(3, channels, 7, stride=2, padding=3, bias=False),
            "norm0": nn.BatchNorm2d(channels),
            "relu0": nn.ReLU(),
            "pool0": nn.MaxPool2d(3, 2, padding=1),
        }
        for number, count in enumerate(block_config, 1):
            features[f"denseblock{number}"] = DenseBlock(channels, count, growth, bn_size)
            channels += count * growth
            if number < len(block_config):
                features[f"transition{number}"] = Transition(channels, channels // 2)
                channels //= 2
        features["norm5"] = nn.BatchNorm2d(channels)
        self.features = nn.ModuleDict(features)
        self.classifier = nn.Linear(channels, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                layer.weight = nn.init.kaiming_normal(layer.weight.shape)
        self.classifier.bias = creation.zeros((num_classes,))

    def execute(self, x: Var) -> Var:
        """Return the scores of images, (N, 3, H, W)."""
        for layer in self.features.values():
            x = layer(x)
        return self.classifier(relu(x).mean((2, 3)))


def densenet121(num_classes: int = 1000) -> DenseNet:
    """Return `DenseNet` of 121 layers (Table 1)."""
    return DenseNet(num_classes=num_classes)
