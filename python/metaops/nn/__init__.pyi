# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

import builtins as _builtins
from collections.abc import Sequence as _Sequence
from typing import overload as _overload

from .._core import Var as _Var
from .._typing import Axes as _Axes
from .._typing import VarLike as _VarLike
from . import functional as functional
from . import init as init
from . import utils as utils
from .activation import CELU as CELU
from .activation import ELU as ELU
from .activation import GELU as GELU
from .activation import SELU as SELU
from .activation import Hardshrink as Hardshrink
from .activation import Hardsigmoid as Hardsigmoid
from .activation import Hardswish as Hardswish
from .activation import Hardtanh as Hardtanh
from .activation import LeakyReLU as LeakyReLU
from .activation import LogSigmoid as LogSigmoid
from .activation import Mish as Mish
from .activation import PReLU as PReLU
from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .activation import RReLU as RReLU
from .activation import Sigmoid as Sigmoid
from .activation import SiLU as SiLU
from .activation import Softplus as Softplus
from .activation import Softshrink as Softshrink
from .activation import Softsign as Softsign
from .activation import Tanh as Tanh
from .activation import Tanhshrink as Tanhshrink
from .activation import Threshold as Threshold
from .adaptive_pool import adaptive_avg_pool1d as adaptive_avg_pool1d
from .adaptive_pool import adaptive_avg_pool2d as adaptive_avg_pool2d
from .adaptive_pool import adaptive_avg_pool3d as adaptive_avg_pool3d
from .adaptive_pool import adaptive_max_pool1d as adaptive_max_pool1d
from .adaptive_pool import adaptive_max_pool2d as adaptive_max_pool2d
from .adaptive_pool import adaptive_max_pool3d as adaptive_max_pool3d
from .adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from .batch_norm_layers import BatchNorm as BatchNorm
from .batch_norm_layers import BatchNorm1d as BatchNorm1d
from .batch_norm_layers import BatchNorm2d as BatchNorm2d
from .batch_norm_layers import BatchNorm3d as BatchNorm3d
from .batch_norm_layers import InstanceNorm1d as InstanceNorm1d
from .batch_norm_layers import InstanceNorm2d as InstanceNorm2d
from .batch_norm_layers import InstanceNorm3d as InstanceNorm3d
from .checkpoint import Checkpoint as Checkpoint
from .classification import CrossEntropyLoss as CrossEntropyLoss
from .classification import NLLLoss as NLLLoss
from .classification import cross_entropy_loss as cross_entropy_loss
from .containers import Flatten as Flatten
from .containers import Identity as Identity
from .containers import ModuleList as ModuleList
from .containers import Sequential as Sequential
from .containers import Unflatten as Unflatten
from .conv import conv1d as conv1d
from .conv import conv2d as conv2d
from .conv import conv3d as conv3d
from .conv_layers import Conv1d as Conv1d
from .conv_layers import Conv2d as Conv2d
from .conv_layers import Conv3d as Conv3d
from .conv_layers import ConvTranspose1d as ConvTranspose1d
from .conv_layers import ConvTranspose2d as ConvTranspose2d
from .conv_layers import ConvTranspose3d as ConvTranspose3d
from .conv_transpose import conv_transpose1d as conv_transpose1d
from .conv_transpose import conv_transpose2d as conv_transpose2d
from .conv_transpose import conv_transpose3d as conv_transpose3d
from .ctc import CTCLoss as CTCLoss
from .dictionaries import ModuleDict as ModuleDict
from .dictionaries import ParameterDict as ParameterDict
from .dictionaries import ParameterList as ParameterList
from .distance import CosineSimilarity as CosineSimilarity
from .distance import PairwiseDistance as PairwiseDistance
from .dropout import AlphaDropout as AlphaDropout
from .dropout import Dropout as Dropout
from .dropout import Dropout1d as Dropout1d
from .dropout import Dropout2d as Dropout2d
from .dropout import Dropout3d as Dropout3d
from .dropout import FeatureAlphaDropout as FeatureAlphaDropout
from .embedding import Embedding as Embedding
from .embedding_bag import EmbeddingBag as EmbeddingBag
from .fold import Fold as Fold
from .fold import Unfold as Unfold
from .fold import fold as fold
from .fold import unfold as unfold
from .fractional_pool import FractionalMaxPool2d as FractionalMaxPool2d
from .fractional_pool import FractionalMaxPool3d as FractionalMaxPool3d
from .fractional_pool import fractional_max_pool2d as fractional_max_pool2d
from .fractional_pool import fractional_max_pool3d as fractional_max_pool3d
from .grid_sample import affine_grid as affine_grid
from .grid_sample import grid_sample as grid_sample
from .interpolate import Upsample as Upsample
from .interpolate import UpsamplingBilinear2d as UpsamplingBilinear2d
from .interpolate import UpsamplingNearest2d as UpsamplingNearest2d
from .interpolate import interpolate as interpolate
from .likelihood import GaussianNLLLoss as GaussianNLLLoss
from .likelihood import KLDivLoss as KLDivLoss
from .likelihood import PoissonNLLLoss as PoissonNLLLoss
from .likelihood import kl_div as kl_div
from .linear import Bilinear as Bilinear
from .linear import Linear as Linear
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import HuberLoss as HuberLoss
from .loss import L1Loss as L1Loss
from .loss import MSELoss as MSELoss
from .loss import SmoothL1Loss as SmoothL1Loss
from .loss import bce_loss as bce_loss
from .loss import bce_with_logits_loss as bce_with_logits_loss
from .loss import huber_loss as huber_loss
from .loss import l1_loss as l1_loss
from .loss import mse_loss as mse_loss
from .loss import smooth_l1_loss as smooth_l1_loss
from .margin import CosineEmbeddingLoss as CosineEmbeddingLoss
from .margin import HingeEmbeddingLoss as HingeEmbeddingLoss
from .margin import MarginRankingLoss as MarginRankingLoss
from .margin import SoftMarginLoss as SoftMarginLoss
from .margin import TripletMarginLoss as TripletMarginLoss
from .margin import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from .margin import cosine_embedding_loss as cosine_embedding_loss
from .margin import hinge_embedding_loss as hinge_embedding_loss
from .margin import margin_ranking_loss as margin_ranking_loss
from .margin import soft_margin_loss as soft_margin_loss
from .margin import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from .max_pool import max_pool1d as max_pool1d
from .max_pool import max_pool2d as max_pool2d
from .max_pool import max_pool3d as max_pool3d
from .module import Module as Module
from .multi_margin import MultiLabelMarginLoss as MultiLabelMarginLoss
from .multi_margin import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from .multi_margin import MultiMarginLoss as MultiMarginLoss
from .multi_margin import multi_margin_loss as multi_margin_loss
from .multi_margin import multilabel_margin_loss as multilabel_margin_loss
from .multi_margin import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from .multihead import MultiheadAttention as MultiheadAttention
from .norm import local_response_norm as local_response_norm
from .norm_layers import GroupNorm as GroupNorm
from .norm_layers import LayerNorm as LayerNorm
from .norm_layers import LocalResponseNorm as LocalResponseNorm
from .norm_layers import RMSNorm as RMSNorm
from .padding import CircularPad1d as CircularPad1d
from .padding import CircularPad2d as CircularPad2d
from .padding import CircularPad3d as CircularPad3d
from .padding import ConstantPad1d as ConstantPad1d
from .padding import ConstantPad2d as ConstantPad2d
from .padding import ConstantPad3d as ConstantPad3d
from .padding import ReflectionPad1d as ReflectionPad1d
from .padding import ReflectionPad2d as ReflectionPad2d
from .padding import ReflectionPad3d as ReflectionPad3d
from .padding import ReplicationPad1d as ReplicationPad1d
from .padding import ReplicationPad2d as ReplicationPad2d
from .padding import ReplicationPad3d as ReplicationPad3d
from .padding import ZeroPad1d as ZeroPad1d
from .padding import ZeroPad2d as ZeroPad2d
from .padding import ZeroPad3d as ZeroPad3d
from .pool import avg_pool1d as avg_pool1d
from .pool import avg_pool2d as avg_pool2d
from .pool import avg_pool3d as avg_pool3d
from .pool import global_avg_pool2d as global_avg_pool2d
from .pool import lp_pool1d as lp_pool1d
from .pool import lp_pool2d as lp_pool2d
from .pool import lp_pool3d as lp_pool3d
from .pool_layers import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .pool_layers import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .pool_layers import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .pool_layers import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .pool_layers import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .pool_layers import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .pool_layers import AvgPool1d as AvgPool1d
from .pool_layers import AvgPool2d as AvgPool2d
from .pool_layers import AvgPool3d as AvgPool3d
from .pool_layers import LPPool1d as LPPool1d
from .pool_layers import LPPool2d as LPPool2d
from .pool_layers import LPPool3d as LPPool3d
from .pool_layers import MaxPool1d as MaxPool1d
from .pool_layers import MaxPool2d as MaxPool2d
from .pool_layers import MaxPool3d as MaxPool3d
from .pool_layers import MaxUnpool1d as MaxUnpool1d
from .pool_layers import MaxUnpool2d as MaxUnpool2d
from .pool_layers import MaxUnpool3d as MaxUnpool3d
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import RNN as RNN
from .recurrent_cells import GRUCell as GRUCell
from .recurrent_cells import LSTMCell as LSTMCell
from .recurrent_cells import RNNCell as RNNCell
from .shuffle import ChannelShuffle as ChannelShuffle
from .shuffle import PixelShuffle as PixelShuffle
from .shuffle import PixelUnshuffle as PixelUnshuffle
from .shuffle import channel_shuffle as channel_shuffle
from .shuffle import pixel_shuffle as pixel_shuffle
from .shuffle import pixel_unshuffle as pixel_unshuffle
from .softmax import GLU as GLU
from .softmax import LogSoftmax as LogSoftmax
from .softmax import Softmax as Softmax
from .softmax import Softmax2d as Softmax2d
from .softmax import Softmin as Softmin
from .transformer import Transformer as Transformer
from .transformer import TransformerDecoder as TransformerDecoder
from .transformer import TransformerEncoder as TransformerEncoder
from .transformer_layers import TransformerDecoderLayer as TransformerDecoderLayer
from .transformer_layers import TransformerEncoderLayer as TransformerEncoderLayer
from .window import Numbers as _Numbers

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "CELU",
    "CTCLoss",
    "ChannelShuffle",
    "Checkpoint",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GELU",
    "GLU",
    "GRU",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNN",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bce_loss",
    "bce_with_logits_loss",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy_loss",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "functional",
    "gaussian_nll_loss",
    "global_avg_pool2d",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hinge_embedding_loss",
    "huber_loss",
    "init",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "local_response_norm",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "utils",
]

@_overload
def scaled_dot_product_attention(
    query: _VarLike,
    key: _VarLike,
    value: _VarLike,
    attn_mask: _VarLike | None = None,
    dropout_p: float = 0.0,
    is_causal: _builtins.bool = False,
    scale: float | None = None,
    enable_gqa: _builtins.bool = False,
) -> _Var:
    """Return the mean of the values, weighted by ``softmax(scale * query @ key.T)``."""

@_overload
def scaled_dot_product_attention(
    query: _VarLike,
    key: _VarLike,
    *,
    value: _VarLike = ...,
    constant_values: _VarLike = ...,
    end_values: _VarLike = ...,
    fill_value: _VarLike = ...,
    attn_mask: _VarLike | None = None,
    dropout_p: float = 0.0,
    is_causal: _builtins.bool = False,
    scale: float | None = None,
    enable_gqa: _builtins.bool = False,
) -> _Var: ...
def batch_norm(
    x: _VarLike,
    running_mean: _Var | None,
    running_var: _Var | None,
    weight: _VarLike | None = None,
    bias: _VarLike | None = None,
    is_train: _builtins.bool = False,
    momentum: float | _Var = 0.1,
    eps: float = 1e-05,
    *,
    training: _builtins.bool = ...,
    epsilon: float = ...,
) -> _Var:
    """Return x with each channel normalised over the batch."""

def instance_norm(
    x: _VarLike,
    running_mean: _Var | None = None,
    running_var: _Var | None = None,
    weight: _VarLike | None = None,
    bias: _VarLike | None = None,
    use_input_stats: _builtins.bool = True,
    momentum: float | _Var = 0.1,
    eps: float = 1e-05,
    *,
    epsilon: float = ...,
) -> _Var:
    """Return x with each channel of each image normalised by itself."""

@_overload
def nll_loss(
    log_probabilities: _VarLike,
    target: _VarLike,
    reduction: str = "mean",
    *,
    weight: _VarLike | None = None,
    ignore_index: int = -100,
) -> _Var:
    """Return minus the log-probability of the target class."""

@_overload
def nll_loss(
    *,
    log_probabilities: _VarLike = ...,
    input: _VarLike = ...,
    target: _VarLike,
    reduction: str = "mean",
    weight: _VarLike | None = None,
    ignore_index: int = -100,
) -> _Var: ...
@_overload
def ctc_loss(
    log_probs: _VarLike,
    targets: _VarLike,
    input_lengths: _VarLike,
    target_lengths: _VarLike,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: _builtins.bool = False,
) -> _Var:
    """Return the negative logarithm of the probability of sequences of labels."""

@_overload
def ctc_loss(
    log_probs: _VarLike,
    *,
    targets: _VarLike = ...,
    inputs: _VarLike = ...,
    input_lengths: _VarLike,
    target_lengths: _VarLike,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: _builtins.bool = False,
) -> _Var: ...
def cosine_similarity(
    x: _VarLike,
    y: _VarLike,
    dim: int = 1,
    eps: float = 1e-08,
    *,
    axis: int = ...,
    dims: int = ...,
    epsilon: float = ...,
) -> _Var:
    """Return the cosine of the angle between vectors."""

def normalize(
    x: _VarLike,
    p: float = 2.0,
    dim: _Axes = 1,
    eps: float = 1e-12,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    epsilon: float = ...,
) -> _Var:
    """Return vectors divided by their norms."""

def pairwise_distance(
    x: _VarLike,
    y: _VarLike,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdims: _builtins.bool = False,
    *,
    epsilon: float = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the norm of the difference of vectors."""

def alpha_dropout(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = False, *, training: _builtins.bool = ...
) -> _Var:
    """Return x with elements set to the limit of SELU at random."""

def dropout(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = True, *, training: _builtins.bool = ...
) -> _Var:
    """Return x with elements zeroed at random and the others scaled up."""

def dropout1d(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = True, *, training: _builtins.bool = ...
) -> _Var:
    """Return x with whole channels of ``(N, C, L)`` or ``(C, L)`` zeroed at random."""

def dropout2d(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = True, *, training: _builtins.bool = ...
) -> _Var:
    """Return x with whole channels of ``(N, C, H, W)`` zeroed at random."""

def dropout3d(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = True, *, training: _builtins.bool = ...
) -> _Var:
    """Return x with whole channels of ``(N, C, D, H, W)`` or without N zeroed at random."""

def feature_alpha_dropout(
    x: _VarLike, p: float = 0.5, is_train: _builtins.bool = False, *, training: _builtins.bool = ...
) -> _Var:
    """Do as `alpha_dropout` to whole channels of ``(N, C, ...)``."""

def gaussian_nll_loss(
    x: _VarLike,
    target: _VarLike,
    var: _VarLike,
    full: _builtins.bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
    *,
    epsilon: float = ...,
) -> _Var:
    """Return the negative log-likelihood of normally distributed numbers."""

def poisson_nll_loss(
    x: _VarLike,
    target: _VarLike,
    log_input: _builtins.bool = True,
    full: _builtins.bool = False,
    *,
    eps: float = 1e-08,
    reduction: str = "mean",
    epsilon: float = ...,
) -> _Var:
    """Return the negative log-likelihood of counts of a Poisson distribution."""

def triplet_margin_loss(
    anchor: _VarLike,
    positive: _VarLike,
    negative: _VarLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: _builtins.bool = False,
    *,
    reduction: str = "mean",
    epsilon: float = ...,
) -> _Var:
    """Return how much nearer the positive should be (Balntas et al., 2016)."""

@_overload
def max_unpool1d(
    x: _VarLike,
    indices: _VarLike,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var:
    """Put the elements of ``(N, C, L)`` where `max_pool1d` took them, as `max_unpool2d`."""

@_overload
def max_unpool1d(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var: ...
@_overload
def max_unpool2d(
    x: _VarLike,
    indices: _VarLike,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var:
    """Return zeros, with elements where `max_pool2d` has found them."""

@_overload
def max_unpool2d(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var: ...
@_overload
def max_unpool3d(
    x: _VarLike,
    indices: _VarLike,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var:
    """Put the elements of ``(N, C, D, H, W)`` where `max_pool3d` took them, as `max_unpool2d`."""

@_overload
def max_unpool3d(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    kernel_size: _Numbers,
    stride: _Numbers | None = None,
    padding: _Numbers = 0,
    output_size: _Sequence[int] | None = None,
) -> _Var: ...
def gumbel_softmax(
    logits: _VarLike,
    tau: float = 1.0,
    hard: _builtins.bool = False,
    *,
    dim: int = -1,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return a sample of the Gumbel-softmax distribution (Jang et al., 2017)."""

def rrelu(
    x: _VarLike,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    is_train: _builtins.bool = False,
    *,
    training: _builtins.bool = ...,
) -> _Var:
    """Return x where it is positive, else a random slope times x (Xu et al., 2015)."""

def group_norm(
    x: _VarLike,
    num_groups: int,
    weight: _VarLike | None = None,
    bias: _VarLike | None = None,
    eps: float = 1e-05,
    *,
    epsilon: float = ...,
) -> _Var:
    """Return x with groups of channels of each image normalised together."""

def layer_norm(
    x: _VarLike,
    normalized_shape: int | _Sequence[int],
    weight: _VarLike | None = None,
    bias: _VarLike | None = None,
    eps: float = 1e-05,
    *,
    epsilon: float = ...,
) -> _Var:
    """Return x normalised over its last dimensions."""

def rms_norm(
    x: _VarLike,
    normalized_shape: int | _Sequence[int],
    weight: _VarLike | None = None,
    eps: float | None = None,
    *,
    epsilon: float | None = ...,
) -> _Var:
    """Return x divided by the root of the mean square over its last dimensions."""
