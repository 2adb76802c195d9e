# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connectionist temporal classification: a loss of sequences that are not aligned."""

from __future__ import annotations

import math

import numpy as np

from .. import _core
from .._core import Var, iota
from .._errors import at_line
from .._typing import VarLike, as_integer, as_var, whole_number, widened
from ..ops.elementwise.elementwise import clip, maximum, where
from ..ops.elementwise.functions import exp, log
from ..ops.reduce.reduction import logsumexp
from ..ops.shape.padding import pad
from .loss import Loss, check_reduction

__all__ = ["CTCLoss", "ctc_loss"]

#: The logarithm of a probability of 0. An infinity would make NaN of gradients.
_NEVER = -1e30


def _lengths(what: str, given: VarLike, count: int, most: int) -> Var:
    """Return one length for each sequence, in ``[0, most]``."""
    lengths = as_var(given)
    if "int" not in lengths.dtype:
        if lengths.size:
            raise at_line(TypeError(f"ctc_loss: {what} are {lengths.dtype}, expected integers"))
        lengths = lengths.cast("int64")
    if lengths.size != count or lengths.ndim > 1:
        raise at_line(
            ValueError(f"ctc_loss: {what} have shape {lengths.shape}, expected {(count,)}")
        )
    if not isinstance(given, Var):
        for length in np.ravel(np.asarray(given)).tolist():
            if not 0 <= length <= most:
                raise at_line(ValueError(f"ctc_loss: {what} have {length}, expected 0 to {most}"))
    lengths = lengths.reshape((count,))
    return _core.check_indices(lengths, 0, most + 1, False).cast("int64")


def _rows_of(target: Var, lengths: VarLike, count: int) -> Var:
    """Return targets that are one after the other as rows, as long as the longest."""
    numbers = np.ravel(as_var(lengths).numpy())
    if "int" not in str(numbers.dtype) or numbers.shape != (count,) or (numbers < 0).any():
        raise at_line(ValueError(f"ctc_loss: target_lengths are not {count} integers of 0 or more"))
    total = int(numbers.sum())
    if total != target.size:
        raise at_line(
            ValueError(
                f"ctc_loss: targets have shape {target.shape}, expected ({total},), the sum of"
                " target_lengths"
            )
        )
    longest = int(numbers.max(initial=0))
    places = (np.cumsum(numbers) - numbers)[:, None] + np.arange(longest)
    return target.take(np.minimum(places, max(total - 1, 0)), 0)


def _added(*logs: Var) -> Var:
    """Return the logarithm of a sum of which the logarithms are given."""
    most = logs[0]
    for x in logs[1:]:
        most = maximum(most, x)
    # The sum does not depend on it.
    most = most.detach()
    total = exp(logs[0] - most)
    for x in logs[1:]:
        total = total + exp(x - most)
    return most + log(total)


def _log_likelihood(emitted: Var, may_skip: Var, steps: Var) -> Var:
    """Go through the time steps.

    Parameters
    ----------
    emitted
        ``(T, N, L)``, the logarithms of the probability of each label at each time.
    may_skip
        ``(N, L)``, whether a label may follow the one two places before.
    steps
        ``(N, 1)``, how many steps each sequence has.

    Returns
    -------
    Var
        ``(N, L)``: of all paths that end with a label at the end of the sequence.
    """
    extent = emitted.shape[2]
    place = iota((1, extent), 1)
    state = where(place < 2, emitted[0], _NEVER)
    for t in range(1, emitted.shape[0]):
        before = pad(state, [(0, 0), (2, 0)], value=_NEVER)
        skipped = where(may_skip, before[:, :extent], _NEVER)
        following = _added(state, before[:, 1 : extent + 1], skipped) + emitted[t]
        state = where(steps > t, following, state)
    return state


def _loss_of_each(
    log_probs: Var, rows: Var, input_lengths: Var, target_lengths: Var, blank: int
) -> Var:
    """Return the loss of each sequence, infinite where no path fits."""
    time, batch, classes = log_probs.shape
    longest = rows.shape[1]
    inside = iota((batch, longest), 1) < target_lengths.unsqueeze(1)
    labels = _core.check_labels(where(inside, rows.cast("int64"), blank), classes, None)
    # A blank before, between and behind the labels.
    shape = (batch, 2 * longest + 1)
    place = iota(shape, 1)
    is_label = place % 2 == 1
    path = where(is_label, labels.reindex(shape, ("i0", "i1 / 2")), blank)
    earlier = pad(path, [(0, 0), (2, 0)], value=blank)[:, : shape[1]]
    may_skip = is_label & (path != earlier)
    if time:
        emitted = log_probs.reindex(
            (time, *shape), ("i0", "i1", "@e0(i1, i2)"), extras=[path.cast("int64")]
        )
        state = _log_likelihood(clip(emitted, _NEVER), may_skip, input_lengths.unsqueeze(1))
        last = 2 * target_lengths.unsqueeze(1)
        is_end = (place == last) | (place == last - 1)
        loss = -logsumexp(where(is_end, state, _NEVER), 1)
    else:
        loss = _core.full((batch,), 0, log_probs.dtype)
    # Without a step there is the empty sequence alone.
    loss = where(input_lengths > 0, loss, where(target_lengths > 0, -_NEVER, 0.0))
    return where(loss >= -0.5 * _NEVER, math.inf, loss)


def ctc_loss(
    log_probs: VarLike,
    targets: VarLike,
    input_lengths: VarLike,
    target_lengths: VarLike,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Var:
    """Return the negative logarithm of the probability of sequences of labels.

    Halves are computed in float32.

    At each time one label or the blank is emitted; of repeated labels one is kept, and
    then blanks are left out. The loss sums over all ways to emit the target (Graves et
    al., 2006). A Python loop goes through the time, whose steps have the same kernels.

    Parameters
    ----------
    log_probs
        Logarithms of probabilities, ``(T, N, C)``, or ``(T, C)`` of one sequence.
    targets
        Labels in ``[0, C)`` other than `blank`: ``(N, S)``, padded with anything; or a
        vector of all targets, one after the other, for which the lengths are computed at
        once. Of one sequence ``(S,)``.
    input_lengths
        How many of the T steps each sequence has, ``(N,)``.
    target_lengths
        How many labels each target has, ``(N,)``.
    blank
        The number of the blank.
    reduction
        "none"; "sum"; or "mean": each loss divided by its target's length (at least 1),
        then the mean.
    zero_infinity
        Whether the loss of a target that cannot be emitted, as it is too long, is 0
        instead of an infinity. Its gradient is 0 in both cases.

    Raises
    ------
    TypeError
        If the probabilities are no floats, or labels or lengths no integers.
    ValueError
        If shapes do not fit, a length is out of range, or `blank` is no class. Of Vars, a
        label or length that is out of range fails the program that computes the loss.
    """
    check_reduction("ctc_loss", reduction)
    given, target = as_var(log_probs), as_var(targets)
    if "float" not in given.dtype:
        raise at_line(TypeError(f"ctc_loss: log_probs are {given.dtype}, expected floats"))
    if given.ndim not in (2, 3) or target.ndim not in (1, 2):
        raise at_line(
            ValueError(
                f"ctc_loss: log_probs have shape {given.shape} and targets {target.shape},"
                " expected (T, N, C) and (N, S)"
            )
        )
    if "int" not in target.dtype and target.size:
        raise at_line(TypeError(f"ctc_loss: targets are {target.dtype}, expected integers"))
    is_single = given.ndim == 2
    wide, dtype = widened(given.unsqueeze(1) if is_single else given)
    time, batch, classes = wide.shape
    blank = as_integer("ctc_loss", "blank", blank)
    if not 0 <= blank < classes:
        raise at_line(ValueError(f"ctc_loss: blank is {blank}, expected it in [0, {classes})"))
    rows = target
    if target.ndim == 1:
        rows = target.unsqueeze(0) if is_single else _rows_of(target, target_lengths, batch)
    if rows.shape[0] != batch:
        raise at_line(
            ValueError(f"ctc_loss: {rows.shape[0]} targets given, expected one for each of {batch}")
        )
    steps = _lengths("input_lengths", input_lengths, batch, time)
    labels = _lengths("target_lengths", target_lengths, batch, rows.shape[1])
    loss = _loss_of_each(wide, rows, steps, labels, blank)
    if zero_infinity:
        loss = where(loss == math.inf, 0.0, loss)
    if reduction == "mean":
        loss = (loss / clip(labels, 1).cast(loss.dtype)).mean()
    elif reduction == "sum":
        loss = loss.sum()
    elif is_single:
        loss = loss.reshape(())
    return loss.cast(dtype)


class CTCLoss(Loss):
    """The module of `ctc_loss`."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction)
        whole_number("CTCLoss", "blank", blank)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def execute(
        self,
        log_probs: VarLike,
        targets: VarLike,
        input_lengths: VarLike,
        target_lengths: VarLike,
    ) -> Var:
        """Return the loss."""
        return ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
