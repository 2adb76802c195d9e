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
from .attention import scaled_dot_product_attention
from .classification import CrossEntropyLoss, NLLLoss, cross_entropy_loss, nll_loss
from .containers import Flatten, Identity, ModuleList, Sequential
from .conv import Conv2d, conv2d
from .dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .embedding import Embedding
from .embedding_bag import EmbeddingBag
from .linear import Bilinear, Linear
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
from .multihead import MultiheadAttention
from .norm import BatchNorm, BatchNorm1d, BatchNorm2d, InstanceNorm2d, LayerNorm
from .pool import AvgPool2d, MaxPool2d, avg_pool2d, global_avg_pool2d, max_pool2d
from .recurrent import GRU, LSTM, RNN
from .recurrent_cells import GRUCell, LSTMCell, RNNCell
from .transformer import Transformer, TransformerDecoder, TransformerEncoder
from .transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer

__all__ = [
    "AlphaDropout",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "Bilinear",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "ELU",
    "FeatureAlphaDropout",
    "Flatten",
    "GELU",
    "GRU",
    "GRUCell",
    "Identity",
    "InstanceNorm2d",
    "L1Loss",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "RNN",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "alpha_dropout",
    "avg_pool2d",
    "bce_loss",
    "bce_with_logits_loss",
    "conv2d",
    "cross_entropy_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "global_avg_pool2d",
    "init",
    "l1_loss",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "scaled_dot_product_attention",
]

_publish(vars(init), init.__all__)
_publish(vars(), __all__)
