# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks: layers that go through sequences.

Sequences of several lengths are padded to one extent, and `lengths` tells where each
ends. Beyond its end a sequence has no effect: the state stays, outputs are 0, and the
backward direction begins at the end. That is what packed sequences are for elsewhere;
here no order of the lengths is asked for, and outputs stay where their inputs are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._core import Var, stack
from .._errors import at_line
from .._typing import VarLike, as_integer, as_var
from ..ops.elementwise.elementwise import where
from ..ops.shape.stacking import concat
from . import init
from .checks import check_probability, layer_count
from .dropout import dropout
from .module import Module
from .recurrence import (
    Elman,
    Gated,
    LongShortTerm,
    Recurrence,
    State,
    Weights,
    all_steps,
    check_nonlinearity,
    checked_state,
    inside_of,
    pair_of_states,
)

__all__ = ["GRU", "LSTM", "RNN"]


class _Recurrent(Module):
    """What the networks have in common: parameters, checks, layers and directions."""

    def _make(
        self,
        recurrence: Recurrence,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        proj_size: int = 0,
    ) -> None:
        name = type(self).__name__
        check_probability(f"{name}: dropout", dropout)
        hidden_size = as_integer(name, "hidden_size", hidden_size)
        proj_size = as_integer(name, "proj_size", proj_size)
        if not 0 <= proj_size < max(hidden_size, 1):
            raise at_line(
                ValueError(
                    f"{name}: proj_size is {proj_size}, expected 0 or more and less than"
                    f" hidden_size, {hidden_size}"
                )
            )
        self._recurrence = recurrence
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = layer_count(name, num_layers)
        self.bias = bool(bias)
        self.batch_first = bool(batch_first)
        self.dropout = dropout
        self.bidirectional = bool(bidirectional)
        self.proj_size = proj_size
        self._suffixes = ("", "_reverse") if bidirectional else ("",)
        for layer in range(self.num_layers):
            for suffix in self._suffixes:
                self._make_weights(layer, suffix)

    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _make_weights(self, layer: int, suffix: str) -> None:
        bound = 1.0 / math.sqrt(max(self.hidden_size, 1))
        rows, outputs = self._recurrence.gates * self.hidden_size, self._output_size()
        inputs = self.input_size if layer == 0 else len(self._suffixes) * outputs
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, inputs),
            "weight_hh": (rows, outputs),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (outputs, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, f"{name}_l{layer}{suffix}", init.uniform(shape, -bound, bound))

    def _weights(self, layer: int, suffix: str) -> Weights:
        def parameter(name: str) -> Any:
            return getattr(self, f"{name}_l{layer}{suffix}", None)

        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return Weights(*map(parameter, names))

    def _run(
        self, x: VarLike, given: Sequence[VarLike] | None, lengths: VarLike | None
    ) -> tuple[Var, State]:
        """Return the outputs and the last states, shaped as the input was."""
        x = as_var(x)
        name, is_batched = type(self).__name__, x.ndim == 3
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            order = "N, T" if self.batch_first else "T, N"
            raise at_line(
                ValueError(
                    f"{name}: input has shape {x.shape}, expected ({order}, {self.input_size}) or"
                    f" (T, {self.input_size})"
                )
            )
        if not is_batched:
            x = x.unsqueeze(1)
        elif self.batch_first:
            x = x.transpose(1, 0, 2)
        steps, batch = x.shape[:2]
        states = None if given is None else self._initial(given, batch, is_batched)
        is_inside = None
        if lengths is not None:
            is_inside = inside_of(name, lengths, steps, batch, is_batched)
            # What is in the padding, be it NaN, has no part in gradients either.
            x = where(is_inside, x, 0)
        output, last = self._layers(x, states, is_inside)
        if not is_batched:
            return output.squeeze(1), tuple(tensor.squeeze(1) for tensor in last)
        return output.transpose(1, 0, 2) if self.batch_first else output, last

    def _initial(self, given: Sequence[VarLike], batch: int, is_batched: bool) -> State:
        """Return the first states, ``(layers * directions, N, size)``."""
        count = self.num_layers * len(self._suffixes)
        result = []
        sizes = (self._output_size(), self.hidden_size)
        for what, tensor, size in zip("hc", given, sizes, strict=False):
            expected = (count, batch, size) if is_batched else (count, size)
            state = checked_state(type(self).__name__, what, tensor, expected)
            result.append(state.reshape((count, batch, size)))
        return tuple(result)

    def _layers(self, x: Var, states: State | None, is_inside: Var | None) -> tuple[Var, State]:
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer > 0:
                x = dropout(x, self.dropout, self.is_train) if self.dropout else x
            outputs = []
            for suffix in self._suffixes:
                first = None if states is None else tuple(state[len(last)] for state in states)
                weights = self._weights(layer, suffix)
                output, state = all_steps(
                    self._recurrence, weights, x, first, is_inside, suffix != ""
                )
                outputs.append(output)
                last.append(state)
            x = concat(outputs, 2) if len(outputs) > 1 else outputs[0]
        return x, tuple(stack(tensors) for tensors in zip(*last, strict=True))

    def extra_repr(self) -> str:
        """Return the network's extents and options."""
        options = {
            "num_layers": (self.num_layers, 1),
            "bias": (self.bias, True),
            "batch_first": (self.batch_first, False),
            "dropout": (self.dropout, 0.0),
            "bidirectional": (self.bidirectional, False),
            "proj_size": (self.proj_size, 0),
        }
        told = [f"{key}={value}" for key, (value, usual) in options.items() if value != usual]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *told])


class RNN(_Recurrent):
    """Elman networks, one above the other: ``h' = tanh(W x + b + U h + d)``.

    Parameters
    ----------
    input_size, hidden_size
        The last extents of the input and of the state.
    num_layers
        Each layer but the first has the outputs of the one below as its input.
    nonlinearity
        "tanh", or "relu" in its place.
    bias
        Whether b and d are there.
    batch_first
        Whether inputs and outputs are ``(N, T, ...)``, else ``(T, N, ...)``. States
        are as they are.
    dropout
        The probability of `dropout` between layers, while the network is trained.
    bidirectional
        Whether each layer goes through the sequences backwards as well. Outputs of
        both directions stand side by side, the forward ones first.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0 : Var
        W, ``(hidden_size, inputs)``, and U, ``(hidden_size, hidden_size)``, uniform
        within ``1 / sqrt(hidden_size)`` of 0. Further layers are l1, l2, ...; those of
        the backward direction end with ``_reverse``.
    bias_ih_l0, bias_hh_l0 : Var
        b and d, ``(hidden_size,)``, likewise.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        check_nonlinearity("RNN", nonlinearity)
        self.nonlinearity = nonlinearity
        self._make(
            Elman(nonlinearity),
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
        )

    def execute(
        self, x: VarLike, hx: VarLike | None = None, lengths: VarLike | None = None
    ) -> tuple[Var, Var]:
        """Go through sequences.

        Parameters
        ----------
        x
            ``(T, N, input_size)``, or ``(T, input_size)`` of one sequence.
        hx
            The first states, ``(num_layers * directions, N, hidden_size)`` or without N;
            zeros if not given. A layer's two directions come one after the other.
        lengths
            Integers ``(N,)``, or one of one sequence: how many elements of each
            sequence are its own. See `metaops.nn.recurrent`.

        Returns
        -------
        (Var, Var)
            The last layer's outputs, ``(T, N, directions * hidden_size)``, and the last
            states, shaped as the first ones.

        Raises
        ------
        ValueError
            If a shape is another one, or a length is not in [0, T].
        TypeError
            If lengths are no integers.
        IndexError
            When a result is waited for, if lengths are a Var with one out of range.
        """
        output, (h,) = self._run(x, None if hx is None else (hx,), lengths)
        return output, h


class GRU(_Recurrent):
    """GRUs, one above the other (Cho et al., 2014); see `GRUCell` for a step.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        As of `RNN`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 : Var
        As of `RNN`, but with ``3 * hidden_size`` rows, those of the gates r, z, n.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        self._make(
            Gated(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )

    def execute(
        self, x: VarLike, hx: VarLike | None = None, lengths: VarLike | None = None
    ) -> tuple[Var, Var]:
        """Go through sequences; parameters, results and errors are those of `RNN`."""
        output, (h,) = self._run(x, None if hx is None else (hx,), lengths)
        return output, h


class LSTM(_Recurrent):
    """LSTMs, one above the other; see `LSTMCell` for a step.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        As of `RNN`.
    proj_size
        If not 0, h is projected to so many outputs (Sak et al., 2014), and `hidden_size`
        is the size of c alone.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 : Var
        As of `RNN`, but with ``4 * hidden_size`` rows, those of the gates i, f, g, o.
    weight_hr_l0 : Var
        The projection, ``(proj_size, hidden_size)``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
    ) -> None:
        self._make(
            LongShortTerm(),
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
        )

    def execute(
        self,
        x: VarLike,
        hx: tuple[VarLike, VarLike] | None = None,
        lengths: VarLike | None = None,
    ) -> tuple[Var, tuple[Var, Var]]:
        """Go through sequences; parameters and errors are those of `RNN`.

        `hx` is a pair (h, c), and so are the last states. With `proj_size` it is the
        last extent of h and of the outputs. A `hx` that is no pair raises a TypeError.
        """
        given = None if hx is None else pair_of_states("LSTM", hx)
        output, (h, c) = self._run(x, given, lengths)
        return output, (h, c)
