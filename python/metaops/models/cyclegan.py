# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CycleGAN: images of one kind to those of another, learnt without pairs.

Zhu et al., "Unpaired Image-to-Image Translation using Cycle-Consistent Adversarial Networks",
2017. Its adversarial loss is `least_squares_loss`. Names of parameters are junyanz's.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .._errors import at_line
from ..ops.create import creation
from .checks import check_counts, check_vars

__all__ = ["CycleGANDiscriminator", "CycleGANGenerator", "cycle_consistency_loss"]


def _set_weights(model: nn.Module) -> None:
    """Draw weights from a normal distribution of deviation 0.02 (section 7.1)."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            layer.weight = nn.init.normal(layer.weight.shape, std=0.02)
            if layer.bias is not None:
                layer.bias = creation.zeros(layer.bias.shape)


class ResnetBlock(nn.Module):
    """Two convolutions with mirrored borders beside a short cut (section 7.2)."""

    def __init__(self, channels: int) -> None:
        layers: list[nn.Module] = []
        for _ in range(2):
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3)]
            layers += [nn.InstanceNorm2d(channels), nn.ReLU()]
        self.conv_block = nn.Sequential(layers[:-1])

    def execute(self, x: Var) -> Var:
        """Return the block's image."""
        return x + self.conv_block(x)


class CycleGANGenerator(nn.Module):
    """Images to images in [-1, 1]: two halvings, residual blocks, two doublings (section 7.2).

    Parameters
    ----------
    inputs, outputs
        The channels of images of either kind.
    features
        The channels at the images' full size.
    blocks
        How many residual blocks there are; the paper has 9 for images of 256 x 256.
    """

    def __init__(
        self, inputs: int = 3, outputs: int = 3, features: int = 64, blocks: int = 9
    ) -> None:
        check_counts("CycleGANGenerator", inputs=inputs, outputs=outputs, features=features)
        check_counts("CycleGANGenerator", blocks=blocks)
        self.inputs = inputs
        layers: list[nn.Module] = [nn.ReflectionPad2d(3), nn.Conv2d(inputs, features, 7)]
        layers += [nn.InstanceNorm2d(features), nn.ReLU()]
        for width in (features, 2 * features):
            layers.append(nn.Conv2d(width, 2 * width, 3, stride=2, padding=1))
            layers += [nn.InstanceNorm2d(2 * width), nn.ReLU()]
        layers += [ResnetBlock(4 * features) for _ in range(blocks)]
        for width in (4 * features, 2 * features):
            up = nn.ConvTranspose2d(width, width // 2, 3, 2, padding=1, output_padding=1)
            layers += [up, nn.InstanceNorm2d(width // 2), nn.ReLU()]
        layers += [nn.ReflectionPad2d(3), nn.Conv2d(features, outputs, 7), nn.Tanh()]
        self.model = nn.Sequential(layers)
        _set_weights(self)

    def execute(self, x: Var) -> Var:
        """Return images of the other kind, of images ``(N, inputs, H, W)``.

        Raises
        ------
        ValueError
            If H or W is no multiple of 4 of at least 8.
        """
        extents = x.shape[2:]
        if (
            x.ndim != 4
            or x.shape[1] != self.inputs
            or min(extents) < 8
            or any(extent % 4 for extent in extents)
        ):
            raise at_line(
                ValueError(
                    f"CycleGANGenerator: images have shape {x.shape}, expected (N, {self.inputs},"
                    " H, W) of multiples of 4 of at least 8"
                )
            )
        return self.model(x)


class CycleGANDiscriminator(nn.Module):
    """PatchGAN: a score of each patch of 70 x 70 pixels (section 7.2).

    Parameters
    ----------
    channels
        Those of images.
    features
        The channels of the first layer.
    """

    def __init__(self, channels: int = 3, features: int = 64) -> None:
        check_counts("CycleGANDiscriminator", channels=channels, features=features)
        layers: list[nn.Module] = [nn.Conv2d(channels, features, 4, 2, padding=1)]
        layers.append(nn.LeakyReLU(0.2))
        for stride in (2, 2, 1):
            layers.append(nn.Conv2d(features, 2 * features, 4, stride, padding=1))
            features *= 2
            layers += [nn.InstanceNorm2d(features), nn.LeakyReLU(0.2)]
        layers.append(nn.Conv2d(features, 1, 4, padding=1))
        self.model = nn.Sequential(layers)
        _set_weights(self)

    def execute(self, x: Var) -> Var:
        """Return the scores of patches, ``(N, 1, H / 8 - 2, W / 8 - 2)``."""
        return self.model(x)


def cycle_consistency_loss(x: Var, back: Var) -> Var:
    """Return the mean distance of images from what two generators make of them and back.

    Zhu et al., equation 2; the paper weighs it by 10 beside the adversarial losses.

    Parameters
    ----------
    x
        Images.
    back
        Images that were made of them by one generator, and back by the other.
    """
    check_vars("cycle_consistency_loss", x=x, back=back)
    return nn.l1_loss(back, x)
