# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import celu as celu
from .. import elu as elu
from .. import gelu as gelu
from .. import glu as glu
from .. import hardshrink as hardshrink
from .. import hardsigmoid as hardsigmoid
from .. import hardswish as hardswish
from .. import hardtanh as hardtanh
from .. import leaky_relu as leaky_relu
from .. import log_sigmoid as logsigmoid
from .. import log_softmax as log_softmax
from .. import mish as mish
from .. import one_hot as one_hot
from .. import pdist as pdist
from .. import prelu as prelu
from .. import relu as relu
from .. import relu6 as relu6
from .. import selu as selu
from .. import sigmoid as sigmoid
from .. import silu as silu
from .. import softmax as softmax
from .. import softmin as softmin
from .. import softplus as softplus
from .. import softshrink as softshrink
from .. import softsign as softsign
from .. import tanh as tanh
from .. import tanhshrink as tanhshrink
from .. import threshold as threshold
from . import adaptive_avg_pool1d as adaptive_avg_pool1d
from . import adaptive_avg_pool2d as adaptive_avg_pool2d
from . import adaptive_avg_pool3d as adaptive_avg_pool3d
from . import adaptive_max_pool1d as adaptive_max_pool1d
from . import adaptive_max_pool2d as adaptive_max_pool2d
from . import adaptive_max_pool3d as adaptive_max_pool3d
from . import affine_grid as affine_grid
from . import alpha_dropout as alpha_dropout
from . import avg_pool1d as avg_pool1d
from . import avg_pool2d as avg_pool2d
from . import avg_pool3d as avg_pool3d
from . import batch_norm as batch_norm
from . import bce_loss as binary_cross_entropy
from . import bce_with_logits_loss as binary_cross_entropy_with_logits
from . import channel_shuffle as channel_shuffle
from . import conv1d as conv1d
from . import conv2d as conv2d
from . import conv3d as conv3d
from . import conv_transpose1d as conv_transpose1d
from . import conv_transpose2d as conv_transpose2d
from . import conv_transpose3d as conv_transpose3d
from . import cosine_embedding_loss as cosine_embedding_loss
from . import cosine_similarity as cosine_similarity
from . import cross_entropy_loss as cross_entropy
from . import ctc_loss as ctc_loss
from . import dropout as dropout
from . import dropout1d as dropout1d
from . import dropout2d as dropout2d
from . import dropout3d as dropout3d
from . import feature_alpha_dropout as feature_alpha_dropout
from . import fold as fold
from . import fractional_max_pool2d as fractional_max_pool2d
from . import fractional_max_pool3d as fractional_max_pool3d
from . import gaussian_nll_loss as gaussian_nll_loss
from . import grid_sample as grid_sample
from . import group_norm as group_norm
from . import gumbel_softmax as gumbel_softmax
from . import hinge_embedding_loss as hinge_embedding_loss
from . import huber_loss as huber_loss
from . import instance_norm as instance_norm
from . import interpolate as interpolate
from . import interpolate as upsample
from . import kl_div as kl_div
from . import l1_loss as l1_loss
from . import layer_norm as layer_norm
from . import local_response_norm as local_response_norm
from . import lp_pool1d as lp_pool1d
from . import lp_pool2d as lp_pool2d
from . import lp_pool3d as lp_pool3d
from . import margin_ranking_loss as margin_ranking_loss
from . import max_pool1d as max_pool1d
from . import max_pool2d as max_pool2d
from . import max_pool3d as max_pool3d
from . import max_unpool1d as max_unpool1d
from . import max_unpool2d as max_unpool2d
from . import max_unpool3d as max_unpool3d
from . import mse_loss as mse_loss
from . import multi_margin_loss as multi_margin_loss
from . import multilabel_margin_loss as multilabel_margin_loss
from . import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from . import nll_loss as nll_loss
from . import normalize as normalize
from . import pairwise_distance as pairwise_distance
from . import pixel_shuffle as pixel_shuffle
from . import pixel_unshuffle as pixel_unshuffle
from . import poisson_nll_loss as poisson_nll_loss
from . import rms_norm as rms_norm
from . import rrelu as rrelu
from . import scaled_dot_product_attention as scaled_dot_product_attention
from . import smooth_l1_loss as smooth_l1_loss
from . import soft_margin_loss as soft_margin_loss
from . import triplet_margin_loss as triplet_margin_loss
from . import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from . import unfold as unfold

__all__ = [
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
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
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
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
]
