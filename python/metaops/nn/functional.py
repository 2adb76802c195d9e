# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions where PyTorch has them: those of the package and of its layers, by its names.

They are the same objects, as ``mo.nn.functional.relu`` is ``mo.relu``, with the parameters
that they have there. `pad` is not among them: PyTorch's has its widths in another order.
"""

from __future__ import annotations

from importlib import import_module

#: The functions by the modules that have them.
_FUNCTIONS = {
    "metaops": """
        celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_softmax mish
        one_hot pdist prelu relu relu6 selu sigmoid silu softmax softmin softplus softshrink
        softsign tanh tanhshrink threshold
    """,
    "metaops.nn": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d
        avg_pool3d batch_norm channel_shuffle conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity ctc_loss dropout
        dropout1d dropout2d dropout3d feature_alpha_dropout fold fractional_max_pool2d
        fractional_max_pool3d gaussian_nll_loss grid_sample group_norm gumbel_softmax
        hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm
        local_response_norm lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d
        max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss
        multilabel_margin_loss multilabel_soft_margin_loss nll_loss normalize pairwise_distance
        pixel_shuffle pixel_unshuffle poisson_nll_loss rms_norm rrelu
        scaled_dot_product_attention smooth_l1_loss soft_margin_loss triplet_margin_loss
        triplet_margin_with_distance_loss unfold
    """,
}

#: Functions that are called otherwise there.
_RENAMED = {
    "binary_cross_entropy": "metaops.nn.bce_loss",
    "binary_cross_entropy_with_logits": "metaops.nn.bce_with_logits_loss",
    "cross_entropy": "metaops.nn.cross_entropy_loss",
    "logsigmoid": "metaops.log_sigmoid",
    "upsample": "metaops.nn.interpolate",
}

_ORIGINS = _RENAMED | {
    name: f"{module}.{name}" for module, names in _FUNCTIONS.items() for name in names.split()
}

__all__ = sorted(_ORIGINS)


def __getattr__(name: str) -> object:
    """Return a function, which the package may publish after it imports this module."""
    if name not in _ORIGINS:
        names = import_module("metaops.compat._names")
        raise AttributeError(names.missing(__name__, name, own=__all__))
    module, _, own = _ORIGINS[name].rpartition(".")
    value = getattr(import_module(module), own)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *__all__})
