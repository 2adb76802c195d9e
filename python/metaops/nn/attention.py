# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention (Vaswani et al., 2017).

Masks are of two kinds. One of floats is added to the scores, so that -inf keeps a query
from a key. Of one of booleans, True lets a query attend to a key here, but keeps it from
the key in `MultiheadAttention` and the layers made of it: both as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._core import Var, iota, matmul
from .._domains import FINITE
from .._errors import at_line
from .._precision import computed
from .._typing import VarLike, as_var, widened_together
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.functions import exp
from .checks import check_probability
from .dropout import dropout

__all__ = ["scaled_dot_product_attention"]


def _parts_of_softmax(scores: Var, is_safe: bool) -> tuple[Var, Var]:
    """Return what the softmax along the last dimension is the product of.

    That are the exponentials and, for each row, one divided by their sum. If all scores
    of a row are -inf, the former are 0 with `is_safe`, else NaN.
    """
    largest = scores.max(-1, True).detach()
    if is_safe:
        largest = where(largest == -math.inf, 0, largest)
    numerator = exp(scores - largest)
    total = numerator.sum(-1, True)
    return numerator, 1.0 / (where(total == 0, 1, total) if is_safe else total)


def causal(rows: int, columns: int) -> Var:
    """Return which keys are not after their query, booleans ``(rows, columns)``."""
    shape = (rows, columns)
    return iota(shape, 1, "int32") <= iota(shape, 0, "int32")


def _grouped_matmul(a: Var, b: Var) -> Var:
    """Multiply stacks of matrices, each of b's last stack with several of a's."""
    heads, groups = a.shape[-3:-2], b.shape[-3:-2]
    if not heads or not groups or not 0 < groups[0] < heads[0]:
        return matmul(a, b)
    *batch, count, rows, inner = a.shape
    # Those that meet one matrix of b are one tall matrix.
    tall = a.reshape((*batch, groups[0], count // groups[0] * rows, inner))
    joint = matmul(tall, b)
    return joint.reshape((*joint.shape[:-3], count, rows, b.shape[-1]))


def _masked(name: str, scores: Var, mask: Var) -> Var:
    """Return the scores, -inf where the mask is False, or with a mask of floats added.

    Raises
    ------
    ValueError
        If the mask does not broadcast to the scores' shape.
    TypeError
        If it holds integers.
    """
    fits = mask.ndim <= scores.ndim and all(
        n in (1, m) for n, m in zip(reversed(mask.shape), reversed(scores.shape), strict=False)
    )
    if not fits:
        raise at_line(
            ValueError(
                f"{name}: a mask has shape {mask.shape}, which does not broadcast to {scores.shape}"
            )
        )
    if mask.dtype == "bool":
        return where(mask, scores, -math.inf)
    if "float" not in mask.dtype:
        raise at_line(TypeError(f"{name}: a mask is {mask.dtype}, expected booleans or floats"))
    return scores + mask.cast(scores.dtype)


@computed("low")
def attend(
    name: str,
    query: Var,
    key: Var,
    value: Var,
    masks: Sequence[Var],
    scale: float,
    dropout_p: float,
    is_safe: bool,
) -> tuple[Var, Var, Var]:
    """Return what each query attends to, and two factors of its weights.

    The weights' product ``(..., L, S)``, which has as many elements as the scores, is
    not made: one factor, ``(..., L, 1)``, is applied to the result. With `is_safe` a
    query that attends to no key has weights of 0, else of NaN.
    """
    # Scores, and sums that are not divided yet, may be larger than a half float.
    wide, dtype = widened_together(query, key, value)
    scores = _grouped_matmul(wide[0], wide[1].swapaxes(-1, -2)) * scale
    for mask in masks:
        scores = _masked(name, scores, mask)
    numerator, factor = _parts_of_softmax(scores, is_safe or key.shape[-2] == 0)
    if dropout_p:
        numerator = dropout(numerator, dropout_p)
    result = _grouped_matmul(numerator, wide[2]) * factor
    return result.cast(dtype), numerator, factor


def _check_operands(query: Var, key: Var, value: Var, enable_gqa: bool) -> None:
    """Raise ValueError unless shapes are those of queries, keys and values."""
    name = "scaled_dot_product_attention"
    shapes = f"query has shape {query.shape}, key {key.shape} and value {value.shape}"
    if (
        min(query.ndim, key.ndim, value.ndim) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        raise at_line(
            ValueError(f"{name}: {shapes}, expected (..., L, E), (..., S, E) and (..., S, V)")
        )
    batches = [x.shape[:-2] for x in (query, key, value)]
    if enable_gqa:
        if min(map(len, batches)) < 1:
            raise at_line(ValueError(f"{name}: {shapes}, expected heads with enable_gqa"))
        heads = [batch[-1] for batch in batches]
        if any(n == 0 or heads[0] % n for n in heads[1:]):
            raise at_line(
                ValueError(
                    f"{name}: {heads[0]} heads of queries, {heads[1]} of keys and {heads[2]} of"
                    " values, expected the first to be a multiple of the others"
                )
            )
        batches = [batch[:-1] for batch in batches]
    try:
        np.broadcast_shapes(*batches)
    except ValueError:
        raise at_line(
            ValueError(f"{name}: {shapes}, which do not broadcast together but for the last two")
        ) from None


def scaled_dot_product_attention(
    query: VarLike,
    key: VarLike,
    value: VarLike,
    attn_mask: VarLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Var:
    """Return the mean of the values, weighted by ``softmax(scale * query @ key.T)``.

    Parameters
    ----------
    query, key, value
        Floats ``(..., L, E)``, ``(..., S, E)`` and ``(..., S, V)``; what stands before
        the last two extents broadcasts.
    attn_mask
        Broadcasts to ``(..., L, S)``. Booleans: True where the query attends to the
        key. Floats: added to the scores. A query that attends to none gets 0.
    dropout_p
        The probability of `dropout` of the weights, whether a model is trained or not.
    is_causal
        Whether query i attends to keys 0 to i alone. No other mask can be given then.
    scale
        By default ``1 / sqrt(E)``.
    enable_gqa
        Whether keys and values may have fewer heads, extent -3, than queries: each is
        for as many queries side by side (Ainslie et al., 2023).

    Returns
    -------
    Var
        ``(..., L, V)``, of the type to which queries, keys and values are promoted; halves
        are computed in float32 up to it, and integers give float32.

    Raises
    ------
    ValueError
        If shapes do not fit, `dropout_p` is not in [0, 1], or there are both a mask and
        `is_causal`.
    TypeError
        If the mask holds integers.
    """
    name = "scaled_dot_product_attention"
    check_probability(name, dropout_p)
    query, key, value = as_var(query), as_var(key), as_var(value)
    _check_operands(query, key, value, enable_gqa)
    if is_causal and attn_mask is not None:
        raise at_line(ValueError(f"{name}: given both attn_mask and is_causal, expected one"))
    masks = [] if attn_mask is None else [as_var(attn_mask)]
    if is_causal:
        masks = [causal(query.shape[-2], key.shape[-2])]
    if scale is not None:
        FINITE.check(name, scale=scale)
    else:
        scale = 1.0 / math.sqrt(max(query.shape[-1], 1))
    is_safe = attn_mask is not None
    return attend(name, query, key, value, masks, scale, dropout_p, is_safe)[0]
