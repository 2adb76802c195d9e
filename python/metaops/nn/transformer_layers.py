# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers of transformers (Vaswani et al., 2017).

Masks are those of `MultiheadAttention`: of booleans, True keeps a query from a key.
A query that is kept from all keys attends to 0.
"""

from __future__ import annotations

from collections.abc import Callable

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from ..ops.elementwise.activations import gelu, relu
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead import MultiheadAttention
from .norm_layers import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]

#: The name of a function, or one of a Var.
Activation = str | Callable[[Var], Var]
_ACTIVATIONS: dict[str, Callable[[Var], Var]] = {"relu": relu, "gelu": gelu}


def _activation(name: str, given: Activation) -> Callable[[Var], Var]:
    if isinstance(given, str) and given in _ACTIVATIONS:
        return _ACTIVATIONS[given]
    if isinstance(given, str) or not callable(given):
        raise at_line(
            ValueError(
                f"{name}: activation is {shown(given)}, expected 'relu', 'gelu' or a function"
            )
        )
    return given


class _Layer(Module):
    """What layers of encoders and decoders have in common: the perceptron and norms."""

    def _make(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: Activation,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        attentions: tuple[str, ...],
    ) -> None:
        self.activation = _activation(type(self).__name__, activation)
        self.norm_first = bool(norm_first)
        for name in attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias=bias, batch_first=batch_first
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        for number in range(1, len(attentions) + 2):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            setattr(self, f"norm{number}", norm)
            setattr(self, f"dropout{number}", Dropout(dropout))

    def _perceptron(self, x: Var) -> Var:
        hidden = self.dropout(self.activation(self.linear1(x)))
        result: Var = self.linear2(hidden)
        return result

    def _around(self, number: int, function: Callable[[Var], Var], x: Var) -> Var:
        """Return x with what a part makes of it added, normalised before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        result: Var = (
            x + dropout(function(norm(x))) if self.norm_first else norm(x + dropout(function(x)))
        )
        return result


def _attend(
    attention: MultiheadAttention,
    x: Var,
    memory: Var | None,
    mask: VarLike | None,
    padding: VarLike | None,
    is_causal: bool,
) -> Var:
    """Return what x attends to in the memory, or in itself."""
    others = x if memory is None else memory
    result: Var = attention(
        x,
        others,
        others,
        key_padding_mask=padding,
        need_weights=False,
        attn_mask=mask,
        is_causal=is_causal,
    )[0]
    return result


class TransformerEncoderLayer(_Layer):
    """Self-attention and a perceptron, both beside a sum, with norms.

    Parameters
    ----------
    d_model
        The last extent of input and result.
    nhead
        The number of heads.
    dim_feedforward
        The extent within the perceptron.
    dropout
        The probability of `dropout` of the weights of attention, within the perceptron
        and of what is added, while the layer is trained.
    activation
        "relu", "gelu", or a function of a Var.
    layer_norm_eps
        `eps` of the norms.
    batch_first
        Whether input and result are ``(N, L, d_model)``, else ``(L, N, d_model)``.
    norm_first
        Whether norms are of what attention and perceptron get, else of the sums.
    bias
        Whether projections and norms have biases.
    """

    self_attn: MultiheadAttention

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        self._make(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            ("self_attn",),
        )

    def execute(
        self,
        src: VarLike,
        src_mask: VarLike | None = None,
        src_key_padding_mask: VarLike | None = None,
        is_causal: bool = False,
    ) -> Var:
        """Return the result, of the shape of `src`.

        Masks and errors are those of `MultiheadAttention`.
        """
        x = self._around(
            1,
            lambda x: _attend(self.self_attn, x, None, src_mask, src_key_padding_mask, is_causal),
            as_var(src),
        )
        return self._around(2, self._perceptron, x)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory and a perceptron, each beside a sum.

    Parameters are those of `TransformerEncoderLayer`.
    """

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        self._make(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            ("self_attn", "multihead_attn"),
        )

    def execute(
        self,
        tgt: VarLike,
        memory: VarLike,
        tgt_mask: VarLike | None = None,
        memory_mask: VarLike | None = None,
        tgt_key_padding_mask: VarLike | None = None,
        memory_key_padding_mask: VarLike | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Var:
        """Return the result, of the shape of `tgt`.

        Masks and errors are those of `MultiheadAttention`; the first of each pair are of
        self-attention, the second of that to the memory.
        """
        held = as_var(memory)
        x = self._around(
            1,
            lambda x: _attend(
                self.self_attn, x, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal
            ),
            as_var(tgt),
        )
        x = self._around(
            2,
            lambda x: _attend(
                self.multihead_attn,
                x,
                held,
                memory_mask,
                memory_key_padding_mask,
                memory_is_causal,
            ),
            x,
        )
        return self._around(3, self._perceptron, x)
