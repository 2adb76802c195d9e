# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2: a language model that reads from left to right.

Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.3;
layers are those of Vaswani et al., "Attention Is All You Need", 2017, with norms before each
part. Names of parameters are transformers'.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .._domains import DEVIATION, PROBABILITY
from .._errors import at_line
from .._typing import as_count
from ..control_flow.loops import fori_loop
from ..gradients import no_grad
from ..nn.modes import used
from ..ops.create import creation
from ..ops.elementwise.activations import gelu
from ..ops.shape.stacking import concat
from ..random.categories import categorical
from .checks import check_counts, check_divisor, check_texts
from .heads import merge_heads, split_heads

__all__ = ["GPT2LMHeadModel", "gpt2"]

#: Keys and values of a layer, ``(N, heads, places, depth)``.
Cache = list[tuple[Var, Var]]


class Conv1D(nn.Module):
    """A linear layer whose weight is ``(inputs, outputs)``, as GPT-2's files have it."""

    def __init__(self, outputs: int, inputs: int) -> None:
        self.weight = creation.zeros((inputs, outputs))
        self.bias = creation.zeros((outputs,))

    def execute(self, x: Var) -> Var:
        """Return ``x @ weight + bias``."""
        return x @ self.weight + self.bias


class Attention(nn.Module):
    """Each place attends to those before it and to itself (Vaswani et al., section 3.2)."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.heads = heads
        self.c_attn = Conv1D(3 * width, width)
        self.c_proj = Conv1D(width, width)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)

    def execute(
        self, x: Var, cache: tuple[Var, Var] | None, place: int | Var
    ) -> tuple[Var, tuple[Var, Var]]:
        """Return what x attends to, and the keys and values of all places so far."""
        L, drop = x.shape[1], self.attn_dropout
        q, k, v = (split_heads(part, self.heads) for part in self.c_attn(x).split(3, dim=2))
        mask = None
        if cache is not None:
            k, v = (_insert(old, new, place) for old, new in zip(cache, (k, v), strict=True))
            own = place + creation.arange(L).reshape(L, 1)
            mask = creation.arange(k.shape[2]) <= own
        dropped = drop.p if drop.is_train else 0.0
        mixed = nn.scaled_dot_product_attention(q, k, v, mask, dropped, mask is None)
        return self.resid_dropout(self.c_proj(merge_heads(mixed))), (k, v)


def _insert(old: Var, new: Var, place: int | Var) -> Var:
    """Return a cache with new keys or values from a place on."""
    count = new.shape[2]
    if count == 1:
        return old.at[:, :, place].set(new[:, :, 0])
    if isinstance(place, Var):
        return old.at[:, :, place + creation.arange(count)].set(new)
    return old.at[:, :, place : place + count].set(new)


class MLP(nn.Module):
    """Two linear layers, the inner one four times as wide (Vaswani et al., section 3.3)."""

    def __init__(self, width: int, dropout: float) -> None:
        self.c_fc = Conv1D(4 * width, width)
        self.c_proj = Conv1D(width, 4 * width)
        self.dropout = nn.Dropout(dropout)

    def execute(self, x: Var) -> Var:
        """Return the layer's result."""
        return self.dropout(self.c_proj(gelu(self.c_fc(x), "tanh")))


class Block(nn.Module):
    """Attention and two linear layers, each after a norm and beside a sum."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, dropout)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = MLP(width, dropout)

    def execute(
        self, x: Var, cache: tuple[Var, Var] | None, place: int | Var
    ) -> tuple[Var, tuple[Var, Var]]:
        """Return the block's states, and its cache."""
        mixed, cache = self.attn(self.ln_1(x), cache, place)
        x = x + mixed
        return x + self.mlp(self.ln_2(x)), cache


class GPT2Model(nn.Module):
    """Embeddings of tokens and of places, blocks, and a norm; see `GPT2LMHeadModel`."""

    def __init__(
        self,
        vocab_size: int,
        n_positions: int,
        n_embd: int,
        n_layer: int,
        n_head: int,
        dropout: float,
        deviation: float,
    ) -> None:
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(n_positions, n_embd)
        self.drop = nn.Dropout(dropout)
        self.h = [Block(n_embd, n_head, dropout) for _ in range(n_layer)]
        self.ln_f = nn.LayerNorm(n_embd)
        for layer in self.modules():
            if isinstance(layer, (nn.Embedding, Conv1D)):
                layer.weight = nn.init.normal(layer.weight.shape, std=deviation)
        for block in self.h:
            # Sums of so many parts keep their size (section 2.3).
            for layer in (block.attn.c_proj, block.mlp.c_proj):
                layer.weight = layer.weight / (2 * n_layer) ** 0.5

    def execute(
        self, tokens: Var, cache: Cache | None = None, place: int | Var = 0
    ) -> tuple[Var, Cache]:
        """Return the states of tokens (N, L) from a place on, and keys and values."""
        places = place + creation.arange(tokens.shape[1])
        x = self.drop(self.wte(tokens) + self.wpe(places))
        following: Cache = []
        for number, block in enumerate(self.h):
            x, own = block(x, None if cache is None else cache[number], place)
            following.append(own)
        return self.ln_f(x), following


class GPT2LMHeadModel(nn.Module):
    """Scores of the token after each place; the last layer's weights are the embeddings.

    Parameters
    ----------
    vocab_size
        How many tokens there are.
    n_positions
        The most tokens of a text.
    n_embd
        The width of states.
    n_layer
        The number of blocks.
    n_head
        The number of heads, which divides the width.
    dropout
        The probability of `Dropout` of embeddings, of weights of attention, and of what
        blocks add.
    initializer_range
        The deviation of first weights; narrow models learn faster with a larger one.
    """

    def __init__(
        self,
        vocab_size: int = 50257,
        n_positions: int = 1024,
        n_embd: int = 768,
        n_layer: int = 12,
        n_head: int = 12,
        dropout: float = 0.1,
        initializer_range: float = 0.02,
    ) -> None:
        name = "GPT2LMHeadModel"
        check_counts(name, vocab_size=vocab_size, n_positions=n_positions, n_layer=n_layer)
        check_divisor(name, "n_embd", n_embd, "n_head", n_head)
        PROBABILITY.check(name, dropout=dropout)
        DEVIATION.check(name, initializer_range=initializer_range)
        self.n_positions, self.n_head = n_positions, n_head
        self.transformer = GPT2Model(
            vocab_size, n_positions, n_embd, n_layer, n_head, dropout, initializer_range
        )
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def execute(self, tokens: Var) -> Var:
        """Return scores ``(N, L, vocab_size)`` of the tokens after those of texts (N, L).

        Raises
        ------
        ValueError
            If texts are longer than `n_positions`.
        """
        check_texts("GPT2LMHeadModel", tokens, 1, self.n_positions)
        return self.lm_head(self.transformer(tokens)[0])

    def make_cache(self, count: int, length: int) -> Cache:
        """Return an empty cache for keys and values of so many texts of a length.

        Raises
        ------
        ValueError
            If the length is over `n_positions`.
        """
        count = as_count("make_cache: count", count, 0)
        length = as_count("make_cache: length", length)
        if length > self.n_positions:
            raise at_line(
                ValueError(f"make_cache: length is {length}, expected at most {self.n_positions}")
            )
        weight = self.lm_head.weight
        shape = (count, self.n_head, length, weight.shape[1] // self.n_head)
        return [
            (creation.zeros(shape, weight.dtype), creation.zeros(shape, weight.dtype))
            for _ in self.transformer.h
        ]

    def step(self, tokens: Var, cache: Cache, place: int | Var) -> tuple[Var, Cache]:
        """Return scores of what follows tokens (N, L) at a place of texts, and the cache.

        A place is a number, or a Var of one.
        """
        check_texts("step", tokens, 1)
        states, cache = self.transformer(tokens, cache, place)
        return self.lm_head(states), cache

    @no_grad()
    def generate(self, tokens: Var, max_new_tokens: int, temperature: float = 0.0) -> Var:
        """Return texts (N, L) and so many tokens more of each, int64.

        All is one program, whose caches have a fixed size; with `mo.jit` it is recorded once.
        Nothing is dropped, also while the model is trained.

        Parameters
        ----------
        tokens
            What the texts begin with, integers, one token at least.
        max_new_tokens
            How many follow.
        temperature
            What scores are divided by before a token is drawn; with 0 it is the likeliest.

        Raises
        ------
        ValueError
            If texts get longer than `n_positions`, or the temperature is negative.
        """
        count = as_count("generate: max_new_tokens", max_new_tokens)
        DEVIATION.check("generate", temperature=temperature)
        check_texts("generate", tokens, 1, self.n_positions)
        tokens, first = tokens.cast("int64"), tokens.shape[1]
        if first + count > self.n_positions:
            raise at_line(
                ValueError(
                    f"generate: texts have {first} + {count} tokens, expected at most"
                    f" {self.n_positions}"
                )
            )

        def choose(tokens: Var, cache: Cache, place: int | Var) -> tuple[Var, Cache]:
            """Return the tokens (N,) after the last ones."""
            states, cache = self.transformer(tokens, cache, place)
            scores = self.lm_head(states[:, -1])
            if not temperature:
                return scores.argmax(1), cache
            return categorical((scores - scores.max(1, True)) / temperature), cache

        def follow(place: Var, carry: tuple[Var, Cache]) -> tuple[Var, Cache]:
            texts, cache = carry
            chosen, cache = choose(texts[:, place].unsqueeze(1), cache, place)
            return texts.at[:, place + 1].set(chosen), cache

        with used(self):
            cache = self.make_cache(tokens.shape[0], first + count)
            chosen, cache = choose(tokens, cache, 0)
            rest = creation.zeros((tokens.shape[0], count - 1), "int64")
            texts = concat([tokens, chosen.cast("int64").unsqueeze(1), rest], 1)
            return fori_loop(first, first + count - 1, follow, (texts, cache))[0]


def gpt2(dropout: float = 0.1) -> GPT2LMHeadModel:
    """Return `GPT2LMHeadModel` of 12 layers of 768, the smallest one (Table 2)."""
    return GPT2LMHeadModel(dropout=dropout)
