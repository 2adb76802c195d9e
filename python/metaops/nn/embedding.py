# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layer that looks up rows of a table."""

from __future__ import annotations

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_integer, as_var
from ..ops.create import creation
from ..ops.elementwise.elementwise import where
from ..ops.reduce.norms import check_order, norm
from ..ops.shape.stacking import concat
from . import init
from .module import Module

__all__ = ["Embedding"]


class Table(Module):
    """What layers that look up rows have in common: the table and its options."""

    weight: Var

    def _make(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
    ) -> None:
        name = type(self).__name__
        if sparse:
            raise at_line(
                ValueError(f"{name}: sparse is True, expected False: gradients are dense tensors")
            )
        if max_norm is not None and not max_norm > 0:
            raise at_line(ValueError(f"{name}: max_norm is {max_norm}, expected more than 0"))
        check_order(name, norm_type)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = bool(scale_grad_by_freq)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            padding_idx = as_integer(name, "padding_idx", padding_idx)
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise at_line(
                    ValueError(
                        f"{name}: padding_idx is {padding_idx}, expected the number of one of"
                        f" {num_embeddings} rows"
                    )
                )
            self.padding_idx = padding_idx % num_embeddings
        self.weight = init.normal((num_embeddings, embedding_dim))
        if self.padding_idx is not None:
            row = self.padding_idx
            nothing = creation.zeros((1, embedding_dim))
            self.weight = concat([self.weight[:row], nothing, self.weight[row + 1 :]])

    def _set_weight(self, table: Var, freeze: bool) -> None:
        """Take a given table, as a parameter or as a buffer."""
        self.weight = table
        if freeze:
            self.register_buffer("weight", self.weight)

    def _checked(self, x: VarLike) -> Var:
        """Return numbers of rows, which fail where they are used if there is no such row."""
        x = as_var(x)
        if "int" not in x.dtype:
            name = type(self).__name__
            raise at_line(TypeError(f"{name}: input is {x.dtype}, expected integers"))
        return _core.check_indices(x, 0, self.weight.shape[0], False)

    def _is_padding(self, numbers: Var) -> Var:
        """Return where the row of `padding_idx` is looked up."""
        # Narrow integers may not hold the row's number.
        return numbers.cast("int64") == (-1 if self.padding_idx is None else self.padding_idx)

    def _look_up(self, numbers: Var) -> Var:
        """Return the rows, after they were renormalised, scaled to have that gradient."""
        if self.max_norm is not None:
            self._renormalise(numbers, self.max_norm)
        rows = self.weight.reindex(
            (*numbers.shape, self.weight.shape[1]),
            (f"@e0({_indices(numbers)})", f"i{numbers.ndim}"),
            extras=[numbers],
        )
        if not self.scale_grad_by_freq:
            return rows
        counts = self._reduced("add", _core.full((), 1, "int32"), numbers)
        places = (f"@e0({_indices(numbers)})",)
        share = 1.0 / counts.reindex(numbers.shape, places, extras=[numbers])
        # The value is that of the rows, since what is scaled is 0 (NaN for an infinity).
        nothing = rows - rows.detach()
        nothing = where(nothing == nothing, nothing, 0) * share.unsqueeze(-1).cast(rows.dtype)
        return rows.detach() + nothing

    def _reduced(self, kind: str, number: Var, numbers: Var) -> Var:
        """Reduce one number for each lookup to one for each row."""
        return number.broadcast(numbers.shape).reindex_reduce(
            kind, (self.weight.shape[0],), (f"@e0({_indices(numbers)})",), extras=[numbers]
        )

    def _renormalise(self, numbers: Var, max_norm: float) -> None:
        """Scale rows that are looked up to a norm of `max_norm`, if theirs is larger."""
        norms = norm(self.weight, self.norm_type, 1)
        is_used = self._reduced("or", _core.full((), True, "bool"), numbers)
        # The same small number as PyTorch's, so that norms come out a little smaller.
        scale = where(is_used & (norms > max_norm), max_norm / (norms + 1e-7), 1)
        self.weight.update(self.weight * scale.unsqueeze(-1))

    def extra_repr(self) -> str:
        """Return the table's extents and options."""
        options = {
            "padding_idx": (self.padding_idx, None),
            "max_norm": (self.max_norm, None),
            "norm_type": (self.norm_type, 2.0),
            "scale_grad_by_freq": (self.scale_grad_by_freq, False),
        }
        told = [f"{key}={value}" for key, (value, usual) in options.items() if value != usual]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *told])


def _indices(numbers: Var) -> str:
    return ", ".join(f"i{axis}" for axis in range(numbers.ndim))


def given_table(name: str, embeddings: VarLike) -> Var:
    """Return a table of two dimensions, a leaf of its own.

    Raises
    ------
    ValueError
        If it has another rank.
    TypeError
        If it holds no floats.
    """
    table = as_var(embeddings)
    if table.ndim != 2:
        raise at_line(
            ValueError(f"{name}: embeddings have shape {table.shape}, expected two dimensions")
        )
    if "float" not in table.dtype:
        raise at_line(TypeError(f"{name}: embeddings are {table.dtype}, expected floats"))
    return table.detach()


class Embedding(Table):
    """Rows of a table by their numbers.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The number of rows and the length of each.
    padding_idx
        The number of a row that is first 0 and has a gradient of 0; negative ones count
        from the end.
    max_norm
        If given, a row that is looked up and has a larger norm is scaled down to this
        one, in the table: each call goes over the whole table then.
    norm_type
        `order` of that norm, see `metaops.norm`.
    scale_grad_by_freq
        Whether a row's gradient is divided by how often it was looked up in the call.
    sparse
        Not taken: gradients are dense.

    Attributes
    ----------
    weight : Var
        ``(num_embeddings, embedding_dim)``, float32, normal with deviation 1.

    Raises
    ------
    ValueError
        If `padding_idx` is no row, `max_norm` is not positive, or `sparse` is set.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> None:
        self._make(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: VarLike,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Return a layer with a given table.

        Parameters
        ----------
        embeddings
            The table, floats ``(num_embeddings, embedding_dim)``.
        freeze
            Whether it is state, but no parameter: not trained.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
            As of the layer; the row of `padding_idx` stays as it is.

        Raises
        ------
        ValueError, TypeError
            If the table has not two dimensions, or holds no floats.
        """
        table = given_table(cls.__name__, embeddings)
        options = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        layer = cls(table.shape[0], table.shape[1], *options)
        layer._set_weight(table, freeze)
        return layer

    def execute(self, x: VarLike) -> Var:
        """Return the rows for x of integers, shape ``(*x.shape, embedding_dim)``.

        Raises
        ------
        IndexError
            When the result is waited for, if there is no such row. Negative
            numbers are none: unlike `metaops.take`, nothing counts from the end.
        TypeError
            If x holds no integers.
        """
        numbers = self._checked(x)
        rows = self._look_up(numbers)
        if self.padding_idx is None:
            return rows
        return where(self._is_padding(numbers).unsqueeze(-1), rows.detach(), rows)
