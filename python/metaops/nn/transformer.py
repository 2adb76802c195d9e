# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The transformer (Vaswani et al., 2017), its encoder and its decoder.

Masks are those of `MultiheadAttention`: of booleans, True keeps a query from a key.
A query that is kept from all keys attends to 0.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from .._core import Var, full
from .._defaults import float_type
from .._errors import at_line
from .._typing import DType, VarLike, as_var, shown
from ..ops.elementwise.elementwise import where
from . import init
from .attention import causal
from .checks import layer_count
from .containers import ModuleList
from .module import Module
from .norm_layers import LayerNorm
from .transformer_layers import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]


def _copies(name: str, layer: Module, num_layers: int) -> ModuleList:
    count = layer_count(name, num_layers)
    if not isinstance(layer, Module):
        raise at_line(TypeError(f"{name}: a layer is {shown(layer)}, expected a module"))
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """Several layers one after the other.

    Parameters
    ----------
    encoder_layer
        A `TransformerEncoderLayer`, or a module that is called like one. Each layer is
        a copy of it, first with the same parameters.
    num_layers
        How many copies.
    norm
        Called with the last layer's result, if given.
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = _copies("TransformerEncoder", encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def execute(
        self,
        src: VarLike,
        mask: VarLike | None = None,
        src_key_padding_mask: VarLike | None = None,
        is_causal: bool | None = None,
    ) -> Var:
        """Return the result; masks are those of each layer."""
        x = as_var(src)
        for layer in self.layers:
            x = layer(
                x,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """Several layers one after the other, all with one memory.

    Parameters
    ----------
    decoder_layer
        A `TransformerDecoderLayer`, or a module that is called like one. Each layer is
        a copy of it, first with the same parameters.
    num_layers
        How many copies.
    norm
        Called with the last layer's result, if given.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = _copies("TransformerDecoder", decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def execute(
        self,
        tgt: VarLike,
        memory: VarLike,
        tgt_mask: VarLike | None = None,
        memory_mask: VarLike | None = None,
        tgt_key_padding_mask: VarLike | None = None,
        memory_key_padding_mask: VarLike | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Var:
        """Return the result; masks are those of each layer."""
        x, held = as_var(tgt), as_var(memory)
        for layer in self.layers:
            x = layer(
                x,
                held,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder, and a decoder whose memory is the encoder's result.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation
        As of `TransformerEncoderLayer`.
    num_encoder_layers, num_decoder_layers
        The numbers of layers.
    custom_encoder, custom_decoder
        Modules in place of the `TransformerEncoder` and the `TransformerDecoder`.
    layer_norm_eps, batch_first, norm_first, bias
        As of `TransformerEncoderLayer`.

    Notes
    -----
    Parameters of two dimensions or more are first as of `init.xavier_uniform`.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        options: tuple[Any, ...] = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = bool(batch_first)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(*options),
                num_encoder_layers,
                LayerNorm(d_model, layer_norm_eps, bias=bias),
            )
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*options),
                num_decoder_layers,
                LayerNorm(d_model, layer_norm_eps, bias=bias),
            )
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.ndim > 1:
                parameter.assign(init.xavier_uniform(parameter.shape, dtype=parameter.dtype))

    def execute(
        self,
        src: VarLike,
        tgt: VarLike,
        src_mask: VarLike | None = None,
        tgt_mask: VarLike | None = None,
        memory_mask: VarLike | None = None,
        src_key_padding_mask: VarLike | None = None,
        tgt_key_padding_mask: VarLike | None = None,
        memory_key_padding_mask: VarLike | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Var:
        """Return the decoder's result, of the shape of `tgt`.

        Parameters
        ----------
        src, tgt
            ``(S, N, d_model)`` and ``(T, N, d_model)``, or both without N.
        src_mask, tgt_mask, memory_mask
            `attn_mask` of self-attention in the encoder, in the decoder, and of the
            attention to the memory.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask
            `key_padding_mask` of the same.
        src_is_causal, tgt_is_causal, memory_is_causal
            `is_causal` of the same.

        Raises
        ------
        ValueError, TypeError
            As of `MultiheadAttention`.
        """
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        result: Var = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return result

    @staticmethod
    def generate_square_subsequent_mask(sz: int, dtype: DType | None = None) -> Var:
        """Return 0 on and below the diagonal and -inf above it, ``(sz, sz)``.

        Added to the scores it keeps queries from later keys, as `is_causal` does
        without a mask in memory.
        """
        return where(causal(sz, sz), full((), 0, float_type(dtype)), -math.inf)
