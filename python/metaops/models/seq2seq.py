# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation by two LSTMs, with attention.

Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks", 2014; Luong,
Pham and Manning, "Effective Approaches to Attention-based Neural Machine Translation", 2015,
section 3.1, with the score "general".
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from .._errors import at_line
from .._typing import as_count
from ..control_flow.loops import fori_loop
from ..gradients import no_grad
from ..nn.modes import used
from ..ops.create import creation
from ..ops.elementwise.functions import tanh
from ..ops.shape.stacking import concat
from .checks import check_counts, check_texts

__all__ = ["Seq2Seq"]

#: h and c of all layers.
State = tuple[Var, Var]


class Seq2Seq(nn.Module):
    """An LSTM reads a text, another one writes one and looks back at each word.

    Parameters
    ----------
    source_size, target_size
        How many tokens the languages have.
    hidden_size
        The width of embeddings and of states.
    num_layers
        Of each LSTM.
    dropout
        The probability of `Dropout` between their layers.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        hidden_size: int = 256,
        num_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        check_counts("Seq2Seq", source_size=source_size, target_size=target_size)
        check_counts("Seq2Seq", hidden_size=hidden_size, num_layers=num_layers)
        PROBABILITY.check("Seq2Seq", dropout=dropout)
        width = hidden_size
        self.source = nn.Embedding(source_size, width)
        self.target = nn.Embedding(target_size, width)
        self.encoder = nn.LSTM(width, width, num_layers, batch_first=True, dropout=dropout)
        self.decoder = nn.LSTM(width, width, num_layers, batch_first=True, dropout=dropout)
        self.score = nn.Linear(width, width, bias=False)
        self.combine = nn.Linear(2 * width, width, bias=False)
        self.head = nn.Linear(width, target_size)

    def execute(self, source: Var, target: Var) -> Var:
        """Return scores ``(N, T, target_size)`` of the tokens after those of targets.

        Parameters
        ----------
        source, target
            Tokens, (N, S) and (N, T); a target begins with a token that says so.
        """
        check_texts("Seq2Seq", source, 1)
        check_texts("Seq2Seq", target, 1)
        read, state = self.encoder(self.source(source))
        return self._write(target, read, state)[0]

    def _write(self, tokens: Var, read: Var, state: State) -> tuple[Var, State]:
        """Return the scores after tokens, and the decoder's state then."""
        states, state = self.decoder(self.target(tokens), state)
        # Luong et al., equations 5 to 8.
        weights = (self.score(states) @ read.transpose(0, 2, 1)).softmax(-1)
        both = concat([weights @ read, states], 2)
        return self.head(tanh(self.combine(both))), state

    @no_grad()
    def translate(self, source: Var, first: int, length: int) -> Var:
        """Return texts (N, length), int64, each token the likeliest after those before it.

        Nothing is dropped, also while the model is trained.

        Parameters
        ----------
        source
            Tokens, (N, S).
        first
            The token that a target begins with; it is not in the result.
        length
            How many tokens are written.

        Raises
        ------
        ValueError
            If there is no such first token.
        """
        length = as_count("translate: length", length)
        first = as_count("translate: first", first, 0)
        if first >= (most := self.target.num_embeddings):
            raise at_line(ValueError(f"translate: first is {first}, expected a token below {most}"))
        check_texts("translate", source, 1)

        with used(self):
            read, state = self.encoder(self.source(source))

            def follow(place: Var, carry: tuple[Var, State]) -> tuple[Var, State]:
                texts, state = carry
                scores, state = self._write(texts[:, place].unsqueeze(1), read, state)
                return texts.at[:, place + 1].set(scores[:, 0].argmax(1)), state

            begin = creation.full((source.shape[0], 1), first, "int64")
            rest = creation.zeros((source.shape[0], length), "int64")
            texts = concat([begin, rest], 1)
            return fori_loop(0, length, follow, (texts, state))[0][:, 1:]
