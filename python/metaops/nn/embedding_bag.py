# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layer that looks up rows of a table and reduces those of one bag."""

from __future__ import annotations

import math

import numpy as np

from .. import _core
from .._core import Var, iota
from .._errors import at_line
from .._typing import VarLike, as_var, shown, widened
from ..ops.elementwise.elementwise import maximum, where
from .embedding import Table, given_table

__all__ = ["EmbeddingBag"]

_MODES = ("sum", "mean", "max")


class EmbeddingBag(Table):
    """The sum, the mean or the maximum of rows of a table, bag by bag.

    The rows that a bag is made of are not in memory.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The number of rows and the length of each.
    max_norm, norm_type, scale_grad_by_freq, sparse
        As of `Embedding`.
    mode
        "mean", "sum" or "max". Of equal maxima each gets the same share of the gradient.
    include_last_offset
        Whether offsets have one more at the end, where the last bag ends.
    padding_idx
        The number of a row that takes no part; negative ones count from the end.

    Attributes
    ----------
    weight : Var
        ``(num_embeddings, embedding_dim)``, float32, normal with deviation 1; the row of
        `padding_idx` is first 0.

    Raises
    ------
    ValueError
        If `mode` is another word, and as of `Embedding`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> None:
        self._set_mode(mode, include_last_offset)
        self._make(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
        )

    def _set_mode(self, mode: str, include_last_offset: bool) -> None:
        if not isinstance(mode, str) or mode not in _MODES:
            raise at_line(
                ValueError(f"EmbeddingBag: mode is {shown(mode)}, expected 'sum', 'mean' or 'max'")
            )
        self.mode = mode
        self.include_last_offset = bool(include_last_offset)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: VarLike,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Return a layer with a given table.

        Parameters
        ----------
        embeddings
            The table, floats ``(num_embeddings, embedding_dim)``.
        freeze
            Whether it is state, but no parameter: not trained.
        max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx
            As of the layer.

        Raises
        ------
        ValueError, TypeError
            If the table has not two dimensions, or holds no floats.
        """
        table = given_table(cls.__name__, embeddings)
        options = (max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset)
        layer = cls(table.shape[0], table.shape[1], *options, padding_idx)
        layer._set_weight(table, freeze)
        return layer

    def execute(
        self,
        x: VarLike,
        offsets: VarLike | None = None,
        per_sample_weights: VarLike | None = None,
    ) -> Var:
        """Return one row for each bag, ``(bags, embedding_dim)``; 0 for an empty one.

        Parameters
        ----------
        x
            Integers ``(bags, n)``, or ``(n,)`` of all bags one after the other.
        offsets
            For the latter, integers ``(bags,)`` that do not fall, the first of them 0:
            where each bag begins.
        per_sample_weights
            Floats of the shape of x, by which rows are multiplied; for "sum" alone.

        Raises
        ------
        ValueError
            If shapes do not fit, offsets are missing or too many, or do not begin with 0.
        TypeError
            If x or the offsets hold no integers.
        IndexError
            When the result is waited for, if there is no such row or place.
        """
        numbers = self._checked(x)
        bags = self._bags(numbers, offsets)
        rows, dtype = widened(self._look_up(numbers))
        if per_sample_weights is not None:
            rows = rows * self._sample_weights(per_sample_weights, numbers).unsqueeze(-1)
        if self.padding_idx is not None:
            is_padding = self._is_padding(numbers).unsqueeze(-1)
            rows = where(is_padding, -math.inf if self.mode == "max" else 0, rows)
        if self.mode == "max":
            largest = _reduced("max", rows, bags)
            result = where(self._sizes(numbers, bags) == 0, 0, largest)
        else:
            result = _reduced("add", rows, bags)
            if self.mode == "mean":
                result = result / maximum(self._sizes(numbers, bags), 1).cast(result.dtype)
        return result.cast(dtype)

    def _sizes(self, numbers: Var, bags: tuple[int, Var] | None) -> Var:
        """Return how many rows take part in each bag, ``(bags, 1)``."""
        counted = _core.full(numbers.shape, 1, "int32")
        if self.padding_idx is not None:
            counted = where(self._is_padding(numbers), 0, counted)
        return _reduced("add", counted.unsqueeze(-1), bags)

    def _sample_weights(self, given: VarLike, numbers: Var) -> Var:
        weights = as_var(given)
        if self.mode != "sum":
            raise at_line(
                ValueError(
                    f"EmbeddingBag: per_sample_weights with mode {self.mode!r}, expected 'sum'"
                )
            )
        if weights.shape != numbers.shape:
            raise at_line(
                ValueError(
                    f"EmbeddingBag: per_sample_weights have shape {weights.shape}, expected that"
                    f" of the input, {numbers.shape}"
                )
            )
        return weights

    def _bags(self, numbers: Var, offsets: VarLike | None) -> tuple[int, Var] | None:
        """Return how many bags there are, and that of each element; None of matrices."""
        if numbers.ndim not in (1, 2) or (numbers.ndim == 1) != (offsets is not None):
            has = "no offsets" if offsets is None else "offsets"
            raise at_line(
                ValueError(
                    f"EmbeddingBag: input has shape {numbers.shape} and there are {has}, expected"
                    " (bags, n) without or (n,) with offsets"
                )
            )
        if offsets is None:
            return None
        begin = as_var(offsets)
        if "int" not in begin.dtype:
            raise at_line(TypeError(f"EmbeddingBag: offsets are {begin.dtype}, expected integers"))
        least = 1 if self.include_last_offset else 0
        if begin.ndim != 1 or begin.shape[0] < least:
            raise at_line(
                ValueError(
                    f"EmbeddingBag: offsets have shape {begin.shape}, expected one dimension of"
                    f" extent {least} or more"
                )
            )
        if not isinstance(offsets, Var) and np.size(offsets) and np.asarray(offsets)[0] != 0:
            raise at_line(
                ValueError(
                    f"EmbeddingBag: the first offset is {np.asarray(offsets)[0]}, expected 0"
                )
            )
        count = numbers.shape[0]
        begin = _core.check_indices(begin, 0, count + 1, False).cast("int64")
        return begin.shape[0] - least, _bags_begun(begin, count) - 1

    def extra_repr(self) -> str:
        """Return the table's extents and options."""
        return f"{super().extra_repr()}, mode={self.mode!r}"


def _bags_begun(begin: Var, count: int) -> Var:
    """Return how many of the rising offsets are not above each place, ``(count,)``.

    The number is found bit by bit, as by bisection, for all places at once.
    """
    places = iota((count,), 0)
    found = _core.full((count,), 0, "int64")
    for bit in reversed(range(begin.shape[0].bit_length())):
        step = 1 << bit
        # There are `step` more if the last of them is not above; beyond all it is.
        last = begin.reindex((count,), (f"@e0(i0)+{step - 1}",), count + 1, extras=[found])
        found = where(last <= places, found + step, found)
    return found


def _reduced(kind: str, rows: Var, bags: tuple[int, Var] | None) -> Var:
    """Combine the rows of each bag; elements that are in none are left."""
    if bags is None:
        return rows.max(1) if kind == "max" else rows.sum(1).cast(rows.dtype)
    count, bag = bags
    return rows.reindex_reduce(kind, (count, rows.shape[1]), ("@e0(i0)", "i1"), extras=[bag])
