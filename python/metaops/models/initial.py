# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First weights of networks of images."""

from __future__ import annotations

from .. import nn
from ..ops.create import creation

__all__ = ["set_he_weights"]


def set_he_weights(model: nn.Module) -> None:
    """Set weights of convolutions by their outputs, and biases to 0.

    He et al., "Delving Deep into Rectifiers", 2015, section 2.2: gradients keep their size
    on the way back.
    """
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            layer.weight = nn.init.kaiming_normal(layer.weight.shape, mode="fan_out")
            if layer.bias is not None:
                layer.bias = creation.zeros(layer.bias.shape)
