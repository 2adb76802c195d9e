# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The equations of recurrent networks and their loop over time.

Each gate is a sum of the input's share and the state's. The input's shares of all
steps are one product, made before the loop; a step adds the state's, a product with
one matrix for all gates. The loop is a scan, whose size does not depend on the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import Var, array, iota, matmul, zeros
from .._errors import at_line
from .._precision import computed
from .._typing import VarLike, as_var, float_among, shown, unrounded
from ..control_flow.scans import scan
from ..ops.elementwise.activations import relu
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.functions import tanh
from ..ops.shape.padding import pad
from ..tracing.once import Recordings

#: State of a network: (h,), or (h, c) of an LSTM, each ``(N, size)``.
State = tuple[Var, ...]
#: The input's share of all gates, the state's share and the state, to the next state.
Step = Callable[[Var, Var, State], State]

_NONLINEARITIES: dict[str, Callable[[Var], Var]] = {"tanh": tanh, "relu": relu}


class Weights(NamedTuple):
    """The parameters of one layer in one direction, gates one below the other.

    `ih` is ``(gates * hidden_size, inputs)``, `hh` ``(gates * hidden_size, outputs)``,
    the biases are ``(gates * hidden_size,)``, `hr` is ``(proj_size, hidden_size)``.
    """

    ih: Var
    hh: Var
    bias_ih: Var | None
    bias_hh: Var | None
    hr: Var | None = None


#: Weights, an input, the first state and what is inside, to what a layer returns.
Run = Callable[[Weights, Var, State | None, Var | None], Sequence[Var]]


class Recurrence:
    """The equations of one kind of network."""

    #: Numbers of gates, and of tensors of the state.
    gates = 1
    states = 1

    def __init__(self) -> None:
        #: Recordings of `one_step` and `all_steps`.
        self.recordings = Recordings()

    def share_of_input(self, x: Var, weights: Weights) -> Var:
        """Return what the input adds to the gates; x is ``(..., inputs)``."""
        share = matmul(x, weights.ih.transpose(1, 0))
        if weights.bias_ih is None or weights.bias_hh is None:
            return share
        return share + self.joint_bias(weights.bias_ih, weights.bias_hh)

    def joint_bias(self, bias_ih: Var, bias_hh: Var) -> Var:
        """Return what of the biases can be added beforehand."""
        return bias_ih + bias_hh

    def make_step(self, weights: Weights, dtype: str) -> Step:
        """Return the function that makes one step, on gates of this dtype."""
        raise NotImplementedError


class Elman(Recurrence):
    """``h' = tanh(W x + U h + b)``, or with relu (Elman, 1990)."""

    def __init__(self, nonlinearity: str) -> None:
        super().__init__()
        self.function = _NONLINEARITIES[nonlinearity]

    def make_step(self, weights: Weights, dtype: str) -> Step:
        """Return the step."""
        return lambda given, recalled, state: (self.function(given + recalled),)


@lru_cache(maxsize=16)
def _sigmoid_numbers(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what makes sigmoids of tanhs, for gates of which the third is none."""
    return np.repeat([0.5, 0.5, 1.0, 0.5], size), np.repeat([0.5, 0.5, 0.0, 0.5], size)


class LongShortTerm(Recurrence):
    """The LSTM with a forget gate (Hochreiter & Schmidhuber, 1997; Gers et al., 2000).

    Gates are i, f, g, o: ``c' = f * c + i * g``, ``h' = o * tanh(c')``. With a
    projection h' is multiplied by a matrix (Sak et al., 2014).
    """

    gates = 4
    states = 2

    def make_step(self, weights: Weights, dtype: str) -> Step:
        """Return the step.

        The sigmoid of x is ``tanh(x / 2) / 2 + 1 / 2``. So one tanh serves all gates,
        of which g alone is not halved and moved.
        """
        size = weights.ih.shape[0] // 4
        scale, shift = (array(values, dtype) for values in _sigmoid_numbers(size))
        projection = None if weights.hr is None else weights.hr.transpose(1, 0)

        def step(given: Var, recalled: Var, state: State) -> State:
            gates = tanh((given + recalled) * scale) * scale + shift
            i, f, g, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
            cell = f * state[1] + i * g
            hidden = o * tanh(cell)
            return (hidden if projection is None else matmul(hidden, projection)), cell

        return step


class Gated(Recurrence):
    """The GRU (Cho et al., 2014), its reset gate after the product.

    Gates are r, z, n: ``n = tanh(W x + b + r * (U h + d))``, ``h' = n + z * (h - n)``.
    """

    gates = 3

    def joint_bias(self, bias_ih: Var, bias_hh: Var) -> Var:
        """Return the sum but for the state's bias of n, which r multiplies."""
        size = bias_hh.shape[0] // 3
        return bias_ih + pad(bias_hh[: 2 * size], [(0, size)])

    def make_step(self, weights: Weights, dtype: str) -> Step:
        """Return the step; the sigmoids are tanhs, see `LongShortTerm`."""
        size = weights.ih.shape[0] // 3
        bias = None
        if weights.bias_hh is not None:
            bias = weights.bias_hh[2 * size :]

        def step(given: Var, recalled: Var, state: State) -> State:
            gates = given[:, : 2 * size] + recalled[:, : 2 * size]
            gates = tanh(gates * 0.5) * 0.5 + 0.5
            r, z = gates[:, :size], gates[:, size:]
            again = recalled[:, 2 * size :]
            n = tanh(given[:, 2 * size :] + r * (again if bias is None else again + bias))
            return (n + z * (state[0] - n),)

        return step


def check_nonlinearity(name: str, nonlinearity: object) -> None:
    """Raise ValueError unless it is that of an Elman network."""
    if not isinstance(nonlinearity, str) or nonlinearity not in _NONLINEARITIES:
        raise at_line(
            ValueError(f"{name}: nonlinearity is {shown(nonlinearity)}, expected 'tanh' or 'relu'")
        )


def checked_state(name: str, what: str, given: VarLike, expected: tuple[int, ...]) -> Var:
    """Return a tensor of a state.

    Raises
    ------
    ValueError
        If its shape is another one.
    """
    tensor = as_var(given)
    if tensor.shape != expected:
        raise at_line(
            ValueError(f"{name}: the state {what} has shape {tensor.shape}, expected {expected}")
        )
    return tensor


def pair_of_states(name: str, hx: Any) -> tuple[VarLike, VarLike]:
    """Return h and c of an LSTM's state.

    Raises
    ------
    TypeError
        If they are not two.
    """
    if not isinstance(hx, tuple | list) or len(hx) != 2:
        raise at_line(TypeError(f"{name}: hx is {shown(hx)}, expected a pair (h, c)"))
    return hx[0], hx[1]


def inside_of(name: str, lengths: VarLike, steps: int, batch: int, is_batched: bool) -> Var:
    """Return which elements are within their sequences, booleans ``(T, N, 1)``.

    Raises
    ------
    TypeError
        If lengths are no integers.
    ValueError
        If there is not one for each sequence, or one is out of range. Of a Var, one
        that is fails the program that reads it.
    """
    var = as_var(lengths)
    if "int" not in var.dtype:
        raise at_line(TypeError(f"{name}: lengths are {var.dtype}, expected integers"))
    expected = (batch,) if is_batched else ()
    if var.shape != expected:
        raise at_line(ValueError(f"{name}: lengths have shape {var.shape}, expected {expected}"))
    if not isinstance(lengths, Var):
        for length in np.ravel(np.asarray(lengths)).tolist():
            if not 0 <= length <= steps:
                raise at_line(ValueError(f"{name}: a length is {length}, expected 0 to {steps}"))
    checked = _core.check_indices(var, 0, steps + 1, False).cast("int64")
    return iota((steps, batch, 1), 0) < checked.reshape((1, batch, 1))


def initial_state(weights: Weights, count: int, batch: int, dtype: str) -> State:
    """Return zeros for h, and for c where there is one."""
    sizes = (weights.hh.shape[1], weights.ih.shape[0] // 4)
    return tuple(zeros((batch, size), dtype) for size in sizes[:count])


def _step(recurrence: Recurrence, weights: Weights, dtype: str) -> Step:
    """Return the function that makes one step.

    Of halves it computes in float32, and rounds the state.
    """
    if dtype not in ("float16", "bfloat16"):
        return recurrence.make_step(weights, dtype)
    make = recurrence.make_step(weights, "float32")

    def step(given: Var, recalled: Var, state: State) -> State:
        own = float_among(x.dtype for x in (given, recalled, *state)) or dtype
        following = make(unrounded(given), unrounded(recalled), tuple(map(unrounded, state)))
        return tuple(x.cast(own) for x in following)

    return step


def _call_recorded(
    recurrence: Recurrence,
    kind: Hashable,
    run: Run,
    weights: Weights,
    x: Var,
    state: State | None,
    is_inside: Var | None = None,
) -> Sequence[Var]:
    """Return what a function makes of tensors, some of which may be None; see `Recordings`."""
    given: list[Any] = [x, *weights, *(state or [None] * recurrence.states), is_inside]
    absent = tuple([tensor is None for tensor in given])

    def call(*tensors: Var) -> Sequence[Var]:
        left = iter(tensors)
        made: list[Any] = [None if is_absent else next(left) for is_absent in absent]
        own = len(weights) + 1
        first = None if state is None else tuple(made[own:-1])
        return run(Weights(*made[1:own]), made[0], first, made[-1])

    tensors = [tensor for tensor in given if tensor is not None]
    return recurrence.recordings.call((kind, absent), call, tensors)


@computed("low")
def one_step(recurrence: Recurrence, weights: Weights, x: Var, state: State | None) -> State:
    """Return the state after an input ``(N, inputs)``; None stands for zeros."""

    def run(weights: Weights, x: Var, state: State | None, is_inside: Var | None) -> State:
        share = recurrence.share_of_input(x, weights)
        if state is None:
            state = initial_state(weights, recurrence.states, x.shape[0], share.dtype)
        step = _step(recurrence, weights, share.dtype)
        return step(share, matmul(state[0], weights.hh.transpose(1, 0)), state)

    return tuple(_call_recorded(recurrence, "step", run, weights, x, state))


@computed("low")
def all_steps(
    recurrence: Recurrence,
    weights: Weights,
    x: Var,
    state: State | None,
    is_inside: Var | None,
    is_reverse: bool,
) -> tuple[Var, State]:
    """Go through a sequence in one direction.

    Parameters
    ----------
    recurrence, weights
        The equations and their parameters.
    x
        ``(T, N, inputs)``.
    state
        The first one, zeros if None.
    is_inside
        ``(T, N, 1)``, whether an element is within its sequence: elsewhere the state
        stays, and outputs are 0. None if all are.
    is_reverse
        Whether to begin at the end.

    Returns
    -------
    (Var, tuple of Var)
        The outputs, ``(T, N, outputs)``, and the last state.
    """

    def run(weights: Weights, x: Var, state: State | None, is_inside: Var | None) -> list[Var]:
        output, last = _steps(recurrence, weights, x, state, is_inside, is_reverse)
        return [output, *last]

    kind = ("steps", is_reverse)
    output, *last = _call_recorded(recurrence, kind, run, weights, x, state, is_inside)
    return output, tuple(last)


def _steps(
    recurrence: Recurrence,
    weights: Weights,
    x: Var,
    state: State | None,
    is_inside: Var | None,
    is_reverse: bool,
) -> tuple[Var, State]:
    """Record what `all_steps` returns."""
    shares = recurrence.share_of_input(x, weights)
    steps, batch = x.shape[:2]
    if state is None:
        state = initial_state(weights, recurrence.states, batch, shares.dtype)
    if steps == 0:
        return zeros((0, *state[0].shape), shares.dtype), tuple(+tensor for tensor in state)
    step = _step(recurrence, weights, shares.dtype)
    recall = weights.hh.transpose(1, 0)
    # The type of the state that a step makes.
    own = float_among(x.dtype for x in (shares, recall, *state)) or shares.dtype

    def trip(state: State, row: tuple[Var, Var | None]) -> tuple[State, Var]:
        share, inside = row
        following = step(share, matmul(state[0], recall), state)
        if inside is not None:
            following = tuple(
                where(inside, new, old) for new, old in zip(following, state, strict=True)
            )
        return following, following[0]

    first = tuple(tensor if tensor.dtype == own else tensor.cast(own) for tensor in state)
    last, output = scan(trip, first, (shares, is_inside), reverse=is_reverse)
    return output if is_inside is None else where(is_inside, output, 0), last
