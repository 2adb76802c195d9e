# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and initial values."""

from .._names import publish as _publish
from . import init
from .activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SiLU,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from .classification import CrossEntropyLoss, NLLLoss, cross_entropy_loss, nll_loss
from .containers import Flatten, Identity, ModuleList, Sequential
from .conv import Conv2d, conv2d
from .dropout import Dropout, dropout
from .embedding import Embedding
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
from .noise import gumbel_softmax, rrelu
from .norm import BatchNorm, BatchNorm1d, BatchNorm2d, InstanceNorm2d, LayerNorm
from .pool import AvgPool2d, MaxPool2d, avg_pool2d, global_avg_pool2d, max_pool2d
from .softmax import GLU, LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = [
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "CELU",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "InstanceNorm2d",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleList",
    "NLLLoss",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "avg_pool2d",
    "bce_loss",
    "bce_with_logits_loss",
    "conv2d",
    "cross_entropy_loss",
    "dropout",
    "global_avg_pool2d",
    "gumbel_softmax",
    "init",
    "l1_loss",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "rrelu",
]

_publish(vars(init), init.__all__)
_publish(vars(), __all__)
