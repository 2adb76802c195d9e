# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT: states of tokens that see both sides.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding", 2019. Names of parameters are transformers'.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from .._errors import at_line
from ..ops.create import creation
from ..ops.elementwise.activations import gelu
from ..ops.elementwise.functions import tanh
from .checks import check_counts, check_divisor, check_texts
from .heads import merge_heads, split_heads

__all__ = ["BertModel", "BertOutput", "bert_base"]

_EPS = 1e-12


class BertOutput(NamedTuple):
    """What `BertModel` returns."""

    #: The states of all tokens, ``(N, L, hidden_size)``.
    last_hidden_state: Var
    #: A state of each text, made of its first token's, ``(N, hidden_size)``.
    pooler_output: Var


class Embeddings(nn.Module):
    """Sums of embeddings of tokens, of places and of segments (section 3, Figure 2)."""

    def __init__(
        self, vocabulary: int, places: int, kinds: int, width: int, dropout: float
    ) -> None:
        # Token 0 is padding, which is not trained.
        self.word_embeddings = nn.Embedding(vocabulary, width, padding_idx=0)
        self.position_embeddings = nn.Embedding(places, width)
        self.token_type_embeddings = nn.Embedding(kinds, width)
        self.LayerNorm = nn.LayerNorm(width, _EPS)
        self.dropout = nn.Dropout(dropout)

    def execute(self, tokens: Var, kinds: Var | None) -> Var:
        """Return the first states."""
        segments = creation.zeros(tokens.shape, "int64") if kinds is None else kinds
        places = self.position_embeddings(creation.arange(tokens.shape[1]))
        x = self.word_embeddings(tokens) + self.token_type_embeddings(segments) + places
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Module):
    """Scaled dot products of several heads."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def execute(self, x: Var, mask: Var | None) -> Var:
        """Return the mixed states."""
        layers, drop = (self.query, self.key, self.value), self.dropout
        q, k, v = (split_heads(layer(x), self.heads) for layer in layers)
        dropped = drop.p if drop.is_train else 0.0
        return merge_heads(nn.scaled_dot_product_attention(q, k, v, mask, dropped))


class Output(nn.Module):
    """A linear layer, a sum with what was before, and a norm."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        self.dense = nn.Linear(inputs, width)
        self.LayerNorm = nn.LayerNorm(width, _EPS)
        self.dropout = nn.Dropout(dropout)

    def execute(self, x: Var, before: Var) -> Var:
        """Return the new states."""
        return self.LayerNorm(self.dropout(self.dense(x)) + before)


class Attention(nn.Module):
    """Attention, and what follows it."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.self = SelfAttention(width, heads, dropout)
        self.output = Output(width, width, dropout)

    def execute(self, x: Var, mask: Var | None) -> Var:
        """Return the new states."""
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    """A wider linear layer and an activation."""

    def __init__(self, width: int, inner: int) -> None:
        self.dense = nn.Linear(width, inner)

    def execute(self, x: Var) -> Var:
        """Return the inner states."""
        return gelu(self.dense(x))


class Layer(nn.Module):
    """Attention and two linear layers, with norms of the sums."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        self.attention = Attention(width, heads, dropout)
        self.intermediate = Intermediate(width, inner)
        self.output = Output(inner, width, dropout)

    def execute(self, x: Var, mask: Var | None) -> Var:
        """Return the new states."""
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    """Layers, one after the other."""

    def __init__(self, count: int, width: int, heads: int, inner: int, dropout: float) -> None:
        self.layer = nn.ModuleList(Layer(width, heads, inner, dropout) for _ in range(count))

    def execute(self, x: Var, mask: Var | None) -> Var:
        """Return the last states."""
        for layer in self.layer:
            x = layer(x, mask)
        return x


class Pooler(nn.Module):
    """A state of a whole text, made of its first token's."""

    def __init__(self, width: int) -> None:
        self.dense = nn.Linear(width, width)

    def execute(self, x: Var) -> Var:
        """Return the states of texts."""
        return tanh(self.dense(x[:, 0]))


class BertModel(nn.Module):
    """Embeddings, layers of attention to both sides, and a state of the whole text.

    Parameters
    ----------
    vocab_size
        How many tokens there are.
    hidden_size
        The width of states.
    num_hidden_layers
        The number of layers.
    num_attention_heads
        The number of heads, which divides the width.
    intermediate_size
        The width within the linear layers.
    max_position_embeddings
        The most tokens of a text.
    type_vocab_size
        How many segments a text may have.
    dropout
        The probability of `Dropout` of embeddings, of weights of attention, and of what
        layers add.
    """

    def __init__(
        self,
        vocab_size: int = 30522,
        hidden_size: int = 768,
        num_hidden_layers: int = 12,
        num_attention_heads: int = 12,
        intermediate_size: int = 3072,
        max_position_embeddings: int = 512,
        type_vocab_size: int = 2,
        dropout: float = 0.1,
    ) -> None:
        name, width, heads = "BertModel", hidden_size, num_attention_heads
        places, kinds, inner = max_position_embeddings, type_vocab_size, intermediate_size
        check_divisor(name, "hidden_size", width, "num_attention_heads", heads)
        check_counts(name, vocab_size=vocab_size, max_position_embeddings=places)
        check_counts(name, type_vocab_size=kinds, intermediate_size=inner)
        check_counts(name, num_hidden_layers=num_hidden_layers)
        PROBABILITY.check(name, dropout=dropout)
        self.max_position_embeddings = places
        self.embeddings = Embeddings(vocab_size, places, kinds, width, dropout)
        self.encoder = Encoder(num_hidden_layers, width, heads, inner, dropout)
        self.pooler = Pooler(width)
        for layer in self.modules():
            if isinstance(layer, (nn.Linear, nn.Embedding)):
                layer.weight = nn.init.normal(layer.weight.shape, std=0.02)
            if isinstance(layer, nn.Linear):
                layer.bias = creation.zeros((layer.out_features,))
        words = self.embeddings.word_embeddings
        words.weight = words.weight.at[0].set(0.0)

    def execute(
        self,
        input_ids: Var,
        attention_mask: Var | None = None,
        token_type_ids: Var | None = None,
    ) -> BertOutput:
        """Return the states of texts.

        Parameters
        ----------
        input_ids
            Tokens, integers ``(N, L)``.
        attention_mask
            Of the same shape, 0 where a token is padding that none attends to.
        token_type_ids
            The segment of each token, of the same shape; 0 if not given.

        Raises
        ------
        ValueError
            If texts are longer than `max_position_embeddings`, or shapes differ.
        """
        check_texts("BertModel", input_ids, 1, self.max_position_embeddings)
        for name, given in (("attention_mask", attention_mask), ("token_type_ids", token_type_ids)):
            if given is not None and given.shape != input_ids.shape:
                raise at_line(
                    ValueError(
                        f"BertModel: {name} has shape {given.shape}, expected {input_ids.shape}"
                    )
                )
        mask = None if attention_mask is None else (attention_mask != 0)[:, None, None, :]
        states = self.encoder(self.embeddings(input_ids, token_type_ids), mask)
        return BertOutput(states, self.pooler(states))


def bert_base(dropout: float = 0.1) -> BertModel:
    """Return `BertModel` of 12 layers of 768 (section 3)."""
    return BertModel(dropout=dropout)
