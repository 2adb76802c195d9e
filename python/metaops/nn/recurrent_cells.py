# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks of one layer that make one step."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_integer, as_var
from . import init
from .module import Module
from .recurrence import (
    Elman,
    Gated,
    LongShortTerm,
    Recurrence,
    State,
    Weights,
    check_nonlinearity,
    checked_state,
    one_step,
    pair_of_states,
)

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _Cell(Module):
    """What the cells have in common: parameters and checks."""

    weight_ih: Var
    weight_hh: Var
    bias_ih: Var | None
    bias_hh: Var | None

    def _make(self, recurrence: Recurrence, input_size: int, hidden_size: int, bias: bool) -> None:
        hidden_size = as_integer(type(self).__name__, "hidden_size", hidden_size)
        self._recurrence = recurrence
        self.input_size = input_size
        self.hidden_size = hidden_size
        bound = 1.0 / math.sqrt(max(hidden_size, 1))
        rows = recurrence.gates * hidden_size
        self.weight_ih = init.uniform((rows, input_size), -bound, bound)
        self.weight_hh = init.uniform((rows, hidden_size), -bound, bound)
        self.bias_ih = init.uniform((rows,), -bound, bound) if bias else None
        self.bias_hh = init.uniform((rows,), -bound, bound) if bias else None

    def _advance(self, x: VarLike, given: Sequence[VarLike] | None) -> State:
        """Return the next state, without a batch where x has none."""
        name, x = type(self).__name__, as_var(x)
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise at_line(
                ValueError(
                    f"{name}: input has shape {x.shape}, expected (N, {self.input_size}) or"
                    f" ({self.input_size},)"
                )
            )
        batched = x if x.ndim == 2 else x.unsqueeze(0)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        state = None
        if given is not None:
            expected = (*x.shape[:-1], self.hidden_size)
            state = tuple(
                checked_state(name, what, tensor, expected).reshape(
                    (batched.shape[0], self.hidden_size)
                )
                for what, tensor in zip("hc", given, strict=False)
            )
        following = one_step(self._recurrence, weights, batched, state)
        return following if x.ndim == 2 else tuple(tensor.squeeze(0) for tensor in following)

    def extra_repr(self) -> str:
        """Return the cell's extents."""
        return f"{self.input_size}, {self.hidden_size}, bias={self.bias_ih is not None}"


class RNNCell(_Cell):
    """One step of an Elman network: ``tanh(W x + b + U h + d)``.

    Parameters
    ----------
    input_size, hidden_size
        The last extents of the input and of the state.
    bias
        Whether b and d are there.
    nonlinearity
        "tanh", or "relu" in its place.

    Attributes
    ----------
    weight_ih, weight_hh : Var
        W, ``(hidden_size, input_size)``, and U, ``(hidden_size, hidden_size)``, uniform
        within ``1 / sqrt(hidden_size)`` of 0.
    bias_ih, bias_hh : Var or None
        b and d, ``(hidden_size,)``, likewise.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ) -> None:
        check_nonlinearity("RNNCell", nonlinearity)
        self._make(Elman(nonlinearity), input_size, hidden_size, bias)
        self.nonlinearity = nonlinearity

    def execute(self, x: VarLike, hx: VarLike | None = None) -> Var:
        """Return the next state, ``(N, hidden_size)`` for x of ``(N, input_size)``.

        Without `hx`, the state before, it is zeros. Both may lack the batch.

        Raises
        ------
        ValueError
            If a shape is another one.
        """
        return self._advance(x, None if hx is None else (hx,))[0]


class GRUCell(_Cell):
    """One step of a GRU, with gates r, z and n one below the other.

    ``r = sigmoid(W x + b + U h + d)``, z likewise, ``n = tanh(W x + b + r * (U h + d))``,
    each with its rows of the parameters; the next state is ``(1 - z) * n + z * h``
    (Cho et al., 2014).

    Parameters
    ----------
    input_size, hidden_size
        The last extents of the input and of the state.
    bias
        Whether b and d are there.

    Attributes
    ----------
    weight_ih, weight_hh : Var
        W, ``(3 * hidden_size, input_size)``, and U, ``(3 * hidden_size, hidden_size)``,
        uniform within ``1 / sqrt(hidden_size)`` of 0.
    bias_ih, bias_hh : Var or None
        b and d, ``(3 * hidden_size,)``, likewise.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        self._make(Gated(), input_size, hidden_size, bias)

    def execute(self, x: VarLike, hx: VarLike | None = None) -> Var:
        """Return the next state, ``(N, hidden_size)`` for x of ``(N, input_size)``.

        Without `hx`, the state before, it is zeros. Both may lack the batch.

        Raises
        ------
        ValueError
            If a shape is another one.
        """
        return self._advance(x, None if hx is None else (hx,))[0]


class LSTMCell(_Cell):
    """One step of an LSTM, with gates i, f, g and o one below the other.

    ``i = sigmoid(W x + b + U h + d)``, f and o likewise, g with tanh; then
    ``c' = f * c + i * g`` and ``h' = o * tanh(c')`` (Hochreiter & Schmidhuber, 1997).

    Parameters
    ----------
    input_size, hidden_size
        The last extents of the input and of the state.
    bias
        Whether b and d are there.

    Attributes
    ----------
    weight_ih, weight_hh : Var
        W, ``(4 * hidden_size, input_size)``, and U, ``(4 * hidden_size, hidden_size)``,
        uniform within ``1 / sqrt(hidden_size)`` of 0.
    bias_ih, bias_hh : Var or None
        b and d, ``(4 * hidden_size,)``, likewise.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        self._make(LongShortTerm(), input_size, hidden_size, bias)

    def execute(self, x: VarLike, hx: tuple[VarLike, VarLike] | None = None) -> tuple[Var, Var]:
        """Return the next h and c, both ``(N, hidden_size)``, for x ``(N, input_size)``.

        Without `hx`, the pair (h, c) before, these are zeros. All may lack the batch.

        Raises
        ------
        ValueError
            If a shape is another one.
        TypeError
            If `hx` is no pair.
        """
        h, c = self._advance(x, None if hx is None else pair_of_states("LSTMCell", hx))
        return h, c
