# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of several heads (Vaswani et al., 2017)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .._core import Var, zeros
from .._errors import at_line
from .._typing import VarLike, as_integer, as_var
from ..ops.create import creation
from ..ops.elementwise.elementwise import logical_not
from ..ops.shape.padding import pad
from ..ops.shape.stacking import concat
from . import init
from .attention import attend, causal
from .checks import check_probability
from .linear import Linear, linear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads, each with its own projections to a part of the extent.

    Parameters
    ----------
    embed_dim
        The last extent of queries and of results.
    num_heads
        Divides `embed_dim`.
    dropout
        The probability of `dropout` of the weights, while the layer is trained.
    bias
        Whether the projections have biases.
    add_bias_kv
        Whether there is one key and one value more, `bias_k` and `bias_v`.
    add_zero_attn
        Whether there is a key and a value of zeros more.
    kdim, vdim
        The last extents of keys and of values, `embed_dim` by default.
    batch_first
        Whether inputs and results are ``(N, L, ...)``, else ``(L, N, ...)``.

    Attributes
    ----------
    in_proj_weight : Var or None
        ``(3 * embed_dim, embed_dim)``, for queries, keys and values, one below the
        other. With another `kdim` or `vdim` there are `q_proj_weight`, `k_proj_weight`
        and `v_proj_weight` instead. All are as of `init.xavier_uniform`.
    in_proj_bias : Var or None
        ``(3 * embed_dim,)``, first 0.
    bias_k, bias_v : Var or None
        ``(1, 1, embed_dim)``, as of `init.xavier_normal`.
    out_proj : Linear
        From `embed_dim` to `embed_dim`, its bias first 0.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ) -> None:
        check_probability("MultiheadAttention: dropout", dropout)
        num_heads = as_integer("MultiheadAttention", "num_heads", num_heads)
        embed_dim = as_integer("MultiheadAttention", "embed_dim", embed_dim)
        if num_heads < 1 or embed_dim % num_heads:
            raise at_line(
                ValueError(
                    f"MultiheadAttention: embed_dim is {embed_dim} and num_heads {num_heads},"
                    " expected a multiple of a positive number"
                )
            )
        self.embed_dim = E = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.add_zero_attn = bool(add_zero_attn)
        self.kdim = E if kdim is None else kdim
        self.vdim = E if vdim is None else vdim
        self.batch_first = bool(batch_first)
        if self.kdim == E and self.vdim == E:
            self.in_proj_weight: Var | None = init.xavier_uniform((3 * E, E))
        else:
            self.in_proj_weight = None
            self.q_proj_weight = init.xavier_uniform((E, E))
            self.k_proj_weight = init.xavier_uniform((E, self.kdim))
            self.v_proj_weight = init.xavier_uniform((E, self.vdim))
        self.in_proj_bias = creation.zeros((3 * E,)) if bias else None
        self.bias_k = init.xavier_normal((1, 1, E)) if add_bias_kv else None
        self.bias_v = init.xavier_normal((1, 1, E)) if add_bias_kv else None
        self.out_proj = Linear(E, E, bias)
        if self.out_proj.bias is not None:
            self.out_proj.bias = creation.zeros((E,))

    def execute(
        self,
        query: VarLike,
        key: VarLike,
        value: VarLike,
        key_padding_mask: VarLike | None = None,
        need_weights: bool = True,
        attn_mask: VarLike | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Var, Var | None]:
        """Return what each query attends to.

        Parameters
        ----------
        query, key, value
            ``(L, N, embed_dim)``, ``(S, N, kdim)`` and ``(S, N, vdim)``, or all without N.
        key_padding_mask
            ``(N, S)``, or ``(S,)`` without N: True where no query attends to a key; or
            floats that are added to the scores.
        need_weights
            Whether to return the weights.
        attn_mask
            ``(L, S)``, or ``(N * num_heads, L, S)``: True where a query does not attend
            to a key; or floats that are added to the scores.
        average_attn_weights
            Whether the weights are the mean of those of all heads.
        is_causal
            Whether query i attends to keys 0 to i alone. An `attn_mask` that is given as
            well is taken for what says so.

        Returns
        -------
        (Var, Var or None)
            ``(L, N, embed_dim)``, and the weights, ``(N, L, S)`` or ``(N, num_heads, L,
            S)``, after dropout. A query that is kept from every key has weights of 0 and
            attends to 0, as in `scaled_dot_product_attention`.

        Raises
        ------
        ValueError
            If a shape does not fit.
        TypeError
            If a mask holds integers.
        """
        given = [as_var(query), as_var(key), as_var(value)]
        is_batched = self._check(given)
        masks = self._masks(given, attn_mask, key_padding_mask, is_causal)
        if not is_batched:
            given = [x.unsqueeze(0 if self.batch_first else 1) for x in given]
        # One object stays one: its projections are one product.
        if key is query and value is query:
            given = [given[0]] * 3
        q, k, v = self._heads(given)
        attended, numerator, factor = attend(
            "MultiheadAttention",
            q,
            k,
            v,
            masks,
            1.0 / math.sqrt(max(q.shape[-1], 1)),
            self.dropout if self.is_train else 0.0,
            bool(masks),
        )
        batch, _, length, _ = attended.shape
        axes, extents = ((0, 2, 1, 3), (batch, length))
        if not self.batch_first:
            axes, extents = (2, 0, 1, 3), (length, batch)
        result = self.out_proj(attended.transpose(axes).reshape((*extents, self.embed_dim)))
        if not is_batched:
            result = result.squeeze(0 if self.batch_first else 1)
        if not need_weights:
            return result, None
        weights = numerator * factor
        if average_attn_weights:
            weights = weights.mean(1)
        weights = weights.cast(q.dtype)
        return result, weights if is_batched else weights.squeeze(0)

    def _check(self, given: Sequence[Var]) -> bool:
        """Return whether queries, keys and values have a batch."""
        dims = (self.embed_dim, self.kdim, self.vdim)
        rank = given[0].ndim
        batch = 0 if self.batch_first else 1
        if (
            rank not in (2, 3)
            or any(x.ndim != rank for x in given)
            or any(x.shape[-1] != dim for x, dim in zip(given, dims, strict=True))
            or given[1].shape[:-1] != given[2].shape[:-1]
            or (rank == 3 and given[0].shape[batch] != given[1].shape[batch])
        ):
            first, second = ("N, L", "N, S") if self.batch_first else ("L, N", "S, N")
            raise at_line(
                ValueError(
                    f"MultiheadAttention: query has shape {given[0].shape}, key"
                    f" {given[1].shape} and value {given[2].shape}, expected ({first}, {dims[0]}),"
                    f" ({second}, {dims[1]}) and ({second}, {dims[2]}), or all without N"
                )
            )
        return rank == 3

    def _masks(
        self,
        given: Sequence[Var],
        attn_mask: VarLike | None,
        key_padding_mask: VarLike | None,
        is_causal: bool,
    ) -> list[Var]:
        """Return masks that broadcast to ``(N, num_heads, L, S)``, True where allowed."""
        sequence = 1 if self.batch_first and given[0].ndim == 3 else 0
        length, keys = given[0].shape[sequence], given[1].shape[sequence]
        batch = given[0].shape[1 - sequence] if given[0].ndim == 3 else 1
        masks = []
        if attn_mask is not None:
            mask = as_var(attn_mask)
            shapes: dict[tuple[int, ...], tuple[int, ...]] = {
                (length, keys): (1, 1, length, keys),
                (batch * self.num_heads, length, keys): (batch, self.num_heads, length, keys),
            }
            masks.append(self._mask("attn_mask", mask, shapes))
        elif is_causal:
            masks.append(self._extended(causal(length, keys)))
        if key_padding_mask is not None:
            mask = as_var(key_padding_mask)
            expected = (batch, keys) if given[0].ndim == 3 else (keys,)
            masks.append(self._mask("key_padding_mask", mask, {expected: (batch, 1, 1, keys)}))
        return masks

    def _mask(self, name: str, mask: Var, shapes: dict[tuple[int, ...], tuple[int, ...]]) -> Var:
        """Return a mask as it is used, of one of these shapes, each beside its new one."""
        if mask.shape not in shapes:
            raise at_line(
                ValueError(
                    f"MultiheadAttention: {name} has shape {mask.shape}, expected"
                    f" {' or '.join(map(str, shapes))}"
                )
            )
        mask = mask.reshape(shapes[mask.shape])
        return self._extended(logical_not(mask) if mask.dtype == "bool" else mask)

    def _extended(self, mask: Var) -> Var:
        """Return a mask with columns for the keys that the layer adds."""
        more = (self.bias_k is not None) + self.add_zero_attn
        if not more:
            return mask
        widths = [(0, 0)] * (mask.ndim - 1) + [(0, more)]
        return pad(mask, widths, value=mask.dtype == "bool")

    def _heads(self, given: Sequence[Var]) -> list[Var]:
        """Return the projections of queries, keys and values, ``(N, heads, L, size)``."""
        E, H = self.embed_dim, self.num_heads
        sequence = 1 if self.batch_first else 0
        projected = self._projected(given)
        for place, bias in ((1, self.bias_k), (2, self.bias_v)):
            x = projected[place]
            extents = list(x.shape)
            extents[sequence] = 1
            parts = [x]
            if bias is not None:
                parts.append(bias.broadcast(extents))
            if self.add_zero_attn:
                parts.append(zeros(extents, x.dtype))
            if len(parts) > 1:
                projected[place] = concat(parts, sequence)
        axes = (0, 2, 1, 3) if self.batch_first else (1, 2, 0, 3)
        return [x.reshape((*x.shape[:2], H, E // H)).transpose(axes) for x in projected]

    def _projected(self, given: Sequence[Var]) -> list[Var]:
        """Return the projections; those of one object side by side are one product."""
        E, joint, own = self.embed_dim, self.in_proj_weight, [0, 1, 2]
        if joint is not None:
            own = [min(k for k in range(place + 1) if given[k] is given[place]) for place in own]
        result: list[Var] = []
        for _, run in itertools.groupby(range(3), own.__getitem__):
            places = list(run)
            rows = slice(places[0] * E, (places[-1] + 1) * E)
            if joint is None:
                weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[places[0]]
            else:
                weight = joint[rows]
            bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
            x = linear(given[places[0]], weight, bias)
            result += x.split(len(places), 2)
        return result

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        return f"{self.embed_dim}, {self.num_heads}"
