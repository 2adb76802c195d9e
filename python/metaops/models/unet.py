# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""U-Net: a class for each pixel.

Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image
Segmentation", 2015, Figure 1, with batch norms and convolutions that keep the image's size.
Names of parameters are those of milesial's Pytorch-UNet.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .._errors import at_line
from ..ops.shape.padding import pad
from ..ops.shape.stacking import concat
from .checks import check_counts

__all__ = ["UNet", "unet"]


class DoubleConv(nn.Module):
    """Two convolutions of 3 x 3, each with a norm and an activation."""

    def __init__(self, inputs: int, outputs: int) -> None:
        layers: list[nn.Module] = []
        for channels in (inputs, outputs):
            layers.append(nn.Conv2d(channels, outputs, 3, padding=1, bias=False))
            layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
        self.double_conv = nn.Sequential(layers)

    def execute(self, x: Var) -> Var:
        """Return the convolved image."""
        return self.double_conv(x)


class Down(nn.Module):
    """Halves the image, and convolves it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def execute(self, x: Var) -> Var:
        """Return the image of half the size."""
        return self.maxpool_conv(x)


class Up(nn.Module):
    """Doubles the image, and convolves it beside the one of the way down."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.up = nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2)
        self.conv = DoubleConv(inputs, outputs)

    def execute(self, x: Var, beside: Var) -> Var:
        """Return an image of the size of the other one."""
        x = self.up(x)
        missing = [have - own for have, own in zip(beside.shape[2:], x.shape[2:], strict=True)]
        if any(missing):
            x = pad(x, [(0, 0), (0, 0), *((n // 2, n - n // 2) for n in missing)])
        return self.conv(concat([beside, x], 1))


class OutConv(nn.Module):
    """A convolution of 1 x 1 to scores."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def execute(self, x: Var) -> Var:
        """Return the scores of pixels."""
        return self.conv(x)


class UNet(nn.Module):
    """Four halvings and doublings of the image, with the channels the other way round.

    Parameters
    ----------
    n_channels
        The channels of images.
    n_classes
        How many scores a pixel gets.
    width
        The channels at the image's full size.
    """

    def __init__(self, n_channels: int = 3, n_classes: int = 2, width: int = 64) -> None:
        check_counts("UNet", n_channels=n_channels, n_classes=n_classes, width=width)
        self.n_channels = n_channels
        self.inc = DoubleConv(n_channels, width)
        self.down1 = Down(width, 2 * width)
        self.down2 = Down(2 * width, 4 * width)
        self.down3 = Down(4 * width, 8 * width)
        self.down4 = Down(8 * width, 16 * width)
        self.up1 = Up(16 * width, 8 * width)
        self.up2 = Up(8 * width, 4 * width)
        self.up3 = Up(4 * width, 2 * width)
        self.up4 = Up(2 * width, width)
        self.outc = OutConv(width, n_classes)

    def execute(self, x: Var) -> Var:
        """Return scores ``(N, n_classes, H, W)`` of images.

        Raises
        ------
        ValueError
            If H or W is less than 16, or the channels are others.
        """
        if x.ndim != 4 or x.shape[1] != self.n_channels or min(x.shape[2:]) < 16:
            raise at_line(
                ValueError(
                    f"UNet: images have shape {x.shape}, expected (N, {self.n_channels}, H, W) of"
                    " at least 16 x 16"
                )
            )
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(self.down4(x4), x4)
        x = self.up2(x, x3)
        x = self.up3(x, x2)
        return self.outc(self.up4(x, x1))


def unet(n_channels: int = 3, n_classes: int = 2) -> UNet:
    """Return `UNet` of the paper's channels."""
    return UNet(n_channels, n_classes)
