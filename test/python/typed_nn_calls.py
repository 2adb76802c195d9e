# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call of each function of `metaops.nn`, as in typed_calls.py.

Losses are called for each element, but for some: a mean hides what most elements are.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import metaops as mo
import numpy as np
from metaops import nn
from typed_calls import Call, plain

LABELS = np.array([0, 3, 5, 2])
SEVERAL = np.array([[0, 3, -1, 0, 0, 0], [1, -1, 0, 0, 0, 0], [2, 4, 5, -1, 0, 0], [-1] * 6])
SIGNS = np.array([[1, -1] * 3, [-1, 1] * 3] * 2)
#: Lengths of one sequence of 4 steps.
SAID = {"targets": np.array([1, 2]), "input_lengths": np.array(4), "target_lengths": np.array(2)}
#: Places of an image, floats whatever its type is.
PLACES = np.linspace(-1.2, 1.1, 2 * 5 * 3 * 2).reshape(2, 5, 3, 2).astype("float32")

_none: dict[str, Any] = {"reduction": "none"}


def _pooled(rank: int) -> Call:
    call = getattr(nn, f"max_pool{rank}d")
    return "bid"[rank - 1], lambda x: call(x, 2, return_indices=True)


def _unpooled(rank: int) -> Call:
    pool, call = getattr(nn, f"max_pool{rank}d"), getattr(nn, f"max_unpool{rank}d")
    return "bid"[rank - 1], lambda x: call(*pool(x, 2, return_indices=True), 2)


def _fractional(rank: int) -> Call:
    call = getattr(nn, f"fractional_max_pool{rank}d")
    return "bid"[rank - 1], lambda x: call(x, 2, 3, _random_samples=mo.zeros((*x.shape[:2], rank)))


def _convolved(rank: int, kind: str) -> Call:
    call = getattr(nn, f"{kind}{rank}d")
    places = (slice(0, 4), slice(None), *[slice(0, 2)] * rank)
    # The kernel has as many channels as the images.
    return "bid"[rank - 1], lambda x: call(x, mo.concat([x, x], 0)[places])


MOVING: dict[str, Call] = {
    **{f"max_pool{rank}d": _pooled(rank) for rank in (1, 2, 3)},
    **{f"max_unpool{rank}d": _unpooled(rank) for rank in (1, 2, 3)},
    **{f"fractional_max_pool{rank}d": _fractional(rank) for rank in (2, 3)},
    "adaptive_max_pool1d": ("b", lambda x: nn.adaptive_max_pool1d(x, 3)),
    "adaptive_max_pool2d": ("i", lambda x: nn.adaptive_max_pool2d(x, 3)),
    "adaptive_max_pool3d": ("d", lambda x: nn.adaptive_max_pool3d(x, 3)),
    "channel_shuffle": ("i", lambda x: nn.channel_shuffle(x, 2)),
    "pixel_shuffle": ("i", lambda x: nn.pixel_shuffle(x, 2)),
    "pixel_unshuffle": ("i", lambda x: nn.pixel_unshuffle(x, 2)),
    "unfold": ("i", lambda x: nn.unfold(x, 2)),
}

ARITHMETIC: dict[str, Call] = {
    **{f"conv{rank}d": _convolved(rank, "conv") for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": _convolved(rank, "conv_transpose") for rank in (1, 2, 3)},
    "fold": ("b", lambda x: nn.fold(x, (3, 5), (2, 2))),
}

#: The scores of numbers of 64 bits are small; else nobody can tell which is the largest.
_ATTENDED = partial(nn.scaled_dot_product_attention, scale=1e-38)

REAL: dict[str, Call] = {
    **plain("m", "normalize", nn),
    **{
        name: ("m", partial(getattr(nn, name), is_train=True))
        for name in ("alpha_dropout", "feature_alpha_dropout")
    },
    **plain("m m", "cosine_similarity pairwise_distance", nn),
    **plain("i", "global_avg_pool2d instance_norm", nn),
    "adaptive_avg_pool1d": ("b", lambda x: nn.adaptive_avg_pool1d(x, 3)),
    "adaptive_avg_pool2d": ("i", lambda x: nn.adaptive_avg_pool2d(x, 4)),
    "adaptive_avg_pool3d": ("d", lambda x: nn.adaptive_avg_pool3d(x, 3)),
    "avg_pool1d": ("b", lambda x: nn.avg_pool1d(x, 3, 2, 1)),
    "avg_pool2d": ("i", lambda x: nn.avg_pool2d(x, 2)),
    "avg_pool3d": ("d", lambda x: nn.avg_pool3d(x, 2)),
    "batch_norm": ("i", lambda x: nn.batch_norm(x, None, None, is_train=True)),
    "bce_loss": ("mp mp", partial(nn.bce_loss, **_none)),
    "bce_with_logits_loss": ("m mp", partial(nn.bce_with_logits_loss, **_none)),
    "cosine_embedding_loss": (
        "m m",
        lambda x, y: nn.cosine_embedding_loss(x, y, SIGNS[:, 0], **_none),
    ),
    "dropout": ("m", nn.dropout),
    "dropout1d": ("b", nn.dropout1d),
    "dropout2d": ("i", nn.dropout2d),
    "dropout3d": ("d", nn.dropout3d),
    "gaussian_nll_loss": ("m m m+", partial(nn.gaussian_nll_loss, **_none)),
    "group_norm": ("i v v", lambda x, w, b: nn.group_norm(x, 2, w[:4], b[:4])),
    "hinge_embedding_loss": ("m", lambda x: nn.hinge_embedding_loss(x, SIGNS, 3, **_none)),
    "huber_loss": ("m m", partial(nn.huber_loss, **_none)),
    "kl_div": ("m m+", partial(nn.kl_div, **_none)),
    "l1_loss": ("m m", nn.l1_loss),
    "layer_norm": ("m v v", lambda x, w, b: nn.layer_norm(x, 6, w[:6], b[:6])),
    "local_response_norm": ("b", lambda x: nn.local_response_norm(x, 3)),
    "lp_pool1d": ("b+", lambda x: nn.lp_pool1d(x, 3, 2)),
    "lp_pool2d": ("i+", lambda x: nn.lp_pool2d(x, 2, 2)),
    "lp_pool3d": ("d+", lambda x: nn.lp_pool3d(x, 1.5, 2)),
    "margin_ranking_loss": ("m m", lambda x, y: nn.margin_ranking_loss(x, y, SIGNS, 3, **_none)),
    "mse_loss": ("m m", nn.mse_loss),
    "multilabel_soft_margin_loss": ("m mp", partial(nn.multilabel_soft_margin_loss, **_none)),
    "poisson_nll_loss": ("m+ m+", partial(nn.poisson_nll_loss, log_input=False, **_none)),
    "rms_norm": ("m v", lambda x, w: nn.rms_norm(x, 6, w[:6], 1e-5)),
    "scaled_dot_product_attention": ("b b b", _ATTENDED),
    "smooth_l1_loss": ("m m", partial(nn.smooth_l1_loss, beta=2, **_none)),
    "soft_margin_loss": ("m", lambda x: nn.soft_margin_loss(x, SIGNS, **_none)),
    "triplet_margin_loss": ("m m m", partial(nn.triplet_margin_loss, **_none)),
    "triplet_margin_with_distance_loss": (
        "m m m",
        partial(
            nn.triplet_margin_with_distance_loss,
            distance_function=lambda x, y: ((x - y) * (x - y)).sum(-1),
            **_none,
        ),
    ),
}

#: Calls whose draws depend on the type in which they compute.
DRAWN: dict[str, Call] = {
    "gumbel_softmax": ("m", nn.gumbel_softmax),
    "rrelu": ("m", partial(nn.rrelu, is_train=True)),
}

#: These refuse integers.
FLOATS_ALONE: dict[str, Call] = {
    "affine_grid": ("q", lambda x: nn.affine_grid(x[:2, :3].unsqueeze(0), (1, 1, 3, 3))),
    "cross_entropy_loss": ("m", lambda x: nn.cross_entropy_loss(x, LABELS, **_none)),
    "ctc_loss": ("m", lambda x: nn.ctc_loss(x, **SAID)),
    "grid_sample": ("i", lambda x: nn.grid_sample(x, PLACES)),
    "interpolate": ("i", lambda x: nn.interpolate(x, 5, mode="bilinear")),
    "multi_margin_loss": ("m", lambda x: nn.multi_margin_loss(x, LABELS, **_none)),
    "multilabel_margin_loss": ("m", lambda x: nn.multilabel_margin_loss(x, SEVERAL, **_none)),
    "nll_loss": ("m", lambda x: nn.nll_loss(x, LABELS, **_none)),
}
