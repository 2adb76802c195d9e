# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and initial values."""

from .._names import publish as _publish
from . import init
from .activation import (
    ELU,
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .classification import CrossEntropyLoss, NLLLoss, cross_entropy_loss, nll_loss
from .containers import Flatten, Identity, ModuleList, Sequential, Unflatten
from .conv import Conv2d, conv2d
from .dropout import Dropout, dropout
from .embedding import Embedding
from .fold import Fold, Unfold, fold, unfold
from .grid_sample import affine_grid, grid_sample
from .interpolate import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d, interpolate
from .linear import Linear
from .loss import (
    BCELoss,
    BCEWithLogitsLoss,
    L1Loss,
    MSELoss,
    bce_loss,
    bce_with_logits_loss,
    l1_loss,
    mse_loss,
)
from .module import Module
from .norm import BatchNorm, BatchNorm1d, BatchNorm2d, InstanceNorm2d, LayerNorm
from .padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from .pool import AvgPool2d, MaxPool2d, avg_pool2d, global_avg_pool2d, max_pool2d
from .shuffle import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)

__all__ = [
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "ELU",
    "Flatten",
    "Fold",
    "GELU",
    "Identity",
    "InstanceNorm2d",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "NLLLoss",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "affine_grid",
    "avg_pool2d",
    "bce_loss",
    "bce_with_logits_loss",
    "channel_shuffle",
    "conv2d",
    "cross_entropy_loss",
    "dropout",
    "fold",
    "global_avg_pool2d",
    "grid_sample",
    "init",
    "interpolate",
    "l1_loss",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
]

_publish(vars(init), init.__all__)
_publish(vars(), __all__)
