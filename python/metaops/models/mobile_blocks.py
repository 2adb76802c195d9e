# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What networks for small devices are made of."""

from __future__ import annotations

from collections.abc import Callable

from .. import nn
from .._core import Var
from ..nn.checks import check_probability
from ..nn.dropout import dropped
from ..ops.elementwise.activations import sigmoid, silu

__all__ = ["SqueezeExcitation", "StochasticDepth", "convolution"]


def convolution(
    inputs: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: Callable[[], nn.Module] | None = None,
) -> nn.Sequential:
    """Return a convolution, a batch norm and an activation, if one is given."""
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential([*layers, *([activation()] if activation else [])])


class SqueezeExcitation(nn.Module):
    """Scales channels by what their means say.

    Hu et al., "Squeeze-and-Excitation Networks", 2018, section 3.
    """

    def __init__(self, channels: int, squeezed: int) -> None:
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def execute(self, x: Var) -> Var:
        """Return x, scaled."""
        return x * sigmoid(self.fc2(silu(self.fc1(x.mean((2, 3), True)))))


class StochasticDepth(nn.Module):
    """Leaves a branch out for some images while trained, and scales it for the others.

    Huang et al., "Deep Networks with Stochastic Depth", 2016, section 3.
    """

    def __init__(self, p: float) -> None:
        check_probability("StochasticDepth", p)
        self.p = p

    def execute(self, x: Var) -> Var:
        """Return x, or 0 for some of its images."""
        if not self.is_train or self.p == 0.0:
            return x
        return dropped(x, self.p, (x.shape[0],) + (1,) * (x.ndim - 1))
